//! Content of a flit, stored if the flit may have to be sent again.

use super::super::packer::Class;
use crate::spec::flit_256::Part;

/// Content of a flit: the messages that it completes, and the credits that it returns.
#[derive(Clone, Debug)]
pub struct Cargo<U> {
    /// Messages that the flit completes, with the part that must have arrived for each; those of CXL.io have no class.
    pub done: Vec<(Option<Class>, Part, U)>,
    /// Credits that the flit returns, by class.
    pub credits: [u32; 2],
}

impl<U> Default for Cargo<U> {
    fn default() -> Self {
        Self { done: Vec::new(), credits: [0; 2] }
    }
}

/// A flit of CXL.mem that carries messages, data or credits and is not completely sent.
pub struct Open<U> {
    /// Number of slots with messages.
    pub message_slots: u64,
    /// Number of data slots.
    pub data_slots: u64,
    /// Content of the flit if it does not arrive intact; otherwise each message is delivered as it is packed.
    pub kept: Option<Cargo<U>>,
}

impl<U> Open<U> {
    /// A flit that is empty so far.
    pub const fn new(kept: Option<Cargo<U>>) -> Self {
        Self { message_slots: 0, data_slots: 0, kept }
    }
}
