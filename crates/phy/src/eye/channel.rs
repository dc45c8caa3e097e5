//! The channel between a transmitter and a receiver, and its neighbours.

use super::ffe::Ffe;
use super::redriver::Redriver;
use crate::Transfer;

/// A channel from one transmitter to one receiver, with crosstalk from its neighbours.
///
/// A retimer ends a channel: either side of it is a channel of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    pub(super) through: Transfer,
    pub(super) redriver: Option<(Redriver, Transfer)>,
    pub(super) aggressors: Vec<Aggressor>,
}

/// A neighbour: another transmitter, and its transfer function to this receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Aggressor {
    /// From the neighbour's transmitter to this receiver.
    pub transfer: Transfer,
    /// Setting of the neighbour's transmitter.
    pub ffe: Ffe,
}

impl Channel {
    /// A channel without neighbours.
    #[must_use]
    pub const fn new(through: Transfer) -> Self {
        Self { through, redriver: None, aggressors: Vec::new() }
    }

    /// The same with a redriver at its end, and what follows the redriver.
    #[must_use]
    pub fn with_redriver(mut self, redriver: Redriver, after: Transfer) -> Self {
        self.redriver = Some((redriver, after));
        self
    }

    /// The same with one more neighbour.
    #[must_use]
    pub fn with_aggressor(mut self, aggressor: Aggressor) -> Self {
        self.aggressors.push(aggressor);
        self
    }
}
