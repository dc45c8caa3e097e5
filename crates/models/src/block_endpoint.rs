//! `block-endpoint`: a block device on PCIe that takes a fixed time. With `latency: 0ns` it is the null device: what is
//! left is the link, the memory and the driver.
//!
//! ```text
//!  read:   doorbell ─► one of `parallelism` ─ latency ─► MWr data ═► MWr completion entry (signals)
//!  write:  doorbell ─► one of `parallelism` ═ MRd data ═► latency ─► MWr completion entry (signals)
//! ```
//!
//! The completion entry is a posted write behind the data, so it cannot arrive before them. A request occupies the
//! device until its entry has departed.
//!
//! Not here: commands fetched from queues in host memory, flash, caches, different times for different addresses or
//! units.

use crate::agenda::Agenda;
use crate::doorbell::{SIGNAL_BYTES, buffer, completion_entry, heard};
use crate::gauge::{Gauge, held};
use crate::requests::{self, Requests};
use lanetwin_kernel::{Component, Port, Report, Stream, Trail};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Attributes, Build, Context, Dimension, Message, Model, Operation, PCIE_DEVICE, PCIE_PORT, Param, Params,
    PortInfo, Protocol, Site, Tlps, Transfer,
};
use lanetwin_units::{Instant, Span};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

/// The declaration.
pub static MODEL: Model = Model {
    name: "block-endpoint",
    about: "A block device on PCIe: takes a doorbell, moves the data by DMA, takes a fixed time, signals.",
    ports: &[PortInfo { name: "pcie", speaks: Protocol::Pcie, about: "the device's connector", many: false }],
    params: &[&PCIE_PORT, &PCIE_DEVICE, PARAMS],
    build: Build::Component(|params, site| Box::new(BlockEndpoint::new(params, site))),
    ..Model::DEFAULT
};

const PCIE: Port = Port(0);

const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "from a TLP being possible (its data ready, its tag free) to it being offered to the link",
    },
    Param {
        name: "latency",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that the medium takes for a request; 0 makes the null device",
    },
    Param {
        name: "write.latency",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the same for a write, as of a buffer in front of the medium; 0 is as `latency`",
    },
    Param {
        name: "jitter",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the most that is added to each latency of the medium, uniformly at random",
    },
    Param {
        name: "parallelism",
        dimension: Dimension::Count { least: 1, most: 1 << 20 },
        default: Some("128"),
        about: "how many requests are worked on at once; others wait, first come first served",
    },
];

lanetwin_kernel::stages! { after requests::STAGES; QUEUE = "queue", MEDIUM = "medium" }

/// The device.
#[derive(Debug)]
pub struct BlockEndpoint {
    latency: Span,
    write_latency: Span,
    jitter: Span,
    chance: Stream,
    parallelism: usize,
    /// `None` if the device is not plugged in and receives nothing.
    requests: Option<Requests>,
    waiting: VecDeque<(Transfer, Trail)>,
    /// Number of queued requests.
    queued: Gauge,
    /// Requests in progress, by the driver's handle.
    work: BTreeMap<u32, Work>,
    /// Number of requests in progress.
    working: Gauge,
    agenda: Agenda<u32>,
    answered: u64,
    bytes: u64,
    unexpected: u64,
}

#[derive(Debug)]
struct Work {
    request: Transfer,
    /// Bytes still to arrive \[B\]; only writes wait for data.
    left: u32,
}

impl BlockEndpoint {
    fn new(params: &Params, site: &Site) -> Self {
        let port = site.pcie.first().copied().flatten();
        Self {
            latency: params.time("latency"),
            write_latency: Some(params.time("write.latency"))
                .filter(|latency| *latency > Span::ZERO)
                .unwrap_or_else(|| params.time("latency")),
            jitter: params.time("jitter"),
            chance: Stream::new(site.seed, &site.path, "jitter"),
            parallelism: usize::try_from(params.count("parallelism")).expect("a count in range"),
            requests: port.map(|port| Requests::new(PCIE, port, port.root, params.time("issue"))),
            waiting: VecDeque::new(),
            queued: Gauge::default(),
            work: BTreeMap::new(),
            working: Gauge::default(),
            agenda: Agenda::new(),
            answered: 0,
            bytes: 0,
            unexpected: 0,
        }
    }

    fn admit(&mut self, cx: &mut Context<'_>) {
        while self.work.len() < self.parallelism
            && let Some((request, trail)) = self.waiting.pop_front()
        {
            cx.resume(trail);
            cx.mark(QUEUE);
            let Transfer { handle, operation, bytes, .. } = request;
            self.queued.remove(1, cx.now());
            self.working.add(1, cx.now());
            self.work.insert(handle, Work { request, left: bytes });
            match (operation, &mut self.requests) {
                (Operation::Write, Some(requests)) => {
                    requests.read(handle, buffer(handle, bytes), bytes, cx);
                }
                _ => {
                    let at = cx.now() + self.latency + self.drawn();
                    cx.mark_until(at, MEDIUM);
                    self.agenda.put(at, handle, cx);
                }
            }
        }
    }

    /// Random addition to the latency of this request.
    fn drawn(&mut self) -> Span {
        match self.jitter.as_ps() {
            0 => Span::ZERO,
            most => Span::from_ps(self.chance.below(most + 1)),
        }
    }

    fn ring(&mut self, doorbell: &Tlps, cx: &mut Context<'_>) {
        let request = heard(doorbell.handle, doorbell.address);
        let known = |waiting: &VecDeque<(Transfer, Trail)>| {
            waiting.iter().any(|(other, _)| other.handle == request.handle)
        };
        if self.work.contains_key(&request.handle) || known(&self.waiting) {
            self.unexpected += 1;
            return;
        }
        self.waiting.push_back((request, cx.trail()));
        self.queued.add(1, cx.now());
        self.admit(cx);
    }

    fn completions(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        if let Some(requests) = &mut self.requests {
            requests.completed(tlps, cx);
        }
        let Some(work) = self.work.get_mut(&tlps.handle) else {
            self.unexpected += u64::from(tlps.count);
            return;
        };
        work.left = work.left.saturating_sub(u32::from(tlps.count) * u32::from(tlps.bytes));
        if work.left == 0 {
            let at = cx.now() + self.write_latency + self.drawn();
            cx.mark_until(at, MEDIUM);
            self.agenda.put(at, tlps.handle, cx);
        }
    }

    /// The medium has done its part: the data of a read and the completion entry go out.
    fn answer(&mut self, handle: u32, cx: &mut Context<'_>) {
        let (Some(requests), Some(work)) = (&mut self.requests, self.work.get(&handle)) else { return };
        let Transfer { operation, bytes, .. } = work.request;
        if operation == Operation::Read {
            requests.write(handle, buffer(handle, bytes), bytes, Attributes::NONE, cx);
        }
        let told = Attributes::SIGNAL.and(Attributes::NOTIFY);
        requests.write(handle, completion_entry(handle), SIGNAL_BYTES.into(), told, cx);
        self.answered += 1;
        self.bytes += u64::from(bytes);
    }
}

impl Component<Message> for BlockEndpoint {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::MWr => self.ring(&tlps, cx),
                TlpKind::CplD => self.completions(&tlps, cx),
                TlpKind::Cpl | TlpKind::MRd | TlpKind::Msg | TlpKind::MsgD => {
                    self.unexpected += u64::from(tlps.count)
                }
            },
            Message::Departed { handle } => {
                if self.work.remove(&handle).is_some() {
                    self.working.remove(1, cx.now());
                }
                self.admit(cx);
            }
            _ => unreachable!("a block endpoint is sent TLPs, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(handle) = self.agenda.take(cx) {
            self.answer(handle, cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("waiting", self.waiting.len().to_string());
        see("being-worked-on", self.work.len().to_string());
        see("answered", format!("{} requests, {} B", self.answered, self.bytes));
        see("unexpected", self.unexpected.to_string());
        if let Some(requests) = &self.requests {
            see("tags-in-use", requests.tags_in_use().to_string());
            see("waiting-for-tags", requests.waiting().to_string());
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        if let Some(requests) = &self.requests {
            report.supply("tags", requests.tags_used(now));
        }
        report.supply("parallelism", held(&self.working, &self.queued, self.parallelism as u64, now));
    }

    fn digest(&self) -> u64 {
        lanetwin_kernel::mix(self.answered) ^ self.bytes
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[requests::STAGES, STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
