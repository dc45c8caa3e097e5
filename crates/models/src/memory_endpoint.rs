//! `memory-endpoint`: a device whose memory others read and write: a controller memory buffer, an accelerator's memory.
//!
//! ```text
//!  MRd ─► taken up ─ memory.latency ─► completions, cut at RCB and MPS
//!  MWr ─► taken in
//! ```
//!
//! TLPs take effect in order of arrival, so that a read returns earlier writes. Completions are sent in the order of
//! the requests. The port determines how fast writes are received (`port.ingest`, `port.ingest-rate`),
//! `completer.interval` how fast reads are accepted.
//!
//! **Lookahead.** Every completion waits at least `issue`; a latency below it counts as `issue`.
//!
//! Not here: type, banks and bandwidth of the memory, and the device around it.

use crate::agenda::Agenda;
use crate::completer::Completer;
use crate::servers::Servers;
use lanetwin_kernel::{Component, Port, Report};
use lanetwin_pcie::logic::split::CompletionCut;
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Build, Context, Dimension, Message, Model, PCIE_DEVICE, PCIE_PORT, Param, Params, PcieSite, PortInfo,
    Protocol, Site, Tlps,
};
use lanetwin_units::{Instant, Span};
use std::any::Any;

pub use crate::completer::Traffic;

/// The declaration.
pub static MODEL: Model = Model {
    name: "memory-endpoint",
    about: "A device with memory that other devices read and write, such as a controller memory buffer.",
    ports: &[PortInfo { name: "pcie", speaks: Protocol::Pcie, about: "the device's connector", many: false }],
    params: &[&PCIE_PORT, &DEVICE, PARAMS],
    has_memory: true,
    build: Build::Component(|params, site| Box::new(MemoryEndpoint::new(params, site))),
    ..Model::DEFAULT
};

const PCIE: Port = Port(0);

/// The Read Completion Boundary is 128 B for all but a root complex (PCI Express Base, section 2.3.1.1).
const DEVICE: [Param; PCIE_DEVICE.len()] = Param::with_defaults(PCIE_DEVICE, &[("port.rcb", "128B")]);

const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "the least time from a read request to a completion of it being offered to the link",
    },
    Param {
        name: "memory.latency",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "from a read request being taken up to its data",
    },
    Param {
        name: "completer.interval",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the least time between two read requests that the device takes up; 0 is no limit",
    },
];

lanetwin_kernel::stages! { COMPLETER = "queue for the completer", MEMORY = "memory" }

/// The device.
#[derive(Debug)]
pub struct MemoryEndpoint {
    latency: Span,
    interval: Span,
    issue: Span,
    /// `None` if it is not plugged in and gets no requests.
    answers: Option<Completer>,
    /// Takes up the reads.
    completer: Servers,
    agenda: Agenda<Tlps>,
    traffic: Traffic,
}

impl MemoryEndpoint {
    fn new(params: &Params, site: &Site) -> Self {
        let issue = params.time("issue");
        let rcb = if params.choice("port.rcb") == "128B" { 128 } else { 64 };
        let answer =
            |port: PcieSite| Completer::new(PCIE, PcieSite { rcb, ..port }, CompletionCut::Mps, issue);
        Self {
            latency: params.time("memory.latency").max(issue),
            interval: params.time("completer.interval"),
            issue,
            answers: site.pcie.first().copied().flatten().map(answer),
            completer: Servers::new(1),
            agenda: Agenda::new(),
            traffic: Traffic::default(),
        }
    }

    /// Traffic of the port so far.
    #[must_use]
    pub const fn traffic(&self) -> Traffic {
        self.traffic
    }
    fn read(&mut self, request: Tlps, cx: &mut Context<'_>) {
        self.traffic.read(&request);
        let now = cx.now();
        let taken = self.completer.serve(now, self.interval);
        let answered = taken + self.latency;
        cx.mark_until(taken, COMPLETER);
        cx.mark_until(answered, MEMORY);
        // completions leave `issue` later
        let at = Instant::from_ps(answered.as_ps() - self.issue.as_ps());
        self.agenda.put(at, request, cx);
    }

    fn answer(&mut self, request: &Tlps, cx: &mut Context<'_>) {
        let answers = self.answers.as_ref().expect("requests come through a port");
        answers.answer(request, &mut self.traffic, cx);
    }
}

impl Component<Message> for MemoryEndpoint {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::Tlps(tlps) = message else {
            unreachable!("a memory endpoint is sent TLPs, not {message:?}")
        };
        match tlps.kind {
            TlpKind::MRd => self.read(tlps, cx),
            TlpKind::MWr => self.traffic.write(&tlps),
            TlpKind::Cpl | TlpKind::CplD | TlpKind::Msg | TlpKind::MsgD => {
                self.traffic.unexpected += u64::from(tlps.count)
            }
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(request) = self.agenda.take(cx) {
            self.answer(&request, cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("under-way", self.agenda.len().to_string());
        see("traffic", format!("{:?}", self.traffic));
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        if self.interval > Span::ZERO {
            report.supply("completer", self.completer.used(now));
        }
    }

    fn digest(&self) -> u64 {
        self.traffic.digest(0)
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[STAGES])
    }
}
