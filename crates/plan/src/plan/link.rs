//! Links of the plan, and the stages in them.

use super::end::End;
use lanetwin_link_lab::channel::SegmentEye;
use lanetwin_link_lab::stability::Cause;
use lanetwin_pcie::link::DllpMode;
use lanetwin_pcie::spec::Clocking;
use lanetwin_ports::Params;
use lanetwin_units::{Generation, Instant, Span, Width};

/// A PCIe link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// The first end in the scenario.
    pub from: End,
    /// The other end.
    pub to: End,
    /// The end towards the root: `from` or `to`.
    pub root: End,
    /// The root port at the top of the link's hierarchy.
    pub root_port: End,
    /// Its generation.
    pub generation: Generation,
    /// Its lane count.
    pub width: Width,
    /// The Maximum Payload Size of its hierarchy \[B\].
    pub mps: u16,
    /// The Read Completion Boundary of its root port \[B\].
    pub rcb: u16,
    /// Reference clocks of its two ends.
    pub clocking: Clocking,
    /// Time of flight, one way, without the stages in the link.
    pub propagation: Span,
    /// Bit error ratio of each direction, end to end.
    pub bit_error_ratio: f64,
    /// Bit error ratio of each segment between retimers, from the root on; a single number is for the whole link.
    pub segments: Vec<f64>,
    /// The channel that the bit error ratios come from, if there is one.
    pub channel: Option<ChannelPlan>,
    /// Time from a corrupted TLP until its NAK leaves the receiver; the ACK latency limit if `None`.
    pub nak: Option<Span>,
    /// Duration of a Recovery after bit errors.
    pub recovery: Span,
    /// How DLLPs are charged for time on the wire.
    pub dllp: DllpMode,
    /// Whether SKP ordered sets are sent.
    pub skp: bool,
    /// The stages in it (retimers and others), in the order of the scenario.
    pub via: Vec<Via>,
    /// Arbitration weight of its traffic at the switches at its ends.
    pub weight: u32,
    /// Its outages, in the order of time and without overlap.
    pub down: Vec<Down>,
}

/// A stage in a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Via {
    /// The part; `None` for a plain latency.
    pub part: Option<String>,
    /// Latency of a bit through it, one way.
    pub latency: Span,
    /// The parameter of the part that gives the latency.
    pub parameter: Option<&'static str>,
    /// Whether it is a retimer, which receives bits and transmits them again.
    pub is_retimer: bool,
    /// The parameters of the part, all of them.
    pub params: Params,
}

/// The channel of a link, which its bit errors come from.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelPlan {
    /// Path of the channel description in the scenario.
    pub file: String,
    /// The variant of the channel.
    pub variant: String,
    /// The eyes of its segments at the link's generation, from the root on.
    pub eyes: Vec<SegmentEye>,
}

/// An outage of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Down {
    /// Its start.
    pub at: Instant,
    /// Its duration.
    pub lasts: Span,
    /// Its cause, if the retraining was simulated.
    pub by: Option<Cause>,
    /// Generation and width of the link after it, until the next one; `None` if they are as declared.
    pub then: Option<(Generation, Width)>,
}

/// A time during which a host lacks a drive that it has at other times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Absence {
    /// Index of the drive in [`super::Variant::machine`].
    pub drive: usize,
    /// The host.
    pub host: usize,
    /// The time from which the host sends no more requests to the drive.
    pub from: Instant,
    /// The end; `None` if the drive does not come back.
    pub until: Option<Instant>,
}

impl LinkPlan {
    /// The end away from the root.
    #[must_use]
    pub fn far(&self) -> End {
        if self.root == self.from { self.to } else { self.from }
    }
    /// Time of flight, one way, with the stages in the link.
    #[must_use]
    pub fn flight(&self) -> Span {
        self.via.iter().fold(self.propagation, |sum, via| sum + via.latency)
    }
    /// Number of retimers in it.
    #[must_use]
    pub fn retimers(&self) -> usize {
        self.via.iter().filter(|via| via.is_retimer).count()
    }
}
