//! Values set by Set Features; none is saved across a reset.

use crate::spec::feature::{
    Arbitration, ErrorRecovery, EventConfiguration, TemperatureThreshold, VolatileWriteCache, WriteAtomicity,
};
use lanetwin_units::Instant;

/// Recommended Arbitration Burst, and default burst of a controller \[log2 of commands\]. `assumed`: 16.
pub(super) const RECOMMENDED_BURST: u8 = 4;
/// Default of the over temperature threshold \[K\]. `assumed`: 70 °C.
pub(super) const WARNING_KELVIN: u16 = 343;

/// Values of features.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub arbitration: Arbitration,
    pub power_state: u32,
    /// Over temperature threshold of the composite temperature.
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
    /// Whether the host has disabled the volatile write cache, so that writes go to the medium.
    pub const fn writes_through(&self) -> bool {
        !self.write_cache.enable()
    }
}
