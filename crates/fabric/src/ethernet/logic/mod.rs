//! Ethernet state machines. Time is an argument; they read no clock.
//!
//! | module | is about |
//! |---|---|
//! | `train` | equal frames one after another, as one thing |
//! | `pause` | pause frames, and the gate of a port that obeys them |
//! | [`switch`] | a switch: admission to a shared buffer, queues, wires |
//! | `topology` | who is joined to whom: forwarding tables, loops of bridges |

mod pause;
pub mod switch;
mod topology;
mod train;

pub use pause::{Gate, Pause};
pub use topology::{Forwarding, Node, Topology};
pub use train::{Class, Station, Train};
