//! Fields of the SMART / Health Information log that the controller does not count itself.

use lanetwin_media::Counters;
use lanetwin_nvme::logic::Health;
use lanetwin_units::Instant;

/// The log at `now` of a drive that has been powered since the beginning. Its medium loses no data, so that there are
/// no media errors. It has no temperature.
pub(crate) fn health(counters: &Counters, busy_ps: u128, now: Instant) -> Health {
    const PS_PER_MINUTE: u128 = 60_000_000_000_000;
    const PS_PER_HOUR: u128 = 60 * PS_PER_MINUTE;
    Health {
        percentage_used: (counters.life_used * 100.0).min(255.0) as u8,
        power_cycles: 0,
        power_on_hours: u128::from(now.as_ps()) / PS_PER_HOUR,
        busy_minutes: busy_ps / PS_PER_MINUTE,
        ..Health::default()
    }
}
