//! L0s, L1 and its substates, L2; Hot Reset, Disabled, Loopback: where a link goes because somebody wants it there.

use super::super::ordered_sets::{Control, Lanes, sets};
use super::super::state::State;
use super::{Input, Turn};
use lanetwin_units::{Instant, Span};

impl Turn<'_> {
    pub(super) fn l0s(&mut self, input: Input) {
        match input {
            Input::Sets(..) | Input::RecoveryCause(_) => self.enter_recovery(),
            // fast training sequences have been sent
            _ if self.is_ready() => {
                self.enter(State::L0);
            }
            _ => {}
        }
    }

    /// Fast training sequences begin; at their end the receiver is awake.
    pub(super) fn wake_l0s(&mut self) {
        let count = u64::from(self.numbers.counts.fast_training_sequences);
        // a fast training sequence is 4 symbols at 8b/10b, and a block at 128b/130b
        let quarter = if self.port.rate.is_8b10b() { 4 } else { 1 };
        self.port.ready = self.now + sets(count.div_ceil(quarter), self.port.rate);
    }

    pub(super) fn enter_l1(&mut self) {
        self.enter(State::L1);
    }

    pub(super) fn l1(&mut self, input: Input) {
        if matches!(input, Input::IdleExit | Input::Sets(..)) {
            self.wake_l1();
        }
        if self.is_ready() {
            self.enter_recovery();
        }
    }

    /// Out of L1, when clock and common mode are back and the least time is over.
    pub(super) fn wake_l1(&mut self) {
        if self.port.ready != Instant::NEVER {
            return;
        }
        let (limits, ports) = (&self.numbers.limits, &self.numbers.ports);
        let (least, back) = match self.port.state {
            State::L1_1 => (limits.l1_least, ports.clock_on),
            State::L1_2 => (limits.l1_2_least, ports.clock_on + ports.power_on + ports.common_mode),
            _ => (limits.l1_least, Span::ZERO),
        };
        self.port.ready = self.now.max(self.port.entered + least) + back;
    }

    pub(super) fn l2(&mut self, input: Input) {
        // a beacon, or whatever else is no silence
        if input == Input::IdleExit {
            self.enter_detect();
        }
    }

    pub(super) fn enter_hot_reset(&mut self) {
        self.take_down();
        self.enter_for(State::HotReset, self.numbers.limits.hot_reset);
    }

    pub(super) fn hot_reset(&mut self, _: Input) {
        if self.timed_out() && !(self.port.directed.hot_reset && self.port.faces_down()) {
            self.enter_detect();
        } else if self.timed_out() {
            // released later, by whoever asserted it
            self.port.deadline = Instant::NEVER;
            self.port.step_done = true;
        }
    }

    pub(super) fn enter_disabled(&mut self) {
        self.take_down();
        self.enter(State::Disabled);
        self.port.ready = self.now + sets(self.numbers.counts.sent.into(), self.port.rate);
        if !self.port.faces_down() {
            self.port.deadline = self.now + self.numbers.limits.disabled;
            // silence before this is not the partner's answer
            self.port.partner_idle = false;
        }
    }

    pub(super) fn disabled(&mut self, input: Input) {
        if self.is_ready() {
            self.port.step_done = true;
            self.port.ready = Instant::NEVER;
        }
        if self.port.faces_down() {
            return;
        }
        match input {
            Input::IdleEntered => {
                self.port.deadline = Instant::NEVER;
                self.port.exit_seen = false;
            }
            Input::IdleExit if self.port.deadline == Instant::NEVER => self.enter_detect(),
            _ => self.detect_when_late(),
        }
    }

    pub(super) fn enter_loopback(&mut self) {
        self.take_down();
        self.enter_for(State::LoopbackEntry, self.numbers.limits.loopback_entry);
        if self.port.lanes.is_empty() {
            self.port.lanes = self.port.offered_lanes();
        }
        if !self.port.faces_down() {
            // the follower sends back what it hears from now on
            self.enter(State::LoopbackActive);
        }
    }

    pub(super) fn loopback_entry(&mut self) {
        let looped = self.port.heard_set.is_some_and(|set| set.control == Control::Loopback);
        if looped && self.port.heard.covers(self.port.lanes) {
            self.enter(State::LoopbackActive);
        } else if self.timed_out() {
            self.enter_loopback_exit();
        }
    }

    pub(super) fn loopback_active(&mut self, input: Input) {
        if input == Input::IdleEntered {
            self.enter_loopback_exit();
        }
    }

    pub(super) fn enter_loopback_exit(&mut self) {
        self.enter_for(State::LoopbackExit, self.numbers.limits.loopback_exit);
        self.port.heard = Lanes::NONE;
    }

    pub(super) fn loopback_exit(&mut self) {
        self.detect_when_late();
    }
}
