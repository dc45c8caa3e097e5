//! The drive: its interface to a front.
//!
//! Each call changes the state and queues effects. [`Ssd::poll`] carries out those that are internal to the drive and
//! returns the others to the front, one at a time and in order. A front that carries out an effect at once reports it
//! before it polls again; the effects that follow from it are queued after the earlier ones.

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

/// Output of a drive to its front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// An effect to carry out at the host.
    Host(HostEffect),
    /// A command has passed a stage inside the drive; only if stages are [marked](Ssd::mark_stages).
    Stage {
        /// The command; `None` if its controller has been reset since.
        command: Option<CommandInfo>,
        /// The stage.
        stage: Stage,
    },
}

/// A stage of a command inside the drive, at the time of the poll that gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The medium has completed the command, or a part of it.
    Done(MediumTimes),
}

/// A part of a command that is in the firmware or in the medium.
#[derive(Clone, Copy, Debug)]
struct InMedium {
    token: Token,
    times: MediumTimes,
}

/// Work left of a wake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WakeWork {
    /// Advance the medium, report its completions one by one, then wake the controllers.
    MediumThenControllers,
    /// Nothing.
    Nothing,
}

/// A drive without its connector.
pub struct Ssd {
    subsystem: Subsystem,
    /// In a cell, because reading its counters lets it catch up with the time since it was last advanced.
    medium: RefCell<Drive>,
    firmware: Firmware,
    layout: Layout,
    buffers: Option<Buffers>,
    /// Parts of commands that are in the medium, by its tokens.
    in_medium: Slab<InMedium>,
    /// Time at which the medium has to be advanced; [`Instant::NEVER`] if it need not be.
    advance_at: Instant,
    /// Times at which controllers asked to be woken.
    wakes: BinaryHeap<Reverse<Instant>>,
    wake_work: WakeWork,
    /// Completions of the medium, in order; those before `next_done` have been reported to the subsystem.
    done: Vec<Done>,
    next_done: usize,
    /// Effects of the subsystem; those before `next_effect` have been carried out.
    effects: Vec<Effect>,
    next_effect: usize,
    stages: Option<VecDeque<(Option<CommandInfo>, Stage)>>,
    /// Largest number of commands in progress, over all controllers.
    most_commands: u64,
    /// Commands in progress, and whether others wait in the queues because no more may be in progress.
    in_progress: Gauge,
    short_of_room: Gauge,
    /// Whether any command is in progress; `None` unless the busy time is counted.
    busy: Option<Gauge>,
}

impl Ssd {
    /// A drive after power on. Equal configurations and seeds give equal drives.
    ///
    /// # Errors
    /// Why the drive cannot be built.
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
    /// Adds a store of bytes. Must be called before anything happens.
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
    /// Advances time to `now`. A wake without work does no harm. The results come from [`Ssd::poll`].
    #[inline]
    pub fn wake(&mut self, now: Instant) {
        if self.next_wake() <= now {
            self.wake_work = WakeWork::MediumThenControllers;
        }
    }
    /// The next output for the front. Returns `None` if there is nothing more at `now`.
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
    /// Does the next step of a wake: all consequences of one completion come before the next completion.
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

    /// Calls the subsystem; its new effects are queued after earlier ones.
    #[inline]
    fn with_subsystem<R>(&mut self, act: impl FnOnce(&mut Subsystem, &mut Vec<Effect>) -> R) -> R {
        act(&mut self.subsystem, &mut self.effects)
    }

    /// Passes a request of the subsystem through the firmware to the medium. The time of the hand-over is already
    /// known, so the medium gets the request now; the hand-over is not visible outside.
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
    /// Advances the medium to the present and collects its completions.
    fn advance_medium(&mut self, now: Instant) {
        let medium = self.medium.get_mut();
        self.done.clear();
        self.next_done = 0;
        medium.advance(now, &mut self.done);
        self.advance_at = medium.next_event().unwrap_or(Instant::NEVER);
    }
    /// Reports a completion of the medium to the subsystem.
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
    /// Drops the data of a command that is no longer known.
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
    /// Notes a stage, if stages are marked.
    #[inline]
    fn mark(&mut self, token: Token, stage: Stage) {
        if let Some(stages) = &mut self.stages {
            stages.push_back((self.subsystem.command(token), stage));
        }
    }
    /// Updates the number of commands in progress.
    #[inline]
    fn count_commands(&mut self, now: Instant) {
        let (number, short) = self.subsystem.in_progress();
        self.in_progress.set(number.into(), now);
        if let Some(busy) = &mut self.busy {
            busy.set(u64::from(number > 0), now);
        }
        self.short_of_room.set(short.into(), now);
    }

    /// Switches [stages](Output::Stage) in the output on or off.
    pub fn mark_stages(&mut self, on: bool) {
        self.stages = on.then(VecDeque::new);
    }
    /// Starts to count the time with commands in progress, for the Controller Busy Time of the SMART log, which
    /// otherwise stays 0.
    pub fn count_busy_time(&mut self) {
        self.busy.get_or_insert_default();
    }
    /// State and counters of the drive up to `now`, the present, as the Telemetry logs report them.
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
    /// Counters of the medium up to `now`, the present.
    #[must_use]
    pub fn counters(&self, now: Instant) -> Counters {
        let mut medium = self.medium.borrow_mut();
        medium.catch_up(now);
        medium.counters()
    }
    /// Reserves of the medium that fill up or run empty, at `now`, the present.
    #[must_use]
    pub fn stocks(&self, now: Instant) -> Stocks {
        let mut medium = self.medium.borrow_mut();
        medium.catch_up(now);
        medium.stocks()
    }
    /// Level of the medium's write buffer when the medium was last advanced.
    #[must_use]
    pub fn buffered(&self) -> Buffered {
        self.medium.borrow().buffered()
    }
    /// Lets dies wait for garbage collection, as they will if writes continue to come faster than it frees space.
    pub fn await_collection(&mut self) {
        self.medium.borrow_mut().await_collection();
    }
    /// Empties the write buffer, as it will be if the medium programs faster than writes come.
    pub fn empty_buffer(&mut self) {
        self.medium.borrow_mut().empty_buffer();
    }
    /// Fills the write buffer, as it will be if writes continue to come faster than the medium programs.
    pub fn fill_buffer(&mut self) {
        self.medium.borrow_mut().fill_buffer();
    }
    /// Counters of the medium when it was last advanced.
    #[must_use]
    pub fn latest_counters(&self) -> Counters {
        self.medium.borrow().counters()
    }
    /// Busy time of each channel and each die of the medium up to `now`, the present \[ps\].
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
    /// Number of commands in progress, and the largest possible number.
    #[must_use]
    pub const fn in_progress(&self) -> (&Gauge, u64) {
        (&self.in_progress, self.most_commands)
    }
    /// 1 while commands wait in the queues because no more may be in progress, otherwise 0.
    #[must_use]
    pub const fn short_of_room(&self) -> &Gauge {
        &self.short_of_room
    }
}
