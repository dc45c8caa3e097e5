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
//! Nothing here waits, reads a clock or knows a kernel. Time is an argument: the owner calls [`Ssd::wake`] not later
//! than [`Ssd::next_wake`], and after whatever it has called it takes everything that [`Ssd::poll`] has to give. The
//! drive that predicts and the drive that emulates are this one; the second has a [`ByteStore`].
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
