//! What the devices on the shelf do, each driven through its ports in a kernel of its own.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod block;
mod conditions;
mod cxl_expander;
mod cxl_hybrid;
mod cxl_switch;
mod dma;
mod ethernet;
mod fc;
mod incast;
mod iommu;
mod memory_endpoint;
mod memory_host;
mod memory_turns;
mod nvme_driver;
mod over_links;
mod pause_storm;
mod rig;
mod roce_nic;
mod root_complex;
mod shelf;
mod storm;
mod tcp_offload;
mod wrappers;
