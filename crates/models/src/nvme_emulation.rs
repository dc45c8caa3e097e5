//! `nvme-emulation`: the NVMe controller that a DPU presents to its host. To the host it is a drive on PCIe: queues
//! in host memory, doorbells, MSI-X. Accesses to the medium are passed to the cores of the DPU, which forward them.
//!
//! ```text
//!  read   doorbell ─► MRd entries ═► CplD ─► core: command ─► Block ═ network ═ drive ═► BlockDone
//!                ─► core: complete ─► DMA ─► MWr data ═► MWr entry ═► MWr MSI-X
//!  write  doorbell ─► MRd entries ═► CplD ─► core: command ─► DMA ─► MRd data ═► CplD ─► core: data ─► Block … BlockDone
//!                ─► core: complete ─► MWr entry ═► MWr MSI-X
//! ```
//!
//! Entries, lists and completion entries are moved by hardware of the DPU, without its cores. Each I/O command costs
//! the core of its queue `emulation.command` and `emulation.complete`, and a write `emulation.data` when its data
//! have arrived. The cores are those of the host that runs the DPU's software, which also sends the requests to the
//! drive. User data are stored in the DPU's memory in between: one engine moves them between there and the host at
//! `dma.rate`, each transfer `dma.latency` after it could begin.
//!
//! Queue *q* belongs to thread (*q* - 1) modulo `threads`, and the threads are assigned to the cores of the DPU round
//! robin.
//!
//! **Lookahead.** Every TLP is offered to the link exactly `issue` after it could be.
//!
//! Not here: data that go from the network to the host without being stored in between; commands other than reads,
//! writes, flushes and Write Zeroes (Invalid Command Opcode); several namespaces; live changes of the presented
//! controller.

mod marking;
mod params;
mod threads;

use crate::agenda::Agenda;
use crate::nvme_front::{Front, Signals, known, name};
use crate::nvme_software;
use crate::servers::Servers;
use crate::slab::Slab;
use crate::wakes::Wakes;
use lanetwin_kernel::{Component, Metric, Port, Report};
use lanetwin_nvme::logic::{Direction, HostEffect, MediaOperation, MediaRequest, Token};
use lanetwin_nvme::spec::registers::DOORBELLS;
use lanetwin_nvme::spec::{ControllerId, Status as NvmeStatus};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    BlockCommand, BlockCommandKind, Build, Capability, Context, Done, Message, Model, Operation, PCIE_DEVICE,
    PCIE_PORT, Params, PortInfo, Protocol, Site, Status, Tlps, Transfer,
};
use lanetwin_ssd::{Controllers, Forwarded, Forwarder};
use lanetwin_units::{Better, Instant, Span};
use marking::{DMA, DMA_QUEUE, STAGES};
use std::any::Any;
use threads::{Costs, Threads, Work};

/// The declaration.
pub static MODEL: Model = Model {
    name: "nvme-emulation",
    about: "The NVMe controller that a DPU shows its host on PCIe: its cores carry commands on to a drive elsewhere.",
    ports: &[
        PortInfo {
            name: "pcie",
            speaks: Protocol::Pcie,
            about: "the edge connector of the DPU, where its host finds a drive",
            many: false,
        },
        PortInfo {
            name: "disk",
            speaks: Protocol::Block,
            about: "what the commands are carried on to: the drive that is shown",
            many: false,
        },
    ],
    params: &[&PCIE_PORT, &PCIE_DEVICE, params::PARAMS, nvme_software::PARAMS, nvme_software::DRIVE_PARAMS],
    mistakes: params::mistakes,
    driver: "nvme-driver",
    capabilities: &[Capability::NvmeQueues],
    build: Build::Component(|params, site| Box::new(NvmeEmulation::new(params, site))),
    ..Model::DEFAULT
};

/// The port to the component that executes commands.
const DISK: Port = Port(1);

/// Wake token: for its controllers, …
const CONTROLLERS: u32 = 1;
// … or for its agenda, whose wakes have the token 0.

const COMMANDS: Metric = Metric::new("commands carried on", "k/s", Better::Neither);
const CORES: Metric = Metric::new("cores of the DPU in use", "", Better::Lower);
const STAGED: Metric = Metric::new("data through the memory of the DPU", "MB/s", Better::Lower);

/// The device.
pub struct NvmeEmulation {
    /// `None` if the parameters describe no valid controller: it then receives nothing.
    controllers: Option<Forwarder>,
    front: Front,
    threads: Threads,
    dma: Servers,
    dma_latency: Span,
    dma_rate: u64,
    /// Forwarded requests without an answer, by number.
    asked: Slab<Asked>,
    agenda: Agenda<Step>,
    wakes: Wakes,
    counts: Counts,
}

/// A command, or a part of one, that is at the drive.
#[derive(Clone, Copy, Debug)]
struct Asked {
    token: Token,
    thread: u32,
}

#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    commands: u64,
    /// Bytes moved into and out of the DPU's memory \[B\].
    staged: u64,
    refused: u64,
    unexpected: u64,
}

/// A scheduled step.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A core has done the work before a transfer from the host.
    Fetch(HostEffect),
    /// The engine may begin with a transfer.
    Move(HostEffect),
    /// A core has done the work of a command, which is then sent to the drive.
    Ask(Token, MediaRequest),
    /// A core is done with an answer.
    Answered(Token, Status),
}

impl NvmeEmulation {
    fn new(params: &Params, site: &Site) -> Self {
        let threads = Threads::new(params.count("threads") as u32, Costs::new(params), &site.cores);
        Self {
            controllers: Forwarder::new(&params::subsystem(params)).ok(),
            front: Front::new(site, 1, (params.time("issue"), params.size("posted.ahead")), vec![None]),
            threads,
            dma: Servers::new(1),
            dma_latency: params.time("dma.latency"),
            dma_rate: params.rate("dma.rate"),
            asked: Slab::new(),
            agenda: Agenda::new(),
            wakes: Wakes::new(),
            counts: Counts::default(),
        }
    }

    /// Counters of signals between host and controller.
    #[must_use]
    pub const fn signals(&self) -> Signals {
        self.front.signals
    }

    /// Calls the controllers, and carries out their effects.
    fn with(&mut self, cx: &mut Context<'_>, act: impl FnOnce(&mut Forwarder, &mut Front, &mut Context<'_>)) {
        let (Some(controllers), front) = (&mut self.controllers, &mut self.front) else { return };
        act(controllers, front, cx);
        self.carry_on(cx);
    }
    /// Carries out the effects of the controllers, and schedules their wakes.
    fn carry_on(&mut self, cx: &mut Context<'_>) {
        while let Some(wanted) = self.controllers.as_mut().and_then(|own| own.poll(cx.now())) {
            self.take(wanted, cx);
        }
        let next = self.controllers.as_ref().map_or(Instant::NEVER, Forwarder::next_wake);
        if next != Instant::NEVER {
            self.wakes.ask(next.max(cx.now()), CONTROLLERS, cx);
        }
    }

    fn take(&mut self, wanted: Forwarded, cx: &mut Context<'_>) {
        let Some(controllers) = &mut self.controllers else { return };
        match wanted {
            Forwarded::Host(effect @ HostEffect::Transfer { token, direction, bytes, .. }) => {
                if controllers.command(token).is_none() {
                    return controllers.failed(cx.now(), token);
                }
                match direction {
                    Direction::FromHost => {
                        cx.resume(self.front.arrived(controllers, token));
                        self.work(token, Work::Command, Step::Fetch(effect), cx);
                    }
                    Direction::ToHost => {
                        cx.resume(self.front.known.command(name(controllers, token)).done);
                        self.plan_move((effect, bytes), cx);
                    }
                }
            }
            Forwarded::Host(effect) => self.front.carry_out(effect, controllers, cx),
            Forwarded::Ask { token, request } => {
                // of a flush that a shutdown makes there is no command
                cx.resume(self.front.arrived(controllers, token));
                let work = match request.operation {
                    MediaOperation::Write { .. } => Work::Data,
                    _ => Work::Command,
                };
                self.work(token, work, Step::Ask(token, request), cx);
            }
        }
    }
    /// Gives work to the core of a command, and schedules the step after it.
    fn work(&mut self, token: Token, work: Work, step: Step, cx: &mut Context<'_>) {
        let queue = self.controllers.as_ref().and_then(|own| own.command(token)).map_or(0, |of| of.sqid.0);
        let at = self.threads.work(queue, work, cx);
        self.agenda.put(at, step, cx);
    }
    /// Data wait for the engine that moves them.
    fn plan_move(&mut self, (effect, bytes): (HostEffect, u32), cx: &mut Context<'_>) {
        const PS_PER_SECOND: u128 = 1_000_000_000_000;
        let ps = u128::from(bytes) * PS_PER_SECOND / u128::from(self.dma_rate.max(1));
        let service = Span::from_ps(ps as u64);
        let begun = self.dma.serve(cx.now(), service);
        let at = begun + service + self.dma_latency;
        cx.mark_until(begun, DMA_QUEUE);
        cx.mark_until(at, DMA);
        self.agenda.put(at, Step::Move(effect), cx);
    }

    fn step(&mut self, step: Step, cx: &mut Context<'_>) {
        match step {
            Step::Fetch(effect @ HostEffect::Transfer { bytes, .. }) => self.plan_move((effect, bytes), cx),
            Step::Fetch(_) => {}
            Step::Move(effect) => self.with(cx, |controllers, front, cx| {
                if let HostEffect::Transfer { token, direction, .. } = effect {
                    // the trail continues from the wait for the engine
                    match direction {
                        Direction::FromHost => front.has_arrived(controllers, token, cx),
                        Direction::ToHost => front.is_done(controllers, token, cx),
                    }
                    front.carry_out(effect, controllers, cx);
                }
            }),
            Step::Ask(token, request) => self.ask(token, request, cx),
            Step::Answered(token, status) => self.with(cx, |controllers, front, cx| {
                front.is_done(controllers, token, cx);
                controllers.answered(cx.now(), token, answer(status));
            }),
        }
    }

    /// Carries a command on.
    fn ask(&mut self, token: Token, request: MediaRequest, cx: &mut Context<'_>) {
        let Some(controllers) = &self.controllers else { return };
        let block = controllers.block_bytes(request.nsid).unwrap_or(0);
        let (bytes, address) = (u64::from(request.blocks) * block, request.slba * block);
        let bytes = u32::try_from(bytes).expect("MDTS, and 16 bits of blocks, keep it below 4 GiB");
        let queue = controllers.command(token).map_or(0, |of| of.sqid.0);
        let thread = self.threads.of_queue(queue);
        let slot = self.asked.put(Asked { token, thread });
        let (handle, unit) = (slot * self.threads.count() + thread, 0);
        let transfer = |operation| Message::Block(Transfer { operation, bytes, handle, unit, address });
        let command =
            |kind, bytes, address| Message::Command(BlockCommand { kind, bytes, handle, unit, address });
        let message = match request.operation {
            MediaOperation::Read => transfer(Operation::Read),
            MediaOperation::Write { .. } => transfer(Operation::Write),
            MediaOperation::Flush => command(BlockCommandKind::Flush, 0, 0),
            MediaOperation::WriteZeroes { .. } => command(BlockCommandKind::WriteZeroes, bytes, address),
            _ => {
                self.asked.take(slot);
                self.counts.refused += 1;
                return self.with(cx, |controllers, front, cx| {
                    front.is_done(controllers, token, cx);
                    controllers.answered(cx.now(), token, NvmeStatus::INVALID_OPCODE);
                });
            }
        };
        self.counts.commands += 1;
        if matches!(message, Message::Block(_)) {
            self.counts.staged += 2 * u64::from(bytes);
        }
        cx.send(DISK, Span::ZERO, message);
    }

    /// The drive has answered.
    fn disk_done(&mut self, done: Done, cx: &mut Context<'_>) {
        let count = self.threads.count();
        let is_its = |asked: &mut Asked| asked.thread == done.handle % count;
        let slot = done.handle / count;
        if !self.asked.get(slot).is_some_and(is_its) {
            self.counts.unexpected += 1;
            return;
        }
        if let Some(Asked { token, .. }) = self.asked.take(slot) {
            self.work(token, Work::Complete, Step::Answered(token, done.status), cx);
        }
    }

    /// The host writes a register, a doorbell, most of the time.
    fn register(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        let Ok(offset) = u32::try_from(tlps.address) else {
            self.front.unexpected += u64::from(tlps.count);
            return;
        };
        let (value, controller) = (tlps.handle, ControllerId(0));
        if offset >= DOORBELLS {
            self.front.rung(controller, offset, cx);
        }
        self.with(cx, |own, _, cx| own.write_register(cx.now(), controller, offset, value));
    }
}

/// The status reported to the host for the outcome of a command.
const fn answer(status: Status) -> NvmeStatus {
    match status {
        Status::Ok => NvmeStatus::SUCCESS,
        Status::Corrupt | Status::Aborted => NvmeStatus::INTERNAL_ERROR,
    }
}

impl Component<Message> for NvmeEmulation {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::MWr => self.register(&tlps, cx),
                TlpKind::CplD => self.with(cx, |own, front, cx| front.completions(0, &tlps, own, cx)),
                TlpKind::MRd | TlpKind::Cpl | TlpKind::Msg | TlpKind::MsgD => {
                    self.front.unexpected += u64::from(tlps.count);
                }
            },
            Message::BlockDone(done) => self.disk_done(done, cx),
            Message::Departed { .. } => self.front.departed(0, cx),
            _ => unreachable!("an NVMe controller of a DPU is sent TLPs and answers, not {message:?}"),
        }
    }

    fn wake(&mut self, what: u32, cx: &mut Context<'_>) {
        if what == CONTROLLERS {
            self.wakes.come(cx.now());
            self.with(cx, |own, _, cx| own.wake(cx.now()));
            return;
        }
        while let Some(step) = self.agenda.take(cx) {
            self.step(step, cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        let Counts { commands, refused, unexpected, .. } = self.counts;
        see("commands", commands.to_string());
        see("refused", refused.to_string());
        see("unexpected", (unexpected + self.front.unexpected).to_string());
        see("at the drive", self.asked.iter().count().to_string());
        for (number, requests) in self.front.plugged() {
            see(&format!("tags-in-use{number}"), requests.tags_in_use().to_string());
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        self.threads.report(now, report);
        report.supply("DMA engine", self.dma.used(now));
        for (number, requests) in self.front.plugged() {
            report.supply(format!("tags{number}"), requests.tags_used(now));
        }
        report.rate(COMMANDS, self.counts.commands, 1e3);
        report.rate(CORES, self.threads.busy_ps(now), 1e12);
        report.rate(STAGED, self.counts.staged, 1e6);
        self.front.signals.report(report);
    }

    fn digest(&self) -> u64 {
        let Counts { commands, staged, refused, unexpected } = self.counts;
        let words = [commands, staged, refused, unexpected + self.front.unexpected];
        words.iter().fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word))
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[&known::FRONT_STAGES, STAGES])
    }
}
