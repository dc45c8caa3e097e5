//! The classes of flow control.

/// The three kinds of traffic with credits of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FcClass {
    /// Posted requests (P): memory writes and messages.
    Posted,
    /// Non-posted requests (NP): reads.
    NonPosted,
    /// Completions (Cpl).
    Completion,
}

impl FcClass {
    /// The three classes, in the standard's order.
    pub const ALL: [Self; 3] = [Self::Posted, Self::NonPosted, Self::Completion];

    /// The class as an index into a table of three.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
