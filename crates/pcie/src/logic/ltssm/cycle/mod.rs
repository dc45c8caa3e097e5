//! The eleven stability tests, as sequences of register accesses: what is done, and what proves that it was done.

use super::failure::{FailureCodes, Outcome};
use super::link::{AerCounts, SimulatedLink};
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
    /// How often the link went through Recovery, as one that works.
    pub recoveries: u32,
    /// Correctable errors at the downstream port and at the upstream port.
    pub aer: [AerCounts; 2],
    /// The rate at the end \[number of the generation\]; 0 if the link is down.
    pub generation: u8,
    /// The width at the end \[lanes\]; 0 if the link is down.
    pub width: u8,
}

impl SimulatedLink {
    /// One cycle of a test.
    pub fn run_cycle(&mut self, test: StabilityTest) -> CycleRecord {
        CycleRecord {
            test,
            outcome: Outcome::NotPerformed,
            codes: FailureCodes::NONE,
            performed: false,
            link_time: Span::ZERO,
            software_time: Span::ZERO,
            recoveries: 0,
            aer: [AerCounts::default(); 2],
            generation: 0,
            width: 0,
        }
    }
}
