//! A program: threads, and the steps that each of them takes.

use lanetwin_units::Span;

/// What a thread does to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// It loads from it.
    Load,
    /// It stores to part of it: the line is read before, unless it is cached, and written back some day.
    Store,
    /// It writes the whole line past the caches (a non-temporal store): one write of memory and no read.
    Stream,
}

/// One step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// How long the thread computes before it, once the step before has been issued.
    pub think: Span,
    /// The virtual address \[B\].
    pub address: u64,
    /// What it does there.
    pub touch: Touch,
    /// Whether it needs what the last load before it brought: a pointer, an index.
    pub depends: bool,
    /// Whether it ends an operation of the program (a request of a client, a vertex, a row): latencies of operations
    /// are counted from the issue of the first step after the last end to the completion of this one.
    pub ends: bool,
    /// Whether that operation stores what a client has sent (a SET), of a program whose operations do one or the other.
    pub sets: bool,
}

/// Threads that use memory.
pub trait Program: std::fmt::Debug {
    /// How many threads there are; they are numbered from 0.
    fn threads(&self) -> u32;
    /// The bytes of virtual addresses that are used: all are below this.
    fn footprint(&self) -> u64;
    /// The next step of a thread; none when it has ended.
    fn next(&mut self, thread: u32) -> Option<Step>;
    /// As [`Program::next`], for a step that warms caches up before the run: one that counts for nothing.
    fn warm(&mut self, thread: u32) -> Option<Step> {
        self.next(thread)
    }
    /// How many distinct bytes all threads together touch, at least, between two touches of a line \[B\], if that is
    /// known. A cache that is much smaller than this never has a line when it is touched again, and need not be looked
    /// into.
    fn reuse(&self) -> Option<u64> {
        None
    }
    /// How many steps each thread makes before the program proper, to bring into caches what an earlier part of the run
    /// has left there. They take no time and are no part of the program: whoever has no caches passes over them.
    fn warm_up(&self) -> u64 {
        0
    }
}
