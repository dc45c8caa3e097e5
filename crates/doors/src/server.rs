//! The door for other processes: one thread with the drive, the clock and every socket.
//!
//! ```text
//!  clients ◄─► sockets ◄─► Connection (NBD) ◄─► Engine ◄─► world, bytes
//!  control ◄─► socket  ◄─► a line of JSON   ────┘
//! ```
//!
//! Nothing blocks but the wait for a socket or for the time at which something is due, and shortly before that nothing
//! does: then the thread watches the clock. Whoever sends slowly, or takes no replies, keeps nobody else waiting. What
//! connections hold is limited, each by the largest request, and all together.

use crate::command::Kind;
use crate::control;
use crate::engine::{Engine, Reply};
use crate::lateness::Told;
use crate::listen::Listening;
use crate::nbd::client::{Ask, Client};
use crate::nbd::connection::{Asked, Connection, EXPORT};
use lanetwin_units::{Instant, Span};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// So long before something is due the thread no longer sleeps: see [`crate::local`].
const WATCH: Span = Span::from_us(60);
/// It looks this often whether it is to stop, at least.
const LOOK: Span = Span::from_us(100_000);
/// So many connections; who comes then is turned away.
const MOST_CONNECTIONS: usize = 1024;
/// So many requests of a connection are in progress; more are not read.
const MOST_IN_PROGRESS: usize = 1024;
/// With so many bytes to be sent a connection is not read.
const MOST_OUTPUT: usize = 16 << 20;
/// All connections together hold so many bytes; the one that takes more is closed.
const MOST_HELD: usize = 512 << 20;
/// A connection that has not negotiated by then is closed.
const NEGOTIATION: Span = Span::from_us(10_000_000);
/// So many reads measure what the door itself takes.
const ECHOES: u32 = 200;

/// Sockets that are listened to.
#[derive(Debug)]
pub struct Sockets {
    /// For clients of NBD.
    pub nbd: Listening,
    /// For control.
    pub control: Listening,
}

/// A connection of whatever kind.
struct Peer {
    stream: UnixStream,
    kind: PeerKind,
    output: Vec<u8>,
    sent: usize,
    in_progress: usize,
    since: Instant,
    is_closing: bool,
}

enum PeerKind {
    Nbd(Box<Connection>),
    /// Measures the door: its requests are answered at once.
    Echo(Box<Connection>),
    Control(Vec<u8>),
}

/// Whose a request is.
struct Whose {
    peer: u64,
    cookie: u64,
    kind: Kind,
    first: u64,
}

/// A drive that is served.
pub struct Server {
    engine: Engine,
    sockets: Sockets,
    began: std::time::Instant,
    peers: BTreeMap<u64, Peer>,
    asked: BTreeMap<u64, Whose>,
    numbers: u64,
    /// Whether clients are let in: not before the door has measured itself.
    is_open: bool,
    lead: Span,
}

impl Server {
    /// A server of this drive at these sockets. What the door itself takes is measured, and answers leave earlier by
    /// it.
    ///
    /// # Errors
    /// The system gives no sockets or no thread.
    pub fn new(engine: Engine, sockets: Sockets) -> io::Result<Self> {
        let (peers, asked) = (BTreeMap::new(), BTreeMap::new());
        let began = std::time::Instant::now();
        let (is_open, lead) = (false, Span::ZERO);
        let mut server = Self { engine, sockets, began, peers, asked, numbers: 0, is_open, lead };
        server.lead = server.measure_itself()?;
        server.is_open = true;
        let now = server.now();
        server.engine.set_lead(now, server.lead);
        Ok(server)
    }
    fn now(&self) -> Instant {
        let ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Instant::from_ps(ns.saturating_mul(1000))
    }
    /// What the door takes of its own, by which answers leave earlier.
    #[must_use]
    pub const fn lead(&self) -> Span {
        self.lead
    }
    /// How late replies were.
    #[must_use]
    pub fn lateness(&self) -> Told {
        self.engine.lateness()
    }
    /// What the door takes of its own: half of the reads through a socket took no longer, when no drive had a part.
    fn measure_itself(&mut self) -> io::Result<Span> {
        let (ours, theirs) = UnixStream::pair()?;
        let echo = PeerKind::Echo(Box::new(Connection::new(self.engine.drive().facts)));
        self.welcome(ours, echo)?;
        let block = self.engine.drive().facts.block.max(4096);
        let client = std::thread::Builder::new().name("lanetwin-echo".into()).spawn(move || {
            let mut client = Client::connect(theirs, EXPORT).ok()?;
            let mut took = Vec::new();
            for _ in 0..ECHOES {
                let began = std::time::Instant::now();
                client.one(Ask::Read, 0, block, &[]).ok()?.ok()?;
                took.push(began.elapsed());
            }
            took.sort_unstable();
            u64::try_from(took[took.len() / 2].as_nanos()).ok()
        })?;
        self.serve(&|| client.is_finished());
        self.peers.clear();
        let ns = client.join().ok().flatten();
        Ok(Span::from_ns(ns.unwrap_or(0)))
    }

    /// Serves until `is_over`, which is asked every tenth of a second at least.
    pub fn serve(&mut self, is_over: &dyn Fn() -> bool) {
        // else the system wakes a thread up to 50 µs late on purpose; that it will not is no reason to stop
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut checked = self.now();
        loop {
            let ready = self.wait();
            for (peer, flags) in ready {
                match peer {
                    None => self.accept(),
                    Some(peer) => self.attend(peer, flags),
                }
            }
            let now = self.now();
            let replies = self.engine.poll(now);
            self.answer(replies);
            if now.since(checked) >= LOOK || self.asked.is_empty() {
                checked = now;
                self.close_idle(now);
                if is_over() {
                    return;
                }
            }
        }
    }
    /// Ends: everything that was acknowledged is written. Whether it could be.
    #[must_use]
    pub fn close(mut self) -> bool {
        self.engine.close().is_ok()
    }

    /// Waits until a socket is ready, or something is due: who is ready; none is a listener.
    fn wait(&mut self) -> Vec<(Option<u64>, PollFlags)> {
        let left = self.engine.next_due().since(self.now());
        let sleep =
            if left > WATCH { Span::from_ps(left.as_ps() - WATCH.as_ps()).min(LOOK) } else { Span::ZERO };
        let ns = (sleep.as_ps() / 1000) as i64;
        let timeout = Timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        let (mut fds, mut who) = (Vec::new(), Vec::new());
        if self.is_open {
            let listeners = [&self.sockets.nbd.socket, &self.sockets.control.socket];
            fds.extend(listeners.map(|socket| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)));
            who.extend([None, None]);
        }
        for (number, peer) in &self.peers {
            fds.push(PollFd::from_borrowed_fd(peer.stream.as_fd(), peer.interest()));
            who.push(Some(*number));
        }
        if poll(&mut fds, Some(&timeout)).is_err() {
            return Vec::new();
        }
        let ready = fds.iter().zip(who).filter(|(fd, _)| !fd.revents().is_empty());
        let mut ready: Vec<_> = ready.map(|(fd, who)| (who, fd.revents())).collect();
        ready.dedup_by_key(|(who, _)| *who);
        ready
    }
    fn accept(&mut self) {
        while let Ok((stream, _)) = self.sockets.nbd.socket.accept() {
            let connection = Connection::new(self.engine.drive().facts);
            // who cannot be welcomed is not there
            let _ = self.welcome(stream, PeerKind::Nbd(Box::new(connection)));
        }
        while let Ok((stream, _)) = self.sockets.control.socket.accept() {
            let _ = self.welcome(stream, PeerKind::Control(Vec::new()));
        }
    }
    fn welcome(&mut self, stream: UnixStream, kind: PeerKind) -> io::Result<()> {
        if self.peers.len() >= MOST_CONNECTIONS {
            return Ok(());
        }
        stream.set_nonblocking(true)?;
        self.numbers += 1;
        let since = self.now();
        let (output, sent, in_progress, is_closing) = (Vec::new(), 0, 0, false);
        let mut peer = Peer { stream, kind, output, sent, in_progress, since, is_closing };
        peer.send();
        self.peers.insert(self.numbers, peer);
        Ok(())
    }
    /// Connections that have not negotiated in time, and those that hold too much, are closed.
    fn close_idle(&mut self, now: Instant) {
        let is_slow = |peer: &Peer| match &peer.kind {
            PeerKind::Nbd(connection) => !connection.is_negotiated() && now.since(peer.since) > NEGOTIATION,
            PeerKind::Echo(_) => false,
            PeerKind::Control(_) => now.since(peer.since) > NEGOTIATION,
        };
        self.peers.retain(|_, peer| !is_slow(peer));
    }

    /// A socket is ready.
    fn attend(&mut self, number: u64, flags: PollFlags) {
        let Some(mut peer) = self.peers.remove(&number) else { return };
        let mut is_there = true;
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            let now = self.now();
            is_there = peer.receive();
            is_there &= self.hear(number, &mut peer, now);
        }
        peer.send();
        let is_done = peer.is_closing && peer.output.is_empty();
        if is_there && !is_done && self.held() + peer.held() <= MOST_HELD {
            self.peers.insert(number, peer);
        }
    }
    fn held(&self) -> usize {
        self.peers.values().map(Peer::held).sum()
    }
    /// Takes out what a peer has asked; whether it is to stay.
    fn hear(&mut self, number: u64, peer: &mut Peer, now: Instant) -> bool {
        match &mut peer.kind {
            PeerKind::Control(line) => {
                while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let rest = line.split_off(end + 1);
                    let answer = control::carry_out(&mut self.engine, now, &line[..end]);
                    *line = rest;
                    peer.output.extend(answer.into_bytes());
                    peer.output.push(b'\n');
                }
                line.len() <= control::MOST_LINE
            }
            PeerKind::Echo(connection) => {
                while let Some(Asked { cookie, command }) = connection.next_request() {
                    let data = vec![0; command.request.bytes as usize];
                    let ended = (crate::command::Ended::Well, &data[..]);
                    connection.reply(cookie, command.request.kind, command.request.first, ended);
                }
                true
            }
            PeerKind::Nbd(connection) => {
                while let Some(Asked { cookie, command }) = connection.next_request() {
                    self.numbers += 1;
                    peer.in_progress += 1;
                    let (kind, first) = (command.request.kind, command.request.first);
                    self.asked.insert(self.numbers, Whose { peer: number, cookie, kind, first });
                    self.engine.ask(now, self.numbers, command);
                }
                peer.is_closing |= connection.is_over();
                true
            }
        }
    }
    /// Hands replies to whoever has asked.
    fn answer(&mut self, replies: Vec<Reply>) {
        for Reply { ticket, ended, data, .. } in replies {
            let Some(Whose { peer: number, cookie, kind, first }) = self.asked.remove(&ticket) else {
                continue;
            };
            // who has gone away needs no reply
            let Some(peer) = self.peers.get_mut(&number) else { continue };
            peer.in_progress -= 1;
            if let PeerKind::Nbd(connection) = &mut peer.kind {
                connection.reply(cookie, kind, first, (ended, &data));
            }
            peer.send();
        }
    }
}

impl Peer {
    /// What it waits for.
    fn interest(&self) -> PollFlags {
        let takes =
            self.in_progress < MOST_IN_PROGRESS && self.output.len() < MOST_OUTPUT && !self.is_closing;
        let mut flags = if takes { PollFlags::IN } else { PollFlags::empty() };
        if !self.output.is_empty() {
            flags |= PollFlags::OUT;
        }
        flags
    }
    fn held(&self) -> usize {
        let own = match &self.kind {
            PeerKind::Nbd(connection) | PeerKind::Echo(connection) => connection.held(),
            PeerKind::Control(line) => line.capacity(),
        };
        own + self.output.capacity()
    }
    /// Reads what has come; whether the other side is there.
    fn receive(&mut self) -> bool {
        let mut buffer = [0; 64 << 10];
        // what comes without end is not read without end: others wait
        for _ in 0..16 {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => match &mut self.kind {
                    PeerKind::Nbd(connection) | PeerKind::Echo(connection) => {
                        connection.push(&buffer[..count])
                    }
                    PeerKind::Control(line) => line.extend_from_slice(&buffer[..count]),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }
    /// Sends as much as the socket takes.
    fn send(&mut self) {
        if let PeerKind::Nbd(connection) | PeerKind::Echo(connection) = &mut self.kind {
            self.output.append(connection.output());
        }
        while self.sent < self.output.len() {
            match self.stream.write(&self.output[self.sent..]) {
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
