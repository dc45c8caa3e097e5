//! A program: threads, and the steps that each of them takes.

use lanetwin_units::Span;

/// The access of a thread to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// A load.
    Load,
    /// A store to a part of the line: the line is read before, unless it is cached, and written back later.
    Store,
    /// A store of the whole line that bypasses the caches (non-temporal store): one write of memory and no read.
    Stream,
}

/// One step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Computing time of the thread before it, after the previous step was issued.
    pub think: Span,
    /// The virtual address \[B\].
    pub address: u64,
    /// The access.
    pub touch: Touch,
    /// Whether it needs the value of the thread's previous load: a pointer, an index.
    pub depends: bool,
    /// Whether it ends an operation of the program (a request of a client, a vertex, a row). The latency of an
    /// operation is counted from the issue of its first step to the completion of this one.
    pub ends: bool,
    /// Whether that operation is a store (SET), in programs whose operations are either loads or stores.
    pub sets: bool,
}

/// Threads that use memory.
pub trait Program: std::fmt::Debug {
    /// Number of threads; they are numbered from 0.
    fn threads(&self) -> u32;
    /// Size of the virtual address range that is used; all addresses are below this.
    fn footprint(&self) -> u64;
    /// The next step of a thread; `None` when it has ended.
    fn next(&mut self, thread: u32) -> Option<Step>;
    /// As [`Program::next`], for a warm-up step before the run, which is not counted.
    fn warm(&mut self, thread: u32) -> Option<Step> {
        self.next(thread)
    }
    /// Least number of distinct bytes that all threads together touch between two touches of a line \[B\], if known. A
    /// cache that is much smaller than this never has a line when it is touched again, and need not be simulated.
    fn reuse(&self) -> Option<u64> {
        None
    }
    /// Number of steps of each thread before the program proper, which bring into the caches what an earlier part of
    /// the run has left there. They take no time and are not part of the program: they are skipped if there are no
    /// caches.
    fn warm_up(&self) -> u64 {
        0
    }
}
