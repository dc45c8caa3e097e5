//! `nvme-driver`: the software between programs and an NVMe drive. Each load has a queue pair, and a core that is its
//! own or one of its host's.
//!
//! ```text
//!  Block ─► core: submit ─► entry into the ring ─► doorbell (MMIO) ─► root complex ═► drive
//!  BlockDone ◄─ core: complete ◄─ entries in the completion ring ◄─ look ◄─ MSI-X, or a poll that finds something
//! ```
//!
//! **Cores.** All software time is CPU time of the load's core, in order of arrival; interrupts precede other waiting
//! work. If the host's number of cores is given, other loads and drivers share the core ([`RunQueue`]). The costs
//! depend on the engine ([`crate::nvme_software`]). A polling engine looks as soon as its core is free, and rings
//! once for all commands submitted while it handles the results of a look; other engines ring for each command.
//!
//! **Start.** The controller is enabled at the start of the run: admin queue, Identify, queues, all over the links.
//! Requests wait until it is ready. A request larger than MDTS becomes several commands.
//!
//! **Memory.** Rings, lists and Identify data are in host memory, with their bytes. User data have addresses in DRAM
//! without bytes, in consecutive pages; the buffer of a request follows from its handle.
//!
//! **Paths.** A driver can be one of several paths to the same drive ([`NvmeDriver::become_path`]). It then reports
//! on its block ports when the path is lost and when it works ([`PATH_LOST`](crate::roles::nvme::PATH_LOST)), and
//! fails requests in flight at once so that they can be retried on another path.
//!
//! **Priorities.** Each queue can have a priority ([`NvmeDriver::prioritise`]); `driver.arbitration: weighted`
//! enables weighted round robin with urgent priority class in the controller. Linux never does that; SPDK can.
//!
//! **Shadow doorbells.** With `driver.shadow-doorbells` a doorbell value is written to memory, and the doorbell is
//! rung only if the controller waits for it. Virtual drives use this because each register write is a VM exit.
//!
//! **Scheduled commands.** At given times the driver sends commands for logs, Format NVM, Sanitize and others
//! ([`NvmeDriver::schedule_command`]).
//!
//! Not here: page caches, file systems, merging of requests, retries (the component that joins paths does those).

mod buffers;
mod cpu;
mod path;
mod path_loss;
mod queue;
mod schedule;
mod scheduled;
mod shadow;
mod start;

use crate::agenda::Agenda;
use crate::ask::Ask;
use crate::nvme_software::{self, SPREAD, Software};
use lanetwin_kernel::{Component, Port, Report, Supply, SupplyKind, Trail};
use lanetwin_nvme::spec::Doorbell;
use lanetwin_nvme::spec::registers::doorbell_offset;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    Build, Context, Dimension, Done, Message, Model, Param, Params, PortInfo, Protocol, RunQueue,
    SharedMemory, Site, Status,
};
use lanetwin_units::{Instant, Spread};
use path::Path;
use queue::{Queue, Ring};
use schedule::{Scheduled, is_scheduled};
use shadow::STRIDE;
use start::Start;
use std::any::Any;

use crate::roles::nvme::NvmeHost;
use crate::roles::nvme::{Answer, Outage, ScheduledCommand};
pub use lanetwin_nvme::spec::admin::QueuePriority;

/// The declaration.
pub static MODEL: Model = Model {
    name: "nvme-driver",
    about: "The software between programs and an NVMe drive: queue pairs in host memory, doorbells, interrupts or polling.",
    ports: &[
        PortInfo {
            name: "cpu",
            speaks: Protocol::Cpu,
            about: "the root complex that the CPU belongs to",
            many: false,
        },
        PortInfo {
            name: "block",
            speaks: Protocol::Block,
            about: "requests from programs, a queue pair for each",
            many: true,
        },
    ],
    params: &[PARAMS, nvme_software::PARAMS, nvme_software::DRIVE_PARAMS],
    build: Build::Component(|params, site| Box::new(NvmeDriver::new(params, site))),
    ..Model::DEFAULT
};

const CPU: Port = Port(0);
/// The port number of the first load.
const FIRST_LOAD: u16 = 1;
/// The size of a doorbell, and of every other write to a register \[B\].
const REGISTER_BYTES: u16 = 4;

const PARAMS: &[Param] = &[Param {
    name: "ports",
    dimension: Dimension::Count { least: 1, most: 2047 },
    default: Some("1"),
    about: "how many loads there are, each with a queue pair",
}];

/// The device.
pub struct NvmeDriver {
    software: Software,
    /// `None` if there is no drive, or no memory for its queues: every request is then refused.
    place: Option<Place>,
    queues: Vec<Queue>,
    /// Whether each queue has a core of its own; cores of a host are reported by the host.
    owns_cores: bool,
    agenda: Agenda<Task>,
    /// Priority of each queue.
    priorities: Vec<QueuePriority>,
    /// `None` if this driver is the only path to the drive.
    path: Option<Path>,
    /// Scheduled commands.
    scheduled: Vec<Scheduled>,
    answered: u64,
    refused: u64,
    unexpected: u64,
}

/// The drive, and the driver's state of it.
struct Place {
    device: EndpointId,
    memory: SharedMemory,
    start: Start,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// The controller is enabled.
    Enabled,
    /// The admin queue has something.
    Admin,
    /// A core looks at the completions of this queue.
    Reap(u16),
    /// Ring the doorbell for commands that were submitted to this queue without one.
    Ring(u16),
    /// A doorbell that is shadowed in memory moves to this value, if the path has not been lost since.
    Shadow {
        doorbell: Doorbell,
        value: u16,
        losses: u32,
    },
    /// The link of the path is known to be down, or up again.
    LinkDown,
    LinkUp,
    /// The oldest command of the path may have taken too long.
    Overdue,
    /// The controller of the path was disabled, and is enabled again.
    Enable,
    /// A scheduled command is due: its number.
    ScheduledCommand(u32),
}

impl NvmeDriver {
    fn new(params: &Params, site: &Site) -> Self {
        let software = Software { staging: site.staging, ..Software::new(params) };
        let loads = params.count("ports") as u16;
        let priorities = vec![QueuePriority::MEDIUM; loads.into()];
        let place = site.target.zip(site.memory.clone()).map(|(device, memory)| {
            let start = Start::new(software, priorities.clone(), &memory);
            Place { device, memory, start }
        });
        let pairs: Vec<_> = match &place {
            Some(place) => place.start.pairs().collect(),
            None => Vec::new(),
        };
        let core = |queue: usize| site.cores.get(queue).cloned().unwrap_or_else(|| RunQueue::new(1));
        let spread = Spread::new(software.spread, site.seed, &site.path, SPREAD);
        let queue = |(i, pair)| Queue::new(pair, (software, spread.of_part(i as u64)), core(i));
        Self {
            software,
            queues: pairs.into_iter().enumerate().map(queue).collect(),
            owns_cores: site.cores.is_empty(),
            place,
            agenda: Agenda::new(),
            priorities,
            path: None,
            scheduled: Vec::new(),
            answered: 0,
            refused: 0,
            unexpected: 0,
        }
    }

    /// Sets the priority of each load's queue; queues without one are medium. It only has an effect with
    /// `driver.arbitration: weighted`. Must be called before the run starts.
    pub fn prioritise(&mut self, priorities: &[QueuePriority]) {
        self.priorities.iter_mut().zip(priorities).for_each(|(own, said)| *own = *said);
        if let Some(place) = &mut self.place {
            place.start.prioritise(&self.priorities);
        }
    }

    /// Writes a register of the drive.
    fn write(&self, at: Instant, offset: u32, value: u32, cx: &mut Context<'_>) {
        let Some(place) = &self.place else { return };
        let mmio =
            Message::Mmio { to: place.device, bytes: REGISTER_BYTES, handle: value, address: offset.into() };
        cx.send_at(CPU, at + self.software.far, mmio);
    }
    fn ring(&mut self, ring: &Ring, cx: &mut Context<'_>) {
        if self.software.shadow_doorbells && is_shadowed(ring.doorbell) {
            let losses = self.losses() as u32;
            self.agenda.put(ring.at, Task::Shadow { doorbell: ring.doorbell, value: ring.value, losses }, cx);
        } else {
            self.write(ring.at, doorbell_offset(ring.doorbell, STRIDE), ring.value.into(), cx);
        }
    }
    /// Moves a shadowed doorbell, and rings it if the controller waits for that.
    fn move_shadow(&self, doorbell: Doorbell, value: u16, cx: &mut Context<'_>) {
        let Some(Place { memory, start, .. }) = &self.place else { return };
        if start.shadow.is_some_and(|shadow| shadow.moves(doorbell, value, memory)) {
            self.write(cx.now(), doorbell_offset(doorbell, STRIDE), value.into(), cx);
        }
    }

    /// Sends the next admin command, or starts requests that have waited for the controller.
    fn advance_start(&mut self, cx: &mut Context<'_>) {
        let Some(Place { memory, start, .. }) = &mut self.place else { return };
        let now = cx.now();
        let Some(command) = start.command() else {
            self.path_works(cx);
            (0..self.queues.len() as u16).for_each(|queue| self.submit(queue, cx));
            self.submit_waiting(cx);
            return;
        };
        if let Ok(submitted) = start.admin.submit(command, 0) {
            memory.change().write(submitted.address, submitted.entry.as_bytes());
            if let Some((doorbell, value)) = submitted.ring {
                self.ring(&Ring { doorbell, value, at: now }, cx);
            }
        }
    }

    fn admin_completions(&mut self, cx: &mut Context<'_>) {
        let Some(Place { memory, start, .. }) = &mut self.place else { return };
        let (mut ended, mut asked) = (None, Vec::new());
        while let Some(completed) = queue::next(&mut start.admin, &memory.reader()) {
            if is_scheduled(completed.name) {
                asked.push(completed);
            } else {
                ended = Some(completed.status.is_success());
            }
        }
        let head = start.admin.flush_head();
        if let Some(success) = ended {
            start.ended(success, memory);
        }
        if let Some((doorbell, value)) = head {
            self.ring(&Ring { doorbell, value, at: cx.now() }, cx);
        }
        let known = cx.now() + self.software.complete;
        asked.iter().for_each(|completed| self.asked_ended(completed, known, cx));
        if ended.is_some() {
            self.advance_start(cx);
        }
    }

    fn request(&mut self, load: u16, ask: Ask, cx: &mut Context<'_>) {
        if self.path.as_ref().is_some_and(|path| path.lost) {
            self.refuse(load, ask.handle, cx.now() + self.software.submit, cx);
            return;
        }
        let Some(queue) = self.queues.get_mut(usize::from(load)) else {
            self.refuse(load, ask.handle, cx.now() + self.software.submit, cx);
            return;
        };
        queue.take(ask, cx);
        self.submit(load, cx);
        self.watch_time(cx);
    }

    fn refuse(&mut self, load: u16, handle: u32, at: Instant, cx: &mut Context<'_>) {
        self.refused += 1;
        cx.send_at(Port(FIRST_LOAD + load), at, Message::BlockDone(Done { handle, status: Status::Aborted }));
    }

    /// Turns waiting requests into commands, while there is room.
    fn submit(&mut self, load: u16, cx: &mut Context<'_>) {
        let now = cx.now();
        loop {
            let Some(Place { memory, start, .. }) = &self.place else { return };
            if !start.is_ready() && !start.has_failed() {
                return;
            }
            let queue = &mut self.queues[usize::from(load)];
            let Some(ask) = queue.first() else { return };
            if start.has_failed() || !start.limits.allow(&ask) {
                queue.drop_first(now);
                let at = queue.core.serve(now, self.software.submit) + self.software.submit;
                self.refuse(load, ask.handle, at, cx);
                continue;
            }
            match queue.submit(&start.limits, memory, cx) {
                None => return,
                Some(Some(ring)) => self.ring(&ring, cx),
                Some(None) => {
                    if !std::mem::replace(&mut queue.ringing, true) {
                        self.agenda.put(queue.ring_at(), Task::Ring(load), cx);
                    }
                }
            }
        }
    }

    /// Rings the doorbell for commands submitted without one, after the last of them.
    fn ring_late(&mut self, load: u16, cx: &mut Context<'_>) {
        let queue = &mut self.queues[usize::from(load)];
        let at = queue.ring_at();
        if at > cx.now() {
            self.agenda.put(at, Task::Ring(load), cx);
            return;
        }
        queue.ringing = false;
        if let Some((doorbell, value)) = queue.pair.flush_tail() {
            self.ring(&Ring { doorbell, value, at: cx.now() }, cx);
        }
    }

    /// A device has signalled: a vector, or a completion ring that is polled.
    fn signal(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        let queue =
            self.place.as_ref().filter(|place| place.device == from).and_then(|_| u16::try_from(handle).ok());
        match queue {
            Some(0) => self.agenda.put(cx.now() + self.software.admin, Task::Admin, cx),
            Some(id) if usize::from(id) <= self.queues.len() => {
                if let Some(at) = self.queues[usize::from(id - 1)].notice(cx.now()) {
                    self.agenda.put(at, Task::Reap(id - 1), cx);
                }
            }
            _ => self.unexpected += 1,
        }
    }

    fn reap_completions(&mut self, load: u16, cx: &mut Context<'_>) {
        if self.path.as_ref().is_some_and(|path| path.lost) {
            // late completions of a lost path belong to no command
            self.queues[usize::from(load)].looking = false;
            return;
        }
        let Some(Place { memory, .. }) = &self.place else { return };
        let (answers, ring) = self.queues[usize::from(load)].reap_completions(memory, cx);
        self.answered += answers.len() as u64;
        for answer in answers {
            let done = Done { handle: answer.handle, status: answer.status };
            cx.resume(answer.trail);
            cx.send_at(Port(FIRST_LOAD + load), answer.at, Message::BlockDone(done));
        }
        if let Some(ring) = ring {
            // of no request
            cx.resume(Trail::NONE);
            self.ring(&ring, cx);
        }
        if !self.scheduled.is_empty() {
            let asked = std::mem::take(&mut self.queues[usize::from(load)].asked);
            asked.iter().for_each(|(completed, at)| self.asked_ended(completed, *at, cx));
        }
        self.submit(load, cx);
    }
}

/// Whether a doorbell has a shadow, if shadows are used: those of the admin queue have none.
fn is_shadowed(doorbell: Doorbell) -> bool {
    match doorbell {
        Doorbell::SubmissionTail(queue) => queue.0 > 0,
        Doorbell::CompletionHead(queue) => queue.0 > 0,
    }
}

impl NvmeHost for NvmeDriver {
    fn prioritise(&mut self, priorities: &[QueuePriority]) {
        Self::prioritise(self, priorities);
    }
    fn become_path(&mut self, outages: Vec<Outage>) {
        Self::become_path(self, outages);
    }
    fn schedule_command(&mut self, at: Instant, what: ScheduledCommand) -> usize {
        Self::schedule_command(self, at, what)
    }
    fn answers(&self) -> Vec<Answer> {
        Self::answers(self)
    }
    fn has_scheduled(&self) -> bool {
        Self::has_scheduled(self)
    }
}

impl Component<Message> for NvmeDriver {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.place.is_some() {
            self.begin(cx);
            self.await_outages(cx);
            self.arm_scheduled(cx);
        }
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(transfer) => self.request(port.0 - FIRST_LOAD, Ask::of(transfer), cx),
            Message::Command(command) => self.request(port.0 - FIRST_LOAD, Ask::to(command), cx),
            Message::Signal { handle, from } => self.signal(handle, from, cx),
            _ => unreachable!("an NVMe driver is sent requests and signals, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(task) = self.agenda.take(cx) {
            match task {
                Task::Enabled => self.advance_start(cx),
                Task::Admin => self.admin_completions(cx),
                Task::Reap(load) => self.reap_completions(load, cx),
                Task::Ring(load) => self.ring_late(load, cx),
                Task::Shadow { doorbell, value, losses } if losses == self.losses() as u32 => {
                    self.move_shadow(doorbell, value, cx);
                }
                // of rings that are no more
                Task::Shadow { .. } => {}
                Task::LinkDown => self.lose(cx),
                Task::LinkUp => self.reset(cx),
                Task::Overdue => self.overdue(cx),
                Task::Enable => self.enable(cx),
                Task::ScheduledCommand(number) => self.submit_scheduled(number, cx),
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("answered", self.answered.to_string());
        see("refused", self.refused.to_string());
        see("unexpected", self.unexpected.to_string());
        for (i, queue) in self.queues.iter().enumerate() {
            let (in_flight, waiting) = (queue.in_flight.number(), queue.queued.number());
            see(&format!("queue{i}"), format!("{in_flight} in flight, {waiting} wait"));
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        if self.queues.is_empty() {
            return;
        }
        let sum = |of: &dyn Fn(&Queue) -> u128| self.queues.iter().map(of).sum::<u128>();
        let supply = self.queues.len() as u64;
        if self.owns_cores {
            let in_use_ps = sum(&|queue| queue.core.used(now).in_use_ps);
            report.supply("cores", Supply { in_use_ps, supply, kind: SupplyKind::Server });
        }
        let uses: Vec<_> = self.queues.iter().map(|queue| queue.cpu).collect();
        cpu::report(&uses, (self.software.mapping.is_none(), self.software.polled), report);
        let waiting_ps = sum(&|queue| queue.queued.integral_ps(now));
        let in_use_ps = sum(&|queue| queue.in_flight.integral_ps(now));
        let supply = supply * u64::from(self.software.entries - 1);
        report.supply("queue entries", Supply { in_use_ps, supply, kind: SupplyKind::Held { waiting_ps } });
    }

    fn digest(&self) -> u64 {
        lanetwin_kernel::mix(self.answered) ^ self.refused << 32 ^ self.unexpected
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[queue::STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn NvmeHost }
}
