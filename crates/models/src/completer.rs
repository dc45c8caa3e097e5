//! The completer of a PCIe port: turns read requests into completions, and counts traffic.

use crate::requests::alike;
use lanetwin_kernel::Port;
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::logic::split::{CompletionCut, Run, completions};
use lanetwin_pcie::spec::{ByteRange, Mps, Rcb, TlpKind};
use lanetwin_ports::{Attributes, Context, Message, PcieSite, Tlps};
use lanetwin_units::Span;

/// Traffic of a port; counts are of TLPs, sizes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Read requests taken in.
    pub reads: u64,
    /// Bytes requested \[B\].
    pub read_bytes: u64,
    /// Completions sent.
    pub completions: u64,
    /// Payload of completions \[B\].
    pub completion_bytes: u64,
    /// Writes taken in.
    pub writes: u64,
    /// Payload of writes \[B\].
    pub write_bytes: u64,
    /// Doorbells sent.
    pub doorbells: u64,
    /// Writes that signalled.
    pub signals: u64,
    /// Unexpected TLPs: messages, and completions without a request.
    pub unexpected: u64,
}

impl Traffic {
    /// Another read request is taken in.
    pub(crate) fn read(&mut self, request: &Tlps) {
        self.reads += 1;
        self.read_bytes += u64::from(request.bytes);
    }
    /// More writes are taken in.
    pub(crate) fn write(&mut self, train: &Tlps) {
        self.writes += u64::from(train.count);
        self.write_bytes += u64::from(train.count) * u64::from(train.bytes);
    }
    /// A number that differs if other data were moved.
    pub(crate) fn digest(&self, sum: u64) -> u64 {
        let Self { reads, completion_bytes, write_bytes, .. } = *self;
        lanetwin_kernel::mix(sum ^ reads).wrapping_add(lanetwin_kernel::mix(completion_bytes) ^ write_bytes)
    }
}

/// Parameters of a completer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completer {
    port: Port,
    endpoint: EndpointId,
    mps: Mps,
    rcb: Rcb,
    cut: CompletionCut,
    issue: Span,
}

impl Completer {
    /// The answering side of `port`, which stands at `site`, cuts completions so, and has promised to wait `issue` with
    /// everything it sends.
    ///
    /// # Panics
    /// If the limits of the site are not sizes of the standard.
    pub(crate) fn new(port: Port, site: PcieSite, cut: CompletionCut, issue: Span) -> Self {
        let mps = Mps::from_bytes(site.mps.into()).expect("the MPS of a site is one of the standard's");
        let rcb = Rcb::from_bytes(site.rcb.into()).expect("the RCB of a site is one of the standard's");
        Self { port, endpoint: site.endpoint, mps, rcb, cut, issue }
    }

    /// Sends the completions of a read request; they are counted in `traffic`.
    pub(crate) fn answer(&self, request: &Tlps, traffic: &mut Traffic, cx: &mut Context<'_>) {
        if let Some(run) = self.alike(request.address, request.bytes) {
            self.send(request, run, true, traffic, cx);
            return;
        }
        let asked = ByteRange::new(request.address, request.bytes).expect("links carry legal requests");
        let runs = completions(asked, self.rcb, self.mps, self.cut).runs();
        for (i, run) in runs.as_slice().iter().enumerate() {
            self.send(request, *run, i + 1 == runs.as_slice().len(), traffic, cx);
        }
    }

    /// The completions of a legal request, if they are all alike.
    fn alike(&self, address: u64, bytes: u16) -> Option<Run> {
        let (rcb, mps) = (self.rcb.bytes(), self.mps.bytes());
        match self.cut {
            CompletionCut::Rcb => alike(address, bytes.into(), rcb),
            // a request that begins at a multiple of MPS has no shorter first completion
            _ if address & u64::from(mps - 1) == 0 => alike(address, bytes.into(), mps),
            _ => alike(address, bytes.into(), rcb).filter(|run| run.count == 1),
        }
    }

    fn send(&self, request: &Tlps, run: Run, last: bool, traffic: &mut Traffic, cx: &mut Context<'_>) {
        let relaxed = Attributes::RELAXED.when(request.attributes.has(Attributes::RELAXED));
        traffic.completions += u64::from(run.count);
        traffic.completion_bytes += u64::from(run.count) * u64::from(run.len);
        let completion = Tlps {
            kind: TlpKind::CplD,
            attributes: relaxed.and(Attributes::LAST.when(last)),
            count: run.count as u16, // a request has at most 4096 B
            bytes: run.len,
            from: self.endpoint,
            to: request.from,
            handle: request.handle,
            address: run.first_address,
        };
        cx.send(self.port, self.issue, Message::Tlps(completion));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Where all completions are alike, the short way gives what the long way gives.
        #[test]
        fn completions_that_are_alike_are_those_of_any_request(
            past in 0_u64..64, step in 1_u16..64, grain in prop::sample::select(vec![1_u64, 4, 64]), mps in 7_u32..11, rcb in 6_u32..8,
            cut in prop::sample::select(vec![CompletionCut::Mps, CompletionCut::LastRcb, CompletionCut::RcbThenMps, CompletionCut::Rcb]),
        ) {
            let (address, bytes) = ((1 << 20) | (past * grain), step * grain as u16);
            prop_assume!(address % 4096 + u64::from(bytes) <= 4096);
            let port = Completer {
                port: Port(0),
                endpoint: EndpointId(0),
                mps: Mps::from_bytes(1 << mps).expect("a size of the standard"),
                rcb: Rcb::from_bytes(1 << rcb).expect("a size of the standard"),
                cut,
                issue: Span::ZERO,
            };
            let asked = ByteRange::new(address, bytes).expect("a legal request");
            let runs = completions(asked, port.rcb, port.mps, cut).runs();
            if let Some(run) = port.alike(address, bytes) {
                prop_assert_eq!(runs.as_slice(), [run]);
            }
        }
    }
}
