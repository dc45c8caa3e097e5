//! `template-model`: a block device of so many workers. It has a connector on PCIe, or a port that takes requests
//! directly.
//!
//! ```text
//!  read:   doorbell ─► command ─ queue for a worker ─ work ─► MWr data ═► MWr completion entry (signals)
//!  write:  doorbell ═ MRd data ═► command ─ queue for a worker ─ work ─► MWr completion entry (signals)
//! ```
//!
//! Not here: a medium, errors.

use crate::agenda::Agenda;
use crate::doorbell::{SIGNAL_BYTES, buffer, completion_entry, heard};
use crate::requests::{self, Requests};
use crate::servers::Servers;
use lanetwin_kernel::{Component, Metric, Port, Report, Stream};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Attributes, Build, Context, Dimension, Done, Message, Mistake, Model, Operation, PCIE_DEVICE, PCIE_PORT,
    Param, Params, PortInfo, Protocol, Site, Status, Tlps, Transfer,
};
use lanetwin_units::{Better, Instant, Span};
use std::any::Any;
use std::collections::BTreeMap;

/// The declaration.
pub static MODEL: Model = Model {
    name: "template-model",
    about: "A block device of so many workers, with a connector on PCIe or a port that takes requests directly.",
    ports: &[
        PortInfo { name: "pcie", speaks: Protocol::Pcie, about: "the device's connector", many: false },
        PortInfo {
            name: DIRECT,
            speaks: Protocol::Block,
            about: "requests that come without a link, where `direct` is set",
            many: false,
        },
    ],
    params: &[&PCIE_PORT, &PCIE_DEVICE, PARAMS],
    has_port: |params, port| (port == DIRECT) == params.flag("direct"),
    mistakes,
    // what software rings its doorbells and sees its signals
    driver: "block-driver",
    build: Build::Component(|params, site| Box::new(TemplateModel::new(params, site))),
    ..Model::DEFAULT
};

const DIRECT: &str = "block";
/// The number of the port that it has, of the two.
const PORT: Port = Port(0);

const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "from a TLP being possible (its data ready, its tag free) to it being offered to the link",
    },
    Param {
        name: "direct",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "takes requests at the port `block`, and has no connector",
    },
    Param {
        name: "command",
        dimension: Dimension::Time,
        default: Some("1us"),
        about: "the time to understand a request, any number at once",
    },
    Param {
        name: "workers",
        dimension: Dimension::Count { least: 1, most: 1 << 16 },
        default: Some("4"),
        about: "how many requests are worked on at once; others wait, first come first served",
    },
    Param {
        name: "work.least",
        dimension: Dimension::Time,
        default: Some("8us"),
        about: "the least time that a worker takes for a request",
    },
    Param {
        name: "work.most",
        dimension: Dimension::Time,
        default: Some("12us"),
        about: "the most time that it takes; each time in between is as likely",
    },
];

const SERVED: Metric = Metric::new("requests served", "k/s", Better::Higher);
const SIZE: Metric = Metric::new("mean size of a request", "B", Better::Neither);
const UNEXPECTED: Metric = Metric::new("unexpected messages", "", Better::Lower).if_any("unexpected");

/// Everything about these parameters that makes a device impossible.
fn mistakes(params: &Params) -> Vec<Mistake> {
    if params.time("work.least") <= params.time("work.most") {
        return Vec::new();
    }
    vec![Mistake {
        parameter: "work.least",
        problem: "it is more than `work.most`".into(),
        remedy: "give a shorter `work.least`, or a longer `work.most`".into(),
    }]
}

// Stages of requests, for the waterfall; those of reads and writes of host memory come first.
lanetwin_kernel::stages! {
    after requests::STAGES;
    COMMAND = "command",
    WAIT = "queue for a worker",
    WORK = "work",
}

/// The device.
#[derive(Debug)]
pub struct TemplateModel {
    command: Span,
    least: Span,
    most: Span,
    chance: Stream,
    workers: Servers,
    /// None if it takes requests directly, or is not plugged in.
    requests: Option<Requests>,
    /// What is being done, by the asker's name for it.
    work: BTreeMap<u32, Work>,
    agenda: Agenda<u32>,
    served: u64,
    bytes: u64,
    unexpected: u64,
}

#[derive(Debug)]
struct Work {
    request: Transfer,
    /// What has not arrived yet \[B\]; only writes over a link wait for data.
    left: u32,
}

impl TemplateModel {
    fn new(params: &Params, site: &Site) -> Self {
        let port = site.pcie.first().copied().flatten();
        Self {
            command: params.time("command"),
            least: params.time("work.least"),
            most: params.time("work.most"),
            chance: Stream::new(site.seed, &site.path, "work"),
            workers: Servers::new(params.count("workers")),
            requests: port.map(|port| Requests::new(PORT, port, port.root, params.time("issue"))),
            work: BTreeMap::new(),
            agenda: Agenda::new(),
            served: 0,
            bytes: 0,
            unexpected: 0,
        }
    }

    /// A request has come in. The data of a write over a link are fetched first.
    fn hear(&mut self, request: Transfer, cx: &mut Context<'_>) {
        let Transfer { handle, operation, bytes, .. } = request;
        if self.work.contains_key(&handle) {
            self.unexpected += 1;
            return;
        }
        self.work.insert(handle, Work { request, left: bytes });
        match &mut self.requests {
            Some(requests) if operation == Operation::Write => {
                requests.read(handle, buffer(handle, bytes), bytes, cx);
            }
            _ => self.begin(handle, cx),
        }
    }

    /// Everything that a request needs is there. What it will go through is known now, and is marked.
    fn begin(&mut self, handle: u32, cx: &mut Context<'_>) {
        let service =
            self.least + Span::from_ps(self.chance.below(self.most.as_ps() - self.least.as_ps() + 1));
        let understood = cx.now() + self.command;
        let begun = self.workers.serve_later(cx.now(), understood, service);
        cx.mark_until(understood, COMMAND);
        cx.mark_until(begun, WAIT);
        cx.mark_until(begun + service, WORK);
        self.agenda.put(begun + service, handle, cx);
    }

    fn completions(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        if let Some(requests) = &mut self.requests {
            requests.completed(tlps, cx);
        }
        let Some(work) = self.work.get_mut(&tlps.handle).filter(|work| work.left > 0) else {
            self.unexpected += u64::from(tlps.count);
            return;
        };
        work.left = work.left.saturating_sub(u32::from(tlps.count) * u32::from(tlps.bytes));
        if work.left == 0 {
            self.begin(tlps.handle, cx);
        }
    }

    /// The work is done: the data of a read and the completion entry go out, or a direct answer.
    fn answer(&mut self, handle: u32, cx: &mut Context<'_>) {
        let Some(Work { request, .. }) = self.work.get(&handle) else { return };
        let Transfer { operation, bytes, .. } = *request;
        self.served += 1;
        self.bytes += u64::from(bytes);
        let Some(requests) = &mut self.requests else {
            self.work.remove(&handle);
            cx.send(PORT, Span::ZERO, Message::BlockDone(Done { handle, status: Status::Ok }));
            return;
        };
        if operation == Operation::Read {
            requests.write(handle, buffer(handle, bytes), bytes, Attributes::NONE, cx);
        }
        let told = Attributes::SIGNAL.and(Attributes::NOTIFY);
        requests.write(handle, completion_entry(handle), SIGNAL_BYTES.into(), told, cx);
    }
}

impl Component<Message> for TemplateModel {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(request) => self.hear(request, cx),
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::MWr => self.hear(heard(tlps.handle, tlps.address), cx),
                TlpKind::CplD => self.completions(&tlps, cx),
                TlpKind::Cpl | TlpKind::MRd | TlpKind::Msg | TlpKind::MsgD => {
                    self.unexpected += u64::from(tlps.count)
                }
            },
            Message::Departed { handle } => {
                self.work.remove(&handle);
            }
            _ => unreachable!("a block device is sent requests and TLPs, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(handle) = self.agenda.take(cx) {
            self.answer(handle, cx);
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        report.supply("workers", self.workers.used(now));
        if let Some(requests) = &self.requests {
            report.supply("tags", requests.tags_used(now));
        }
        report.rate(SERVED, self.served, 1e3);
        report.ratio(SIZE, [self.bytes, self.served], 1.0);
        report.count(UNEXPECTED, self.unexpected);
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("served", format!("{} requests, {} B", self.served, self.bytes));
        see("in-progress", self.work.len().to_string());
        see("unexpected", self.unexpected.to_string());
    }

    fn digest(&self) -> u64 {
        lanetwin_kernel::mix(self.served) ^ self.bytes
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[requests::STAGES, STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
