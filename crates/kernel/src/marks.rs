//! Marks: what components say of a request as it passes, for whoever follows requests. While nobody follows, nothing is
//! written down.

use crate::ids::ComponentId;
use lanetwin_units::Instant;

/// Up to `at`, from the mark before of the same component on the same request, the request was in this stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The end of the stage.
    pub at: Instant,
    /// The component that the request was in.
    pub component: ComponentId,
    /// The name of the request in the messages that asked for it.
    pub request: u32,
    /// The stage (`queue for an engine`).
    pub stage: &'static str,
}

/// The marks of a run, while it is followed.
#[derive(Default)]
pub(crate) struct Marks(Option<Vec<Mark>>);

impl Marks {
    /// Writes down marks from now on, or forgets them and writes down no more.
    pub(crate) fn follow(&mut self, on: bool) {
        self.0 = on.then(Vec::new);
    }
    #[inline]
    pub(crate) fn add(&mut self, mark: Mark) {
        if let Some(marks) = &mut self.0 {
            marks.push(mark);
        }
    }
    /// What has been written down; forgets it.
    pub(crate) fn take(&mut self) -> Vec<Mark> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
