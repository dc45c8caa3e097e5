//! A simulated machine: configuration spaces from a dump, behind the same [`Host`] as a real one.
//!
//! | behaviour | a write |
//! |---|---|
//! | inert | has no effect: the runner has to report every action as not performed |
//! | obliging | changes the bits that the register map names, and takes effect at once; plans of the writes use it |
//!
//! Not here: a link that trains, with states, times and failures (`lanetwin-link-lab` simulates one behind these
//! spaces).

pub mod dump;
mod machine;
mod sample;

pub use machine::{Behaviour, Fake};
pub use sample::Sample;
