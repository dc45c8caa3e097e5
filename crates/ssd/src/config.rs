//! Configuration of a drive.

use core::fmt;
use lanetwin_media::{BadDrive, DriveConfig};
use lanetwin_nvme::logic::{ConfigFault, SubsystemConfig};
use lanetwin_units::Span;

/// A drive.
#[derive(Clone, PartialEq, Debug)]
pub struct SsdConfig {
    /// Its controllers and namespaces. Namespaces follow each other on the medium, in the order of their identifiers.
    pub subsystem: SubsystemConfig,
    /// Its medium.
    pub medium: DriveConfig,
    /// Times of its firmware.
    pub firmware: FirmwareConfig,
}

/// Times of firmware. Each command, or each chunk of one, occupies an engine; latencies only delay it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirmwareConfig {
    /// Number of engines, at least 1; each works on one command at a time. Others wait in order of arrival.
    pub engines: u64,
    /// Time that a read of 4 KiB occupies an engine.
    pub read: Span,
    /// The same for a read of 512 B. One between that and 4 KiB takes a time between the two, in proportion.
    pub read_small: Span,
    /// Time that a write of 4 KiB occupies an engine.
    pub write: Span,
    /// The same for a write of 512 B.
    pub write_small: Span,
    /// Additional time that each further 4 KiB of a read occupy an engine: look-ups and the data path. The medium is
    /// accessed before that, so that this bounds the rate of large reads and does not delay a single one.
    pub read_unit: Span,
    /// The same for a write.
    pub write_unit: Span,
    /// Time that any other command to the medium occupies an engine.
    pub other: Span,
    /// Additional latency of a read, on its way to the medium and back.
    pub read_latency: Span,
    /// Additional latency of a write.
    pub write_latency: Span,
}

/// Why a drive cannot be built.
#[derive(Clone, PartialEq, Debug)]
pub enum SsdFault {
    /// A mistake in the controllers or namespaces.
    Subsystem(ConfigFault),
    /// All mistakes in the medium.
    Medium(Vec<BadDrive>),
    /// The namespaces are larger than the medium.
    Namespaces {
        /// Size of all namespaces together \[B\].
        bytes: u64,
        /// Capacity of the medium \[B\].
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
