//! Names of threads, cores and flights: numbers that must not be taken for each other.

/// A thread of a program, by its place among those of all programs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ThreadId(pub(super) u32);

/// A core, those of the first socket before those of the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CoreId(pub(super) u32);

/// A step on its way, by its place in the slab of flights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlightId(pub(super) u32);

impl ThreadId {
    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl CoreId {
    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlightId {
    /// No flight.
    pub(super) const NONE: Self = Self(u32::MAX);

    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}
