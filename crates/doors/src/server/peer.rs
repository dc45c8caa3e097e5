//! A connection of whatever kind, with its socket.

use crate::nbd::connection::Connection;
use crate::vfio_user::session::Session;
use lanetwin_units::Instant;
use rustix::event::PollFlags;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Maximum number of requests of a connection in progress; further ones are not read.
const MOST_IN_PROGRESS: usize = 1024;
/// Amount of pending output above which a connection is not read \[B\].
const MOST_OUTPUT: usize = 16 << 20;

/// A socket that is connected.
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Makes a socket non-blocking, and disables delayed sending.
    pub fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Unix(socket) => socket.set_nonblocking(true),
            Self::Tcp(socket) => socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)),
        }
    }
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.read(into),
            Self::Tcp(socket) => socket.read(into),
        }
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.write(bytes),
            Self::Tcp(socket) => socket.write(bytes),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(socket) => socket.as_fd(),
            Self::Tcp(socket) => socket.as_fd(),
        }
    }
}

/// A connection.
pub struct Peer {
    pub socket: Socket,
    pub kind: PeerKind,
    pub output: Vec<u8>,
    sent: usize,
    pub in_progress: usize,
    /// When it was made, or began to close.
    pub since: Instant,
    pub is_closing: bool,
}

/// Kind of a connection.
pub enum PeerKind {
    Nbd(Box<Connection>),
    /// Measures the door: its requests are answered at once.
    Echo(Box<Connection>),
    /// Its input, and the index of its port, from 0.
    NvmeTcp(Vec<u8>, usize),
    VfioUser(Box<Session>),
    Control(Vec<u8>),
}

impl PeerKind {
    /// A guest's client that has sent nothing.
    pub fn guest() -> Self {
        Self::VfioUser(Box::default())
    }
}

impl Peer {
    pub const fn new(socket: Socket, kind: PeerKind, since: Instant) -> Self {
        Self { socket, kind, output: Vec::new(), sent: 0, in_progress: 0, since, is_closing: false }
    }
    /// Events that it waits for.
    pub fn interest(&self) -> PollFlags {
        let takes =
            self.in_progress < MOST_IN_PROGRESS && self.output.len() < MOST_OUTPUT && !self.is_closing;
        let mut flags = if takes { PollFlags::IN } else { PollFlags::empty() };
        if !self.output.is_empty() {
            flags |= PollFlags::OUT;
        }
        flags
    }
    /// Memory that it occupies \[B\].
    pub fn held(&self) -> usize {
        let own = match &self.kind {
            PeerKind::Nbd(connection) | PeerKind::Echo(connection) => connection.held(),
            PeerKind::Control(bytes) | PeerKind::NvmeTcp(bytes, _) => bytes.capacity(),
            PeerKind::VfioUser(session) => session.held(),
        };
        own + self.output.capacity()
    }
    /// Reads input through a buffer. Returns whether the peer is still connected. Input of a guest's client is read
    /// elsewhere, with its file descriptors.
    pub fn receive(&mut self, buffer: &mut [u8]) -> bool {
        if matches!(self.kind, PeerKind::VfioUser(_)) {
            return true;
        }
        // limited, so that a fast sender does not delay others
        for _ in 0..16 {
            match self.socket.read(buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    match &mut self.kind {
                        PeerKind::Nbd(connection) | PeerKind::Echo(connection) => {
                            connection.push(&buffer[..count]);
                        }
                        PeerKind::Control(bytes) | PeerKind::NvmeTcp(bytes, _) => {
                            bytes.extend_from_slice(&buffer[..count]);
                        }
                        PeerKind::VfioUser(_) => {}
                    }
                    // there was no more, or it makes the socket ready again
                    if count < buffer.len() {
                        return true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }
    /// Sends as much as the socket takes.
    pub fn send(&mut self) {
        if let PeerKind::Nbd(connection) | PeerKind::Echo(connection) = &mut self.kind {
            self.output.append(connection.output());
        }
        while self.sent < self.output.len() {
            match self.socket.write(&self.output[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // one that is gone is found out by reading
                Err(_) => break,
            }
        }
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
            self.output.shrink_to(64 << 10);
        }
    }
}
