//! What the standards say. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | `rate` | rates of data, and of the lines under them |
//! | `fec` | forward error correction: which lines have it, what it delays |
//! | `frame` | what a frame weighs on the wire |
//! | [`header`] | the words of the headers of Ethernet, VLAN, IPv4 and UDP |

mod fec;
mod frame;
pub mod header;
mod rate;

pub use fec::Fec;
pub use frame::{
    FCS_BYTES, GAP_BYTES, HEADER_BYTES, MAX_MTU, MIN_FRAME_BYTES, MIN_MTU, PREAMBLE_BYTES, Tagging,
    VLAN_BYTES, body_bytes, frame_bytes, wire_bytes,
};
pub use rate::{Modulation, Rate};
