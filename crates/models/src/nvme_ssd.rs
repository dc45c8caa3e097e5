//! `nvme-ssd`: an NVMe drive on PCIe. Queues and commands are in host memory and cross the link. The `ssd` crate
//! implements the drive itself: controllers, firmware and medium; this module is its front on PCIe.
//!
//! ```text
//!  doorbell ─► MRd entries ═► CplD ─► firmware engine ─► latency ─► medium ─► MWr data ═► MWr entry ═► MWr MSI-X    read
//!  doorbell ─► MRd entries ═► CplD ─► MRd data ═► CplD ─► engine ─► latency ─► buffer ─► MWr entry ═► MWr MSI-X    write
//! ```
//!
//! Each command, or each `chunk` of one, occupies an engine for `firmware.read` (`firmware.write`): engines and these
//! times bound the rate of small commands. `firmware.read-unit` (`firmware.write-unit`) for each further 4 KiB bounds
//! that of large ones. `firmware.read-latency` and `firmware.write-latency` are pure delays. Data are sent as posted
//! writes, followed by the completion entry and the interrupt, and arrive in this order.
//!
//! Commands are those in host memory when the completions of their fetch arrive. User data are not stored, so that
//! every Compare succeeds. The numbers of TLPs follow from MPS, MRRS, 4 KiB boundaries and the data pointer.
//!
//! **Lookahead.** Every TLP is offered to the link exactly `issue` after it could be.
//!
//! A drive with a controller memory buffer has data there if commands say so, and answers reads by peers
//! (`nvme_front::buffer`).
//!
//! Not here: the host's side of queues (`nvme-driver`), register reads (the driver does not need them), the content
//! of user data, power states.

mod medium;
mod params;
mod totals;

use crate::agenda::Agenda;
use crate::gauge::held;
use crate::nvme_front::buffer::Buffer;
use crate::nvme_front::known::{self, CMB, ENGINE, ENGINE_QUEUE, FIRMWARE, MEDIUM};
use crate::nvme_front::{Front, command_name};
use crate::nvme_software;
use crate::requests;
use crate::roles::drive::{Buffered, BuffersWrites, State, TellsState};
use crate::wakes::Wakes;
use lanetwin_kernel::{Component, Metric, Port, Report, Supply, SupplyKind};
use lanetwin_media::Drive;
use lanetwin_nvme::logic::Subsystem;
use lanetwin_nvme::spec::ControllerId;
use lanetwin_nvme::spec::registers::DOORBELLS;
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Build, Capability, Context, Message, Mistake, Model, PCIE_DEVICE, PCIE_PORT, Params, PortInfo, Protocol,
    Site, Tlps, device_of,
};
use lanetwin_ssd::{MediumTimes, Output, Ssd, Stage};
use lanetwin_units::{Better, Instant, Spread};
use std::any::Any;

pub use crate::nvme_front::Signals;
pub use lanetwin_media::{Counters, Spare};
pub use totals::{Endurance, Totals};

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
    params: &[
        &PCIE_PORT,
        &PCIE_DEVICE,
        params::PARAMS,
        medium::PARAMS,
        nvme_software::PARAMS,
        nvme_software::DRIVE_PARAMS,
    ],
    has_port: |params, port| port != SECOND_PORT || params.flag("dual-port"),
    mistakes,
    limits,
    conditions: params::CONDITIONS,
    driver: "nvme-driver",
    capabilities: &[Capability::NvmeQueues],
    build: Build::Component(|params, site| Box::new(NvmeSsd::new(params, site))),
    ..Model::DEFAULT
};

/// The name of the second port, which only a dual-port drive has.
pub(crate) const SECOND_PORT: &str = "pcie2";

/// The medium alone of a drive with these parameters. Returns `None` if they describe no valid drive.
#[must_use]
pub fn medium(params: &Params, seed: u64) -> Option<Drive> {
    Drive::new(&medium::config(params), seed).ok()
}

/// Everything about these parameters that makes a drive impossible.
pub(crate) fn mistakes(params: &Params) -> Vec<Mistake> {
    let of_medium = medium::config(params).mistakes().into_iter().map(medium::mistake);
    let of_controller = Subsystem::new(&params::subsystem(params)).err().map(|bad| Mistake {
        parameter: "namespaces",
        problem: format!("{} does not fit", bad.field),
        remedy: format!("it must be {}", bad.must),
    });
    of_medium.chain(of_controller).collect()
}

/// Legal settings that limit the drive.
fn limits(params: &Params) -> Vec<Mistake> {
    medium::config(params).limits().into_iter().map(medium::mistake).collect()
}

const PEERS_READ: Metric =
    Metric::new("read by peers from its memory", "MB/s", Better::Neither).if_any("traffic of peers");
const PEERS_WROTE: Metric =
    Metric::new("written by peers to its memory", "MB/s", Better::Neither).if_any("traffic of peers");

/// The device.
pub struct NvmeSsd {
    /// The drive itself. `None` if the parameters describe no valid drive, which then receives nothing.
    ssd: Option<Ssd>,
    front: Front,
    /// Times at which ports are lost: the controller behind the port is then reset, as by every loss of a link (PCIe
    /// Base §6.6.1, conventional reset).
    losses: Vec<(Instant, usize)>,
    wakes: Wakes,
    /// Reads of its memory by peers that are not answered yet, by port.
    peers: Agenda<(usize, Tlps)>,
    idle_watts: f64,
    /// Power that a limit leaves for work \[mW\], if there is one.
    allowed_milliwatts: Option<u64>,
    endurance: Endurance,
    spare: Option<Spare>,
}

/// The memory that others reach, by port.
fn buffers(params: &Params, site: &Site) -> Vec<Option<Buffer>> {
    let ports = site.pcie.iter().enumerate();
    ports.map(|(i, port)| Buffer::new(params, Port(i as u16), (*port)?)).collect()
}

/// Handles an output of the drive.
#[inline]
fn take(output: Output, (ssd, front): (&mut Ssd, &mut Front), cx: &mut Context<'_>) {
    match output {
        Output::Host(effect) => front.carry_out(effect, ssd, cx),
        Output::Stage { command: Some(command), stage: Stage::Done(times) } => {
            let name = command_name(command.controller, command.sqid.0, command.cid.0);
            medium_done(name, times, front, cx);
        }
        Output::Stage { .. } => {}
    }
}
/// The medium is done with a command, or with a part of it.
fn medium_done(name: u32, times: MediumTimes, front: &mut Front, cx: &mut Context<'_>) {
    let MediumTimes { begun, worked, submitted } = times;
    let command = front.known.command(name);
    cx.resume(command.arrived);
    cx.mark_until(begun, ENGINE_QUEUE);
    cx.mark_until(worked, ENGINE);
    cx.mark_until(submitted, FIRMWARE);
    cx.mark(MEDIUM);
    command.done = cx.trail();
}

/// Wake token: for the drive, or for an answer to a peer, …
const DRIVE: u32 = 0;
/// … or the loss of a port.
const LOSS: u32 = 2;

impl NvmeSsd {
    fn new(params: &Params, site: &Site) -> Self {
        let mut config = params::ssd(params);
        config.medium.spread =
            Spread::new(params.ratio("medium.spread"), site.seed, &site.path, "array operations");
        let mut ssd = Ssd::new(&config, site.seed).ok();
        ssd.iter_mut().for_each(|ssd| ssd.mark_stages(true));
        if site.tells_busy_time {
            ssd.iter_mut().for_each(Ssd::count_busy_time);
        }
        Self {
            ssd,
            front: Front::new(
                site,
                params::ports(params),
                (params.time("issue"), params.size("posted.ahead")),
                buffers(params, site),
            ),
            losses: site.losses.iter().map(|(port, at)| (*at, *port)).collect(),
            wakes: Wakes::new(),
            peers: Agenda::new(),
            idle_watts: params.count("energy.idle-mw") as f64 / 1e3,
            allowed_milliwatts: medium::config(params).energy.allowed_milliwatts(),
            endurance: Endurance::new(params),
            spare: Spare::of(&medium::config(params)),
        }
    }

    /// Counters of the drive up to `now`, the present. Returns `None` if the parameters describe no valid drive.
    #[must_use]
    pub fn totals(&self, now: Instant) -> Option<Totals> {
        let counters = self.ssd.as_ref()?.counters(now);
        let (idle_watts, endurance, spare) = (self.idle_watts, self.endurance, self.spare);
        Some(Totals { counters, idle_watts, endurance, spare, signals: self.front.signals })
    }

    /// Calls the drive, and handles its outputs.
    #[inline]
    fn with(&mut self, cx: &mut Context<'_>, act: impl FnOnce(&mut Ssd, &mut Front, &mut Context<'_>)) {
        let (Some(ssd), front) = (&mut self.ssd, &mut self.front) else { return };
        act(ssd, front, cx);
        self.carry_on(cx);
    }
    /// Handles the outputs of the drive, and schedules its wake.
    fn carry_on(&mut self, cx: &mut Context<'_>) {
        let (Some(ssd), front) = (&mut self.ssd, &mut self.front) else { return };
        while let Some(output) = ssd.poll(cx.now()) {
            take(output, (ssd, front), cx);
        }
        let next = ssd.next_wake();
        if next != Instant::NEVER {
            self.wakes.ask(next.max(cx.now()), DRIVE, cx);
        }
    }

    /// The links of ports go down that do so now.
    fn lose(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let (lost, later): (Vec<_>, Vec<_>) = self.losses.drain(..).partition(|(at, _)| *at <= now);
        self.losses = later;
        for (_, port) in lost {
            self.with(cx, |ssd, _, cx| ssd.reset(cx.now(), ControllerId(port as u16)));
        }
        self.await_loss(cx);
    }
    /// Asks to be woken when the link of a port goes down next.
    fn await_loss(&self, cx: &mut Context<'_>) {
        if let Some(at) = self.losses.iter().map(|(at, _)| *at).min() {
            cx.wake_at(at, LOSS);
        }
    }

    /// A peer reads the drive's memory.
    fn peer_reads(&mut self, port: usize, tlps: Tlps, cx: &mut Context<'_>) {
        match self.front.buffers.get_mut(port).and_then(Option::as_mut) {
            Some(buffer) if device_of(tlps.address).is_some() => {
                let at = buffer.read(tlps, cx.now());
                self.peers.put(at, (port, tlps), cx);
            }
            _ => self.front.unexpected += u64::from(tlps.count),
        }
    }
    fn answer_peers(&mut self, cx: &mut Context<'_>) {
        while let Some((port, request)) = self.peers.take(cx) {
            if let Some(buffer) = self.front.buffers.get_mut(port).and_then(Option::as_mut) {
                cx.mark(CMB);
                buffer.answer(&request, cx);
            }
        }
    }

    /// The host writes a register, a doorbell, most of the time; or a peer writes the drive's memory.
    fn register(&mut self, port: usize, tlps: &Tlps, cx: &mut Context<'_>) {
        if let Some(buffer) = self.front.buffers.get_mut(port).and_then(Option::as_mut)
            && device_of(tlps.address).is_some()
        {
            return buffer.traffic.write(tlps);
        }
        let Ok(offset) = u32::try_from(tlps.address) else {
            self.front.unexpected += u64::from(tlps.count);
            return;
        };
        let (value, controller) = (tlps.handle, ControllerId(port as u16));
        if offset >= DOORBELLS {
            self.front.rung(controller, offset, cx);
        }
        self.with(cx, |ssd, _, cx| ssd.write_register(cx.now(), controller, offset, value));
    }
}

impl TellsState for NvmeSsd {
    fn state(&self, now: Instant) -> State {
        self.ssd.as_ref().map_or_else(State::default, |ssd| ssd.state(now))
    }
}

impl BuffersWrites for NvmeSsd {
    fn buffered(&self) -> Buffered {
        self.ssd.as_ref().map_or_else(Buffered::default, |ssd| ssd.buffered())
    }
    fn await_collection(&mut self) {
        if let Some(ssd) = &mut self.ssd {
            ssd.await_collection();
        }
    }
    fn fill_buffer(&mut self) {
        if let Some(ssd) = &mut self.ssd {
            ssd.fill_buffer();
        }
    }
    fn empty_buffer(&mut self) {
        if let Some(ssd) = &mut self.ssd {
            ssd.empty_buffer();
        }
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
                TlpKind::CplD => self.with(cx, |ssd, front, cx| front.completions(port, &tlps, ssd, cx)),
                TlpKind::MRd => self.peer_reads(port, tlps, cx),
                TlpKind::Cpl | TlpKind::Msg | TlpKind::MsgD => {
                    self.front.unexpected += u64::from(tlps.count);
                }
            },
            Message::Departed { .. } => self.front.departed(port, cx),
            _ => unreachable!("an NVMe drive is sent TLPs, not {message:?}"),
        }
    }

    fn wake(&mut self, what: u32, cx: &mut Context<'_>) {
        match what {
            DRIVE => {
                self.wakes.come(cx.now());
                self.with(cx, |ssd, _, cx| ssd.wake(cx.now()));
                self.answer_peers(cx);
            }
            LOSS => self.lose(cx),
            _ => unreachable!("a drive asks for no other wake than {what}"),
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("unexpected", self.front.unexpected.to_string());
        if let Some(ssd) = &self.ssd {
            see("engines-busy", ssd.engines().busy().to_string());
        }
        for (number, requests) in self.front.plugged() {
            see(&format!("tags-in-use{number}"), requests.tags_in_use().to_string());
            see(&format!("waiting-for-tags{number}"), requests.waiting().to_string());
        }
        if let Some(ssd) = &self.ssd {
            see("medium", format!("{:?}", ssd.latest_counters()));
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let Some(ssd) = &self.ssd else { return };
        let server = |in_use_ps, supply| Supply { in_use_ps, supply, kind: SupplyKind::Server };
        report.supply("firmware engines", server(ssd.engines().in_use_ps(now), ssd.engines().count()));
        let (channels, dies) = ssd.medium_busy_ps(now);
        let used = |busy: &[u64]| server(busy.iter().map(|ps| u128::from(*ps)).sum(), busy.len() as u64);
        report.supply("channels of the medium", used(&channels));
        report.supply("dies of the medium", used(&dies));
        let totals = self.totals(now);
        if let (Some(totals), Some(allowed)) = (&totals, self.allowed_milliwatts) {
            // what has been saved up is spent before requests wait
            let kind = SupplyKind::Held { waiting_ps: totals.counters.held_ps.into() };
            report.supply("power", Supply { in_use_ps: totals.in_use_ps(allowed), supply: 1, kind });
        }
        let (read, written) = self.front.moved_by_peers();
        report.rate(PEERS_READ, read, 1e6);
        report.rate(PEERS_WROTE, written, 1e6);
        for (number, requests) in self.front.plugged() {
            report.supply(format!("tags{number}"), requests.tags_used(now));
        }
        let (in_progress, most) = ssd.in_progress();
        report.supply("commands in progress", held(in_progress, ssd.short_of_room(), most, now));
        let Some(totals) = totals else { return };
        totals.report(report);
        totals.report_stocks(ssd.stocks(now), report);
    }

    fn digest_up_to(&self, now: Instant) -> u64 {
        let unexpected = self.front.unexpected;
        let Some(ssd) = &self.ssd else { return unexpected };
        let counters = ssd.counters(now);
        let words =
            [counters.host_bytes_read, counters.host_bytes_written, counters.page_programs, unexpected];
        words.iter().fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word))
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn BuffersWrites, dyn TellsState }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[requests::STAGES, known::STAGES])
    }
}
