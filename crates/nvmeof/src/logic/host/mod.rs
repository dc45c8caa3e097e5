//! The side of hosts: connections to queues, associations to controllers, the logs that say where they are.
//!
//! | module | is about |
//! |---|---|
//! | [`config`], [`effect`] | what both are made of; what they are given to do and want done |
//! | [`queue`] | one connection: its start, command slots, data |
//! | [`controller`] | an association: admin queue, properties, I/O queues, Keep Alive, reconnecting |
//! | [`discovery`] | reading the discovery log |
//! | [`ana`] | the ANA log |
//!
//! Which of several controllers a command takes is another layer's; what it needs to know is in [`ana`].

pub mod ana;
pub mod config;
pub mod controller;
pub mod discovery;
pub mod effect;
pub mod queue;

mod answers;
mod authentication;
mod slots;

pub use config::{ControllerConfig, HostName, HostTransport, QueueConfig, RdmaHost, TcpHost};
pub use controller::Controller;
pub use effect::{ControllerEffect, Ending, Failure, Io, Phase, QueueEffect, QueueFull, Transfer};
pub use queue::Queue;
