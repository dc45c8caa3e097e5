//! What the standards say. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | `packet` | what a packet weighs, the MTU of a path |
//! | [`header`] | the words of the transport headers, opcodes |

pub mod header;
mod packet;

pub use packet::{
    AETH_BYTES, BTH_BYTES, ICRC_BYTES, IETH_BYTES, Kind, PathMtu, RETH_BYTES, UDP_PORT, packet_bytes, packets,
};
