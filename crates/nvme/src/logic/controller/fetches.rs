//! The fetches of a controller that are under way.

/// A fetch that is under way, or whose entries have arrived before those of one that was asked for earlier.
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
    /// Commands that are under way.
    pub commands: u32,
    /// Fetches that have arrived before one that was asked for earlier.
    pub early: u32,
}

impl Fetches {
    /// Room for so many.
    pub fn new(count: u16) -> Self {
        Self { all: vec![None; count.into()], free: (0..count).rev().collect(), commands: 0, early: 0 }
    }
    /// Forgets all of them.
    pub fn clear(&mut self) {
        let count = self.all.len() as u16;
        self.all.fill(None);
        self.free.clear();
        self.free.extend((0..count).rev());
        (self.commands, self.early) = (0, 0);
    }
}
