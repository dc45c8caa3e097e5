//! Threads of a DPU that execute commands: their costs and cores.

use super::marking::{COMMAND, COMPLETE, CORE, DATA, POLL};
use lanetwin_kernel::{Report, Supply, SupplyKind};
use lanetwin_ports::{Context, Params, RunQueue};
use lanetwin_units::{Instant, Span};

/// Work of a thread for a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// A command is there.
    Command,
    /// The data of a write are there.
    Data,
    /// The drive has answered.
    Complete,
}

/// Costs of the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    poll: Span,
    command: Span,
    data: Span,
    complete: Span,
}

impl Costs {
    pub(super) fn new(params: &Params) -> Self {
        let of = |what: &str| params.time(&format!("emulation.{what}"));
        Self { poll: of("poll"), command: of("command"), data: of("data"), complete: of("complete") }
    }
}

/// The threads.
#[derive(Debug)]
pub(super) struct Threads {
    costs: Costs,
    /// The core of each.
    cores: Vec<RunQueue>,
    /// The cores, once each.
    distinct: Vec<RunQueue>,
    /// Whether the cores are reported by this device.
    owns_cores: bool,
}

impl Threads {
    /// `count` threads, assigned to these cores round robin, or each to a core of its own if there are none.
    pub(super) fn new(count: u32, costs: Costs, cores: &[RunQueue]) -> Self {
        let core = |thread: usize| match cores {
            [] => RunQueue::new(1),
            cores => cores[thread % cores.len()].clone(),
        };
        let all: Vec<RunQueue> = (0..count.max(1) as usize).map(core).collect();
        let distinct = all.iter().take(if cores.is_empty() { all.len() } else { cores.len() });
        Self { costs, distinct: distinct.cloned().collect(), cores: all, owns_cores: cores.is_empty() }
    }
    /// Number of threads.
    pub(super) fn count(&self) -> u32 {
        self.cores.len() as u32
    }
    /// The thread of a submission queue, by its number.
    pub(super) fn of_queue(&self, queue: u16) -> u32 {
        u32::from(queue.saturating_sub(1)) % self.count()
    }
    /// Gives work for a command of this queue to its thread. Returns when it is done. A thread polls: on average it
    /// finds work half a round later.
    pub(super) fn work(&self, queue: u16, work: Work, cx: &mut Context<'_>) -> Instant {
        let (cost, stage) = match work {
            Work::Command => (self.costs.command, COMMAND),
            Work::Data => (self.costs.data, DATA),
            Work::Complete => (self.costs.complete, COMPLETE),
        };
        // the drive's answer has been found by the thread that hands it on
        let poll = if work == Work::Complete { Span::ZERO } else { self.costs.poll };
        let begun = self.cores[self.of_queue(queue) as usize].serve(cx.now(), cost) + poll;
        cx.mark_until(cx.now() + poll, POLL);
        cx.mark_until(begun, CORE);
        cx.mark_until(begun + cost, stage);
        begun + cost
    }
    /// The time of their cores that has been used so far \[ps\]: by them, and by whoever shares the cores.
    pub(super) fn busy_ps(&self, now: Instant) -> u64 {
        self.distinct.iter().map(|core| core.used(now).in_use_ps as u64).sum()
    }
    /// Reports the cores that no other component reports.
    pub(super) fn report(&self, now: Instant, report: &mut Report) {
        if self.owns_cores {
            let in_use_ps = self.distinct.iter().map(|core| core.used(now).in_use_ps).sum();
            let supply = self.distinct.len() as u64;
            report.supply("cores", Supply { in_use_ps, supply, kind: SupplyKind::Server });
        }
    }
}
