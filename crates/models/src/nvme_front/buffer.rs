//! The controller memory buffer (CMB) of a drive: memory that other devices read and write (NVM Express Base
//! Specification 2.0, §8.5).
//!
//! ```text
//!  MRd of a peer ─► taken up ─ cmb.latency ─► completions            MWr of a peer ─► taken in
//! ```
//!
//! What the controller itself reads and writes there crosses no link and takes no time of its own. Not here: queues and
//! lists in it, how much room there is.

use crate::completer::{Completer, Traffic};
use crate::servers::Servers;
use lanetwin_kernel::Port;
use lanetwin_pcie::logic::split::CompletionCut;
use lanetwin_ports::{Context, Params, PcieSite, Tlps};
use lanetwin_units::{Instant, Span};

/// The Read Completion Boundary is 128 B for all but a root complex (PCI Express Base, section 2.3.1.1).
const RCB_BYTES: u16 = 128;

/// The memory, as one port shows it.
#[derive(Debug)]
pub(crate) struct Buffer {
    answers: Completer,
    latency: Span,
    interval: Span,
    issue: Span,
    taken_up: Servers,
    pub(crate) traffic: Traffic,
}

impl Buffer {
    /// The memory that a port shows. Returns `None` if the drive has no such memory.
    pub(crate) fn new(params: &Params, port: Port, site: PcieSite) -> Option<Self> {
        let issue = params.time("issue");
        let answers = Completer::new(port, PcieSite { rcb: RCB_BYTES, ..site }, CompletionCut::Mps, issue);
        (params.size("cmb").0 > 0).then(|| Self {
            answers,
            latency: params.time("cmb.latency").max(issue),
            interval: params.time("cmb.interval"),
            issue,
            taken_up: Servers::new(1),
            traffic: Traffic::default(),
        })
    }
    /// A peer reads: when its data are ready, less what everything waits that is sent.
    pub(crate) fn read(&mut self, request: Tlps, now: Instant) -> Instant {
        self.traffic.read(&request);
        let at = self.taken_up.serve(now, self.interval) + self.latency;
        Instant::from_ps(at.as_ps() - self.issue.as_ps())
    }
    pub(crate) fn answer(&mut self, request: &Tlps, cx: &mut Context<'_>) {
        self.answers.answer(request, &mut self.traffic, cx);
    }
}
