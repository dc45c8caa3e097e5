//! Compute Express Link (CXL): how memory requests become flits, and how an address finds its device.
//!
//! | module | is about |
//! |---|---|
//! | [`hdm`] | decoders of host-managed device memory (HDM): which target an address leads to, and where it is there |
//!
//! Time is an argument: nothing here knows a clock or an event queue.

pub mod hdm;
