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
//! The transmitter decides a group of slots when the group starts, as a 64 B pipeline does (CXL §4.3.8): a message
//! waits for the next group, not for the next flit, even in a flit that began empty. The receiver can use the content
//! when the whole flit has arrived and been corrected, or, in a latency-optimised flit, when its half has arrived.
//!
//! The physical layer provides reliability: every flit has a sequence number, there are no control flits, and a flit
//! that cannot be corrected is sent again with all flits after it.
//!
//! | module | content |
//! |---|---|
//! | [`packer`] | content of a group |
//! | `credits` | credits at the transmitter, on their way, and to be returned |
//! | `cargo` | stored content of flits that may have to be sent again |
//! | `half` | one direction |
//! | [`link`] | both directions |

mod cargo;
mod credits;
mod half;
pub mod link;
pub mod packer;

pub use link::Link;
