//! The requesting side of a PCIe port: transfers become trains of legal requests, read requests wait for tags.
//!
//! ```text
//!   read  ──► cut at MRRS and 4 KiB ──► first come, first served ──► tags free? ──► MRd trains
//!   write ──► cut at MPS  and 4 KiB ───────────────────────────────────────────► MWr trains
//!   completion with LAST ──► its tag is free ──► the next read requests
//! ```
//!
//! Everything leaves exactly `issue` after it could: that is the lookahead the port has promised to the links.

use crate::gauge::{Gauge, held};
use lanetwin_kernel::{Port, Supply, Trail};
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::logic::split::{Alignment, Run, reads, writes};
use lanetwin_pcie::spec::{Mps, Mrrs, TlpKind};
use lanetwin_ports::{Attributes, Context, Message, PcieSite, Tlps, device_of};
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

lanetwin_kernel::stages! { TAG = "queue for a tag", ISSUE = "issue" }

/// The requesting side of one PCIe port. A device with one has its stages before its own.
#[derive(Debug)]
pub(crate) struct Requests {
    port: Port,
    site: PcieSite,
    /// The port whose memory is accessed.
    to: EndpointId,
    mps: Mps,
    mrrs: Mrrs,
    issue: Span,
    tags: Gauge,
    waiting: VecDeque<Waiting>,
    /// Number of requests that wait for tags.
    tagless: Gauge,
}

/// Equal read requests that have no tag yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    handle: u32,
    run: Run,
    /// Trail of that request.
    trail: Trail,
}

impl Requests {
    /// The requesting side of `port`, which stands at `site`, sends its requests to port `to` and has promised to wait
    /// `issue` with everything it sends.
    ///
    /// # Panics
    /// If the limits of the site are not sizes of the standard.
    pub(crate) fn new(port: Port, site: PcieSite, to: EndpointId, issue: Span) -> Self {
        let mps = Mps::from_bytes(site.mps.into()).expect("the MPS of a site is one of the standard's");
        let mrrs = Mrrs::from_bytes(site.mrrs.into()).expect("the MRRS of a site is one of the standard's");
        let (tags, tagless) = Default::default();
        Self { port, site, to, mps, mrrs, issue, tags, waiting: VecDeque::new(), tagless }
    }

    /// Asks for `bytes` at `address` of the memory there, under this handle.
    pub(crate) fn read(&mut self, handle: u32, address: u64, bytes: u32, cx: &mut Context<'_>) {
        if let Some(run) = alike(address, bytes, self.mrrs.bytes())
            && self.waiting.is_empty()
            && self.tags_in_use() + u64::from(run.count) <= u64::from(self.site.tags)
        {
            self.tags.add(run.count.into(), cx.now());
            self.send(TlpKind::MRd, handle, run, Attributes::NONE, cx);
            return;
        }
        let runs = reads(address, bytes, self.mrrs, Alignment::Aligned).runs();
        let requests = runs.as_slice().iter().map(|run| u64::from(run.count)).sum();
        self.tagless.add(requests, cx.now());
        let waiting = runs.as_slice().iter();
        self.waiting.extend(waiting.map(|&run| Waiting { handle, run, trail: cx.trail() }));
        self.send_reads(cx);
    }

    /// Writes `bytes` to `address` of the memory there, under this handle. The last train has [`Attributes::LAST`] and
    /// the attributes `last`.
    pub(crate) fn write(
        &self,
        handle: u32,
        address: u64,
        bytes: u32,
        last: Attributes,
        cx: &mut Context<'_>,
    ) {
        if let Some(run) = alike(address, bytes, self.mps.bytes()) {
            self.send(TlpKind::MWr, handle, run, Attributes::LAST.and(last), cx);
            return;
        }
        let runs = writes(address, bytes, self.mps, Alignment::Aligned).runs();
        let Some((end, before)) = runs.as_slice().split_last() else { return };
        before.iter().for_each(|&run| self.send(TlpKind::MWr, handle, run, Attributes::NONE, cx));
        self.send(TlpKind::MWr, handle, *end, Attributes::LAST.and(last), cx);
    }

    /// Writes a register of a peer: 4 B of it, `value` at `offset`.
    pub(crate) fn write_register(&self, to: EndpointId, (offset, value): (u64, u32), cx: &mut Context<'_>) {
        let (kind, attributes, count, bytes) = (TlpKind::MWr, Attributes::LAST, 1, 4);
        let tlps = Tlps {
            kind,
            attributes,
            count,
            bytes,
            from: self.site.endpoint,
            to,
            handle: value,
            address: offset,
        };
        let handled = cx.trail();
        cx.mark_until(cx.now() + self.issue, ISSUE);
        cx.send(self.port, self.issue, Message::Tlps(tlps));
        cx.resume(handled);
    }

    /// The port's endpoint.
    pub(crate) const fn endpoint(&self) -> EndpointId {
        self.site.endpoint
    }

    /// In how many TLPs [`Requests::write`] would write this.
    pub(crate) fn write_tlps(&self, address: u64, bytes: u32) -> u64 {
        let runs = writes(address, bytes, self.mps, Alignment::Aligned).runs();
        runs.as_slice().iter().map(|run| u64::from(run.count)).sum()
    }

    /// Completions of this port's requests have arrived: the last of a request frees its tag.
    pub(crate) fn completed(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        if tlps.attributes.has(Attributes::LAST) && self.tags_in_use() > 0 {
            self.tags.remove(1, cx.now());
            self.send_reads(cx);
        }
    }

    /// Number of outstanding read requests.
    pub(crate) const fn tags_in_use(&self) -> u64 {
        self.tags.number()
    }
    /// Use of the tags up to `now`.
    pub(crate) fn tags_used(&self, now: Instant) -> Supply {
        held(&self.tags, &self.tagless, self.site.tags.into(), now)
    }
    /// Number of runs of read requests that wait for tags.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn send_reads(&mut self, cx: &mut Context<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        let handled = cx.trail();
        let all = u64::from(self.site.tags);
        while self.tags_in_use() < all
            && let Some(next) = self.waiting.front_mut()
        {
            let Waiting { handle, run, trail } = *next;
            let count = u64::from(run.count).min(all - self.tags.number()) as u32;
            if count == run.count {
                self.waiting.pop_front();
            } else {
                *next = Waiting { handle, run: after(run, count), trail };
            }
            self.tags.add(count.into(), cx.now());
            self.tagless.remove(count.into(), cx.now());
            cx.resume(trail);
            cx.mark(TAG);
            self.send(TlpKind::MRd, handle, Run { count, ..run }, Attributes::NONE, cx);
        }
        cx.resume(handled);
    }

    /// Sends the run in trains, each as long as a message allows; the last one has the attributes.
    #[inline]
    fn send(&self, kind: TlpKind, handle: u32, run: Run, attributes: Attributes, cx: &mut Context<'_>) {
        let mut rest = run;
        while rest.count > u16::MAX.into() {
            self.send_train(kind, handle, Run { count: u16::MAX.into(), ..rest }, Attributes::NONE, cx);
            rest = after(rest, u16::MAX.into());
        }
        self.send_train(kind, handle, rest, attributes, cx);
    }

    /// Sends a run that fits into one message.
    #[inline(never)]
    fn send_train(&self, kind: TlpKind, handle: u32, run: Run, attributes: Attributes, cx: &mut Context<'_>) {
        let (from, to) = (self.site.endpoint, device_of(run.first_address).unwrap_or(self.to));
        let Run { len: bytes, first_address: address, count } = run;
        let tlps = Tlps { kind, attributes, count: count as u16, bytes, from, to, handle, address };
        let handled = cx.trail();
        cx.mark_until(cx.now() + self.issue, ISSUE);
        cx.send(self.port, self.issue, Message::Tlps(tlps));
        cx.resume(handled);
    }
}

/// The pieces of a transfer that is cut at multiples of `limit`, a power of two of at most a page \[B\], if they are
/// all alike: one piece, or whole ones. Most transfers are, and need no more than this.
pub(crate) fn alike(address: u64, bytes: u32, limit: u16) -> Option<Run> {
    let past = (address & u64::from(limit - 1)) as u32;
    let (len, count) = match bytes {
        0 => return None,
        _ if bytes <= u32::from(limit) - past => (bytes as u16, 1),
        _ if past == 0 && bytes.is_multiple_of(limit.into()) => (limit, bytes / u32::from(limit)),
        _ => return None,
    };
    Some(Run { first_address: address, len, count })
}

/// The rest of a run after its first `count` pieces.
fn after(run: Run, count: u32) -> Run {
    let first_address = run.first_address + u64::from(count) * u64::from(run.len);
    Run { first_address, count: run.count - count, ..run }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_most_transfers_are_is_alike() {
        let run = |first_address, len, count| Some(Run { first_address, len, count });
        assert_eq!(alike(0x3000, 4096, 256), run(0x3000, 256, 16));
        assert_eq!((alike(0x3f0, 16, 512), alike(0x3f1, 16, 512)), (run(0x3f0, 16, 1), None));
        assert_eq!((alike(0x1080, 512, 256), alike(0, 0, 256)), (None, None));
    }

    proptest! {
        /// Where all pieces are alike, the short way gives what the long way gives.
        #[test]
        fn pieces_that_are_alike_are_those_of_any_transfer(
            page in 0_u64..1 << 40, past in 0_u64..4096, bytes in prop_oneof![1_u32..600, (1_u32..64).prop_map(|n| n * 512)], log2 in 7_u32..13,
        ) {
            let (limit, address) = (1_u16 << log2, page * 4096 + if past % 3 == 0 { 0 } else { past });
            let mps = Mps::from_bytes(limit.into()).expect("a size of the standard");
            let runs = writes(address, bytes, mps, Alignment::Aligned).runs();
            if let Some(run) = alike(address, bytes, limit) {
                prop_assert_eq!(runs.as_slice(), [run]);
            }
        }
    }
}
