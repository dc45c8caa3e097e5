//! Links of the plan, and what stands in them.

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
    /// The end that is written first.
    pub from: End,
    /// The other end.
    pub to: End,
    /// The end that is nearer to the root: `from` or `to`.
    pub root: End,
    /// The root port at the top of the hierarchy that the link is in.
    pub root_port: End,
    /// The generation it runs at.
    pub generation: Generation,
    /// The number of its lanes.
    pub width: Width,
    /// The Maximum Payload Size of its hierarchy \[B\].
    pub mps: u16,
    /// The Read Completion Boundary of its root port \[B\].
    pub rcb: u16,
    /// The reference clocks of its two ends.
    pub clocking: Clocking,
    /// The time of flight, one way, without what lies between.
    pub propagation: Span,
    /// The bit error ratio of each direction, end to end.
    pub bit_error_ratio: f64,
    /// That of each segment between retimers, from the root on; of the whole link if there is one number.
    pub segments: Vec<f64>,
    /// The channel that these come from, if they do.
    pub channel: Option<ChannelPlan>,
    /// From a corrupted TLP to its NAK leaving the receiver; the ACK latency limit if none.
    pub nak: Option<Span>,
    /// How long a Recovery takes that bit errors cause.
    pub recovery: Span,
    /// How DLLPs pay for the wire.
    pub dllp: DllpMode,
    /// Whether SKP ordered sets are sent.
    pub skp: bool,
    /// What stands in it, in the order of writing.
    pub via: Vec<Via>,
    /// The weight of what comes in over it, at the switches at its ends.
    pub weight: u32,
    /// When it is down, in the order of time and without overlap.
    pub down: Vec<Down>,
}

/// What stands in a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Via {
    /// The part; none for a plain latency.
    pub part: Option<String>,
    /// How long a bit takes through it, one way.
    pub latency: Span,
    /// The parameter of the part that says so.
    pub parameter: Option<&'static str>,
    /// Whether it receives bits and sends them anew.
    pub is_retimer: bool,
    /// The parameters of the part, complete.
    pub params: Params,
}

/// The channel of a link: where its bit errors come from.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelPlan {
    /// The description, as the scenario names it.
    pub file: String,
    /// The variant of it.
    pub variant: String,
    /// The eyes of its segments at the generation of the link, from the root on.
    pub eyes: Vec<SegmentEye>,
}

/// A link is down for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Down {
    /// From when on.
    pub at: Instant,
    /// For how long.
    pub lasts: Span,
    /// What takes it down, if its training was simulated.
    pub by: Option<Cause>,
    /// How it runs from then on, until the next time, if not as it was declared.
    pub then: Option<(Generation, Width)>,
}

/// A host is without a drive that it has at other times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Absence {
    /// The drive: its place in [`super::Variant::machine`].
    pub drive: usize,
    /// The host.
    pub host: usize,
    /// From when on it asks the drive for nothing more.
    pub from: Instant,
    /// Until when; none if the drive does not come back.
    pub until: Option<Instant>,
}

impl LinkPlan {
    /// The end that is farther from the root.
    #[must_use]
    pub fn far(&self) -> End {
        if self.root == self.from { self.to } else { self.from }
    }
    /// The time of flight, one way, with what lies between.
    #[must_use]
    pub fn flight(&self) -> Span {
        self.via.iter().fold(self.propagation, |sum, via| sum + via.latency)
    }
    /// How many retimers stand in it.
    #[must_use]
    pub fn retimers(&self) -> usize {
        self.via.iter().filter(|via| via.is_retimer).count()
    }
}
