//! Iometer's results file, as both versions write it, and back.
//!
//! ```text
//! 'Test Type,Test Description        once for a series of tests
//! 'Version
//! 'Time Stamp
//! 'Access specifications             for each test: what ran …
//! 'Results                           … the header and the rows …
//! 'Time Stamp                        … and when it ended
//! 'End Test                          all went well
//! ```
//!
//! The format knows no quotes: commas and line ends in names become spaces, as in Iometer (`Worker.cpp`,
//! `SaveResults`).
//!
//! Not here: the file of updates that 1.1.0 can write during a test.

mod column;
mod read;
mod row;
mod write;

pub use column::{Column, Form};
pub use read::read;
pub use row::{Cell, Row, RowKind, Running, Settings, not_modelled};

use super::config::AccessSpec;
use super::version::Version;
use super::words::TestType;

/// What stands where Iometer writes the time of day, in the file of a run that had none: a simulation gives the same
/// file whenever it is run.
pub const NO_TIME: &str = "1970-01-01 00:00:00:000";

/// A series of tests.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The version whose file it is.
    pub version: Version,
    /// What was varied.
    pub test_type: TestType,
    /// Free text.
    pub description: String,
    /// When it began, as the file writes it: `2004-07-30 12:00:00:000`.
    pub began: String,
    /// The tests.
    pub tests: Vec<Test>,
    /// Whether it ran to its end.
    pub ended: bool,
}

/// One test.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// The access specifications that ran.
    pub specs: Vec<AccessSpec>,
    /// What they did.
    pub rows: Vec<Row>,
    /// When it ended.
    pub ended: String,
}
