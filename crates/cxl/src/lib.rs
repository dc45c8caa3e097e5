//! Compute Express Link (CXL): transport of memory requests in flits, and decoding of addresses to devices.
//!
//! | module | content |
//! |---|---|
//! | [`spec`] | encoding and decoding of flits, slots and messages |
//! | [`logic`] | the link layer: packing, credits, retry |
//! | [`hdm`] | decoders of host-managed device memory (HDM): target and device address of a host address |
//!
//! Time is an argument: this crate uses no clock and no event queue.

pub mod hdm;
pub mod logic;
pub mod spec;
