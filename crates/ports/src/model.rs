//! How a device declares itself: one file on the shelf, one word in its list.
//!
//! From a [`Model`] come scenario checking, the catalogue, the page in the docs and the conformance test; a new device
//! touches nothing else.

use crate::message::Message;
use lanetwin_kernel::Component;
use lanetwin_pcie::link::EndpointId;
use lanetwin_units::{Bytes, Span};
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
    /// Makes one.
    pub build: fn(&Params, &Site) -> Box<dyn Component<Message>>,
}

impl Model {
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
}

/// A parameter: name, unit, sentence, default.
#[derive(Debug)]
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
    /// For a driver: the PCIe port of the device that it drives.
    pub target: Option<EndpointId>,
    /// For a root complex: the PCIe port of each device that is driven, with the root port that leads to it.
    pub routes: Vec<(EndpointId, EndpointId)>,
}

/// A PCIe port in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PcieSite {
    /// The port's own name on the links.
    pub endpoint: EndpointId,
    /// The port of the root complex that requests go to (its own, for a root port).
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
