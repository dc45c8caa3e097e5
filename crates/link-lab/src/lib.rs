//! The laboratory of links: what a link can be before it carries anything. Channels with their budgets and eyes,
//! training, and stability cycles, each from a document.
//!
//! ```text
//!  link.yaml, *.s4p ─► channel: budgets, eyes, places of retimers
//!                        └─ receivers ─► stability: a link that trains on them, cycled as a real one is
//! ```
//!
//! Not here: what a channel does (`lanetwin-phy`), how a link trains (`lanetwin-pcie`), how a machine is cycled
//! (`lanetwin-probe`).

pub mod channel;
mod embedded;
pub mod stability;
