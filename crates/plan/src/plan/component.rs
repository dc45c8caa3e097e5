//! A component of the plan: a model with all its parameters, and its ports.

use lanetwin_document::node::Origin;
use lanetwin_ports::{Capability, HOST_SOFTWARE, Model, Params, Protocol, Value};
use std::collections::BTreeMap;
use std::fmt;

/// A component: a model with all its parameters.
#[derive(Clone)]
pub struct ComponentPlan {
    /// Its name.
    pub name: String,
    /// Its part; `None` if the scenario names a model.
    pub part: Option<String>,
    /// Its model.
    pub model: &'static Model,
    /// Its parameters, all of them.
    pub params: Params,
    /// The origin of each parameter.
    pub origins: BTreeMap<&'static str, Origin>,
    /// Its ports; the index is the kernel's port number.
    pub ports: Vec<PortPlan>,
}

/// A port of a component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortPlan {
    /// Its name (`pcie`, `slot1`).
    pub name: String,
    /// The name in the model's declaration (`slot`).
    pub group: &'static str,
    /// Its protocol.
    pub speaks: Protocol,
    /// Whether it is one of several that are alike.
    pub many: bool,
}

impl ComponentPlan {
    /// Whether it is a host: it has root ports and runs drivers.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.has(Protocol::Pcie) && self.has(Protocol::Cpu)
    }
    /// Whether it is a switch that belongs to the links.
    #[must_use]
    pub const fn is_switch(&self) -> bool {
        self.model.is_switch()
    }
    /// Whether it is an Ethernet switch: all of its ports are Ethernet.
    #[must_use]
    pub fn is_ethernet_switch(&self) -> bool {
        !self.ports.is_empty() && self.ports.iter().all(|port| port.speaks == Protocol::Ethernet)
    }
    /// Whether it has a port with `protocol`.
    #[must_use]
    pub fn has(&self, protocol: Protocol) -> bool {
        self.ports.iter().any(|port| port.speaks == protocol)
    }
    /// Whether it answers block requests at a port of its own. A device with NVMe queues may have a block port, too,
    /// but sends requests through it.
    #[must_use]
    pub fn answers_blocks(&self) -> bool {
        self.has(Protocol::Block) && !self.model.can(Capability::NvmeQueues)
    }
    /// A parameter of the host's software for this device, with its origin: the device's own value if it is set for the
    /// device, otherwise the host's. `None` if neither has the parameter.
    #[must_use]
    pub fn software(&self, name: &str, host: &Self) -> Option<(Value, Origin)> {
        let of = |component: &Self| {
            let origin = component.origins.get(name).copied().unwrap_or(Origin::Default);
            Some((*component.params.0.get(name)?, origin))
        };
        let own = of(self);
        let said = own.filter(|(_, origin)| *origin != Origin::Default);
        said.or_else(|| of(host).filter(|_| name.starts_with(HOST_SOFTWARE))).or(own)
    }
    /// The index of its first port with `protocol`.
    #[must_use]
    pub fn port(&self, protocol: Protocol) -> Option<usize> {
        self.ports.iter().position(|port| port.speaks == protocol)
    }
    /// The index of the port of this name.
    #[must_use]
    pub fn named_port(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.name == name)
    }
}

impl PartialEq for ComponentPlan {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.part == other.part
            && std::ptr::eq(self.model, other.model)
            && self.params == other.params
    }
}

impl fmt::Debug for ComponentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.name;
        f.debug_struct("ComponentPlan")
            .field("name", &self.name)
            .field("model", &model)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
