//! Reserves of a drive that it uses up while it works.

use super::Flash;
use super::blocks::{self, State};
use crate::config::SlcCache;
use crate::counters::Stocks;

impl Flash {
    /// Units that can be programmed before an erase, and units that the SLC cache takes before folding.
    pub fn stocks(&self) -> Stocks {
        let unwritten = |(number, block): (usize, &blocks::Block)| match block.state {
            State::Free | State::Open => u64::from(self.blocks.room(number as u32) - block.filled),
            State::Closed | State::Leaving | State::Erasing => 0,
        };
        let is_slc = |wanted: bool| move |(_, block): &(usize, &blocks::Block)| block.slc == wanted;
        let room = |slc: bool| -> u64 {
            self.blocks.all.iter().enumerate().filter(is_slc(slc)).map(unwritten).sum()
        };
        let collects = self.ftl.initial.is_steady_state() || self.collects;
        // a die folds when this share of its cache is used; what it can borrow in addition is not known beforehand
        let kept = |slc: SlcCache| {
            let block = u64::from(self.layout.block / self.layout.bits);
            u64::from(slc.blocks * (100 - slc.fold_at)) * block * u64::from(self.layout.dies) / 100
        };
        let slc = self.ftl.slc.filter(|slc| slc.borrowed == 0 && slc.blocks > 0);
        let folds = self.counters.folded_units > 0;
        Stocks {
            free: (!collects).then(|| room(false)),
            saved_power: None,
            before_folding: slc.filter(|_| !folds).map(|slc| room(true).saturating_sub(kept(slc))),
        }
    }
}
