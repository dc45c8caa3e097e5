//! `root-complex`: root ports, the memory behind them, address translation, and a CPU's view of the devices below.
//!
//! ```text
//!  MRd ─► translation ─► earlier writes of the port translated ─► taken up ─► memory ─► completions, cut at RCB or MPS
//!  MWr ─► translation ─► in order ─► buffer free
//!           ├► what has bytes there (rings) is visible
//!           └► a write that signals ─► CPU
//!  CPU ─► MWr to a device (doorbell)
//! ```
//!
//! **Order.** Writes of a port take effect in order of arrival, and no read of the port is started before earlier
//! writes: a read returns data written earlier. A write that signals (one TLP) is noticed by the CPU when it takes
//! effect. Completions of reads are sent as their data become ready (`completion.order: readiness`), or for each
//! requester in the order of the requests (`fifo`).
//!
//! **Memory** is a latency: addresses below `memory.warm` hit the last-level cache, others go to DRAM, on the other
//! socket if `memory.remote` is set. Jitter, a second mode and a tail are random additions (`memory`).
//!
//! **Lookahead.** Everything the root complex sends on a slot waits at least `issue`; a memory latency below it counts
//! as `issue`.
//!
//! **Cores.** With `cores` the host's software (its drivers) has this number of cores together, which are reported
//! here; otherwise each queue pair has a core of its own. Software costs (`driver.…`) are declared here for the
//! drivers of all drives of the host.
//!
//! Not here: bandwidth and banks of DRAM, cache allocation of device writes (DDIO), traffic between its root ports,
//! reads by the CPU.

mod memory;
mod params;

use crate::agenda::Agenda;
use crate::completer::Completer;
use crate::fabric_software::{HOST_PARAMS, TARGET_PARAMS};
use crate::iommu::{Iommu, Reach};
use crate::nvme_software;
use crate::servers::Servers;
use crate::tcp_socket;
use lanetwin_kernel::{Component, Port, Report, Supply, SupplyKind};
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::spec::{FcClass, TlpKind};
use lanetwin_ports::{
    Attributes, Build, Context, Message, Model, PCIE_DEVICE, PCIE_PORT, Params, PcieSite, PortInfo, Protocol,
    Release, RunQueue, SharedMemory, Site, Tlps,
};
use lanetwin_units::{Instant, Span};
use memory::Chance;
use params::{PARAMS, Rules};
use std::any::Any;
use std::collections::BTreeMap;

pub use crate::completer::Traffic;

/// The declaration.
pub static MODEL: Model = Model {
    name: "root-complex",
    about: "Root ports with memory behind them: answers reads, takes in writes, translates addresses, serves a CPU.",
    ports: &[
        PortInfo {
            name: "cpu",
            speaks: Protocol::Cpu,
            about: "a driver's view: doorbells and signals",
            many: false,
        },
        PortInfo { name: "slot", speaks: Protocol::Pcie, about: "the root ports", many: true },
    ],
    params: &[
        &PCIE_PORT,
        &PCIE_DEVICE,
        PARAMS,
        nvme_software::PARAMS,
        HOST_PARAMS,
        TARGET_PARAMS,
        tcp_socket::PARAMS,
    ],
    drains_itself: |params| params.flag("iommu"),
    has_memory: true,
    cores: |params| params.count("cores"),
    conditions: params::CONDITIONS,
    build: Build::Component(|params, site| Box::new(RootComplex::new(params, site))),
    ..Model::DEFAULT
};

const CPU: Port = Port(0);
/// The port number of the first slot.
const FIRST_SLOT: u16 = 1;

/// The device.
#[derive(Debug)]
pub struct RootComplex {
    rules: Rules,
    slots: Vec<Option<Slot>>,
    /// The slots that lead to the devices that are driven, by the port of the device.
    routes: BTreeMap<EndpointId, usize>,
    /// The slot, if only one is connected, with every device behind it.
    only: Option<usize>,
    iommu: Option<Iommu>,
    memory: Option<SharedMemory>,
    /// The cores that the host's software shares.
    cores: Vec<RunQueue>,
    agenda: Agenda<(usize, Task)>,
}

lanetwin_kernel::stages! {
    TRANSLATION = "translation",
    COMPLETER = "queue for the completer",
    MEMORY = "memory",
    DOORBELL = "doorbell",
    SIGNAL = "signal",
}

/// A root port.
#[derive(Debug)]
struct Slot {
    endpoint: EndpointId,
    answers: Completer,
    chance: Chance,
    /// Takes up the reads.
    completer: Servers,
    /// When the translation of the last write so far ends: the earliest time for everything after it.
    posted: Instant,
    /// When the last buffer was freed, or will be: separately for posted and for other TLPs.
    freed: [Instant; 2],
    /// For each requester the readiness of its last read, if they are answered in order.
    last_ready: BTreeMap<EndpointId, Instant>,
    traffic: Traffic,
}

/// A scheduled action.
#[derive(Debug)]
enum Task {
    /// A read request is translated.
    TakeUp(Tlps),
    /// The data of a read are (about to be) there.
    Answer(Tlps),
    /// A write takes effect.
    Arrive(Tlps),
    /// A buffer is (about to be) free.
    Free(Release),
}

impl RootComplex {
    fn new(params: &Params, site: &Site) -> Self {
        let rules = Rules::new(params);
        let slot = |(i, site_of_port): (usize, &Option<PcieSite>)| {
            site_of_port.map(|port| {
                let answers = Completer::new(port_of(i), port, rules.cut, rules.issue);
                Slot::new(port, answers, Chance::new(site.seed, &site.path, &format!("slot{i}")))
            })
        };
        let iommu = params.flag("iommu").then(|| {
            Iommu::new(Reach {
                entries: params.count("iotlb.entries"),
                page: params.size("iotlb.page").0.max(SMALLEST_PAGE),
                walk: params.time("iommu.walk"),
                walkers: params.count("iommu.walkers"),
            })
        });
        if let Some(memory) = site.memory.as_ref().filter(|_| iommu.is_some()) {
            memory.change().translate();
        }
        Self {
            routes: routes(site),
            only: only_slot(site),
            slots: site.pcie.iter().enumerate().map(slot).collect(),
            rules,
            iommu,
            memory: site.memory.clone(),
            cores: site.cores.clone(),
            agenda: Agenda::new(),
        }
    }

    /// Traffic of the root port `slot` so far; zero if it is not connected.
    #[must_use]
    pub fn traffic(&self, slot: usize) -> Traffic {
        self.slots.get(slot).and_then(Option::as_ref).map(|slot| slot.traffic).unwrap_or_default()
    }
    /// Each core, if there are several, and all of them.
    fn report_cores(&self, now: Instant, report: &mut Report) {
        let used: Vec<Supply> = self.cores.iter().map(|core| core.used(now)).collect();
        if used.len() > 1 {
            used.iter().enumerate().for_each(|(i, used)| report.supply(format!("core {i}"), *used));
        }
        if !used.is_empty() {
            let in_use_ps = used.iter().map(|used| used.in_use_ps).sum();
            report.supply("cores", Supply { in_use_ps, supply: used.len() as u64, kind: SupplyKind::Server });
        }
    }

    fn slot(&mut self, slot: usize) -> &mut Slot {
        self.slots[slot].as_mut().expect("messages come from connected ports")
    }
    #[inline(always)]
    fn translate(&mut self, address: u64, now: Instant) -> Instant {
        match &mut self.iommu {
            None => now,
            Some(iommu) => iommu.translate(address, now),
        }
    }

    /// A read request is translated as it comes, and is taken up when that is done and all earlier writes are in
    /// effect.
    fn read(&mut self, slot: usize, request: Tlps, cx: &mut Context<'_>) {
        let now = cx.now();
        let translated = self.translate(request.address, now);
        let port = self.slot(slot);
        port.traffic.read(&request);
        let ready = translated.max(port.posted);
        if self.iommu.is_some() {
            // a request has no payload, whatever its length
            self.free(slot, ready, Release { kind: TlpKind::MRd, count: 1, bytes: 0 }, cx);
        }
        if ready > now {
            self.agenda.put(ready, (slot, Task::TakeUp(request)), cx);
        } else {
            self.take_up(slot, request, cx);
        }
    }

    fn take_up(&mut self, slot: usize, request: Tlps, cx: &mut Context<'_>) {
        cx.mark(TRANSLATION);
        let Rules { memory, interval, issue, fifo, .. } = self.rules;
        let port = self.slot(slot);
        let taken = port.completer.serve(cx.now(), interval);
        let mut ready = taken + memory.draw(request.address, &mut port.chance).max(issue);
        if fifo {
            let last = port.last_ready.entry(request.from).or_insert(ready);
            ready = ready.max(*last);
            *last = ready;
        }
        cx.mark_until(taken, COMPLETER);
        cx.mark_until(ready, MEMORY);
        self.agenda.put(earlier(ready, issue), (slot, Task::Answer(request)), cx);
    }

    fn answer(&mut self, slot: usize, request: &Tlps, cx: &mut Context<'_>) {
        let port = self.slot(slot);
        port.answers.answer(request, &mut port.traffic, cx);
    }

    /// Writes take effect in the order of their arrival, each when it is translated.
    fn write(&mut self, slot: usize, train: Tlps, cx: &mut Context<'_>) {
        let translated = self.translate(train.address, cx.now());
        let signal = self.rules.signal;
        let signals = train.attributes.has(Attributes::SIGNAL);
        let port = self.slot(slot);
        port.posted = port.posted.max(translated);
        port.traffic.write(&train);
        port.traffic.signals += u64::from(signals);
        let in_effect = port.posted;
        cx.mark_until(in_effect, TRANSLATION);
        self.arrive(slot, &train, in_effect, cx);
        if signals && cx.is_connected(CPU) {
            let message = Message::Signal { handle: train.handle, from: train.from };
            cx.mark_until(in_effect + signal, SIGNAL);
            cx.send_at(CPU, in_effect + signal, message);
        }
        if self.iommu.is_some() {
            let Tlps { kind, count, bytes, .. } = train;
            self.free(slot, in_effect, Release { kind, count, bytes }, cx);
        }
    }

    /// Makes a write visible at `at`, if the memory has bytes, and notifies pollers.
    fn arrive(&mut self, slot: usize, train: &Tlps, at: Instant, cx: &mut Context<'_>) {
        let Some(memory) = self.memory.as_ref().filter(|memory| train.address < memory.reader().end()) else {
            return;
        };
        if at > cx.now() {
            self.agenda.put(at, (slot, Task::Arrive(*train)), cx);
            return;
        }
        let bytes = u64::from(train.count) * u64::from(train.bytes);
        let polled = memory.change().arrive(train.address, bytes);
        memory.change().leave_trail(train.address, cx.trail());
        if let Some(handle) = polled.filter(|_| cx.is_connected(CPU)) {
            cx.send(CPU, self.rules.signal, Message::Signal { handle, from: train.from });
        }
    }

    /// Frees the buffer of TLPs that are otherwise ignored.
    fn ignore(&mut self, slot: usize, train: Tlps, cx: &mut Context<'_>) {
        self.slot(slot).traffic.unexpected += u64::from(train.count);
        self.take_out(slot, train, cx);
    }

    /// TLPs that nothing else is done with leave the receive buffer.
    fn take_out(&mut self, slot: usize, train: Tlps, cx: &mut Context<'_>) {
        if self.iommu.is_some() {
            let Tlps { kind, count, .. } = train;
            let bytes = if kind.has_data() { train.bytes } else { 0 };
            self.free(slot, cx.now(), Release { kind, count, bytes }, cx);
        }
    }

    /// The buffer of TLPs that are dealt with at `dealt_with` is free when they are drained, one after another.
    fn free(&mut self, slot: usize, dealt_with: Instant, release: Release, cx: &mut Context<'_>) {
        let occupied = self.rules.occupancy(u64::from(release.bytes)) * u64::from(release.count);
        let (drain, issue) = (self.rules.drain, self.rules.issue);
        let port = self.slot(slot);
        let freed = &mut port.freed[usize::from(release.kind.fc_class() != FcClass::Posted)];
        *freed = ((dealt_with + drain).max(*freed) + occupied).max(cx.now() + issue);
        let at = earlier(*freed, issue);
        self.agenda.put(at, (slot, Task::Free(release)), cx);
    }

    fn doorbell(&mut self, (to, bytes): (EndpointId, u16), handle: u32, address: u64, cx: &mut Context<'_>) {
        let slot = self.only.or_else(|| self.routes.get(&to).copied());
        let slot = slot.unwrap_or_else(|| panic!("no root port is known to lead to {to:?}"));
        let issue = self.rules.issue;
        let port = self.slot(slot);
        port.traffic.doorbells += 1;
        let from = port.endpoint;
        let (kind, attributes, count) = (TlpKind::MWr, Attributes::LAST, 1);
        let tlps = Tlps { kind, attributes, count, bytes, from, to, handle, address };
        cx.mark_until(cx.now() + issue, DOORBELL);
        cx.send(port_of(slot), issue, Message::Tlps(tlps));
    }
}

/// The slots that lead to the devices that are driven.
fn routes(site: &Site) -> BTreeMap<EndpointId, usize> {
    let is = |port: &Option<PcieSite>, root| port.is_some_and(|port| port.endpoint == root);
    let slot = |root| site.pcie.iter().position(|port| is(port, root));
    site.routes.iter().filter_map(|&(device, root)| Some((device, slot(root)?))).collect()
}

/// The slot that is connected, if no other is.
fn only_slot(site: &Site) -> Option<usize> {
    let mut connected = (0..site.pcie.len()).filter(|slot| site.pcie[*slot].is_some());
    connected.next().filter(|_| connected.next().is_none())
}

/// The smallest page there is \[B\]; no request crosses a boundary of it.
const SMALLEST_PAGE: u64 = 4096;

fn port_of(slot: usize) -> Port {
    Port(FIRST_SLOT + slot as u16)
}

/// `span` before `at`, which is later than that by construction.
fn earlier(at: Instant, span: Span) -> Instant {
    Instant::from_ps(at.as_ps() - span.as_ps())
}

impl Slot {
    fn new(site: PcieSite, answers: Completer, chance: Chance) -> Self {
        Self {
            endpoint: site.endpoint,
            answers,
            chance,
            completer: Servers::new(1),
            posted: Instant::ZERO,
            freed: [Instant::ZERO; 2],
            last_ready: BTreeMap::new(),
            traffic: Traffic::default(),
        }
    }
}

impl Component<Message> for RootComplex {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Tlps(tlps) => {
                let slot = usize::from(port.0 - FIRST_SLOT);
                match tlps.kind {
                    TlpKind::MRd => self.read(slot, tlps, cx),
                    TlpKind::MWr => self.write(slot, tlps, cx),
                    // messages are for the operating system
                    TlpKind::Msg => self.take_out(slot, tlps, cx),
                    TlpKind::Cpl | TlpKind::CplD | TlpKind::MsgD => self.ignore(slot, tlps, cx),
                }
            }
            Message::Mmio { to, bytes, handle, address } => self.doorbell((to, bytes), handle, address, cx),
            // a root complex requests no notifications
            _ => unreachable!("a root complex is sent TLPs and doorbells, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some((slot, task)) = self.agenda.take(cx) {
            match task {
                Task::TakeUp(request) => self.take_up(slot, request, cx),
                Task::Answer(request) => self.answer(slot, &request, cx),
                Task::Arrive(train) => self.arrive(slot, &train, cx.now(), cx),
                Task::Free(release) => cx.send(port_of(slot), self.rules.issue, Message::Release(release)),
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("under-way", self.agenda.len().to_string());
        for (i, slot) in self.slots.iter().enumerate().filter_map(|(i, slot)| Some((i, slot.as_ref()?))) {
            see(&format!("slot{i}"), format!("{:?}", slot.traffic));
        }
        if let Some(iommu) = &self.iommu {
            let (asked, walks) = iommu.counts();
            see("iommu", format!("{asked} translations, {walks} walks"));
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let connected = self.slots.iter().enumerate().filter_map(|(i, slot)| Some((i, slot.as_ref()?)));
        for (i, slot) in connected.filter(|_| self.rules.interval > Span::ZERO) {
            report.supply(format!("completer of slot{i}"), slot.completer.used(now));
        }
        if let Some(iommu) = &self.iommu {
            report.supply("page walkers", iommu.walkers_used(now));
        }
        self.report_cores(now, report);
    }

    fn digest(&self) -> u64 {
        self.slots.iter().flatten().fold(0, |sum, slot| slot.traffic.digest(sum))
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[STAGES])
    }
}
