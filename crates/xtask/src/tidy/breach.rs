//! A place where the tree breaks a rule.

use std::fmt;

/// A place where the tree breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    file: String,
    line: Option<usize>,
    says: String,
}

impl Breach {
    /// A breach in a file as a whole.
    pub fn of(file: &str, says: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, says: says.into() }
    }
    /// A breach on a line, counted from 1.
    pub fn at(file: &str, line: usize, says: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), says: says.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.says),
            None => write!(f, "{}: {}", self.file, self.says),
        }
    }
}
