//! `nvmeof-target`: the software that exports drives of a host over NVMe/RDMA or NVMe/TCP: `nvmet` of the Linux
//! kernel, which uses interrupts, or SPDK, which polls.
//!
//! ```text
//!  read    capsule ─► core: command ─► driver of the drive ═ drive ═► ─► core: respond ─► RDMA WRITE, SEND ─► doorbell
//!  write   capsule ─► core: command [─► RDMA READ ─► core: data] ─► driver ═ drive ═► ─► core: respond ─► SEND
//! ```
//!
//! [`lanetwin_nvmeof`] implements capsules and the order of data transfers. This is the controller behind it: a
//! namespace is a drive of the host, accessed through its driver on the same core. Data are staged in the host's
//! memory between drive and adapter, which each byte crosses twice. With TCP a core also copies them (`streams`).
//!
//! A reconnected connection replaces the lost one, and hosts are notified of changes of Asymmetric Namespace Access
//! (`returns`).
//!
//! A host may end its connections: their resources are freed (`leaving`).
//!
//! Not here: additional connections; commands other than reads, writes, flushes, Write Zeroes and Deallocate.

mod connection;
mod leaving;
mod returns;
mod streams;

use crate::agenda::Agenda;
use crate::fabric_control::Control;
use crate::fabric_software::{TARGET_PARAMS, TargetCosts, doorbell_bytes};
use crate::nvme_software;
use crate::roles::nvmeof::{AccessChange, FabricTarget, TargetQueue};
use crate::tcp_socket;
use connection::{Begun, Connection, STAGES, Step};
use lanetwin_kernel::{Component, Metric, Port, Report, Supply, SupplyKind};
use lanetwin_nvme::spec::Command;
use lanetwin_nvme::spec::command::COMMAND_BYTES;
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::target::{Asked, Effect, Target};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    Build, Context, Dimension, Done, Message, Model, Param, Params, PortInfo, Protocol, Rdma, RunQueue, Site,
    WorkCompletion,
};
use lanetwin_units::{Better, Instant};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

/// The declaration.
pub static MODEL: Model = Model {
    name: "nvmeof-target",
    about: "The software that offers drives of its host over a fabric: capsules in, data by RDMA or TCP, responses out.",
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
            about: "drivers of drives, one for each connection",
            many: true,
        },
    ],
    params: &[PARAMS, nvme_software::PARAMS, TARGET_PARAMS, tcp_socket::PARAMS],
    build: Build::Component(|params, site| Box::new(NvmeofTarget::new(params, site))),
    ..Model::DEFAULT
};

const CPU: Port = Port(0);
/// The port number of the first connection's driver.
const FIRST: u16 = 1;

const PARAMS: &[Param] = &[Param {
    name: "ports",
    dimension: Dimension::Count { least: 1, most: 2047 },
    default: Some("1"),
    about: "how many connections there are, each with a driver's queue behind it",
}];

const COMMANDS: Metric = Metric::new("commands", "k/s", Better::Neither);
const BY_CAPSULE: Metric = Metric::new("writes with data in their capsule", "k/s", Better::Neither);
const READS: Metric = Metric::new("RDMA READs", "k/s", Better::Neither);
const CORES: Metric = Metric::new("cores of the host in use", "", Better::Lower);
const STAGED: Metric = Metric::new("data through the memory of the host", "MB/s", Better::Lower);
const R2TS: Metric = Metric::new("R2Ts", "k/s", Better::Neither).if_any("R2Ts");

/// The device.
pub struct NvmeofTarget {
    costs: TargetCosts,
    adapter: Option<EndpointId>,
    rdma: Rdma,
    target: Option<Target>,
    connections: Vec<Connection>,
    by_handle: BTreeMap<u32, usize>,
    /// The connections with a connection manager, by the manager's handle.
    managers: BTreeMap<u32, usize>,
    owns_cores: bool,
    agenda: Agenda<(Turn, Step)>,
    /// Scheduled changes of the ANA state.
    changes: Vec<AccessChange>,
    /// Effects of the target, and those still to be carried out: both empty, kept for their memory.
    effects: Vec<Effect>,
    open: VecDeque<Effect>,
    counts: Counts,
}

/// The connection that a step is of, and which of those that have had its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Turn {
    place: usize,
    turn: u32,
}

#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    commands: u64,
    by_capsule: u64,
    reads: u64,
    r2ts: u64,
    /// Bytes that devices have moved into and out of the host's memory \[B\].
    staged: u64,
    /// Connections that hosts have ended, and their requests for it that came once more.
    ended: u64,
    repeated: u64,
    unexpected: u64,
}

impl NvmeofTarget {
    fn new(params: &Params, site: &Site) -> Self {
        Self {
            costs: TargetCosts::new(params),
            adapter: site.target,
            rdma: site.rdma.clone(),
            target: None,
            connections: Vec::new(),
            by_handle: BTreeMap::new(),
            managers: BTreeMap::new(),
            owns_cores: site.cores.is_empty(),
            agenda: Agenda::new(),
            changes: Vec::new(),
            effects: Vec::new(),
            open: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// The adapter has written a completion entry.
    fn signal(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        if self.adapter == Some(from) && self.hear_manager(handle, cx) {
            return;
        }
        let known = self.by_handle.get(&handle).copied();
        let place = match self.adapter == Some(from) {
            true => known.or_else(|| self.meet(handle, cx)),
            false => None,
        };
        let Some(place) = place else {
            self.counts.unexpected += 1;
            return;
        };
        if let Some(at) = self.connections[place].notice(&self.costs, cx) {
            self.later(at, place, Step::Look, cx);
        }
    }

    /// Takes the completions whose entries have arrived.
    fn look(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(pair) = self.connections[place].pair() else { return self.receive_stream(place, cx) };
        let mut taken = self.connections[place].taken();
        while let Some(trail) = taken.pop_front() {
            let Some(completion) = self.rdma.poll(pair) else { continue };
            cx.resume(trail);
            let step = match completion {
                WorkCompletion::Received { id, bytes, content, .. } => {
                    self.connections[place].post_receive(id, &self.rdma);
                    if let Some(beside) = content.as_ref().and_then(|bytes| Control::of(bytes)) {
                        self.hear_beside(place, &beside, cx);
                        continue;
                    }
                    let capsule = content.as_ref().and_then(|content| capsule(content, bytes));
                    capsule
                        .map(|(command, data)| (Step::Command(Box::new(command), data), self.costs.command))
                }
                WorkCompletion::Done { id } => {
                    let read = self.connections[place].read_done(id);
                    read.map(|(operation, bytes)| (Step::Brought { operation, bytes }, self.costs.data))
                }
                WorkCompletion::Lost => {
                    self.connections[place].lose();
                    None
                }
                // nothing of it is watched
                WorkCompletion::Written { .. } => None,
            };
            if let Some((step, cost)) = step {
                let at = self.connections[place].work(cost, self.costs.polled, &step, cx);
                self.later(at, place, step, cx);
            }
        }
        self.connections[place].give_back(taken);
    }

    /// Puts a step of a connection down.
    fn later(&mut self, at: Instant, place: usize, step: Step, cx: &mut Context<'_>) {
        let turn = self.connections[place].turn;
        self.agenda.put(at, (Turn { place, turn }, step), cx);
    }

    fn step(&mut self, place: usize, step: Step, cx: &mut Context<'_>) {
        let (now, connection) = (cx.now(), self.connections[place].id());
        let mut effects = match step {
            Step::Look => return self.look(place, cx),
            Step::Ring(posted) => return self.ring(place, posted, cx),
            Step::Work => return self.work_on_stream(place, cx),
            Step::Send(stream, cost) => return self.send_stream(place, (stream, cost), cx),
            Step::SendWaiting => return self.send_waiting(place, cx),
            Step::Timer => return self.expire(place, cx),
            Step::Tell(control) => return self.tell(place, control, cx),
            Step::Change(change) => return self.change(change, cx),
            Step::Manager => return self.look_at_manager(place, cx),
            Step::Disconnected(of) => return self.tell_manager(place, of, cx),
            Step::Message(_) | Step::Command(..) | Step::Brought { .. } => std::mem::take(&mut self.effects),
        };
        let Some(target) = &mut self.target else { return };
        match step {
            Step::Message(stream) => target.receive(now, connection, stream, &mut effects),
            Step::Command(command, data) => target.capsule(now, connection, (*command, data), &mut effects),
            Step::Brought { operation, bytes } => {
                target.read_done(now, connection, operation, Data::Length(bytes), &mut effects);
            }
            _ => {}
        }
        self.carry_out(place, effects, cx);
    }

    /// The drive has answered.
    fn drive_done(&mut self, place: usize, done: Done, cx: &mut Context<'_>) {
        let own = self.connections.get_mut(place);
        let Some((asked, bytes)) = own.and_then(|own| Some((own.end(done)?, own.ended_bytes))) else {
            self.counts.unexpected += 1;
            return;
        };
        // once into it, and once out of it
        self.counts.staged += 2 * u64::from(bytes);
        let effects = self.perform(place, asked, cx);
        self.carry_out(place, effects, cx);
    }
    fn perform(&mut self, place: usize, asked: Vec<Asked>, cx: &Context<'_>) -> Vec<Effect> {
        let subsystem = self.connections[place].subsystem();
        let mut effects = std::mem::take(&mut self.effects);
        if let Some(target) = &mut self.target {
            asked.into_iter().for_each(|one| target.perform(cx.now(), subsystem, one, &mut effects));
        }
        effects
    }

    /// Carries out effects of the target.
    fn carry_out(&mut self, place: usize, effects: Vec<Effect>, cx: &mut Context<'_>) {
        let (mut posted, mut sent) = (None, None);
        let mut open = std::mem::take(&mut self.open);
        self.put_behind(&mut open, effects);
        while let Some(effect) = open.pop_front() {
            let own = &mut self.connections[place];
            match effect {
                Effect::Submit { capsule, .. } => {
                    self.counts.commands += 1;
                    self.counts.by_capsule += u64::from(capsule.data_bytes > 0);
                    match own.begin(&capsule) {
                        Begun::Ask(message) => cx.send_at(port(place), cx.now(), message),
                        Begun::Perform(asked) => {
                            let effects = self.perform(place, asked, cx);
                            self.put_behind(&mut open, effects);
                        }
                    }
                }
                Effect::Send { stream, .. } => sent.get_or_insert_with(Stream::new).append(stream),
                Effect::Bring { token, data, .. } => match own.brought(token, &data) {
                    Some(Begun::Ask(message)) => cx.send_at(port(place), cx.now(), message),
                    Some(Begun::Perform(asked)) => {
                        let effects = self.perform(place, asked, cx);
                        self.put_behind(&mut open, effects);
                    }
                    None => {}
                },
                Effect::RdmaRead { operation, address, bytes, .. } => {
                    self.counts.reads += 1;
                    posted = Some((own.post_read((operation, address, bytes), &self.rdma), self.costs.data));
                }
                Effect::RdmaWrite { address, data, .. } => own.post_write((address, data.len()), &self.rdma),
                Effect::SendCapsule { entry, invalidate, .. } => {
                    let sent = own.post_response(entry, invalidate.is_some(), &self.rdma);
                    posted = Some((sent, self.costs.respond));
                }
                Effect::Close { .. } => own.lose(),
                _ => {}
            }
        }
        self.open = open;
        if let Some((posted, cost)) = posted {
            let step = Step::Ring(posted);
            let at = self.connections[place].work(cost, self.costs.polled, &step, cx);
            self.later(at, place, step, cx);
        }
        if let Some(stream) = sent {
            self.plan_stream(place, stream, cx);
        }
    }

    /// Queues effects of the target after those still to be carried out, and keeps their memory.
    fn put_behind(&mut self, open: &mut VecDeque<Effect>, mut effects: Vec<Effect>) {
        open.extend(effects.drain(..));
        self.effects = effects;
    }

    /// The time of the host's cores that has been used so far \[ps\]: by this, and by whoever shares them.
    fn busy_cores_ps(&self, now: Instant) -> u64 {
        let mut cores: Vec<&RunQueue> = Vec::new();
        for own in self.connections.iter().filter(|own| !own.is_inside()) {
            if !cores.iter().any(|known| known.is(own.core())) {
                cores.push(own.core());
            }
        }
        cores.iter().map(|core| core.used(now).in_use_ps as u64).sum()
    }

    /// Tells the adapter how much has been posted.
    fn ring(&self, place: usize, posted: u64, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        let handle = self.connections[place].handle();
        let bytes = doorbell_bytes(self.costs.polled);
        cx.send_at(CPU, cx.now(), Message::Mmio { to: adapter, bytes, handle, address: posted });
    }
}

/// The command of a capsule of so many bytes, and its data: as bytes where they mean something.
fn capsule(content: &[u8], bytes: u32) -> Option<(Command, Data)> {
    let (command, data) = content.split_first_chunk::<{ COMMAND_BYTES as usize }>()?;
    let data = match data {
        [] => Data::Length(bytes.saturating_sub(COMMAND_BYTES)),
        data => Data::Bytes(data.to_vec()),
    };
    Some((Command::from_bytes(*command), data))
}

fn port(place: usize) -> Port {
    Port(FIRST + place as u16)
}

impl FabricTarget for NvmeofTarget {
    fn serve(&mut self, target: Target, queues: Vec<TargetQueue>) {
        self.target = Some(target);
        for (place, queue) in queues.into_iter().enumerate() {
            self.by_handle.insert(queue.way.handle(), place);
            self.managers.extend(queue.manager.map(|pair| (pair.0.into(), place)));
            self.connections.push(Connection::new(queue, &self.rdma));
        }
    }
    fn change_access(&mut self, changes: Vec<AccessChange>) {
        self.changes = changes;
    }
}

impl Component<Message> for NvmeofTarget {
    fn start(&mut self, cx: &mut Context<'_>) {
        for change in self.changes.clone() {
            self.agenda.put(change.at, (Turn { place: 0, turn: 0 }, Step::Change(change)), cx);
        }
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::BlockDone(done) => self.drive_done(usize::from(port.0 - FIRST), done, cx),
            Message::Signal { handle, from } => self.signal(handle, from, cx),
            _ => unreachable!("a target is sent answers and signals, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some((Turn { place, turn }, step)) = self.agenda.take(cx) {
            // what was begun for a connection that is no more has no end
            let of_managers = matches!(step, Step::Change(_) | Step::Manager | Step::Disconnected(_));
            if of_managers || self.connections[place].turn == turn {
                self.step(place, step, cx);
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("commands", self.counts.commands.to_string());
        see("unexpected", self.counts.unexpected.to_string());
        for (i, connection) in self.connections.iter().enumerate() {
            see(&format!("connection{i}"), connection.told());
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let supply = self.connections.len() as u64;
        if self.owns_cores && supply > 0 {
            let in_use_ps = self.connections.iter().map(|own| own.core().used(now).in_use_ps).sum();
            report.supply("cores", Supply { in_use_ps, supply, kind: SupplyKind::Server });
        }
        report.rate(COMMANDS, self.counts.commands, 1e3);
        report.rate(BY_CAPSULE, self.counts.by_capsule, 1e3);
        report.rate(READS, self.counts.reads, 1e3);
        report.rate(R2TS, self.counts.r2ts, 1e3);
        report.rate(CORES, self.busy_cores_ps(now), 1e12);
        report.rate(STAGED, self.counts.staged, 1e6);
        tcp_socket::report(self.connections.iter().filter_map(Connection::socket_alone), report);
        self.report_leaving(report);
    }

    fn digest(&self) -> u64 {
        let Counts { commands, by_capsule, reads, r2ts, unexpected, .. } = self.counts;
        [commands, by_capsule, reads + r2ts, unexpected]
            .iter()
            .fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word))
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[tcp_socket::STAGES, STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn FabricTarget }
}
