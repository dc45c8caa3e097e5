//! Requests in progress: a flight for each step that misses the first level, for each prefetch, and for each write.

use super::ids::{CoreId, FlightId, ThreadId};
use lanetwin_kernel::{Begun, Trail};
use lanetwin_units::Instant;

/// Why there is a flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// A thread loads.
    Load,
    /// A thread stores, and needs the rest of the line.
    Store,
    /// A prefetcher.
    Prefetch,
    /// A line goes to memory.
    Write,
}

/// A request in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) cause: Cause,
    /// Whether it is still on a page walk, so that its request is for the translation, not the line.
    pub(super) walking: bool,
    /// Whether its line comes from memory.
    pub(super) from_memory: bool,
    /// Whether memory has been asked and has not yet answered.
    pub(super) at_memory: bool,
    /// Whether its step ends an operation.
    pub(super) ends: bool,
    /// Whether that operation is a SET.
    pub(super) sets: bool,
    pub(super) thread: ThreadId,
    pub(super) core: CoreId,
    /// The line of its step.
    pub(super) line: u64,
    /// The line requested from memory: that line, or the line with the translation.
    pub(super) asked_for: u64,
    /// The number of the load in its thread's window.
    pub(super) number: u64,
    /// Issue time of its step.
    pub(super) issued: Instant,
    /// Begin of the operation of its step.
    pub(super) operation: Instant,
    /// When memory was asked, and when the request arrives there.
    pub(super) asked: Instant,
    pub(super) arrives: Instant,
    /// When its translation is known.
    pub(super) translated: Instant,
    /// Trail of its line, and the number of loads for which it stands; empty if it is not followed.
    pub(super) trail: Trail,
    pub(super) weight: u64,
    pub(super) begun: Begun,
    /// The first of the flights that wait for its request, and the next of the flights that wait with it.
    pub(super) waiters: FlightId,
    pub(super) next: FlightId,
}

impl Flight {
    pub(super) const fn new(
        cause: Cause,
        thread: ThreadId,
        core: CoreId,
        line: u64,
        issued: Instant,
    ) -> Self {
        Self {
            cause,
            walking: false,
            from_memory: false,
            at_memory: false,
            ends: false,
            sets: false,
            thread,
            core,
            line,
            asked_for: line,
            number: 0,
            issued,
            operation: issued,
            asked: issued,
            arrives: issued,
            translated: issued,
            trail: Trail::NONE,
            weight: 0,
            begun: Begun::NONE,
            waiters: FlightId::NONE,
            next: FlightId::NONE,
        }
    }
}

/// Flights by their names.
#[derive(Debug)]
pub(super) struct Flights {
    flights: Vec<Flight>,
    free: Vec<FlightId>,
}

impl Flights {
    pub(super) const fn new() -> Self {
        Self { flights: Vec::new(), free: Vec::new() }
    }
    /// Number of flights.
    pub(super) const fn len(&self) -> usize {
        self.flights.len() - self.free.len()
    }
    #[inline]
    pub(super) fn begin(&mut self, flight: Flight) -> FlightId {
        if let Some(name) = self.free.pop() {
            self.flights[name.index()] = flight;
            return name;
        }
        self.flights.push(flight);
        FlightId((self.flights.len() - 1) as u32)
    }
    #[inline]
    pub(super) fn end(&mut self, name: FlightId) {
        self.free.push(name);
    }
    #[inline]
    pub(super) fn get(&mut self, name: FlightId) -> &mut Flight {
        &mut self.flights[name.index()]
    }
    /// Those that memory has not answered yet.
    pub(super) fn at_memory(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().filter(|flight| flight.at_memory)
    }
    /// Makes a flight wait for the request of another, after those that already do.
    pub(super) fn join(&mut self, waiter: FlightId, other: FlightId) {
        self.get(waiter).next = FlightId::NONE;
        let mut last = self.get(other).waiters;
        if last == FlightId::NONE {
            self.get(other).waiters = waiter;
            return;
        }
        while self.get(last).next != FlightId::NONE {
            last = self.get(last).next;
        }
        self.get(last).next = waiter;
    }
}
