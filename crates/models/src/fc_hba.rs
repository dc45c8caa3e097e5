//! `fc-hba`: a host bus adapter for Fibre Channel on PCIe, with a RAM-disk target behind each of its FC ports.
//!
//! ```text
//!  read:   doorbell ─ command ─► FCP_CMND ─► target.access ─► data frames ─► MWr a burst ═► … FCP_RSP ─► MWr entry (signals)
//!  write:  doorbell ─ command ─► FCP_CMND ─► target.access ─► FCP_XFER_RDY ─► MRd ═► data frames ─► FCP_RSP ─► MWr entry
//! ```
//!
//! A request's `unit` is the FC port that it goes through; the ports share the connector, its tags and nothing else.
//!
//! **Flow control in both directions.** A frame of a read occupies the adapter's buffer until the posted write that
//! carries it has departed. While `buffer.rx` is full R_RDY is withheld, the target runs out of credits and its wire
//! idles: a stall of PCIe stalls Fibre Channel. At most `dma.writes` bursts of a port are handed to the link at once,
//! so that its read requests, which may not pass posted writes, do not queue behind all received data. A write is
//! sent as fast as host memory answers, at most `dma.reads` bursts ahead and as far as `buffer.tx` has room.
//!
//! **Bursts.** Consecutive frames are handled as one event, of at most `dma.burst` bytes. Their starts, credits and
//! R_RDY are still counted frame by frame.
//!
//! The completion entry is a posted write behind the data, so it cannot arrive before them. A request occupies the
//! adapter until its entry has departed.
//!
//! Not here: commands fetched from rings in host memory; the delay of an R_RDY behind a frame in the same direction
//! (up to a frame's time, which credits hide); targets that request a write in pieces; interleaved sequences;
//! switches between port and target; several PCIe functions with separate tags; errors.

mod effect;
mod initiator;
mod params;
mod target;
mod wire;

use crate::agenda::Agenda;
use crate::doorbell::{SIGNAL_BYTES, buffer, completion_entry, heard};
use crate::gauge::{Gauge, held};
use crate::requests::{self, Requests};
use effect::{Effect, Effects, Event};
use initiator::Initiator;
use lanetwin_kernel::{Component, Port, Report, Stream, Trail};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Attributes, Build, Context, Message, Model, PCIE_DEVICE, PCIE_PORT, Params, PortInfo, Protocol, Site,
    Tlps, Transfer,
};
use lanetwin_units::Instant;
use params::{PARAMS, Rules};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use target::Target;

/// The declaration.
pub static MODEL: Model = Model {
    name: "fc-hba",
    about: "A Fibre Channel host bus adapter on PCIe, with a RAM-disk target behind each FC port.",
    ports: &[PortInfo {
        name: "pcie",
        speaks: Protocol::Pcie,
        about: "the adapter's edge connector",
        many: false,
    }],
    params: &[&PCIE_PORT, &PCIE_DEVICE, PARAMS],
    build: Build::Component(|params, site| Box::new(FcHba::new(params, site))),
    ..Model::DEFAULT
};

const PCIE: Port = Port(0);

/// Traffic of an FC port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Moved {
    /// Requests that were answered.
    pub answered: u64,
    /// Written to host memory: departed, of reads \[B\].
    pub to_host: u64,
    /// Arrived from host memory, of writes \[B\].
    pub from_host: u64,
}

/// The device.
#[derive(Debug)]
pub struct FcHba {
    /// `None` if the adapter is not plugged in and receives nothing.
    requests: Option<Requests>,
    ports: Vec<FcPort>,
    /// Requests in progress, by the driver's handle.
    exchanges: BTreeMap<u32, Transfer>,
    /// Their trails.
    trails: BTreeMap<u32, Trail>,
    /// Posted writes handed to the link, in order, each with the index of its FC port.
    posted: VecDeque<(usize, Posted)>,
    /// Largest number of those for each FC port.
    writes: u64,
    agenda: Agenda<(usize, Task)>,
    effects: Effects,
    unexpected: u64,
}

lanetwin_kernel::stages! {
    after requests::STAGES;
    COMMAND = "command and target, up to FCP_XFER_RDY",
    HOST_READ = "queue for a host read",
    EXCHANGE = "exchange on Fibre Channel",
    HOST_WRITE = "queue for a host write",
}

/// An FC port and the target behind it.
#[derive(Debug)]
struct FcPort {
    initiator: Initiator,
    target: Target,
    /// Time of its next pump; in the past if none is planned.
    planned: Instant,
    /// Posted writes to host memory that wait, in order.
    to_write: VecDeque<Posted>,
    /// Number of those.
    waiting: Gauge,
    /// Number of posted writes handed to the link.
    writing: Gauge,
    moved: Moved,
}

/// A write to host memory.
#[derive(Clone, Copy, Debug)]
struct Posted {
    handle: u32,
    what: Content,
    /// Trail of its request.
    trail: Trail,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// Data of a read, from this offset on \[B\].
    Data { offset: u32, bytes: u32 },
    /// The completion entry.
    Entry,
}

#[derive(Debug)]
enum Task {
    /// Something may be able to start on a wire.
    Pump,
    /// A frame, or the last of a run, has arrived at the adapter.
    Hear(Event),
}

impl FcHba {
    fn new(params: &Params, site: &Site) -> Self {
        let port = site.pcie.first().copied().flatten();
        let rules = Rules::new(params);
        let jitter = |unit| Stream::new(site.seed, &site.path, &format!("jitter of target {unit}"));
        let fc_port = |unit| FcPort {
            initiator: Initiator::new(rules),
            target: Target::new(rules, jitter(unit)),
            planned: Instant::ZERO,
            to_write: VecDeque::new(),
            waiting: Gauge::default(),
            writing: Gauge::default(),
            moved: Moved::default(),
        };
        Self {
            requests: port.map(|port| Requests::new(PCIE, port, port.root, params.time("issue"))),
            ports: (0..params.count("luns")).map(fc_port).collect(),
            exchanges: BTreeMap::new(),
            trails: BTreeMap::new(),
            posted: VecDeque::new(),
            writes: rules.writes,
            agenda: Agenda::new(),
            effects: Effects::new(),
            unexpected: 0,
        }
    }

    /// Traffic of the FC port `unit` so far; zero if there is no such port.
    #[must_use]
    pub fn moved(&self, unit: usize) -> Moved {
        self.ports.get(unit).map(|port| port.moved).unwrap_or_default()
    }

    /// The exchange of this name, and the number of its FC port.
    fn exchange(&self, handle: u32) -> Option<(usize, Transfer)> {
        self.exchanges.get(&handle).map(|request| (usize::from(request.unit), *request))
    }

    fn ring(&mut self, doorbell: &Tlps, cx: &mut Context<'_>) {
        let request = heard(doorbell.handle, doorbell.address);
        let unit = usize::from(request.unit);
        if unit >= self.ports.len() || self.exchanges.contains_key(&request.handle) {
            self.unexpected += 1;
            return;
        }
        self.exchanges.insert(request.handle, request);
        self.trails.insert(request.handle, cx.trail());
        self.ports[unit].initiator.command(request, cx.now());
        self.pump(unit, cx);
    }

    fn completions(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        if let Some(requests) = &mut self.requests {
            requests.completed(tlps, cx);
        }
        let bytes = u32::from(tlps.count) * u32::from(tlps.bytes);
        let place = self.exchange(tlps.handle).and_then(|(unit, request)| {
            let offset = tlps.address.checked_sub(buffer(request.handle, request.bytes))?;
            Some((unit, u32::try_from(offset).ok()?))
        });
        let fetched = place.is_some_and(|(unit, offset)| {
            let initiator = &mut self.ports[unit].initiator;
            initiator.fetched((tlps.handle, offset), bytes, cx.now(), &mut self.effects)
        });
        match place.filter(|_| fetched) {
            Some((unit, _)) => {
                self.trails.insert(tlps.handle, cx.trail());
                self.ports[unit].moved.from_host += u64::from(bytes);
                self.pump(unit, cx);
            }
            None => self.unexpected += u64::from(tlps.count),
        }
    }

    /// A write to host memory has left: its buffer is free, and with its completion entry a request is done.
    fn departed(&mut self, handle: u32, cx: &mut Context<'_>) {
        let first = self.posted.iter().position(|(_, posted)| posted.handle == handle);
        let Some((unit, posted)) = first.and_then(|at| self.posted.remove(at)) else { return };
        let port = &mut self.ports[unit];
        port.writing.remove(1, cx.now());
        match posted.what {
            Content::Data { bytes, .. } => {
                port.moved.to_host += u64::from(bytes);
                port.target.written(bytes.into(), cx.now());
                self.write(unit, cx);
                self.pump(unit, cx);
            }
            Content::Entry => {
                port.moved.answered += 1;
                self.exchanges.remove(&handle);
                self.trails.remove(&handle);
                self.write(unit, cx);
            }
        }
    }

    /// Hands posted writes of an FC port to the link, as many as allowed.
    fn write(&mut self, unit: usize, cx: &mut Context<'_>) {
        let (port, now) = (&mut self.ports[unit], cx.now());
        while port.writing.number() < self.writes
            && let Some(posted) = port.to_write.pop_front()
        {
            port.waiting.remove(1, now);
            port.writing.add(1, now);
            self.posted.push_back((unit, posted));
            let Posted { handle, what, trail: posted_trail } = posted;
            let (Some(requests), Some(request)) = (&self.requests, self.exchanges.get(&handle)) else {
                continue;
            };
            let (address, bytes, told) = match what {
                Content::Data { offset, bytes } => {
                    (buffer(handle, request.bytes) + u64::from(offset), bytes, Attributes::NOTIFY)
                }
                Content::Entry => (
                    completion_entry(handle),
                    SIGNAL_BYTES.into(),
                    Attributes::SIGNAL.and(Attributes::NOTIFY),
                ),
            };
            cx.resume(posted_trail);
            cx.mark(HOST_WRITE);
            requests.write(handle, address, bytes, told, cx);
        }
    }

    fn hear(&mut self, unit: usize, event: Event, cx: &mut Context<'_>) {
        let (Event::TransferReady(handle) | Event::Response(handle) | Event::Data { handle, .. }) = event;
        let Some((_, request)) = self.exchange(handle) else { return };
        cx.resume(self.trails.get(&handle).copied().unwrap_or_default());
        cx.mark(match event {
            Event::TransferReady(_) => COMMAND,
            Event::Data { .. } | Event::Response(_) => EXCHANGE,
        });
        if !matches!(event, Event::Data { .. }) {
            self.trails.insert(handle, cx.trail());
        }
        let port = &mut self.ports[unit];
        let what = match event {
            Event::TransferReady(_) => {
                port.initiator.transfer_ready(&request, cx.now(), &mut self.effects);
                return self.pump(unit, cx);
            }
            Event::Data { offset, bytes, .. } => Content::Data { offset, bytes },
            Event::Response(_) => Content::Entry,
        };
        let trail = cx.trail();
        port.to_write.push_back(Posted { handle, what, trail });
        port.waiting.add(1, cx.now());
        self.write(unit, cx);
    }

    /// Sends what an FC port can start, processes the effects, and schedules the next pump.
    fn pump(&mut self, unit: usize, cx: &mut Context<'_>) {
        let now = cx.now();
        let FcPort { initiator, target, .. } = &mut self.ports[unit];
        // the target may answer what the initiator sends at once; what the target sends arrives later
        let there = initiator.pump(target, now, &mut self.effects);
        let back = target.pump(now, &mut self.effects);
        self.act(unit, cx);
        let Some(next) = there.into_iter().chain(back).min() else { return };
        let port = &mut self.ports[unit];
        let next = next.as_ps_ceil();
        if next < port.planned || port.planned <= now {
            port.planned = next;
            self.agenda.put(next, (unit, Task::Pump), cx);
        }
    }

    fn act(&mut self, unit: usize, cx: &mut Context<'_>) {
        for effect in self.effects.drain(..) {
            match effect {
                Effect::At(at, event) => self.agenda.put(at, (unit, Task::Hear(event)), cx),
                Effect::Fetch { handle, offset, bytes } => {
                    let (Some(requests), Some(request)) = (&mut self.requests, self.exchanges.get(&handle))
                    else {
                        continue;
                    };
                    cx.resume(self.trails.get(&handle).copied().unwrap_or_default());
                    cx.mark(HOST_READ);
                    let address = buffer(handle, request.bytes) + u64::from(offset);
                    requests.read(handle, address, bytes, cx);
                }
            }
        }
    }
}

impl Component<Message> for FcHba {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::MWr => self.ring(&tlps, cx),
                TlpKind::CplD => self.completions(&tlps, cx),
                TlpKind::Cpl | TlpKind::MRd | TlpKind::Msg | TlpKind::MsgD => {
                    self.unexpected += u64::from(tlps.count)
                }
            },
            Message::Departed { handle } => self.departed(handle, cx),
            _ => unreachable!("a host bus adapter is sent TLPs, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some((unit, task)) = self.agenda.take(cx) {
            match task {
                Task::Pump => self.pump(unit, cx),
                Task::Hear(event) => self.hear(unit, event, cx),
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("being-worked-on", self.exchanges.len().to_string());
        see("posted", self.posted.len().to_string());
        see("unexpected", self.unexpected.to_string());
        for (i, port) in self.ports.iter().enumerate() {
            let FcPort { initiator, target, moved, .. } = port;
            let Moved { answered, to_host, from_host } = moved;
            see(
                &format!("fc-port{i}"),
                format!("{answered} requests, {to_host} B to and {from_host} B from host memory"),
            );
            see(
                &format!("buffers-of-fc-port{i}"),
                format!(
                    "{} B received, {} B to send, {} R_RDY withheld",
                    target.received(),
                    initiator.buffered(),
                    target.withheld()
                ),
            );
        }
        if let Some(requests) = &self.requests {
            see("tags-in-use", requests.tags_in_use().to_string());
            see("waiting-for-tags", requests.waiting().to_string());
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        for (i, port) in self.ports.iter().enumerate() {
            port.target.workers(i, now, report);
            port.initiator.workers(i, now, report);
        }
        if let Some(requests) = &self.requests {
            report.supply("tags", requests.tags_used(now));
        }
        for (i, port) in self.ports.iter().enumerate() {
            report.supply(
                format!("host writes of FC port {i}"),
                held(&port.writing, &port.waiting, self.writes, now),
            );
            port.initiator.held(i, now, report);
            port.target.held(i, now, report);
        }
    }

    fn digest(&self) -> u64 {
        self.ports.iter().fold(0, |sum, port| {
            let Moved { answered, to_host, from_host } = port.moved;
            let moved = lanetwin_kernel::mix(to_host).wrapping_add(from_host);
            lanetwin_kernel::mix(sum ^ answered).wrapping_add(moved)
        })
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[requests::STAGES, STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
