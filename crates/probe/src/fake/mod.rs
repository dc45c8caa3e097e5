//! A simulated machine: configuration spaces from a dump, behind the same [`Host`] as a real one.
//!
//! | behaviour | a write |
//! |---|---|
//! | inert | goes nowhere: every action has to be reported as not performed |
//! | obliging | is kept as the map of registers says, and does at once what it asks for: what a plan of the writes is made on |
//!
//! Not here: a link that trains, with states, times and failures (`lanetwin-link-lab` drives these spaces from one).

pub mod dump;
mod machine;
mod sample;

pub use machine::{Behaviour, Fake};
pub use sample::Sample;
