//! Link training: the states of a port, two ports with what is between them, and the tests that a link is put through.

pub mod channel;
pub mod cycle;
pub mod failure;
pub mod link;
mod state;

pub use state::State;
