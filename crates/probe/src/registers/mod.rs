//! The registers of configuration space that a link is known and driven by, each declared once.

mod map;
mod words;

pub use map::*;
pub use words::*;
