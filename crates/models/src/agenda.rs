//! Future tasks of a device, in the order of time and, at equal times, of insertion.
//!
//! The kernel orders the wakes of one instant by their tokens, which are slot numbers and so arbitrary. A device that
//! must answer in order keeps its own order here, and has one wake pending at the kernel.

use crate::wakes::Wakes;
use lanetwin_kernel::Trail;
use lanetwin_ports::Context;
use lanetwin_units::Instant;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Tasks of type `T`, each with the instant at which it is due.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    /// Tasks that are due soon, in that order.
    near: VecDeque<Entry<T>>,
    /// The others; and when the first of them is due, [`Instant::NEVER`] if there are none.
    far: BinaryHeap<Entry<T>>,
    far_at: Instant,
    asked: u64,
    wakes: Wakes,
}

/// A task: due time, number of insertion, and trail of the request that it belongs to.
#[derive(Debug)]
struct Entry<T> {
    at: Instant,
    number: u64,
    trail: Trail,
    what: T,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        let (near, far) = (VecDeque::new(), BinaryHeap::new());
        Self { near, far, far_at: Instant::NEVER, asked: 0, wakes: Wakes::new() }
    }
    /// Number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }
    /// Adds a task `what` for `at`, which must not be in the past. It belongs to the request that is being handled.
    #[inline]
    pub(crate) fn put(&mut self, at: Instant, what: T, cx: &mut Context<'_>) {
        let entry = Entry { at, number: self.asked, trail: cx.trail(), what };
        self.asked += 1;
        if self.near.back().is_some_and(|last| last.at > at) {
            self.put_between(entry, cx.now());
        } else {
            self.near.push_back(entry);
        }
        self.wakes.ask(at, 0, cx);
    }
    /// The same of one that is due before the last of those that are due soon.
    #[inline(never)]
    fn put_between(&mut self, entry: Entry<T>, now: Instant) {
        let from_now = |at: Instant| at.as_ps().saturating_sub(now.as_ps());
        let reach = FAR.saturating_mul(from_now(entry.at).saturating_add(CLOSE_PS));
        while self.near.back().is_some_and(|last| from_now(last.at) > reach)
            && let Some(last) = self.near.pop_back()
        {
            self.put_far(last);
        }
        match self.place(entry.at) {
            Some(place) => self.near.insert(place, entry),
            None => self.put_far(entry),
        }
    }
    /// The position of a task among those that are due soon, after all others of its time. Returns `None` if it would
    /// precede too many.
    fn place(&self, at: Instant) -> Option<usize> {
        let later = self.near.iter().rev().take(NEAR + 1).take_while(|entry| entry.at > at).count();
        (later <= NEAR).then(|| self.near.len() - later)
    }
    fn put_far(&mut self, entry: Entry<T>) {
        self.far_at = self.far_at.min(entry.at);
        self.far.push(entry);
    }
    /// Takes the next task that is due, and makes its request the one being handled. Must be called in a wake until
    /// it returns `None`, which asks for the next wake.
    #[inline]
    pub(crate) fn take(&mut self, cx: &mut Context<'_>) -> Option<T> {
        let now = cx.now();
        self.wakes.come(now);
        let next = self.near.front().map_or(Instant::NEVER, |next| next.at);
        let entry = if self.far_at <= now && self.far_at <= next {
            self.take_far(next)
        } else if next <= now {
            self.near.pop_front()
        } else {
            let next = next.min(self.far_at);
            if next != Instant::NEVER {
                self.wakes.ask(next, 0, cx);
            }
            return None;
        };
        let Entry { trail, what, .. } = entry?;
        cx.resume(trail);
        Some(what)
    }
    /// Takes the first of the far tasks, unless a near one is due at the same time and was inserted earlier.
    #[inline(never)]
    fn take_far(&mut self, next: Instant) -> Option<Entry<T>> {
        let number = self.far.peek()?.number;
        if next == self.far_at && self.near.front().is_some_and(|near| near.number < number) {
            return self.near.pop_front();
        }
        let first = self.far.pop();
        self.far_at = self.far.peek().map_or(Instant::NEVER, |next| next.at);
        first
    }
}

// A heap gives the greatest first: the task that is due first is the greatest.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl<T> Eq for Entry<T> {}

/// A task is inserted among the near ones if it precedes at most this many.
const NEAR: usize = 16;
/// A task that stands in the way of another is moved to the far ones if it is more than this many times as far in the
/// future as the other, plus [`CLOSE_PS`]: for example a timeout among tasks due in nanoseconds.
const FAR: u64 = 64;
/// Time that keeps tasks due almost at once from moving all others to the far ones \[ps\].
const CLOSE_PS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_kernel::{Component, Port};
    use lanetwin_ports::{Builder, Message};
    use lanetwin_units::Span;
    use std::cell::RefCell;
    use std::rc::Rc;

    type Log = Rc<RefCell<Vec<(u64, u32)>>>;

    /// Puts its tasks down at the start and notes when each is done; task 7 puts down two more.
    struct Busy {
        agenda: Agenda<u32>,
        log: Log,
    }
    impl Component<Message> for Busy {
        fn start(&mut self, cx: &mut Context<'_>) {
            for (ps, task) in [(30, 1), (10, 2), (30, 3), (10, 4), (20, 7)] {
                self.agenda.put(Instant::from_ps(ps), task, cx);
            }
        }
        fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {}
        fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
            while let Some(task) = self.agenda.take(cx) {
                self.log.borrow_mut().push((cx.now().as_ps(), task));
                if task == 7 {
                    self.agenda.put(cx.now(), 8, cx);
                    self.agenda.put(cx.now() + Span::from_ps(5), 9, cx);
                }
            }
        }
    }

    /// Puts down many tasks, in bursts, near and far.
    struct Many {
        agenda: Agenda<(u64, u32)>,
        random: lanetwin_kernel::Stream,
        left: u32,
        last: (u64, u32),
        done: Rc<RefCell<u32>>,
    }
    impl Many {
        fn put(&mut self, cx: &mut Context<'_>) {
            let reach = [3, 100, 5000][self.random.below(3) as usize];
            for _ in 0..self.random.below(4).min(self.left.into()) {
                self.left -= 1;
                let at = cx.now() + Span::from_ps(self.random.below(reach));
                self.agenda.put(at, (at.as_ps(), self.left), cx);
            }
        }
    }
    impl Component<Message> for Many {
        fn start(&mut self, cx: &mut Context<'_>) {
            (0..40).for_each(|_| self.put(cx));
        }
        fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {}
        fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
            while let Some((at, left)) = self.agenda.take(cx) {
                assert_eq!(at, cx.now().as_ps());
                assert!(
                    at > self.last.0 || left < self.last.1,
                    "of two at one time the one put down first comes first"
                );
                self.last = (at, left);
                *self.done.borrow_mut() += 1;
                self.put(cx);
            }
        }
    }

    #[test]
    fn every_task_is_done_in_its_turn_wherever_it_waits() {
        let done = Rc::default();
        let random = lanetwin_kernel::Stream::new(1, "agenda", "tasks");
        let many =
            Many { agenda: Agenda::new(), random, left: 2000, last: (0, u32::MAX), done: Rc::clone(&done) };
        let mut builder = Builder::new();
        builder.add("many", Box::new(many));
        builder.seal().run_until(Instant::NEVER);
        assert_eq!(*done.borrow(), 2000);
    }

    #[test]
    fn tasks_are_done_in_the_order_of_time_and_then_of_asking() {
        let log = Log::default();
        let mut builder = Builder::new();
        builder.add("busy", Box::new(Busy { agenda: Agenda::new(), log: log.clone() }));
        let mut kernel = builder.seal();
        kernel.run_until(Instant::NEVER);
        assert_eq!(*log.borrow(), [(10, 2), (10, 4), (20, 7), (20, 8), (25, 9), (30, 1), (30, 3)]);
        assert_eq!(kernel.events(), 5, "one wake an instant, and one for the task that is due at once");
    }
}
