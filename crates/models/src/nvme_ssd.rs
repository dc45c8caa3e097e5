//! `nvme-ssd`: an NVMe drive on PCIe. Queues and commands are in host memory and cross the link; the logic of the controller
//! is that of the `nvme` crate, the medium that of the `media` crate.
//!
//! ```text
//!  doorbell ─► MRd entries ═► CplD ─► firmware engine ─► latency ─► medium ─► MWr data ═► MWr entry ═► MWr MSI-X    read
//!  doorbell ─► MRd entries ═► CplD ─► MRd data ═► CplD ─► engine ─► latency ─► buffer ─► MWr entry ═► MWr MSI-X    write
//! ```
//!
//! An engine is taken for `firmware.read` (`firmware.write`) by each command, or by each `chunk` of one: engines and these times
//! bound the rate of small commands. `firmware.read-latency` and `firmware.write-latency` only take time. Data leave as
//! posted writes, the completion entry behind them, the interrupt behind that: in this order they arrive.
//!
//! Commands are what lies in host memory when their completions arrive; user data are not stored, so that Compare finds
//! everything equal. Every number of TLPs is what MPS, MRRS, 4 KiB and the data pointer make of it.
//!
//! **Lookahead.** Every TLP is offered to the link exactly `issue` after it could be.
//!
//! Not here: the queues' other end (`nvme-driver`), registers that are read (the driver is told of nothing that it would
//! have to read), the content of user data, power states.

mod effects;
mod erase;
mod inside;
mod lived;
mod medium;
mod params;
mod record;

use crate::gauge::{Gauge, held};
use crate::nvme_software;
use crate::requests::Requests;
use crate::roles::nvme::NvmeController;
use crate::servers::Servers;
use crate::slab::Slab;
use erase::Erases;
use inside::Inside;
use lanetwin_kernel::{Component, Port, Report, Supply, SupplyKind};
use lanetwin_media::{Done, Drive, Kind, Outcome, Request};
use lanetwin_nvme::logic::{Effect, MediaOperation, MediaRequest, Subsystem, Token};
use lanetwin_nvme::spec::registers::DOORBELLS;
use lanetwin_nvme::spec::{ControllerId, Status};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{Build, Context, Message, Model, PCIE_DEVICE, PCIE_PORT, Params, PortInfo, Protocol, SharedMemory, Site, Tlps, Mistake};
use lanetwin_units::Instant;
use params::Firmware;
use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub use lanetwin_media::Counters;
pub use crate::roles::nvme::CommandRecord;
pub use lived::{Endurance, Lived, Signals};
use record::{Recorder, Worked};

/// The declaration.
pub static MODEL: Model = Model {
    name: "nvme-ssd",
    about: "An NVMe drive on PCIe: queues in host memory, a controller with firmware, flash behind a translation layer.",
    ports: &[
        PortInfo {
            name: "pcie",
            speaks: Protocol::Pcie,
            about: "the drive's connector, or the first port of a dual-port drive",
            many: false,
        },
        PortInfo {
            name: SECOND_PORT,
            speaks: Protocol::Pcie,
            about: "the second port of a dual-port drive",
            many: false,
        },
    ],
    params: &[&PCIE_PORT, &PCIE_DEVICE, params::PARAMS, medium::PARAMS, nvme_software::PARAMS, nvme_software::DRIVE_PARAMS],
    has_port: |params, port| port != SECOND_PORT || params.flag("dual-port"),
    mistakes,
    driver: "nvme-driver",
    is_nvme: true,
    build: Build::Component(|params, site| Box::new(NvmeSsd::new(params, site))),
    ..Model::DEFAULT
};

/// The name of the second port, which only a dual-port drive has.
pub(crate) const SECOND_PORT: &str = "pcie2";
/// The size of the write that signals an MSI-X vector \[B\].
const MSI_BYTES: u32 = 4;
/// Where MSI-X writes go: the address of a local interrupt controller.
const MSI_ADDRESS: u64 = 0xfee0_0000;

/// The medium of a drive with these parameters, by itself; none if they describe no drive.
#[must_use]
pub fn medium(params: &Params, seed: u64) -> Option<Drive> {
    Drive::new(&medium::config(params), seed).ok()
}

/// Everything about these parameters that makes a drive impossible.
pub(crate) fn mistakes(params: &Params) -> Vec<Mistake> {
    let of_medium = medium::config(params).mistakes().into_iter().map(|bad| Mistake {
        parameter: medium::parameter(bad.field),
        problem: bad.problem,
        remedy: bad.remedy,
    });
    let of_controller = Subsystem::new(&params::subsystem(params)).err().map(|bad| Mistake {
        parameter: "namespaces",
        problem: format!("{} does not fit", bad.field),
        remedy: format!("it must be {}", bad.must),
    });
    of_medium.chain(of_controller).collect()
}

/// The device.
pub struct NvmeSsd {
    firmware: Firmware,
    erases: Erases,
    engines: Servers,
    /// By port; none where the drive is not plugged in: there it does nothing.
    requests: Vec<Option<Requests>>,
    /// When which port is lost: the controller behind it is then reset, as by every loss of a link (PCIe Base §6.6.1, conventional reset).
    losses: Vec<(Instant, usize)>,
    /// The bytes of the host's memory, by port: the hosts of a dual-port drive can be two.
    memories: [Option<SharedMemory>; 2],
    /// None if the parameters describe no drive: it then hears nothing.
    inside: Option<Inside>,
    /// When the controller asked to be woken.
    wakes: BinaryHeap<Reverse<Instant>>,
    /// Reads of host memory that are under way, by their handles on the link.
    reads: Slab<Reading>,
    /// Requests of the medium, by its tokens.
    asked: Slab<Asked>,
    /// Kept for their room.
    effects: Vec<Effect>,
    done: Vec<Done>,
    recorder: Option<Recorder>,
    /// Commands in progress, and whether others wait for them in the queues.
    in_progress: Gauge,
    short: Gauge,
    /// Whether any were, for the Controller Busy Time of the SMART log; none if nobody asks how long, which then stays 0.
    busy: Option<Gauge>,
    signals: Signals,
    unexpected: u64,
}

/// A read of host memory that is under way.
struct Reading {
    token: Token,
    /// What has not arrived yet \[B\].
    left: u32,
    what: What,
    asked: Instant,
}

/// What is read.
#[derive(Clone, Copy)]
enum What {
    /// Bytes that mean something: entries, lists.
    Bytes { address: u64, bytes: u32, commands: bool },
    /// User data.
    Data,
}

/// A request of the medium.
#[derive(Clone, Copy)]
struct Asked {
    token: Token,
    when: Worked,
}

/// What the drive is woken for: the medium, …
const MEDIUM: u32 = 0;
/// … the controller, …
const CONTROLLER_WAKE: u32 = 1;
/// … or the loss of a port.
const LOSS: u32 = 2;

impl NvmeSsd {
    fn new(params: &Params, site: &Site) -> Self {
        let issue = params.time("issue");
        let sites = site.pcie.iter().take(params::ports(params).into()).enumerate();
        let requests =
            sites.map(|(i, port)| port.map(|port| Requests::new(Port(i as u16), port, port.root, issue)));
        let mut memories = [site.memory.clone(), site.memory.clone()];
        for (port, memory) in &site.behind {
            if let Some(own) = memories.get_mut(*port) {
                *own = Some(memory.clone());
            }
        }
        Self {
            firmware: Firmware::new(params),
            erases: Erases::new(params),
            engines: Servers::new(params.count("firmware.engines")),
            requests: requests.collect(),
            losses: site.losses.iter().map(|(port, at)| (*at, *port)).collect(),
            memories,
            inside: Inside::new(params, site.seed),
            wakes: BinaryHeap::new(),
            reads: Slab::new(),
            asked: Slab::new(),
            effects: Vec::new(),
            done: Vec::new(),
            recorder: None,
            in_progress: Gauge::default(),
            short: Gauge::default(),
            busy: site.tells_busy_time.then(Gauge::default),
            signals: Signals::default(),
            unexpected: 0,
        }
    }

    /// What the drive has lived through up to `now`, the present; none if the parameters describe no drive.
    #[must_use]
    pub fn lived(&self, now: Instant) -> Option<Lived> {
        let inside = self.inside.as_ref()?;
        let counters = inside.up_to(now).counters();
        let (idle_watts, endurance) = (inside.idle_watts, inside.endurance);
        Some(Lived { counters, idle_watts, endurance, signals: self.signals })
    }

    /// Records from now on when each command is where, or stops recording.
    pub fn record(&mut self, on: bool) {
        self.recorder = on.then(Recorder::default);
    }
    /// The commands that ended since recording began, in the order of their ends; forgets them.
    pub fn take_record(&mut self) -> Vec<CommandRecord> {
        self.recorder.as_mut().map(Recorder::take).unwrap_or_default()
    }
    /// What a command that came in at a port, the first being 0, is called in [`CommandRecord::name`]: its driver calls it queue × 2^16 + command identifier.
    #[must_use]
    pub const fn name_of(port: u16, command: u32) -> u32 {
        command_name(ControllerId(port), (command >> 16) as u16, command as u16)
    }
    /// Writes down something about the command that a token belongs to, while commands are recorded.
    fn note(&mut self, token: Token, write: impl FnOnce(&mut Recorder, u32)) {
        let name = self.recorder.is_some().then(|| self.name(token));
        if let (Some(recorder), Some(name)) = (&mut self.recorder, name) {
            write(recorder, name);
        }
    }

    /// Lets the controller do something, and does what it then wants.
    fn with(&mut self, cx: &mut Context<'_>, act: impl FnOnce(&mut Subsystem, Instant, &mut Vec<Effect>)) {
        let Some(inside) = &mut self.inside else { return };
        let mut effects = std::mem::take(&mut self.effects);
        act(&mut inside.subsystem, cx.now(), &mut effects);
        let mut next = 0;
        // what is carried out at once makes further effects, which come behind those that were asked for before
        while let Some(effect) = effects.get(next).copied() {
            next += 1;
            self.carry_out(effect, &mut effects, cx);
        }
        effects.clear();
        self.effects = effects;
        self.count_commands(cx.now());
    }

    /// Notes how many commands are in progress, if that has changed.
    fn count_commands(&mut self, now: Instant) {
        let Some(inside) = &self.inside else { return };
        let (number, short) = inside.subsystem.in_progress();
        self.in_progress.set(number.into(), now);
        self.busy.iter_mut().for_each(|busy| busy.set(u64::from(number > 0), now));
        self.short.set(short.into(), now);
    }

    /// The controller wants something of the medium: the firmware has its part before. When it will hand the request over is known now, so that the
    /// medium is told now: nothing outside hears of the hand-over.
    fn ask(&mut self, token: Token, request: MediaRequest, cx: &mut Context<'_>) {
        let Firmware { read, write, other, read_latency, write_latency, .. } = self.firmware;
        let kind = match request.operation {
            MediaOperation::Read | MediaOperation::Compare => Kind::Read,
            MediaOperation::Write { .. } => Kind::Write,
            MediaOperation::WriteZeroes { .. } => Kind::WriteZeroes,
            MediaOperation::Deallocate | MediaOperation::Format { .. } | MediaOperation::Sanitize { .. } => {
                Kind::Trim
            }
            MediaOperation::Flush => Kind::Flush,
        };
        let (service, latency) = match kind {
            Kind::Read => (read, read_latency),
            Kind::Write => (write, write_latency),
            Kind::WriteZeroes | Kind::Trim | Kind::Flush => (other, self.erases.of(request.operation)),
        };
        let now = cx.now();
        self.note(token, |recorder, name| recorder.begin(name, now));
        let begun = self.engines.serve(now, service);
        let worked = begun + service;
        let when = Worked { begun, worked, submitted: worked + latency };
        let slot = self.asked.put(Asked { token, when });
        let inside = self.inside_mut();
        let (first, bytes, tenant) = inside.place(&request);
        let request = Request { token: slot, kind, first, bytes, tenant };
        let look = inside.drive.get_mut().submit_at(when.submitted, request);
        inside.look_at(look, cx);
    }

    /// The controller asked to be woken, now or before.
    fn wake_controller(&mut self, cx: &mut Context<'_>) {
        while self.wakes.peek().is_some_and(|Reverse(at)| *at <= cx.now()) {
            self.wakes.pop();
        }
        if let Some(Reverse(next)) = self.wakes.peek() {
            cx.wake_at(*next, CONTROLLER_WAKE);
        }
        self.with(cx, |subsystem, now, effects| subsystem.wake(now, effects));
    }

    /// Takes from the medium what has ended, if it is to be looked at now, and asks to look again when something more will.
    fn look(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        while let Some(inside) = self.inside.as_mut().filter(|inside| inside.look <= now) {
            let mut done = std::mem::take(&mut self.done);
            inside.look = Instant::NEVER;
            inside.drive.get_mut().advance(now, &mut done);
            for Done { token, outcome } in done.drain(..) {
                let Some(Asked { token, when, .. }) = self.asked.take(token) else { continue };
                self.note(token, |recorder, name| recorder.medium(name, when, now));
                let status = match outcome {
                    Outcome::Success => Status::SUCCESS,
                    Outcome::OutOfRange => Status::LBA_OUT_OF_RANGE,
                };
                self.with(cx, |subsystem, now, effects| subsystem.media_done(now, token, status, effects));
            }
            self.done = done;
            self.inside_mut().look_on(cx);
        }
    }

    /// Completions have arrived: what has been read completely lets the controller go on.
    fn completions(&mut self, port: usize, tlps: &Tlps, cx: &mut Context<'_>) {
        if let Some(requests) = self.requests.get_mut(port).and_then(Option::as_mut) {
            requests.completed(tlps, cx, &mut |_| {});
        }
        let Some(reading) = self.reads.get(tlps.handle) else {
            self.unexpected += u64::from(tlps.count);
            return;
        };
        reading.left = reading.left.saturating_sub(u32::from(tlps.count) * u32::from(tlps.bytes));
        if reading.left > 0 {
            return;
        }
        let Some(Reading { token, what, asked, .. }) = self.reads.take(tlps.handle) else { return };
        let (handle, now) = (tlps.handle, cx.now());
        match what {
            What::Data => {
                self.note(token, |recorder, name| recorder.data(name, handle, asked, now));
                self.with(cx, |subsystem, now, effects| subsystem.transferred(now, token, effects));
            }
            What::Bytes { address, bytes, commands } => {
                self.recorder.iter_mut().filter(|_| commands).for_each(|r| r.fetched(handle, asked));
                let memory = self.memories.get(token.controller()).cloned().flatten();
                self.with(cx, |subsystem, now, effects| {
                    let memory = memory.as_ref().map(SharedMemory::look);
                    match memory.as_ref().and_then(|memory| memory.read(address, bytes as usize)) {
                        Some(bytes) => subsystem.fetched(now, token, bytes, effects),
                        None => subsystem.failed(now, token, effects),
                    }
                });
            }
        }
    }

    /// The links of ports go down that do so now.
    fn lose(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let (lost, later): (Vec<_>, Vec<_>) = self.losses.drain(..).partition(|(at, _)| *at <= now);
        self.losses = later;
        for (_, port) in lost {
            self.with(cx, |subsystem, now, effects| subsystem.reset(now, ControllerId(port as u16), effects));
        }
        self.await_loss(cx);
    }
    /// Asks to be woken when the link of a port goes down next.
    fn await_loss(&self, cx: &mut Context<'_>) {
        if let Some(at) = self.losses.iter().map(|(at, _)| *at).min() {
            cx.wake_at(at, LOSS);
        }
    }

    /// The host writes a register: a doorbell, most of the time.
    fn register(&mut self, port: usize, tlps: &Tlps, cx: &mut Context<'_>) {
        let Ok(offset) = u32::try_from(tlps.address) else {
            self.unexpected += u64::from(tlps.count);
            return;
        };
        self.signals.doorbells += u64::from(offset >= DOORBELLS);
        let (value, controller) = (tlps.handle, ControllerId(port as u16));
        self.with(cx, |subsystem, now, effects| {
            subsystem.write_register(now, controller, offset, value, effects)
        });
    }
}

/// What the TLPs of a command are called on the link: no two commands in progress share it. No drive has so many queues that a controller
/// would not fit beside them.
const fn command_name(controller: ControllerId, queue: u16, command: u16) -> u32 {
    (controller.0 as u32) << 31 | (queue as u32) << 16 | command as u32
}

impl NvmeController for NvmeSsd {
    fn name_of(&self, port: u16, command: u32) -> u32 {
        Self::name_of(port, command)
    }
    fn record(&mut self, on: bool) {
        Self::record(self, on);
    }
    fn take_record(&mut self) -> Vec<CommandRecord> {
        Self::take_record(self)
    }
}

impl Component<Message> for NvmeSsd {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.await_loss(cx);
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let port = usize::from(port.0);
        match message {
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::MWr => self.register(port, &tlps, cx),
                TlpKind::CplD => self.completions(port, &tlps, cx),
                TlpKind::Cpl | TlpKind::MRd | TlpKind::Msg => self.unexpected += u64::from(tlps.count),
            },
            Message::Departed { .. } => {}
            _ => unreachable!("an NVMe drive is sent TLPs, not {message:?}"),
        }
    }

    fn wake(&mut self, what: u32, cx: &mut Context<'_>) {
        match what {
            MEDIUM => self.look(cx),
            CONTROLLER_WAKE => self.wake_controller(cx),
            LOSS => self.lose(cx),
            _ => unreachable!("a drive asks for no other wake than {what}"),
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("unexpected", self.unexpected.to_string());
        see("engines-busy", self.engines.busy().to_string());
        for (number, requests) in self.plugged() {
            see(&format!("tags-in-use{number}"), requests.tags_in_use().to_string());
            see(&format!("waiting-for-tags{number}"), requests.waiting().to_string());
        }
        if let Some(inside) = &self.inside {
            see("medium", format!("{:?}", inside.drive.borrow().counters()));
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        report.supply("firmware engines", self.engines.used(now));
        if let Some(inside) = &self.inside {
            let (channels, dies) = inside.up_to(now).busy();
            let used = |busy: Vec<u64>| Supply {
                in_use_ps: busy.iter().map(|ps| u128::from(*ps)).sum(),
                supply: busy.len() as u64,
                kind: SupplyKind::Server,
            };
            report.supply("channels of the medium", used(channels));
            report.supply("dies of the medium", used(dies));
        }
        for (number, requests) in self.plugged() {
            report.supply(format!("tags{number}"), requests.tags_used(now));
        }
        report.supply("commands in progress", held(&self.in_progress, &self.short, self.firmware.commands, now));
        self.lived(now).iter().for_each(|lived| lived.report(report));
    }

    fn digest_up_to(&self, now: Instant) -> u64 {
        let Some(inside) = &self.inside else { return self.unexpected };
        let counters = inside.up_to(now).counters();
        let words =
            [counters.host_bytes_read, counters.host_bytes_written, counters.page_programs, self.unexpected];
        words.iter().fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word))
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn NvmeController }
}
