//! The physical layer: will a link meet its loss budget, and how wide is the eye at its receiver?
//!
//! [`Transfer`] is what a channel is to everything here; [`eye`] says what a receiver can make of it. Nothing here knows
//! time, a protocol or a link: it is arithmetic on functions of frequency.

pub mod eye;
mod transfer;

pub use transfer::Transfer;
