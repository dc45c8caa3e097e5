//! Congestion state of a queue pair: its reaction point and its notification point.

use lanetwin_fabric::roce::logic::dcqcn::Reaction;
use lanetwin_units::Instant;

/// Both points of a queue pair.
#[derive(Debug)]
pub(super) struct Congestion {
    pub(super) reaction: Reaction,
    /// When it may next send a CNP to its peer.
    pub(super) tells: Instant,
}
