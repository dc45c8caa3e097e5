//! The transport of a subsystem, and the payload that the frames of both ends leave for it.

use crate::kind::Components;
use crate::plan::{ConnectionPlan, Digests, Network, PortOffer, SubsystemPlan, TransportPlan};
use crate::problem::network::Problem;
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_fabric::ethernet::spec::header::IPV4_BYTES;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_fabric::tcp::spec::HEADER_BYTES;
use lanetwin_ports::Value;

/// Maximum size of the headers that RoCEv2 adds to a packet's payload within a frame \[B\]: IPv4 20, UDP 8, BTH 12,
/// RETH 16, ICRC 4.
const ROCE_HEADERS: u32 = 60;
/// Smallest frames for RoCEv2 \[B\]: those of the smallest path MTU.
const LEAST_OF_ROCE: u32 = 352;
/// Smallest frames for TCP \[B\]: IPv4 and TCP headers, and the least that Linux sends after them (`TCP_MIN_SND_MSS`,
/// `include/net/tcp.h`: 48 with the options).
const LEAST_OF_TCP: u32 = IPV4_BYTES + HEADER_BYTES + 48;

/// What RoCEv2 needs.
pub(super) const RDMA: Tiny = Tiny { what: "packet of RoCEv2", least: LEAST_OF_ROCE };

/// A transport, and the smallest frames that it has room in.
#[derive(Clone, Copy)]
pub(super) struct Tiny {
    /// The transport.
    pub what: &'static str,
    /// The smallest sufficient frame \[B\].
    pub least: u32,
}

/// Reads the transport of a subsystem with these adapters.
pub(super) fn read(
    name: &str,
    fields: &mut Fields<'_>,
    (ports, machine, network): (&[PortOffer], &dyn Components, &Network),
    reports: &mut Reports,
) -> Option<TransportPlan> {
    let mut said = |key| match fields.written(key) {
        Some(_) => fields.one(key, reports).map(|said| Some(said.value)),
        None => Some(None),
    };
    let (by, header, data) = (said("transport")?, said("header-digest")?, said("data-digest")?);
    let is_on = |digest: Option<Value>| digest == Some(Value::Flag(true));
    let digests = Digests { header: is_on(header), data: is_on(data) };
    let transport = match by {
        Some(Value::Choice("tcp")) => TransportPlan::Tcp(digests),
        _ => TransportPlan::Rdma,
    };
    let digest =
        [("header-digest", header), ("data-digest", data)].into_iter().find(|(_, own)| own.is_some());
    if let (TransportPlan::Rdma, Some((key, _))) = (transport, digest) {
        fields.fault(key, Problem::DigestWithoutTcp { name: name.to_owned(), key }, reports);
        return None;
    }
    let differs = |other: &&SubsystemPlan| other.transport.is_tcp() != transport.is_tcp();
    for other in network.subsystems.iter().filter(differs) {
        let is_its = |port: &&PortOffer| other.ports.iter().any(|its| its.adapter == port.adapter);
        if let Some(port) = ports.iter().find(is_its) {
            let (port, other) = (machine.label(port.adapter), other.name.clone());
            fields.fault("port", Problem::TwoTransports { port, other }, reports);
            return None;
        }
    }
    Some(transport)
}

/// The transport of connections with this many bytes per frame at both ends.
pub(super) fn over(transport: TransportPlan, frames: u32) -> Result<ConnectionPlan, Tiny> {
    match transport {
        TransportPlan::Rdma => PathMtu::of_frames(frames).map(ConnectionPlan::Rdma).ok_or(RDMA),
        TransportPlan::Tcp(digests) if frames >= LEAST_OF_TCP => Ok(ConnectionPlan::Tcp { frames, digests }),
        TransportPlan::Tcp(_) => Err(Tiny { what: "segment of TCP", least: LEAST_OF_TCP }),
    }
}

/// Maximum payload of a frame of a connection \[B\].
pub(super) const fn most(connection: ConnectionPlan) -> u32 {
    match connection {
        ConnectionPlan::Rdma(packets) => packets.bytes() + ROCE_HEADERS,
        ConnectionPlan::Tcp { frames, .. } => frames,
    }
}
