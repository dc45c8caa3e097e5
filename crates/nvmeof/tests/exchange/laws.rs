//! What must hold of any exchange: every command has one answer, and bytes are what was written.

use crate::drive::{NAMESPACE_BYTES, NQN};
use crate::network::{Carried, Rng};
use crate::rig::{HOST_BUFFER, Rig};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::host::{
    ControllerConfig, ControllerEffect, Ending, HostName, HostTransport, Io, RdmaHost, TcpHost, Transfer,
};
use lanetwin_nvmeof::logic::target::{
    OfferedSubsystem, PortConfig, RdmaConfig, TargetConfig, TcpConfig, Transport,
};
use lanetwin_nvmeof::spec::discovery::AddressFamily;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_ssd::ByteStore;
use lanetwin_units::Span;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub fn host_name() -> HostName {
    HostName { nqn: "nqn.2026-01.test:host".into(), id: [7; 16] }
}
pub fn target(transport: Transport, capsule_data: u32) -> TargetConfig {
    TargetConfig {
        subsystems: vec![OfferedSubsystem { nqn: NQN.into(), hosts: None }],
        ports: vec![PortConfig {
            number: 1,
            transport,
            family: AddressFamily::IPV4,
            address: "192.0.2.1".into(),
            service: "4420".into(),
            capsule_data,
        }],
        referrals: vec![],
    }
}
pub fn host(transport: HostTransport) -> ControllerConfig {
    ControllerConfig {
        io_queues: 2,
        io_entries: 16,
        buffer: 1 << 20,
        ..ControllerConfig::new(host_name(), NQN, transport)
    }
}

/// How a host and a target speak.
#[derive(Clone, Debug)]
struct Way {
    host: HostTransport,
    target: Transport,
    capsule_data: u32,
    flow_control: bool,
    chunk_bytes: Option<u32>,
}
fn any_tcp() -> impl Strategy<Value = (HostTransport, Transport)> {
    let host = (0..4_u8, 0..32_u8, 0..3_u32).prop_map(|(digests, alignment, r2ts_less_1)| {
        HostTransport::Tcp(TcpHost { digests: DigestTypes::from_raw(digests), alignment, r2ts_less_1 })
    });
    let r2t = prop_oneof![Just(None), (1..5_u32).prop_map(|pages| Some(pages * 1024))];
    let target = (0..4_u8, 0..32_u8, 0..4_u32, r2t, any::<bool>());
    let target = target.prop_map(|(digests, alignment, more, r2t_bytes, success)| {
        let digests = DigestTypes::from_raw(digests);
        Transport::Tcp(TcpConfig { digests, alignment, most_data: 4096 + more * 512, r2t_bytes, success })
    });
    (host, target)
}
fn any_rdma() -> impl Strategy<Value = (HostTransport, Transport)> {
    (any::<bool>(), any::<bool>()).prop_map(|(asks, does)| {
        let host = HostTransport::Rdma(RdmaHost { remote_invalidate: asks });
        let target = RdmaConfig { remote_invalidate: does, ..RdmaConfig::default() };
        (host, Transport::Rdma(target))
    })
}
fn any_way() -> impl Strategy<Value = Way> {
    let transports = prop_oneof![any_tcp().boxed(), any_rdma().boxed()];
    let capsule = prop_oneof![Just(1024_u32), Just(4096), Just(8192)];
    let chunk = prop_oneof![Just(None), Just(Some(4096_u32))];
    (transports, capsule, any::<bool>(), chunk).prop_map(
        |((host, target), capsule_data, flow_control, chunk_bytes)| Way {
            host,
            target,
            capsule_data,
            flow_control,
            chunk_bytes,
        },
    )
}

/// A load that knows what every block holds. Blocks that a command in flight touches are left alone.
struct Load {
    rng: Rng,
    content: Vec<u8>,
    busy: BTreeMap<u64, (u64, u64)>,
    reads: BTreeMap<u64, (u64, Vec<u8>)>,
    next: u64,
}

impl Load {
    fn new(seed: u64) -> Self {
        let content = vec![0; NAMESPACE_BYTES as usize];
        Self { rng: Rng::new(seed), content, busy: BTreeMap::new(), reads: BTreeMap::new(), next: 0 }
    }
    /// A command of up to 16 KiB, mostly small, if its blocks are free.
    fn next_io(&mut self, rig: &mut Rig) -> Option<Io> {
        let blocks = 1 + self.rng.below(8) * self.rng.below(5);
        let first = self.rng.below(256);
        let apart = |&(start, length): &(u64, u64)| first + blocks <= start || start + length <= first;
        if !self.busy.values().all(apart) {
            return None;
        }
        let name = self.next;
        self.next += 1;
        self.busy.insert(name, (first, blocks));
        let range = (first * 512) as usize..((first + blocks) * 512) as usize;
        let address = HOST_BUFFER + (name << 16);
        let (command, transfer) = if self.rng.below(2) == 0 {
            let tag = name as u8 | 1;
            let data: Vec<u8> = (0..range.len()).map(|at| tag.wrapping_add((at / 7) as u8)).collect();
            self.content[range].copy_from_slice(&data);
            rig.memory.write(address, &data).expect("memory");
            (commands::write(Nsid(1), first, blocks as u32), Transfer::ToController(data.into()))
        } else {
            let expected = self.content[range.clone()].to_vec();
            self.reads.insert(name, (address, expected));
            let bytes = range.len() as u32;
            (commands::read(Nsid(1), first, blocks as u32), Transfer::FromController(bytes))
        };
        Some(Io { command, name, transfer, address })
    }
    /// Looks at what has ended.
    fn check(&mut self, rig: &mut Rig, rdma: bool) {
        for (name, ending) in std::mem::take(&mut rig.ended) {
            assert!(ending.status.is_success(), "{name}: {:?}", ending.status);
            self.busy.remove(&name).expect("nobody is answered twice");
            let Some((address, expected)) = self.reads.remove(&name) else { continue };
            let mut got = rig.delivered.remove(&name).unwrap_or_default();
            if rdma {
                got.resize(expected.len(), 0);
                rig.memory.read(address, &mut got).expect("memory");
            }
            assert!(got == expected, "command {name} reads what was written");
        }
    }
}

fn run(way: &Way, commands: u64, seed: u64) {
    let config = ControllerConfig { flow_control: way.flow_control, ..host(way.host) };
    let target = target(way.target, way.capsule_data);
    let mut rig = Rig::new(config, target, way.chunk_bytes, seed);
    rig.connect();
    assert_eq!(rig.told.last(), Some(&ControllerEffect::Live { io_queues: 2 }));
    let rdma = matches!(way.target, Transport::Rdma(_));
    let mut load = Load::new(seed + 1);
    while load.next < commands || !load.busy.is_empty() {
        let queue = SqId(1 + rig.rng.below(2) as u16);
        let room = rig.host.queue(queue).map_or(0, |queue| queue.room());
        if load.next < commands
            && room > 0
            && rig.rng.below(3) == 0
            && let Some(io) = load.next_io(&mut rig)
        {
            assert!(rig.submit(queue, io));
        } else {
            assert!(rig.step(), "{} commands have no answer", load.busy.len());
        }
        load.check(&mut rig, rdma);
    }
    assert!(rig.unanswered.is_empty());
    let left = [1, 2].map(|queue| rig.host.queue(SqId(queue)).expect("a queue").in_flight());
    assert_eq!(left, [0, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever both sides have agreed on, and however the network cuts and delays.
    #[test]
    fn every_command_has_one_answer_and_bytes_are_right(way in any_way(), seed in 0..u64::MAX / 2) {
        run(&way, 60, seed);
    }

    /// Connections break under load: what has no answer is told once, the host connects again, and the drive serves it.
    #[test]
    fn a_broken_connection_loses_no_answer_and_is_made_again(way in any_way(), seed in 0..u64::MAX / 2, broken in 0..3_u16) {
        let config = ControllerConfig { flow_control: way.flow_control, keep_alive_ms: 0, ..host(way.host) };
        let mut rig = Rig::new(config, target(way.target, way.capsule_data), way.chunk_bytes, seed);
        rig.connect();
        let (mut load, mut sent) = (Load::new(seed), 0);
        for _ in 0..12 {
            if let Some(io) = load.next_io(&mut rig) {
                prop_assert!(rig.submit(SqId(1), io));
                sent += 1;
            }
        }
        (0..rig.rng.below(60)).for_each(|_| { rig.step(); });
        rig.break_connection(SqId(broken));
        while !matches!(rig.told.last(), Some(ControllerEffect::Lost { .. })) {
            prop_assert!(rig.step());
        }
        prop_assert_eq!(rig.ended.len() + rig.unanswered.len(), sent);
        while !matches!(rig.told.last(), Some(ControllerEffect::Live { io_queues: 2 })) {
            prop_assert!(rig.step());
        }
        prop_assert!(rig.now.as_ps() >= 10_000_000_000_000, "the delay before it is tried again");
        let before = rig.ended.len();
        let read = Io {
            command: commands::read(Nsid(1), 0, 1),
            name: 9999,
            transfer: Transfer::FromController(512),
            address: 1 << 30,
        };
        prop_assert!(rig.submit(SqId(2), read));
        rig.run_until_ended(before + 1);
        prop_assert!(rig.ended[before].1.status.is_success());
    }
}

/// What a load of so many commands carries and when each ends, with bytes or with lengths.
fn carried(way: &Way, kept: bool, seed: u64) -> (Carried, Vec<(u64, Ending)>, u64) {
    let config = ControllerConfig { flow_control: way.flow_control, ..host(way.host) };
    let mut rig = Rig::new(config, target(way.target, way.capsule_data), None, seed);
    if !kept {
        rig = rig.without_bytes();
    }
    rig.connect();
    for name in 0..12_u64 {
        let bytes = 512 * (1 + name as u32 * 3);
        let data = if kept { Data::from(vec![3; bytes as usize]) } else { Data::Length(bytes) };
        let (command, transfer) = match name % 2 {
            0 => (commands::write(Nsid(1), name * 64, bytes / 512), Transfer::ToController(data)),
            _ => (commands::read(Nsid(1), name * 64, bytes / 512), Transfer::FromController(bytes)),
        };
        assert!(rig.submit(SqId(1), Io { command, name, transfer, address: HOST_BUFFER + (name << 16) }));
    }
    rig.run_until_ended(12);
    (rig.carried, rig.ended, rig.now.as_ps())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Lengths go the same way as bytes, to the picosecond.
    #[test]
    fn lengths_go_the_same_way_as_bytes(way in any_way(), seed in 0..u64::MAX / 2) {
        prop_assert_eq!(carried(&way, true, seed), carried(&way, false, seed));
    }
}

/// Nobody is there any more: the host tries as long as it was told to, then gives up.
#[test]
fn a_controller_is_given_up_after_its_time() {
    let config = ControllerConfig {
        reconnect_delay: Span::from_us(1_000_000),
        controller_loss: Some(Span::from_us(5_000_000)),
        ..host(HostTransport::Tcp(TcpHost::default()))
    };
    let mut rig = Rig::new(config, target(Transport::Tcp(TcpConfig::default()), 4096), None, 1);
    rig.connect();
    let cut_at = rig.now;
    rig.cut = true;
    while !matches!(rig.told.last(), Some(ControllerEffect::Removed { .. })) {
        assert!(rig.step());
    }
    let lost = rig.told.iter().filter(|told| matches!(told, ControllerEffect::Lost { .. })).count();
    assert_eq!(lost, 5, "five attempts in five seconds");
    // the Keep Alive that had no answer was noticed first
    let since = rig.now.since(cut_at);
    assert!(since >= Span::from_us(9_900_000) && since <= Span::from_us(10_100_000), "{since:?}");
}
