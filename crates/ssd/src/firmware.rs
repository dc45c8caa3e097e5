//! What firmware does before the medium is asked: engines that are taken, latencies that only take time.

use crate::config::{FirmwareConfig, SsdConfig};
use crate::erase::Erases;
use lanetwin_media::Kind;
use lanetwin_media::config::UNIT;
use lanetwin_nvme::logic::MediaOperation;
use lanetwin_stats::Servers;
use lanetwin_units::{Instant, Span};

/// When firmware and medium had a part of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediumTimes {
    /// When a firmware engine took it up.
    pub begun: Instant,
    /// When the engine was done with it.
    pub worked: Instant,
    /// When the medium was asked.
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
    /// Gives an operation to an engine, behind what it has: when it begins, and when it asks the medium. `kind` is what
    /// the operation is for the medium.
    #[inline]
    pub(crate) fn schedule(
        &mut self,
        now: Instant,
        (operation, kind): (MediaOperation, Kind),
        bytes: u64,
    ) -> MediumTimes {
        let FirmwareConfig { read, write, other, read_latency, write_latency, .. } = self.config;
        let (service, unit, latency) = match kind {
            Kind::Read => (read, self.config.read_unit, read_latency),
            Kind::Write => (write, self.config.write_unit, write_latency),
            Kind::WriteZeroes | Kind::Trim | Kind::Flush => (other, Span::ZERO, self.erases.of(operation)),
        };
        let further = bytes.div_ceil(UNIT).saturating_sub(1);
        let begun = self.engines.serve(now, service + unit * further);
        let worked = begun + service;
        MediumTimes { begun, worked, submitted: worked + latency }
    }
}

/// What an operation is for the medium.
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
