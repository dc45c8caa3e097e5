//! The logic of both sides: total functions on state. Nothing here waits, reads a clock or touches memory.
//!
//! | module | is about |
//! |---|---|
//! | [`config`] | what a subsystem is made of |
//! | `access` | how namespaces are reached, by port |
//! | [`connection`] | queues that a front makes, and commands that it hands in |
//! | [`effect`] | what a controller wants done, and the tokens that say it was |
//! | [`health`] | counters that the owner of the medium keeps |
//! | [`telemetry`] | what the owner tells of its state, and how it is kept for hosts |
//! | [`subsystem`] | controllers, namespaces and ports behind one door |
//! | [`host`] | queue pairs and the start of a controller, from the host's side |

mod access;
pub mod config;
pub mod connection;
mod controller;
pub mod effect;
pub mod health;
pub mod host;
mod nvm;
pub mod subsystem;
pub mod telemetry;

pub use crate::spec::Doorbell;
pub use config::{ConfigFault, ControllerConfig, LbaFormat, NamespaceConfig, SubsystemConfig};
pub use connection::{
    Capsule, ConnectFault, Connection, ControllerChoice, DataLocation, PropertySize, Refused,
};
pub use effect::{
    CommandBlocks, Direction, Effect, HostEffect, MediaOperation, MediaRequest, Place, Purpose, Segment,
    Token,
};
pub use health::Health;
pub use subsystem::Subsystem;
pub use telemetry::Telemetry;
