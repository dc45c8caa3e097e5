//! The functions of a machine, live or recorded: their kinds, the state of their links, and problems.
//!
//! ```text
//!  /sys, a copy of it ───────────┐                ┌─► Inventory: functions in a tree, links, nodes, memories, drives
//!  lspci, hwloc, cxl, nvme, … ───┼─► Snapshot ────┼─► Vec<Diagnosis>: code, evidence, cause, remedy
//!  a record ─────────────────────┘   bytes, facts └─► a record, redacted
//! ```
//!
//! Nothing is written, and only what can be read without side effects is read. Readers are tolerant: what cannot be
//! read is reported in a note.
//!
//! Not here: the throughput that a finding costs, which needs a simulation; names of vendors and devices.

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
