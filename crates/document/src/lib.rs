//! From a text to a document: a tree in which every node knows where it was written, its fields read against declared
//! tables, and everything that is wrong with it at once.
//!
//! ```text
//!  text ─ yaml ─► Node ─ numbered ─ overlay (variants, `--set`) ─► Node ─ Fields, against a table of Field ─► values, and the completed mapping
//!                   └─────────────────────────────────── Reports ──────────────────────┘──► Diagnostics: code, place, remedy
//! ```
//!
//! Here are the [quantities with their units](quantity), what is wrong in [any document](problem), and the page of
//! every code ([`explain`]).
//!
//! Not here: the words of a scenario, a part or a channel, and what is wrong with them (the plan and link-lab crates),
//! which are declared where they are understood.

pub mod declaration;
mod embedded;
mod explain;
pub mod fields;
pub mod node;
pub mod numbered;
pub mod outline;
pub mod overlay;
pub mod problem;
pub mod quantity;
mod sources;
pub mod spelling;
pub mod yaml;

pub use explain::{codes, explain};
pub use lanetwin_problems::problems;
pub use node::{Entry, Kind, Node, Origin, Spot};
pub use problem::{Diagnostic, Severity};
pub use sources::{add_source, unreadable};
