//! A drive without its connector: NVMe subsystem, firmware, medium and, in emulation, bytes.
//!
//! ```text
//!        PCIe front · fabric target · door                        whoever has a link, a connection, a clock
//!   write_register, submit … │  ▲ poll: Fetch, Transfer,
//!   fetched, transferred …   ▼  │ Complete, Respond, Interrupt    the host's side, by token
//!  ┌────────────────────────────────────────────────────────┐
//!  │ Ssd     Subsystem (nvme): queues, commands, namespaces │
//!  │             │ Media                 ▲ media_done       │
//!  │         Firmware: engines, latencies│                  │
//!  │             ▼                       │                  │
//!  │         Drive (media): flash, FTL, buffer              │
//!  └─────────────┬──────────────────────────────────────────┘
//!                ▼ read, write, deallocate, compare, format    the bytes: a ByteStore, or none
//! ```
//!
//! This crate does not wait, reads no clock and knows no kernel. Time is an argument: the owner calls [`Ssd::wake`]
//! no later than [`Ssd::next_wake`], and after each call takes all outputs of [`Ssd::poll`]. The same drive predicts
//! and emulates; for emulation it has a [`ByteStore`].
//!
//! | module | is about |
//! |---|---|
//! | [`config`] | what a drive is made of |
//! | [`drive`] | the drive |
//! | [`controllers`] | what a front needs of controllers |
//! | [`forward`] | controllers whose medium is elsewhere |
//! | [`bytes`] | what is stored, and a store in memory |
//! | `firmware`, `erase` | what commands, Format and Sanitize cost beside the medium |
//! | `layout` | where on the medium namespaces are |
//! | `health` | what the SMART log says of the medium |
//! | [`telemetry`] | what the Telemetry logs say of the drive |
//!
//! Not here: links, capsules and sockets (the fronts), queues of the host, wall-clock time.

mod buffers;
pub mod bytes;
pub mod config;
pub mod controllers;
pub mod drive;
mod erase;
mod firmware;
pub mod forward;
mod health;
mod layout;
pub mod telemetry;

pub use bytes::{ByteStore, SparseMemory, StoreFault};
pub use config::{FirmwareConfig, SsdConfig, SsdFault};
pub use controllers::Controllers;
pub use drive::{MediumTimes, Output, Ssd, Stage};
pub use forward::{Forwarded, Forwarder};
