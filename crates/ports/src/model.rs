//! Declaration of a device: one file on the shelf, one word in its list.
//!
//! Scenario checking, the catalogue, the page in the docs and the conformance test are derived from a [`Model`]; a
//! new device needs nothing else.

use crate::condition::Condition;
use crate::cores::RunQueue;
use crate::ethernet::{CableOutages, EthernetSite};
use crate::memory::SharedMemory;
use crate::message::Message;
use crate::rdma::Rdma;
use crate::sockets::Sockets;
use lanetwin_cxl::hdm::Decoder;
use lanetwin_fabric::ethernet::logic::Forwarding;
use lanetwin_kernel::Component;
use lanetwin_pcie::link::{EndpointId, SwitchSpec};
use lanetwin_pcie::spec::Extension;
use lanetwin_units::{Bytes, Generation, Instant, Span, Width};
use std::collections::BTreeMap;

/// A kind of device: its name, ports, parameters, checks, and how an instance is built.
pub struct Model {
    /// Its name in part files (`root-complex`).
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Its ports, in the order of their numbers.
    pub ports: &'static [PortInfo],
    /// Its parameters, in groups (the standard parameters of its ports, its own).
    pub params: &'static [&'static [Param]],
    /// Whether, with these parameters, the device frees its PCIe receive buffers itself ([`Message::Release`]); if not,
    /// the link frees them after `port.drain`.
    pub drains_itself: fn(&Params) -> bool,
    /// Whether it has memory that other devices read and write by DMA.
    pub has_memory: bool,
    /// Whether the declared port of this name exists with these parameters.
    pub has_port: fn(&Params, &str) -> bool,
    /// Errors: combinations of parameters, each legal by itself, that no device can have.
    pub mistakes: fn(&Params) -> Vec<Mistake>,
    /// Warnings: combinations that are possible but limit the device more than their values suggest, with the
    /// arithmetic.
    pub limits: fn(&Params) -> Vec<Mistake>,
    /// Which parameters have an effect only with certain values of others.
    pub conditions: &'static [Condition],
    /// The name of the model of this device's driver software; unused if the device has none. Parameters that driver
    /// and device both declare are set with the device.
    pub driver: &'static str,
    /// What it can do beyond what its ports say.
    pub capabilities: &'static [Capability],
    /// How many cores the software and the programs of this host share, with these parameters; 0 if unspecified.
    pub cores: fn(&Params) -> u64,
    /// The parameter that gives the forwarding latency along a path through the device: a parameter for that path, or
    /// `latency`.
    pub latency_parameter: fn(&Params, Way) -> &'static str,
    /// Whether it learns of messages when they are sent instead of when they arrive ([`Component::expect`]). It is then
    /// added to the kernel as a foreseeing component.
    pub foresees: bool,
    /// Makes one.
    pub build: Build,
}

/// What a device can do beyond what its ports say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Capability {
    /// It takes commands of NVM Express from queues in host memory.
    NvmeQueues,
    /// It carries out work requests of queue pairs: an adapter for RDMA, with one Ethernet port.
    Rdma,
}

/// A path through a switch or a retimer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Along a link of this generation.
    Along(Generation),
    /// From a link of one width to one of another.
    Between(Width, Width),
}

/// The parameter for every path that has no latency parameter of its own.
pub const LATENCY: &str = "latency";

/// Whether the parameter of this name is the latency between links of two widths (`latency.x4-x8`). If its value is
/// zero, [`LATENCY`] applies.
#[must_use]
pub fn is_latency_between_widths(name: &str) -> bool {
    let widths = name.strip_prefix("latency.").and_then(|pair| pair.split_once('-'));
    let is_width = |text: &str| text.strip_prefix('x').is_some_and(|lanes| lanes.parse::<u32>().is_ok());
    widths.is_some_and(|(from, to)| is_width(from) && is_width(to))
}

/// A combination of parameters, each legal by itself, that is wrong or limiting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The parameter to change.
    pub parameter: &'static str,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

/// How a model is instantiated in a world.
#[derive(Clone, Copy)]
pub enum Build {
    /// A component of the kernel.
    Component(fn(&Params, &Site) -> Box<dyn Component<Message>>),
    /// A PCIe switch. The links simulate it; it receives no messages.
    Switch(fn(&Params) -> SwitchSpec),
    /// A retimer or a redriver inside a link of some generation. The link simulates it.
    Extension(fn(&Params, Generation) -> Extension),
}

impl Model {
    /// The defaults: a declaration states what differs and takes the rest from `..Model::DEFAULT`.
    pub const DEFAULT: Self = Self {
        name: "",
        about: "",
        ports: &[],
        params: &[],
        drains_itself: |_| false,
        has_memory: false,
        has_port: |_, _| true,
        mistakes: |_| Vec::new(),
        limits: |_| Vec::new(),
        conditions: &[],
        driver: "block-driver",
        capabilities: &[],
        cores: |_| 0,
        latency_parameter: |_, _| LATENCY,
        foresees: false,
        build: Build::Component(|_, _| unreachable!("a model says how it is built")),
    };
    /// Whether it has this capability.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
    /// Builds the component; none for a switch, retimer or redriver.
    #[must_use]
    pub fn component(&self, params: &Params, site: &Site) -> Option<Box<dyn Component<Message>>> {
        match self.build {
            Build::Component(build) => Some(build(params, site)),
            Build::Switch(_) | Build::Extension(_) => None,
        }
    }
    /// The specification of a switch; none for other models.
    #[must_use]
    pub fn switch(&self, params: &Params) -> Option<SwitchSpec> {
        match self.build {
            Build::Component(_) | Build::Extension(_) => None,
            Build::Switch(build) => Some(build(params)),
        }
    }
    /// The specification of a retimer or redriver at a generation; none for other models.
    #[must_use]
    pub fn extension(&self, params: &Params, generation: Generation) -> Option<Extension> {
        match self.build {
            Build::Component(_) | Build::Switch(_) => None,
            Build::Extension(build) => Some(build(params, generation)),
        }
    }
    /// Whether it is a retimer or a redriver.
    #[must_use]
    pub const fn is_extension(&self) -> bool {
        matches!(self.build, Build::Extension(_))
    }
    /// Whether it is a switch.
    #[must_use]
    pub const fn is_switch(&self) -> bool {
        matches!(self.build, Build::Switch(_))
    }
    /// Every parameter.
    pub fn all_params(&self) -> impl Iterator<Item = &'static Param> {
        self.params.iter().flat_map(|group| group.iter())
    }
}

/// A port of a model. Port number = its place in [`Model::ports`], after expansion of the one that is `many`.
pub struct PortInfo {
    /// Its name in `links:` (`slot`).
    pub name: &'static str,
    /// The protocol it speaks.
    pub speaks: Protocol,
    /// What it is for.
    pub about: &'static str,
    /// Whether there are as many as parameter `ports` says (`slot0`, `slot1`, …); only the last port of a model can be.
    pub many: bool,
}

/// What a port speaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Protocol {
    /// PCI Express: joined by a link.
    Pcie,
    /// Commands to a DMA requester.
    Dma,
    /// Block requests.
    Block,
    /// A driver's view of a root complex.
    Cpu,
    /// The same for a device other than a host: software in an adapter that drives other devices.
    Inside,
    /// CXL.mem: lines of memory, joined by a link that packs them into flits.
    Cxl,
    /// Ethernet: frames. Two ports are joined directly; each knows the line between them.
    Ethernet,
}

/// A parameter: name, unit, sentence, default.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name in part files and scenarios (`memory.llc-hit`).
    pub name: &'static str,
    /// What kind of quantity it is.
    pub dimension: Dimension,
    /// Its default value, written as a user would; none if a value is required.
    pub default: Option<&'static str>,
    /// What it means, in one sentence.
    pub about: &'static str,
}

/// The prefix of parameters of a host's software. Set on a host, such a parameter applies to the drivers of all its
/// drives; set on a drive, it applies to the drivers of that drive.
pub const HOST_SOFTWARE: &str = "driver.";

impl Param {
    /// Whether it is a parameter of a host's software.
    #[must_use]
    pub fn is_of_host_software(&self) -> bool {
        self.name.starts_with(HOST_SOFTWARE)
    }
    /// The same parameters, some with other defaults: models share the meaning of a parameter, not always its usual
    /// value.
    ///
    /// # Panics
    /// If there is no parameter of one of the names: when it is compiled, if the declaration is a constant.
    #[must_use]
    pub const fn with_defaults<const N: usize>(
        mut params: [Self; N],
        defaults: &[(&str, &'static str)],
    ) -> [Self; N] {
        let mut d = 0;
        while d < defaults.len() {
            let mut p = 0;
            while !same_text(params[p].name, defaults[d].0) {
                p += 1;
            }
            params[p].default = Some(defaults[d].1);
            d += 1;
        }
        params
    }
}

const fn same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The kind of quantity that a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// A length of time (`80ns`).
    Time,
    /// A size (`128KiB`).
    Size,
    /// Bytes per second (`12.8GB/s`).
    Rate,
    /// A whole number in a range, both ends included (`32`).
    Count {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A number from 0 to 1 (`0.25`, `25%`, `1e-12`).
    Ratio,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, or a number from 0 to 1.
    ChoiceOrRatio(&'static [&'static str]),
}

/// The value of a parameter, checked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A length of time.
    Time(Span),
    /// A size.
    Size(Bytes),
    /// Bytes per second.
    Rate(u64),
    /// A whole number.
    Count(u64),
    /// A number from 0 to 1.
    Ratio(f64),
    /// True or false.
    Flag(bool),
    /// One of the words of the parameter.
    Choice(&'static str),
}

/// The values of a component's parameters: complete and checked, every default filled in.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Params(pub BTreeMap<&'static str, Value>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident -> $type:ty, $variant:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// If the model has no such parameter: a mistake in the model, found by the conformance test.
        #[must_use]
        pub fn $name(&self, name: &str) -> $type {
            match self.0.get(name) {
                Some(Value::$variant(value)) => *value,
                other => panic!("parameter {name} is {other:?}, not {}", stringify!($variant)),
            }
        }
    )*};
}

impl Params {
    getters! {
        /// A length of time.
        time -> Span, Time;
        /// A size.
        size -> Bytes, Size;
        /// Bytes per second.
        rate -> u64, Rate;
        /// A whole number.
        count -> u64, Count;
        /// A number from 0 to 1.
        ratio -> f64, Ratio;
        /// True or false.
        flag -> bool, Flag;
        /// One of the words of the parameter.
        choice -> &'static str, Choice;
    }
}

/// A component's surroundings, given to it when it is built.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its path in the machine (`host`, `card`).
    pub path: String,
    /// The seed of the run: random streams derive from it, the path and a purpose.
    pub seed: u64,
    /// Its PCIe ports, in the order of its ports of that protocol; unconnected ones are `None`.
    pub pcie: Vec<Option<PcieSite>>,
    /// For a driver: the PCIe port of the device that it drives. For a DMA requester: the PCIe port of the peer whose
    /// memory it reads and writes; none if the memory is the host's.
    pub target: Option<EndpointId>,
    /// For a root complex: the PCIe port of each device with a driver, and the root port above it.
    pub routes: Vec<(EndpointId, EndpointId)>,
    /// The bytes of the host's memory: for a host its own, for a device that of the host above it, for a driver that of
    /// its host; none where there is no host.
    pub memory: Option<SharedMemory>,
    /// The run queues of cores that the host's software shares: for a host all of them, for a driver the one of each of
    /// its loads. Empty if cores are not shared.
    pub cores: Vec<RunQueue>,
    /// For a component with downstream CXL ports: the HDM decoders of the memory behind them, in the order of
    /// addresses. A decoder's target is the index of a port among the downstream CXL ports.
    pub decoders: Vec<Decoder>,
    /// For a device with several PCIe ports: which port (from 0) loses its link, and when. The controller behind that
    /// port is lost with it.
    pub losses: Vec<(usize, Instant)>,
    /// The memory of the host behind each port, for a device whose ports lead to several hosts.
    pub behind: Vec<(usize, SharedMemory)>,
    /// Its Ethernet ports, in the order of its ports of that protocol; unconnected ones are `None`.
    pub ethernet: Vec<Option<EthernetSite>>,
    /// Outages of the cables at these ports, in the same order.
    pub outages: Vec<CableOutages>,
    /// The queue pairs of its network: for an adapter, and for software that uses one.
    pub rdma: Rdma,
    /// The TCP connections of its network: likewise.
    pub sockets: Sockets,
    /// For an Ethernet switch: its forwarding table.
    pub forwarding: Forwarding,
    /// Whether it must account for the time that it was busy.
    pub tells_busy_time: bool,
    /// For a driver of a target: the device in whose memory data are, except writes of at most this many bytes, which
    /// come in capsules; `None` if all are in host memory.
    pub staging: Option<(EndpointId, u32)>,
}

impl Site {
    /// A site without connections, driver target or host memory. Callers add what there is:
    /// `Site { target, ..Site::alone("driver", 1) }`.
    #[must_use]
    pub fn alone(path: impl Into<String>, seed: u64) -> Self {
        Self {
            path: path.into(),
            seed,
            pcie: Vec::new(),
            target: None,
            routes: Vec::new(),
            memory: None,
            cores: Vec::new(),
            decoders: Vec::new(),
            losses: Vec::new(),
            behind: Vec::new(),
            ethernet: Vec::new(),
            outages: Vec::new(),
            rdma: Rdma::default(),
            sockets: Sockets::default(),
            forwarding: Forwarding::default(),
            tells_busy_time: false,
            staging: None,
        }
    }
}

/// A PCIe port in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PcieSite {
    /// The port's identifier on the links.
    pub endpoint: EndpointId,
    /// The root port at the top of its hierarchy, the destination of requests to host memory (for a root port, itself).
    pub root: EndpointId,
    /// Maximum Payload Size of the hierarchy \[B\].
    pub mps: u16,
    /// Maximum Read Request Size \[B\].
    pub mrrs: u16,
    /// Read Completion Boundary of the root port \[B\].
    pub rcb: u16,
    /// Number of tags that the requester may use.
    pub tags: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn param(name: &'static str) -> Param {
        Param { name, dimension: Dimension::Flag, default: Some("true"), about: "" }
    }

    #[test]
    fn other_defaults_are_those_of_the_parameters_named() {
        let defaults = |params: &[Param]| params.iter().map(|p| p.default).collect::<Vec<_>>();
        let all = [param("a"), param("ab"), param("b")];
        assert_eq!(
            defaults(&Param::with_defaults(all, &[("ab", "false")])),
            [Some("true"), Some("false"), Some("true")]
        );
        assert_eq!(defaults(&Param::with_defaults(all, &[])), [Some("true"); 3]);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_default_of_nothing_is_a_mistake() {
        let _ = Param::with_defaults([param("a")], &[("b", "true")]);
    }
}
