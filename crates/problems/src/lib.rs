//! Mistakes of an author, declared once: a code, a message, a remedy.
//!
//! ```
//! use lanetwin_problems::{Complaint, Severity};
//! mod problem {
//!     lanetwin_problems::problems! {
//!         /// Nobody is there.
//!         Absent { name: String } = "XX001", "there is no `{name}`", "look at the list";
//!         /// Somebody is there twice.
//!         Twice = "XX101", "it is there twice", "remove one";
//!     }
//! }
//! let absent = problem::Problem::Absent { name: "slot".into() };
//! assert_eq!((absent.code(), absent.severity()), ("XX001", Severity::Error));
//! assert_eq!((absent.message(), absent.help()), ("there is no `slot`".into(), "look at the list".into()));
//! assert_eq!(problem::Problem::Twice.severity(), Severity::Warning);
//! assert_eq!(problem::CODES, ["XX001", "XX101"]);
//! ```
//!
//! A code never changes its meaning and is never used again; `docs/errors/` has a page for each. The place of a problem
//! is added by the code that reports it, since each kind of text has its own kind of places.

use serde::Serialize;

/// Whether a problem stops the request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The request is refused: there is no plan, no result, and nothing is done.
    Error,
    /// There is a result, but it may not be what was meant, or be less accurate than it seems.
    Warning,
}

/// A problem that can be reported: it has a code, a message and a remedy.
pub trait Complaint {
    /// The code, two letters and three digits: `SC011`.
    fn code(&self) -> &'static str;
    /// What is wrong.
    fn message(&self) -> String;
    /// What to do about it.
    fn help(&self) -> String;
    /// Whether it stops the request: codes from 100 on are warnings.
    fn severity(&self) -> Severity {
        if self.code()[2..].starts_with('0') { Severity::Error } else { Severity::Warning }
    }
}

/// Declares the problems that a module can report, as an enum `Problem` with a variant for each code, its message and
/// its remedy; and the list of all codes as `CODES`. The crate that uses the macro needs `thiserror`.
#[macro_export]
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident: $type:ty),* })? = $code:literal, $message:literal, $help:literal;)*) => {
        /// A mistake of the author, before it has a place.
        #[derive(Clone, PartialEq, Debug, thiserror::Error)]
        #[allow(missing_docs, reason = "the message says what each field is")]
        pub enum Problem {
            $($(#[$doc])* #[error($message)] $name $({ $($field: $type),* })?,)*
        }

        /// Every code, in order.
        #[allow(dead_code, reason = "in a module that is not public, tests alone compare them with their pages")]
        pub const CODES: &[&str] = &[$($code),*];

        impl $crate::Complaint for Problem {
            fn code(&self) -> &'static str {
                match self { $(Self::$name { .. } => $code,)* }
            }
            fn message(&self) -> String {
                self.to_string()
            }
            #[expect(unused_variables, reason = "not every help text repeats every field")]
            fn help(&self) -> String {
                match self { $(Self::$name $({ $($field),* })? => format!($help),)* }
            }
        }
    };
}
