//! When a command was where, for a waterfall.

use lanetwin_units::Instant;

/// When a command was where, for a waterfall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandRecord {
    /// The doorbell that told of it arrived.
    pub rung: Instant,
}
