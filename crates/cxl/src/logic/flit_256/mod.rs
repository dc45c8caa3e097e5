//! Links with flits of 256 B.
//!
//! ```text
//!   one flit           group 0      group 1      group 2       group 3
//!                    │ H  G  G  G │ G  G  G  G │ G/HS G  G  G │ G  G  G  credits │
//!   decided at       ↑            ↑            ↑              ↑
//!   usable, standard                                                              ↑ and error correction
//!   usable, halves                             ↑ what is whole in slots 0 to 6    ↑ the rest
//! ```
//!
//! The transmitter decides a group of slots when the group starts, as a pipeline of 64 B does (CXL §4.3.8): a message
//! waits for the next group, not for the next flit, also in a flit that begins empty. What it carries can be used when
//! the flit is all in and corrected, or when its half is in.
//!
//! Reliability is the physical layer's: every flit has a number, there is no control flit, and a flit that error
//! correction cannot help is sent again with all behind it.
//!
//! | module | is about |
//! |---|---|
//! | [`packer`] | what a group carries |
//! | `credits` | credits in hand, on their way, and owed |
//! | `cargo` | what a flit brings, where it may have to be sent again |
//! | `half` | one direction |
//! | [`link`] | both |

mod cargo;
mod credits;
mod half;
pub mod link;
pub mod packer;

pub use link::Link;
