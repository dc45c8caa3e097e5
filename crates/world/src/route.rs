//! The way of TLPs over the links, beside routing by address and by ID.

pub(super) use lanetwin_ports::{Crossing, way};

#[cfg(test)]
mod tests;
