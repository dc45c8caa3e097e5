//! What a flit brings when it arrives, kept where it may have to be sent again.

use super::super::packer::Class;
use crate::spec::flit_256::Part;

/// What a flit brings.
#[derive(Clone, Debug)]
pub struct Cargo<U> {
    /// Messages that are complete with it, and what of it has to be in for each; those of CXL.io have no class.
    pub done: Vec<(Option<Class>, Part, U)>,
    /// Credits that it returns, by class.
    pub credits: [u32; 2],
}

impl<U> Default for Cargo<U> {
    fn default() -> Self {
        Self { done: Vec::new(), credits: [0; 2] }
    }
}

/// A flit of CXL.mem that carries something, not yet all sent.
pub struct Open<U> {
    /// Slots with messages.
    pub message_slots: u64,
    /// Slots of data.
    pub data_slots: u64,
    /// What it carries, if it does not arrive well: else that is on its way already.
    pub kept: Option<Cargo<U>>,
}

impl<U> Open<U> {
    /// Nothing in it yet.
    pub const fn new(kept: Option<Cargo<U>>) -> Self {
        Self { message_slots: 0, data_slots: 0, kept }
    }
}
