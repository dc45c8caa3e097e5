//! Fills the write buffer at once, instead of simulating until it is full.
//!
//! If writes come faster than flash programs, they fill the buffer and then wait for room in it. Until then the
//! buffer takes them in for tenths of a second, which is long compared with what has to be simulated of the state
//! afterwards.

use super::Flash;
use super::buffer::NONE;
use crate::config::UNIT;
use crate::counters::Buffered;
use crate::power::Work;
use crate::random::Draws;
use lanetwin_units::mix;

/// Separates this random draw from others of the seed.
const BUFFERED: u64 = 0x6275_6666_6572;
/// Largest number of draws per unit wanted, since units that are in the buffer already are drawn again.
const DRAWS: u64 = 4;

impl Flash {
    /// Forgets the units that wait in the buffer: a medium faster than the writes will have programmed them.
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

    /// State of the write buffer, without the bytes written, which the owner counts. A buffer that acknowledges
    /// nothing has no room: it holds what is in flight.
    pub fn buffered(&self, now: u64) -> Buffered {
        let room = if self.acknowledges { self.buffer.room() } else { 0 };
        let [level, room, lump] =
            [self.buffer.used, room, self.layout.program].map(|units| u64::from(units) * UNIT);
        let round = lump * u64::from(self.layout.dies);
        let awaits = self.pools.iter().all(|pool| pool.open.iter().all(|dies| *dies == 0));
        let (_, busy) = self.machine.busy(now);
        let (dies, busy) = busy.fold((0, 0), |(dies, busy), one| (dies + 1, busy + one));
        Buffered {
            level,
            room,
            lump,
            round,
            owed: self.owed(),
            awaits,
            given: busy + self.machine.left(now),
            had: now.saturating_mul(dies),
            program: self.times.program(0),
            ..Buffered::default()
        }
    }

    /// Work of a program on every die, if most of them program for the host and take equally long, so that programs
    /// that begin at once continue to do so.
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

    /// Fills the buffer with units before those that wait in it: for sequential writes, those written last; for
    /// random writes, more from the same range. Nothing happens before the next request.
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
