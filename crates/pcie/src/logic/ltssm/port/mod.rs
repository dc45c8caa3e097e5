//! A port's LTSSM: what it remembers, what it is told, what it does then. A total function of state, input and time.
//!
//! ```text
//!             Input: sets heard, idle, receivers found, directives, time
//!                │
//!  Port ──── step ────► Port, Effects       wake: when it next wants to know the time
//!                │                          pattern: what it transmits
//! ```
//!
//! Every input means something, or nothing, in every state; none is an error. What a receiver hears comes as runs: "so
//! many consecutive sets of this kind on these lanes". How long that takes on a lane with bit errors is not the port's
//! business.

mod configuration;
mod detect;
mod directives;
mod equalization;
mod input;
mod recovery;
mod sleep;

use super::failure::FailureCode;
use super::link::Facing;
use super::numbers::Numbers;
use super::ordered_sets::{Control, Lanes, Pattern, SetKind, TrainingSet, sets};
use super::state::State;
use lanetwin_units::{Generation, Instant, Span};

pub use input::{Directive, Effects, Input, RecoveryCause};

/// How equalisation at one rate went: bits of Link Status 2 and its like.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Equalized {
    /// It has ended, well or not.
    pub complete: bool,
    /// Phases 1 to 3 succeeded.
    pub phases: [bool; 3],
    /// It did not succeed, and the port would like to have it again.
    pub request: bool,
}

impl Equalized {
    /// Whether the rate can be used without equalising again.
    #[must_use]
    pub const fn is_good(self) -> bool {
        self.complete && self.phases[0] && self.phases[1] && self.phases[2]
    }
}

/// What a port can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ability {
    /// The fastest rate.
    pub max: Generation,
    /// Its lanes.
    pub lanes: Lanes,
    /// Whether it may enter L0s: it can, and there is no retimer.
    pub l0s: bool,
    /// Whether both ports can go to the highest rate with one equalisation.
    pub bypass: bool,
}

/// What stays asked for until it is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Directed {
    target: Generation,
    disable: bool,
    hot_reset: bool,
    width: u8,
    change_width: bool,
    retrain: bool,
    equalize: bool,
    compliance: bool,
    loopback: bool,
}

/// A port's state machine. The names of the standard's variables are in brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Port {
    facing: Facing,
    ability: Ability,
    directed: Directed,
    state: State,
    entered: Instant,
    /// When the state times out.
    deadline: Instant,
    /// When enough has been sent, or a state lasted long enough.
    ready: Instant,
    held_in_reset: bool,
    /// LinkUp.
    link_up: bool,
    rate: Generation,
    /// What this port hears on, at most: receivers that it found.
    found: Lanes,
    /// Receivers that it found the time before.
    found_before: Option<Lanes>,
    /// The lanes of the link.
    lanes: Lanes,
    /// What was heard in this state, and on which lanes.
    heard: Lanes,
    heard_set: Option<TrainingSet>,
    partner_offers: Generation,
    partner_idle: bool,
    exit_seen: bool,
    /// What the state itself waits for: adapted, tuned, announced, waking.
    step_done: bool,
    /// The rate that both are about to change to (directed_speed_change).
    speed_change: Option<Generation>,
    /// changed_speed_recovery.
    changed_speed: bool,
    /// successful_speed_negotiation.
    agreed: bool,
    /// start_equalization_w_preset.
    start_equalization: bool,
    /// idle_to_rlock_transitioned.
    idle_to_rlock: u32,
    /// Rate and lanes when Recovery was entered.
    before: (Generation, Lanes),
    /// Rates above have failed since the last time that somebody asked for them.
    ceiling: Generation,
    equalized: [Equalized; 3],
}

impl Port {
    /// A port in fundamental reset.
    #[must_use]
    pub const fn new(facing: Facing, ability: Ability) -> Self {
        let directed = Directed {
            target: ability.max,
            disable: false,
            hot_reset: false,
            width: 32,
            change_width: false,
            retrain: false,
            equalize: false,
            compliance: false,
            loopback: false,
        };
        Self {
            facing,
            ability,
            directed,
            state: State::DetectQuiet,
            entered: Instant::ZERO,
            deadline: Instant::NEVER,
            ready: Instant::NEVER,
            held_in_reset: true,
            link_up: false,
            rate: Generation::Gen1,
            found: Lanes::NONE,
            found_before: None,
            lanes: Lanes::NONE,
            heard: Lanes::NONE,
            heard_set: None,
            partner_offers: Generation::Gen1,
            partner_idle: true,
            exit_seen: false,
            step_done: false,
            speed_change: None,
            changed_speed: false,
            agreed: false,
            start_equalization: false,
            idle_to_rlock: 0,
            before: (Generation::Gen1, Lanes::NONE),
            ceiling: ability.max,
            equalized: [Equalized { complete: false, phases: [false; 3], request: false }; 3],
        }
    }
    /// The state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }
    /// Where it looks.
    #[must_use]
    pub const fn facing(&self) -> Facing {
        self.facing
    }
    /// When it came into the state.
    #[must_use]
    pub const fn entered(&self) -> Instant {
        self.entered
    }
    /// The rate at which it sends and hears.
    #[must_use]
    pub const fn rate(&self) -> Generation {
        self.rate
    }
    /// The lanes of the link; none while there is no link.
    #[must_use]
    pub const fn lanes(&self) -> Lanes {
        self.lanes
    }
    /// Whether the physical layer is up (LinkUp).
    #[must_use]
    pub const fn is_link_up(&self) -> bool {
        self.link_up
    }
    /// The fastest rate that both ports can, as far as this one knows.
    #[must_use]
    pub fn common_max(&self) -> Generation {
        self.ability.max.min(self.partner_offers)
    }
    /// How equalisation went at a rate; nothing below 8 GT/s.
    #[must_use]
    pub fn equalized(&self, generation: Generation) -> Equalized {
        index(generation).map_or_else(Equalized::default, |rate| self.equalized[rate])
    }
    /// Takes back the request for equalisation at a rate: software has seen it.
    pub fn clear_request(&mut self, generation: Generation) {
        if let Some(rate) = index(generation) {
            self.equalized[rate].request = false;
        }
    }
    /// The lanes on which it listens for sets.
    #[must_use]
    pub const fn listens(&self) -> Lanes {
        if self.lanes.is_empty() { self.found } else { self.lanes }
    }
    /// When the port next wants to know the time, whatever else happens.
    #[must_use]
    pub fn wake(&self) -> Instant {
        self.ready.min(self.deadline)
    }
    /// How many consecutive sets, or symbols of logical idle, mean something in this state.
    #[must_use]
    pub const fn consecutive(&self, numbers: &Numbers) -> u32 {
        match self.state {
            State::L0 | State::L0s => 1,
            State::RecoveryEqualizationPhase0
            | State::RecoveryEqualizationPhase1
            | State::RecoveryEqualizationPhase2
            | State::RecoveryEqualizationPhase3
            | State::ConfigurationLinkwidthStart
            | State::ConfigurationLinkwidthAccept
            | State::ConfigurationLanenumWait
            | State::ConfigurationLanenumAccept
            | State::HotReset
            | State::Disabled
            | State::LoopbackEntry => numbers.counts.heard_in_equalization,
            _ => numbers.counts.heard,
        }
    }

    /// What the port transmits.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        let ts1 = self.set(SetKind::Ts1);
        let ts2 = self.set(SetKind::Ts2);
        let unnumbered = TrainingSet { numbered: false, ..ts1 };
        match self.state {
            State::DetectQuiet
            | State::DetectActive
            | State::RecoverySpeed
            | State::L0s
            | State::L1
            | State::L1_1
            | State::L1_2
            | State::L2
            | State::LoopbackExit => Pattern::ElectricalIdle,
            State::PollingActive => Pattern::Sets(TrainingSet { link: Lanes::NONE, ..unnumbered }),
            State::PollingConfiguration => {
                Pattern::Sets(TrainingSet { link: Lanes::NONE, numbered: false, ..ts2 })
            }
            State::PollingCompliance | State::LoopbackActive => Pattern::Test,
            State::ConfigurationLinkwidthStart => {
                // the upstream port has no number to offer before it has heard one
                let link = if self.faces_down() { self.offered_lanes() } else { Lanes::NONE };
                Pattern::Sets(TrainingSet { link, ..unnumbered })
            }
            State::ConfigurationLinkwidthAccept if !self.faces_down() => Pattern::Sets(unnumbered),
            State::ConfigurationLinkwidthAccept
            | State::ConfigurationLanenumWait
            | State::ConfigurationLanenumAccept
            | State::RecoveryRcvrLock => Pattern::Sets(ts1),
            State::ConfigurationComplete | State::RecoveryRcvrCfg => Pattern::Sets(ts2),
            State::ConfigurationIdle | State::RecoveryIdle | State::L0 => Pattern::Logical,
            State::RecoveryEqualizationPhase0 => Pattern::Sets(ts1),
            State::RecoveryEqualizationPhase1 => Pattern::Sets(TrainingSet { phase: 1, ..ts1 }),
            State::RecoveryEqualizationPhase2 => Pattern::Sets(TrainingSet { phase: 2, ..ts1 }),
            State::RecoveryEqualizationPhase3 => Pattern::Sets(TrainingSet { phase: 3, ..ts1 }),
            State::HotReset => Pattern::Sets(TrainingSet { control: Control::HotReset, ..ts1 }),
            State::Disabled if self.step_done => Pattern::ElectricalIdle,
            State::Disabled => Pattern::Sets(TrainingSet { control: Control::DisableLink, ..ts1 }),
            State::LoopbackEntry => Pattern::Sets(TrainingSet { control: Control::Loopback, ..ts1 }),
        }
    }

    /// What the port becomes when it is told something.
    #[must_use]
    pub fn step(&self, input: Input, now: Instant, numbers: &Numbers) -> (Self, Effects) {
        let mut turn = Turn { port: *self, effects: Effects::default(), now, numbers };
        turn.take(input);
        (turn.port, turn.effects)
    }

    const fn faces_down(&self) -> bool {
        matches!(self.facing, Facing::Downstream)
    }
    /// The lanes that this port would make a link of.
    fn offered_lanes(&self) -> Lanes {
        self.found.widest(self.found, u64::from(self.directed.width))
    }
    fn set(&self, kind: SetKind) -> TrainingSet {
        TrainingSet {
            kind,
            link: self.lanes,
            numbered: true,
            offers: self.ability.max,
            speed_change: self.speed_change.is_some(),
            proposes: self.speed_change.unwrap_or(self.rate),
            control: Control::None,
            phase: 0,
            equalize: self.start_equalization,
        }
    }
    /// Whether it is about to raise the rate by another step: a retrain is not over before that.
    #[must_use]
    pub fn is_rising(&self) -> bool {
        self.state == State::L0 && self.ready != Instant::NEVER
    }
    /// The rate that this port would like to have now.
    fn wanted(&self) -> Generation {
        self.common_max().min(self.directed.target).min(self.ceiling)
    }
    /// The next rate on the way there: one after the other, if they are to be equalised.
    fn next_rate(&self) -> Generation {
        let wanted = self.wanted();
        let has_to_be_equalized = |rate: &Generation| {
            index(*rate).is_some_and(|rate| !self.equalized[rate].is_good()) && *rate <= wanted
        };
        let bypass = self.ability.bypass && wanted == self.common_max();
        if bypass || wanted <= self.rate {
            return wanted;
        }
        Generation::ALL.into_iter().find(has_to_be_equalized).unwrap_or(wanted)
    }
}

/// The place of a rate among those that have equalisation; that of Gen6 is not here.
pub(super) const fn index(generation: Generation) -> Option<usize> {
    match generation {
        Generation::Gen1 | Generation::Gen2 | Generation::Gen6 => None,
        Generation::Gen3 => Some(0),
        Generation::Gen4 => Some(1),
        Generation::Gen5 => Some(2),
    }
}

/// One step in the making.
struct Turn<'a> {
    port: Port,
    effects: Effects,
    now: Instant,
    numbers: &'a Numbers,
}

impl Turn<'_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Reset(asserted) => return self.reset(asserted),
            Input::Direct(directive) => return self.direct(directive),
            _ if self.port.held_in_reset => return,
            Input::IdleEntered => self.port.partner_idle = true,
            Input::IdleExit => (self.port.partner_idle, self.port.exit_seen) = (false, true),
            Input::Sets(lanes, set) => self.hear(lanes, set),
            Input::LogicalIdle(lanes) => self.receive_idle(lanes),
            _ => {}
        }
        match self.port.state {
            State::DetectQuiet => self.detect_quiet(),
            State::DetectActive => self.detect_active(input),
            State::PollingActive => self.polling_active(),
            State::PollingCompliance => self.polling_compliance(input),
            State::PollingConfiguration => self.polling_configuration(),
            State::ConfigurationLinkwidthStart => self.linkwidth_start(),
            State::ConfigurationLinkwidthAccept => self.linkwidth_accept(),
            State::ConfigurationLanenumWait => self.lanenum_wait(),
            State::ConfigurationLanenumAccept => self.lanenum_accept(),
            State::ConfigurationComplete => self.configuration_complete(),
            State::ConfigurationIdle => self.configuration_idle(),
            State::RecoveryRcvrLock => self.rcvr_lock(),
            State::RecoveryEqualizationPhase0 => self.phase_0(input),
            State::RecoveryEqualizationPhase1 => self.phase_1(input),
            State::RecoveryEqualizationPhase2 => self.phase_2(input),
            State::RecoveryEqualizationPhase3 => self.phase_3(input),
            State::RecoverySpeed => self.recovery_speed(),
            State::RecoveryRcvrCfg => self.rcvr_cfg(input),
            State::RecoveryIdle => self.recovery_idle(input),
            State::L0 => self.l0(input),
            State::L0s => self.l0s(input),
            State::L1 | State::L1_1 | State::L1_2 => self.l1(input),
            State::L2 => self.l2(input),
            State::HotReset => self.hot_reset(input),
            State::Disabled => self.disabled(input),
            State::LoopbackEntry => self.loopback_entry(),
            State::LoopbackActive => self.loopback_active(input),
            State::LoopbackExit => self.loopback_exit(),
        }
    }

    /// Counts what was heard; another kind of set begins another count.
    fn hear(&mut self, lanes: Lanes, set: TrainingSet) {
        // while locking, a TS2 is as good as a TS1
        let either = matches!(self.port.state, State::PollingActive | State::RecoveryRcvrLock);
        let alike =
            |before: TrainingSet| if either { TrainingSet { kind: set.kind, ..before } } else { before };
        let same = self.port.heard_set.map(alike) == Some(set);
        self.port.heard = if same { self.port.heard.or(lanes) } else { lanes };
        self.port.heard_set = Some(set);
        self.port.partner_offers = set.offers;
    }
    fn receive_idle(&mut self, lanes: Lanes) {
        let port = &mut self.port;
        port.heard = if port.heard_set.take().is_some() { lanes } else { port.heard.or(lanes) };
    }
    /// The set that was heard on all lanes that matter, if there is one.
    fn received_on(&self, lanes: Lanes) -> Option<TrainingSet> {
        self.port.heard_set.filter(|_| !lanes.is_empty() && self.port.heard.covers(lanes))
    }
    fn timed_out(&self) -> bool {
        self.now >= self.port.deadline
    }
    fn is_ready(&self) -> bool {
        self.now >= self.port.ready
    }
    /// Begins to count what is sent, at the first that was heard.
    fn count_sent(&mut self, count: u32) {
        if self.port.ready == Instant::NEVER {
            self.port.ready = self.now + sets(count.into(), self.port.rate);
        }
    }
    /// Goes to a state; its time limit begins.
    fn enter(&mut self, state: State) {
        let port = &mut self.port;
        port.state = state;
        port.entered = self.now;
        port.deadline = Instant::NEVER;
        port.ready = Instant::NEVER;
        port.heard = Lanes::NONE;
        port.heard_set = None;
        port.step_done = false;
    }
    fn enter_for(&mut self, state: State, limit: Span) {
        self.enter(state);
        self.port.deadline = self.now + limit;
    }
    fn fail(&mut self, code: FailureCode) {
        self.effects.codes.insert(code);
    }
    /// The link is no more.
    fn take_down(&mut self) {
        self.effects.link_down |= self.port.link_up;
        self.port.link_up = false;
    }
}

#[cfg(test)]
mod tests;
