//! Counters of the owner of the medium for the SMART / Health Information log (Base 2.0 §5.16.1.3).
//!
//! Controllers count commands and data units themselves.

/// The owner's part of the SMART / Health Information log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Health {
    /// Composite Temperature \[K\].
    pub temperature_kelvin: u16,
    /// Available Spare \[%\].
    pub available_spare_percent: u8,
    /// Available Spare Threshold \[%\].
    pub spare_threshold_percent: u8,
    /// Percentage Used of the endurance \[%\]; 255 for more than 254.
    pub percentage_used: u8,
    /// Media and Data Integrity Errors.
    pub media_errors: u128,
    /// Whether the medium has become read-only.
    pub read_only: bool,
    /// Whether reliability is degraded.
    pub degraded: bool,
    /// Whether the backup of volatile memory has failed.
    pub backup_failed: bool,
    /// Power Cycles.
    pub power_cycles: u128,
    /// Power On Hours.
    pub power_on_hours: u128,
    /// Unsafe Shutdowns.
    pub unsafe_shutdowns: u128,
    /// Controller Busy Time \[min\].
    pub busy_minutes: u128,
}

impl Default for Health {
    /// A new drive at 40 °C (`assumed`) with all its spare; a threshold of 10 % (`assumed`).
    fn default() -> Self {
        Self {
            temperature_kelvin: 313,
            available_spare_percent: 100,
            spare_threshold_percent: 10,
            percentage_used: 0,
            media_errors: 0,
            read_only: false,
            degraded: false,
            backup_failed: false,
            power_cycles: 1,
            power_on_hours: 0,
            unsafe_shutdowns: 0,
            busy_minutes: 0,
        }
    }
}
