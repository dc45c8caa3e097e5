//! Definitions of the specification: words, structures, values. Data types and total functions, without state machines.
//!
//! | module | content |
//! |---|---|
//! | [`id`] | queues, commands, namespaces, controllers by number |
//! | [`registers`] | controller properties, doorbells |
//! | [`command`] | submission queue entries |
//! | [`opcode`] | opcodes of commands |
//! | [`admin`] | the dwords of admin commands |
//! | [`io`] | the dwords of I/O commands |
//! | [`mod@pointer`] | PRP entries, SGL descriptors |
//! | [`completion`] | completion queue entries |
//! | [`status`] | statuses of commands |
//! | [`identify`] | identify structures of controllers and namespaces |
//! | [`log`] | log pages, asynchronous events |
//! | [`ana`] | Asymmetric Namespace Access: its log and event |
//! | [`feature`] | features |
//!
//! Sources, by section: NVM Express Base Specification 2.0 (Base 2.0), NVM Command Set Specification 1.0 (NVM 1.0),
//! NVMe over PCIe Transport Specification 1.0 (PCIe Transport 1.0). Offsets and values agree with SPDK `nvme_spec.h`
//! where it defines them.

pub mod admin;
pub mod ana;
pub mod command;
pub mod completion;
pub mod feature;
pub mod id;
pub mod identify;
pub mod io;
pub mod log;
pub mod opcode;
pub mod pointer;
pub mod registers;
pub mod status;

pub use command::{Command, CommandDword0, DataTransfer};
pub use completion::CompletionEntry;
pub use id::{Cid, ControllerId, CqId, Nsid, SqId};
pub use opcode::{AdminOpcode, IoOpcode};
pub use registers::Doorbell;
pub use status::Status;
