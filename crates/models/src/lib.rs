//! The shelf: one file, one device.
//!
//! ```text
//!   file            says                                       is held to
//!   <device>.rs     pub static MODEL: Model                    tests/shelf.rs: builds from its defaults, names its ports
//!                   ports, parameters, how it is built         once, explains itself, survives a storm
//! ```
//!
//! A new device is one file here and one word in the list below (`cargo xtask new-model NAME` writes both). **No
//! model knows another**: a device made of devices is an assembly, written as data in `parts/`. Modules shared by
//! several models are separate:
//!
//! | module | is about |
//! |---|---|
//! | `agenda` | what a device will do later, in the order of time |
//! | `between` | a place between who asks for blocks and the disk |
//! | `servers` | several equal servers with one queue: engines, walkers, cores |
//! | `gauge` | how much of something is in use, over time |
//! | `slab` | things in flight, by handle |
//! | `stages` | the names of the stages that a device marks |
//! | `completer` | the answering side of a PCIe port: completions |
//! | `requests` | the requesting side of a PCIe port: splitting, tags, trains |
//! | `iommu` | address translation: a cache of finite reach and its walkers |
//! | [`roles`] | what components can be asked to do beyond messages, as traits |
//! | `marks` | the stages of a read of DRAM |
//! | [`dram_params`] | what can be said of DRAM behind a device or a host |
//! | `doorbell` | what a block driver and a block device have agreed on |
//! | `fabric_control` | what software of NVMe over Fabrics says beside I/O |
//! | `fabric_software` | what software of NVMe over Fabrics costs, on both sides |
//! | `nvme_front` | the front of NVMe controllers on PCIe, whatever is behind them |
//! | `nvme_software` | what software costs between a program and an NVMe controller |
//! | [`tcp_socket`] | an end of a connection of TCP in the software of its host |
//! | [`network_workers`] | programs of two hosts that send each other bytes over TCP |
//! | [`multipath`] | software of a host that joins the paths to a drive, and fails over between them |
//! | [`shared_port`] | what lets several drivers share the port of their host, or several jobs that of a disk |
//!
//! Not here: numbers of real parts (`parts/`), load generation (the load crate), behaviour of wires and switches (the
//! links of the ports crate; the file of a switch here only has its parameters).

mod agenda;
mod ask;
mod between;
mod completer;
mod doorbell;
pub mod dram_params;
mod fabric_control;
mod fabric_software;
mod gauge;
mod iommu;
mod marks;
pub mod multipath;
pub mod network_workers;
mod nvme_front;
mod nvme_software;
mod requests;
pub mod roles;
mod servers;
pub mod shared_port;
mod slab;
mod stages;
pub mod tcp_socket;
pub mod verbs_programs;
mod wakes;

use lanetwin_ports::Model;

/// Declares the modules of the models and the list of them.
macro_rules! models {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*

        /// Every model, in the order of names.
        pub static MODELS: &[&Model] = &[$(&$name::MODEL),*];
    };
}

models! {
    block_driver,
    block_endpoint,
    corrupt,
    cxl_expander,
    cxl_hybrid,
    cxl_switch,
    delay,
    dma_requester,
    drop,
    ethernet_switch,
    fc_hba,
    fixed_latency_disk,
    memory_endpoint,
    memory_host,
    null_disk,
    nvme_driver,
    nvme_emulation,
    nvme_ssd,
    nvmeof_host,
    nvmeof_target,
    redriver,
    retimer,
    roce_nic,
    root_complex,
    switch,
}

/// Output of `cargo xtask new-model`, compiled with debug assertions so that tests find it as if it were on the
/// shelf. A feature for it would require compiling everything above once more.
#[cfg(any(test, debug_assertions))]
#[path = "../../xtask/templates/model.rs"]
pub mod template_model;

pub use memory_host::{UsedFrames, used_frames};

/// The model of this name, if there is one.
///
/// ```
/// assert_eq!(lanetwin_models::find("root-complex").unwrap().ports[0].name, "cpu");
/// assert!(lanetwin_models::find("perpetuum-mobile").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Model> {
    let on_shelf = MODELS.iter().copied();
    #[cfg(any(test, debug_assertions))]
    let on_shelf = on_shelf.chain(std::iter::once(&template_model::MODEL));
    let mut on_shelf = on_shelf;
    on_shelf.find(|model| model.name == name)
}

/// The model of the driver between block requests and a device of this model on PCIe: the one that the device's model
/// names.
///
/// # Panics
/// If there is no model of that name: a mistake in the device's model, found by the conformance test.
#[must_use]
pub fn driver(device: &Model) -> &'static Model {
    find(device.driver).unwrap_or_else(|| panic!("{} names no driver that there is", device.name))
}
