//! What a drive is made of.

use core::fmt;
use lanetwin_media::{BadDrive, DriveConfig};
use lanetwin_nvme::logic::{ConfigFault, SubsystemConfig};
use lanetwin_units::Span;

/// A drive.
#[derive(Clone, PartialEq, Debug)]
pub struct SsdConfig {
    /// Its controllers and namespaces. Namespaces lie on the medium one behind the other, in the order of their
    /// numbers.
    pub subsystem: SubsystemConfig,
    /// Its medium.
    pub medium: DriveConfig,
    /// What its firmware costs.
    pub firmware: FirmwareConfig,
}

/// What firmware costs. An engine is taken by each command, or by each chunk of one; latencies only take time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirmwareConfig {
    /// How many commands it works on at once, at least 1; others wait, first come first served.
    pub engines: u64,
    /// How long a read takes an engine.
    pub read: Span,
    /// How long a write takes an engine.
    pub write: Span,
    /// How much longer an engine is taken by each further 4 KiB of a read: look-ups and the data path. The medium is
    /// asked before, so that this bounds the rate of large reads and does not delay one alone.
    pub read_unit: Span,
    /// The same of a write.
    pub write_unit: Span,
    /// How long any other command for the medium takes an engine.
    pub other: Span,
    /// What a read takes longer, on its way to the medium and back.
    pub read_latency: Span,
    /// What a write takes longer.
    pub write_latency: Span,
}

/// Why a drive cannot be.
#[derive(Clone, PartialEq, Debug)]
pub enum SsdFault {
    /// Controllers or namespaces cannot be.
    Subsystem(ConfigFault),
    /// The medium cannot be: every mistake in it.
    Medium(Vec<BadDrive>),
    /// The namespaces are larger than the medium.
    Namespaces {
        /// What they have together \[B\].
        bytes: u64,
        /// What the medium has \[B\].
        capacity: u64,
    },
    /// There is no firmware engine.
    NoEngine,
}

impl fmt::Display for SsdFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subsystem(fault) => fault.fmt(f),
            Self::Medium(faults) => faults.iter().try_for_each(|fault| writeln!(f, "{fault}")),
            Self::Namespaces { bytes, capacity } => {
                write!(
                    f,
                    "namespaces of {bytes} B do not fit a medium of {capacity} B (help: make them smaller)"
                )
            }
            Self::NoEngine => f.write_str("firmware.engines must be at least 1"),
        }
    }
}
impl core::error::Error for SsdFault {}

impl From<ConfigFault> for SsdFault {
    fn from(fault: ConfigFault) -> Self {
        Self::Subsystem(fault)
    }
}
