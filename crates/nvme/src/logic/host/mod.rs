//! The host: commands and their buffers, queue pairs, controller initialization.
//!
//! | module | content |
//! |---|---|
//! | [`commands`] | building submission queue entries |
//! | [`buffer`] | PRP entries, PRP lists and SGLs of a buffer |
//! | [`queue_pair`] | a submission queue and its completion queue |
//! | [`bringup`] | controller initialization, from reset to I/O queues |

pub mod bringup;
pub mod buffer;
pub mod commands;
pub mod queue_pair;

pub use bringup::{Action, Answer, Bringup, BringupConfig, BringupFault, Found, FoundNamespace, IoQueue};
pub use buffer::{PrpList, point_prp, point_sgl};
pub use queue_pair::{Completed, QueueFull, QueuePair, QueuePairConfig, RingPolicy, Submitted, need_event};
