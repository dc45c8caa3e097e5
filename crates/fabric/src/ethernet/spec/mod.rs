//! What the standards say. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | `rate` | rates of data, and of the lines under them |
//! | `fec` | forward error correction: which lines have it, what it delays |
//! | `frame` | what a frame weighs on the wire |
//! | `line` | a line between two ports: what a bit takes |
//! | `pause` | pause frames: their size, their times, how soon they are obeyed |
//! | [`header`] | the words of the headers of Ethernet, VLAN, IPv4 and UDP |

mod fec;
mod frame;
pub mod header;
mod line;
mod pause;
mod rate;

pub use fec::{Fec, Modulation};
pub use frame::{
    FCS_BYTES, GAP_BYTES, HEADER_BYTES, MAX_MTU, MIN_FRAME_BYTES, MIN_MTU, PREAMBLE_BYTES, Tagging,
    VLAN_BYTES, body_bytes, frame_bytes, wire_bytes,
};
pub use line::{Line, PROPAGATION_PS_PER_METRE};
pub use pause::{PAUSE_BYTES, pause_frame_time, pause_time, slowest_response};
pub use rate::Rate;
