//! The link laboratory: analysis of links before they carry traffic. Channels with their budgets and eyes, training,
//! and stability cycles, each from a document.
//!
//! ```text
//!  link.yaml, *.s4p ─► channel: budgets, eyes, places of retimers
//!                        └─ receivers ─► stability: a link that trains on them, cycled as a real one is
//! ```
//!
//! Not here: signals on a channel (`lanetwin-phy`), the states of training (`lanetwin-pcie`), the runner of cycles
//! (`lanetwin-probe`).

pub mod channel;
mod embedded;
pub mod stability;
