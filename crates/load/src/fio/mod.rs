//! fio as a front end: its job files, its distributions, its I/O logs, its results.
//!
//! ```text
//!  .fio ──► read ──► JobFile ──► Stream of a job ──► Load ──► Results ──► json
//!  iolog ─► iolog::read ─► Log ──────┘
//! ```
//!
//! | Module | Useful for | Not here |
//! |---|---|---|
//! | [`read()`], [`read_path`] | reading a job file, or all errors in it | the device of a job |
//! | [`Job`], [`Settings`] | the options of a job, as types | |
//! | [`Distribution`] | the distribution of random accesses | |
//! | [`JobWorkload`], [`Stream`] | the I/Os of a clone of a job, and their times | |
//! | [`iolog`] | reading and writing logs of I/Os | binary traces of blktrace |
//! | [`output`], [`plat`], [`steady`] | results as fio's JSON, its histogram, its rule for a steady state | fio's text output |
//!
//! Everything follows fio 3.33 (its sources and behaviour); comments name the source files.
//! `docs/fio.md` lists what is read and what is not modelled.

mod distribution;
mod engines;
pub mod iolog;
mod job;
mod lines;
mod map;
mod number;
mod options;
pub mod output;
pub mod plat;
mod problem;
mod read;
mod settings;
pub mod steady;
mod stream;
mod value;

pub(crate) use distribution::Zipf;
pub use distribution::{Distribution, Zone};
pub use job::{Effect, Given, Job, JobFile, ShownFile};
pub use lines::Surroundings;
pub use problem::CODES;
pub use read::{Understood, read, read_path, unreadable};
pub use settings::{Files, LatencyTarget, PERCENTILES, Room, Sequencer, Settings, Share, SteadyState, Way};
pub use stream::{BadJob, Extent, Io, JobWorkload, Stream};
