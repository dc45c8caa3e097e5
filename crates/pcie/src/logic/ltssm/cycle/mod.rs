//! The eleven stability tests, as sequences of register accesses: what is done, and what proves that it was done.
//!
//! | test | action | proof |
//! |---|---|---|
//! | hot-reset | Secondary Bus Reset, the link alone | Data Link Layer Link Active falls |
//! | sbr | the same, with everything that an operating system does around it | the same |
//! | retrain | Retrain Link | Link Bandwidth Management Status rises |
//! | disable-enable | Link Disable, then not | Data Link Layer Link Active falls |
//! | d3hot | PMCSR to D3hot and back | PMCSR reads as written |
//! | l1-aspm | ASPM L1 at both ends, silence, a request | both ports are in L1 (of a real machine: a vendor's counter) |
//! | txeq-redo | at 16 and 32 GT/s: the rate below, Perform Equalization, the rate | Complete and three phases, and an equalisation that ended since |
//! | speed-change-retrain | every slower rate and back | Current Link Speed |
//! | speed-change-max | 2.5 GT/s and back | Current Link Speed |
//! | dynamic-width | half the lanes and back | Negotiated Link Width |
//! | power-cycle | power off and on | requests find nobody while it is off |
//!
//! Times that software waits are those of Linux (`host` in `data/training.yaml`).

mod host;

use super::failure::{FailureCode, FailureCodes, Outcome};
use super::link::{AerCounts, Facing, SimulatedLink};
use host::Host;
use lanetwin_units::Span;

/// A stability test: what happens to the link in each cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StabilityTest {
    /// A hot reset of the link alone: no driver waits for the device.
    HotReset,
    /// Secondary bus reset, with everything that an operating system does around it.
    SecondaryBusReset,
    /// Retrain Link at the present rate.
    Retrain,
    /// Link Disable, then enable.
    DisableEnable,
    /// The device to D3hot and back: the link goes to L1.
    D3Hot,
    /// L1 by active-state power management.
    L1Aspm,
    /// Equalisation again at every rate that has it.
    TxEqRedo,
    /// A retrain to each slower rate and back.
    SpeedChangeRetrain,
    /// A change from 2.5 GT/s to the highest rate and back.
    SpeedChangeMax,
    /// Fewer lanes, and all of them again.
    DynamicWidth,
    /// Power off and on.
    PowerCycle,
}

impl StabilityTest {
    /// Every test, in the order of a report.
    pub const ALL: [Self; 11] = [
        Self::HotReset,
        Self::SecondaryBusReset,
        Self::Retrain,
        Self::DisableEnable,
        Self::D3Hot,
        Self::L1Aspm,
        Self::TxEqRedo,
        Self::SpeedChangeRetrain,
        Self::SpeedChangeMax,
        Self::DynamicWidth,
        Self::PowerCycle,
    ];

    /// The name on a command line: `speed-change-max`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HotReset => "hot-reset",
            Self::SecondaryBusReset => "sbr",
            Self::Retrain => "retrain",
            Self::DisableEnable => "disable-enable",
            Self::D3Hot => "d3hot",
            Self::L1Aspm => "l1-aspm",
            Self::TxEqRedo => "txeq-redo",
            Self::SpeedChangeRetrain => "speed-change-retrain",
            Self::SpeedChangeMax => "speed-change-max",
            Self::DynamicWidth => "dynamic-width",
            Self::PowerCycle => "power-cycle",
        }
    }
    /// The test with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }
}

/// What one cycle was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleRecord {
    /// The test.
    pub test: StabilityTest,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, if not well; what was mended on the way is here too.
    pub codes: FailureCodes,
    /// Whether there is proof that what was asked for happened.
    pub performed: bool,
    /// The time that the link was not up.
    pub link_time: Span,
    /// The rest: waits, polls, the device.
    pub software_time: Span,
    /// How often the link went from L0 to Recovery.
    pub recoveries: u32,
    /// Correctable errors at the downstream port and at the upstream port.
    pub aer: [AerCounts; 2],
    /// The rate at the end \[number of the generation\]; 0 if the link is down.
    pub generation: u8,
    /// The width at the end \[lanes\]; 0 if the link is down.
    pub width: u8,
}

impl SimulatedLink {
    /// Waits until the link is up and the device answers, as a machine that boots does; whether they do.
    ///
    /// A link that does not come up, or comes up slow or narrow, is given three power cycles.
    pub fn bring_up(&mut self) -> bool {
        for _ in 0..3 {
            let mut host = Host::new(self);
            if host.settle() && host.is_as_expected() {
                return true;
            }
            host.power_cycle();
        }
        let mut host = Host::new(self);
        host.settle() && host.is_as_expected()
    }

    /// One cycle of a test, without a correctable error allowed; see [`Self::run_cycle_allowing`].
    pub fn run_cycle(&mut self, test: StabilityTest) -> CycleRecord {
        self.run_cycle_allowing(test, 0)
    }

    /// One cycle of a test that may have so many correctable errors, both ends together.
    ///
    /// What it does is what software does with registers: snapshot, action, proof that it had an effect, settling, a dwell
    /// in which errors are counted, comparison. A link that is not as it should be is brought up before, outside of the
    /// cycle.
    pub fn run_cycle_allowing(&mut self, test: StabilityTest, correctable: u64) -> CycleRecord {
        if !Host::new(self).is_well() {
            self.bring_up();
        }
        self.take_codes();
        let (from, not_up, recoveries) = (self.now(), self.time_not_up(), self.recoveries());
        let aer = Facing::BOTH.map(|at| self.aer_counts(at));
        let mut host = Host::new(self);
        let action = host.act(test);
        let end = host.verify(action.resets);
        let mut codes = action.codes;
        for code in self.take_codes().iter().chain(end.codes.iter()) {
            codes.insert(code);
        }
        // power off forgets what was counted before
        let since = |now: AerCounts, before: &AerCounts| {
            if test == StabilityTest::PowerCycle { now } else { now.since(before) }
        };
        let aer = Facing::BOTH.map(|at| since(self.aer_counts(at), &aer[at as usize]));
        let errors: u64 = aer.iter().map(AerCounts::total).sum();
        let mut outcome = end.outcome;
        if errors > correctable {
            codes.insert(FailureCode::AerCorExcess);
            outcome = outcome.min(Outcome::ErrorsExceeded);
        }
        if !action.performed {
            outcome = outcome.min(Outcome::NotPerformed);
        }
        let whole = self.now().since(from);
        let link_time = Span::from_ps(self.time_not_up().as_ps() - not_up.as_ps());
        CycleRecord {
            test,
            outcome,
            codes,
            performed: action.performed,
            link_time,
            software_time: Span::from_ps(whole.as_ps().saturating_sub(link_time.as_ps())),
            recoveries: self.recoveries() - recoveries,
            aer,
            generation: end.generation,
            width: end.width,
        }
    }
}

#[cfg(test)]
mod tests;
