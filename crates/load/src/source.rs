//! Where the operations of a load come from.

use crate::addresses::Operations;
use crate::fio::{Gate, Io, JobWorkload, Stream};
use crate::iometer::access::{AccessWorkload, Accesses};
use crate::workload::Workload;
use lanetwin_ports::Transfer;
use lanetwin_units::{Instant, Span};

/// What is asked for, one operation after the other.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// By a [`Workload`].
    Mix(Operations),
    /// By an access specification of Iometer.
    Accesses(Box<Bursts>),
    /// By a job of fio.
    Job(Box<Jobs>),
}

/// The I/Os of a clone of a job, and where they go.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    stream: Stream,
    logical_unit: u16,
}

/// The accesses of a worker, counted.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    accesses: Accesses,
    made: u64,
    count: Option<u64>,
    logical_unit: u16,
}

impl Source {
    pub(crate) fn mix(workload: Workload, seed: u64, path: &str) -> Self {
        Self::Mix(Operations::new(workload, seed, path))
    }
    pub(crate) fn accesses(workload: AccessWorkload, seed: u64, path: &str) -> Self {
        let AccessWorkload { lines, region, outstanding: _, count } = workload;
        let accesses = Accesses::new(lines, &[region], seed, path);
        Self::Accesses(Box::new(Bursts { accesses, made: 0, count, logical_unit: 0 }))
    }
    pub(crate) fn job(workload: JobWorkload, seed: u64, path: &str) -> Self {
        Self::Job(Box::new(Jobs { stream: Stream::new(workload, seed, path), logical_unit: 0 }))
    }
    /// Operations go to this unit of the device.
    pub(crate) fn go_to(&mut self, unit: u16) {
        match self {
            Self::Mix(operations) => operations.logical_unit = unit,
            Self::Accesses(bursts) => bursts.logical_unit = unit,
            Self::Job(jobs) => jobs.logical_unit = unit,
        }
    }
    /// When the next operation may be asked for, with so many outstanding. A pause is told once: the next call says
    /// that it is over.
    pub(crate) fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        match self {
            Self::Mix(_) => Gate::Open,
            Self::Accesses(bursts) if bursts.is_over() => Gate::Open,
            Self::Accesses(bursts) => match bursts.accesses.pause() {
                Span::ZERO => Gate::Open,
                pause => Gate::After(pause),
            },
            Self::Job(jobs) => jobs.stream.gate(now, outstanding),
        }
    }
    /// Takes note that an operation was answered after `latency`.
    pub(crate) fn answered(&mut self, latency: Span, now: Instant) {
        if let Self::Job(jobs) = self {
            jobs.stream.answered(latency, now);
        }
    }
    /// The next operation, under this handle; none if all have been made.
    pub(crate) fn next(&mut self, handle: u32, now: Instant) -> Option<Transfer> {
        match self {
            Self::Mix(operations) => operations.next(handle),
            Self::Accesses(bursts) if bursts.is_over() => None,
            Self::Accesses(bursts) => {
                bursts.made += 1;
                let access = bursts.accesses.next(0);
                let (operation, bytes, address) = (access.operation, access.bytes, access.address);
                Some(Transfer { operation, bytes, handle, unit: bursts.logical_unit, address })
            }
            Self::Job(jobs) => {
                let Io { operation, offset, bytes } = jobs.stream.next(now)?;
                Some(Transfer { operation, bytes, handle, unit: jobs.logical_unit, address: offset })
            }
        }
    }
    /// How many have been made.
    pub(crate) const fn made(&self) -> u64 {
        match self {
            Self::Mix(operations) => operations.made(),
            Self::Accesses(bursts) => bursts.made,
            Self::Job(jobs) => jobs.stream.made(),
        }
    }
}

impl Bursts {
    fn is_over(&self) -> bool {
        self.count.is_some_and(|count| self.made >= count)
    }
}
