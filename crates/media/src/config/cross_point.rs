//! A medium like 3D XPoint: no erase, no garbage collection, lines at fixed places with fixed times.

use lanetwin_units::{Bytes, Span};

/// A medium that is written in place.
///
/// Consecutive lines go to the channels in turn, and on a channel to its partitions in turn. A line occupies its
/// partition while it is read or written, and its channel while it crosses the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrossPoint {
    /// Channels of the drive.
    pub channels: u32,
    /// Partitions of a channel that work at once.
    pub partitions: u32,
    /// Size of a line, the unit of reads and writes; divides 4 KiB or is a multiple of it.
    pub line: Bytes,
    /// Time to read a line.
    pub read: Span,
    /// Time to write a line.
    pub write: Span,
    /// Bandwidth of a channel \[B/s\].
    pub bytes_per_second: u64,
    /// Time for command and address of a line.
    pub command: Span,
    /// Writes that a line survives.
    pub endurance: u64,
}
