//! What software, power management and the data link layer want of a port, and what it does about it in each state.

use super::super::state::State;
use super::{Directive, Turn};
use lanetwin_units::{Instant, Width};

impl Turn<'_> {
    pub(super) fn direct(&mut self, directive: Directive) {
        match directive {
            Directive::TargetSpeed(rate) => self.port.directed.target = rate,
            Directive::PerformEqualization => self.port.directed.equalize = true,
            Directive::Compliance(on) => self.compliance(on),
            Directive::Disable(on) => self.disable(on),
            Directive::HotReset(on) => self.assert_hot_reset(on),
            Directive::Loopback(on) => self.loopback(on),
            _ if self.port.held_in_reset => {}
            Directive::Retrain => self.retrain(),
            Directive::Width(lanes) => self.change_width(lanes),
            Directive::L0s if self.port.state == State::L0 && self.port.ability.l0s => self.enter(State::L0s),
            Directive::L1 if matches!(self.port.state, State::L0 | State::L0s) => self.enter_l1(),
            Directive::L1_1 if self.port.state == State::L1 => self.enter(State::L1_1),
            Directive::L1_2 if self.port.state == State::L1 => self.enter(State::L1_2),
            Directive::L2 if self.port.state == State::L0 => {
                self.take_down();
                self.enter(State::L2);
            }
            Directive::Wake => self.wake_up(),
            Directive::L0s | Directive::L1 | Directive::L1_1 | Directive::L1_2 | Directive::L2 => {}
        }
    }

    /// Only a downstream port retrains; a link that sleeps is woken by it, one that is down is not moved.
    fn retrain(&mut self) {
        if !self.port.faces_down() || !self.port.state.is_link_up() {
            return;
        }
        // software asks: what failed may be tried once more
        self.port.ceiling = self.port.ability.max;
        self.port.directed.retrain = true;
        let rate = self.port.next_rate();
        self.change_speed(rate);
    }

    fn change_width(&mut self, lanes: u8) {
        if Width::from_lanes(lanes.into()).is_none() {
            return;
        }
        self.port.directed.width = lanes;
        if self.port.state.is_link_up() && self.port.faces_down() {
            self.port.directed.change_width = true;
            self.enter_recovery();
        }
    }

    fn disable(&mut self, on: bool) {
        if !self.port.faces_down() {
            return;
        }
        self.port.directed.disable = on;
        if self.port.held_in_reset {
            return;
        }
        if on && self.port.state.is_link_up() {
            self.enter_recovery();
        } else if !on && self.port.state == State::Disabled {
            self.enter_detect();
        }
    }

    fn assert_hot_reset(&mut self, on: bool) {
        if !self.port.faces_down() {
            return;
        }
        self.port.directed.hot_reset = on;
        if self.port.held_in_reset {
            return;
        }
        if on && self.port.state.is_link_up() {
            self.enter_recovery();
        } else if !on && self.port.state == State::HotReset {
            // the rest of the 2 ms, if there is one
            self.port.deadline = self.now.max(self.port.entered + self.numbers.limits.hot_reset);
            if self.timed_out() {
                self.enter_detect();
            }
        }
    }

    fn compliance(&mut self, on: bool) {
        self.port.directed.compliance = on;
        if !on && self.port.state == State::PollingCompliance {
            self.enter_detect();
        }
    }

    fn loopback(&mut self, on: bool) {
        if !self.port.faces_down() {
            return;
        }
        self.port.directed.loopback = on;
        match self.port.state {
            _ if self.port.held_in_reset => {}
            State::L0 if on => self.enter_recovery(),
            State::LoopbackEntry | State::LoopbackActive if !on => self.enter_loopback_exit(),
            _ => {}
        }
    }

    fn wake_up(&mut self) {
        match self.port.state {
            State::L0s if self.port.ready == Instant::NEVER => self.wake_l0s(),
            State::L1 | State::L1_1 | State::L1_2 => self.wake_l1(),
            State::L2 => self.enter_detect(),
            _ => {}
        }
    }
}
