//! From a plan to a world that runs, and from a run to results.
//!
//! ```text
//!  Variant + Case ── build ─► World ── measure ──► Measured ┐
//!                              (kernel, links, loads)       ├─ rows, verdicts ──► Results
//!  … every variant × workload × case × repeat, on all cores ┘
//! ```
//!
//! Every repeat has a world of its own; a world is one thread. Variants share the seeds of their repeats, so that they
//! are compared on the same random numbers.
//!
//! Not here: reading and checking scenarios (the plan crate), what devices do (the models crate).

mod actions;
mod balance;
mod batch;
mod blueprint;
mod bottleneck;
mod buffers;
mod building;
mod capsule;
mod capture;
mod carried;
mod compare;
mod component_rows;
mod components;
mod cxl;
mod driven;
mod ethernet;
mod format;
mod formats;
mod granularity;
mod hosts;
mod in_step;
mod loads;
mod measure;
mod memory;
mod metric;
mod names;
mod outages;
mod pace;
mod pcie_links;
mod problem;
mod pts;
mod relative;
mod repeats;
mod rounds;
mod rows;
mod run;
mod settle;
mod slices;
mod snapshot;
mod stages;
mod stopping;
mod switches;
mod symptoms;
mod tails;
mod tlp_headers;
mod transit;
mod unseen;
mod until;
mod window;
mod world;

pub use actions::Acted;
pub use batch::Batch;
pub use capsule::{Capsule, Crash, replay};
pub use capture::{Captured, Listened, TlpOnLink};
pub use carried::Carried;
pub use compare::compare;
pub use components::{ComponentUse, SupplyUse};
pub use cxl::CxlDirectionUse;
pub use formats::Exports;
pub use granularity::Granularity;
pub use loads::GivenUp;
pub use measure::{DirectionUse, Measured};
pub use memory::MemoryUse;
pub use rounds::Rounds;
pub use run::{Options, Progress, Watcher, run, seed_of};
pub use stages::{Followed, Spent};
pub use stopping::Stopping;
pub use transit::Transit;
pub use world::{NvmeLoad, NvmePath, Opening, World, WorldAction, WorldCxl, WorldLoad, WorldMemory};
