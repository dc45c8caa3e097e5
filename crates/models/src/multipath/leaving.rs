//! The first path that requests had to leave, and its share of them before, meanwhile and afterwards.

use crate::roles::nvmeof::Access;
use lanetwin_kernel::{Metric, Report};
use lanetwin_units::{Better, Instant};

/// When the first path that requests had to leave was left, and when it was as it had been; since the start.
const LEFT_AT: Metric = Metric::new("path left at", "ms", Better::Higher).if_any("paths left");
const BACK_AT: Metric = Metric::new("path back at", "ms", Better::Lower).if_any("paths back");
/// The share of requests that it was asked, of those until then, meanwhile and afterwards.
const BEFORE: Metric = Metric::new("requests by that path before", "%", Better::Higher).if_any("paths left");
const MEANWHILE: Metric =
    Metric::new("requests by that path meanwhile", "%", Better::Lower).if_any("paths left");
const AFTER: Metric =
    Metric::new("requests by that path afterwards", "%", Better::Higher).if_any("paths back");

/// A path that requests had to leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) path: usize,
    /// As it was before.
    pub(super) access: Access,
    pub(super) at: Instant,
    pub(super) back: Option<Instant>,
    /// Numbers of requests over it and over all paths, when it was left and when it was back.
    pub(super) asked: [(u64, u64); 2],
}

/// Reports it. `now` has the numbers of requests over a path and over all paths so far.
pub(super) fn report(left: Option<&Leaving>, now: impl Fn(usize) -> (u64, u64), report: &mut Report) {
    let ms = |at: Instant| at.as_ps() as f64 / 1e9;
    let share = |(own, all): (u64, u64), (own_before, all_before): (u64, u64)| {
        let (own, all) = (own - own_before, all - all_before);
        if all > 0 { own as f64 * 100.0 / all as f64 } else { 0.0 }
    };
    let end = left.map_or((0, 0), |left| now(left.path));
    let back = left.filter(|left| left.back.is_some());
    let meanwhile = |left: &Leaving| if left.back.is_some() { left.asked[1] } else { end };
    report.level(LEFT_AT, left.map_or(0.0, |left| ms(left.at)));
    report.level(BACK_AT, back.and_then(|left| left.back).map_or(0.0, ms));
    report.level(BEFORE, left.map_or(0.0, |left| share(left.asked[0], (0, 0))));
    report.level(MEANWHILE, left.map_or(0.0, |left| share(meanwhile(left), left.asked[0])));
    report.level(AFTER, back.map_or(0.0, |left| share(end, left.asked[1])));
}
