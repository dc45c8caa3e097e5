//! Pace of garbage collection (GC) relative to the host: the space of a die, and the reserve that it keeps.
//!
//! **Space** is counted in units, and changes with each of them. A unit that the host writes uses one. A unit moved
//! out of a victim frees b / v and uses one at its new place, if the victim had v valid units of b when it was
//! chosen. So a victim frees its space gradually while it is being collected, not when it is erased. The host writes
//! to a die that has its reserve; GC works on a die that has less than its reserve and one program, and pauses in the
//! middle of a victim when it has that. So the host gets space as GC frees it, program by program, and the rate
//! of writes does not swing with the erases of blocks.

use super::blocks::{Blocks, NONE};

/// Fractional bits in which gains are counted: rounding errors add up to less than a unit per block.
const PART: u32 = 20;
/// A reserve that differs from its target moves towards it by 1/256 of a block with each erase: a few per cent of
/// what the erase frees.
const DRIFT: u64 = 256;

/// A block whose units are being moved.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    block: u32,
    /// Valid units when it was chosen.
    chosen: u32,
    /// Space that each of them frees when it is moved \[2^-[`PART`] units\].
    gain: u64,
}

/// The space of a die.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Units that fit into free blocks, into blocks being erased and into the rest of open blocks, without the SLC
    /// cache.
    pub(super) unwritten: u64,
    /// Blocks being emptied, without the SLC cache: rarely more than two.
    leaving: Vec<Leaving>,
    /// Number of blocks being erased, without the SLC cache.
    pub(super) erasing: u32,
    /// Space that the die keeps from the host \[units\].
    pub(super) reserve: u64,
    /// The block being collected in a drawn initial state, until GC continues with it.
    pub(super) drawn: u32,
    /// Whether GC needed a block and found none worth collecting.
    pub(super) wants: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { unwritten: 0, leaving: Vec::new(), erasing: 0, reserve: 0, drawn: NONE, wants: false }
    }
}

impl Pace {
    /// Units that can be written before the die has no space left.
    #[inline]
    pub(super) fn space(&self, blocks: &Blocks) -> u64 {
        let gained = |leaving: &Leaving| {
            let left = leaving.chosen.saturating_sub(blocks.all[leaving.block as usize].valid);
            (u64::from(left) * leaving.gain) >> PART
        };
        self.unwritten + self.leaving.iter().map(gained).sum::<u64>()
    }

    /// Whether the die has at least `more` units above its reserve.
    #[inline]
    pub(super) fn has(&self, more: u32, blocks: &Blocks) -> bool {
        let least = self.reserve + u64::from(more);
        self.unwritten >= least || self.space(blocks) >= least
    }

    /// Whether the host may write; if not, GC works for it.
    #[inline]
    pub(super) fn admits(&self, blocks: &Blocks) -> bool {
        self.wants || self.has(0, blocks)
    }

    /// Share of the units that have to be moved of the block being emptied; 0 without such a block.
    pub(super) fn moved(&self) -> f64 {
        let part = |leaving: &Leaving| (1_u64 << PART) as f64 / leaving.gain as f64;
        self.leaving.last().map_or(0.0, part)
    }

    /// Notes whether GC finds no block worth collecting.
    pub(super) const fn set_wants(&mut self, wants: bool) {
        self.wants = wants;
    }

    /// Clears this note. Returns whether it was set.
    #[inline]
    pub(super) const fn take_wants(&mut self) -> bool {
        core::mem::replace(&mut self.wants, false)
    }

    /// Whether a block is the one that was being collected in the drawn initial state.
    #[inline]
    pub(super) const fn is_drawn(&self, block: u32) -> bool {
        self.drawn == block
    }

    /// Takes the block that was being collected in the drawn initial state, unless GC has continued with it.
    pub(super) fn take_drawn(&mut self) -> Option<u32> {
        let drawn = core::mem::replace(&mut self.drawn, NONE);
        (drawn != NONE).then_some(drawn)
    }

    /// Adds a free block of `units` units.
    pub(super) const fn add(&mut self, units: u32) {
        self.unwritten += units as u64;
    }

    /// Uses space for a program of `units` units.
    #[inline]
    pub(super) const fn spend(&mut self, units: u32) {
        self.unwritten -= units as u64;
    }

    /// Begins to empty a block of `room` units, of which `chosen` are valid.
    pub(super) fn leave(&mut self, block: u32, room: u32, chosen: u32) {
        if chosen == 0 {
            // its space is free without moving anything
            self.add(room);
            return;
        }
        let gain = (u64::from(room) << PART).div_ceil(chosen.into());
        self.leaving.push(Leaving { block, chosen, gain });
    }

    /// Notes that a block of `room` units is empty and being erased.
    pub(super) fn erase(&mut self, block: u32, room: u32) {
        if let Some(at) = self.leaving.iter().position(|leaving| leaving.block == block) {
            self.leaving.remove(at);
            self.add(room);
        }
        self.erasing += 1;
    }

    /// Notes that a block of `room` units has been erased, and moves the reserve towards its target.
    pub(super) fn erased(&mut self, room: u32, reserve: u64) {
        self.erasing -= 1;
        let step = (u64::from(room) / DRIFT).max(1);
        self.reserve = reserve.clamp(self.reserve.saturating_sub(step), self.reserve + step);
    }
}
