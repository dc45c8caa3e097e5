//! The functions of a machine, live or recorded: what each is, how its link has trained, what is wrong.
//!
//! ```text
//!  /sys, a copy of it ─┐                ┌─► Inventory: functions in a tree, links
//!                      ├─► Snapshot ────┤
//!  lspci -xxxx ────────┘   bytes, facts └─► Vec<Diagnosis>: code, evidence, cause, remedy
//! ```
//!
//! Nothing is written, and nothing is read that has a side effect. Readers are tolerant: what cannot be read is a note.
//!
//! Not here: what a finding costs, which is the simulator's to say; names of vendors and devices.

mod decode;
mod diagnosis;
mod recorded;
mod snapshot;

pub use decode::{Device, End, Extended, Inventory, Kind, Link, Requests};
pub use diagnosis::{Diagnosis, Evidence, Gravity, Shortfall, diagnose};
pub use snapshot::{NotRead, Snapshot};
