//! Recovery.Equalization: presets, then each port tunes the other's transmitter.
//!
//! | phase | downstream port | upstream port |
//! |---|---|---|
//! | 0 | – | hears EC = 1, and hears it well |
//! | 1 | hears EC = 1, and hears it well | hears EC = 2 |
//! | 2 | hears EC = 3 | tunes the other's transmitter |
//! | 3 | tunes the other's transmitter | hears EC = 0 |

use super::super::failure::FailureCode;
use super::super::state::State;
use super::{Equalized, Input, Turn, index};
use lanetwin_units::Span;

impl Turn<'_> {
    pub(super) fn enter_equalization(&mut self) {
        if let Some(rate) = index(self.port.rate) {
            self.port.equalized[rate] = Equalized::default();
        }
        self.port.start_equalization = false;
        let limits = &self.numbers.limits;
        if self.port.faces_down() {
            self.enter_for(State::RecoveryEqualizationPhase1, limits.phase_1_downstream);
        } else {
            self.enter_for(State::RecoveryEqualizationPhase0, limits.phase_0);
        }
    }

    /// Whether two consecutive TS1 with this phase were heard on all lanes.
    fn received_phase(&self, phase: u8) -> bool {
        self.received_on(self.port.lanes).is_some_and(|set| set.numbered && set.phase == phase)
    }

    fn next_phase(&mut self, state: State, downstream: Span, upstream: Span) {
        self.enter_for(state, if self.port.faces_down() { downstream } else { upstream });
    }

    fn succeed(&mut self, phase: usize) {
        if let Some(rate) = index(self.port.rate) {
            self.port.equalized[rate].phases[phase - 1] = true;
        }
    }

    pub(super) fn phase_0(&mut self, input: Input) {
        self.port.step_done |= input == Input::Adapted;
        if self.port.step_done && self.received_phase(1) {
            let limits = &self.numbers.limits;
            self.next_phase(
                State::RecoveryEqualizationPhase1,
                limits.phase_1_downstream,
                limits.phase_1_upstream,
            );
        } else if self.timed_out() {
            self.equalization_failed(FailureCode::EqP0Timeout);
        }
    }

    pub(super) fn phase_1(&mut self, input: Input) {
        self.port.step_done |= input == Input::Adapted;
        let heard = if self.port.faces_down() {
            self.port.step_done && self.received_phase(1)
        } else {
            self.received_phase(2)
        };
        if heard {
            self.succeed(1);
            let limits = &self.numbers.limits;
            self.next_phase(
                State::RecoveryEqualizationPhase2,
                limits.phase_2_downstream,
                limits.phase_2_upstream,
            );
        } else if self.timed_out() {
            self.equalization_failed(FailureCode::EqP1Timeout);
        }
    }

    pub(super) fn phase_2(&mut self, input: Input) {
        let done = if self.port.faces_down() { self.received_phase(3) } else { input == Input::Tuned };
        if done {
            self.succeed(2);
            let limits = &self.numbers.limits;
            self.next_phase(
                State::RecoveryEqualizationPhase3,
                limits.phase_3_downstream,
                limits.phase_3_upstream,
            );
        } else if self.timed_out() {
            self.equalization_failed(FailureCode::EqP2Timeout);
        }
    }

    pub(super) fn phase_3(&mut self, input: Input) {
        let done = if self.port.faces_down() { input == Input::Tuned } else { self.received_phase(0) };
        if done {
            self.succeed(3);
            if let Some(rate) = index(self.port.rate) {
                self.port.equalized[rate].complete = true;
            }
            self.enter_rcvr_lock();
        } else if self.timed_out() {
            self.equalization_failed(FailureCode::EqP3Timeout);
        }
    }

    /// Too late: complete, without success; the rate before must do.
    fn equalization_failed(&mut self, code: FailureCode) {
        self.fail(code);
        if let Some(rate) = index(self.port.rate) {
            self.port.equalized[rate].complete = true;
            self.port.equalized[rate].request = true;
        }
        self.port.ceiling = super::recovery::below(self.port.rate);
        self.enter_recovery_speed(false);
    }
}
