//! The drive: what a front calls, and what it is asked for.
//!
//! Whatever is called changes the state and asks for things; [`Ssd::poll`] carries out those that are the drive's own
//! and gives the others to the front, one at a time and in the order in which they were made. A front that carries one
//! out at once reports it before it polls again: what follows from that comes behind what was asked for before.

use crate::buffers::Buffers;
use crate::bytes::ByteStore;
use crate::config::{SsdConfig, SsdFault};
use crate::firmware::{Firmware, kind};
use crate::health::health;
use crate::layout::{Extent, Layout};
use crate::telemetry::{Known, State};
use lanetwin_media::{Buffered, Counters, Done, Drive, Outcome, Request, Stocks};
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{Effect, HostEffect, MediaRequest, Subsystem, Token};
use lanetwin_nvme::spec::Status;
use lanetwin_stats::{Gauge, Servers};
use lanetwin_units::Instant;
use slab::Slab;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub use crate::firmware::MediumTimes;

mod host;

/// What a front is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Something to carry out.
    Host(HostEffect),
    /// A command has passed a stage inside; only while they are [marked](Ssd::mark_stages).
    Stage {
        /// Which command; none if its controller was reset since.
        command: Option<CommandInfo>,
        /// Which stage.
        stage: Stage,
    },
}

/// A stage of a command inside the drive, at the time of the poll that gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The medium is done with it, or with a part of it.
    Done(MediumTimes),
}

/// A part of a command that firmware or medium have.
#[derive(Clone, Copy, Debug)]
struct InMedium {
    token: Token,
    times: MediumTimes,
}

/// What a wake still has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WakeWork {
    /// The medium is advanced, what it is done with is told end by end, then the controllers are woken.
    MediumThenControllers,
    /// Nothing.
    Nothing,
}

/// A drive without its connector.
pub struct Ssd {
    subsystem: Subsystem,
    /// In a cell, because being asked what it has done lets it make up for the time since it was advanced last.
    medium: RefCell<Drive>,
    firmware: Firmware,
    layout: Layout,
    buffers: Option<Buffers>,
    /// Parts of commands that the medium has, by its tokens.
    in_medium: Slab<InMedium>,
    /// When the medium has to be advanced; [`Instant::NEVER`] if not.
    advance_at: Instant,
    /// When controllers asked to be woken.
    wakes: BinaryHeap<Reverse<Instant>>,
    wake_work: WakeWork,
    /// What the medium is done with, in the order of ends; the subsystem has heard of those before `next_done`.
    done: Vec<Done>,
    next_done: usize,
    /// What the subsystem has asked for; those before `next_effect` are carried out.
    effects: Vec<Effect>,
    next_effect: usize,
    stages: Option<VecDeque<(Option<CommandInfo>, Stage)>>,
    /// How many commands can be in progress, in all controllers.
    most_commands: u64,
    /// Commands in progress, and whether others wait for them in the queues.
    in_progress: Gauge,
    short_of_room: Gauge,
    /// Whether any were; none if nobody asks how long.
    busy: Option<Gauge>,
}

impl Ssd {
    /// A drive after power on. Equal configurations and seeds give equal drives.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn new(config: &SsdConfig, seed: u64) -> Result<Self, SsdFault> {
        let subsystem = Subsystem::new(&config.subsystem)?;
        let medium = Drive::new(&config.medium, seed).map_err(SsdFault::Medium)?;
        let layout = Layout::new(&config.subsystem);
        let (bytes, capacity) = (layout.bytes(), config.medium.capacity.0);
        if bytes > capacity {
            return Err(SsdFault::Namespaces { bytes, capacity });
        }
        if config.firmware.engines == 0 {
            return Err(SsdFault::NoEngine);
        }
        let commands = config.subsystem.controllers.iter().map(|of| u64::from(of.commands_in_progress));
        Ok(Self {
            subsystem,
            medium: RefCell::new(medium),
            firmware: Firmware::new(config, layout.count()),
            layout,
            buffers: None,
            in_medium: Slab::new(),
            advance_at: Instant::NEVER,
            wakes: BinaryHeap::new(),
            wake_work: WakeWork::Nothing,
            done: Vec::new(),
            next_done: 0,
            effects: Vec::new(),
            next_effect: 0,
            stages: None,
            most_commands: commands.sum(),
            in_progress: Gauge::default(),
            short_of_room: Gauge::default(),
            busy: None,
        })
    }
    /// The same drive with bytes. To be said before anything happens.
    #[must_use]
    pub fn with_bytes(mut self, store: Box<dyn ByteStore + Send>) -> Self {
        self.buffers = Some(Buffers::new(store));
        self
    }

    /// When [`Ssd::wake`] must be called next; [`Instant::NEVER`] if nothing will happen without a call.
    #[inline]
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        let controllers = self.wakes.peek().map_or(Instant::NEVER, |Reverse(at)| *at);
        controllers.min(self.advance_at)
    }
    /// Time has come to `now`. To be woken for nothing does no harm. What follows comes out of [`Ssd::poll`].
    #[inline]
    pub fn wake(&mut self, now: Instant) {
        if self.next_wake() <= now {
            self.wake_work = WakeWork::MediumThenControllers;
        }
    }
    /// The next thing that the front is to know or to carry out; none if there is nothing more at `now`.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        loop {
            if let Some(stages) = &mut self.stages
                && let Some((command, stage)) = stages.pop_front()
            {
                return Some(Output::Stage { command, stage });
            }
            let Some(effect) = self.effects.get(self.next_effect) else {
                self.effects.clear();
                self.next_effect = 0;
                if self.wake_work == WakeWork::Nothing {
                    self.count_commands(now);
                    return None;
                }
                self.continue_wake(now);
                continue;
            };
            self.next_effect += 1;
            match *effect {
                Effect::Host(effect) => return Some(Output::Host(effect)),
                Effect::Media { token, request } => self.ask_medium(token, request, now),
                Effect::Health { token } => self.tell_health(token, now),
                Effect::Telemetry { token } => self.tell_telemetry(token, now),
                Effect::WakeAt { at } => self.wakes.push(Reverse(at.max(now))),
            }
        }
    }
    /// Does the next step of a wake: everything that follows from the end of one part comes before the next end.
    fn continue_wake(&mut self, now: Instant) {
        if let Some(done) = self.done.get(self.next_done).copied() {
            self.next_done += 1;
            self.medium_done(done, now);
        } else if self.advance_at <= now {
            self.advance_medium(now);
        } else {
            self.wake_work = WakeWork::Nothing;
            self.wake_controllers(now);
        }
    }
    fn wake_controllers(&mut self, now: Instant) {
        let before = self.wakes.len();
        while self.wakes.peek().is_some_and(|Reverse(at)| *at <= now) {
            self.wakes.pop();
        }
        if self.wakes.len() < before {
            self.with_subsystem(|subsystem, effects| subsystem.wake(now, effects));
        }
    }

    /// Lets the subsystem do something; what it then wants waits behind what it wanted before.
    #[inline]
    fn with_subsystem<R>(&mut self, act: impl FnOnce(&mut Subsystem, &mut Vec<Effect>) -> R) -> R {
        act(&mut self.subsystem, &mut self.effects)
    }

    /// The subsystem wants something of the medium: the firmware has its part before. When it will hand the request
    /// over is known now, so that the medium is told now: nothing outside hears of the hand-over.
    fn ask_medium(&mut self, token: Token, request: MediaRequest, now: Instant) {
        let operation = request.operation;
        let kind = kind(operation);
        let extent = self.layout.extent(&request, &self.subsystem);
        let times = self.firmware.schedule(now, (operation, kind), extent.bytes);
        if let Some(buffers) = &mut self.buffers {
            buffers.note_operation(token, operation, extent);
        }
        let slot = self.in_medium.insert(InMedium { token, times });
        let Extent { first, bytes, tenant, part_of } = extent;
        let request = Request { token: slot as u32, kind, first, bytes, tenant, part_of };
        let next = self.medium.get_mut().submit_at(times.submitted, request);
        self.advance_at = self.advance_at.min(next.max(now));
    }
    /// Lets the medium come to the present, and hears what it has done.
    fn advance_medium(&mut self, now: Instant) {
        let medium = self.medium.get_mut();
        self.done.clear();
        self.next_done = 0;
        medium.advance(now, &mut self.done);
        self.advance_at = medium.next_event().unwrap_or(Instant::NEVER);
    }
    /// The medium is done with a part of a command.
    fn medium_done(&mut self, Done { token, outcome }: Done, now: Instant) {
        let Some(InMedium { token, times }) = self.in_medium.try_remove(token as usize) else { return };
        self.mark(token, Stage::Done(times));
        let status = match (outcome, &mut self.buffers) {
            (Outcome::OutOfRange, _) => Status::LBA_OUT_OF_RANGE,
            (Outcome::Success, Some(buffers)) => buffers.carry_out(token),
            (Outcome::Success, None) => Status::SUCCESS,
        };
        self.with_subsystem(|subsystem, effects| subsystem.media_done(now, token, status, effects));
        self.forget_if_lost(token);
    }
    /// Data of a command that is no longer known are of no use.
    #[inline]
    fn forget_if_lost(&mut self, token: Token) {
        if let Some(buffers) = &mut self.buffers
            && self.subsystem.command(token).is_none()
        {
            buffers.forget(token);
        }
    }
    fn tell_health(&mut self, token: Token, now: Instant) {
        let busy_ps = self.busy.map_or(0, |busy| busy.integral_ps(now));
        let health = health(&self.counters(now), busy_ps, now);
        self.with_subsystem(|subsystem, effects| subsystem.health(now, token, &health, effects));
    }
    fn tell_telemetry(&mut self, token: Token, now: Instant) {
        let telemetry = self.state(now).telemetry();
        self.with_subsystem(|subsystem, effects| subsystem.telemetry(now, token, &telemetry, effects));
    }
    /// Notes a stage, if that is wanted.
    #[inline]
    fn mark(&mut self, token: Token, stage: Stage) {
        if let Some(stages) = &mut self.stages {
            stages.push_back((self.subsystem.command(token), stage));
        }
    }
    /// Notes how many commands are in progress, if that has changed.
    #[inline]
    fn count_commands(&mut self, now: Instant) {
        let (number, short) = self.subsystem.in_progress();
        self.in_progress.set(number.into(), now);
        if let Some(busy) = &mut self.busy {
            busy.set(u64::from(number > 0), now);
        }
        self.short_of_room.set(short.into(), now);
    }

    /// Tells from now on when commands pass [stages](Output::Stage) inside, or no longer.
    pub fn mark_stages(&mut self, on: bool) {
        self.stages = on.then(VecDeque::new);
    }
    /// Counts from now on how long commands are in progress, for the Controller Busy Time of the SMART log; without it
    /// that stays 0.
    pub fn count_busy_time(&mut self) {
        self.busy.get_or_insert_default();
    }
    /// What the drive is and has done up to `now`, the present, as the Telemetry logs tell it.
    #[must_use]
    pub fn state(&self, now: Instant) -> State {
        Known {
            time_ps: now.as_ps(),
            commands: (self.subsystem.in_progress().0.into(), self.most_commands),
            engines: (self.engines().in_use_ps(now), self.engines().count()),
            counters: self.counters(now),
            stocks: self.stocks(now),
            buffered: self.buffered(),
            busy_ps: self.medium_busy_ps(now),
        }
        .state()
    }
    /// What the medium has done up to `now`, the present.
    #[must_use]
    pub fn counters(&self, now: Instant) -> Counters {
        let mut medium = self.medium.borrow_mut();
        medium.catch_up(now);
        medium.counters()
    }
    /// What fills up or runs empty in the medium at `now`, the present.
    #[must_use]
    pub fn stocks(&self, now: Instant) -> Stocks {
        let mut medium = self.medium.borrow_mut();
        medium.catch_up(now);
        medium.stocks()
    }
    /// How full the write buffer of the medium was when it was advanced last.
    #[must_use]
    pub fn buffered(&self) -> Buffered {
        self.medium.borrow().buffered()
    }
    /// Dies wait for garbage collection, as they will if writes go on to come faster than it earns space for them.
    pub fn await_collection(&mut self) {
        self.medium.borrow_mut().await_collection();
    }
    /// Empties the write buffer, as it will be if the medium takes more than comes.
    pub fn empty_buffer(&mut self) {
        self.medium.borrow_mut().empty_buffer();
    }
    /// Fills the write buffer, as it will be if writes go on to come faster than the medium takes them.
    pub fn fill_buffer(&mut self) {
        self.medium.borrow_mut().fill_buffer();
    }
    /// What the medium had done when it was advanced last.
    #[must_use]
    pub fn latest_counters(&self) -> Counters {
        self.medium.borrow().counters()
    }
    /// How long each channel and each die of the medium has been busy up to `now`, the present \[ps\].
    #[must_use]
    pub fn medium_busy_ps(&self, now: Instant) -> (Vec<u64>, Vec<u64>) {
        let mut medium = self.medium.borrow_mut();
        medium.catch_up(now);
        medium.busy()
    }
    /// The engines of the firmware.
    #[must_use]
    pub const fn engines(&self) -> &Servers {
        &self.firmware.engines
    }
    /// How many commands are in progress, and how many can be.
    #[must_use]
    pub const fn in_progress(&self) -> (&Gauge, u64) {
        (&self.in_progress, self.most_commands)
    }
    /// Whether commands wait in the queues because no more can be in progress: 1 or 0.
    #[must_use]
    pub const fn short_of_room(&self) -> &Gauge {
        &self.short_of_room
    }
}
