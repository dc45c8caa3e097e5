//! NVM Express: what the specification says, and the logic of its two sides. It knows no PCIe, no clock and no flash.
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
//! * [`logic`]: a subsystem of controllers and namespaces; queue pairs and the start of a controller on the host's
//!   side.
//!
//! The numbers are those of NVM Express Base Specification 2.0 and NVM Command Set Specification 1.0.
//!
//! Commands come from queues in host memory, or are handed in by a front, as capsules of a fabric are
//! ([`logic::connection`]).
//!
//! Not here: when anything happens (`now` is an argument), how effects are carried out, user data, metadata and
//! protection information, the capsules of fabrics themselves.

pub mod logic;
pub mod spec;
