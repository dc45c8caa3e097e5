//! The host's side: commands and their buffers, queue pairs, the start of a controller.
//!
//! | module | is about |
//! |---|---|
//! | [`commands`] | building submission queue entries |
//! | [`buffer`] | PRP entries, PRP lists and SGLs of a buffer |
//! | [`queue_pair`] | a submission queue and its completion queue |
//! | [`bringup`] | from reset to I/O queues |

pub mod bringup;
pub mod buffer;
pub mod commands;
pub mod queue_pair;

pub use bringup::{Action, Answer, Bringup, BringupConfig, BringupFault, Found, FoundNamespace, IoQueue};
pub use buffer::{PrpList, point_prp, point_sgl};
pub use queue_pair::{Completed, QueueFull, QueuePair, QueuePairConfig, RingPolicy, Submitted, need_event};
