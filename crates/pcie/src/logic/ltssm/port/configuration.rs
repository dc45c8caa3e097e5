//! Configuration: which lanes make the link, and in which order.

use super::super::ordered_sets::{Control, Lanes, SetKind};
use super::super::state::State;
use super::Turn;
use lanetwin_units::{Instant, Span};

impl Turn<'_> {
    pub(super) fn enter_configuration(&mut self) {
        self.enter_for(State::ConfigurationLinkwidthStart, self.numbers.limits.linkwidth_start);
        // lanes are chosen anew; a link that comes from Recovery chooses among those that it found
        self.port.lanes = Lanes::NONE;
        if self.port.faces_down() && (self.port.directed.disable || self.port.directed.loopback) {
            self.port.ready = self.now;
        }
    }

    /// How long a port waits for the other lanes once it has heard the first: half of what its partner waits for it.
    fn settle(&self) -> Span {
        Span::from_ps(self.numbers.limits.linkwidth_accept.as_ps() / 2)
    }

    pub(super) fn linkwidth_start(&mut self) {
        if self.port.faces_down() && self.port.directed.disable {
            return self.enter_disabled();
        }
        if self.port.faces_down() && self.port.directed.loopback {
            return self.enter_loopback();
        }
        if self.port.heard.is_empty() {
            // nothing to settle yet
            self.port.ready = Instant::NEVER;
        }
        let Some(set) = self.port.heard_set.filter(|_| !self.port.heard.is_empty()) else {
            return self.detect_when_late();
        };
        match set.control {
            Control::DisableLink => return self.enter_disabled(),
            Control::Loopback => return self.enter_loopback(),
            Control::HotReset | Control::None => {}
        }
        let answered = self.port.heard.and(set.link);
        if answered.is_empty() || set.numbered {
            return self.detect_when_late();
        }
        let expected =
            if self.port.faces_down() { self.port.offered_lanes() } else { set.link.and(self.port.found) };
        if self.port.ready == Instant::NEVER {
            self.port.ready = self.now + self.settle();
        }
        if answered.covers(expected) || self.is_ready() {
            let lanes = answered.widest(self.port.ability.lanes, self.port.directed.width.into());
            if lanes.is_empty() {
                // no link can be made of these: wait for others
                self.port.ready = self.now + self.settle();
                return self.detect_when_late();
            }
            self.enter_for(State::ConfigurationLinkwidthAccept, self.numbers.limits.linkwidth_accept);
            self.port.lanes = lanes;
            // the downstream port has heard what it needs; it gives lane numbers at once
            self.port.ready = if self.port.faces_down() { self.now } else { Instant::NEVER };
        } else {
            self.detect_when_late();
        }
    }

    pub(super) fn linkwidth_accept(&mut self) {
        if self.port.faces_down() {
            self.enter_for(State::ConfigurationLanenumWait, self.numbers.limits.lanenum);
        } else if let Some(set) = self.numbered_set() {
            // the downstream port decides which lanes stay
            self.port.lanes = set.link.and(self.port.ability.lanes);
            self.enter_for(State::ConfigurationLanenumWait, self.numbers.limits.lanenum);
        } else {
            self.detect_when_late();
        }
    }

    /// The set that was heard, if it has lane numbers on the lanes that it claims.
    fn numbered_set(&self) -> Option<super::TrainingSet> {
        self.port
            .heard_set
            .filter(|set| set.numbered && !set.link.is_empty() && self.port.heard.covers(set.link))
    }

    pub(super) fn lanenum_wait(&mut self) {
        let wanted = if self.port.faces_down() { SetKind::Ts1 } else { SetKind::Ts2 };
        match self.numbered_set() {
            // a partner that is further is heard out too
            Some(set) if set.kind == wanted || set.kind == SetKind::Ts2 => {
                if self.port.faces_down() {
                    self.port.lanes = self.port.lanes.and(set.link);
                }
                self.enter_for(State::ConfigurationLanenumAccept, self.numbers.limits.lanenum);
                self.port.ready = self.now;
            }
            _ => self.detect_when_late(),
        }
    }

    pub(super) fn lanenum_accept(&mut self) {
        self.enter_for(State::ConfigurationComplete, self.numbers.limits.configuration_complete);
    }

    pub(super) fn configuration_complete(&mut self) {
        let lanes = self.port.lanes;
        if self.received_on(lanes).is_some_and(|set| set.kind == SetKind::Ts2 && set.numbered) {
            self.count_sent(self.numbers.counts.sent);
        }
        let fast = !self.port.rate.is_8b10b();
        if self.is_ready() || (self.timed_out() && fast) {
            self.enter_for(State::ConfigurationIdle, self.numbers.limits.configuration_idle);
        } else {
            self.detect_when_late();
        }
    }

    pub(super) fn configuration_idle(&mut self) {
        if self.idle_exchanged() {
            self.enter_l0();
        } else if self.timed_out() {
            self.lock_again_or_detect();
        }
    }

    /// Whether eight symbols of idle were heard on all lanes, and sixteen sent since.
    pub(super) fn idle_exchanged(&mut self) -> bool {
        let port = &self.port;
        if port.heard_set.is_none() && !port.heard.is_empty() && port.heard.covers(port.lanes) {
            self.count_idle_sent();
        }
        self.is_ready()
    }

    fn count_idle_sent(&mut self) {
        if self.port.ready == Instant::NEVER {
            let symbols = u64::from(self.numbers.counts.sent);
            self.port.ready = self.now + super::super::ordered_sets::bits(symbols * 10, self.port.rate);
        }
    }

    /// The way out of an exchange of idle that did not happen.
    pub(super) fn lock_again_or_detect(&mut self) {
        if self.port.idle_to_rlock < self.numbers.counts.idle_to_rlock {
            self.port.idle_to_rlock += 1;
            self.enter_rcvr_lock();
        } else {
            self.enter_detect();
        }
    }

    pub(super) fn detect_when_late(&mut self) {
        if self.timed_out() {
            self.enter_detect();
        }
    }
}
