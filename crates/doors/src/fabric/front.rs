//! A subsystem at a target, without sockets: bytes of connections in, bytes of connections and commands for the drive
//! out.

use super::offer::{Offer, referral};
use crate::command::{Command, Ended, Kind};
use crate::drive::Facts;
use crate::engine::Reply;
use lanetwin_nvme::logic::{
    Direction, Effect as Wanted, Health, HostEffect, MediaOperation, MediaRequest, Subsystem, Token,
};
use lanetwin_nvme::spec::ana::AnaState;
use lanetwin_nvme::spec::{Nsid, SqId, Status};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::target::{Asked, ConnectionId, Effect, SubsystemId, Target};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_units::Instant;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::SocketAddr;
use std::ops::Range;

/// Data of writes that the front holds at most \[B\]; a write beyond that ends with Data Transfer Error.
pub const MOST_HELD: u64 = 512 << 20;
/// The drive is asked for no more than this at a time \[B\].
const MOST_ASKED: u64 = 1 << 31;

/// What is to be done outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outward {
    /// Send bytes.
    Send {
        /// By which connection.
        connection: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Close a connection when what was to be sent is sent.
    Close {
        /// Which.
        connection: u32,
    },
    /// Ask the drive; [`Front::answered`] gets the reply.
    Ask {
        /// The front's name for it.
        ticket: u64,
        /// What.
        command: Command,
    },
    /// Every byte of a drive becomes zero (Format NVM, Sanitize). It takes no time.
    Erase {
        /// Which of the drives that are served together.
        unit: u16,
    },
}

/// What the medium is asked for: how many commands of the drive have no reply, and how the others ended.
struct Open {
    token: Token,
    operation: MediaOperation,
    left: u32,
    status: Status,
}

/// A subsystem at a target.
pub struct Front {
    /// Of each namespace, the first of which has the number 1.
    facts: Vec<Facts>,
    target: Target,
    subsystem: Subsystem,
    /// What the controllers want.
    wanted: VecDeque<Wanted>,
    /// What the target wants.
    effects: VecDeque<Effect>,
    outward: Vec<Outward>,
    wakes: BinaryHeap<Reverse<Instant>>,
    /// By a number, and by the tickets of the commands that are asked for it.
    open: BTreeMap<u64, Open>,
    tickets: BTreeMap<u64, u64>,
    numbers: u64,
    /// Data between host and drive, by the part of a command that they belong to.
    data: BTreeMap<u64, (Token, Vec<u8>)>,
    /// A queue has ended since there were none: some may be of commands that are gone.
    is_doubtful: bool,
    /// What writes may hold \[B\], by part, and the sum.
    room: BTreeMap<u64, u64>,
    held: u64,
}

impl Front {
    /// Nobody is connected.
    ///
    /// # Errors
    /// What of the offer cannot be.
    pub fn new(offer: &Offer) -> Result<Self, String> {
        Ok(Self {
            facts: offer.facts.clone(),
            target: Target::new(offer.target()).map_err(|fault| fault.to_string())?,
            subsystem: Subsystem::new(&offer.subsystem()).map_err(|fault| fault.to_string())?,
            wanted: VecDeque::new(),
            effects: VecDeque::new(),
            outward: Vec::new(),
            wakes: BinaryHeap::new(),
            open: BTreeMap::new(),
            tickets: BTreeMap::new(),
            numbers: 0,
            data: BTreeMap::new(),
            is_doubtful: false,
            room: BTreeMap::new(),
            held: 0,
        })
    }
    /// A connection is open, by a port, from 0.
    pub fn accept(&mut self, connection: u32, port: usize) {
        self.target.accept(ConnectionId(connection), port);
    }
    /// How namespaces are reached by a port, from 0, from now on: one, or all of them. None if there is no such port or
    /// namespace.
    pub fn set_access(
        &mut self,
        now: Instant,
        (port, nsid): (u16, Option<Nsid>),
        state: AnaState,
    ) -> Option<Vec<Outward>> {
        let all = 1..=self.facts.len() as u32;
        let chosen: Vec<Nsid> = nsid.map_or_else(|| all.map(Nsid).collect(), |nsid| vec![nsid]);
        let set = |subsystem: &mut Subsystem, out: &mut Vec<Wanted>| {
            chosen.into_iter().all(|nsid| subsystem.set_access(now, (port, nsid), state, out))
        };
        self.at_subsystem(set).then(|| self.go_on(now))
    }
    /// Whether it has a queue.
    #[must_use]
    pub fn has_queue(&self, connection: u32) -> bool {
        self.target.has_queue(ConnectionId(connection))
    }
    /// Data of writes that are held \[B\].
    #[must_use]
    pub const fn held(&self) -> u64 {
        self.held
    }
    /// Whether it holds nothing of any command.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.open.is_empty() && self.tickets.is_empty() && self.data.is_empty() && self.room.is_empty()
    }
    /// Bytes have come: what is to be done.
    pub fn receive(&mut self, now: Instant, connection: u32, bytes: Vec<u8>) -> Vec<Outward> {
        self.at_target(|target, out| target.receive(now, ConnectionId(connection), Stream::from(bytes), out));
        self.go_on(now)
    }
    /// Other discovery services are named from now on, and no others; hosts that have asked for it are told.
    pub fn refer(&mut self, now: Instant, to: &[SocketAddr]) -> Vec<Outward> {
        let referrals = to.iter().map(|address| referral(*address)).collect();
        self.at_target(|target, out| target.refer(referrals, out));
        self.go_on(now)
    }
    /// A connection is gone.
    pub fn lost(&mut self, now: Instant, connection: u32) -> Vec<Outward> {
        self.at_target(|target, out| target.lost(ConnectionId(connection), out));
        self.go_on(now)
    }
    /// The drive has replied.
    pub fn answered(&mut self, now: Instant, reply: Reply) -> Vec<Outward> {
        if let Some(number) = self.tickets.remove(&reply.ticket) {
            self.end_part(now, number, reply);
        }
        self.go_on(now)
    }
    /// When [`Front::wake`] must be called.
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        let controllers = self.wakes.peek().map_or(Instant::NEVER, |Reverse(at)| *at);
        controllers.min(self.target.next_wake())
    }
    /// Time has come to `now`.
    pub fn wake(&mut self, now: Instant) -> Vec<Outward> {
        if self.next_wake() > now {
            return Vec::new();
        }
        while self.wakes.peek().is_some_and(|Reverse(at)| *at <= now) {
            self.wakes.pop();
        }
        self.at_subsystem(|subsystem, out| subsystem.wake(now, out));
        self.at_target(|target, out| target.wake(now, out));
        self.go_on(now)
    }

    fn at_target<R>(&mut self, act: impl FnOnce(&mut Target, &mut Vec<Effect>) -> R) -> R {
        let mut out = Vec::new();
        let result = act(&mut self.target, &mut out);
        self.effects.extend(out);
        result
    }
    fn at_subsystem<R>(&mut self, act: impl FnOnce(&mut Subsystem, &mut Vec<Wanted>) -> R) -> R {
        let mut out = Vec::new();
        let result = act(&mut self.subsystem, &mut out);
        self.wanted.extend(out);
        result
    }
    /// Until nothing more follows. What controllers want comes first: reports go back before they are asked again.
    fn go_on(&mut self, now: Instant) -> Vec<Outward> {
        loop {
            if let Some(wanted) = self.wanted.pop_front() {
                self.carry_out(now, wanted);
            } else if let Some(effect) = self.effects.pop_front() {
                self.reach(now, effect);
            } else {
                self.sweep();
                return std::mem::take(&mut self.outward);
            }
        }
    }
    /// Forgets data of commands that ended with their queue before the medium was asked.
    fn sweep(&mut self) {
        if !self.is_doubtful {
            return;
        }
        let is_gone = |token: &Token| self.subsystem.command(*token).is_none();
        let gone: Vec<Token> = self.data.values().map(|(token, _)| *token).filter(is_gone).collect();
        gone.into_iter().for_each(|token| self.forget(token));
        self.is_doubtful = !self.data.is_empty();
    }

    /// A controller wants something.
    fn carry_out(&mut self, now: Instant, wanted: Wanted) {
        match wanted {
            Wanted::Media { token, request } => self.ask(now, token, request),
            Wanted::Health { token } => {
                self.at_subsystem(|subsystem, out| subsystem.health(now, token, &Health::default(), out));
            }
            Wanted::WakeAt { at } => self.wakes.push(Reverse(at.max(now))),
            Wanted::Host(effect) => self.perform(now, effect),
        }
    }
    fn perform(&mut self, now: Instant, effect: HostEffect) {
        let (token, data) = match effect {
            HostEffect::Transfer { token, direction: Direction::ToHost, .. } => {
                let Some((_, data)) = self.data.remove(&token.part()) else {
                    return self.failed(now, token);
                };
                (Some(token), data)
            }
            HostEffect::Transfer { token, bytes, .. } => {
                if self.held + u64::from(bytes) > MOST_HELD {
                    return self.failed(now, token);
                }
                self.held += u64::from(bytes);
                self.room.insert(token.part(), bytes.into());
                (Some(token), Vec::new())
            }
            HostEffect::Store { token, .. } => (Some(token), self.subsystem.content(token).to_vec()),
            HostEffect::Fetch { token, .. } => (Some(token), Vec::new()),
            _ => (None, Vec::new()),
        };
        let command = token.and_then(|token| self.subsystem.command(token));
        let asked = Asked { effect, command, data: Data::Bytes(data) };
        let mut out = Vec::new();
        self.target.perform(now, SubsystemId(0), asked, &mut out);
        for effect in out {
            match effect {
                Effect::Done { token, .. } => self.transferred(now, token),
                other => self.effects.push_back(other),
            }
        }
    }
    fn transferred(&mut self, now: Instant, token: Token) {
        self.at_subsystem(|subsystem, out| subsystem.transferred(now, token, out));
    }
    fn failed(&mut self, now: Instant, token: Token) {
        self.forget(token);
        self.at_subsystem(|subsystem, out| subsystem.failed(now, token, out));
    }
    /// The data of a part are of no use any more.
    fn forget(&mut self, token: Token) {
        self.data.remove(&token.part());
        self.held -= self.room.remove(&token.part()).unwrap_or(0);
    }

    /// The target wants something.
    fn reach(&mut self, now: Instant, effect: Effect) {
        match effect {
            Effect::Send { connection, stream } => match stream.to_bytes() {
                Some(bytes) => self.outward.push(Outward::Send { connection: connection.0, bytes }),
                None => self.at_target(|target, out| target.lost(connection, out)),
            },
            Effect::Close { connection } => self.outward.push(Outward::Close { connection: connection.0 }),
            Effect::Connect { connection, subsystem, choice, queue, keep_alive_ms } => {
                let made = self.subsystem.connect(choice, &queue);
                if let (Ok(controller), SqId::ADMIN) = (made, queue.queue) {
                    self.at_subsystem(|subsystem, out| {
                        subsystem.set_keep_alive(now, controller, keep_alive_ms, out);
                    });
                }
                self.at_target(|target, out| target.connected(connection, subsystem, made, out));
            }
            Effect::Disconnect { controller, queue, .. } => {
                self.is_doubtful = true;
                self.at_subsystem(|subsystem, out| subsystem.disconnect(now, controller, queue, out));
            }
            Effect::GetProperty { connection, controller, cid, offset, size, .. } => {
                let value = self.subsystem.property(controller, offset, size);
                self.at_target(|target, out| target.property(connection, cid, value, out));
            }
            Effect::SetProperty { connection, controller, cid, offset, value, .. } => {
                let set = self.at_subsystem(|subsystem, out| {
                    subsystem.set_property(now, controller, (offset, value), out)
                });
                self.at_target(|target, out| target.property(connection, cid, set.map(|()| 0), out));
            }
            Effect::Submit { connection, controller, queue, capsule, .. } => {
                let cid = capsule.command.cid();
                let taken = self
                    .at_subsystem(|subsystem, out| subsystem.submit(now, controller, (queue, capsule), out));
                if let Err(why) = taken {
                    self.at_target(|target, out| target.refused(connection, cid, why, out));
                }
            }
            Effect::Bring { token, for_controller, data, .. } => self.bring(now, token, for_controller, data),
            Effect::Done { token, .. } => self.transferred(now, token),
            Effect::Failed { token, .. } => self.failed(now, token),
            // of RDMA, which no port here has
            Effect::Accept { .. }
            | Effect::Reject { .. }
            | Effect::SendCapsule { .. }
            | Effect::RdmaRead { .. }
            | Effect::RdmaWrite { .. } => {}
        }
    }
    /// Bytes of the host are here.
    fn bring(&mut self, now: Instant, token: Token, for_controller: bool, data: Data) {
        let Data::Bytes(bytes) = data else { return self.failed(now, token) };
        if for_controller {
            return self.at_subsystem(|subsystem, out| subsystem.fetched(now, token, &bytes, out));
        }
        self.data.insert(token.part(), (token, bytes));
        self.transferred(now, token);
        if self.subsystem.command(token).is_none() {
            self.forget(token);
        }
    }

    /// A controller asks the medium.
    fn ask(&mut self, now: Instant, token: Token, request: MediaRequest) {
        let MediaRequest { operation, .. } = request;
        let (kind, fua) = match operation {
            MediaOperation::Read => (Kind::Read, false),
            MediaOperation::Write { force_unit_access } => (Kind::Write, force_unit_access),
            MediaOperation::Compare => (Kind::Compare, false),
            MediaOperation::WriteZeroes { force_unit_access, .. } => (Kind::WriteZeroes, force_unit_access),
            MediaOperation::Deallocate => (Kind::Deallocate, false),
            MediaOperation::Flush => (Kind::Flush, false),
            MediaOperation::Format { .. } | MediaOperation::Sanitize { .. } => {
                let erase = self.units(request.nsid).map(|unit| Outward::Erase { unit });
                self.outward.extend(erase);
                return self
                    .at_subsystem(|subsystem, out| subsystem.media_done(now, token, Status::SUCCESS, out));
            }
        };
        let data = match kind {
            Kind::Write | Kind::Compare => self.data.remove(&token.part()).map(|(_, data)| data),
            _ => Some(Vec::new()),
        };
        let Some(data) = data else {
            return self.media_done(now, token, (operation, Status::DATA_TRANSFER_ERROR));
        };
        self.numbers += 1;
        let number = self.numbers;
        let pieces = self.pieces(kind, &request);
        self.open
            .insert(number, Open { token, operation, left: pieces.len() as u32, status: Status::SUCCESS });
        let mut data = Some(data);
        for (unit, first, length) in pieces {
            let data = data.take().unwrap_or_default();
            let command = Command { fua, data, unit, ..Command::of(kind, first, length) };
            self.numbers += 1;
            self.tickets.insert(self.numbers, number);
            self.outward.push(Outward::Ask { ticket: self.numbers, command });
        }
    }
    /// The drives that a namespace identifier is about.
    fn units(&self, nsid: Nsid) -> Range<u16> {
        let all = self.facts.len() as u16;
        match nsid {
            Nsid::ALL => 0..all,
            Nsid(number) => (number - 1) as u16..number as u16,
        }
    }
    /// What the drives are asked for: which, from where on, how much \[B\].
    fn pieces(&self, kind: Kind, request: &MediaRequest) -> Vec<(u16, u64, u32)> {
        let units = self.units(request.nsid);
        if kind == Kind::Flush {
            return units.map(|unit| (unit, 0, 0)).collect();
        }
        let unit = units.start;
        let block = u64::from(self.facts[usize::from(unit)].block);
        let (first, bytes) = (request.slba * block, u64::from(request.blocks) * block);
        let most = MOST_ASKED / block * block;
        let length = |from: u64| (bytes - from).min(most) as u32;
        let pieces = (0..bytes.div_ceil(most).max(1)).map(|piece| piece * most);
        pieces.map(|from| (unit, first + from, length(from))).collect()
    }
    /// The drive has replied to a command of what the medium was asked for.
    fn end_part(&mut self, now: Instant, number: u64, reply: Reply) {
        let Some(open) = self.open.get_mut(&number) else { return };
        open.left -= 1;
        if open.status.is_success() {
            open.status = status(reply.ended);
        }
        if open.left > 0 {
            return;
        }
        let Open { token, operation, status, .. } = *open;
        self.open.remove(&number);
        if operation == MediaOperation::Read && status.is_success() {
            self.data.insert(token.part(), (token, reply.data));
        }
        self.media_done(now, token, (operation, status));
    }
    fn media_done(&mut self, now: Instant, token: Token, (operation, status): (MediaOperation, Status)) {
        if operation != MediaOperation::Read {
            self.forget(token);
        }
        self.at_subsystem(|subsystem, out| subsystem.media_done(now, token, status, out));
        if self.subsystem.command(token).is_none() {
            self.forget(token);
        }
    }
}

/// What NVMe calls an end.
const fn status(ended: Ended) -> Status {
    match ended {
        Ended::Well => Status::SUCCESS,
        Ended::Differs => Status::COMPARE_FAILURE,
        Ended::ReadError => Status::UNRECOVERED_READ_ERROR,
        Ended::WriteError => Status::WRITE_FAULT,
        Ended::NoRoom => Status::CAPACITY_EXCEEDED,
        Ended::Aborted | Ended::NoPower => Status::INTERNAL_ERROR,
    }
}
