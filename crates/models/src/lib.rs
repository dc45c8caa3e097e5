//! The shelf: one file, one device.
//!
//! ```text
//!   file            says                                       is held to
//!   <device>.rs     pub static MODEL: Model                    tests/shelf.rs: builds from its defaults, names its ports
//!                   ports, parameters, how it is built         once, explains itself, survives a storm
//! ```
//!
//! A new device is one file here and one word in the list below (`cargo xtask new-model NAME` writes both). **No model
//! knows another**: a device made of devices is an assembly, written as data in `parts/`. What several models are made
//! of is kept apart from them:
//!
//! | module | is about |
//! |---|---|
//! | `agenda` | what a device will do later, in the order of time |
//! | `between` | a place between who asks for blocks and the disk |
//! | `servers` | several equal servers with one queue: engines, walkers, cores |
//! | `gauge` | how much of something is in use, over time |
//! | `slab` | things in flight, by handle |
//! | `completer` | the answering side of a PCIe port: completions |
//! | `requests` | the requesting side of a PCIe port: splitting, tags, trains |
//! | `iommu` | address translation: a cache of finite reach and its walkers |
//! | [`marks`] | when something that was followed had passed which place |
//! | [`dram_params`] | what can be said of DRAM behind a device or a host |
//! | `doorbell` | what a block driver and a block device have agreed on |
//! | `nvme_software` | what software costs between a program and an NVMe controller |
//!
//! Not here: numbers of real parts (`parts/`), who asks for what and when (the load crate), what wires and switches do (the links of the
//! ports crate; a switch has a file here that says what can be said of it).

mod agenda;
mod between;
mod completer;
mod doorbell;
pub mod dram_params;
mod gauge;
mod iommu;
pub mod marks;
mod nvme_software;
mod requests;
mod servers;
mod slab;

use lanetwin_ports::{Model, Params};

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
    fc_hba,
    fixed_latency_disk,
    memory_endpoint,
    memory_host,
    null_disk,
    nvme_driver,
    nvme_ssd,
    redriver,
    retimer,
    root_complex,
    switch,
}

/// The model of this name, if there is one.
///
/// ```
/// assert_eq!(lanetwin_models::find("root-complex").unwrap().ports[0].name, "cpu");
/// assert!(lanetwin_models::find("perpetuum-mobile").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().copied().find(|model| model.name == name)
}

/// The model of the software that stands between block requests and a device of this model on PCIe.
///
/// Its parameters that the device's model has too are set with the device.
#[must_use]
pub fn driver(device: &Model) -> &'static Model {
    match device.name {
        "nvme-ssd" => &nvme_driver::MODEL,
        _ => &block_driver::MODEL,
    }
}

/// Whether a component with these parameters has the port of this name that its model declares.
#[must_use]
pub fn has_port(model: &Model, params: &Params, port: &str) -> bool {
    model.name != nvme_ssd::MODEL.name || port != nvme_ssd::SECOND_PORT || params.flag("dual-port")
}

/// Parameters that are legal one by one and make no device together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The parameter that can be changed.
    pub parameter: &'static str,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

/// Everything about these parameters that makes a device of this model impossible.
#[must_use]
pub fn mistakes(model: &Model, params: &Params) -> Vec<Mistake> {
    match model.name {
        "cxl-expander" => cxl_expander::mistakes(params),
        "cxl-hybrid" => cxl_hybrid::mistakes(params),
        "memory-host" => memory_host::mistakes(params),
        "nvme-ssd" => nvme_ssd::mistakes(params),
        _ => Vec::new(),
    }
}
