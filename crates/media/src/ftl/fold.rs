//! The SLC cache: borrowing of blocks, and folding.
//!
//! A borrowed block is a free block of its die that is programmed with one bit per cell until it has been folded and
//! erased. The die's space is reduced by all of it when it is borrowed ([`pace`](super::pace)); while it is folded it
//! gives space back, like every block that is emptied.

use super::blocks::{Block, State};
use super::collector::Reason;
use super::{Flash, NONE};
use crate::timers::NEVER;

impl Flash {
    /// Does everything up to `now`; folds the cache when the host has been idle for long enough.
    #[inline(never)]
    pub(super) fn run_and_fold(&mut self, now: u64) {
        loop {
            while let Some(at) = self.machine.step(now.min(self.idle.begins)) {
                self.note_ends(at);
            }
            if self.idle.begins > now {
                return;
            }
            self.fold_in_idle();
        }
    }

    /// Folds the cache, because the host has been idle for long enough.
    fn fold_in_idle(&mut self) {
        let now = core::mem::replace(&mut self.idle.begins, NEVER);
        self.idle.folds = true;
        for die in 0..self.layout.dies {
            self.collect(now, die);
            self.note_room(die);
        }
    }

    /// Whether the cache may borrow a block of a die: one is free beyond those that GC needs, and there is space for
    /// it.
    pub(super) fn may_borrow(&self, die: u32) -> bool {
        self.ftl.slc.is_some_and(|slc| {
            let d = &self.dies[die as usize];
            d.borrowed < slc.borrowed
                && d.free.len() as u32 > self.ftl.watermarks.urgent
                && d.pace.has(self.layout.block, &self.blocks)
        })
    }

    /// Provides the head of the cache with a block with room. Returns whether it has one.
    pub(super) fn ensure_slc_block(&mut self, die: u32) -> bool {
        let d = &self.dies[die as usize];
        let slc = d.heads.len() - 1;
        let head = d.heads[slc];
        let has = head != NONE && self.blocks.all[head as usize].filled < self.blocks.room(head);
        if !has && d.free_slc.is_empty() && self.may_borrow(die) {
            self.borrow(die);
        }
        self.ensure_block(die, slc, 0)
    }

    /// Borrows a block of a die for the cache.
    fn borrow(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        let erases = |at: &usize| self.blocks.all[d.free[*at] as usize].erases;
        let at = if self.ftl.wear.dynamic { (0..d.free.len()).min_by_key(erases) } else { Some(0) };
        let block = d.free.remove(at.unwrap_or(0)).expect("there are some");
        self.blocks.borrow(block);
        d.pace.spend(self.layout.block);
        d.free_slc.push_back(block);
        d.borrowed += 1;
    }

    /// Whether the cache is to be folded: enough of it is used, or the host is idle, and the die can spare the space.
    pub(super) fn is_to_fold(&self, die: u32) -> bool {
        self.lacks_cache(die)
            && self.dies[die as usize].free.len() as u32 >= self.ftl.watermarks.urgent
            && !self.is_short(die)
    }

    /// Whether more of a die's part of the cache is in use than should be, or the host is idle. Usage is counted in
    /// units, without those that have left the block being folded. So a program of the host triggers the folding of
    /// as much, and the rate of writes does not swing with the folding of whole blocks.
    pub(super) fn lacks_cache(&self, die: u32) -> bool {
        let Some(slc) = self.ftl.slc else { return false };
        let d = &self.dies[die as usize];
        let unused = d.free_slc.len() as u32;
        let used = slc.blocks + d.borrowed - unused - d.gc.erasing_slc;
        let could_be = u64::from(used + unused + d.gc.erasing_slc + self.can_borrow(die, slc.borrowed));
        let b = u64::from(self.layout.block / self.layout.bits);
        let in_use = (u64::from(used) * b).saturating_sub(self.unused_in_head(die) + self.folded(die));
        self.idle.folds || in_use * 100 > could_be * b * u64::from(slc.fold_at)
    }

    /// Unwritten units of the cache's open block.
    fn unused_in_head(&self, die: u32) -> u64 {
        let d = &self.dies[die as usize];
        let head = d.heads[d.heads.len() - 1];
        if head == NONE {
            0
        } else {
            u64::from(self.blocks.room(head) - self.blocks.all[head as usize].filled)
        }
    }

    /// Invalid units of the block being folded.
    fn folded(&self, die: u32) -> u64 {
        let gc = &self.dies[die as usize].gc;
        if gc.victim == NONE || gc.reason != Reason::Fold {
            return 0;
        }
        u64::from(self.blocks.room(gc.victim) - self.blocks.all[gc.victim as usize].valid)
    }

    /// Number of blocks of a die that the cache could still borrow, if it may borrow `most`.
    fn can_borrow(&self, die: u32, most: u32) -> u32 {
        let d = &self.dies[die as usize];
        if most == 0 {
            return 0;
        }
        let space = d.pace.space(&self.blocks).saturating_sub(d.pace.reserve) / u64::from(self.layout.block);
        let free = (d.free.len() as u32).saturating_sub(self.ftl.watermarks.urgent);
        (most - d.borrowed).min(free).min(u32::try_from(space).unwrap_or(u32::MAX))
    }

    /// Interrupts a garbage block whose collection pauses, in favour of the cache.
    pub(super) fn make_way(&mut self, die: u32) {
        let gc = &self.dies[die as usize].gc;
        let may = gc.victim != NONE && gc.reason == Reason::Garbage && gc.reading.is_empty();
        if self.ftl.slc.is_some() && may && gc.parked.0 == NONE && self.is_to_fold(die) {
            let gc = &mut self.dies[die as usize].gc;
            gc.parked = (gc.victim, gc.next);
            gc.victim = NONE;
        }
    }

    /// Chooses a block of the cache for which `fits`. Returns whether there is one.
    pub(super) fn choose_to_fold(&mut self, die: u32, fits: impl Fn(&Block) -> bool) -> bool {
        let Some(victim) = self.blocks.victim(die, self.ftl.victim, self.stamp, fits) else { return false };
        let Block { borrowed, valid, state, .. } = self.blocks.all[victim as usize];
        debug_assert_eq!(state, State::Closed);
        if borrowed {
            self.dies[die as usize].pace.leave(victim, self.layout.block, valid);
        }
        self.begin(die, victim, Reason::Fold);
        true
    }
}
