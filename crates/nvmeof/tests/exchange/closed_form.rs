//! What a command costs on the wire: what the exchange carries is what a sum says.

use crate::laws::{host, target};
use crate::network::Carried;
use crate::rig::Rig;
use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_nvme::logic::Direction;
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::host::{ControllerConfig, HostTransport, Io, RdmaHost, TcpHost, Transfer};
use lanetwin_nvmeof::logic::target::{RdmaConfig, TcpConfig, Transport};
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_nvmeof::throughput::{BothWays, RdmaWay, Segments, TIMESTAMPS_BYTES, TcpWay};

const COMMANDS: u64 = 10;

/// What so many commands of so many bytes add to what was carried.
fn added(config: ControllerConfig, transport: Transport, bytes: u32, write: bool) -> Carried {
    let mut rig = Rig::new(ControllerConfig { keep_alive_ms: 0, ..config }, target(transport, 4096), None, 3);
    rig.connect();
    let before = rig.carried;
    for name in 0..COMMANDS {
        let (command, transfer) = match write {
            true => (
                commands::write(Nsid(1), 0, bytes / 512),
                Transfer::ToController(vec![1; bytes as usize].into()),
            ),
            false => (commands::read(Nsid(1), 0, bytes / 512), Transfer::FromController(bytes)),
        };
        assert!(rig.submit(SqId(1), Io { command, name, transfer, address: 1 << 32 | name << 20 }));
        rig.run_until_ended(name as usize + 1);
    }
    let less = |after: u64, before: u64| (after - before) / COMMANDS;
    Carried {
        tcp_to_target: less(rig.carried.tcp_to_target, before.tcp_to_target),
        tcp_to_host: less(rig.carried.tcp_to_host, before.tcp_to_host),
        sends: less(rig.carried.sends, before.sends),
        responses: less(rig.carried.responses, before.responses),
        responses_with_invalidate: less(
            rig.carried.responses_with_invalidate,
            before.responses_with_invalidate,
        ),
        reads: less(rig.carried.reads, before.reads),
        writes: less(rig.carried.writes, before.writes),
        registrations: less(rig.carried.registrations, before.registrations),
        invalidations: less(rig.carried.invalidations, before.invalidations),
    }
}

/// Bytes of TCP's stream, each way, for a command: CapsuleCmd 72 B, CapsuleResp, R2T and headers of data 24 B, digests
/// 4 B.
#[test]
fn bytes_of_a_command_by_tcp() {
    for (digests, each) in [(0_u8, 0_u64), (3, 4)] {
        let tcp = TcpHost { digests: DigestTypes::from_raw(digests), ..TcpHost::default() };
        let way = |flow_control, success, bytes, write| {
            let config = ControllerConfig { flow_control, ..host(HostTransport::Tcp(tcp)) };
            let transport = Transport::Tcp(TcpConfig { success, most_data: 65_536, ..TcpConfig::default() });
            let carried = added(config, transport, bytes, write);
            (carried.tcp_to_target, carried.tcp_to_host)
        };
        for bytes in [512_u32, 4096, 131_072] {
            let data = u64::from(bytes);
            let capsule = 72 + each;
            let answer = 24 + each;
            // a read: command; data with their digests, and a response unless SUCCESS stands for it
            assert_eq!(way(true, true, bytes, false), (capsule, 24 + 2 * each + data + answer));
            assert_eq!(way(false, false, bytes, false), (capsule, 24 + 2 * each + data + answer));
            assert_eq!(way(false, true, bytes, false), (capsule, 24 + 2 * each + data));
        }
        // a write of what fits into a capsule, and of what does not: R2T, then units of at most MAXH2CDATA
        assert_eq!(way(true, true, 4096, true), (72 + 2 * each + 4096, 24 + each));
        let units = 131_072 / 65_536;
        let sent = 72 + each + units * (24 + 2 * each) + 131_072;
        assert_eq!(way(true, true, 131_072, true), (sent, 2 * (24 + each)));
    }
}

/// The closed form of the stream is what the exchange carries.
#[test]
fn the_closed_form_of_the_stream_is_what_is_carried() {
    for digests in [0_u8, 1, 2, 3] {
        for (direction, bytes, success) in [
            (Direction::ToHost, 512, false),
            (Direction::ToHost, 16_384, true),
            (Direction::FromHost, 4096, false),
            (Direction::FromHost, 4608, false),
            (Direction::FromHost, 65_536, false),
            (Direction::FromHost, 70_144, true),
        ] {
            let digests = DigestTypes::from_raw(digests);
            let tcp = HostTransport::Tcp(TcpHost { digests, ..TcpHost::default() });
            let config = ControllerConfig { flow_control: !success, ..host(tcp) };
            let transport = Transport::Tcp(TcpConfig { most_data: 16_384, ..TcpConfig::default() });
            let carried = added(config, transport, bytes, direction == Direction::FromHost);
            let way = TcpWay { digests, success, capsule_data: 4096, most_data: 16_384 };
            let BothWays { to_target, to_host } = way.stream(direction, bytes);
            assert_eq!((carried.tcp_to_target, carried.tcp_to_host), (to_target, to_host), "{way:?} {bytes}");
        }
    }
}

/// Goodput of NVMe/TCP for every MTU: a long stream of commands, cut into segments one by one. Of each the line has
/// 38 B of Ethernet and 52 B of IP and TCP beside.
#[test]
fn goodput_by_tcp_is_that_of_a_long_stream_for_every_mtu() {
    for mtu in 576..=9000 {
        for digests in [0, 3] {
            let way = TcpWay {
                digests: DigestTypes::from_raw(digests),
                success: false,
                capsule_data: 8192,
                most_data: 131_072,
            };
            let segments = Segments { mtu, options: TIMESTAMPS_BYTES, tagging: Tagging::Untagged };
            for (direction, bytes) in [(Direction::ToHost, 4096), (Direction::FromHost, 131_072)] {
                let each = way.stream(direction, bytes).busier();
                let commands = 50_000_000 / each;
                let frames = (commands * each).div_ceil(u64::from(mtu - 52));
                let line = commands * each + frames * (38 + 52);
                let expected = 12.5e9 * (commands * u64::from(bytes)) as f64 / line as f64;
                let told = way.goodput(Rate::G100, segments, direction, bytes) as f64;
                assert!((told / expected - 1.0).abs() < 1e-3, "{mtu} {direction:?}: {told} {expected}");
            }
        }
    }
}

/// Goodput of NVMe/RDMA for every MTU of a path: packets of the operations that the exchange carries, one by one. Each
/// packet has 82 B of Ethernet, IP, UDP, BTH and checks; the first of a WRITE and a READ request 16 B more, first and
/// last responses and acknowledgements 4 B, a SEND with invalidate 4 B; frames have at least 84 B of the line.
#[test]
fn goodput_by_rdma_is_that_of_its_packets_for_every_mtu() {
    let packets = |bytes: u64, mtu: u64, first: u64, last: u64| -> u64 {
        let (mut left, mut line, mut at_first) = (bytes, 0, true);
        loop {
            let part = left.min(mtu);
            left -= part;
            let extended = if at_first && left == 0 {
                first.max(last)
            } else if at_first {
                first
            } else if left == 0 {
                last
            } else {
                0
            };
            line += (82 + part + extended).max(84);
            at_first = false;
            if left == 0 {
                return line;
            }
        }
    };
    for (mtu, size) in PathMtu::ALL.into_iter().zip([256, 512, 1024, 2048, 4096]) {
        for bytes in [512_u32, 4096, 8192, 131_072] {
            let way = RdmaWay { mtu, tagging: Tagging::Untagged, capsule_data: 4096, invalidate: true };
            let (data, acknowledgement) = (u64::from(bytes), 82 + 4);
            let read = BothWays {
                to_target: packets(64, size, 0, 0) + acknowledgement,
                to_host: packets(data, size, 16, 0) + packets(16, size, 0, 4) + acknowledgement,
            };
            assert_eq!(way.wire(Direction::ToHost, bytes), read, "read of {bytes} in {size}");
            let write = if bytes <= 4096 {
                BothWays {
                    to_target: packets(64 + data, size, 0, 0) + acknowledgement,
                    to_host: packets(16, size, 0, 0) + acknowledgement,
                }
            } else {
                BothWays {
                    to_target: packets(64, size, 0, 0) + packets(data, size, 4, 4) + acknowledgement,
                    to_host: packets(0, size, 16, 0) + packets(16, size, 0, 4) + acknowledgement,
                }
            };
            assert_eq!(way.wire(Direction::FromHost, bytes), write, "write of {bytes} in {size}");
            let told = way.goodput(Rate::G100, Direction::ToHost, bytes);
            assert_eq!(told, 12_500_000_000 * data / read.to_host);
        }
    }
}

/// A command alone: its last segment is not full, and a short frame is padded.
#[test]
fn segments_by_hand() {
    let segments = Segments { mtu: 1500, options: 0, tagging: Tagging::Untagged };
    assert_eq!((segments.most(), segments.wire(1460), segments.wire(1)), (1460, 1538, 84));
    assert_eq!(segments.burst(1460 * 2 + 100), 2 * 1538 + 178);
    assert_eq!(segments.burst(0), 0);
}

/// Operations of RDMA for a command: in-capsule data save the READ and the registration; the target saves the host an
/// invalidation.
#[test]
fn operations_of_a_command_by_rdma() {
    let way = |remote_invalidate, bytes, write| {
        let transport = Transport::Rdma(RdmaConfig::default());
        added(host(HostTransport::Rdma(RdmaHost { remote_invalidate })), transport, bytes, write)
    };
    let one = Carried { sends: 1, responses: 1, ..Carried::default() };
    let keyed = Carried { registrations: 1, responses_with_invalidate: 1, ..one };
    assert_eq!(way(true, 131_072, false), Carried { writes: 1, ..keyed });
    assert_eq!(way(true, 131_072, true), Carried { reads: 1, ..keyed });
    assert_eq!(way(true, 4096, true), one);
    let local = Carried { registrations: 1, invalidations: 1, ..one };
    assert_eq!(way(false, 4096, false), Carried { writes: 1, ..local });
}
