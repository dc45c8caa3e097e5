//! A set, and the places in it.

/// Registers of a set.
pub(super) mod register {
    /// Whether the initial contents have been drawn.
    pub const DRAWN: usize = 0;
    /// The place of the page used last, plus one.
    pub const LAST: usize = 1;
    /// Number of its frames that have ever held a page.
    pub const FRESH: usize = 2;
    /// Number of its ghosts that have ever been used.
    pub const FRESH_GHOSTS: usize = 3;
    /// LFU: uses since the counts were halved; ARC: the target size of the recent list.
    pub const POLICY: usize = 4;
    /// ARC: whether the next page had a ghost.
    pub const REMEMBERED: usize = 5;
    /// Number of registers.
    pub const COUNT: usize = 6;
}

/// A set, by the first word of its block, and its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Set {
    pub(super) block: usize,
    /// Its number.
    pub number: u64,
}

/// A frame, or a ghost of an evicted page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    /// Its set.
    pub set: Set,
    /// Its index in the set.
    pub place: u32,
}
