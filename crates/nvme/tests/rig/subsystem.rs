//! What the subsystem of a machine is made of.

use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, NamespaceConfig, SubsystemConfig};
use lanetwin_nvme::spec::{ControllerId, Nsid};

pub fn namespace(nsid: u32, bytes: u64, formats: &[LbaFormat], attached: &[u16]) -> NamespaceConfig {
    NamespaceConfig {
        nsid: Nsid(nsid),
        bytes,
        formats: formats.to_vec(),
        format: 0,
        attached: attached.iter().map(|&id| ControllerId(id)).collect(),
        zero_after_deallocate: true,
    }
}

pub fn subsystem(controllers: Vec<ControllerConfig>, namespaces: Vec<NamespaceConfig>) -> SubsystemConfig {
    SubsystemConfig {
        nqn: "nqn.2026-01.test:drive".into(),
        serial: "S1".into(),
        model: "Test Drive".into(),
        firmware: "1.0".into(),
        vendor: 0x144d,
        namespaces,
        controllers,
        volatile_write_cache: true,
        atomic_write_blocks: 8,
        access_ports: 0,
    }
}
