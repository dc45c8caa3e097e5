//! The transports of NVMe over Fabrics that a plan's connections use: RDMA or TCP.

use crate::ethernet::Ethernet;
use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_fabric::tcp::logic::connection::Limits;
use lanetwin_fabric::tcp::spec::{OFFLOAD_BYTES, TIMESTAMPS_BYTES, segment_bytes};
use lanetwin_models::roles::nvmeof::Way;
use lanetwin_models::tcp_socket::{TcpSocket, limits};
use lanetwin_nvmeof::logic::host::{HostTransport, RdmaHost, TcpHost};
use lanetwin_nvmeof::logic::target::{
    OfferedSubsystem, PortConfig, RdmaConfig, Target, TargetConfig, TcpConfig, Transport,
};
use lanetwin_nvmeof::spec::discovery::AddressFamily;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_plan::{ConnectionPlan, Digests};
use lanetwin_ports::{Params, QueuePairId};

/// A target that offers subsystems of these names over connections of this kind.
pub(super) fn target(
    names: impl Iterator<Item = String>,
    connection: ConnectionPlan,
    capsule_data: u32,
) -> Target {
    let transport = match connection {
        ConnectionPlan::Rdma(_) => Transport::Rdma(RdmaConfig::default()),
        ConnectionPlan::Tcp { .. } => Transport::Tcp(TcpConfig::default()),
    };
    let port = PortConfig {
        number: 1,
        transport,
        family: AddressFamily::IPV4,
        address: "192.0.2.1".into(),
        service: "4420".into(),
        capsule_data,
    };
    let config = TargetConfig {
        subsystems: names.map(|nqn| OfferedSubsystem { nqn, hosts: None }).collect(),
        ports: vec![port],
        referrals: Vec::new(),
    };
    Target::new(config).expect("a target of a checked plan")
}

/// The host's settings for a connection.
pub(super) fn of_host(connection: ConnectionPlan) -> HostTransport {
    match connection {
        ConnectionPlan::Rdma(_) => HostTransport::Rdma(RdmaHost { remote_invalidate: true }),
        ConnectionPlan::Tcp { digests, .. } => {
            HostTransport::Tcp(TcpHost { digests: types(digests), ..TcpHost::default() })
        }
    }
}

/// Both ends of a connection between two stations, whose hosts have these parameters. `offload` says whether the
/// second end is inside the adapter.
pub(super) fn connect(
    net: &Ethernet,
    stations: [Station; 2],
    (connection, hosts, offload): (ConnectionPlan, [&Params; 2], bool),
) -> [Way; 2] {
    match connection {
        ConnectionPlan::Rdma(mtu) => {
            let [host, target] = net.rdma.connect(stations, mtu);
            if offload {
                net.rdma.keep_inside(target);
            }
            [host, target].map(Way::Rdma)
        }
        ConnectionPlan::Tcp { frames, digests } => {
            let wanted = hosts.map(limits);
            let segment = segment_bytes(frames, TIMESTAMPS_BYTES);
            let buffer = wanted[0].0.min(wanted[1].0);
            let own =
                wanted.map(|(_, algorithm)| Limits { segment, offload: OFFLOAD_BYTES, buffer, algorithm });
            let ends = TcpSocket::connect(&net.sockets, stations, (own, types(digests)));
            ends.map(|end| Way::Tcp(Box::new(end)))
        }
    }
}

/// The queue pairs of the connection managers that announce a disconnection, if the connection ends on purpose. TCP
/// has none.
pub(super) fn managers(net: &Ethernet, [host, _]: &[Way; 2], leaves: bool) -> [Option<QueuePairId>; 2] {
    let pair = if let Way::Rdma(pair) = host { Some(*pair) } else { None };
    let pair = pair.filter(|_| leaves);
    pair.and_then(|pair| net.rdma.connect_managers(pair)).map_or([None; 2], |both| both.map(Some))
}

fn types(digests: Digests) -> DigestTypes {
    DigestTypes::from_raw(u8::from(digests.header) | u8::from(digests.data) << 1)
}
