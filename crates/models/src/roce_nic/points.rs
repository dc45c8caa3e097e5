//! What a queue pair knows of congestion: its reaction point, and its notification point.

use lanetwin_fabric::roce::logic::dcqcn::Reaction;
use lanetwin_units::Instant;

/// Both points of a queue pair.
#[derive(Debug)]
pub(super) struct Congestion {
    pub(super) reaction: Reaction,
    /// When it may tell its peer again.
    pub(super) tells: Instant,
}
