//! How much of something is held over time, and what of it others wait for meanwhile.

use lanetwin_kernel::{Supply, SupplyKind};
pub(crate) use lanetwin_stats::Gauge;
use lanetwin_units::Instant;

/// What was used up to `now`, the present, of `supply` of something that is held, and for which others wait meanwhile.
pub(crate) fn held(in_use: &Gauge, waiting: &Gauge, supply: u64, now: Instant) -> Supply {
    let waiting_ps = waiting.integral_ps(now);
    Supply { in_use_ps: in_use.integral_ps(now), supply, kind: SupplyKind::Held { waiting_ps } }
}
