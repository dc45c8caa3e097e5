//! How garbage collection (GC) keeps pace with the host: the space of a die, and the reserve that it keeps.
//!
//! **Space** is counted in units, and changes with each of them: a unit that the host writes takes one; a unit that
//! leaves a victim which had v valid units when it was chosen, of b, gives b / v and takes one where it goes. So a
//! victim earns what it will free while it is being collected, not when it is erased. The host writes to a die that has
//! its reserve; GC works on a die that has no more than its reserve and a program, and pauses in the middle of a victim
//! when it has. What the host gets is then what GC earns, program by program, and the rate of writes does not swing
//! with the erases of blocks.

use super::blocks::{Blocks, NONE};

/// Parts of a unit in which gains are counted: a bit more or less is less than a unit in a block.
const PART: u32 = 20;
/// A reserve that is not what it should be moves by this share of a block with each erase: a few per cent of what the
/// erase has gained.
const DRIFT: u64 = 256;

/// A block whose units are leaving it.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    block: u32,
    /// Valid units when it was chosen.
    chosen: u32,
    /// What each of them gives when it leaves \[2^-[`PART`] units\].
    gain: u64,
}

/// The space of a die.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Units that fit into blocks that are free or being erased, and into the rest of those that are being written; the
    /// SLC cache apart.
    pub(super) unwritten: u64,
    /// Blocks that are being left, the SLC cache apart: seldom more than two.
    leaving: Vec<Leaving>,
    /// Blocks that are being erased, the SLC cache apart.
    pub(super) erasing: u32,
    /// The space that the die keeps from the host \[units\].
    pub(super) reserve: u64,
    /// The block that is being collected in a drawn state, until GC goes on with it.
    pub(super) drawn: u32,
    /// GC wanted a block and found none that was worth it.
    pub(super) wants: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { unwritten: 0, leaving: Vec::new(), erasing: 0, reserve: 0, drawn: NONE, wants: false }
    }
}

impl Pace {
    /// Units that the host can write before the die has nothing left.
    #[inline]
    pub(super) fn space(&self, blocks: &Blocks) -> u64 {
        let gained = |leaving: &Leaving| {
            let left = leaving.chosen.saturating_sub(blocks.all[leaving.block as usize].valid);
            (u64::from(left) * leaving.gain) >> PART
        };
        self.unwritten + self.leaving.iter().map(gained).sum::<u64>()
    }

    /// Whether the die has so many units more than it keeps.
    #[inline]
    pub(super) fn has(&self, more: u32, blocks: &Blocks) -> bool {
        let least = self.reserve + u64::from(more);
        self.unwritten >= least || self.space(blocks) >= least
    }

    /// Whether the host may write: where it may not, GC works for it.
    #[inline]
    pub(super) fn admits(&self, blocks: &Blocks) -> bool {
        self.wants || self.has(0, blocks)
    }

    /// Which part of a block that is being left has to be moved; none if there is no such block.
    pub(super) fn moved(&self) -> f64 {
        let part = |leaving: &Leaving| (1_u64 << PART) as f64 / leaving.gain as f64;
        self.leaving.last().map_or(0.0, part)
    }

    /// Notes whether GC looks in vain for a block that is worth it.
    pub(super) const fn set_wants(&mut self, wants: bool) {
        self.wants = wants;
    }

    /// Takes back that GC looks in vain; whether it did.
    #[inline]
    pub(super) const fn take_wants(&mut self) -> bool {
        core::mem::replace(&mut self.wants, false)
    }

    /// Whether a block is the one that was being collected when the drive was drawn.
    #[inline]
    pub(super) const fn is_drawn(&self, block: u32) -> bool {
        self.drawn == block
    }

    /// The block that was being collected when the drive was drawn, if GC has not gone on with it.
    pub(super) fn take_drawn(&mut self) -> Option<u32> {
        let drawn = core::mem::replace(&mut self.drawn, NONE);
        (drawn != NONE).then_some(drawn)
    }

    /// A block of so many units is free.
    pub(super) const fn add(&mut self, units: u32) {
        self.unwritten += units as u64;
    }

    /// A program of so many units is given to a block.
    #[inline]
    pub(super) const fn spend(&mut self, units: u32) {
        self.unwritten -= units as u64;
    }

    /// Units begin to leave a block of `room` units, of which `chosen` were valid when it was taken.
    pub(super) fn leave(&mut self, block: u32, room: u32, chosen: u32) {
        if chosen == 0 {
            // what it gives needs no move
            self.add(room);
            return;
        }
        let gain = (u64::from(room) << PART).div_ceil(chosen.into());
        self.leaving.push(Leaving { block, chosen, gain });
    }

    /// A block of `room` units has been left and is being erased.
    pub(super) fn erase(&mut self, block: u32, room: u32) {
        if let Some(at) = self.leaving.iter().position(|leaving| leaving.block == block) {
            self.leaving.remove(at);
            self.add(room);
        }
        self.erasing += 1;
    }

    /// A block of `room` units has been erased. What is kept moves towards what should be.
    pub(super) fn erased(&mut self, room: u32, reserve: u64) {
        self.erasing -= 1;
        let step = (u64::from(room) / DRIFT).max(1);
        self.reserve = reserve.clamp(self.reserve.saturating_sub(step), self.reserve + step);
    }
}
