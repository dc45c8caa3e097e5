//! What a device will do later, in the order of time and, at equal times, of asking.
//!
//! The kernel orders the wakes of one instant by their tokens, which are numbers of slots: an accident. A device that
//! must answer in order keeps its own order here, and asks the kernel for one wake at a time.

use crate::slab::Slab;
use crate::wakes::Wakes;
use lanetwin_kernel::Trail;
use lanetwin_ports::Context;
use lanetwin_units::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Tasks of type `T`, each with the instant at which it is due.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    /// What is due soon, in that order.
    near: Row,
    /// The others; and when the first of them is due, [`Instant::NEVER`] if there are none.
    far: BinaryHeap<Key>,
    far_at: Instant,
    /// What they are, and how far the requests have come that they are parts of.
    tasks: Slab<(T, Trail)>,
    asked: u64,
    wakes: Wakes,
}

/// When a task is due, the number by which it was asked for, and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key {
    at: Instant,
    number: u64,
    task: u32,
}

impl Key {
    /// In a place of a row that holds nothing.
    const NONE: Self = Self { at: Instant::NEVER, number: 0, task: 0 };
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        let (near, far) = (Row::new(), BinaryHeap::new());
        Self { near, far, far_at: Instant::NEVER, tasks: Slab::new(), asked: 0, wakes: Wakes::new() }
    }
    /// How many tasks wait.
    pub(crate) fn len(&self) -> usize {
        self.near.len + self.far.len()
    }
    /// Puts `what` down for `at`, which is not in the past. It is of the request that is being handled.
    pub(crate) fn put(&mut self, at: Instant, what: T, cx: &mut Context<'_>) {
        let task = self.tasks.put((what, cx.trail()));
        let key = Key { at, number: self.asked, task };
        self.asked += 1;
        if self.near.last().is_some_and(|last| last.at > at) {
            self.put_between(key, cx.now());
        } else {
            self.near.push(key);
        }
        self.wakes.ask(at, 0, cx);
    }
    /// The same of one that is due before the last of those that are due soon.
    fn put_between(&mut self, key: Key, now: Instant) {
        let from_now = |at: Instant| at.as_ps().saturating_sub(now.as_ps());
        let reach = FAR.saturating_mul(from_now(key.at).saturating_add(CLOSE_PS));
        while let Some(last) = self.near.last().filter(|last| from_now(last.at) > reach) {
            self.near.pop_last();
            self.put_far(last);
        }
        if !self.near.insert(key) {
            self.put_far(key);
        }
    }
    fn put_far(&mut self, key: Key) {
        self.far.push(key);
        self.far_at = self.far_at.min(key.at);
    }
    /// The next task that is due, whose request is then being handled. To be called, in a wake, until there is none:
    /// then the next wake is asked for.
    #[inline]
    pub(crate) fn take(&mut self, cx: &mut Context<'_>) -> Option<T> {
        let now = cx.now();
        self.wakes.come(now);
        let next = self.near.first().map_or(Instant::NEVER, |next| next.at);
        let task = if self.far_at <= now && self.far_at <= next {
            self.take_far(next)
        } else if next <= now {
            self.near.pop_first()
        } else {
            let next = next.min(self.far_at);
            if next != Instant::NEVER {
                self.wakes.ask(next, 0, cx);
            }
            return None;
        };
        let (what, trail) = self.tasks.take(task?.task)?;
        cx.resume(trail);
        Some(what)
    }
    /// The first of those that are far from the end of the row, unless one in the row is due at the same time and was
    /// asked for before.
    #[inline(never)]
    fn take_far(&mut self, next: Instant) -> Option<Key> {
        let number = self.far.peek()?.number;
        if next == self.far_at && self.near.first().is_some_and(|near| near.number < number) {
            return self.near.pop_first();
        }
        let first = self.far.pop();
        self.far_at = self.far.peek().map_or(Instant::NEVER, |next| next.at);
        first
    }
}

// A heap gives the greatest first: the task that is due first is the greatest.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A task is put into the row if it comes before no more than so many.
const NEAR: usize = 16;
/// One that stands in the way of another leaves the row if it is so many times as far off, and what is less far off
/// than this counts as much \[ps\]: a time limit, among what is done in nanoseconds.
const FAR: u64 = 64;
const CLOSE_PS: u64 = 10_000;

/// Keys in the order in which they are due: a ring, whose size is a power of two.
#[derive(Debug)]
struct Row {
    keys: Vec<Key>,
    first: usize,
    len: usize,
}

impl Row {
    fn new() -> Self {
        Self { keys: vec![Key::NONE; 8], first: 0, len: 0 }
    }
    #[inline]
    fn place(&self, number: usize) -> usize {
        self.first.wrapping_add(number) & (self.keys.len() - 1)
    }
    #[inline]
    fn first(&self) -> Option<Key> {
        (self.len > 0).then(|| self.keys[self.place(0)])
    }
    #[inline]
    fn last(&self) -> Option<Key> {
        (self.len > 0).then(|| self.keys[self.place(self.len - 1)])
    }
    #[inline]
    fn push(&mut self, key: Key) {
        if self.len == self.keys.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.keys[place] = key;
        self.len += 1;
    }
    #[inline]
    fn pop_first(&mut self) -> Option<Key> {
        let key = self.first()?;
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
        Some(key)
    }
    fn pop_last(&mut self) {
        self.len = self.len.saturating_sub(1);
    }
    /// Puts a key in behind those that are due at its time; false if it would come before too many.
    fn insert(&mut self, key: Key) -> bool {
        let mut number = self.len;
        while number > 0 && self.keys[self.place(number - 1)].at > key.at {
            number -= 1;
            if self.len - number > NEAR {
                return false;
            }
        }
        self.push(key);
        for later in (number + 1..self.len).rev() {
            let (place, before) = (self.place(later), self.place(later - 1));
            self.keys[place] = self.keys[before];
        }
        let place = self.place(number);
        self.keys[place] = key;
        true
    }
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut keys: Vec<Key> = (0..self.len).map(|number| self.keys[self.place(number)]).collect();
        keys.resize(2 * self.len, Key::NONE);
        (self.keys, self.first) = (keys, 0);
    }
}

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
