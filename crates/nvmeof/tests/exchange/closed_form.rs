//! What a command costs on the wire: what the exchange carries is what a sum says.

use crate::laws::{host, target};
use crate::network::Carried;
use crate::rig::Rig;
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::host::{ControllerConfig, HostTransport, Io, RdmaHost, TcpHost, Transfer};
use lanetwin_nvmeof::logic::target::{RdmaConfig, TcpConfig, Transport};
use lanetwin_nvmeof::spec::tcp::DigestTypes;

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
