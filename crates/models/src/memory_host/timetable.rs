//! Future internal actions of the host, in the order of time and, at equal times, of insertion.

use super::ids::{FlightId, ThreadId};
use lanetwin_units::Instant;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Something to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    /// A step of a thread is due.
    Step(ThreadId),
    /// A flight's line has arrived from a cache.
    Found(FlightId),
    /// The request of a flight is at the controllers of its DRAM.
    Request(FlightId),
    /// A flight's line has arrived from DRAM, at the socket of that DRAM.
    Answer(FlightId),
    /// A flight's line has arrived from the other socket.
    Arrive(FlightId),
    /// A hint is due.
    Hint(u32),
    /// The slice of the thread that has a hardware thread is over.
    Turn(u32),
}

/// Bits of a key: time \[ps\], number of insertion, kind of task, subject. One number is faster to compare than four.
const KIND: u32 = 27;
const ORDER: u32 = 30;
const TIME: u32 = 64;

/// Tasks.
#[derive(Debug)]
pub(super) struct Timetable {
    /// Answers of DRAM that are due in the order in which they were put down, as nearly all are.
    answers: VecDeque<u128>,
    /// All else.
    tasks: BinaryHeap<Reverse<u128>>,
    asked: u64,
}

impl Timetable {
    pub(super) const fn new() -> Self {
        Self { answers: VecDeque::new(), tasks: BinaryHeap::new(), asked: 0 }
    }
    /// A turn among tasks of the same time: before those of all later ones.
    #[inline]
    pub(super) const fn reserve(&mut self) -> u64 {
        // after 17 thousand million tasks the order begins again: equal times across that moment are ordered the other
        // way round
        let turn = self.asked % (1 << (TIME - ORDER));
        self.asked += 1;
        turn
    }
    #[inline]
    pub(super) fn put(&mut self, at: Instant, task: Task) {
        let turn = self.reserve();
        self.put_in_turn(at, turn, task);
    }
    /// As [`Timetable::put`], in a turn that was reserved.
    #[inline]
    pub(super) fn put_in_turn(&mut self, at: Instant, turn: u64, task: Task) {
        let (kind, whom) = match task {
            Task::Step(thread) => (0, thread.0),
            Task::Found(flight) => (1, flight.0),
            Task::Request(flight) => (2, flight.0),
            Task::Answer(flight) => (3, flight.0),
            Task::Arrive(flight) => (4, flight.0),
            Task::Hint(whom) => (5, whom),
            Task::Turn(whom) => (6, whom),
        };
        debug_assert!(whom < 1 << KIND);
        let low = turn << ORDER | kind << KIND | u64::from(whom);
        let key = u128::from(at.as_ps()) << TIME | u128::from(low);
        if matches!(task, Task::Answer(_)) && self.answers.back().is_none_or(|last| *last < key) {
            self.answers.push_back(key);
        } else {
            self.tasks.push(Reverse(key));
        }
    }
    /// The keys of the first answer and of the first of all else, the greatest number where there is none.
    #[inline]
    fn first(&self) -> (u128, u128) {
        let answer = self.answers.front().copied().unwrap_or(u128::MAX);
        (answer, self.tasks.peek().map_or(u128::MAX, |Reverse(key)| *key))
    }
    /// When the next task is due; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        let (answer, other) = self.first();
        Instant::from_ps((answer.min(other) >> TIME) as u64)
    }
    /// The next task, if it is due.
    #[inline]
    pub(super) fn take(&mut self, now: Instant) -> Option<Task> {
        let (answer, other) = self.first();
        let key = answer.min(other);
        if key == u128::MAX || (key >> TIME) as u64 > now.as_ps() {
            return None;
        }
        if answer < other {
            self.answers.pop_front();
        } else {
            self.tasks.pop();
        }
        let whom = (key as u32) & ((1 << KIND) - 1);
        Some(match (key >> KIND) as u32 & 7 {
            0 => Task::Step(ThreadId(whom)),
            1 => Task::Found(FlightId(whom)),
            2 => Task::Request(FlightId(whom)),
            3 => Task::Answer(FlightId(whom)),
            4 => Task::Arrive(FlightId(whom)),
            5 => Task::Hint(whom),
            _ => Task::Turn(whom),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_in_the_order_of_time_and_then_of_asking() {
        let mut timetable = Timetable::new();
        let at = Instant::from_ps;
        let tasks = [
            (9, Task::Hint(1)),
            (5, Task::Arrive(FlightId(7))),
            (5, Task::Step(ThreadId(3))),
            (1, Task::Found(FlightId(2))),
            (5, Task::Request(FlightId(0))),
        ];
        tasks.iter().for_each(|(ps, task)| timetable.put(at(*ps), *task));
        assert_eq!((timetable.next(), timetable.take(at(0))), (at(1), None));
        let order: Vec<_> = std::iter::from_fn(|| timetable.take(at(9))).collect();
        assert_eq!(
            order,
            [
                Task::Found(FlightId(2)),
                Task::Arrive(FlightId(7)),
                Task::Step(ThreadId(3)),
                Task::Request(FlightId(0)),
                Task::Hint(1)
            ]
        );
        assert_eq!(timetable.next(), Instant::NEVER);
    }
}
