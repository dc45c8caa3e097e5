//! What a drive holds back: what fills up or runs empty while it works.

use super::Flash;
use super::blocks::{self, State};
use crate::config::{Initial, UNIT};
use crate::counters::Stocks;

impl Flash {
    /// What fills up or runs empty: the buffer, and what can be programmed before something is erased.
    pub fn stocks(&self) -> Stocks {
        let room = |(number, block): (usize, &blocks::Block)| match block.state {
            State::Free | State::Open => u64::from(self.blocks.room(number as u32) - block.filled),
            State::Closed | State::Leaving | State::Erasing => 0,
        };
        let collects = self.ftl.initial == Initial::SteadyState || self.counters.block_erases > 0;
        let free = || self.blocks.all.iter().enumerate().map(room).sum();
        Stocks {
            buffered: [self.buffer.used, self.layout.program].map(|units| u64::from(units) * UNIT),
            free: (!collects).then(free),
        }
    }
}
