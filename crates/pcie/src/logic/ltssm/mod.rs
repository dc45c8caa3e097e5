//! Link training: the states of a port, two ports with what is between them, and the tests that a link is put through.

pub mod channel;
pub mod cycle;
pub mod draw;
pub mod failure;
pub mod link;
pub mod numbers;
pub mod ordered_sets;
pub mod port;
pub mod probability;
mod state;

pub use numbers::Numbers;
pub use state::State;
