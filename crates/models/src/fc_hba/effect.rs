//! What an FC port wants done, and what arrives at it.

use lanetwin_units::Instant;

/// What an FC port has done that others must act on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// Ask host memory for a burst of a write.
    Fetch { handle: u32, offset: u32, bytes: u32 },
    /// Something will arrive at the adapter.
    At(Instant, Event),
}
pub(super) type Effects = Vec<Effect>;

/// What arrives at the adapter over Fibre Channel, with the exchange it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    TransferReady(u32),
    Data { handle: u32, offset: u32, bytes: u32 },
    Response(u32),
}
