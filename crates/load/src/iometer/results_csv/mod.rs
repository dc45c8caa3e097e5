//! Iometer's results file, in the format of both versions: writing and reading.
//!
//! ```text
//! 'Test Type,Test Description        once for a series of tests
//! 'Version
//! 'Time Stamp
//! 'Access specifications             for each test: the specifications that ran,
//! 'Results                           the header and the rows,
//! 'Time Stamp                        and the end time
//! 'End Test                          if the series was completed
//! ```
//!
//! The format has no quotes: commas and line ends in names become spaces, as in Iometer (`Worker.cpp`, `SaveResults`).
//!
//! Not here: the file of updates that 1.1.0 can write during a test.

mod column;
mod read;
mod row;
mod series;
mod write;

pub use column::{Column, Form};
pub use read::read;
pub use row::{Cell, Row, RowKind, Running, Settings, not_modelled};
pub use series::{Series, Test};

/// The time of day in the results file of a simulation, so that the file does not depend on the time of the run.
pub const NO_TIME: &str = "1970-01-01 00:00:00:000";
