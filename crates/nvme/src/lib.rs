//! NVM Express: definitions of the specification, and the logic of host and controller. It uses no PCIe, no clock and
//! no flash.
//!
//! ```text
//!   host::Bringup ── registers, admin commands ──►┐
//!   host::QueuePair ── entries, doorbells ───────►│ Subsystem ── Effect ──► whoever has a memory, a link, a medium
//!        ▲                                        │    ▲                         │
//!        └──── CompletionEntry ◄── Complete ──────┘    └── fetched, transferred ─┘
//!                                                          media_done, stored, wake
//! ```
//!
//! * [`spec`]: registers, commands, completions, data pointers, identify structures, logs, features.
//! * [`logic`]: a subsystem of controllers and namespaces; for the host, queue pairs and controller initialization.
//!
//! The numbers are those of NVM Express Base Specification 2.0 and NVM Command Set Specification 1.0.
//!
//! Commands come from queues in host memory, or are submitted by a front, like the capsules of a fabric
//! ([`logic::connection`]).
//!
//! Not here: time (`now` is an argument), the execution of effects, user data, metadata and protection information, the
//! capsules of fabrics themselves.

pub mod logic;
pub mod spec;
