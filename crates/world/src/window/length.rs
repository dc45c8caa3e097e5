//! How long a case is measured.

use lanetwin_plan::WarmUp;

/// How long a case is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Length {
    /// The warm-up, which is run and not measured.
    pub(crate) warm_up: WarmUp,
    /// Budget of events of a case that is measured until it is steady; `None` if its length was stated.
    pub(crate) events: Option<u64>,
    /// Number of repeats of the case.
    pub(crate) repeats: u32,
    /// If 1, the window is the first steady stretch; otherwise the window follows that stretch and is this many times
    /// as long.
    pub(crate) times: u64,
}
