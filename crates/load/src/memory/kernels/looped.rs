//! An application as a sequence of parallel loops, which are divided among threads as in OpenMP.
//!
//! ```text
//!  prologue │ body │ body │ … │ epilogue        each a list of parallel loops
//!           └──┬───┘
//!   loop ──► trips ──► static chunks ──► thread ──► walks and steps of its trips, one trip after the other
//! ```
//!
//! **Not modelled:** barriers. A thread that has finished its chunk of a loop begins the next loop at once. Chunks
//! differ by at most one trip, so threads with equally fast memory stay together. Reductions, calls and the sequential
//! parts between loops touch few lines and are left out.

use super::walk::LINE;
use super::walk::Walk;
use super::window::{Place, Window, places};
use crate::memory::{Program, Step, Touch};
use lanetwin_units::Span;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::Range;

/// The loops of an application.
pub(super) trait Loops: Debug {
    /// Identifies a loop.
    type Loop: Copy + Debug;
    /// State of a thread between the trips of a loop.
    type Scratch: Debug + Default;
    /// Number of trips of a parallel loop, all threads together.
    fn trips(&self, of: Self::Loop) -> u64;
    /// Approximate number of lines that a trip touches; used only to place samples.
    fn weight(&self, of: Self::Loop) -> u64;
    /// Writes one or more of the first of `trips`, which are the rest of a thread's chunk, to the tape. Returns their
    /// number. `first` is true if the thread did not do the trip before these.
    fn write(&self, of: Self::Loop, trips: Range<u64>, first: bool, tape: &mut Tape<Self::Scratch>) -> u64;
    /// Number of steps of each thread that fill caches with what the loops before a sample leave there.
    fn warm_up(&self, _threads: u32) -> u64 {
        0
    }
    /// The address and the access of such a step.
    fn warm(&self, _step: u64, _thread: u32, _threads: u32) -> (u64, Touch) {
        unreachable!("there is no step to warm up with")
    }
}

/// The next steps of a thread.
#[derive(Debug, Default)]
pub(super) struct Tape<S> {
    /// Innermost loops, which follow the steps.
    pub(super) walks: VecDeque<Walk>,
    /// Single steps, before all loops.
    pub(super) steps: Vec<Step>,
    /// Computing time after the last of `steps` \[ps\].
    pub(super) trailing_ps: u64,
    /// Computing time since the last step \[ps\], which is added to that of the next one.
    unpaid_ps: u64,
    /// The application's state.
    pub(super) scratch: S,
    played: usize,
}

impl<S> Tape<S> {
    fn next(&mut self) -> Option<Step> {
        if let Some(step) = self.steps.get(self.played) {
            self.played += 1;
            return Some(self.paid(*step));
        }
        self.unpaid_ps += std::mem::take(&mut self.trailing_ps);
        while let Some(walk) = self.walks.front_mut() {
            if let Some(step) = walk.next() {
                return Some(self.paid(step));
            }
            self.unpaid_ps += walk.unpaid_ps();
            self.walks.pop_front();
        }
        None
    }
    /// Adds the computing time since the last step.
    fn paid(&mut self, step: Step) -> Step {
        let left = std::mem::take(&mut self.unpaid_ps);
        Step { think: Span::from_ps(step.think.as_ps() + left), ..step }
    }
    fn clear(&mut self) {
        self.walks.clear();
        self.steps.clear();
        self.played = 0;
    }
}

/// All loops of a run.
#[derive(Clone, Debug)]
pub(super) struct Schedule<L> {
    /// Loops before the iterations.
    pub(super) prologue: Vec<L>,
    /// Loops of an iteration.
    pub(super) body: Vec<L>,
    /// Number of iterations.
    pub(super) repeats: u64,
    /// Loops after the iterations.
    pub(super) epilogue: Vec<L>,
}

impl<L: Copy> Schedule<L> {
    /// The loop at a position; `None` after the last one.
    pub(super) fn at(&self, position: u64) -> Option<L> {
        let (before, body) = (self.prologue.len() as u64, self.body.len() as u64);
        let in_body = body * self.repeats;
        if position < before {
            return self.prologue.get(position as usize).copied();
        }
        let position = position - before;
        if position < in_body {
            return self.body.get((position % body) as usize).copied();
        }
        self.epilogue.get((position - in_body) as usize).copied()
    }
}

/// The trips of one thread, in a static schedule without a chunk size (OpenMP 5.2 §11.5.3): chunks are as equal as
/// possible, and the first ones are longer.
pub(super) fn chunk(trips: u64, threads: u32, thread: u32) -> Range<u64> {
    let (threads, thread) = (u64::from(threads), u64::from(thread));
    let (each, more) = (trips / threads, trips % threads);
    let first = thread * each + thread.min(more);
    first..first + each + u64::from(thread < more)
}

/// The state of a thread.
#[derive(Debug, Default)]
struct Thread<S> {
    tape: Tape<S>,
    /// Position in the schedule.
    position: u64,
    /// The rest of its chunk there.
    trips: Range<u64>,
    /// Whether none of these trips has been written yet.
    first: bool,
    /// Number of steps of the warm-up that have been made.
    warmed: u64,
    /// Number of samples that have been begun.
    sampled: usize,
    /// Number of steps left in the current sample; `None` if the whole run is simulated.
    left: Option<u64>,
}

/// Threads that run an application's loops.
#[derive(Debug)]
pub(super) struct Looped<A: Loops> {
    application: A,
    schedule: Schedule<A::Loop>,
    footprint: u64,
    threads: Vec<Thread<A::Scratch>>,
    /// Where samples begin, and their length in steps; `None` if the whole run is simulated.
    samples: Option<(Vec<Place>, u64)>,
    /// Steps of each thread before the first sample.
    warm_steps: u64,
}

impl<A: Loops> Looped<A> {
    /// The threads of an application; `window` is the part of the run that is simulated.
    pub(super) fn new(
        application: A,
        schedule: Schedule<A::Loop>,
        footprint: u64,
        threads: u32,
        window: Window,
        seed: u64,
    ) -> Self {
        let weigh = |of: &A::Loop| application.trips(*of) * application.weight(*of);
        let samples = match window {
            Window::Whole => None,
            Window::Stretches { count, steps } => {
                let weights: Vec<u64> = schedule.body.iter().map(weigh).collect();
                Some((places(&weights, count, seed), steps))
            }
        };
        let warm_steps = if samples.is_some() { application.warm_up(threads) } else { 0 };
        let mut looped = Self { application, schedule, footprint, threads: Vec::new(), samples, warm_steps };
        for thread in 0..threads {
            let left = looped.samples.is_some().then_some(0);
            looped.threads.push(Thread { left, ..Thread::default() });
            looped.enter(thread, threads);
        }
        looped
    }
    /// Begins the loop at a thread's position. Returns false if there is none.
    fn enter(&mut self, thread: u32, threads: u32) -> bool {
        let at = &mut self.threads[thread as usize];
        let Some(of) = self.schedule.at(at.position) else { return false };
        at.trips = chunk(self.application.trips(of), threads, thread);
        at.first = true;
        true
    }
    /// Moves a thread to its next sample. Returns false if there is none.
    fn jump(&mut self, thread: u32, threads: u32) -> bool {
        let Some((places, steps)) = &self.samples else { return true };
        let (places, steps) = (places, *steps);
        let at = &mut self.threads[thread as usize];
        let Some(place) = places.get(at.sampled) else { return false };
        at.sampled += 1;
        at.left = Some(steps);
        at.position = (self.schedule.prologue.len() + place.of) as u64;
        let (share, of) = (place.share, place.of);
        at.tape.clear();
        (at.tape.trailing_ps, at.tape.unpaid_ps) = (0, 0);
        self.enter(thread, threads);
        let at = &mut self.threads[thread as usize];
        debug_assert!(of < self.schedule.body.len(), "a sample lies in an iteration");
        let skipped = (at.trips.end - at.trips.start) as f64 * share;
        at.trips.start += skipped as u64;
        true
    }
}

impl<A: Loops> Program for Looped<A> {
    fn threads(&self) -> u32 {
        self.threads.len() as u32
    }
    fn footprint(&self) -> u64 {
        self.footprint
    }
    fn warm_up(&self) -> u64 {
        self.warm_steps
    }
    fn next(&mut self, thread: u32) -> Option<Step> {
        let threads = self.threads.len() as u32;
        let warmed = self.threads[thread as usize].warmed;
        if warmed < self.warm_steps {
            self.threads[thread as usize].warmed += 1;
            let (address, touch) = self.application.warm(warmed, thread, threads);
            return Some(Step {
                think: Span::ZERO,
                address: address / LINE * LINE,
                touch,
                depends: false,
                ends: false,
                sets: false,
            });
        }
        if self.threads[thread as usize].left == Some(0) && !self.jump(thread, threads) {
            return None;
        }
        loop {
            let at = &mut self.threads[thread as usize];
            if let Some(step) = at.tape.next() {
                if let Some(left) = &mut at.left {
                    *left -= 1;
                }
                return Some(step);
            }
            if at.trips.is_empty() {
                at.position += 1;
                if !self.enter(thread, threads) {
                    return None;
                }
                continue;
            }
            let of = self.schedule.at(at.position)?;
            at.tape.clear();
            let written = self.application.write(of, at.trips.clone(), at.first, &mut at.tape);
            at.trips.start += written;
            at.first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_as_equal_as_can_be_and_leave_nothing_out() {
        for (trips, threads) in [(0, 3), (1, 3), (10, 3), (64, 64), (1000, 7)] {
            let mut end = 0;
            for thread in 0..threads {
                let chunk = chunk(trips, threads, thread);
                assert_eq!(chunk.start, end);
                assert!(chunk.end - chunk.start <= trips.div_ceil(u64::from(threads)));
                assert!(chunk.end - chunk.start >= trips / u64::from(threads));
                end = chunk.end;
            }
            assert_eq!(end, trips);
        }
    }

    #[test]
    fn a_schedule_repeats_its_body_alone() {
        let schedule =
            Schedule { prologue: vec!['p'], body: vec!['a', 'b'], repeats: 2, epilogue: vec!['e'] };
        let all: String = (0..).map_while(|position| schedule.at(position)).collect();
        assert_eq!(all, "pababe");
    }
}
