//! Tasks on all cores that can add further tasks, with progress reports in the thread of the caller.
//!
//! Runs of worlds have thread pools of their own. In such a pool a thread that waits for another one takes the next
//! task meanwhile, so that tasks nest, and many worlds are in memory at once. Here each thread has one task at a time.

use std::ops::ControlFlow;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The outcome of a task: its results, and further tasks.
pub(crate) struct Done<T, R> {
    pub(crate) results: Vec<R>,
    pub(crate) more: Vec<T>,
}

struct Queue<T> {
    waiting: Vec<T>,
    /// Number of tasks in progress.
    busy: usize,
    is_over: bool,
}

struct WorkPool<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

impl<T> WorkPool<T> {
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn end(&self) {
        self.queue().is_over = true;
        self.changed.notify_all();
    }
    /// Waits for the next task. The newest comes first, so that few tasks wait. `None` when all are done, or at the
    /// end.
    fn next(&self) -> Option<T> {
        let mut queue = self.queue();
        loop {
            if queue.is_over || queue.waiting.is_empty() && queue.busy == 0 {
                return None;
            }
            if let Some(task) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(task);
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
    fn work<R>(&self, each: &(dyn Fn(T) -> Done<T, R> + Sync), results: &Sender<R>) {
        while let Some(task) = self.next() {
            let alarm = EndOnPanic(self);
            let done = each(task);
            std::mem::forget(alarm);
            for result in done.results {
                // sending fails only after the caller has ended the work
                drop(results.send(result));
            }
            let mut queue = self.queue();
            queue.waiting.extend(done.more.into_iter().rev());
            queue.busy -= 1;
            drop(queue);
            self.changed.notify_all();
        }
    }
}

/// Ends the other threads if a task panics; they would wait forever for the tasks that it may add.
struct EndOnPanic<'a, T>(&'a WorkPool<T>);
impl<T> Drop for EndOnPanic<'_, T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Does all tasks and those that they add. `told` gets each result in the thread of the caller, in no particular order.
/// If it breaks, tasks in progress are finished, no others are begun, and the result is `None`.
///
/// # Panics
/// If a task panics.
pub(crate) fn work<T: Send, R: Send>(
    tasks: Vec<T>,
    each: &(dyn Fn(T) -> Done<T, R> + Sync),
    told: &mut dyn FnMut(R) -> ControlFlow<()>,
) -> Option<()> {
    let queue = Queue { waiting: tasks.into_iter().rev().collect(), busy: 0, is_over: false };
    let work_pool = WorkPool { queue: Mutex::new(queue), changed: Condvar::new() };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (sender, results) = channel();
        for _ in 0..cores {
            let sender = sender.clone();
            let work_pool = &work_pool;
            scope.spawn(move || work_pool.work(each, &sender));
        }
        drop(sender);
        for result in results {
            if told(result).is_break() {
                work_pool.end();
                return None;
            }
        }
        Some(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// A task adds two tasks of half its size, down to size 1.
    fn halves(size: usize) -> Done<usize, usize> {
        match size {
            1 => Done { results: vec![1], more: Vec::new() },
            size => Done { results: Vec::new(), more: vec![size / 2, size - size / 2] },
        }
    }

    #[test]
    fn what_is_found_is_done() {
        let mut sum = 0;
        let all = work(vec![37, 5], &halves, &mut |one| {
            sum += one;
            ControlFlow::Continue(())
        });
        assert_eq!((all, sum), (Some(()), 42));
    }

    #[test]
    fn nothing_is_begun_after_a_break() {
        let begun = AtomicUsize::new(0);
        let each = |size| {
            begun.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
            halves(size)
        };
        let found = work(vec![1; 10_000], &each, &mut |_| ControlFlow::Break(()));
        assert_eq!(found, None);
        assert!(begun.into_inner() < 10_000);
    }

    #[test]
    fn a_task_that_panics_is_heard_of_and_nobody_waits_for_it() {
        let each = |_: usize| -> Done<usize, usize> { panic!("a world breaks") };
        let caught =
            std::panic::catch_unwind(|| work(vec![1, 2, 3], &each, &mut |_| ControlFlow::Continue(())));
        assert!(caught.is_err());
    }
}
