//! Applications as programs.

pub mod cg;
pub mod graph500;
pub mod kv;
mod layout;
mod looped;
pub mod mg;
pub mod npb;
mod scramble;
mod steps;
mod walk;
mod watch;
mod window;

pub use layout::Part;
pub use window::{Window, sampled};
