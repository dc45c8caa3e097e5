//! What the host has set by Set Features; nothing of it is saved over a reset.

use crate::spec::feature::{
    Arbitration, ErrorRecovery, EventConfiguration, TemperatureThreshold, VolatileWriteCache, WriteAtomicity,
};
use lanetwin_units::Instant;

/// Recommended Arbitration Burst, and the burst of a controller that was not told another \[log2 of commands\].
/// `assumed`: 16.
pub(super) const RECOMMENDED_BURST: u8 = 4;
/// Where a temperature is too high until the host says another threshold \[K\]. `assumed`: 70 °C.
pub(super) const WARNING_KELVIN: u16 = 343;

/// What the host has set.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub arbitration: Arbitration,
    pub power_state: u32,
    /// Of the composite temperature.
    pub over_temperature: TemperatureThreshold,
    pub under_temperature: TemperatureThreshold,
    pub error_recovery: ErrorRecovery,
    pub write_cache: VolatileWriteCache,
    pub atomicity: WriteAtomicity,
    pub events: EventConfiguration,
    pub keep_alive_ms: u32,
    pub keep_alive_deadline: Instant,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            arbitration: Arbitration::from_raw(RECOMMENDED_BURST.into()),
            power_state: 0,
            over_temperature: TemperatureThreshold::from_raw(WARNING_KELVIN.into()),
            under_temperature: TemperatureThreshold::from_raw(1 << 20),
            error_recovery: ErrorRecovery::ZERO,
            write_cache: VolatileWriteCache::from_raw(1),
            atomicity: WriteAtomicity::ZERO,
            events: EventConfiguration::ZERO,
            keep_alive_ms: 0,
            keep_alive_deadline: Instant::NEVER,
        }
    }
}

impl Features {
    /// The host has switched the volatile write cache off: writes go to the medium.
    pub const fn writes_through(&self) -> bool {
        !self.write_cache.enable()
    }
}
