//! Firmware before an access to the medium: engines, which are occupied, and latencies.

use crate::config::{FirmwareConfig, SsdConfig};
use crate::erase::Erases;
use lanetwin_media::Kind;
use lanetwin_media::config::UNIT;
use lanetwin_nvme::logic::MediaOperation;
use lanetwin_stats::Servers;
use lanetwin_units::{Instant, Span};

/// The least that a command reads or writes, a logical block \[B\].
const SMALL: u64 = 512;

/// Times of a part of a command in firmware and medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediumTimes {
    /// When a firmware engine started on it.
    pub begun: Instant,
    /// When the engine was finished with it.
    pub worked: Instant,
    /// When it was submitted to the medium.
    pub submitted: Instant,
}

/// The firmware.
#[derive(Debug)]
pub(crate) struct Firmware {
    config: FirmwareConfig,
    erases: Erases,
    pub(crate) engines: Servers,
}

impl Firmware {
    pub(crate) fn new(config: &SsdConfig, namespaces: u64) -> Self {
        Self {
            config: config.firmware,
            erases: Erases::new(&config.medium, namespaces),
            engines: Servers::new(config.firmware.engines),
        }
    }
    /// Queues an operation at an engine. Returns when the engine starts on it and when it is submitted to the medium.
    /// `kind` is the operation on the medium.
    #[inline]
    pub(crate) fn schedule(
        &mut self,
        now: Instant,
        (operation, kind): (MediaOperation, Kind),
        bytes: u64,
    ) -> MediumTimes {
        let FirmwareConfig { read, write, other, read_latency, write_latency, .. } = self.config;
        let (small, service, unit, latency) = match kind {
            Kind::Read => (self.config.read_small, read, self.config.read_unit, read_latency),
            Kind::Write => (self.config.write_small, write, self.config.write_unit, write_latency),
            Kind::WriteZeroes | Kind::Trim | Kind::Flush => {
                (other, other, Span::ZERO, self.erases.of(operation))
            }
        };
        let service = if bytes < UNIT { between(small, service, bytes) } else { service };
        let further = bytes.div_ceil(UNIT).saturating_sub(1);
        let begun = self.engines.serve(now, service + unit * further);
        let worked = begun + service;
        MediumTimes { begun, worked, submitted: worked + latency }
    }
}

/// The time of an engine for less than 4 KiB: from `small`, that of 512 B, to `unit`, that of 4 KiB, in proportion.
fn between(small: Span, unit: Span, bytes: u64) -> Span {
    let of = UNIT - SMALL;
    let beyond = bytes.saturating_sub(SMALL);
    let ps = (u128::from(small.as_ps()) * u128::from(of - beyond)
        + u128::from(unit.as_ps()) * u128::from(beyond))
        / u128::from(of);
    Span::from_ps(ps as u64)
}

/// The operation on the medium that an operation of the controller leads to.
#[inline]
pub(crate) const fn kind(operation: MediaOperation) -> Kind {
    match operation {
        MediaOperation::Read | MediaOperation::Compare => Kind::Read,
        MediaOperation::Write { .. } => Kind::Write,
        MediaOperation::WriteZeroes { .. } => Kind::WriteZeroes,
        MediaOperation::Deallocate | MediaOperation::Format { .. } | MediaOperation::Sanitize { .. } => {
            Kind::Trim
        }
        MediaOperation::Flush => Kind::Flush,
    }
}
