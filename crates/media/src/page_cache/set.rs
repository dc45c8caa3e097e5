//! A set, and the places in it.

/// Registers of a set.
pub(super) mod register {
    /// Whether the initial contents have been drawn.
    pub const DRAWN: usize = 0;
    /// The place of the page used last, plus one.
    pub const LAST: usize = 1;
    /// How many of its frames have ever held a page.
    pub const FRESH: usize = 2;
    /// How many of its ghosts have ever named a page.
    pub const FRESH_GHOSTS: usize = 3;
    /// LFU: uses since the counts were halved; ARC: the target size of the recent list.
    pub const POLICY: usize = 4;
    /// ARC: whether the page that comes next was remembered.
    pub const REMEMBERED: usize = 5;
    /// How many there are.
    pub const COUNT: usize = 6;
}

/// A set, by the first word of its block, and its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Set {
    pub(super) block: usize,
    /// Its number.
    pub number: u64,
}

/// A frame that holds a page, or the memory of one that did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    /// Where.
    pub set: Set,
    /// Which of the set.
    pub place: u32,
}
