//! One end of the link: a port, what is on its way to it, and what it is about to hear.

use super::super::draw::Sequence;
use super::super::numbers::Numbers;
use super::super::ordered_sets::{Lanes, Pattern, bits, set_bits, sets};
use super::super::port::{Input, Port};
use super::super::probability::Runs;
use super::super::state::State;
use lanetwin_units::{Generation, Instant, Span};
use std::collections::VecDeque;

/// What a transmitter sends, at which rate, on which lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wire {
    pub(super) pattern: Pattern,
    pub(super) rate: Generation,
    pub(super) lanes: Lanes,
}

impl Wire {
    pub(super) const SILENT: Self =
        Self { pattern: Pattern::ElectricalIdle, rate: Generation::Gen1, lanes: Lanes::NONE };

    pub(super) fn is_silent(&self) -> bool {
        self.pattern == Pattern::ElectricalIdle
    }
}

/// A port with its receivers.
#[derive(Clone, Debug)]
pub(super) struct LinkEnd {
    pub(super) port: Port,
    /// What it sends, as last told to the other end.
    pub(super) sends: Wire,
    /// Changes of what the other end sends, on their way.
    pub(super) coming: VecDeque<(Instant, Wire)>,
    /// What arrives now.
    pub(super) wire: Wire,
    /// When the receivers have locked on it.
    locked: Instant,
    /// What it is about to hear, the earliest last.
    receptions: Vec<(Instant, Lanes)>,
    /// Electrical idle (true) or its end is about to be noticed.
    idle: Option<(Instant, bool)>,
    /// Something that the state waits for.
    pub(super) due: Option<(Instant, Input)>,
    /// When the link next goes to Recovery by itself.
    pub(super) next_error: Option<(Instant, Input)>,
    /// Lanes that hear nothing any more.
    pub(super) failed_receivers: Lanes,
    chance: Sequence,
}

/// The next thing that happens at this end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Another pattern arrives.
    Arrival,
    /// Something is heard.
    Reception,
    /// Idle or its end is noticed.
    Idle,
    /// What the state waits for.
    Due,
    /// Trouble.
    RecoveryCause,
    /// The port wants to know the time.
    Wake,
}

impl LinkEnd {
    pub(super) fn new(port: Port, chance: Sequence) -> Self {
        Self {
            port,
            sends: Wire::SILENT,
            coming: VecDeque::new(),
            wire: Wire::SILENT,
            locked: Instant::NEVER,
            receptions: Vec::new(),
            idle: None,
            due: None,
            next_error: None,
            failed_receivers: Lanes::NONE,
            chance,
        }
    }

    /// Other chances from now on.
    pub(super) fn reseed(&mut self, chance: Sequence) {
        self.chance = chance;
    }

    /// When something happens next, and what; arrivals before what follows from them.
    pub(super) fn next(&self) -> (Instant, Next) {
        let at = |event: Option<Instant>| event.unwrap_or(Instant::NEVER);
        [
            (at(self.coming.front().map(|(at, _)| *at)), Next::Arrival),
            (at(self.idle.map(|(at, _)| at)), Next::Idle),
            (at(self.receptions.last().map(|(at, _)| *at)), Next::Reception),
            (at(self.due.map(|(at, _)| at)), Next::Due),
            (at(self.next_error.map(|(at, _)| at)), Next::RecoveryCause),
            (self.port.wake(), Next::Wake),
        ]
        .into_iter()
        .min_by_key(|(at, _)| *at)
        .unwrap_or((Instant::NEVER, Next::Wake))
    }

    /// What the port is told when this happens; nothing if only the wire changes.
    pub(super) fn take(&mut self, next: Next, now: Instant, numbers: &Numbers) -> Option<Input> {
        match next {
            Next::Arrival => {
                self.arrive(now, numbers);
                None
            }
            Next::Reception => {
                let (_, lanes) = self.receptions.pop()?;
                match self.wire.pattern {
                    Pattern::Sets(set) => Some(Input::Sets(lanes, set)),
                    _ => Some(Input::LogicalIdle(lanes)),
                }
            }
            Next::Idle => {
                let (_, silent) = self.idle.take()?;
                Some(if silent { Input::IdleEntered } else { Input::IdleExit })
            }
            Next::Due => self.due.take().map(|(_, input)| input),
            Next::RecoveryCause => self.next_error.take().map(|(_, input)| input),
            Next::Wake => Some(Input::Tick),
        }
    }

    fn arrive(&mut self, now: Instant, numbers: &Numbers) {
        let Some((_, wire)) = self.coming.pop_front() else { return };
        if wire.is_silent() != self.wire.is_silent() {
            self.idle = Some((now + numbers.ports.idle_detection, wire.is_silent()));
        }
        if wire.is_silent() {
            self.locked = Instant::NEVER;
        } else if self.wire.is_silent() || wire.rate != self.wire.rate {
            self.locked = now + numbers.ports.receiver_lock;
        }
        self.wire = wire;
    }

    /// Reckons anew what will be heard: the state, or what arrives, has changed.
    pub(super) fn schedule_receptions(
        &mut self,
        now: Instant,
        numbers: &Numbers,
        ber: impl Fn(usize) -> f64,
    ) {
        self.receptions.clear();
        let rate = self.port.rate();
        let (length, bits_each) = match self.wire.pattern {
            Pattern::Sets(_) => (self.port.consecutive(numbers), set_bits(rate)),
            Pattern::Logical if awaits_idle(self.port.state()) => (numbers.counts.heard, 10),
            Pattern::Logical | Pattern::ElectricalIdle | Pattern::Test => return,
        };
        let lanes = self.port.listens().and(self.wire.lanes).without(self.failed_receivers);
        if lanes.is_empty() || self.wire.rate != rate || self.locked == Instant::NEVER {
            return;
        }
        let from = now.max(self.locked) + self.alignment(numbers);
        self.hear(from, lanes, length, bits_each, &ber);
    }

    /// Blocks are aligned at an EIEOS, which comes once in a while.
    fn alignment(&self, numbers: &Numbers) -> Span {
        let (rate, state) = (self.port.rate(), self.port.state());
        if state == State::RecoveryRcvrLock && !rate.is_8b10b() {
            sets(numbers.counts.alignment_interval.into(), rate)
        } else {
            Span::ZERO
        }
    }

    fn hear(
        &mut self,
        from: Instant,
        lanes: Lanes,
        length: u32,
        bits_each: u64,
        ber: &impl Fn(usize) -> f64,
    ) {
        let rate = self.port.rate();
        let at_once = from + bits(u64::from(length) * bits_each, rate);
        let mut clean = Lanes::NONE;
        for lane in lanes.iter() {
            let ber = ber(lane);
            // with less than 1e-15 errors expected, there is none
            if ber * f64::from(length) * 128.0 < 1e-15 {
                clean = clean.or(Lanes(1 << lane));
                continue;
            }
            let trial = super::super::probability::clean(ber, if bits_each == 10 { 8.0 } else { 128.0 });
            let runs = Runs::new(length, trial);
            let failed = self.chance.failures(runs.success);
            if failed == 0.0 {
                clean = clean.or(Lanes(1 << lane));
                continue;
            }
            let late = failed * runs.attempt * bits_each as f64 * 1e6 / rate.megatransfers() as f64;
            // beyond a second nobody listens any more
            if late < 1e12 {
                self.receptions.push((at_once + Span::from_ps(late as u64), Lanes(1 << lane)));
            }
        }
        if !clean.is_empty() {
            self.receptions.push((at_once, clean));
        }
        self.receptions.sort_by_key(|(at, _)| core::cmp::Reverse(*at));
    }
}

const fn awaits_idle(state: State) -> bool {
    matches!(state, State::ConfigurationIdle | State::RecoveryIdle)
}
