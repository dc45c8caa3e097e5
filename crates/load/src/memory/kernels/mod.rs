//! Applications as programs.

pub mod cg;
pub mod kv;
mod layout;
mod looped;
pub mod mg;
pub mod npb;
mod walk;
mod watch;
mod window;

pub use layout::Part;
pub use window::{Window, sampled};
