//! The host's side: queue pairs, and the start of a controller.

mod queue_pair;

pub use queue_pair::{Completed, QueueFull, QueuePair, QueuePairConfig, RingPolicy, Submitted};
