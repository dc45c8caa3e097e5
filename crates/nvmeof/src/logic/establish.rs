//! Immediate establishment of a connection, for simulations that start with connected queues.
//!
//! ```text
//!  RDMA  Request ─► Accept ─► Connect ─► RDMA READ of its data ─► Connect of a controller ─► response ─► live
//!  TCP   ICReq ─► ICResp ─► Connect with its data ─► Connect of a controller ─► response ─► live
//! ```
//!
//! Both sides exchange the same messages as over a network, in no time.

use super::data::Data;
use super::host::{Queue, QueueEffect};
use super::target::{ConnectionId, Effect, Target};
use lanetwin_nvme::spec::ControllerId;
use lanetwin_units::Instant;

/// Connects a queue of a host to a controller of a target, over the target's first port.
///
/// Returns whether the queue is live; if not, one side has refused.
pub fn establish(
    host: &mut Queue,
    target: &mut Target,
    (connection, controller): (ConnectionId, ControllerId),
) -> bool {
    let mut between = Between { connection, controller, key: Data::NONE };
    let (mut of_host, mut of_target) = (Vec::new(), Vec::new());
    target.accept(connection, 0);
    host.start(&mut of_host);
    while !of_host.is_empty() || !of_target.is_empty() {
        for effect in std::mem::take(&mut of_host) {
            between.tell_target(effect, (host, &mut of_host), (target, &mut of_target));
        }
        for effect in std::mem::take(&mut of_target) {
            between.tell_host(effect, (host, &mut of_host), (target, &mut of_target));
        }
    }
    host.is_live()
}

/// Exchange between a host and a target that connect.
struct Between {
    connection: ConnectionId,
    controller: ControllerId,
    /// Content of the host's registered memory.
    key: Data,
}

type Host<'a> = (&'a mut Queue, &'a mut Vec<QueueEffect>);
type Other<'a> = (&'a mut Target, &'a mut Vec<Effect>);

impl Between {
    fn tell_target(&mut self, effect: QueueEffect, (host, back): Host<'_>, (target, out): Other<'_>) {
        match effect {
            QueueEffect::Request { private } => target.request(self.connection, 0, private.as_bytes(), out),
            QueueEffect::Register { data, .. } => self.key = data,
            QueueEffect::SendCapsule { command, data } => {
                host.sent(command.cid(), back);
                target.capsule(Instant::ZERO, self.connection, (command, data), out);
            }
            QueueEffect::Send { stream } => target.receive(Instant::ZERO, self.connection, stream, out),
            QueueEffect::Invalidate { key } => host.invalidated(key, back),
            _ => {}
        }
    }
    fn tell_host(&self, effect: Effect, (host, out): Host<'_>, (target, back): Other<'_>) {
        match effect {
            Effect::Accept { private, .. } => host.accepted(private.as_bytes(), out),
            Effect::Reject { private, .. } => host.rejected(private.as_bytes(), out),
            Effect::RdmaRead { operation, .. } => {
                target.read_done(Instant::ZERO, self.connection, operation, self.key.clone(), back);
            }
            Effect::Connect { subsystem, .. } => {
                target.connected(self.connection, subsystem, Ok(self.controller), back);
            }
            Effect::Send { stream, .. } => host.receive(stream, out),
            Effect::SendCapsule { entry, invalidate, .. } => {
                host.capsule(entry, invalidate, out);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::host::{HostName, HostTransport, QueueConfig, RdmaHost, TcpHost};
    use crate::logic::target::{
        OfferedSubsystem, PortConfig, RdmaConfig, TargetConfig, TcpConfig, Transport,
    };
    use crate::spec::discovery::AddressFamily;
    use crate::spec::tcp::DigestTypes;
    use lanetwin_nvme::spec::SqId;

    const NQN: &str = "nqn.2026-01.test:drives";

    fn target(transport: Transport) -> Target {
        let subsystem = OfferedSubsystem { nqn: NQN.into(), hosts: None };
        let port = PortConfig {
            number: 1,
            transport,
            family: AddressFamily::IPV4,
            address: "192.0.2.1".into(),
            service: "4420".into(),
            capsule_data: 4096,
        };
        let config = TargetConfig { subsystems: vec![subsystem], ports: vec![port], referrals: Vec::new() };
        Target::new(config).expect("a target")
    }
    fn queue(number: u16, controller: u16, (subsystem, transport): (&str, HostTransport)) -> Queue {
        Queue::new(QueueConfig {
            number: SqId(number),
            entries: 32,
            flow_control: true,
            host: HostName { nqn: "nqn.2026-01.test:host".into(), id: [7; 16] },
            subsystem: subsystem.into(),
            controller,
            keep_alive_ms: 0,
            transport,
            buffer: 0,
            capsule_data: 4096,
        })
    }

    #[test]
    fn queues_are_live_behind_their_admin_queue_and_not_before() {
        let rdma = HostTransport::Rdma(RdmaHost { remote_invalidate: true });
        connects(target(Transport::Rdma(RdmaConfig::default())), rdma);
        let digests = DigestTypes::from_raw(3);
        for asked in [0, 3] {
            let tcp = TcpHost { digests: DigestTypes::from_raw(asked), ..TcpHost::default() };
            let ours = TcpConfig { digests, ..TcpConfig::default() };
            connects(target(Transport::Tcp(ours)), HostTransport::Tcp(tcp));
        }
    }

    fn connects(mut target: Target, by: HostTransport) {
        let controller = ControllerId(3);
        let (ours, other) = ((NQN, by), ("nqn.2026-01.test:other", by));
        let mut connect = |connection, mut queue: Queue| {
            establish(&mut queue, &mut target, (ConnectionId(connection), controller))
        };
        assert!(!connect(0, queue(1, 3, ours)), "there is no association yet");
        assert!(connect(1, queue(0, 0xffff, ours)));
        assert!(connect(2, queue(1, 3, ours)));
        assert!(!connect(3, queue(1, 3, ours)), "a queue has one connection");
        assert!(!connect(4, queue(0, 0xffff, other)));
    }
}
