//! The door for other processes: one thread with the drive, the clock and every socket.
//!
//! ```text
//!  clients ◄─► sockets ◄─► Connection (NBD), or Front (NVMe/TCP) ◄─► Engine ◄─► world, bytes
//!  kernel  ◄─► FUSE    ◄─► Desk, Answer ─────────────────────────────┤
//!  guest   ◄─► socket  ◄─► Session, Function (vfio-user) ────────────┤
//!  control ◄─► socket  ◄─► a line of JSON   ─────────────────────────┘
//! ```
//!
//! The thread blocks only while it waits for a socket or the next due time, and shortly before that it watches the
//! clock instead. Clients that send slowly, or do not read replies, delay no others, and authentication is computed
//! on a separate thread. The memory of connections is limited, for each by the largest request, and for all together.

mod arrivals;
mod file;
mod guest;
mod measure;
mod of_file;
mod of_guest;
mod peer;
mod sending;
mod subsystem;
mod upheaval;

use crate::awake::Wakefulness;
use crate::command::{Command, Ended, Kind};
use crate::control;
use crate::cores::Cores;
use crate::engine::{Engine, Reply};
use crate::fabric::front::Front;
use crate::fabric::offer::Offer;
use crate::fuse::mount::Mounted;
use crate::lateness::Told;
use crate::listen::Listening;
use crate::nbd::connection::Asked;
use crate::powers::Powers;
use crate::problem::Problem;
use crate::record::Record;
use lanetwin_units::{Instant, Span};
use of_file::OfFile;
use of_guest::Guest;
use peer::{Peer, PeerKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sending::Sending;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::os::fd::AsFd;

/// So long before something is due the thread no longer sleeps: see [`crate::local`].
const WATCH: Span = Span::from_us(60);
/// It looks this often whether it is to stop, at least.
const LOOK: Span = Span::from_us(100_000);
/// Maximum number of connections; further ones are refused.
const MOST_CONNECTIONS: usize = 1024;
/// Maximum memory of all connections together \[B\]; a connection that exceeds it is closed.
const MOST_HELD: usize = 512 << 20;
/// Maximum number of bytes read from a connection in one call \[B\].
const MOST_AT_ONCE: usize = 64 << 10;
/// A connection that has not negotiated by then is closed, and one that is to be closed takes no more time to send.
const NEGOTIATION: Span = Span::from_us(10_000_000);

/// How clients connect.
#[derive(Debug)]
pub enum Entrance {
    /// By NBD, at a Unix socket.
    Nbd(Listening),
    /// By NVMe/TCP, at sockets of this machine, each of which is a port; see [`crate::listen::loopback`].
    NvmeTcp(Vec<TcpListener>),
    /// As a file, by FUSE.
    File(Mounted),
    /// By vfio-user, at a Unix socket: one guest at a time.
    VfioUser(Listening),
}

/// Sockets that are listened to.
#[derive(Debug)]
pub struct Sockets {
    /// For clients.
    pub entrance: Entrance,
    /// For control.
    pub control: Listening,
}

/// Whose a request is.
struct Whose {
    peer: u32,
    cookie: u64,
    kind: Kind,
    first: u64,
}

/// A ready descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ready {
    /// Clients come in, or have left something at the desk of a file.
    Entrance,
    Control,
    /// Something that a host needs to authenticate was computed.
    Power,
    Peer(u32),
}

/// What the door does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// It measures itself: its own reader is answered at once, without the drive.
    Echo,
    /// It measures itself: its own reader is answered by the drive.
    Trial,
    /// Clients are served.
    Open,
}

/// The time that a door itself takes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Took {
    /// Of a read that is answered at once.
    pub echo: Span,
    /// Of a read of the drive, in addition to the predicted latency: answers are sent earlier by this.
    pub lead: Span,
}

/// A drive that is served.
pub struct Server {
    engine: Engine,
    sockets: Sockets,
    /// The subsystem, if it is served by NVMe/TCP.
    front: Option<Front>,
    began: std::time::Instant,
    /// Computes powers for authentication, if hosts have to authenticate.
    powers: Option<Powers>,
    /// By the number of the connection, which the subsystem knows, too.
    peers: BTreeMap<u32, Peer>,
    asked: BTreeMap<u64, Whose>,
    /// Tickets of the front's commands, by those of the engine.
    of_front: BTreeMap<u64, u64>,
    of_file: OfFile,
    /// The function of a guest, if it is served by vfio-user.
    guest: Option<Guest>,
    numbers: u64,
    connections: u32,
    phase: Phase,
    /// While it measures itself its own reader comes in here.
    own_entrance: Option<TcpListener>,
    /// Predicted latency of each answer of the trial.
    predicted: Vec<Span>,
    cores: Cores,
    /// The drive was pulled out.
    is_removed: bool,
    /// Ports that are gone, from 0.
    down: BTreeSet<usize>,
    /// Whether it was told to end.
    is_ended: bool,
    took: Took,
    nqn: Option<String>,
    /// Buffer for reads from sockets.
    buffer: Vec<u8>,
    sending: Sending,
}

impl Server {
    /// A server of this drive at these sockets, on these cores. What the door itself takes is measured, and answers
    /// leave earlier by it.
    ///
    /// # Errors
    /// The system gives no sockets or no thread.
    pub fn new(engine: Engine, sockets: Sockets, cores: Cores) -> io::Result<Self> {
        let offer = match &sockets.entrance {
            Entrance::Nbd(_) | Entrance::File(_) | Entrance::VfioUser(_) => None,
            Entrance::NvmeTcp(ports) => {
                let addresses = ports.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
                Some(Offer::of(engine.drive(), addresses))
            }
        };
        let mut server = Self {
            engine,
            sockets,
            front: None,
            powers: None,
            began: std::time::Instant::now(),
            peers: BTreeMap::new(),
            asked: BTreeMap::new(),
            of_front: BTreeMap::new(),
            of_file: OfFile::default(),
            guest: None,
            numbers: 0,
            connections: 0,
            phase: Phase::Echo,
            own_entrance: None,
            predicted: Vec::new(),
            cores,
            is_removed: false,
            down: BTreeSet::new(),
            is_ended: false,
            took: Took::default(),
            nqn: offer.as_ref().map(|offer| offer.nqn.clone()),
            buffer: vec![0; MOST_AT_ONCE],
            sending: Sending::default(),
        };
        server.took = server.measure(offer.as_ref())?;
        server.front = offer.as_ref().map(front).transpose()?;
        server.guest = server.guest.is_some().then(|| Guest::new(server.engine.drive())).transpose()?;
        server.phase = Phase::Open;
        let now = server.now();
        server.engine.set_lead(now, server.took.lead);
        server.engine.forget_lateness();
        Ok(server)
    }
    fn now(&self) -> Instant {
        let ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Instant::from_ps(ns.saturating_mul(1000))
    }
    /// The time of the door itself.
    #[must_use]
    pub const fn took(&self) -> Took {
        self.took
    }
    /// Whether cores are kept awake while the drive is used.
    #[must_use]
    pub const fn wakefulness(&self) -> Wakefulness {
        self.cores.awake.can()
    }
    /// The NQN of the subsystem, if there is one.
    #[must_use]
    pub fn nqn(&self) -> Option<&str> {
        self.nqn.as_deref()
    }
    /// Lateness of replies.
    #[must_use]
    pub fn lateness(&self) -> Told {
        self.engine.lateness()
    }

    /// Serves until it is told to end, or until `is_over`, which is checked at least every tenth of a second.
    pub fn serve(&mut self, is_over: &dyn Fn() -> bool) {
        self.cores.take_own();
        self.serve_here(is_over);
        self.cores.leave_own();
    }
    fn serve_here(&mut self, is_over: &dyn Fn() -> bool) {
        // else the system wakes a thread up to 50 µs late on purpose; that it will not is no reason to stop
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut checked = self.now();
        loop {
            let ready = self.wait();
            for (ready, flags) in ready {
                match ready {
                    Ready::Entrance => self.accept(),
                    Ready::Control => self.accept_control(),
                    Ready::Power => self.attend_powers(),
                    Ready::Peer(peer) => self.attend(peer, flags),
                }
            }
            let now = self.now();
            let replies = self.engine.poll(now);
            self.wake_guest(now);
            self.answer(now, replies);
            let woken = self.front.as_mut().map_or_else(Vec::new, |front| front.wake(now));
            self.carry_out(now, woken);
            if self.is_ended {
                return;
            }
            let is_quiet = self.guest.as_ref().is_none_or(Guest::is_idle) && self.of_file.is_empty();
            let is_idle = is_quiet && self.asked.is_empty() && self.of_front.is_empty();
            if !is_idle {
                self.cores.awake.use_now(now);
            }
            if now.since(checked) >= LOOK || is_idle {
                checked = now;
                self.close_idle(now);
                self.cores.awake.rest(now);
                if is_over() {
                    return;
                }
            }
        }
    }
    /// Records requests from now on.
    pub fn record_into(&mut self, record: Option<Record>) {
        self.engine.record_into(record);
    }
    /// Ends the record, if there is one.
    ///
    /// # Errors
    /// Not all of it could be written.
    pub fn end_record(&mut self) -> Result<(), Problem> {
        self.engine.end_record()
    }
    /// Ends: everything that was acknowledged is written. Whether it could be.
    #[must_use]
    pub fn close(mut self) -> bool {
        self.engine.close().is_ok()
    }

    /// Waits until a socket is ready, or something is due.
    fn wait(&mut self) -> Vec<(Ready, PollFlags)> {
        let wake = self.front.as_ref().map_or(Instant::NEVER, Front::next_wake);
        let wake = self.guest.as_ref().map_or(wake, |guest| wake.min(guest.function.next_wake()));
        let left = self.engine.next_due().min(wake).since(self.now());
        let sleep =
            if left > WATCH { Span::from_ps(left.as_ps() - WATCH.as_ps()).min(LOOK) } else { Span::ZERO };
        let ns = (sleep.as_ps() / 1000) as i64;
        let timeout = Timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        let (mut fds, mut whose) = (Vec::new(), Vec::new());
        let entrances: Vec<_> = match (&self.phase, &self.own_entrance, &self.sockets.entrance) {
            (_, _, Entrance::File(mounted)) => vec![mounted.bell()],
            (Phase::Echo | Phase::Trial, own, _) => own.iter().map(AsFd::as_fd).collect(),
            (Phase::Open, _, Entrance::Nbd(listening) | Entrance::VfioUser(listening)) => {
                vec![listening.socket.as_fd()]
            }
            (Phase::Open, _, Entrance::NvmeTcp(ports)) => ports.iter().map(AsFd::as_fd).collect(),
        };
        let control = (self.phase == Phase::Open).then(|| self.sockets.control.socket.as_fd());
        let powers = self.powers.as_ref().map(Powers::bell);
        let entrances = entrances.into_iter().map(|fd| (fd, Ready::Entrance));
        let control = control.into_iter().map(|fd| (fd, Ready::Control));
        let powers = powers.into_iter().map(|fd| (fd, Ready::Power));
        for (listener, ready) in entrances.chain(control).chain(powers) {
            fds.push(PollFd::from_borrowed_fd(listener, PollFlags::IN));
            whose.push(ready);
        }
        for (number, peer) in &self.peers {
            fds.push(PollFd::from_borrowed_fd(peer.socket.as_fd(), peer.interest()));
            whose.push(Ready::Peer(*number));
        }
        if poll(&mut fds, Some(&timeout)).is_err() {
            return Vec::new();
        }
        let ready = fds.iter().zip(whose).filter(|(fd, _)| !fd.revents().is_empty());
        let mut ready: Vec<_> = ready.map(|(fd, ready)| (ready, fd.revents())).collect();
        // several ports are one entrance
        ready.dedup_by_key(|(ready, _)| *ready);
        ready
    }
    /// Connections that have not negotiated in time, and those that are over and take nothing, are closed.
    fn close_idle(&mut self, now: Instant) {
        let front = self.front.as_ref();
        let is_slow = |number: u32, peer: &Peer| match &peer.kind {
            _ if now.since(peer.since) <= NEGOTIATION => false,
            _ if peer.is_closing => true,
            PeerKind::Nbd(connection) => !connection.is_negotiated(),
            PeerKind::NvmeTcp(..) => front.is_none_or(|front| !front.is_admitted(number)),
            PeerKind::VfioUser(_) => Self::is_dumb(&peer.kind),
            PeerKind::Echo(_) => false,
            PeerKind::Control(_) => true,
        };
        let slow: Vec<u32> = self
            .peers
            .iter()
            .filter(|(number, peer)| is_slow(**number, peer))
            .map(|(&number, _)| number)
            .collect();
        for number in slow {
            self.peers.remove(&number);
            self.lost(now, number);
        }
    }
    /// Handles the loss of a connection.
    fn lost(&mut self, now: Instant, number: u32) {
        self.lost_guest(now, number);
        self.powers.iter_mut().for_each(|powers| powers.forget(number));
        let out = self.front.as_mut().map_or_else(Vec::new, |front| front.lost(now, number));
        self.carry_out(now, out);
    }

    /// A socket is ready.
    fn attend(&mut self, number: u32, flags: PollFlags) {
        let Some(mut peer) = self.peers.remove(&number) else { return };
        let (now, mut is_there) = (self.now(), true);
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            is_there = peer.receive(&mut self.buffer);
            is_there &= self.hear(number, &mut peer, now);
        }
        peer.send();
        let come = match &mut peer.kind {
            PeerKind::NvmeTcp(bytes, _) if !peer.is_closing => Some(std::mem::take(bytes)),
            _ => None,
        };
        let is_done = peer.is_closing && peer.output.is_empty();
        let stays = is_there && !is_done && self.held() + peer.held() <= MOST_HELD;
        if stays {
            self.peers.insert(number, peer);
        }
        if let (Some(front), Some(bytes)) = (&mut self.front, come) {
            let out = front.receive(now, number, bytes);
            self.carry_out(now, out);
        }
        if !stays {
            self.lost(now, number);
        }
    }
    fn held(&self) -> usize {
        self.peers.values().map(Peer::held).sum()
    }
    /// Processes the input of a peer. Returns whether it stays.
    fn hear(&mut self, number: u32, peer: &mut Peer, now: Instant) -> bool {
        let ports = self.ports();
        match &mut peer.kind {
            PeerKind::Control(line) => {
                while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let rest = line.split_off(end + 1);
                    let (answer, upheaval) = control::carry_out(&mut self.engine, now, (&line[..end], ports));
                    *line = rest;
                    peer.output.extend(answer.into_bytes());
                    peer.output.push(b'\n');
                    upheaval.into_iter().for_each(|upheaval| self.upset(now, upheaval));
                }
                line.len() <= control::MOST_LINE
            }
            PeerKind::Echo(connection) => {
                while let Some(Asked { cookie, command }) = connection.next_request() {
                    let data = vec![0; command.request.bytes as usize];
                    connection.reply(
                        cookie,
                        command.request.kind,
                        command.request.first,
                        (Ended::Well, &data[..]),
                    );
                }
                true
            }
            PeerKind::Nbd(connection) => {
                while let Some(Asked { cookie, command }) = connection.next_request() {
                    self.numbers += 1;
                    peer.in_progress += 1;
                    let (kind, first) = (command.request.kind, command.request.first);
                    self.asked.insert(self.numbers, Whose { peer: number, cookie, kind, first });
                    self.engine.ask(now, self.numbers, Command { asker: number, ..command });
                }
                peer.is_closing |= connection.is_over();
                true
            }
            PeerKind::NvmeTcp(..) => true,
            PeerKind::VfioUser(session) => self.hear_guest(now, &peer.socket, session, &mut peer.output),
        }
    }
    /// Delivers replies. Those of one connection are sent together, so that its peer is woken once.
    fn answer(&mut self, now: Instant, replies: Vec<Reply>) {
        let (mut of_front, mut with_output) = (Vec::new(), BTreeSet::new());
        for reply in replies {
            if self.phase == Phase::Trial {
                self.predicted.push(reply.latency);
            }
            if let Some(ticket) = self.of_front.remove(&reply.ticket) {
                of_front.push(Reply { ticket, ..reply });
                continue;
            }
            let Some(reply) = self.answer_file(now, reply) else { continue };
            let Some(reply) = self.answer_guest(now, reply) else { continue };
            let Reply { ticket, ended, data, .. } = reply;
            let Some(Whose { peer: number, cookie, kind, first }) = self.asked.remove(&ticket) else {
                continue;
            };
            // a client that has gone away needs no reply
            let Some(peer) = self.peers.get_mut(&number) else { continue };
            peer.in_progress = peer.in_progress.saturating_sub(1);
            if let PeerKind::Nbd(connection) = &mut peer.kind {
                connection.reply(cookie, kind, first, (ended, &data));
                with_output.insert(number);
            }
        }
        self.answer_front(now, of_front);
        with_output.into_iter().for_each(|number| self.send_to(number));
    }
    /// Sends the pending output of a connection.
    fn send_to(&mut self, number: u32) {
        let began = std::time::Instant::now();
        self.peers.get_mut(&number).into_iter().for_each(Peer::send);
        self.sending.took(began.elapsed());
        self.engine.gather(self.sending.wait());
    }
}

fn front(offer: &Offer) -> io::Result<Front> {
    Front::new(offer).map_err(|said| io::Error::new(io::ErrorKind::InvalidInput, said))
}
