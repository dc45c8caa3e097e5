//! A write buffer that has filled up, without waiting for it.
//!
//! Writes that come faster than flash takes them fill the buffer, and from then on wait for room in it. Until then it
//! swallows what comes, for tenths of a second: long beside what has to be simulated of the state behind it. Who sees
//! that it fills need not wait.

use super::Flash;
use super::buffer::NONE;
use crate::config::UNIT;
use crate::counters::Buffered;
use crate::power::Work;
use crate::random::Draws;
use lanetwin_units::mix;

/// Separates this draw from others of the seed.
const BUFFERED: u64 = 0x6275_6666_6572;
/// Units that are drawn for each that is wanted, at most: what is in the buffer already is no other unit.
const DRAWS: u64 = 4;

impl Flash {
    /// Forgets what waits in the buffer: a medium that takes more than comes will have taken it.
    pub fn empty_buffer(&mut self) {
        if !self.acknowledges {
            return;
        }
        for queue in 0..self.buffer.queues.len() {
            while let Some(slot) = self.buffer.pop(queue) {
                self.buffer.used -= 1;
                self.buffer.release(slot);
            }
        }
    }

    /// How full the write buffer is; what passes through it the owner knows. There is no room in one that acknowledges
    /// nothing: it holds what is in flight.
    pub fn buffered(&self) -> Buffered {
        let room = if self.acknowledges { self.buffer.room() } else { 0 };
        let [level, room, lump] =
            [self.buffer.used, room, self.layout.program].map(|units| u64::from(units) * UNIT);
        let round = lump * u64::from(self.layout.dies);
        let awaits = self.pools.iter().all(|pool| pool.open.iter().all(|dies| *dies == 0));
        Buffered { level, room, lump, round, owed: self.owed(), awaits, ..Buffered::default() }
    }

    /// A program on each die, if most of them program for the host and take equally long: those that come to begin at
    /// once go on to do so.
    pub fn program_of_each(&self) -> Option<Work> {
        let programming = self.dies.iter().filter(|die| die.programs > 0).count();
        let pages = u64::from(self.layout.program / self.layout.page) * u64::from(self.layout.dies);
        let bus_bytes = pages * self.times.framed(u64::from(self.layout.page) * UNIT);
        (self.machine.is_regular() && 2 * programming > self.dies.len()).then(|| Work {
            page_programs: pages,
            bus_bytes,
            ..Work::default()
        })
    }

    /// Fills the buffer with units before those that wait in it: of writes in order, what was written last; of writes
    /// at random, more of where they go. Nothing happens before the next request.
    pub fn fill_buffer(&mut self) {
        let streams = self.ftl.streams as usize;
        let waiting: Vec<(u64, usize)> = (self.buffer.queues.iter().enumerate())
            .flat_map(|(queue, slots)| slots.iter().map(move |slot| (*slot, queue % streams)))
            .map(|(slot, stream)| (u64::from(self.buffer.slots[slot as usize].unit), stream))
            .collect();
        if !self.acknowledges || waiting.is_empty() {
            return;
        }
        let room = u64::from(self.buffer.room());
        let mut draws = Draws::new(mix(self.seed ^ mix(BUFFERED ^ self.stamp)));
        for _ in 0..DRAWS * room {
            let (unit, stream) = waiting[draws.below(waiting.len() as u64) as usize];
            let before = 1 + draws.below(room);
            let unit = (unit + self.units - before % self.units) % self.units;
            if !self.buffer.is_full() && self.buffer.get(unit as u32).is_none() {
                self.buffer.take(unit as u32, NONE, self.queue_of(unit, stream));
            }
        }
    }
}
