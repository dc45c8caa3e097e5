//! External events for clients: surprise removal of the drive, failure of a port, changes of ANA state, referrals to
//! other discovery services.

use super::peer::{Peer, PeerKind};
use super::{Entrance, Server};
use crate::control::Upheaval;
use lanetwin_nvme::spec::Nsid;
use lanetwin_nvme::spec::ana::AnaState;
use lanetwin_units::Instant;

impl Server {
    /// Number of NVMe/TCP ports.
    pub(super) const fn ports(&self) -> usize {
        match &self.sockets.entrance {
            Entrance::NvmeTcp(ports) => ports.len(),
            Entrance::Nbd(_) | Entrance::File(_) | Entrance::VfioUser(_) => 0,
        }
    }
    /// Applies an event to clients.
    pub(super) fn upset(&mut self, now: Instant, upheaval: Upheaval) {
        match &upheaval {
            Upheaval::Removed => self.is_removed = true,
            Upheaval::Inserted => self.is_removed = false,
            Upheaval::Reset => self.reset_guest(now),
            Upheaval::Ended => self.is_ended = true,
            Upheaval::PortDown(port) => {
                self.down.insert(*port);
            }
            Upheaval::PortUp(port) => {
                self.down.remove(port);
                return;
            }
            Upheaval::Access(state, port, nsid) => return self.set_access(now, (*port, *nsid), *state),
            Upheaval::Refer(to) => {
                let out = self.front.as_mut().map_or_else(Vec::new, |front| front.refer(now, to));
                return self.carry_out(now, out);
            }
        }
        let is_client = |peer: &Peer| match (&peer.kind, &upheaval) {
            // of a guest the drive is away, not its client
            (PeerKind::Control(_) | PeerKind::VfioUser(_), _) => false,
            (PeerKind::NvmeTcp(_, by), Upheaval::PortDown(port)) => by == port,
            _ => true,
        };
        let clients = self.peers.iter().filter(|(_, peer)| is_client(peer));
        let clients: Vec<u32> = clients.map(|(&number, _)| number).collect();
        for number in clients {
            self.peers.remove(&number);
            self.lost(now, number);
        }
    }
    /// Sets the ANA state of a namespace, or all, behind a port, or all.
    fn set_access(&mut self, now: Instant, (port, nsid): (Option<u16>, Option<Nsid>), state: AnaState) {
        let ports = port.map_or(0..self.ports() as u16, |port| port..port + 1);
        for port in ports {
            let set = self.front.as_mut().and_then(|front| front.set_access(now, (port, nsid), state));
            self.carry_out(now, set.unwrap_or_default());
        }
    }
}
