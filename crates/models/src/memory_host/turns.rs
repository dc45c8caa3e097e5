//! Threads that share a hardware thread in slices of CPU time.
//!
//! ```text
//!  hardware thread 0   thread 0 │ thread 8 │ driver │ thread 0 │ …        a slice each, what has waited for longest next
//! ```
//!
//! A thread keeps its hardware thread while its loads are in progress, since no operating system notices that it
//! waits. At the end of its slice it goes to the end of the queue, and the next thread asks the [`RunQueue`] for a
//! slice, where other software of the host may be ahead of it. Answers from memory also arrive while a thread is
//! descheduled; the computing time left of its step continues in its next slice. A thread that ends leaves the rest
//! of its slice to the next.

use super::cores::{Thread, Waits};
use super::ids::ThreadId;
use super::params::Rules;
use super::timetable::{Task, Timetable};
use lanetwin_kernel::{Report, Supply, SupplyKind};
use lanetwin_ports::RunQueue;
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

/// The hardware threads with several threads.
#[derive(Debug)]
pub(super) struct Turns {
    slice: Span,
    /// Empty if all threads run simultaneously.
    cpus: Vec<Cpu>,
}

/// The threads of a host, and its future actions.
pub(super) struct OfHost<'a> {
    pub(super) threads: &'a mut [Thread],
    pub(super) timetable: &'a mut Timetable,
}

/// A hardware thread.
#[derive(Debug)]
struct Cpu {
    queue: RunQueue,
    /// Number of threads scheduled on it.
    threads: u32,
    running: Option<ThreadId>,
    /// Threads that wait for their turn, first come first served.
    ready: VecDeque<ThreadId>,
}

impl Turns {
    /// The first hardware threads of the cores are those that the host shares with its other software.
    pub(super) fn new(rules: &Rules, shared: &[RunQueue]) -> Self {
        let cpus = if rules.slice > Span::ZERO { rules.cpus() } else { 0 };
        let queue = |cpu: u32| shared.get(cpu as usize).cloned().unwrap_or_else(|| RunQueue::new(1));
        let cpu = |cpu| Cpu { queue: queue(cpu), threads: 0, running: None, ready: VecDeque::new() };
        Self { slice: rules.slice, cpus: (0..cpus).map(cpu).collect() }
    }
    /// Adds a thread to those of a hardware thread; whether they take turns.
    pub(super) fn add(&mut self, cpu: u32, thread: ThreadId) -> bool {
        let Some(cpu) = self.cpus.get_mut(cpu as usize) else { return false };
        cpu.threads += 1;
        cpu.ready.push_back(thread);
        true
    }
    /// Tells how much has been used of the hardware threads that several threads share.
    pub(super) fn report(&self, cores: u32, now: Instant, report: &mut Report) {
        let name = |cpu: u32| match cpu / cores {
            0 => format!("core {cpu}"),
            more => format!("core {}, hardware thread {more}", cpu % cores),
        };
        let shared: Vec<(u32, Supply)> = (0..)
            .zip(&self.cpus)
            .filter(|(_, cpu)| cpu.threads > 1)
            .map(|(nth, cpu)| (nth, cpu.queue.used(now)))
            .collect();
        shared.iter().for_each(|(nth, used)| report.supply(name(*nth), *used));
        if !shared.is_empty() {
            let in_use_ps = shared.iter().map(|(_, used)| used.in_use_ps).sum();
            report
                .supply("cores", Supply { in_use_ps, supply: shared.len() as u64, kind: SupplyKind::Server });
        }
    }
}

impl Turns {
    /// Gives each hardware thread to the first of its threads.
    pub(super) fn begin(&mut self, now: Instant, host: OfHost<'_>) {
        let OfHost { threads, timetable } = host;
        for cpu in 0..self.cpus.len() as u32 {
            self.next(cpu, now, OfHost { threads, timetable });
        }
    }

    /// Ends the slice of a hardware thread's current thread; the next one asks for a slice.
    pub(super) fn next(&mut self, number: u32, now: Instant, host: OfHost<'_>) {
        let OfHost { threads, timetable } = host;
        let cpu = &mut self.cpus[number as usize];
        if let Some(off) = cpu.running.take() {
            let thread = &mut threads[off.index()];
            (thread.runs, thread.left) = (Instant::NEVER, now);
            cpu.ready.push_back(off);
        }
        let Some(next) = cpu.ready.pop_front() else { return };
        cpu.running = Some(next);
        let from = cpu.queue.serve(now, self.slice);
        timetable.put(from + self.slice, Task::Turn(number));
        put_on(next, from, OfHost { threads, timetable });
    }

    /// A thread has ended: the next has the rest of its slice.
    pub(super) fn leave(&mut self, t: ThreadId, now: Instant, host: OfHost<'_>) {
        let thread = &host.threads[t.index()];
        let from = now.max(thread.runs);
        let Some(cpu) = self.cpus.get_mut(thread.cpu as usize) else { return };
        if cpu.running != Some(t) {
            cpu.ready.retain(|other| *other != t);
            return;
        }
        cpu.running = cpu.ready.pop_front();
        if let Some(next) = cpu.running {
            put_on(next, from, host);
        }
    }
}

/// A thread has its hardware thread from `from` on.
fn put_on(t: ThreadId, from: Instant, host: OfHost<'_>) {
    let thread = &mut host.threads[t.index()];
    thread.runs = from;
    if thread.due > thread.left {
        thread.due += from.since(thread.left);
    }
    if thread.waits == Waits::Core {
        thread.waits = Waits::Time;
        host.timetable.put(from.max(thread.due), Task::Step(t));
    }
}
