//! Roles of drives for code that brings them to their steady state.

pub use lanetwin_media::Buffered;
pub use lanetwin_ssd::telemetry::State;
use lanetwin_units::Instant;

/// Keeps writes in a buffer until its medium takes them.
pub trait BuffersWrites {
    /// State of the write buffer.
    fn buffered(&self) -> Buffered;
    /// Dies wait for garbage collection, as they will if writes go on to come faster than it earns space for them.
    fn await_collection(&mut self);
    /// Fills the buffer with more of what is being written, as it will be if writes continue to come faster than the
    /// medium programs.
    fn fill_buffer(&mut self);
    /// Empties the buffer, as it will be if the medium takes more than comes.
    fn empty_buffer(&mut self);
}

/// Reports the content of its Telemetry logs.
pub trait TellsState {
    /// State and counters up to `now`, the present.
    fn state(&self, now: Instant) -> State;
}
