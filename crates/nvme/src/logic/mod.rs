//! Host and controller as total functions on state. Nothing here waits, reads a clock or accesses memory.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | configuration of a subsystem |
//! | `access` | ANA states of namespaces, by port |
//! | [`connection`] | queues that a front creates, and commands that it submits |
//! | [`effect`] | effects that a controller requests, and the tokens that resume it |
//! | [`health`] | counters of the owner of the medium |
//! | [`telemetry`] | state that the owner reports, stored for hosts |
//! | [`subsystem`] | controllers, namespaces and ports of one subsystem |
//! | [`host`] | for the host: queue pairs and controller initialization |

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
