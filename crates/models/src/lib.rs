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
//! | `servers` | several equal servers with one queue: engines, walkers, cores |
//! | `slab` | things in flight, by handle |
//! | `completer` | the answering side of a PCIe port: completions |
//! | `requests` | the requesting side of a PCIe port: splitting, tags, trains |
//! | `iommu` | address translation: a cache of finite reach and its walkers |
//! | `doorbell` | what a block driver and a block device have agreed on |
//!
//! Not here: numbers of real parts (`parts/`), who asks for what and when (the load crate), what wires and switches do (the links of the
//! ports crate; a switch has a file here that says what can be said of it).

mod agenda;
mod completer;
mod doorbell;
mod gauge;
mod iommu;
mod requests;
mod servers;
mod slab;

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
    delay,
    dma_requester,
    drop,
    fc_hba,
    fixed_latency_disk,
    memory_endpoint,
    null_disk,
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
