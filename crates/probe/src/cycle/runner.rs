//! The runner: each test so many times, and what came of it.
//!
//! ```text
//!  precheck ─► act ─► proof of effect ─► settle ─► verify ─► errors at both ends ─► dwell ─► errors again ─► record
//!                        │ none                       │ not as it should be
//!                        └─► NOT PERFORMED            └─► code ─► mend: retrain, reset, rescan
//! ```

use super::bench::{Bench, Step, Stop, rate};
use super::errors::Tally;
use super::identity::answers;
use super::report::{Cycle, Failure, TestReport, Times};
use super::test::Test;
use crate::host::Counters;
use crate::registers::LINK_STATUS;
use lanetwin_pcie::logic::ltssm::failure::{FailureCode, FailureCodes, Outcome};
use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use serde::Serialize;
use std::ops::ControlFlow;

/// Failures that a report tells one by one; it counts the others.
const TOLD: usize = 20;

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CyclePlan {
    /// The tests, in this order.
    pub tests: Vec<Test>,
    /// How often each.
    pub count: u64,
    /// How often the power cycle.
    pub power_count: u64,
    /// How long the link is watched for errors in each cycle, once it is up \[ps\].
    pub dwell: Span,
    /// Correctable errors at one end that a cycle may have while it is watched.
    pub max_correctable: u64,
    /// Failures of a test after which it ends.
    pub max_failures: u64,
    /// Whether the link is held against how it is at first, not against the best that both ends can.
    pub as_found: bool,
    /// Whether the margins of the lanes are read at the end.
    pub margins: bool,
}

impl Default for CyclePlan {
    /// All eleven: 10 000 times, and 1 000 power cycles.
    fn default() -> Self {
        Self {
            tests: Test::full(),
            count: 10_000,
            power_count: 1_000,
            dwell: Span::from_us(10_000),
            max_correctable: 0,
            max_failures: u64::MAX,
            as_found: false,
            margins: false,
        }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Cycles that are done, of this test.
    pub done: u64,
    /// All of them.
    pub total: u64,
    /// The test.
    pub case: &'static str,
    /// Cycles that failed so far.
    pub failed: u64,
}

/// Asked after each cycle whether to go on.
pub type Watcher<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

impl Bench<'_, '_> {
    /// Runs the tests of a wish. False in the second place if it was stopped.
    ///
    /// # Errors
    /// If the machine refuses access.
    pub fn run(&mut self, wish: &CyclePlan, watch: &mut Watcher<'_>) -> Step<(Vec<TestReport>, bool)> {
        if !wish.as_found {
            self.expect_the_best()?;
        }
        let mut reports = Vec::new();
        for &test in &wish.tests {
            let (report, go_on) = self.series(test, wish, watch)?;
            let lost = report.stopped.is_some();
            reports.push(report);
            if !go_on || lost {
                return Ok((reports, go_on));
            }
        }
        Ok((reports, true))
    }

    /// Holds the link against the best that both ends can, and tries once to bring it there.
    fn expect_the_best(&mut self) -> Step<()> {
        use crate::registers::LINK_CAPABILITIES;
        let above = self.of_port(LINK_CAPABILITIES)?;
        let below = self.of_device(LINK_CAPABILITIES)?;
        let best = self.rates.last().copied().unwrap_or(self.reference.speed);
        let found = self.reference;
        self.reference.width = above.max_width().min(below.max_width());
        self.reference.speed = best;
        if found.speed < best {
            // whatever becomes of it: the cycles will tell
            let _ = self.change_speed(best);
        }
        Ok(())
    }

    fn series(&mut self, test: Test, wish: &CyclePlan, watch: &mut Watcher<'_>) -> Step<(TestReport, bool)> {
        let total = if test == Test::PowerCycle { wish.power_count } else { wish.count };
        let mut report = TestReport::new(test, total);
        let (mut link_times, mut times) = (Histogram::new(), Histogram::new());
        let mut counted: [Option<Counters>; 2] = [None, None];
        let mut go_on = true;
        for at in 0..total {
            let progress = Progress { done: at, total, case: test.title(), failed: report.failed };
            if watch(&progress).is_break() {
                go_on = false;
                break;
            }
            let cycle = self.cycle(test, at, wish, &mut counted, &mut report.errors)?;
            link_times.record(cycle.link_time);
            times.record(cycle.time);
            report.cycles += 1;
            match cycle.outcome {
                Outcome::Ok => {
                    report.passed += 1;
                    report.proof.get_or_insert(cycle.said);
                }
                Outcome::NotPerformed => {
                    report.not_performed += 1;
                    report.reason.get_or_insert(cycle.said);
                    if report.passed == 0 && report.failed == 0 {
                        break;
                    }
                }
                _ => {
                    report.fail(Failure::new(at, &cycle), TOLD);
                    if let Err(stopped) = self.mend() {
                        report.stopped = Some(stopped);
                        break;
                    }
                }
            }
            if report.failed >= wish.max_failures {
                break;
            }
        }
        report.link_time = Times::of(&link_times);
        report.time = Times::of(&times);
        report.judge();
        Ok((report, go_on))
    }

    /// One cycle.
    fn cycle(
        &mut self,
        test: Test,
        at: u64,
        wish: &CyclePlan,
        counted: &mut [Option<Counters>; 2],
        errors: &mut [Tally; 2],
    ) -> Step<Cycle> {
        self.link_time = Span::ZERO;
        let start = self.session.now();
        let port = self.port.address;
        self.host().take_causes(port);
        let acted = self.precheck().and_then(|()| {
            self.look_at_errors(counted)?;
            let proof = self.act(test, at)?;
            self.verify()?;
            Ok(proof)
        });
        let time = self.session.now().since(start);
        let watched = match acted {
            Ok(proof) => self.dwell(wish, counted, errors).map(|()| proof),
            failed => failed,
        };
        let link_time = self.link_time;
        let cycle = |outcome, codes, said| Cycle { outcome, codes, said, link_time, time };
        Ok(match watched {
            Ok(proof) => cycle(Outcome::Ok, FailureCodes::NONE, proof),
            Err(Stop::NotPerformed(why)) => cycle(Outcome::NotPerformed, FailureCodes::NONE, why),
            Err(Stop::Failed(code, said)) => {
                let causes = self.host().take_causes(port);
                let codes = causes.into_iter().fold(FailureCodes::NONE.with(code), FailureCodes::with);
                cycle(self.outcome(code), codes, said)
            }
            Err(refused) => return Err(refused),
        })
    }

    fn act(&mut self, test: Test, at: u64) -> Step<String> {
        match test {
            Test::HotReset => self.hot_reset(),
            Test::BusReset => self.bus_reset(),
            Test::Retrain => self.retraining(),
            Test::Disable => self.disable(),
            Test::D3Hot => self.d3_hot(),
            Test::AspmL1 => self.aspm_l1(),
            Test::EqualisationRedo => self.equalisation_redo(),
            Test::SpeedChange => self.speed_change(at),
            Test::SpeedChangeMax => self.speed_change_max(),
            Test::Width => self.dynamic_width(),
            Test::PowerCycle => self.power_cycle(),
            Test::FunctionReset => self.function_reset(),
        }
    }

    /// The link has to be up and the device there before anything is done to them.
    fn precheck(&mut self) -> Step<()> {
        if !self.wait_for_link()? {
            let said = "the link was not up before the action";
            return Err(Stop::Failed(FailureCode::DllInactive1s, said.into()));
        }
        let device = self.device.clone();
        if !answers(self.host(), &device)? {
            let said = "the device did not answer before the action";
            return Err(Stop::Failed(FailureCode::SurpriseDown, said.into()));
        }
        Ok(())
    }

    /// The link has to be as it was expected.
    fn verify(&mut self) -> Step<()> {
        if !self.wait_for_link()? {
            let said = "the link was not active within 1 s";
            return Err(Stop::Failed(FailureCode::DllInactive1s, said.into()));
        }
        let status = self.of_port(LINK_STATUS)?;
        let wanted = self.reference;
        if status.speed() < wanted.speed {
            return Err(self.too_slow(status.speed(), wanted.speed)?);
        }
        if status.width() < wanted.width {
            let said = format!("x{} instead of x{}", status.width(), wanted.width);
            return Err(Stop::Failed(FailureCode::WidthDegrade, said));
        }
        let found = self.state()?;
        if found.retimers != wanted.retimers {
            let said = format!("{} retimers are detected, not {}", found.retimers, wanted.retimers);
            return Err(Stop::Failed(FailureCode::SpeedFallback, said));
        }
        Ok(())
    }

    /// Watches the link for a while.
    fn dwell(
        &mut self,
        wish: &CyclePlan,
        counted: &mut [Option<Counters>; 2],
        errors: &mut [Tally; 2],
    ) -> Step<()> {
        // what a training leaves in the statuses belongs to the training
        self.look_at_errors(counted)?;
        self.host().wait(wish.dwell);
        let seen = self.look_at_errors(counted)?;
        for (tally, seen) in errors.iter_mut().zip(&seen) {
            tally.add(seen);
        }
        for (seen, end) in seen.iter().zip(["port", "device"]) {
            let found = seen.correctable_errors();
            if found > wish.max_correctable {
                let said = format!("{found} correctable errors at the {end} while nothing was done");
                return Err(Stop::Failed(FailureCode::AerCorExcess, said));
            }
        }
        self.verify()
    }

    fn outcome(&mut self, code: FailureCode) -> Outcome {
        match code {
            FailureCode::CfgRrsTimeout => Outcome::Lost,
            FailureCode::AerCorExcess => Outcome::ErrorsExceeded,
            FailureCode::WidthDegrade => Outcome::Narrow,
            FailureCode::DllInactive1s | FailureCode::LockFail => Outcome::DataLinkDown,
            FailureCode::SurpriseDown => Outcome::Lost,
            _ => Outcome::Slow,
        }
    }

    /// Brings the link back after a failure: by training, else by a reset, else by looking for the device again.
    ///
    /// # Errors
    /// Why it cannot be used any more.
    fn mend(&mut self) -> Result<(), String> {
        let best = self.reference.speed;
        let _ = self.set_link_control(|control| super::bench::word(control.with_disable(false)));
        if self.wait_for_link().unwrap_or(false) {
            let _ = self.change_speed(best);
        }
        if !self.usable() {
            let _ = self.save_device().and_then(|()| self.bus_reset());
        }
        if !self.usable() {
            let device = self.device.address;
            let _ = self.host().rescan(device);
            let _ = self.restore_device();
        }
        if self.usable() {
            return Ok(());
        }
        let status = self.of_port(LINK_STATUS).map_or_else(
            |_| "the port does not answer".to_owned(),
            |status| format!("Link Status is {:#06x}, {}", status.raw(), rate(status.speed())),
        );
        Err(format!("neither training nor a reset nor a rescan brought the device back: {status}"))
    }

    fn usable(&mut self) -> bool {
        self.precheck().is_ok()
    }
}
