//! What the tree of scenarios and single runs are held to, in one program: each of these files as one of its own would
//! link the whole engine again. `cargo test -p lanetwin-world retimers` runs the file of that name.

mod abuse;
mod actions;
mod assemblies;
mod bottleneck;
mod captures;
mod comebacks;
mod cxl_memory;
mod devices;
mod dual_port;
mod extremes;
mod fio;
mod host_cores;
mod iometer;
mod iommu;
mod length;
mod memory_parts;
mod memory_starts;
mod memory_waterfalls;
mod mutants;
mod network;
mod nvme;
mod nvme_options;
mod openings;
mod partitions;
mod preconditioning;
mod pts;
mod questions;
mod remote;
mod remote_dpu;
mod remote_goodput;
mod remote_laws;
mod remote_leaving;
mod remote_offload;
mod remote_paths;
mod remote_scale;
mod remote_together;
mod retimers;
mod runs;
// the device that it is about is compiled where assertions are
#[cfg(debug_assertions)]
mod self_report;
mod settings;
mod steady_rounds;
mod switches;
mod transits;
mod tree;
mod two_hosts;
mod verbs;
