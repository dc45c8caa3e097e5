//! A series of tests, as a results file tells it.

use super::super::config::AccessSpec;
use super::super::version::Version;
use super::super::words::TestType;
use super::row::Row;

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
