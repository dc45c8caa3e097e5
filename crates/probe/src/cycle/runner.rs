//! The runner: repeats each test and records the results.
//!
//! ```text
//!  precheck ─► clear errors ─► act ─► proof ─► verify ─► clear errors ─► dwell ─► errors at both ends ─► verify
//!                                      │ none     │ link not in its reference state
//!                                      │          └─► failure code ─► mend: retrain, reset, rescan
//!                                      └─► NOT PERFORMED
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

/// Maximum number of failures that a report lists; others are only counted.
const TOLD: usize = 20;

/// The plan of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CyclePlan {
    /// The tests, in this order.
    pub tests: Vec<Test>,
    /// Cycles of each test.
    pub count: u64,
    /// Cycles of the power test.
    pub power_count: u64,
    /// Time for which errors are observed in each cycle, once the link is up \[ps\].
    pub dwell: Span,
    /// Maximum number of correctable errors at one end during the dwell.
    pub max_correctable: u64,
    /// Number of failures after which a test ends.
    pub max_failures: u64,
    /// Whether the reference is the initial state of the link instead of the best that both ends support.
    pub as_found: bool,
    /// Whether the margins of the lanes are measured at the end.
    pub margins: bool,
}

impl Default for CyclePlan {
    /// All eleven tests: 10 000 cycles each, and 1 000 power cycles.
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

/// Progress of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Cycles of this test that are done.
    pub done: u64,
    /// Cycles of this test in total.
    pub total: u64,
    /// The test.
    pub case: &'static str,
    /// Failed cycles so far.
    pub failed: u64,
}

/// Called after each cycle; decides whether to continue.
pub type Watcher<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

impl Bench<'_, '_> {
    /// Runs the tests of a plan. The second value is false if the run was stopped.
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

    /// Makes the best speed and width that both ends support the reference, and tries once to reach the speed.
    fn expect_the_best(&mut self) -> Step<()> {
        use crate::registers::LINK_CAPABILITIES;
        let above = self.of_port(LINK_CAPABILITIES)?;
        let below = self.of_device(LINK_CAPABILITIES)?;
        let best = self.rates.last().copied().unwrap_or(self.reference.speed);
        let found = self.reference;
        self.reference.width = above.max_width().min(below.max_width());
        self.reference.speed = best;
        if found.speed < best {
            // a failure is ignored here, since the cycles will show it
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

    /// Checks that the link is up and the device responds before a test.
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

    /// Checks that the link is up, at least as fast and wide as its reference, and with the same retimers.
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

    /// Waits for the dwell time, and checks that errors stay within their limit and the link in its reference state.
    fn dwell(
        &mut self,
        wish: &CyclePlan,
        counted: &mut [Option<Counters>; 2],
        errors: &mut [Tally; 2],
    ) -> Step<()> {
        // errors from training are not counted
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

    /// Repairs the link after a failure: by retraining, then if necessary by a reset, then by a rescan.
    ///
    /// # Errors
    /// Why the link cannot be used any more.
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
