//! The requests of access specifications of Iometer and of jobs of fio, as a load asks for them.

use crate::fio::{Io, Stream};
use crate::iometer::access::{AccessWorkload, Accesses};
use crate::requests::{Gate, Request, Requests};
use lanetwin_units::{Instant, Span};

/// The accesses of a worker, counted.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    accesses: Accesses,
    made: u64,
    count: Option<u64>,
}

impl Bursts {
    pub(crate) fn new(workload: AccessWorkload, seed: u64, path: &str) -> Self {
        let AccessWorkload { lines, region, outstanding: _, count } = workload;
        Self { accesses: Accesses::new(lines, &[region], seed, path), made: 0, count }
    }
    fn is_over(&self) -> bool {
        self.count.is_some_and(|count| self.made >= count)
    }
}

impl Requests for Bursts {
    fn gate(&mut self, _: Instant, _: u64) -> Gate {
        if self.is_over() {
            return Gate::Open;
        }
        match self.accesses.pause() {
            Span::ZERO => Gate::Open,
            pause => Gate::After(pause),
        }
    }
    fn next(&mut self, _: Instant) -> Option<Request> {
        if self.is_over() {
            return None;
        }
        self.made += 1;
        let access = self.accesses.next(0);
        Some(Request { operation: access.operation, address: access.address, bytes: access.bytes })
    }
    fn made(&self) -> u64 {
        self.made
    }
}

impl Requests for Stream {
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        Self::gate(self, now, outstanding)
    }
    fn next(&mut self, now: Instant) -> Option<Request> {
        let Io { operation, offset, bytes } = Self::next(self, now)?;
        Some(Request { operation, address: offset, bytes })
    }
    fn made(&self) -> u64 {
        Self::made(self)
    }
    fn answered(&mut self, latency: Span, now: Instant) {
        Self::answered(self, latency, now);
    }
}
