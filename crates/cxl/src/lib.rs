//! Compute Express Link (CXL): how memory requests become flits, and how an address finds its device.
//!
//! | module | is about |
//! |---|---|
//! | [`spec`] | flits, slots and messages, to bytes and back |
//! | [`logic`] | the link layer: packing, credits, retry |
//! | [`hdm`] | decoders of host-managed device memory (HDM): which target an address leads to, and where it is there |
//!
//! Time is an argument: nothing here knows a clock or an event queue.

pub mod hdm;
pub mod logic;
pub mod spec;
