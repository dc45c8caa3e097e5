//! Ethernet: what a frame weighs, how fast lines carry it, what switches do with it.
//!
//! | module | is about |
//! |---|---|
//! | [`spec`] | rates, frames, headers, forward error correction: what the standards say |
//! | [`logic`] | what they make happen: trains of frames, switches with a shared buffer, ways through a topology |
//! | [`throughput`] | what is left of a line rate: closed forms |
//! | [`headroom`] | what still comes after a pause: closed form |
//!
//! Not here: half duplex, auto-negotiation, link aggregation (LAG), spanning trees: a loop of bridges is told
//! ([`logic::Topology::bridge_loop`]), not broken.
//!
//! ```
//! use lanetwin_fabric::ethernet::spec::{Rate, Tagging, frame_bytes, wire_bytes};
//!
//! // A full frame of 1500 B of payload takes 1538 B of a line: 123.04 ns at 100 Gb/s.
//! let frame = frame_bytes(1500, Tagging::Untagged);
//! assert_eq!((frame, Rate::G100.time_for(wire_bytes(frame)).as_ps()), (1518, 123_040));
//! ```

pub mod headroom;
pub mod logic;
pub mod spec;
pub mod throughput;
