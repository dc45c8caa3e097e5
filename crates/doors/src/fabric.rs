//! NVMe/TCP: a drive as a namespace of a subsystem that hosts connect to, and a host of our own.
//!
//! ```text
//!  host ◄─ TCP ─► Front: Target (connections, capsules) ◄─► Subsystem (controllers, commands)
//!                                                                │ media        ▲ done
//!                                                                ▼              │
//!                                                              Engine: when, and with what bytes
//! ```
//!
//! What a controller does is that of the `nvme` crate, what a connection does that of `nvmeof`; here the medium behind
//! both is a drive of a scenario, its driver and its link included. [`front`] has no socket and reads no clock;
//! [`initiator`] has both.

pub mod front;
pub mod initiator;
pub mod offer;
pub mod ping;
