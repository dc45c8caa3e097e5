//! Traffic like that of Intel's Memory Latency Checker (MLC): threads that each stream over a buffer of their own.
//!
//! **Mixes are ratios of memory traffic.** A store to part of a line reads it first and writes it back later: one read
//! and one write. So the mixes consist of loads and a share of stores (Intel, Memory Latency Checker v3.11a, options
//! `-W2`, `-W3`, `-W5`):
//!
//! | mix | steps | reads : writes at the memory |
//! |---|---|---|
//! | all reads | load | 1 : 0 |
//! | 3R1W | load, load, store | 3 : 1 |
//! | 2R1W | load, store | 2 : 1 |
//! | 1R1W | store | 1 : 1 |
//! | streaming writes | whole lines past the caches | 0 : 1 |
//!
//! Any other share *r* of reads is made of the same steps, spread as evenly as possible: from one half on, a share
//! (1 − r) / r of all steps are stores and the others loads; below, r / (1 − r) are stores and the others streaming
//! writes.
//!
//! The ratios are reached only if buffers are larger than the caches, so that no line is touched again while it is
//! cached.
//!
//! **Think** is the time between two lines of a thread: MLC's delay in a loaded-latency sweep (`-d`). Each thread
//! begins at a random time within the first such interval, as independent threads do. Threads that begin at the same
//! time would send requests at the same instants again and again, and all but one of them would wait.

use super::permutation::Permutation;
use super::program::{Program, Step, Touch};
use lanetwin_kernel::Stream;
use lanetwin_units::Span;

const LINE: u64 = 64;

/// The share of writes in the traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TrafficMix {
    /// Loads only.
    AllReads,
    /// Three reads to a write.
    R3W1,
    /// Two reads to a write.
    R2W1,
    /// A read to a write.
    R1W1,
    /// Non-temporal stores only.
    StreamingWrites,
    /// Any share of reads.
    Share(ReadShare),
}

/// A share of reads, in steps of a hundredth of a per cent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReadShare(u16);

impl ReadShare {
    const ALL: u64 = 10_000;

    /// From a number between 0 and 1, rounded to the nearest step; `None` outside.
    #[must_use]
    pub fn new(reads: f64) -> Option<Self> {
        (0.0..=1.0).contains(&reads).then(|| Self((reads * Self::ALL as f64).round() as u16))
    }
    /// The share, from 0 to 1.
    #[must_use]
    pub const fn reads(self) -> f64 {
        self.0 as f64 / Self::ALL as f64
    }
    const fn touch(self, n: u64) -> Touch {
        let reads = self.0 as u64;
        let writes = Self::ALL - reads;
        let (less, more) = if reads < writes { (reads, writes) } else { (writes, reads) };
        // the store of a step is the one with which the stores so far reach the next whole number
        if (n + 1) * less / more > n * less / more {
            Touch::Store
        } else if reads < writes {
            Touch::Stream
        } else {
            Touch::Load
        }
    }
}

impl TrafficMix {
    /// Every mix with a name.
    pub const ALL: [Self; 5] = [Self::AllReads, Self::R3W1, Self::R2W1, Self::R1W1, Self::StreamingWrites];

    /// The access of the `n`-th step of a thread.
    const fn touch(self, n: u64) -> Touch {
        let every = match self {
            Self::AllReads => return Touch::Load,
            Self::StreamingWrites => return Touch::Stream,
            Self::R3W1 => 3,
            Self::R2W1 => 2,
            Self::R1W1 => 1,
            Self::Share(share) => return share.touch(n),
        };
        if n % every == every - 1 { Touch::Store } else { Touch::Load }
    }
    /// The share of reads among the lines that move to and from memory.
    #[must_use]
    pub const fn reads(self) -> f64 {
        match self {
            Self::AllReads => 1.0,
            Self::R3W1 => 3.0 / 4.0,
            Self::R2W1 => 2.0 / 3.0,
            Self::R1W1 => 1.0 / 2.0,
            Self::StreamingWrites => 0.0,
            Self::Share(share) => share.reads(),
        }
    }
    /// Whether there are reads of memory, and whether there are writes.
    #[must_use]
    pub const fn kinds(self) -> (bool, bool) {
        let reads = self.reads();
        (reads > 0.0, reads < 1.0)
    }
}

/// The order in which a thread goes through its buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TrafficOrder {
    /// Ascending, and from the start again.
    Sequential,
    /// Every line once in a random order, and again in the same.
    Random,
}

/// Traffic of several threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrafficSpec {
    /// Number of threads.
    pub threads: u32,
    /// The buffer of each \[B\]; a whole number of lines is used.
    pub buffer: u64,
    /// The mix of reads and writes.
    pub mix: TrafficMix,
    /// The order of lines.
    pub order: TrafficOrder,
    /// The time between two lines of a thread.
    pub think: Span,
    /// Number of lines that each touches; `None` for no limit.
    pub count: Option<u64>,
}

/// Why traffic is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadTraffic {
    /// There are no threads.
    #[error("there are no threads")]
    NoThreads,
    /// A buffer is smaller than a line.
    #[error("a buffer of {0} B is smaller than a line of 64 B")]
    Buffer(u64),
    /// All buffers together reach beyond the last address.
    #[error("the buffers of all threads reach beyond the last address")]
    BeyondAddresses,
}

/// Threads that stream.
#[derive(Clone, Debug)]
pub struct Traffic {
    spec: TrafficSpec,
    /// Lines of a buffer.
    lines: u64,
    /// Distance between buffers \[B\]: whole pages.
    pitch: u64,
    order: Option<Permutation>,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    /// Its position in its buffer \[lines\].
    at: u64,
    made: u64,
    /// Number of steps left.
    left: u64,
    /// The time before the first line; `None` after it.
    begins: Option<Span>,
}

impl Traffic {
    /// Traffic. The seed and the path determine a random order, the position in its buffer where each thread begins,
    /// and the time when it begins. Without random positions, buffers that all begin on the same channel and bank would
    /// be streamed in step.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn new(spec: TrafficSpec, seed: u64, path: &str) -> Result<Self, BadTraffic> {
        if spec.threads == 0 {
            return Err(BadTraffic::NoThreads);
        }
        let lines = spec.buffer / LINE;
        if lines == 0 {
            return Err(BadTraffic::Buffer(spec.buffer));
        }
        let pitch = spec.buffer.checked_next_multiple_of(4096).ok_or(BadTraffic::BeyondAddresses)?;
        pitch.checked_mul(u64::from(spec.threads)).ok_or(BadTraffic::BeyondAddresses)?;
        let order = matches!(spec.order, TrafficOrder::Random)
            .then(|| Permutation::new(lines, &mut Stream::new(seed, path, "order")));
        let mut starts = Stream::new(seed, path, "starts");
        let mut times = Stream::new(seed, path, "times of starts");
        let left = spec.count.unwrap_or(u64::MAX);
        let mut begins = || Some(Span::from_ps(times.below(spec.think.as_ps())));
        let threads = (0..spec.threads)
            .map(|_| Thread { at: starts.below(lines), made: 0, left, begins: begins() })
            .collect();
        Ok(Self { spec, lines, pitch, order, threads })
    }
}

impl Program for Traffic {
    fn threads(&self) -> u32 {
        self.spec.threads
    }
    fn footprint(&self) -> u64 {
        self.pitch * u64::from(self.spec.threads)
    }
    fn next(&mut self, thread: u32) -> Option<Step> {
        let state = &mut self.threads[thread as usize];
        state.left = state.left.checked_sub(1)?;
        let begins = state.begins.take();
        let step = self.warm(thread)?;
        Some(Step { think: begins.unwrap_or(step.think), ..step })
    }
    fn warm(&mut self, thread: u32) -> Option<Step> {
        let TrafficSpec { mix, think, .. } = self.spec;
        let state = &mut self.threads[thread as usize];
        let line = self.order.as_ref().map_or(state.at, |order| order.of(state.at));
        let touch = mix.touch(state.made);
        state.at = if state.at + 1 == self.lines { 0 } else { state.at + 1 };
        state.made += 1;
        let address = u64::from(thread) * self.pitch + line * LINE;
        Some(Step { think, address, touch, depends: false, ends: false, sets: false })
    }
    fn reuse(&self) -> Option<u64> {
        Some(self.lines * LINE * u64::from(self.spec.threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: TrafficSpec = TrafficSpec {
        threads: 3,
        buffer: 10_000,
        mix: TrafficMix::AllReads,
        order: TrafficOrder::Sequential,
        think: Span::ZERO,
        count: Some(1560),
    };

    fn all(spec: TrafficSpec, thread: u32) -> Vec<Step> {
        let mut traffic = Traffic::new(spec, 1, "traffic").unwrap();
        std::iter::from_fn(|| traffic.next(thread)).collect()
    }

    #[test]
    fn every_thread_goes_round_its_own_buffer() {
        for order in [TrafficOrder::Sequential, TrafficOrder::Random] {
            for thread in 0..3 {
                let mut lines: Vec<u64> =
                    all(TrafficSpec { order, ..SPEC }, thread).iter().map(|step| step.address).collect();
                lines.sort_unstable();
                let own = |i: u64| u64::from(thread) * 12_288 + i / 10 * 64;
                assert!(lines.iter().copied().eq((0..1560).map(own)), "{order:?} {thread}");
            }
        }
        assert_eq!(Traffic::new(SPEC, 1, "traffic").unwrap().footprint(), 3 * 12_288);
        assert_ne!(all(SPEC, 0)[0].address % 12_288, all(SPEC, 1)[0].address % 12_288);
    }

    #[test]
    fn mixes_are_ratios_of_reads_to_writes_at_the_memory() {
        for mix in TrafficMix::ALL {
            let steps = all(TrafficSpec { mix, ..SPEC }, 0);
            let count = |touch| steps.iter().filter(|step| step.touch == touch).count() as f64;
            let reads = count(Touch::Load) + count(Touch::Store);
            let writes = count(Touch::Store) + count(Touch::Stream);
            assert_eq!(reads / (reads + writes), mix.reads(), "{mix:?}");
        }
    }

    #[test]
    fn any_share_of_reads_is_made_of_whole_steps() {
        for reads in [0.0, 0.05, 0.25, 0.4, 0.5, 0.6, 2.0 / 3.0, 0.75, 0.8, 0.9, 0.9999, 1.0] {
            let mix = TrafficMix::Share(ReadShare::new(reads).unwrap());
            let steps = all(TrafficSpec { mix, count: Some(100_000), ..SPEC }, 0);
            let count = |touch| steps.iter().filter(|step| step.touch == touch).count() as f64;
            let (moved_in, moved_out) =
                (count(Touch::Load) + count(Touch::Store), count(Touch::Store) + count(Touch::Stream));
            let share = moved_in / (moved_in + moved_out);
            assert!((share - reads).abs() < 1e-4, "{reads}: {share}");
        }
        // the same steps as the named mixes
        for named in [TrafficMix::R3W1, TrafficMix::R1W1] {
            let mix = TrafficMix::Share(ReadShare::new(named.reads()).unwrap());
            assert_eq!(all(TrafficSpec { mix, ..SPEC }, 0), all(TrafficSpec { mix: named, ..SPEC }, 0));
        }
        assert_eq!(ReadShare::new(f64::NAN), None);
        assert_eq!(ReadShare::new(1.1), None);
    }

    #[test]
    fn threads_begin_at_times_of_their_own_within_the_first_delay() {
        let spec = TrafficSpec { threads: 200, think: Span::from_ps(90_000), ..SPEC };
        let mut traffic = Traffic::new(spec, 1, "traffic").unwrap();
        let mut begins: Vec<Span> = (0..200).map(|thread| traffic.next(thread).unwrap().think).collect();
        assert!((0..200).all(|thread| traffic.next(thread).unwrap().think == spec.think));
        begins.sort_unstable();
        // a quarter of them in each quarter of the interval, to within four standard deviations
        let within = |part: u64| begins.partition_point(|at| at.as_ps() < part * 22_500) as u64;
        (1..=4).for_each(|part| assert!(within(part).abs_diff(part * 50) < 28, "{part}: {}", within(part)));
        begins.dedup();
        assert!(begins.len() > 190);
        // without a delay they begin at once
        assert!(all(SPEC, 0).iter().all(|step| step.think == Span::ZERO));
    }

    #[test]
    fn what_makes_no_traffic_is_said() {
        let wrong = |spec| Traffic::new(spec, 1, "traffic").map(|_| ()).unwrap_err();
        assert_eq!(wrong(TrafficSpec { threads: 0, ..SPEC }), BadTraffic::NoThreads);
        assert_eq!(wrong(TrafficSpec { buffer: 63, ..SPEC }), BadTraffic::Buffer(63));
        assert_eq!(wrong(TrafficSpec { buffer: 1 << 63, ..SPEC }), BadTraffic::BeyondAddresses);
    }
}
