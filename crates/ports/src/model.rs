//! How a device declares itself: one file on the shelf, one word in its list.
//!
//! From a [`Model`] come scenario checking, the catalogue, the page in the docs and the conformance test; a new device
//! touches nothing else.

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

/// A kind of device: what it is called, what it can be connected to, what can be said of it, how it is built.
pub struct Model {
    /// Its name in part files (`root-complex`).
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Its ports, in the order of their numbers.
    pub ports: &'static [PortInfo],
    /// Its parameters, in groups (a port's standard parameters, its own).
    pub params: &'static [&'static [Param]],
    /// Whether its PCIe ports empty their receive buffers themselves ([`Message::Release`]), with these parameters; if
    /// not, the links do it for them after `port.drain`.
    pub drains_itself: fn(&Params) -> bool,
    /// Whether it has memory that devices read and write by DMA.
    pub has_memory: bool,
    /// Whether it has its port of this name, which it declares, with these parameters.
    pub has_port: fn(&Params, &str) -> bool,
    /// Everything about these parameters, legal one by one, that makes it impossible.
    pub mistakes: fn(&Params) -> Vec<Mistake>,
    /// What is possible with these parameters and holds it back more than whoever reads them would think, with the
    /// arithmetic.
    pub limits: fn(&Params) -> Vec<Mistake>,
    /// Which of its parameters have an effect only beside certain values of others.
    pub conditions: &'static [Condition],
    /// The name of the model of the software between programs and this device; of no meaning for what is not driven.
    /// Its parameters that the device's model has too are set with the device.
    pub driver: &'static str,
    /// What can be asked of it beyond what its ports say.
    pub capabilities: &'static [Capability],
    /// How many cores the software and the programs of this host share, with these parameters; 0 if it does not say.
    pub cores: fn(&Params) -> u64,
    /// The parameter that says how long something takes to pass it on this way: one of its own for the way, or
    /// `latency`.
    pub latency_parameter: fn(&Params, Way) -> &'static str,
    /// Whether it is told of messages when they are sent, not when they arrive ([`Component::expect`]): it is then
    /// added to the kernel as foreseeing.
    pub foresees: bool,
    /// Makes one.
    pub build: Build,
}

/// What can be asked of a device beyond what its ports say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Capability {
    /// It takes commands of NVM Express from queues in host memory.
    NvmeQueues,
    /// It carries out work requests of queue pairs: an adapter for RDMA, with one Ethernet port.
    Rdma,
}

/// A way through something that stands between links, or in one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Along a link of this generation.
    Along(Generation),
    /// From a link of one width to one of another.
    Between(Width, Width),
}

/// The parameter that every way has which has no latency of its own.
pub const LATENCY: &str = "latency";

/// Whether the parameter of this name is the latency between links of two widths (`latency.x4-x8`), of which zero
/// stands for [`LATENCY`].
#[must_use]
pub fn is_latency_between_widths(name: &str) -> bool {
    let widths = name.strip_prefix("latency.").and_then(|pair| pair.split_once('-'));
    let is_width = |text: &str| text.strip_prefix('x').is_some_and(|lanes| lanes.parse::<u32>().is_ok());
    widths.is_some_and(|(from, to)| is_width(from) && is_width(to))
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

/// What becomes of a model in a machine that runs.
#[derive(Clone, Copy)]
pub enum Build {
    /// A component of the kernel.
    Component(fn(&Params, &Site) -> Box<dyn Component<Message>>),
    /// A switch of the links: they do what it does, and it is sent no messages.
    Switch(fn(&Params) -> SwitchSpec),
    /// A retimer or a redriver: it stands in a link of some generation, which does what it does.
    Extension(fn(&Params, Generation) -> Extension),
}

impl Model {
    /// What a model is that says nothing else of itself: a declaration says what differs, `..Model::DEFAULT` the rest.
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
    /// Whether this can be asked of it.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
    /// Makes a component; none if it is a switch or stands in a link.
    #[must_use]
    pub fn component(&self, params: &Params, site: &Site) -> Option<Box<dyn Component<Message>>> {
        match self.build {
            Build::Component(build) => Some(build(params, site)),
            Build::Switch(_) | Build::Extension(_) => None,
        }
    }
    /// Says what switch it is; none if it is none.
    #[must_use]
    pub fn switch(&self, params: &Params) -> Option<SwitchSpec> {
        match self.build {
            Build::Component(_) | Build::Extension(_) => None,
            Build::Switch(build) => Some(build(params)),
        }
    }
    /// Says what it is in a link of a generation; none if it does not stand in links.
    #[must_use]
    pub fn extension(&self, params: &Params, generation: Generation) -> Option<Extension> {
        match self.build {
            Build::Component(_) | Build::Switch(_) => None,
            Build::Extension(build) => Some(build(params, generation)),
        }
    }
    /// Whether it stands in links.
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
    /// The same of a device that is no host: what runs in an adapter and drives other devices.
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
    /// Its value when nobody says one, written as a user would; none if somebody must.
    pub default: Option<&'static str>,
    /// What it means, in one sentence.
    pub about: &'static str,
}

/// What the names of parameters of a host's software begin with. They are the host's, and hold for the drivers of all
/// its drives; a drive that is said to have one has it for its own drivers.
pub const HOST_SOFTWARE: &str = "driver.";

impl Param {
    /// Whether it is about the software of a host.
    #[must_use]
    pub fn is_of_host_software(&self) -> bool {
        self.name.starts_with(HOST_SOFTWARE)
    }
    /// The same parameters, some of them with other defaults: models share what a parameter means, not what it usually
    /// is.
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

/// Where a component is built: what it may know of its surroundings.
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
    /// For a root complex: the PCIe port of each device that is driven, with the root port that leads to it.
    pub routes: Vec<(EndpointId, EndpointId)>,
    /// The bytes of the host's memory: for a host its own, for a device that of the host above it, for a driver that of
    /// its host; none where there is no host.
    pub memory: Option<SharedMemory>,
    /// Where the host's software shares cores: for a host all of them, for a driver the one of each of its loads. Empty
    /// where it does not.
    pub cores: Vec<RunQueue>,
    /// For whom has CXL ports downstream: the decoders of the memory behind them, in the order of addresses. A target
    /// is the place of a port among the downstream CXL ports.
    pub decoders: Vec<Decoder>,
    /// When the link of which port goes down, the first being 0, and takes what is behind the port with it: of a device
    /// with several.
    pub losses: Vec<(usize, Instant)>,
    /// The bytes of the memory of the host behind which port, where there is one: the ports of a device can lead to
    /// several hosts.
    pub behind: Vec<(usize, SharedMemory)>,
    /// Its Ethernet ports, in the order of its ports of that protocol; unconnected ones are `None`.
    pub ethernet: Vec<Option<EthernetSite>>,
    /// When the cables at them are down, in the same order.
    pub outages: Vec<CableOutages>,
    /// The queue pairs of its network: for an adapter, and for software that uses one.
    pub rdma: Rdma,
    /// The connections of TCP of its network: for the same.
    pub sockets: Sockets,
    /// For a switch of Ethernet: which of its ports lead to which station.
    pub forwarding: Forwarding,
    /// Whether it will be asked how long it was busy.
    pub tells_busy_time: bool,
    /// For a driver of a target: the device in whose memory data lie, but for writes of at most so many bytes, which
    /// come in capsules; none if all lie in the host's.
    pub staging: Option<(EndpointId, u32)>,
}

impl Site {
    /// A place without surroundings: no PCIe port that is connected, nobody to drive, no memory but its own. What a
    /// component has of them is added: `Site { target, ..Site::alone("driver", 1) }`.
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
    /// The port's own name on the links.
    pub endpoint: EndpointId,
    /// The root port at the top of the hierarchy, which requests for the host's memory go to (its own, for a root
    /// port).
    pub root: EndpointId,
    /// Maximum Payload Size of the hierarchy \[B\].
    pub mps: u16,
    /// Maximum Read Request Size \[B\].
    pub mrrs: u16,
    /// Read Completion Boundary of the root port \[B\].
    pub rcb: u16,
    /// How many tags the requester may use.
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
