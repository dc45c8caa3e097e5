//! Effects of an FC port, and frames that arrive at it.

use lanetwin_units::Instant;

/// An effect of an FC port on other parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// Ask host memory for a burst of a write.
    Fetch { handle: u32, offset: u32, bytes: u32 },
    /// Something will arrive at the adapter.
    At(Instant, Event),
}
pub(super) type Effects = Vec<Effect>;

/// A frame that arrives at the adapter over Fibre Channel, with its exchange.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    TransferReady(u32),
    Data { handle: u32, offset: u32, bytes: u32 },
    Response(u32),
}
