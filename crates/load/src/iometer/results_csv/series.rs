//! A series of tests in a results file.

use super::super::config::AccessSpec;
use super::super::version::Version;
use super::super::words::TestType;
use super::row::Row;

/// A series of tests.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The version of the file's format.
    pub version: Version,
    /// The quantities that were varied.
    pub test_type: TestType,
    /// Free text.
    pub description: String,
    /// Start time, in the format of the file: `2004-07-30 12:00:00:000`.
    pub began: String,
    /// The tests.
    pub tests: Vec<Test>,
    /// Whether it was completed.
    pub ended: bool,
}

/// One test.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// The access specifications that ran.
    pub specs: Vec<AccessSpec>,
    /// Their results.
    pub rows: Vec<Row>,
    /// End time.
    pub ended: String,
}
