//! How the ports of a link and the sizes of accesses are named.

use super::super::channel::Direction;

/// A port of a link, by where it looks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Facing {
    /// The port above: of a root complex or a switch.
    Downstream = 0,
    /// The port below: of a device.
    Upstream = 1,
}

impl Facing {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Downstream, Self::Upstream];

    /// The other.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Downstream => Self::Upstream,
            Self::Upstream => Self::Downstream,
        }
    }
    /// The direction in which this port hears.
    #[must_use]
    pub const fn hears(self) -> Direction {
        match self {
            Self::Downstream => Direction::Up,
            Self::Upstream => Direction::Down,
        }
    }
}

/// How much a configuration request reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    /// One byte.
    Byte = 1,
    /// Two bytes, at an even offset.
    Word = 2,
    /// Four bytes, at a multiple of four.
    Dword = 4,
}
