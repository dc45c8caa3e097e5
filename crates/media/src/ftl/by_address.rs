//! Static allocation: the address of a page says on which die of the FTL, which is a plane, it lies.
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

    /// The die to which the address of a unit sends it.
    #[inline]
    fn die_by_address(&self, unit: u64) -> u32 {
        (unit / u64::from(self.layout.page) % u64::from(self.layout.dies)) as u32
    }

    /// Gives programs to the dies that take them, of what waits for each.
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

    /// Gives a die programs of a stream as long as it takes them.
    fn drain_to(&mut self, now: u64, die: u32, stream: u32) {
        let queue = (die * self.ftl.streams + stream) as usize;
        while self.is_due(queue) && self.pools[0].open[die as usize / 64] >> (die % 64) & 1 == 1 {
            let Some(head) = self.head_for_host(die, stream) else { return };
            if !self.program(now, die, head, queue) {
                return;
            }
        }
    }

    /// Lets the machine wait with commands until all that comes at once is there, where planes have commands of their
    /// own: what goes together is commanded together. Whether it had not been waiting before.
    #[inline]
    pub(super) fn hold(&mut self) -> bool {
        self.layout.is_by_planes() && self.machine.hold()
    }

    /// Lets the machine go on, if it was held.
    #[inline]
    pub(super) fn let_go(&mut self, now: u64, held: bool) {
        if held {
            self.machine.let_go(now);
        }
    }
}
