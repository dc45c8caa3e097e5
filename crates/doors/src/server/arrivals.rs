//! Accepting of connections: to the drive, and for control.

use super::peer::{Peer, PeerKind, Socket};
use super::{Entrance, MOST_CONNECTIONS, Server};
use crate::nbd::connection::Connection;
use std::io;
use std::net::TcpListener;

impl Server {
    /// Accepts connections, and takes requests queued by the file.
    pub(super) fn accept(&mut self) {
        self.attend_desk();
        let mut come = Vec::new();
        match (&self.own_entrance, &self.sockets.entrance) {
            (Some(own), _) => come.extend(accepted(own, 0)),
            (None, Entrance::NvmeTcp(ports)) => {
                for (port, listener) in ports.iter().enumerate() {
                    let at_port = accepted(listener, port);
                    come.extend(at_port.into_iter().filter(|_| !self.down.contains(&port)));
                }
            }
            (None, Entrance::File(_)) => {}
            (None, Entrance::VfioUser(listening)) => {
                let sockets = std::iter::from_fn(|| listening.socket.accept().ok());
                come.extend(sockets.map(|(socket, _)| (Socket::Unix(socket), PeerKind::guest())));
            }
            (None, Entrance::Nbd(listening)) => {
                while let Ok((socket, _)) = listening.socket.accept() {
                    let connection = Connection::new(self.engine.drive().facts);
                    come.push((Socket::Unix(socket), PeerKind::Nbd(Box::new(connection))));
                }
            }
        }
        // a guest has its drive whether or not that answers
        if self.is_removed && self.guest.is_none() {
            come.clear();
        }
        for (socket, kind) in come {
            // a client that cannot be registered is dropped
            let _ = self.welcome(socket, kind);
        }
    }
    /// Accepts control connections.
    pub(super) fn accept_control(&mut self) {
        while let Ok((socket, _)) = self.sockets.control.socket.accept() {
            let _ = self.welcome(Socket::Unix(socket), PeerKind::Control(Vec::new()));
        }
    }
    /// A connection begins, if there is room for it.
    ///
    /// # Errors
    /// The system does not let the socket be prepared.
    pub(super) fn welcome(&mut self, socket: Socket, kind: PeerKind) -> io::Result<()> {
        if self.peers.len() >= MOST_CONNECTIONS {
            return Ok(());
        }
        socket.prepare()?;
        let number = (1..).map(|step| self.connections.wrapping_add(step));
        let number = number.into_iter().find(|number| !self.peers.contains_key(number)).unwrap_or_default();
        self.connections = number;
        if let (PeerKind::NvmeTcp(_, port), Some(front)) = (&kind, &mut self.front) {
            front.accept(number, *port);
        }
        if let (PeerKind::VfioUser(_), Some(guest)) = (&kind, &mut self.guest)
            && !guest.take(number)
        {
            return Ok(());
        }
        let mut peer = Peer::new(socket, kind, self.now());
        peer.send();
        self.peers.insert(number, peer);
        Ok(())
    }
}

/// Connections accepted at a port.
fn accepted(listener: &TcpListener, port: usize) -> Vec<(Socket, PeerKind)> {
    let come = std::iter::from_fn(|| listener.accept().ok());
    come.map(|(socket, _)| (Socket::Tcp(socket), PeerKind::NvmeTcp(Vec::new(), port))).collect()
}
