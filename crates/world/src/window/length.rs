//! How long a case is measured.

use lanetwin_plan::WarmUp;

/// How long a case is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Length {
    /// What is run before and not measured.
    pub(crate) warm_up: WarmUp,
    /// The budget of events of a case that is measured until it is steady; none if its length was stated.
    pub(crate) events: Option<u64>,
    /// How many repeats of the case there are.
    pub(crate) repeats: u32,
    /// The window is a stretch this many times as long as the first steady one, and follows it; with 1 it is that one.
    pub(crate) times: u64,
}
