//! The host: connections to queues, associations with controllers, the discovery and ANA logs.
//!
//! | module | content |
//! |---|---|
//! | [`config`], [`effect`] | configuration; commands and effects |
//! | [`queue`] | one connection: its start, command slots, data |
//! | [`controller`] | an association: admin queue, properties, I/O queues, Keep Alive, reconnecting |
//! | [`discovery`] | reading the discovery log |
//! | [`ana`] | the ANA log |
//!
//! Another layer chooses between several controllers for a command, with the information in [`ana`].

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
