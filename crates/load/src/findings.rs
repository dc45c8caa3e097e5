//! What readers of foreign files find: a mistake or a doubt, with its place and remedy. One shape for all of them.

use serde::Serialize;
use std::collections::BTreeSet;

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// Whether it stops the reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is understood.
    Error,
    /// Something is understood; it may not be what was meant.
    Warning,
}

/// A mistake, or a doubt, with its place and remedy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// Line, from 1; 0 if it is about the file as a whole.
    pub line: u32,
    /// Column, from 1, in characters; 0 if it is about the file as a whole.
    pub column: u32,
    /// `IO011`.
    pub code: &'static str,
    /// Whether it stops the reading.
    pub severity: Severity,
    /// The section, and what in it: `MANAGER LIST: Worker 1`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        writeln!(f, "{severity}[{}] {}:{}:{}  {}", self.code, self.file, self.line, self.column, self.path)?;
        write!(f, "  {}\n  help: {}", self.message, self.help)
    }
}

/// Declares what can be wrong with a kind of file: an enumeration `Problem`, a variant a code, and the list of all
/// codes. Codes that go on with `0` after their two letters are errors, the others warnings.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident: $type:ty),* })? = $code:literal, $message:literal, $help:literal;)*) => {
        /// A mistake of the author, before it has a place.
        #[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
        pub(super) enum Problem {
            $($(#[$doc])* #[error($message)] $name $({ $($field: $type),* })?,)*
        }

        /// Every code, in order.
        pub const CODES: &[&str] = &[$($code),*];

        impl Problem {
            /// The code: two letters and three digits.
            const fn code(&self) -> &'static str {
                match self { $(Self::$name { .. } => $code,)* }
            }
            /// What to do about it.
            #[expect(unused_variables, reason = "not every help text repeats every field")]
            fn help(&self) -> String {
                match self { $(Self::$name $({ $($field),* })? => format!($help),)* }
            }
            fn severity(&self) -> $crate::findings::Severity {
                if self.code()[2..].starts_with('0') {
                    $crate::findings::Severity::Error
                } else {
                    $crate::findings::Severity::Warning
                }
            }
            /// As it is reported.
            pub(super) fn at(
                &self,
                place: $crate::findings::Place,
                path: &str,
                file: &str,
            ) -> $crate::findings::Finding {
                $crate::findings::Finding {
                    file: file.to_owned(),
                    line: place.line,
                    column: place.column,
                    code: self.code(),
                    severity: self.severity(),
                    path: path.to_owned(),
                    message: self.to_string(),
                    help: self.help(),
                }
            }
        }
    };
}
pub(crate) use problems;

/// What was found so far; no two the same.
#[derive(Default, Debug)]
pub(crate) struct Findings {
    found: BTreeSet<Finding>,
    errors: usize,
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        let is_error = finding.severity == Severity::Error;
        self.errors += usize::from(self.found.insert(finding) && is_error);
    }
    /// How many errors there are.
    pub(crate) const fn errors(&self) -> usize {
        self.errors
    }
    /// All of them, in the order of their places.
    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.found.into_iter().collect()
    }
}
