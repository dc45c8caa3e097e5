//! Documents: a text becomes a tree in which every node knows its place; its fields are read against declared tables,
//! and all errors are reported at once.
//!
//! ```text
//!  text ─ yaml ─► Node ─ numbered ─ overlay (variants, `--set`) ─► Node ─ Fields, against a table of Field ─► values, and the completed mapping
//!                   └─────────────────────────────────── Reports ──────────────────────┘──► Diagnostics: code, place, remedy
//! ```
//!
//! This crate has the [quantities with their units](quantity), the errors of [any document](problem), and the page of
//! every code ([`explain`]).
//!
//! Not here: the keys of a scenario, a part or a channel, and their own errors (the plan and link-lab crates).

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
