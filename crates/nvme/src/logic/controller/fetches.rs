//! Outstanding fetches of a controller.

/// A fetch that is outstanding, or whose entries have arrived before those of an earlier fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetch {
    pub sqid: u16,
    pub start: u32,
    pub count: u32,
    pub arrived: bool,
}

/// The fetches of a controller.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    pub all: Vec<Option<Fetch>>,
    pub free: Vec<u16>,
    /// Number of commands being fetched.
    pub commands: u32,
    /// Number of fetches that have arrived before an earlier one.
    pub early: u32,
}

impl Fetches {
    /// Creates `count` places for fetches.
    pub fn new(count: u16) -> Self {
        Self { all: vec![None; count.into()], free: (0..count).rev().collect(), commands: 0, early: 0 }
    }
    /// Removes all fetches.
    pub fn clear(&mut self) {
        let count = self.all.len() as u16;
        self.all.fill(None);
        self.free.clear();
        self.free.extend((0..count).rev());
        (self.commands, self.early) = (0, 0);
    }
}
