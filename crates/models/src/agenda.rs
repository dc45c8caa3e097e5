//! What a device will do later, in the order of time and, at equal times, of asking.
//!
//! The kernel orders the wakes of one instant by their tokens, which are numbers of slots: an accident. A device that
//! must answer in order keeps its own order here, and asks the kernel for one wake at a time.

use crate::wakes::Wakes;
use lanetwin_kernel::Trail;
use lanetwin_ports::Context;
use lanetwin_units::Instant;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Tasks of type `T`, each with the instant at which it is due.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    /// Tasks in the order in which they are due: those that were put down nearly in that order, as most are.
    queue: VecDeque<Task<T>>,
    /// The others.
    tasks: BinaryHeap<Task<T>>,
    asked: u64,
    wakes: Wakes,
}

/// A task goes into the queue if it comes before no more than so many.
const NEAR: usize = 16;

#[derive(Debug)]
struct Task<T> {
    at: Instant,
    number: u64,
    what: T,
    /// How far the request has come that it is a part of.
    trail: Trail,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new(), tasks: BinaryHeap::new(), asked: 0, wakes: Wakes::new() }
    }
    /// How many tasks wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.len() + self.tasks.len()
    }
    /// Puts `what` down for `at`, which is not in the past. It is of the request that is being handled.
    pub(crate) fn put(&mut self, at: Instant, what: T, cx: &mut Context<'_>) {
        let task = Task { at, number: self.asked, what, trail: cx.trail() };
        self.asked += 1;
        match self.place_in_queue(at) {
            Some(place) if place == self.queue.len() => self.queue.push_back(task),
            Some(place) => self.queue.insert(place, task),
            None => self.tasks.push(task),
        }
        self.wakes.ask(at, 0, cx);
    }
    /// Where in the queue a task belongs that is due at `at`; none if it is far from its end.
    fn place_in_queue(&self, at: Instant) -> Option<usize> {
        let len = self.queue.len();
        let mut place = len;
        while place > 0 && self.queue[place - 1].at > at {
            place -= 1;
            if len - place > NEAR {
                return None;
            }
        }
        Some(place)
    }
    /// The next task that is due, whose request is then being handled. To be called, in a wake, until there is none:
    /// then the next wake is asked for.
    #[inline]
    pub(crate) fn take(&mut self, cx: &mut Context<'_>) -> Option<T> {
        let now = cx.now();
        self.wakes.come(now);
        if !self.tasks.is_empty() {
            return self.take_of_both(now, cx);
        }
        let next = self.queue.front()?.at;
        if next > now {
            self.wakes.ask(next, 0, cx);
            return None;
        }
        let task = self.queue.pop_front()?;
        cx.resume(task.trail);
        Some(task.what)
    }
    /// The same where tasks wait in both places.
    #[inline(never)]
    fn take_of_both(&mut self, now: Instant, cx: &mut Context<'_>) -> Option<T> {
        let (next, queued) = match (self.queue.front(), self.tasks.peek()) {
            (None, None) => return None,
            (Some(queued), None) => (queued.at, true),
            (None, Some(other)) => (other.at, false),
            // the greater of two tasks is due first
            (Some(queued), Some(other)) => (queued.at.min(other.at), queued > other),
        };
        if next <= now {
            let task = if queued { self.queue.pop_front() } else { self.tasks.pop() };
            return task.map(|task| {
                cx.resume(task.trail);
                task.what
            });
        }
        self.wakes.ask(next, 0, cx);
        None
    }
}

// A heap gives the greatest first: the task that is due first is the greatest.
impl<T> Ord for Task<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}
impl<T> PartialOrd for Task<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> PartialEq for Task<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T> Eq for Task<T> {}

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
