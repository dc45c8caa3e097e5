//! Directions of messages.

/// Direction of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From the master (the host) to the subordinate (the device): requests.
    M2s,
    /// From the device to the host: responses.
    S2m,
}

impl Direction {
    /// Both directions, M2S first.
    pub const ALL: [Self; 2] = [Self::M2s, Self::S2m];

    /// 0 for M2S, 1 for S2M.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The opposite direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::M2s => Self::S2m,
            Self::S2m => Self::M2s,
        }
    }
}
