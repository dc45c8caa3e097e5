//! Recovery: lock again, change the rate, go on; and L0, from which it is entered.

use super::super::failure::FailureCode;
use super::super::ordered_sets::{Control, SetKind};
use super::super::state::State;
use super::{Input, RecoveryCause, Turn, index};
use lanetwin_units::{Generation, Instant};

impl Turn<'_> {
    /// To L0: the link works; what was asked for is done, or will not be.
    pub(super) fn enter_l0(&mut self) {
        let failed = self.port.wanted() < self.port.common_max().min(self.port.directed.target);
        self.enter(State::L0);
        let port = &mut self.port;
        self.effects.link_up |= !port.link_up;
        let was_up = core::mem::replace(&mut port.link_up, true);
        let before = core::mem::replace(&mut port.before, (port.rate, port.lanes));
        let changed = was_up && before != port.before;
        let narrower = port.lanes.count() < before.1.count() && !port.directed.change_width;
        // a retrain is over when the last of its steps is
        let retrained = port.directed.retrain && port.next_rate() == port.rate;
        let unreliable = changed && (failed || narrower);
        self.effects.bandwidth_management |= retrained || unreliable;
        self.effects.autonomous_bandwidth |= changed && !unreliable && !port.directed.retrain;
        port.directed.retrain &= !retrained;
        port.directed.change_width = false;
        port.changed_speed = false;
        port.agreed = false;
        port.speed_change = None;
        port.start_equalization = false;
        port.idle_to_rlock = 0;
        if failed {
            self.fail(FailureCode::SpeedFallback);
        }
        // the downstream port raises the rate, step by step, once packets have begun to flow
        if self.port.faces_down() && self.is_directed() {
            self.port.ready = self.now;
        } else if self.port.faces_down() && self.port.next_rate() > self.port.rate {
            self.port.ready = self.now + self.numbers.ports.data_link;
        }
    }

    pub(super) fn l0(&mut self, input: Input) {
        match input {
            Input::Sets(..) => self.enter_recovery(),
            Input::RecoveryCause(
                RecoveryCause::Framing | RecoveryCause::ReplayRollover | RecoveryCause::InferredIdle,
            ) => {
                self.enter_recovery();
            }
            _ if self.is_ready() && self.is_directed() => self.enter_recovery(),
            _ if self.is_ready() => self.change_speed(self.port.next_rate()),
            _ => {}
        }
    }

    /// To Recovery at the present rate.
    pub(super) fn enter_recovery(&mut self) {
        let port = &mut self.port;
        port.before = (port.rate, port.lanes);
        port.changed_speed = false;
        port.agreed = false;
        port.speed_change = None;
        port.start_equalization = false;
        self.enter_rcvr_lock();
    }

    /// To Recovery, in order to change the rate.
    pub(super) fn change_speed(&mut self, rate: Generation) {
        self.enter_recovery();
        if rate != self.port.rate {
            self.propose(rate);
        }
    }

    fn propose(&mut self, rate: Generation) {
        let port = &mut self.port;
        port.speed_change = Some(rate);
        let has_to = index(rate).is_some_and(|rate| !port.equalized[rate].is_good());
        port.start_equalization = index(rate).is_some() && (has_to || port.directed.equalize);
        port.directed.equalize = false;
    }

    pub(super) fn enter_rcvr_lock(&mut self) {
        self.enter_for(State::RecoveryRcvrLock, self.numbers.limits.rcvr_lock);
    }

    pub(super) fn rcvr_lock(&mut self) {
        if self.port.changed_speed && self.port.agreed && self.port.start_equalization {
            return self.enter_equalization();
        }
        let lanes = self.port.lanes;
        if let Some(set) = self.port.heard_set.filter(|set| set.numbered && set.phase == 0) {
            self.follow_speed_change(set);
            if self.port.heard.covers(lanes) && set.speed_change == self.port.speed_change.is_some() {
                return self.enter_rcvr_cfg();
            }
        }
        if let Some(set) = self.port.heard_set.filter(|set| !set.numbered && set.control == Control::None) {
            // the partner is in Configuration
            if !self.port.heard.is_empty() && set.phase == 0 {
                return self.enter_configuration();
            }
        }
        if self.timed_out() {
            self.lock_failed();
        }
    }

    /// A partner that wants another rate gets it, once in each Recovery.
    fn follow_speed_change(&mut self, set: super::TrainingSet) {
        if set.speed_change && self.port.speed_change.is_none() && !self.port.changed_speed {
            self.port.speed_change = Some(set.proposes);
        }
    }

    fn enter_rcvr_cfg(&mut self) {
        self.enter_for(State::RecoveryRcvrCfg, self.numbers.limits.rcvr_cfg);
    }

    fn lock_failed(&mut self) {
        self.fail(FailureCode::LockFail);
        let some = self.port.heard_set.is_some_and(|set| set.numbered && set.phase == 0)
            && !self.port.heard.and(self.port.lanes).is_empty();
        let wants_change = self.port.heard_set.is_some_and(|set| set.speed_change);
        if some && wants_change && self.port.speed_change.is_some() {
            self.enter_rcvr_cfg();
        } else if self.port.rate > Generation::Gen1 {
            self.port.ceiling = below(self.port.rate);
            self.enter_recovery_speed(false);
        } else if some {
            // lanes that are not heard are left out
            self.enter_configuration();
        } else {
            self.enter_detect();
        }
    }

    pub(super) fn rcvr_cfg(&mut self, input: Input) {
        let lanes = self.port.lanes;
        let heard = self.port.heard_set.filter(|_| !self.port.heard.is_empty());
        if heard.is_some_and(|set| set.kind == SetKind::Ts1 && !set.numbered) {
            // the partner is in Configuration
            return self.enter_configuration();
        }
        let agreed_to_nothing = heard.is_none_or(|set| set.kind == SetKind::Ts1);
        if input == Input::IdleEntered && agreed_to_nothing && self.port.rate > Generation::Gen1 {
            // the partner gave this rate up
            self.port.ceiling = below(self.port.rate);
            return self.enter_recovery_speed(false);
        }
        let agreed = self.received_on(lanes).filter(|set| set.kind == SetKind::Ts2 && set.numbered);
        let changes = self.port.speed_change.is_some();
        if let Some(set) = agreed.filter(|set| set.speed_change == changes) {
            if changes && !self.port.faces_down() {
                // the downstream port says whether the next rate begins with equalisation
                self.port.speed_change = Some(set.proposes);
                self.port.start_equalization = set.equalize;
            }
            self.count_sent(self.sent_before_leaving(changes));
        }
        if self.is_ready() && changes {
            self.enter_recovery_speed(true);
        } else if self.is_ready() {
            self.enter_recovery_idle();
        } else if self.timed_out() && self.port.rate.is_8b10b() {
            self.enter_detect();
        } else if self.timed_out() && self.port.idle_to_rlock < self.numbers.counts.idle_to_rlock {
            self.port.idle_to_rlock += 1;
            self.enter_recovery_idle();
        } else if self.timed_out() {
            self.enter_detect();
        }
    }

    fn sent_before_leaving(&self, changes: bool) -> u32 {
        let counts = &self.numbers.counts;
        match (changes, self.port.rate.is_8b10b()) {
            (false, _) => counts.sent,
            (true, true) => counts.speed_change_sent_8b10b,
            (true, false) => counts.speed_change_sent_128b130b,
        }
    }

    pub(super) fn enter_recovery_speed(&mut self, agreed: bool) {
        self.enter_for(State::RecoverySpeed, self.numbers.limits.recovery_speed);
        self.port.agreed = agreed;
        // a partner that gave up before is silent already
        self.recovery_speed();
    }

    /// Both must be silent; then the rate changes.
    pub(super) fn recovery_speed(&mut self) {
        let (limits, ports) = (&self.numbers.limits, &self.numbers.ports);
        if self.port.ready == Instant::NEVER && self.port.partner_idle {
            let least = if self.port.agreed { limits.speed_idle_agreed } else { limits.speed_idle_failed };
            self.port.ready = self.now + least.max(ports.rate_change);
        }
        if self.is_ready() {
            self.take_rate();
        } else {
            self.detect_when_late();
        }
    }

    fn take_rate(&mut self) {
        let port = &mut self.port;
        match (port.agreed, port.changed_speed) {
            (true, _) => {
                port.rate = port.speed_change.take().unwrap_or(port.rate);
                port.changed_speed = true;
            }
            // the new rate did not work: back to the one before
            (false, true) => {
                port.rate = port.before.0;
                port.changed_speed = false;
                port.speed_change = None;
            }
            // not even that one does
            (false, false) => {
                port.rate = Generation::Gen1;
                port.speed_change = None;
            }
        }
        if !port.agreed {
            port.start_equalization = false;
        }
        let equalizes = port.agreed && port.start_equalization;
        self.enter_rcvr_lock();
        if equalizes {
            self.port.ready = self.now;
        }
    }

    fn enter_recovery_idle(&mut self) {
        self.enter_for(State::RecoveryIdle, self.numbers.limits.recovery_idle);
        if self.port.faces_down() && self.is_directed() {
            self.port.ready = self.now;
        }
    }

    const fn is_directed(&self) -> bool {
        let directed = &self.port.directed;
        directed.hot_reset || directed.disable || directed.loopback || directed.change_width
    }

    pub(super) fn recovery_idle(&mut self, input: Input) {
        if self.port.faces_down() && self.is_directed() {
            return self.go_where_directed();
        }
        let asked = self.port.heard_set.filter(|_| !self.port.heard.is_empty());
        match (input, asked) {
            (Input::Sets(..), Some(set)) if set.control == Control::HotReset => self.enter_hot_reset(),
            (Input::Sets(..), Some(set)) if set.control == Control::DisableLink => self.enter_disabled(),
            (Input::Sets(..), Some(set)) if set.control == Control::Loopback => self.enter_loopback(),
            (Input::Sets(..), Some(set)) if !set.numbered => self.enter_configuration(),
            _ if self.idle_exchanged() => self.enter_l0(),
            _ if self.timed_out() => self.lock_again_or_detect(),
            _ => {}
        }
    }

    fn go_where_directed(&mut self) {
        if self.port.directed.hot_reset {
            self.enter_hot_reset();
        } else if self.port.directed.disable {
            self.enter_disabled();
        } else if self.port.directed.loopback {
            self.enter_loopback();
        } else {
            self.enter_configuration();
        }
    }
}

/// The next slower rate.
pub(super) fn below(rate: Generation) -> Generation {
    Generation::from_number(u64::from(rate.number()) - 1).unwrap_or(Generation::Gen1)
}
