//! NVMe/TCP: a drive as a namespace of a subsystem for NVMe/TCP hosts, and a host for measurements.
//!
//! ```text
//!  host ◄─ TCP ─► Front: Target (connections, capsules) ◄─► Subsystem (controllers, commands)
//!                                                                │ media        ▲ done
//!                                                                ▼              │
//!                                                              Engine: when, and with what bytes
//! ```
//!
//! The `nvme` crate implements the controllers, `nvmeof` the connections; here their medium is a drive of a scenario,
//! with its driver and its link. [`front`] has no socket and reads no clock; [`initiator`] has both.

pub mod front;
pub mod initiator;
pub mod offer;
pub mod ping;
