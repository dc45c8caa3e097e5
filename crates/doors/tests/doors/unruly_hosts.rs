//! Hosts that go away in the middle of anything, a drive that fails and answers in any order: nothing is kept of them.

use crate::machine::{machine, plan};
use lanetwin_doors::command::{Command, Ended, Kind};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Reply;
use lanetwin_doors::fabric::front::{Front, Outward};
use lanetwin_doors::fabric::offer::Offer;
use lanetwin_nvme::logic::host::commands::{blocks, deallocate, flush};
use lanetwin_nvme::spec::{IoOpcode, Nsid, SqId};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::host::{
    Controller, ControllerConfig, ControllerEffect, HostName, HostTransport, Io, QueueEffect, TcpHost,
    Transfer,
};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const NQN: &str = "nqn.2026-01.org.lanetwin:ssd";
const HOSTS: usize = 3;

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// A host asks for something about so many blocks from one on.
    Ask(usize, Kind, u32, u32),
    /// The drive answers one of the commands that it has.
    Answer(usize, bool),
    /// So many bytes of a connection reach the door.
    Deliver(usize, u64),
    /// A connection sends this.
    Nonsense(usize, Vec<u8>),
    /// A connection is lost.
    Lose(usize),
    /// Time passes [ms].
    Pass(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let kind = prop::sample::select(vec![
        Kind::Read,
        Kind::Write,
        Kind::Compare,
        Kind::Flush,
        Kind::Deallocate,
        Kind::WriteZeroes,
    ]);
    prop_oneof![
        8 => (0..HOSTS, kind, 0..64_u32, 1..200_u32).prop_map(|(host, kind, from, count)| Step::Ask(host, kind, from, count)),
        6 => (any::<usize>(), prop::bool::weighted(0.8)).prop_map(|(which, well)| Step::Answer(which, well)),
        12 => (any::<usize>(), 1..300_000_u64).prop_map(|(which, bytes)| Step::Deliver(which, bytes)),
        1 => (any::<usize>(), prop::collection::vec(any::<u8>(), 1..200)).prop_map(|(which, bytes)| Step::Nonsense(which, bytes)),
        1 => any::<usize>().prop_map(Step::Lose),
        1 => (1..2000_u64).prop_map(Step::Pass),
    ]
}

/// Hosts, a door without sockets, and what is on its way between them.
struct Rig {
    now: Instant,
    front: Front,
    hosts: Vec<Controller>,
    /// Whose a connection is, and what it has sent.
    connections: BTreeMap<u32, (usize, SqId, Stream)>,
    made: u32,
    asked: Vec<(u64, Command)>,
    names: u64,
}

impl Rig {
    fn new() -> Self {
        let plan = plan(&machine("cross-point", "depth: 1"));
        let drive = Drive::choose(&plan, &Choice::default()).expect("a drive");
        let address = "127.0.0.1:4420".parse().expect("an address");
        let host = |number: usize| {
            let name = HostName { nqn: format!("nqn.2026-01.test:{number}"), id: [number as u8 + 1; 16] };
            Controller::new(ControllerConfig::new(name, NQN, HostTransport::Tcp(TcpHost::default())))
        };
        let front = Front::new(&Offer::of(&drive, vec![address])).expect("an offer");
        let hosts = (0..HOSTS).map(host).collect();
        let connections = BTreeMap::new();
        let mut rig =
            Self { now: Instant::ZERO, front, hosts, connections, made: 0, asked: Vec::new(), names: 0 };
        for host in 0..HOSTS {
            rig.at_host(host, |controller, _, out| controller.connect(out));
        }
        while rig.deliver(0, u64::MAX) {}
        rig
    }
    /// Lets a host do something, and carries out what it wants.
    fn at_host(
        &mut self,
        host: usize,
        act: impl FnOnce(&mut Controller, Instant, &mut Vec<ControllerEffect>),
    ) {
        let mut out = Vec::new();
        act(&mut self.hosts[host], self.now, &mut out);
        let mut waiting = VecDeque::from(out);
        while let Some(effect) = waiting.pop_front() {
            let mut more = Vec::new();
            match effect {
                ControllerEffect::Open { queue } => {
                    self.made += 1;
                    self.connections.insert(self.made, (host, queue, Stream::new()));
                    self.front.accept(self.made, 0);
                    self.hosts[host].opened(self.now, queue, &mut more);
                }
                ControllerEffect::Abandon { queue } => {
                    let of_it = |(_, (whose, number, _)): &(&u32, &(usize, SqId, Stream))| {
                        (*whose, *number) == (host, queue)
                    };
                    if let Some((&number, _)) = self.connections.iter().find(of_it) {
                        self.connections.remove(&number);
                        let outward = self.front.lost(self.now, number);
                        self.carry_out(outward);
                    }
                }
                ControllerEffect::Queue { queue, effect: QueueEffect::Send { stream } } => {
                    let mut all = self.connections.values_mut();
                    if let Some(known) = all.find(|(whose, number, _)| (*whose, *number) == (host, queue)) {
                        known.2.append(stream);
                    }
                }
                _ => {}
            }
            waiting.extend(more);
        }
    }
    fn carry_out(&mut self, outward: Vec<Outward>) {
        for one in outward {
            match one {
                Outward::Send { connection, bytes } => {
                    let Some(&(host, queue, _)) = self.connections.get(&connection) else { continue };
                    self.at_host(host, |controller, now, out| {
                        controller.receive(now, queue, Stream::from(bytes), out)
                    });
                }
                Outward::Close { connection } => {
                    let Some((host, queue, _)) = self.connections.remove(&connection) else { continue };
                    self.at_host(host, |controller, now, out| controller.lost(now, queue, out));
                }
                Outward::Ask { ticket, command } => self.asked.push((ticket, command)),
                Outward::Erase { .. } | Outward::Tell { .. } => {
                    panic!("nobody formats or asks for telemetry")
                }
                Outward::Raise { .. } => panic!("nobody authenticates"),
            }
        }
    }
    fn nth(&self, which: usize) -> Option<u32> {
        self.connections.keys().copied().nth(which % self.connections.len().max(1))
    }
    /// Delivers bytes of a connection that has some.
    fn deliver(&mut self, which: usize, bytes: u64) -> bool {
        let busy: Vec<u32> = self
            .connections
            .iter()
            .filter(|(_, known)| !known.2.is_empty())
            .map(|(&number, _)| number)
            .collect();
        let Some(&number) = busy.get(which % busy.len().max(1)) else { return false };
        let Some((_, _, stream)) = self.connections.get_mut(&number) else { return false };
        let come = stream.split_front(bytes).to_bytes().expect("bytes");
        let outward = self.front.receive(self.now, number, come);
        self.carry_out(outward);
        true
    }
    fn ask(&mut self, host: usize, kind: Kind, from: u32, count: u32) {
        let (one, slba, bytes) = (Nsid(1), u64::from(from), count * 512);
        let data = |bytes: u32| Transfer::ToController(Data::from(vec![7; bytes as usize]));
        let (command, transfer) = match kind {
            Kind::Read => (blocks(IoOpcode::READ, one, slba, count), Transfer::FromController(bytes)),
            Kind::Write => (blocks(IoOpcode::WRITE, one, slba, count), data(bytes)),
            Kind::Compare => (blocks(IoOpcode::COMPARE, one, slba, count), data(bytes)),
            Kind::WriteZeroes => (blocks(IoOpcode::WRITE_ZEROES, one, slba, count), Transfer::None),
            Kind::Flush => (flush(one), Transfer::None),
            // ranges of seven's, most of them beyond the end
            Kind::Deallocate => (deallocate(one, count), data(count * 16)),
        };
        self.names += 1;
        let io = Io { command, name: self.names, transfer, address: 0 };
        self.at_host(host, |controller, _, out| {
            // a queue that is full or gone takes nothing
            let _ = controller.submit(SqId(1), io, out);
        });
    }
    fn answer(&mut self, which: usize, well: bool) {
        if self.asked.is_empty() {
            return;
        }
        let (ticket, command) = self.asked.swap_remove(which % self.asked.len());
        let is_read = command.request.kind == Kind::Read && well;
        let data = if is_read { vec![9; command.request.bytes as usize] } else { Vec::new() };
        let ended = if well { Ended::Well } else { Ended::NoPower };
        let outward = self.front.answered(self.now, Reply { ticket, ended, data, latency: Span::ZERO });
        self.carry_out(outward);
    }
    fn lose(&mut self, number: u32) {
        let Some((host, queue, _)) = self.connections.remove(&number) else { return };
        let outward = self.front.lost(self.now, number);
        self.carry_out(outward);
        self.at_host(host, |controller, now, out| controller.lost(now, queue, out));
    }
    fn step(&mut self, step: Step) {
        match step {
            Step::Ask(host, kind, from, count) => self.ask(host, kind, from, count),
            Step::Answer(which, well) => self.answer(which, well),
            Step::Deliver(which, bytes) => {
                self.deliver(which, bytes);
            }
            Step::Nonsense(which, bytes) => {
                let Some(number) = self.nth(which) else { return };
                let outward = self.front.receive(self.now, number, bytes);
                self.carry_out(outward);
            }
            Step::Lose(which) => {
                if let Some(number) = self.nth(which) {
                    self.lose(number);
                }
            }
            Step::Pass(ms) => {
                self.now += Span::from_us(ms * 1000);
                let outward = self.front.wake(self.now);
                self.carry_out(outward);
                for host in 0..HOSTS {
                    self.at_host(host, |controller, now, out| controller.wake(now, out));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// When every connection is gone and the drive has answered everything, nothing is left of any command.
    #[test]
    fn nothing_is_kept_of_hosts_that_are_gone(steps in prop::collection::vec(any_step(), 1..120)) {
        let mut rig = Rig::new();
        for step in steps {
            rig.step(step);
        }
        while let Some(number) = rig.nth(0) {
            rig.lose(number);
        }
        while !rig.asked.is_empty() {
            rig.answer(0, true);
        }
        prop_assert!(rig.front.is_at_rest());
        prop_assert_eq!(rig.front.held(), 0);
    }
}

/// Without it the test above would say little: hosts do connect, and their commands reach the drive.
#[test]
fn hosts_of_the_rig_reach_the_drive() {
    let mut rig = Rig::new();
    for host in 0..HOSTS {
        rig.ask(host, Kind::Write, 0, 200);
        rig.ask(host, Kind::Read, 0, 8);
    }
    while rig.deliver(0, 1000) {}
    assert_eq!((rig.asked.len(), rig.front.held()), (2 * HOSTS, 200 * 512 * HOSTS as u64));
    assert!(!rig.front.is_at_rest());
    while !rig.asked.is_empty() {
        rig.answer(1, true);
    }
    assert!(rig.front.is_at_rest());
}
