//! What the standards make happen: machines that are told the time and never ask for it.
//!
//! | module | is about |
//! |---|---|
//! | `train` | equal frames one after another, as one thing |
//! | [`switch`] | a switch: admission to a shared buffer, queues, wires |
//! | `topology` | who is joined to whom: forwarding tables, loops of bridges |

pub mod switch;
mod topology;
mod train;

pub use topology::{Forwarding, Node, Topology};
pub use train::{Class, Station, Train};
