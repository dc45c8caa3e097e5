//! Detect and Polling: is somebody there, and can I hear them at 2.5 GT/s?

use super::super::ordered_sets::{Lanes, SetKind, sets};
use super::super::state::State;
use super::{Equalized, Input, Turn};
use lanetwin_units::{Generation, Instant};

impl Turn<'_> {
    /// Fundamental reset: everything is forgotten, what software has asked for too.
    pub(super) fn reset(&mut self, asserted: bool) {
        let was_up = self.port.link_up;
        self.port = super::Port::new(self.port.facing, self.port.ability);
        self.effects.link_down |= was_up;
        self.port.entered = self.now;
        if !asserted {
            self.port.held_in_reset = false;
            self.enter_detect();
        }
    }

    /// To Detect.Quiet: there is no link, and nothing is known of it.
    pub(super) fn enter_detect(&mut self) {
        let was_fast = self.port.rate > Generation::Gen1;
        self.take_down();
        self.enter_for(State::DetectQuiet, self.numbers.limits.detect_quiet);
        if was_fast {
            self.port.ready = self.now + self.numbers.limits.detect_quiet_least;
        } else {
            self.port.ready = self.now;
        }
        let port = &mut self.port;
        port.rate = Generation::Gen1;
        port.lanes = Lanes::NONE;
        port.found = Lanes::NONE;
        port.found_before = None;
        port.exit_seen = false;
        port.partner_offers = Generation::Gen1;
        port.speed_change = None;
        port.changed_speed = false;
        port.agreed = false;
        port.start_equalization = false;
        port.idle_to_rlock = 0;
        port.ceiling = port.ability.max;
        port.equalized = [Equalized::default(); 3];
        port.directed.change_width = false;
        port.directed.retrain = false;
    }

    pub(super) fn detect_quiet(&mut self) {
        if self.is_ready() {
            self.port.step_done = true;
            self.port.ready = Instant::NEVER;
        }
        if self.timed_out() || (self.port.step_done && !self.port.partner_idle) {
            self.look_for_receivers();
        }
    }

    fn look_for_receivers(&mut self) {
        self.enter_for(State::DetectActive, self.numbers.limits.detect_active);
    }

    pub(super) fn detect_active(&mut self, input: Input) {
        match input {
            Input::Receivers(found) => self.receivers(found.and(self.port.ability.lanes)),
            // 12 ms later: those that were found are looked for once more, by whoever looks for them
            _ if self.timed_out() => self.look_for_receivers(),
            _ => {}
        }
    }

    fn receivers(&mut self, found: Lanes) {
        let twice_the_same = self.port.found_before == Some(found);
        if found.is_empty() {
            self.enter_detect();
        } else if found == self.port.ability.lanes || twice_the_same {
            self.port.found = found;
            self.enter_polling();
        } else {
            // some: look again at the end of the limit
            self.port.found_before = Some(found);
        }
    }

    pub(super) fn enter_polling(&mut self) {
        let (limits, counts) = (&self.numbers.limits, &self.numbers.counts);
        self.enter_for(State::PollingActive, limits.polling_active);
        self.port.exit_seen = !self.port.partner_idle;
        self.port.ready = self.now + sets(counts.polling_ts1_sent.into(), self.port.rate);
        if self.port.directed.compliance {
            self.port.ready = self.now;
        }
    }

    pub(super) fn polling_active(&mut self) {
        if self.port.directed.compliance {
            return self.enter(State::PollingCompliance);
        }
        if self.is_ready() {
            // what is heard from now on is enough
            self.port.step_done = true;
            self.port.ready = Instant::NEVER;
        }
        let unlinked = self.port.heard_set.is_some_and(|set| set.link.is_empty());
        let heard = if unlinked { self.port.heard } else { Lanes::NONE };
        let enough = heard.covers(self.port.found) || (self.timed_out() && !heard.is_empty());
        if enough && self.port.step_done {
            // after the limit a part of the lanes will do
            self.port.found = self.port.found.and(heard);
            self.enter_for(State::PollingConfiguration, self.numbers.limits.polling_configuration);
        } else if self.timed_out() && !self.port.exit_seen {
            // terminated, and silent: a load board
            self.enter(State::PollingCompliance);
        } else if self.timed_out() {
            self.enter_detect();
        }
    }

    pub(super) fn polling_compliance(&mut self, input: Input) {
        if input == Input::IdleExit && !self.port.directed.compliance {
            self.enter_polling();
        }
    }

    pub(super) fn polling_configuration(&mut self) {
        // on any lane: the partner may have found fewer
        let heard = self.port.heard_set.filter(|_| !self.port.heard.is_empty());
        if heard.is_some_and(|set| set.kind == SetKind::Ts2 && set.link.is_empty()) {
            self.count_sent(self.numbers.counts.sent);
        }
        if self.is_ready() {
            self.enter_configuration();
        } else if self.timed_out() {
            self.enter_detect();
        }
    }
}
