//! Where the operations of a load come from.

use crate::addresses::Operations;
use crate::iometer::access::{AccessWorkload, Accesses};
use crate::workload::Workload;
use lanetwin_ports::Transfer;
use lanetwin_units::Span;

/// What is asked for, one operation after the other.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// By a [`Workload`].
    Mix(Operations),
    /// By an access specification of Iometer.
    Accesses(Box<Bursts>),
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
    /// Operations go to this unit of the device.
    pub(crate) fn go_to(&mut self, unit: u16) {
        match self {
            Self::Mix(operations) => operations.logical_unit = unit,
            Self::Accesses(bursts) => bursts.logical_unit = unit,
        }
    }
    /// How long nothing may be asked for before the next operation. It is told once: the next call says zero.
    pub(crate) fn pause(&mut self) -> Span {
        match self {
            Self::Mix(_) => Span::ZERO,
            Self::Accesses(bursts) => {
                if bursts.is_over() {
                    Span::ZERO
                } else {
                    bursts.accesses.pause()
                }
            }
        }
    }
    /// The next operation, under this handle; none if all have been made.
    pub(crate) fn next(&mut self, handle: u32) -> Option<Transfer> {
        match self {
            Self::Mix(operations) => operations.next(handle),
            Self::Accesses(bursts) if bursts.is_over() => None,
            Self::Accesses(bursts) => {
                bursts.made += 1;
                let access = bursts.accesses.next(0);
                let (operation, bytes, address) = (access.operation, access.bytes, access.address);
                Some(Transfer { operation, bytes, handle, unit: bursts.logical_unit, address })
            }
        }
    }
    /// How many have been made.
    pub(crate) const fn made(&self) -> u64 {
        match self {
            Self::Mix(operations) => operations.made(),
            Self::Accesses(bursts) => bursts.made,
        }
    }
}

impl Bursts {
    fn is_over(&self) -> bool {
        self.count.is_some_and(|count| self.made >= count)
    }
}
