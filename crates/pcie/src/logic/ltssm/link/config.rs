//! What a simulated link is made of.

use super::super::channel::{Channel, Direction};
use super::super::numbers::Numbers;
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

impl PortConfig {
    /// A port with everything that is common but L0s.
    #[must_use]
    pub const fn new(max_generation: Generation, width: Width) -> Self {
        Self { max_generation, width, l1: true, l0s: false, l1_substates: false, bypass_to_highest: false }
    }
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
    /// The size of a TLP on the wire \[B\].
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

/// A receiver that does not recover.
///
/// Once training has failed at this rate or above, the lane hears nothing at any rate until its port is back in Detect:
/// an adaptation that ran away, a retimer that waits for a rate that will not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverFailure {
    /// The rate.
    pub from: Generation,
    /// The direction in which it should hear.
    pub direction: Direction,
    /// The lane.
    pub lane: usize,
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
    /// Receivers that do not recover.
    pub deafness: Vec<ReceiverFailure>,
    /// The times and counts of training.
    pub numbers: Numbers,
}

impl LinkConfig {
    /// A link of two equal ports of this generation, as wide as the channel: nothing on it, built-in numbers, retimers
    /// of 10 ns where the channel has more than one segment, a device that is ready 500 ms after a reset (assumed: 0.5
    /// to 3 s are usual).
    ///
    /// # Panics
    /// If a link cannot have as many lanes as the channel.
    #[must_use]
    pub fn new(name: &str, generation: Generation, channel: Channel) -> Self {
        let width = Width::from_lanes(channel.lanes() as u64).expect("a width that a link can have");
        let port = PortConfig::new(generation, width);
        Self {
            name: name.to_owned(),
            downstream: port,
            upstream: port,
            retimers: vec![Retimer { latency: Span::from_ns(10) }; channel.segments() - 1],
            channel,
            wiring: Wiring::default(),
            adaptation: Adaptation { sigma_mv: 0.0, drift_mv_per_k: 0.0, warmer_k: 0.0 },
            device: Device {
                ready: Span::from_us(500_000),
                d3hot_to_d0: Span::from_us(10_000),
                no_soft_reset: true,
            },
            traffic: Traffic { utilisation: 0.0, tlp_bytes: 280 },
            deafness: Vec::new(),
            numbers: Numbers::built_in(),
        }
    }
    /// The lanes that both ports have.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.downstream.width.min(self.upstream.width).lanes() as usize
    }
    pub(super) fn check(&self) -> Result<(), BadLink> {
        let (segments, retimers) = (self.channel.segments(), self.retimers.len());
        if segments != retimers + 1 {
            return Err(BadLink::Segments { segments, retimers });
        }
        if self.channel.lanes() < self.lanes() {
            return Err(BadLink::Lanes { channel: self.channel.lanes(), ports: self.lanes() });
        }
        let finite = |value: f64| value.is_finite();
        let numbers = [
            ("adaptation.sigma_mv", finite(self.adaptation.sigma_mv) && self.adaptation.sigma_mv >= 0.0),
            ("adaptation.drift_mv_per_k", finite(self.adaptation.drift_mv_per_k)),
            ("adaptation.warmer_k", finite(self.adaptation.warmer_k)),
            ("traffic.utilisation", (0.0..=1.0).contains(&self.traffic.utilisation)),
            ("traffic.tlp_bytes", (20..=4_128).contains(&self.traffic.tlp_bytes)),
            ("channel", self.channel.is_possible()),
        ];
        numbers.iter().find(|(_, fine)| !fine).map_or(Ok(()), |(name, _)| Err(BadLink::Number(name)))
    }
}

/// Why a link cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadLink {
    /// There is not one segment more than there are retimers.
    #[error(
        "{segments} segments do not go with {retimers} retimers: there is one more segment than retimers"
    )]
    Segments {
        /// The segments of the channel.
        segments: usize,
        /// The retimers.
        retimers: usize,
    },
    /// The channel has fewer lanes than the link.
    #[error("the channel has {channel} lanes, and the ports have {ports}")]
    Lanes {
        /// The lanes of the channel.
        channel: usize,
        /// The lanes of the narrower port.
        ports: usize,
    },
    /// A number of the configuration cannot be: not finite, or out of its range. The word names it.
    #[error("`{0}` is not finite, or out of its range")]
    Number(&'static str),
}
