//! What a simulated link is made of.

use super::super::channel::Channel;
use lanetwin_units::{Generation, Span, Width};

/// What one port can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortConfig {
    /// The fastest rate.
    pub max_generation: Generation,
    /// The lanes.
    pub width: Width,
    /// Whether it supports ASPM L1.
    pub l1: bool,
    /// Whether it supports ASPM L0s, which a link with a retimer does not enter.
    pub l0s: bool,
    /// Whether it supports L1 PM Substates.
    pub l1_substates: bool,
    /// Whether it supports going from 2.5 GT/s to its highest rate with one equalisation, at that rate.
    pub bypass_to_highest: bool,
}

/// A retimer: bits in, bits out, a while later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retimer {
    /// What it adds in each direction when it forwards \[ps\].
    pub latency: Span,
}

/// How receivers vary from one adaptation to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adaptation {
    /// The standard deviation of the height that an adaptation ends at \[mV\].
    pub sigma_mv: f64,
    /// How height changes with temperature \[mV/K\]; usually negative.
    pub drift_mv_per_k: f64,
    /// How much warmer it is than where the heights were taken \[K\].
    pub warmer_k: f64,
}

/// The device at the far end, after a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// From the end of a reset until configuration requests succeed; before that they get Request Retry Status.
    pub ready: Span,
    /// From D3hot to D0.
    pub d3hot_to_d0: Span,
    /// Whether it keeps its configuration from D3hot to D0.
    pub no_soft_reset: bool,
}

/// What the link carries while it works, for the errors that are seen then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traffic {
    /// The share of the time that TLPs are on the wire, 0 to 1, in each direction.
    pub utilisation: f64,
    /// What a TLP weighs on the wire \[B\].
    pub tlp_bytes: u32,
}

/// How lanes are wired, apart from their eyes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wiring {
    /// Lane 0 of one port meets the last lane of the other.
    pub reversed: bool,
    /// Lanes whose two wires are swapped on the way down, a bit each.
    pub inverted_down: u32,
    /// Lanes whose two wires are swapped on the way up, a bit each.
    pub inverted_up: u32,
    /// Lanes on which no receiver is found, a bit each: open contacts.
    pub open: u32,
}

/// A link with its two ports.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkConfig {
    /// Its name, the path from which its randomness derives.
    pub name: String,
    /// The port above, which faces down: of a root complex or a switch.
    pub downstream: PortConfig,
    /// The port below, which faces up: of a device.
    pub upstream: PortConfig,
    /// The eyes; one segment more than there are retimers.
    pub channel: Channel,
    /// The retimers, from the downstream port on; at most two.
    pub retimers: Vec<Retimer>,
    /// The wiring.
    pub wiring: Wiring,
    /// How receivers vary.
    pub adaptation: Adaptation,
    /// The device.
    pub device: Device,
    /// The traffic.
    pub traffic: Traffic,
}

/// Why a link cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadLink {
    /// There is not one segment more than there are retimers.
    Segments {
        /// The segments of the channel.
        segments: usize,
        /// The retimers.
        retimers: usize,
    },
    /// The channel has fewer lanes than the link.
    Lanes {
        /// The lanes of the channel.
        channel: usize,
        /// The lanes of the narrower port.
        ports: usize,
    },
    /// A number of the configuration cannot be: not finite, or out of its range. The word names it.
    Number(&'static str),
}
