//! What the specification says: words, structures, values. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | [`id`] | queues, commands, namespaces, controllers by number |
//! | [`command`] | submission queue entries |
//! | [`completion`] | completion queue entries |
//! | [`opcode`] | which commands there are |
//! | [`status`] | how a command ends |

pub mod command;
pub mod completion;
pub mod id;
pub mod opcode;
pub mod status;

pub use command::{Command, CommandDword0, DataTransfer};
pub use completion::CompletionEntry;
pub use id::{Cid, ControllerId, CqId, Nsid, SqId};
pub use opcode::{AdminOpcode, IoOpcode};
pub use status::Status;
