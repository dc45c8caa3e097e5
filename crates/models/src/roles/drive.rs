//! Drives, as those know them who bring them to the state in which they stay.

pub use lanetwin_media::Buffered;
pub use lanetwin_ssd::telemetry::State;
use lanetwin_units::Instant;

/// Keeps writes in a buffer until its medium takes them.
pub trait BuffersWrites {
    /// How full the buffer is.
    fn buffered(&self) -> Buffered;
    /// Dies wait for garbage collection, as they will if writes go on to come faster than it earns space for them.
    fn await_collection(&mut self);
    /// Fills the buffer with more of what is being written, as it will be if writes go on to come faster than the
    /// medium takes them.
    fn fill_buffer(&mut self);
    /// Empties the buffer, as it will be if the medium takes more than comes.
    fn empty_buffer(&mut self);
}

/// Tells what Telemetry logs of it would say.
pub trait TellsState {
    /// What it is and has done up to `now`, the present.
    fn state(&self, now: Instant) -> State;
}
