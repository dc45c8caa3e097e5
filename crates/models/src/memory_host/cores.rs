//! Cores and their threads: requests in flight, and what threads wait for.

use super::cache::Cache;
use super::ids::{CoreId, FlightId, ThreadId};
use super::params::Rules;
use super::prefetch::Prefetcher;
use super::stored::Stored;
use super::translation::Translations;
use lanetwin_load::memory::{Step, Touch};
use lanetwin_units::{Instant, mix};
use std::collections::VecDeque;

/// A core.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) socket: u32,
    /// Number of its threads.
    pub(super) threads: u32,
    /// Index of its second-level cache.
    pub(super) l2: usize,
    pub(super) l1: Cache,
    /// `None` if every translation is available at once.
    pub(super) translations: Option<Translations>,
    pub(super) prefetcher: Prefetcher,
    /// Places that are free: fill buffers, write buffers, prefetches.
    pub(super) misses: u32,
    pub(super) writes: u32,
    pub(super) prefetches: u32,
    pub(super) pending: Pending,
    /// Write-backs that wait for a write buffer, with the thread that caused each. While there are any, the core
    /// makes no further requests.
    pub(super) owed: VecDeque<(u64, ThreadId)>,
    /// Threads that wait for a place, first come first served.
    pub(super) blocked: VecDeque<ThreadId>,
}

/// Lines requested by a core, with their flights; few, and so searched linearly.
#[derive(Debug)]
pub(super) struct Pending {
    lines: Vec<u64>,
    flights: Vec<FlightId>,
}

impl Pending {
    #[inline]
    pub(super) fn find(&self, line: u64) -> Option<FlightId> {
        self.lines.iter().position(|pending| *pending == line).map(|at| self.flights[at])
    }
    #[inline]
    pub(super) fn add(&mut self, line: u64, flight: FlightId) {
        self.lines.push(line);
        self.flights.push(flight);
    }
    #[inline]
    pub(super) fn remove(&mut self, flight: FlightId) {
        if let Some(at) = self.flights.iter().position(|pending| *pending == flight) {
            self.lines.swap_remove(at);
            self.flights.swap_remove(at);
        }
    }
}

impl Core {
    /// The places for lines on their way to memory: fill buffers, if there are no write buffers.
    #[inline]
    pub(super) const fn write_places(&mut self, rules: &Rules) -> &mut u32 {
        if rules.writes == 0 { &mut self.misses } else { &mut self.writes }
    }
    /// Whether a step that misses the first level can be taken.
    #[inline]
    pub(super) fn has_place(&mut self, touch: Touch, rules: &Rules) -> bool {
        let places = if touch == Touch::Stream { *self.write_places(rules) } else { self.misses };
        places > 0 && self.owed.is_empty()
    }
    pub(super) fn new(CoreId(number): CoreId, rules: &Rules, seed: u64) -> Self {
        let seed = mix(seed ^ u64::from(number));
        Self {
            socket: number / rules.cores,
            threads: 0,
            l2: (number / rules.sharing) as usize,
            l1: Cache::new(rules.l1, seed),
            translations: rules.translation.as_ref().map(|rules| Translations::new(rules, seed)),
            prefetcher: Prefetcher::new(rules),
            misses: rules.misses,
            writes: rules.writes,
            prefetches: rules.prefetches,
            pending: Pending { lines: Vec::new(), flights: Vec::new() },
            owed: VecDeque::new(),
            blocked: VecDeque::new(),
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waits {
    /// Nothing.
    Nothing,
    /// The time when its next step is due.
    Time,
    /// The data of its last load.
    Data,
    /// Its oldest load without data.
    Window,
    /// A place of its core.
    Place,
    /// Its turn on its core.
    Core,
    /// It has ended.
    Ended,
}

/// When the data of a thread's last load are available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Data {
    /// At this instant.
    At(Instant),
    /// At the end of this flight.
    With(FlightId),
}

/// A thread of a program, on its core.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) program: u32,
    /// Its number in the program.
    pub(super) number: u32,
    pub(super) core: CoreId,
    /// Its hardware thread.
    pub(super) cpu: u32,
    /// When it is scheduled on its hardware thread; [`Instant::NEVER`] while others are.
    pub(super) runs: Instant,
    /// When it was descheduled last.
    pub(super) left: Instant,
    pub(super) waits: Waits,
    /// The step that comes next, and when it is due.
    pub(super) next: Option<Step>,
    pub(super) due: Instant,
    /// Its turn among the steps that are due at the same time, if it waits for a place before its own is.
    pub(super) turn: Option<u64>,
    /// Issue time of the previous step.
    pub(super) issued: Instant,
    pub(super) data: Data,
    pub(super) window: Window,
    /// Begin of its current operation.
    pub(super) operation: Option<Instant>,
    /// The last page that it touched: its number, and the place of its first line.
    pub(super) page: (u64, u64),
    /// Lines stored to, for a thread that is known never to hit.
    pub(super) stored: Stored,
    /// Steps taken.
    pub(super) steps: u64,
    /// The page about which devices were last given a hint.
    pub(super) advised: u64,
}

impl Thread {
    pub(super) fn new(
        program: u32,
        number: u32,
        (cpu, core): (u32, CoreId),
        in_turn: bool,
        seed: u64,
    ) -> Self {
        Self {
            program,
            number,
            core,
            cpu,
            runs: if in_turn { Instant::NEVER } else { Instant::ZERO },
            left: Instant::ZERO,
            waits: Waits::Nothing,
            next: None,
            due: Instant::ZERO,
            turn: None,
            issued: Instant::ZERO,
            data: Data::At(Instant::ZERO),
            window: Window::default(),
            operation: None,
            page: (u64::MAX, 0),
            stored: Stored::new(seed),
            steps: 0,
            advised: u64::MAX,
        }
    }
}

/// Which of the last 128 loads of a thread have no data yet: a reorder buffer that contains only loads.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Window {
    /// The oldest load that is without data, or the next.
    oldest: u64,
    /// Number of loads issued.
    issued: u64,
    /// Bit i: load `oldest + i` is without data.
    open: u128,
}

impl Window {
    /// Whether another step can be taken.
    #[inline]
    pub(super) const fn has_room(&self, size: u32) -> bool {
        self.issued - self.oldest < size as u64
    }
    /// A load that has its data at once, or soon enough.
    #[inline]
    pub(super) const fn pass(&mut self) {
        self.issued += 1;
        self.retire();
    }
    /// A load without data; its number.
    #[inline]
    pub(super) const fn open(&mut self) -> u64 {
        let number = self.issued;
        self.open |= 1 << (number - self.oldest);
        self.issued += 1;
        number
    }
    /// A load has its data.
    #[inline]
    pub(super) const fn close(&mut self, number: u64) {
        self.open &= !(1 << (number - self.oldest));
        // behind an older one it only has to wait
        if number == self.oldest {
            self.retire();
        }
    }
    const fn retire(&mut self) {
        let issued = self.issued - self.oldest;
        let done = self.open.trailing_zeros() as u64;
        let done = if done < issued { done } else { issued };
        self.open = if done < 128 { self.open >> done } else { 0 };
        self.oldest += done;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of the loads that are without data.
        #[test]
        fn a_window_is_as_long_as_from_the_oldest_open_load(steps in prop::collection::vec((0..3_u8, any::<prop::sample::Index>()), 1..600)) {
            let mut window = Window::default();
            let (mut open, mut issued): (Vec<u64>, u64) = (Vec::new(), 0);
            for (what, which) in steps {
                let oldest = open.iter().min().copied().unwrap_or(issued);
                prop_assert_eq!(window.has_room(100), issued - oldest < 100);
                if what == 0 && !open.is_empty() {
                    window.close(open.swap_remove(which.index(open.len())));
                } else if issued - oldest < 100 {
                    if what == 1 { window.pass() } else { open.push(window.open()) }
                    issued += 1;
                }
            }
        }
    }
}
