//! `cxl-switch`: a CXL switch: one virtual hierarchy of an upstream port and downstream ports with memory behind them.
//!
//! ```text
//!              Line, Hint                                  decoders                 Line, Hint
//!  link ═► up ──────────► core: a rate that all share ──► which port, which ──► latency ──► down 0, 1, … ═► link
//!          ◄── LineDone ── latency ◄── core ◄──────────── whose it was ◄────────────────────
//! ```
//!
//! It **stores and forwards messages**: a link delivers a message when the flit that completes it has passed its CRC,
//! as every switch does that checks CRCs before it forwards data. The delays of the ports (link layers, ARB/MUX,
//! physical layers) belong to the links (`transmit`, `receive` at each end); `latency` is the delay between the
//! ports.
//!
//! **Handles.** A requester chooses a handle that is unique on its own port. Handles from several hosts or ports
//! could collide at one device, so a switch gives every request that it forwards a handle of its own, unique among
//! all requests in progress on all its ports, and restores the original one in the answer.
//!
//! An address in no decoder's window is answered with [`Status::Aborted`], like a read of all ones. A hint about
//! interleaved pages becomes one hint to each device, for its share of the pages; the answers are summed.
//!
//! Not here: several upstream ports (virtual hierarchies of pooled devices), bindings, port-based routing,
//! peer-to-peer; back-pressure from one downstream port to another (queues of links are not bounded in bytes but by
//! the hosts' outstanding requests).

use crate::slab::Slab;
use crate::stages::names;
use lanetwin_cxl::hdm::{Decoded, Decoder};
use lanetwin_cxl::spec::constants::{LINE_BYTES, SLOT_BYTES};
use lanetwin_kernel::{Component, Port, Report, Supply, SupplyKind, mix};
use lanetwin_ports::{
    Build, CXL_PORT, Context, Dimension, Hint, Line, LineDone, Message, Model, Operation, Param, Params,
    PortInfo, Protocol, Site, Status,
};
use lanetwin_units::{Instant, LinkRate, Span, TICKS_PER_PS, Ticks};
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "cxl-switch",
    about: "A CXL switch: forwards lines from its upstream port to the memory behind its downstream ports.",
    ports: &[
        PortInfo {
            name: "up",
            speaks: Protocol::Cxl,
            about: "the upstream port, which leads to a host",
            many: false,
        },
        PortInfo {
            name: "down",
            speaks: Protocol::Cxl,
            about: "the downstream ports, which lead to memory",
            many: true,
        },
    ],
    params: &[&CXL_PORT, PARAMS],
    build: Build::Component(|params, site| Box::new(CxlSwitch::new(params, site))),
    ..Model::DEFAULT
};

/// `assumed`: a core of 10 ns, as the arbitration and the on-chip network of a switch in H. Li et al., "Pond", ASPLOS
/// 2023, whose ports take 25 ns each beside it.
const PARAMS: &[Param] = &[
    Param {
        name: "ports",
        dimension: Dimension::Count { least: 1, most: 64 },
        default: Some("4"),
        about: "how many downstream ports there are",
    },
    Param {
        name: "latency",
        dimension: Dimension::Time,
        default: Some("10ns"),
        about: "from a message being handed over by one link to its being handed to the next, each way",
    },
    Param {
        name: "core.rate",
        dimension: Dimension::Rate,
        default: Some("0GB/s"),
        about: "what the core moves, all ports and both ways together: 16 B for each header, 64 B for each line; 0 is no limit",
    },
];

const UP: Port = Port(0);
/// A page of a hint \[B\].
const PAGE: u64 = 4096;

/// A request in progress.
#[derive(Clone, Copy, Debug)]
enum PendingRequest {
    /// For a line: the asker's handle.
    Line(u32),
    /// For pages: the hint that it is a part of.
    Part(u32),
}

/// A hint in progress: the requester's handle, the number of open parts, the sum of their answers.
#[derive(Clone, Copy, Debug)]
struct PendingHint {
    handle: u32,
    open: u32,
    sum: u64,
}

/// The switch.
pub struct CxlSwitch {
    decoders: Vec<Decoder>,
    latency: Span,
    /// `None` if the core has no limit.
    rate: Option<LinkRate>,
    core_free: Ticks,
    busy: Ticks,
    asked: Slab<PendingRequest>,
    hints: Slab<PendingHint>,
    forwarded: [u64; 2],
    aborted: u64,
}

lanetwin_kernel::stages! {
    FORWARDING = "forwarding",
    ANSWER = "forwarding the answer",
}

impl CxlSwitch {
    fn new(params: &Params, site: &Site) -> Self {
        let rate = params.rate("core.rate");
        Self {
            decoders: site.decoders.clone(),
            latency: params.time("latency"),
            rate: (rate > 0).then(|| LinkRate::bytes_per_second(rate)),
            core_free: Ticks(0),
            busy: Ticks(0),
            asked: Slab::new(),
            hints: Slab::new(),
            forwarded: [0; 2],
            aborted: 0,
        }
    }
    /// Number of messages forwarded, down and up, and of requests to unmapped addresses.
    #[must_use]
    pub const fn forwarded(&self) -> ([u64; 2], u64) {
        (self.forwarded, self.aborted)
    }

    /// When a message of this size that is complete now is handed to the next link.
    #[inline]
    fn pass(&mut self, bytes: u64, now: Instant) -> Instant {
        let Some(rate) = self.rate else { return now + self.latency };
        let cost = rate.ticks_for(bytes);
        self.core_free = self.core_free.max(Ticks::from(now)) + cost;
        self.busy = self.busy + cost;
        self.core_free.as_ps_ceil() + self.latency
    }
    #[inline]
    fn decode(&self, address: u64) -> Option<Decoded> {
        self.decoders.iter().find_map(|decoder| decoder.decode(address))
    }

    #[inline]
    fn request(&mut self, line: Line, cx: &mut Context<'_>) {
        let Line { operation, handle, address } = line;
        let at = self.pass(bytes_of(operation == Operation::Write), cx.now());
        let Some(Decoded { target, dpa }) = self.decode(address) else {
            self.aborted += 1;
            let done = LineDone { operation, handle, status: Status::Aborted };
            cx.send_at(UP, at + self.latency, Message::LineDone(done));
            return;
        };
        self.forwarded[0] += 1;
        let handle = self.asked.put(PendingRequest::Line(handle));
        cx.mark_until(at, FORWARDING);
        cx.send_at(down(target), at, Message::Line(Line { operation, handle, address: dpa }));
    }
    #[inline]
    fn answer(&mut self, done: LineDone, cx: &mut Context<'_>) {
        let Some(PendingRequest::Line(handle)) = self.asked.take(done.handle) else {
            unreachable!("nobody asked for {done:?}")
        };
        self.forwarded[1] += 1;
        let at = self.pass(bytes_of(done.operation == Operation::Read), cx.now());
        cx.mark_until(at, ANSWER);
        cx.send_at(UP, at, Message::LineDone(LineDone { handle, ..done }));
    }

    /// Asks every device that has some of the pages.
    fn hint(&mut self, hint: Hint, cx: &mut Context<'_>) {
        let at = self.pass(bytes_of(false), cx.now());
        let parts = self.decoders.iter().find_map(|decoder| parts(decoder, &hint)).unwrap_or_default();
        if parts.is_empty() {
            self.aborted += 1;
            cx.send_at(UP, at + self.latency, Message::HintDone { handle: hint.handle, value: 0 });
            return;
        }
        let whole = self.hints.put(PendingHint { handle: hint.handle, open: parts.len() as u32, sum: 0 });
        for (target, address, pages) in parts {
            self.forwarded[0] += 1;
            let handle = self.asked.put(PendingRequest::Part(whole));
            cx.send_at(down(target), at, Message::Hint(Hint { what: hint.what, pages, handle, address }));
        }
    }
    fn hint_done(&mut self, handle: u32, value: u64, cx: &mut Context<'_>) {
        let Some(PendingRequest::Part(number)) = self.asked.take(handle) else {
            unreachable!("nobody asked for hint {handle}")
        };
        let Some(whole) = self.hints.get(number) else { unreachable!("a part has a whole") };
        whole.sum += value;
        whole.open -= 1;
        if whole.open == 0 {
            let PendingHint { handle, sum, .. } = *whole;
            self.hints.take(number);
            self.forwarded[1] += 1;
            let at = self.pass(bytes_of(false), cx.now());
            cx.send_at(UP, at, Message::HintDone { handle, value: sum });
        }
    }
}

const fn bytes_of(data: bool) -> u64 {
    SLOT_BYTES as u64 + if data { LINE_BYTES } else { 0 }
}

const fn down(target: u16) -> Port {
    Port(1 + target)
}

/// The parts of a hint for each target of a decoder: target, address there, pages. Returns `None` if the hint begins
/// outside the decoder's window; pages beyond the window are left out.
fn parts(decoder: &Decoder, hint: &Hint) -> Option<Vec<(u16, u64, u32)>> {
    decoder.decode(hint.address)?;
    let end =
        hint.address + (u64::from(hint.pages) * PAGE).min(decoder.base() + decoder.size() - hint.address);
    let step = decoder.granularity();
    // A round through all targets from either end meets the first and the last granule of each.
    let first = hint.address - (hint.address - decoder.base()) % step;
    let granules = (end - first).div_ceil(step);
    let round = (decoder.targets().len() as u64).min(granules);
    let ends = (0..round).chain(granules - round..granules).map(|granule| {
        let from = (first + granule * step).max(hint.address);
        (from, (first + (granule + 1) * step).min(end))
    });
    let mut parts: Vec<(u16, u64, u64)> = Vec::new();
    for (from, to) in ends.filter(|(from, to)| from < to) {
        let Decoded { target, dpa } = decoder.decode(from)?;
        let (low, high) = (dpa, dpa + (to - from));
        match parts.iter_mut().find(|part| part.0 == target) {
            Some(part) => (part.1, part.2) = (part.1.min(low), part.2.max(high)),
            None => parts.push((target, low, high)),
        }
    }
    Some(
        parts
            .into_iter()
            .map(|(target, low, high)| {
                let page = low / PAGE * PAGE;
                (target, page, (high - page).div_ceil(PAGE) as u32)
            })
            .collect(),
    )
}

impl Component<Message> for CxlSwitch {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Line(line) if port == UP => self.request(line, cx),
            Message::LineDone(done) if port != UP => self.answer(done, cx),
            Message::Hint(hint) if port == UP => self.hint(hint, cx),
            Message::HintDone { handle, value } if port != UP => self.hint_done(handle, value, cx),
            other => unreachable!("a switch is not sent {other:?} on {port:?}"),
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("forwarded/down", self.forwarded[0].to_string());
        see("forwarded/up", self.forwarded[1].to_string());
        see("aborted", self.aborted.to_string());
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        if self.rate.is_some() {
            // The core's time is counted when a message is accepted, including time still ahead.
            let ahead = self.core_free.0.saturating_sub(Ticks::from(now).0);
            let in_use_ps = u128::from((self.busy.0 - ahead.min(self.busy.0)) / TICKS_PER_PS);
            report.supply("core", Supply { in_use_ps, supply: 1, kind: SupplyKind::Server });
        }
    }

    fn digest(&self) -> u64 {
        let words = [self.forwarded[0], self.forwarded[1], self.aborted, self.busy.0];
        words.into_iter().fold(0, |digest, word| mix(digest ^ word))
    }

    fn stages(&self) -> Vec<String> {
        names(&[STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::HintKind;
    use proptest::prelude::*;

    proptest! {
        /// Against every page looked at one by one.
        #[test]
        fn the_parts_of_a_hint_are_the_pages_that_devices_have(
            ways in prop::sample::select(Decoder::WAYS.to_vec()),
            shift in 8_u32..=14,
            first in 0_u64..40,
            pages in 1_u32..60,
        ) {
            let granularity = 1_u64 << shift;
            let size = (64 * PAGE).next_multiple_of(granularity * ways as u64);
            let decoder = Decoder::new(1 << 20, size, granularity, (0..ways as u16).collect()).unwrap();
            let hint = Hint { what: HintKind::Status, pages, handle: 0, address: (1 << 20) + first * PAGE };
            let got = parts(&decoder, &hint).unwrap();
            let mut expected = std::collections::BTreeMap::<u16, std::collections::BTreeSet<u64>>::new();
            for byte in (0..u64::from(pages) * PAGE).step_by(256) {
                if let Some(Decoded { target, dpa }) = decoder.decode(hint.address + byte) {
                    expected.entry(target).or_default().insert(dpa / PAGE);
                }
            }
            prop_assert_eq!(got.len(), expected.len());
            for (target, address, pages) in got {
                let own: Vec<u64> = (0..u64::from(pages)).map(|page| address / PAGE + page).collect();
                prop_assert_eq!(&own, &expected[&target].iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
