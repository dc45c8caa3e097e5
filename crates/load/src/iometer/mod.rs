//! Iometer as a front end: its configuration files, the meaning of its access specifications, its metrics, its results.
//!
//! ```text
//!  .icf ──► read ──► Config ──► access::Workload ──► Load ──► Results ──► metrics ──► results_csv
//!                       └─────► to_icf ──► .icf
//! ```
//!
//! | Module | Useful for | Not here |
//! |---|---|---|
//! | [`config`] | the contents of a configuration file, as types | the devices that its targets stand for |
//! | [`read()`], [`read_path`] | reading a configuration, or all errors in it | |
//! | [`access`] | the operations of an access specification, and their times | network connections |
//! | [`metrics`] | the seven families of metrics of a result | counting |
//! | [`results_csv`] | reading and writing the results file | the file of updates that 1.1.0 also writes |
//!
//! Everything follows Iometer's sources (versions 2008.06.18 and 1.1.0; files of 2004.07.30 have the layout of
//! 2008.06.18) and its user's guide; comments name the source files. `docs/iometer.md` lists what is read and what is
//! not modelled.
//!
//! ```
//! use lanetwin_load::BlockLoad;
//! use lanetwin_load::iometer::access::{AccessWorkload, Region};
//! use lanetwin_load::iometer::{config::{SECTOR, WorkerKind}, read};
//!
//! let text = include_str!("../../../../scenarios/iometer/idt-1.1.0.icf");
//! let config = read(text, "idt-1.1.0.icf").expect("a configuration").config;
//! let worker = &config.managers[0].workers[0];
//! let WorkerKind::Disk(settings) = &worker.kind else { panic!("a disk worker") };
//! let mixed = config.spec(&worker.specs[2]).expect("a specification of the file");
//! let workload = AccessWorkload {
//!     lines: mixed.lines.clone(),
//!     region: Region::of_disk(settings, 1 << 30, SECTOR),
//!     outstanding: worker.outstanding,
//!     count: None,
//!     connections: None,
//!     network: false,
//! };
//! let load = BlockLoad::of_accesses(workload, 1, "load");
//! # let _ = load;
//! ```

pub mod access;
pub mod config;
mod lines;
pub mod metrics;
mod problem;
mod read;
pub mod results_csv;
mod version;
mod words;
mod write;

pub use crate::findings::{Finding, Severity};
pub use lines::decode;
pub use problem::CODES;
pub use read::{Understood, read, read_path, unreadable};
pub use version::{Dialect, Version};
pub use words::{Assignment, Protocol, Record, Step, TestType, UpdateType, Word};
