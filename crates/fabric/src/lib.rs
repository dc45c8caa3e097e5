//! Fabrics: how data are framed and how their flow is controlled between machines. It knows no clock and no device.
//!
//! * [`ethernet`]: Ethernet, 1 to 400 Gb/s, with switches.
//! * [`fc`]: Fibre Channel, 1GFC to 8GFC, with FCP (SCSI over Fibre Channel).
//! * [`roce`]: RoCEv2, remote direct memory access over UDP.
//! * [`tcp`]: TCP, with loss recovery and congestion control.
//!
//! Not here: the models of adapters and targets, which live on a higher floor.
//!
//! ```
//! use lanetwin_fabric::fc::{DataField, Rate, throughput};
//!
//! // What does a 4GFC port carry, in frames of 2048 B, one way? 425 MB/s × 2048 / 2108.
//! assert_eq!(throughput::one_way(Rate::Gfc4, DataField::B2048), 412_903_225);
//! ```

pub mod ethernet;
pub mod fc;
pub mod roce;
pub mod tcp;
