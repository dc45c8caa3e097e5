//! What the host will do by itself, in the order of time and, at equal times, of asking.

use lanetwin_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Task {
    /// A step of a thread is due.
    Step(u32),
    /// What a flight asked a cache for is there.
    Found(u32),
    /// The request of a flight is at the controllers of its DRAM.
    Ask(u32),
    /// What a flight asked DRAM for is there, at the socket of that DRAM.
    Answer(u32),
    /// What a flight asked memory for has come from the other socket.
    Arrive(u32),
    /// A hint is due.
    Hint(u32),
}

/// Tasks.
#[derive(Debug)]
pub(super) struct Timetable {
    tasks: BinaryHeap<Reverse<(Instant, u64, Task)>>,
    asked: u64,
}

impl Timetable {
    pub(super) const fn new() -> Self {
        Self { tasks: BinaryHeap::new(), asked: 0 }
    }
    #[inline]
    pub(super) fn put(&mut self, at: Instant, task: Task) {
        self.tasks.push(Reverse((at, self.asked, task)));
        self.asked += 1;
    }
    /// When the next task is due; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.tasks.peek().map_or(Instant::NEVER, |Reverse((at, ..))| *at)
    }
    /// The next task, if it is due.
    #[inline]
    pub(super) fn take(&mut self, now: Instant) -> Option<Task> {
        if self.next() > now {
            return None;
        }
        self.tasks.pop().map(|Reverse((_, _, task))| task)
    }
}
