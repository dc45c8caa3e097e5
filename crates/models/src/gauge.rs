//! Use of a held supply over time, and waiting for it.

use lanetwin_kernel::{Supply, SupplyKind};
pub(crate) use lanetwin_stats::Gauge;
use lanetwin_units::Instant;

/// Use up to `now`, the present, of a held supply with `supply` units, and of waiting for it.
pub(crate) fn held(in_use: &Gauge, waiting: &Gauge, supply: u64, now: Instant) -> Supply {
    let waiting_ps = waiting.integral_ps(now);
    Supply { in_use_ps: in_use.integral_ps(now), supply, kind: SupplyKind::Held { waiting_ps } }
}
