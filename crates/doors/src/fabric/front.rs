//! A subsystem at a target, without sockets: bytes of connections in, bytes of connections and commands for the drive
//! out.

use super::offer::{Offer, referral};
use crate::command::Command;
use crate::engine::Reply;
use crate::keys::random;
use crate::medium::{ForDrives, MediaEnd, Medium};
use lanetwin_nvme::logic::{
    Direction, Effect as Wanted, Health, HostEffect, MediaRequest, Subsystem, Telemetry, Token,
};
use lanetwin_nvme::spec::ana::AnaState;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::authentication::{Power, Ring};
use lanetwin_nvmeof::logic::target::{Asked, ConnectionId, Effect, SubsystemId, Target};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_units::Instant;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::SocketAddr;

/// An action for the caller of the front.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outward {
    /// Send bytes.
    Send {
        /// By which connection.
        connection: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Close a connection when its output has been sent.
    Close {
        /// Connection.
        connection: u32,
    },
    /// Ask the drive; [`Front::answered`] gets the reply.
    Ask {
        /// The front's name for it.
        ticket: u64,
        /// Command.
        command: Command,
    },
    /// Compute a modular power for an authenticating connection in the background, and report it to
    /// [`Front::raised`].
    Raise {
        /// For which connection.
        connection: u32,
        /// The power to compute.
        power: Power,
    },
    /// Every byte of a drive becomes zero (Format NVM, Sanitize). It takes no time.
    Erase {
        /// Index of the drive, if several are served together.
        unit: u16,
    },
    /// Report the state of the drives for a Telemetry log to [`Front::told`].
    Tell {
        /// Token for the report.
        token: Token,
    },
}

/// A subsystem at a target.
pub struct Front {
    target: Target,
    subsystem: Subsystem,
    medium: Medium,
    /// Pending effects of the controllers.
    wanted: VecDeque<Wanted>,
    /// Pending effects of the target.
    effects: VecDeque<Effect>,
    outward: Vec<Outward>,
    wakes: BinaryHeap<Reverse<Instant>>,
    /// A queue has ended since there were none: some may be of commands that are gone.
    is_doubtful: bool,
}

impl Front {
    /// A front without connections.
    ///
    /// # Errors
    /// Why the offer cannot be served.
    pub fn new(offer: &Offer) -> Result<Self, String> {
        Ok(Self {
            target: Target::new(offer.target()).map_err(|fault| fault.to_string())?,
            subsystem: Subsystem::new(&offer.subsystem()).map_err(|fault| fault.to_string())?,
            medium: Medium::new(offer.facts.clone()),
            wanted: VecDeque::new(),
            effects: VecDeque::new(),
            outward: Vec::new(),
            wakes: BinaryHeap::new(),
            is_doubtful: false,
        })
    }
    /// A connection is open, by a port, from 0.
    pub fn accept(&mut self, connection: u32, port: usize) {
        self.target.accept(ConnectionId(connection), port);
    }
    /// Sets the ANA state of one namespace, or of all, behind a port, from 0. Returns `None` if there is no such port
    /// or namespace.
    pub fn set_access(
        &mut self,
        now: Instant,
        (port, nsid): (u16, Option<Nsid>),
        state: AnaState,
    ) -> Option<Vec<Outward>> {
        let all = 1..=self.medium.namespaces();
        let chosen: Vec<Nsid> = nsid.map_or_else(|| all.map(Nsid).collect(), |nsid| vec![nsid]);
        let set = |subsystem: &mut Subsystem, out: &mut Vec<Wanted>| {
            chosen.into_iter().all(|nsid| subsystem.set_access(now, (port, nsid), state, out))
        };
        self.at_subsystem(set).then(|| self.go_on(now))
    }
    /// From now on admits only these hosts, after they have authenticated.
    pub fn admit(&mut self, ring: Ring) {
        self.at_target(|target, out| target.admit(SubsystemId(0), ring, out));
    }
    /// Whether it has a queue, and its host has authenticated if it must.
    #[must_use]
    pub fn is_admitted(&self, connection: u32) -> bool {
        self.target.is_admitted(ConnectionId(connection))
    }
    /// Data of writes that are held \[B\].
    #[must_use]
    pub const fn held(&self) -> u64 {
        self.medium.held()
    }
    /// Whether it holds no data of any command.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.medium.is_at_rest()
    }
    /// Handles received bytes.
    pub fn receive(&mut self, now: Instant, connection: u32, bytes: Vec<u8>) -> Vec<Outward> {
        self.at_target(|target, out| target.receive(now, ConnectionId(connection), Stream::from(bytes), out));
        self.go_on(now)
    }
    /// Sets the list of other discovery services; hosts that have asked for it are notified.
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
        if let Some(end) = self.medium.answered(reply) {
            self.end(now, end);
        }
        self.go_on(now)
    }
    /// Reports the state of the drives.
    pub fn told(&mut self, now: Instant, token: Token, state: &Telemetry) -> Vec<Outward> {
        self.at_subsystem(|subsystem, out| subsystem.telemetry(now, token, state, out));
        self.go_on(now)
    }
    /// A power that a connection needs is here, or cannot be.
    pub fn raised(&mut self, now: Instant, connection: u32, value: Option<Vec<u8>>) -> Vec<Outward> {
        self.at_target(|target, out| target.raised(ConnectionId(connection), value, out));
        self.go_on(now)
    }
    /// When [`Front::wake`] must be called next.
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
    /// Processes effects until there are none left. Those of the controllers come first, so that responses are sent
    /// before further requests.
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
    /// Discards data of commands that ended with their queue before the medium was accessed.
    fn sweep(&mut self) {
        if !self.is_doubtful {
            return;
        }
        self.medium.sweep(&self.subsystem);
        self.is_doubtful = self.medium.has_data();
    }

    /// A controller wants something.
    fn carry_out(&mut self, now: Instant, wanted: Wanted) {
        match wanted {
            Wanted::Media { token, request } => self.ask(now, token, request),
            Wanted::Health { token } => {
                self.at_subsystem(|subsystem, out| subsystem.health(now, token, &Health::default(), out));
            }
            Wanted::Telemetry { token } => self.outward.push(Outward::Tell { token }),
            Wanted::WakeAt { at } => self.wakes.push(Reverse(at.max(now))),
            Wanted::Host(effect) => self.perform(now, effect),
        }
    }
    fn perform(&mut self, now: Instant, effect: HostEffect) {
        let (token, data) = match effect {
            HostEffect::Transfer { token, direction: Direction::ToHost, .. } => {
                let Some(data) = self.medium.hand_out(token) else { return self.failed(now, token) };
                (Some(token), data)
            }
            HostEffect::Transfer { token, bytes, .. } => {
                if !self.medium.reserve(token, bytes) {
                    return self.failed(now, token);
                }
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
        self.medium.forget(token);
        self.at_subsystem(|subsystem, out| subsystem.failed(now, token, out));
    }

    /// The target wants something.
    fn reach(&mut self, now: Instant, effect: Effect) {
        match effect {
            Effect::Send { connection, stream } => match stream.to_bytes() {
                Some(bytes) => self.outward.push(Outward::Send { connection: connection.0, bytes }),
                None => self.at_target(|target, out| target.lost(connection, out)),
            },
            Effect::Close { connection } => self.outward.push(Outward::Close { connection: connection.0 }),
            Effect::Draw { connection } => match random() {
                Ok(random) => self.at_target(|target, out| target.drawn(connection, &random, out)),
                Err(_) => self.at_target(|target, out| target.lost(connection, out)),
            },
            Effect::Raise { connection, power } => {
                self.outward.push(Outward::Raise { connection: connection.0, power });
            }
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
        let mut out = Vec::new();
        self.medium.bring(now, (token, bytes), &mut self.subsystem, &mut out);
        self.wanted.extend(out);
    }

    /// Sends a request of a controller to the medium.
    fn ask(&mut self, now: Instant, token: Token, request: MediaRequest) {
        let (asked, ended) = self.medium.ask(token, request);
        self.outward.extend(asked.into_iter().map(|one| match one {
            ForDrives::Ask { ticket, command } => Outward::Ask { ticket, command },
            ForDrives::Erase { unit } => Outward::Erase { unit },
            ForDrives::Tell { token } => Outward::Tell { token },
        }));
        ended.into_iter().for_each(|end| self.end(now, end));
    }
    /// Handles the end of a request to the medium.
    fn end(&mut self, now: Instant, end: MediaEnd) {
        let mut out = Vec::new();
        self.medium.end(now, end, &mut self.subsystem, &mut out);
        self.wanted.extend(out);
    }
}
