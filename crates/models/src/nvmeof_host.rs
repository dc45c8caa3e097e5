//! `nvmeof-host`: the software between programs and namespaces behind an adapter. Each load has an I/O queue: a queue
//! pair of the adapter, or a TCP connection.
//!
//! ```text
//!  Block ─► core: submit ─► registration and SEND posted ─► doorbell (MMIO) ─► root complex ═► adapter
//!  BlockDone ◄─ core: complete ◄─ response and SEND complete ◄─ entries ◄─ interrupt, or a poll ◄═ adapter
//!
//!  by TCP   core: submit ─► data unit ─► segment ─► doorbell … segment ─► core: receive ─► copy ─► complete
//! ```
//!
//! [`lanetwin_nvmeof`] implements capsules, memory registration and completion of commands; this module adds CPU
//! costs and traffic on the links. A request larger than the limit of a command becomes several.
//!
//! If an association is one of several paths, its loss is reported and all its requests end ([`paths`]).
//!
//! A lost path is reconnected, and changes of its state of Asymmetric Namespace Access are reported (`returns`).
//!
//! A host may disconnect on purpose: it shuts its controller down and ends the connections (`leaving`).
//!
//! Not here: additional connections during the run; commands other than read, write, flush, Write Zeroes and
//! Deallocate, which are refused.

mod departures;
mod leaving;
mod paths;
mod queue;
mod recovery;
mod returns;
mod streams;

use crate::agenda::Agenda;
use crate::ask::Ask;
use crate::fabric_software::{HOST_PARAMS, HostCosts};
use crate::nvme_software::{self, SPREAD};
use crate::roles::nvme::PATH_LOST;
use crate::roles::nvmeof::{FabricHost, HostQueue, Leave, Way};
use crate::tcp_socket;
use departures::Departures;
use lanetwin_kernel::{Component, Port, Report, Supply, SupplyKind};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    Build, Context, Dimension, Done, Message, Model, Param, Params, PortInfo, Protocol, Rdma, Site, Status,
};
use lanetwin_units::{Instant, Spread};
use paths::{Association, Next};
use queue::{Answer, LoadQueue, Software};
use std::any::Any;
use std::collections::BTreeMap;

/// The declaration.
pub static MODEL: Model = Model {
    name: "nvmeof-host",
    about: "The software between programs and namespaces over a fabric: capsules, registration of memory, completions.",
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
            about: "requests from programs, an I/O queue for each",
            many: true,
        },
    ],
    params: &[PARAMS, nvme_software::PARAMS, nvme_software::DRIVE_PARAMS, HOST_PARAMS, tcp_socket::PARAMS],
    build: Build::Component(|params, site| Box::new(NvmeofHost::new(params, site))),
    ..Model::DEFAULT
};

/// The port number of the first load.
const FIRST_LOAD: u16 = 1;

const PARAMS: &[Param] = &[Param {
    name: "ports",
    dimension: Dimension::Count { least: 1, most: 2047 },
    default: Some("1"),
    about: "how many loads there are, each with an I/O queue",
}];

/// The device.
pub struct NvmeofHost {
    costs: HostCosts,
    /// The adapter; `None` if there is none: every request is then refused.
    adapter: Option<EndpointId>,
    rdma: Rdma,
    queues: Vec<LoadQueue>,
    by_handle: BTreeMap<u32, usize>,
    /// Those that are one of several paths.
    associations: Vec<Association>,
    departures: Departures,
    /// Whether cores are reported by this software.
    owns_cores: bool,
    /// Variation of the times of submissions and completions.
    spread: Spread,
    agenda: Agenda<Due>,
    /// Whether a check for silent queues is scheduled.
    watched: bool,
    answered: u64,
    refused: u64,
    unexpected: u64,
}

/// A scheduled action.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// A step of the queue of this place.
    Queue(usize, Step),
    /// A look whether the association of this place is alive.
    Alive(usize),
    /// Check every queue for silence.
    Heard,
    /// An attempt to make the association of this place again.
    Connect(usize),
    /// This attempt has had no answer for long enough.
    Unanswered(usize, (u32, u64)),
    /// This loss of an association has lasted so long that requests no longer wait for its path.
    Expired(usize, u32),
    /// A step of leaving on purpose.
    Leave(departures::Due),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Look at the adapter's completion entries.
    Look,
    /// The worker of a queue by TCP.
    Work,
    /// The core sends what waits for it by TCP.
    Send,
    /// The timer of its connection.
    Timer,
}

impl NvmeofHost {
    fn new(params: &Params, site: &Site) -> Self {
        let costs = HostCosts::new(params);
        Self {
            spread: Spread::new(costs.spread, site.seed, &site.path, SPREAD),
            costs,
            adapter: site.target,
            rdma: site.rdma.clone(),
            queues: Vec::new(),
            by_handle: BTreeMap::new(),
            associations: Vec::new(),
            departures: Departures::default(),
            owns_cores: site.cores.is_empty(),
            agenda: Agenda::new(),
            watched: false,
            answered: 0,
            refused: 0,
            unexpected: 0,
        }
    }

    fn request(&mut self, load: u16, ask: Ask, cx: &mut Context<'_>) {
        let place = usize::from(load);
        match self.queues.get_mut(place) {
            Some(queue) if queue.allows(&ask) => {
                queue.take(ask, cx);
                self.submit(place, cx);
            }
            _ => {
                self.refused += 1;
                let done = Done { handle: ask.handle, status: Status::Aborted };
                cx.send_at(Port(FIRST_LOAD + load), cx.now() + self.costs.submit, Message::BlockDone(done));
            }
        }
    }

    /// Turns waiting requests into commands, while there is room; rings a doorbell for each.
    fn submit(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        let queue = &mut self.queues[place];
        while queue.submit(software, cx) {}
        if let Some(at) = queue.plan_sending() {
            self.agenda.put(at, Due::Queue(place, Step::Send), cx);
        }
        if let Some(at) = queue.set_timer(cx.now()) {
            self.agenda.put(at, Due::Queue(place, Step::Timer), cx);
        }
        if !self.watched
            && let Some(by) = self.queues[place].heard_by()
        {
            self.watched = true;
            self.agenda.put(by, Due::Heard, cx);
        }
        let keep_alive = self.costs.keep_alive;
        if let Some(association) = self.association_of(place)
            && let Some(at) = self.associations[association].watch(cx.now(), keep_alive)
        {
            self.agenda.put(at, Due::Alive(association), cx);
        }
    }

    /// The association of a queue, by its place.
    fn association_of(&self, queue: usize) -> Option<usize> {
        let number = self.queues[queue].path?;
        self.associations.iter().position(|own| own.number == number)
    }
    /// Looks whether an association is alive.
    fn look_at(&mut self, association: usize, cx: &mut Context<'_>) {
        let own = &mut self.associations[association];
        let in_flight = own.queues.iter().any(|queue| self.queues[*queue].in_flight.number() > 0);
        match own.look(cx.now(), self.costs.keep_alive, in_flight) {
            Next::Look(at) => self.agenda.put(at, Due::Alive(association), cx),
            Next::Rest => {}
            Next::Lose => self.lose(association, cx),
        }
    }
    /// Gives up queues that have received nothing for too long: their target may have given them up without notice.
    fn look_at_silent(&mut self, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        self.watched = false;
        for place in 0..self.queues.len() {
            if self.queues[place].heard_by().is_none_or(|by| by > cx.now()) {
                continue;
            }
            let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
            let answers = self.queues[place].lose(software, cx);
            if let Some(association) = self.association_of(place) {
                self.lose(association, cx);
            }
            self.answer(place, answers, cx);
            self.submit(place, cx);
        }
        if let Some(by) = self.queues.iter().filter_map(LoadQueue::heard_by).min().filter(|_| !self.watched) {
            self.watched = true;
            self.agenda.put(by, Due::Heard, cx);
        }
    }
    /// Handles the loss of a path: reports it before its requests are answered, with unknown outcome.
    fn lose(&mut self, association: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter.filter(|_| self.associations[association].lose()) else { return };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        let queues = self.associations[association].queues.clone();
        for queue in &queues {
            self.say(*queue, PATH_LOST, cx);
        }
        let lost: Vec<_> =
            queues.into_iter().map(|queue| (queue, self.queues[queue].lose(software, cx))).collect();
        lost.into_iter().for_each(|(queue, answers)| self.answer(queue, answers, cx));
        self.plan_return(association, cx);
    }
    /// Says something of the path that a queue is of.
    fn say(&self, queue: usize, handle: u32, cx: &mut Context<'_>) {
        let Some(from) = self.adapter else { return };
        cx.send_at(Port(FIRST_LOAD + queue as u16), cx.now(), Message::Signal { handle, from });
    }

    /// The adapter has written a completion entry.
    fn signal(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        let place = self.by_handle.get(&handle).filter(|_| self.adapter == Some(from));
        let Some(&place) = place else {
            if self.adapter != Some(from) || !self.hear_manager(handle, cx) {
                self.unexpected += 1;
            }
            return;
        };
        if let Some(at) = self.queues[place].notice(&self.costs, cx) {
            self.agenda.put(at, Due::Queue(place, Step::Look), cx);
        }
    }

    fn step(&mut self, place: usize, step: Step, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        let association = self.association_of(place);
        let queue = &mut self.queues[place];
        let answers = match (step, &queue.way) {
            (Step::Look, Way::Rdma(_)) => queue.reap(software, cx),
            (Step::Look, Way::Tcp(socket)) => {
                if let Some(at) = socket.looks_later(cx.now()) {
                    return self.agenda.put(at, Due::Queue(place, Step::Look), cx);
                }
                if let Some(at) = queue.receive(software, cx) {
                    self.agenda.put(at, Due::Queue(place, Step::Work), cx);
                }
                Vec::new()
            }
            (Step::Work, _) => queue.work(software, cx),
            (Step::Send, _) => {
                queue.send_waiting(software, cx);
                Vec::new()
            }
            (Step::Timer, _) => queue.expire(software, cx),
        };
        self.hear_of_leaving(place, cx);
        if let Some(association) = association {
            self.hear_beside((place, association), cx);
            match self.queues[place].queue.is_live() {
                true if step == Step::Look => self.associations[association].hear(cx.now()),
                true => {}
                false => self.lose(association, cx),
            }
        }
        self.answer(place, answers, cx);
        self.submit(place, cx);
        self.go_on_leaving(place, cx);
    }

    fn answer(&mut self, place: usize, answers: Vec<Answer>, cx: &mut Context<'_>) {
        let port = Port(FIRST_LOAD + place as u16);
        self.answered += answers.len() as u64;
        for answer in answers {
            cx.resume(answer.trail);
            let done = Done { handle: answer.handle, status: answer.status };
            cx.send_at(port, answer.at, Message::BlockDone(done));
        }
    }
}

impl FabricHost for NvmeofHost {
    fn connect(&mut self, queues: Vec<HostQueue>) {
        for (place, connected) in queues.into_iter().enumerate() {
            self.by_handle.insert(connected.way.handle(), place);
            if let Some(number) = connected.path {
                let known = self.associations.iter().position(|own| own.number == number);
                let own = known.unwrap_or_else(|| {
                    self.associations.push(Association::new(number));
                    self.associations.len() - 1
                });
                self.associations[own].queues.push(place);
            }
            self.departures.know(connected.manager, place);
            self.queues.push(LoadQueue::new(connected, &self.rdma, self.spread.of_part(place as u64)));
        }
    }
    fn leave(&mut self, leaves: Vec<Leave>) {
        self.departures.plan(leaves);
    }
}

impl Component<Message> for NvmeofHost {
    fn start(&mut self, cx: &mut Context<'_>) {
        for (at, due) in self.departures.dues() {
            self.agenda.put(at, Due::Leave(due), cx);
        }
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(transfer) => self.request(port.0 - FIRST_LOAD, Ask::of(transfer), cx),
            Message::Command(command) => self.request(port.0 - FIRST_LOAD, Ask::to(command), cx),
            Message::Signal { handle, from } => self.signal(handle, from, cx),
            _ => unreachable!("software of NVMe over Fabrics is sent requests and signals, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(due) = self.agenda.take(cx) {
            match due {
                Due::Queue(place, step) => self.step(place, step, cx),
                Due::Alive(association) => self.look_at(association, cx),
                Due::Heard => self.look_at_silent(cx),
                Due::Connect(association) => self.connect_again(association, cx),
                Due::Unanswered(association, attempt) => self.stop_waiting(association, attempt, cx),
                Due::Expired(association, loss) => self.expire(association, loss, cx),
                Due::Leave(due) => self.leave_on(due, cx),
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("answered", self.answered.to_string());
        see("refused", self.refused.to_string());
        see("unexpected", self.unexpected.to_string());
        for (i, queue) in self.queues.iter().enumerate() {
            see(&format!("queue{i}"), queue.told());
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let sum = |of: &dyn Fn(&LoadQueue) -> u128| self.queues.iter().map(of).sum::<u128>();
        let supply = self.queues.len() as u64;
        if self.owns_cores && supply > 0 {
            let in_use_ps = sum(&|queue| queue.core.used(now).in_use_ps);
            report.supply("cores", Supply { in_use_ps, supply, kind: SupplyKind::Server });
        }
        let entries = self.queues.iter().map(LoadQueue::most).sum();
        if entries > 0 {
            let waiting_ps = sum(&|queue| queue.queued.integral_ps(now));
            let in_use_ps = sum(&|queue| queue.in_flight.integral_ps(now));
            let kind = SupplyKind::Held { waiting_ps };
            report.supply("queue entries", Supply { in_use_ps, supply: entries, kind });
        }
        tcp_socket::report(self.queues.iter().filter_map(|queue| queue.way.socket()), report);
        self.departures.report(report);
    }

    fn digest(&self) -> u64 {
        lanetwin_kernel::mix(self.answered) ^ self.refused << 32 ^ self.unexpected
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[tcp_socket::STAGES, queue::STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn FabricHost }
}
