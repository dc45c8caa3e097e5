//! Static allocation: the address of a page determines its die of the FTL, which is a plane.
//!
//! Every die has queues of its own, one for each stream, numbered die by die.

use super::Flash;

impl Flash {
    /// The queue in which a unit of a stream waits.
    #[inline]
    pub(super) fn queue_of(&self, unit: u64, stream: usize) -> usize {
        let line =
            if self.layout.by_address { self.die_by_address(unit) as usize } else { self.pool_of(unit) };
        line * self.ftl.streams as usize + stream
    }

    /// The die determined by the address of a unit.
    #[inline]
    fn die_by_address(&self, unit: u64) -> u32 {
        (unit / u64::from(self.layout.page) % u64::from(self.layout.dies)) as u32
    }

    /// Gives waiting programs to the dies that take them.
    pub(super) fn drain_by_address(&mut self, now: u64) {
        for word in 0..self.pools[0].open.len() {
            let mut left = self.pools[0].open[word];
            while left != 0 && self.buffer.waiting > 0 {
                let die = word as u32 * 64 + left.trailing_zeros();
                left &= left - 1;
                for stream in 0..self.ftl.streams {
                    self.drain_to(now, die, stream);
                }
            }
        }
    }

    /// Gives a die programs of a stream while it takes them.
    fn drain_to(&mut self, now: u64, die: u32, stream: u32) {
        let queue = (die * self.ftl.streams + stream) as usize;
        while self.is_due(queue) && self.pools[0].open[die as usize / 64] >> (die % 64) & 1 == 1 {
            let Some(head) = self.head_for_host(die, stream) else { return };
            if !self.program(now, die, head, queue) {
                return;
            }
        }
    }

    /// If planes have commands of their own, holds the machine's commands until all requests of this time have
    /// arrived, so that planes can be commanded together. Returns whether it was not held before.
    #[inline]
    pub(super) fn hold(&mut self) -> bool {
        self.layout.is_by_planes() && self.machine.hold()
    }

    /// Releases the machine, if it was held.
    #[inline]
    pub(super) fn let_go(&mut self, now: u64, held: bool) {
        if held {
            self.machine.let_go(now);
        }
    }
}
