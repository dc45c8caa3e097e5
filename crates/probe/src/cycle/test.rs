//! The stability tests: what happens to a link in each cycle.

use serde::{Serialize, Serializer};

macro_rules! tests {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $title:literal;)+) => {
        /// A stability test.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Test { $($(#[doc = $doc])+ $variant,)+ }

        impl Test {
            /// Every test, in the order of a report.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on a command line: `speed-change-max`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
            /// The name in a report.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }
            /// A sentence that says what the test does.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc, "\n"),+).trim_ascii(),)+ }
            }
        }
    };
}

tests! {
    /// A bus reset by the operating system's own way, where it has one; else as a secondary bus reset.
    HotReset = "hot-reset", "Hot Reset";
    /// Secondary Bus Reset in the port's Bridge Control, with saving and restoring the device.
    BusReset = "sbr", "SBR";
    /// Retrain Link at the present rate.
    Retrain = "retrain", "Link Retrain";
    /// Link Disable, and enable.
    Disable = "disable-enable", "Link Disable/Enable";
    /// The device to D3hot and back.
    D3Hot = "d3hot", "D3 Hot";
    /// L1 by active-state power management at both ends.
    AspmL1 = "l1-aspm", "L1 ASPM";
    /// Equalisation again at the two highest rates.
    EqualisationRedo = "txeq-redo", "TxEq Redo";
    /// A retraining to a slower rate and back; the slower rate is another one in each cycle.
    SpeedChange = "speed-change-retrain", "Speed Change Retrain";
    /// A retraining to 2.5 GT/s and from there to the highest rate.
    SpeedChangeMax = "speed-change-max", "Speed Change Max";
    /// Fewer lanes, and all of them again.
    Width = "dynamic-width", "Dynamic Width";
    /// Power off and on.
    PowerCycle = "power-cycle", "Power Cycle";
    /// Function Level Reset: the device without its link.
    FunctionReset = "flr", "Function Level Reset";
}

impl Test {
    /// The eleven tests of a full run: all but Function Level Reset, which does not affect the link.
    #[must_use]
    pub fn full() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|test| *test != Self::FunctionReset).collect()
    }
    /// The test of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|test| test.name() == name)
    }
    /// Whether the device may lose its state in this test.
    #[must_use]
    pub const fn resets(self) -> bool {
        matches!(
            self,
            Self::HotReset
                | Self::BusReset
                | Self::Disable
                | Self::PowerCycle
                | Self::FunctionReset
                | Self::D3Hot
        )
    }
}

impl Serialize for Test {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
