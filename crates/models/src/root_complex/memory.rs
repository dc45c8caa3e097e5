//! Latency of the memory behind a root complex: one for cached and one for uncached data, a second mode, and a tail.
//!
//! ```text
//!   llc-hit or dram  +  0 … jitter, uniformly  +  slow-extra, for a share `slow`  +  Exp(tail-extra), for a share `tail`
//! ```
//!
//! Each read is drawn independently, from streams of each port: measured hosts have several modes, and tails far
//! beyond the median (Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018,
//! section 6.1).

use lanetwin_kernel::Stream;
use lanetwin_ports::Params;
use lanetwin_units::Span;

/// The latencies, as numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    cached: Span,
    uncached: Span,
    /// Addresses below this are cached.
    warm: u64,
    /// The most that is added to each, uniformly \[ps\].
    jitter: u64,
    slow: Share,
    tail: Share,
}

/// A share of the reads, and its additional latency.
#[derive(Clone, Copy, Debug)]
struct Share {
    of_reads: f64,
    extra: Span,
}

/// Random streams for the reads of a port.
#[derive(Debug)]
pub(super) struct Chance {
    jitter: Stream,
    slow: Stream,
    tail: Stream,
}

impl Chance {
    /// For a port, by name, of the root complex at `path`.
    pub(super) fn new(seed: u64, path: &str, port: &str) -> Self {
        let stream = |purpose: &str| Stream::new(seed, path, purpose);
        Self {
            jitter: stream(&format!("memory of {port}")),
            slow: stream(&format!("slow memory of {port}")),
            tail: stream(&format!("tail of memory of {port}")),
        }
    }
}

impl Latency {
    pub(super) fn new(params: &Params) -> Self {
        let time = |name| params.time(name);
        let remote = if params.flag("memory.remote") { time("memory.remote-extra") } else { Span::ZERO };
        let share = |of: &str, extra: &str| Share { of_reads: params.ratio(of), extra: params.time(extra) };
        Self {
            cached: time("memory.llc-hit") + remote,
            uncached: time("memory.dram") + remote,
            warm: params.size("memory.warm").0,
            jitter: time("memory.jitter").as_ps(),
            slow: share("memory.slow", "memory.slow-extra"),
            tail: share("memory.tail", "memory.tail-extra"),
        }
    }
    /// Draws the latency of a read of an address.
    pub(super) fn draw(&self, address: u64, chance: &mut Chance) -> Span {
        let memory = if address < self.warm { self.cached } else { self.uncached };
        let jitter = if self.jitter > 0 { chance.jitter.below(self.jitter + 1) } else { 0 };
        let mut taken = memory + Span::from_ps(jitter);
        if self.slow.of_reads > 0.0 && chance.slow.chance(self.slow.of_reads) {
            taken += self.slow.extra;
        }
        if self.tail.of_reads > 0.0 && chance.tail.chance(self.tail.of_reads) {
            taken += chance.tail.exponential(self.tail.extra);
        }
        taken
    }
}
