//! Two ports and what is between them, simulated: a link that trains, fails, sleeps and answers configuration requests.
//!
//! Whoever drives it sees what software sees of real hardware: registers of both ends, and time that passes.

mod access;
mod config;
mod events;
mod eyes;
mod facing;
mod link_end;
mod space;

pub use config::{
    Adaptation, BadLink, Device, LinkConfig, PortConfig, ReceiverFailure, Retimer, Traffic, Wiring,
};
pub use facing::{Facing, Size};

use super::channel::Direction;
use super::draw::Sequence;
use super::failure::FailureCodes;
use super::numbers::Numbers;
use super::ordered_sets::Lanes;
use super::port::{Ability, Directive, Input, Port};
use super::state::State;
use crate::logic::bit_errors::ErrorRates;
use eyes::Eyes;
use lanetwin_units::{Instant, Span, Width};
use link_end::LinkEnd;
use space::Space;
use std::collections::VecDeque;

/// What the chances of hearing are called, of both ports.
const HEARD: [&str; 2] = ["training: sets heard above", "training: sets heard below"];
/// How many changes of state are kept for who asks for them.
const KEPT_TRANSITIONS: usize = 1000;
/// How many Recoveries of its own a link goes through one by one while software waits; more are only counted.
const WALKED_RECOVERIES: u32 = 64;

/// Correctable errors that a port has counted, by the bit of AER's status that each of them sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct AerCounts {
    /// Receiver errors.
    pub receiver: u64,
    /// TLPs with a bad LCRC.
    pub bad_tlp: u64,
    /// DLLPs with a bad CRC.
    pub bad_dllp: u64,
    /// Replays that were the last one allowed.
    pub rollover: u64,
    /// Replay timers that ran out.
    pub replay_timer: u64,
}

impl AerCounts {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.receiver + self.bad_tlp + self.bad_dllp + self.rollover + self.replay_timer
    }
    /// What has been added since an earlier count.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            receiver: self.receiver - earlier.receiver,
            bad_tlp: self.bad_tlp - earlier.bad_tlp,
            bad_dllp: self.bad_dllp - earlier.bad_dllp,
            rollover: self.rollover - earlier.rollover,
            replay_timer: self.replay_timer - earlier.replay_timer,
        }
    }
}

/// A change of state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transition {
    /// When.
    pub at: Instant,
    /// Of which port.
    pub port: Facing,
    /// From.
    pub from: State,
    /// To.
    pub to: State,
    /// The rate at which the port is after it \[number of the generation\].
    pub generation: u8,
}

/// A simulated link.
#[derive(Clone, Debug)]
pub struct SimulatedLink {
    config: LinkConfig,
    now: Instant,
    ends: [LinkEnd; 2],
    spaces: [Space; 2],
    eyes: Eyes,
    errors: Sequence,
    /// Power is on; reset is released at this time.
    release: Option<Instant>,
    powered: bool,
    /// From when the data link layer is active.
    data_link: Option<Instant>,
    /// From when the device answers.
    device_ready: Instant,
    /// When something was last sent, besides errors.
    last_activity: Instant,
    /// Since when errors of this L0 have not been counted.
    errors_since: Instant,
    /// What there is to count, by direction.
    rates: [Option<ErrorRates>; 2],
    /// Recoveries of its own that the link may still walk through before software does something again.
    walks: u32,
    /// Software wants the link down.
    wants_down: bool,
    aer: [AerCounts; 2],
    codes: FailureCodes,
    recoveries: u32,
    equalizations: u32,
    /// How long the downstream port has not been up, and since when it is not.
    not_up: Span,
    not_up_since: Option<Instant>,
    transitions: VecDeque<Transition>,
}

impl SimulatedLink {
    /// A link whose power has just come on: nothing has trained yet, and reset is released after the time for it.
    ///
    /// # Errors
    /// If the configuration contradicts itself.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, BadLink> {
        config.check()?;
        let bypass = config.downstream.bypass_to_highest && config.upstream.bypass_to_highest;
        let end = |facing: Facing, port: &PortConfig, purpose| {
            let ability = Ability {
                max: port.max_generation,
                lanes: Lanes::first(port.width.lanes()),
                l0s: port.l0s && config.retimers.is_empty(),
                bypass,
            };
            LinkEnd::new(Port::new(facing, ability), Sequence::new(seed, &config.name, purpose))
        };
        let ends = [
            end(Facing::Downstream, &config.downstream, HEARD[0]),
            end(Facing::Upstream, &config.upstream, HEARD[1]),
        ];
        let mut link = Self {
            now: Instant::ZERO,
            ends,
            spaces: Facing::BOTH.map(|facing| Space::new(&config, facing)),
            eyes: Eyes::new(&config, seed),
            errors: Sequence::new(seed, &config.name, "training: errors in L0"),
            release: None,
            powered: false,
            data_link: None,
            device_ready: Instant::NEVER,
            last_activity: Instant::ZERO,
            errors_since: Instant::ZERO,
            rates: [None; 2],
            walks: WALKED_RECOVERIES,
            wants_down: true,
            aer: [AerCounts::default(); 2],
            codes: FailureCodes::NONE,
            recoveries: 0,
            equalizations: 0,
            not_up: Span::ZERO,
            not_up_since: None,
            transitions: VecDeque::with_capacity(KEPT_TRANSITIONS),
            config,
        };
        link.set_power(true);
        Ok(link)
    }
    /// The same link at the same moment, with other eyes and another seed: what would come next if it had these.
    ///
    /// Whatever has locked stays locked as it is; ports, segments and lanes are those of this link.
    #[must_use]
    pub fn with_channel_of(&self, config: &LinkConfig, seed: u64) -> Self {
        let mut link = self.clone();
        link.config.channel.clone_from(&config.channel);
        link.config.adaptation = config.adaptation;
        link.eyes = Eyes::new(&link.config, seed);
        link.errors = Sequence::new(seed, &link.config.name, "training: errors in L0");
        for (facing, purpose) in Facing::BOTH.into_iter().zip(HEARD) {
            link.ends[facing as usize].reseed(Sequence::new(seed, &link.config.name, purpose));
        }
        link
    }
    /// The virtual time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }
    /// Lets time pass.
    pub fn wait(&mut self, span: Span) {
        self.walks = WALKED_RECOVERIES;
        self.run_until(self.now + span);
    }
    /// Switches the power of the whole machine, ports and device: what a power distribution unit does.
    ///
    /// Switched on, reset is released after the time that supplies need.
    pub fn set_power(&mut self, on: bool) {
        if on == self.powered {
            return;
        }
        self.powered = on;
        self.wants_down = true;
        if on {
            self.release = Some(self.now + self.numbers().host.power_good);
        } else {
            self.release = None;
            self.not_up = self.time_not_up();
            for facing in Facing::BOTH {
                self.tell(facing, Input::Reset(true));
                self.spaces[facing as usize].reset();
            }
            self.aer = [AerCounts::default(); 2];
            self.device_ready = Instant::NEVER;
            self.not_up_since = None;
        }
    }
    /// Directs the link to a width, as a vendor's own register does; a dynamic change through Recovery and
    /// Configuration.
    pub fn direct_width(&mut self, width: Width) {
        self.tell(Facing::Downstream, Input::Direct(Directive::Width(width.lanes() as u8)));
    }
    /// The correctable errors that a port has counted since power came on (Linux: `aer_dev_correctable`).
    #[must_use]
    pub fn aer_counts(&mut self, at: Facing) -> AerCounts {
        self.count_errors();
        self.aer[at as usize]
    }
    /// The state of a port, which software of a real machine does not see.
    #[must_use]
    pub fn state(&self, at: Facing) -> State {
        self.port(at).state()
    }
    /// The port at an end: its state machine.
    #[must_use]
    pub fn port(&self, at: Facing) -> &Port {
        &self.ends[at as usize].port
    }
    /// Whether the data link layer is active, as the downstream port sees it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.data_link.is_some_and(|from| from <= self.now)
    }
    /// Whether lanes are numbered from the other end.
    #[must_use]
    pub fn is_reversed(&self) -> bool {
        self.config.wiring.reversed && !self.port(Facing::Upstream).lanes().is_empty()
    }
    /// Lanes on which a port turns the polarity, once it has left Polling.
    #[must_use]
    pub fn inverted(&self, at: Facing) -> Lanes {
        let wires = match at.hears() {
            Direction::Down => self.config.wiring.inverted_down,
            Direction::Up => self.config.wiring.inverted_up,
        };
        Lanes(wires).and(self.port(at).lanes())
    }
    /// How often the link has gone from L0 to Recovery.
    #[must_use]
    pub const fn recoveries(&self) -> u32 {
        self.recoveries
    }
    /// How often equalisation has come to its end, well.
    #[must_use]
    pub const fn equalizations(&self) -> u32 {
        self.equalizations
    }
    /// How long the downstream port has been out of reset, and neither in L0 nor asleep.
    #[must_use]
    pub fn time_not_up(&self) -> Span {
        self.not_up_since.map_or(self.not_up, |since| self.not_up + self.now.since(since))
    }
    /// What went wrong inside since this was last asked: which timeouts, which fall back. Software of a real machine
    /// does not see it.
    pub fn take_codes(&mut self) -> FailureCodes {
        core::mem::take(&mut self.codes)
    }
    /// The changes of state since this was last asked, the newest thousand of them.
    pub fn take_transitions(&mut self) -> Vec<Transition> {
        self.transitions.drain(..).collect()
    }
    /// How the link was configured.
    #[must_use]
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }
    /// The times and counts that it obeys.
    #[must_use]
    pub const fn numbers(&self) -> &Numbers {
        &self.config.numbers
    }
}
