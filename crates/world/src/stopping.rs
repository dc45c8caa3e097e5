//! Stops a world before it is measured: a person who waits for the end of a run wants what is finished, now.
//!
//! A world looks at its [`Stopping`] between slices, and unwinds if it is asked to. Whoever runs it catches that and
//! drops the world: half a measurement is none.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop that all worlds of a run see. Clones are the same request.
#[derive(Clone, Default, Debug)]
pub struct Stopping(Arc<AtomicBool>);

/// What a world that was asked to stop unwinds with.
struct Stopped;

impl Stopping {
    /// Asks the worlds to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether they were asked to.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// Unwinds if it was asked for. This is no fault: no message is printed.
    pub(crate) fn heed(&self) {
        if self.is_asked() {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Whether a world unwound because it was asked to stop.
pub(crate) fn was_stopped(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Stopped>()
}
