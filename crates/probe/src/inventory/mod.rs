//! The functions of a machine, live or recorded: what each is, how its link has trained, what is wrong.
//!
//! ```text
//!  /sys, a copy of it ───────────┐                ┌─► Inventory: functions in a tree, links, nodes, memories, drives
//!  lspci, hwloc, cxl, nvme, … ───┼─► Snapshot ────┼─► Vec<Diagnosis>: code, evidence, cause, remedy
//!  a record ─────────────────────┘   bytes, facts └─► a record, redacted
//! ```
//!
//! Nothing is written, and nothing is read that has a side effect. Readers are tolerant: what cannot be read
//! is a note.
//!
//! Not here: what a finding costs, which is the simulator's to say; names of vendors and devices.

mod decode;
mod device;
mod diagnosis;
mod facts;
mod readers;
mod reading;
mod record;
mod recorded;
mod snapshot;
mod told;

pub use decode::Inventory;
pub use device::{Device, End, Errors, Extended, Kind, Link, Requests, Subsystem};
pub use diagnosis::{Diagnosis, Evidence, Gravity, Shortfall, diagnose};
pub use readers::read;
pub use reading::Reading;
pub use record::write as record;
pub use snapshot::{NotRead, Snapshot};
pub use told::{Drive, Memory, Node};
