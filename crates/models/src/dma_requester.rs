//! `dma-requester`: a device that transfers data on command: the FPGA or NIC of a PCIe benchmark.
//!
//! ```text
//!  asked ─ command ─► engine ─ issue ─► TLPs ═► … ═► last completion ─► copier ─┐
//!          queue      transaction       MRd: tags                      cells    ├─ done ─► told, at the next tick
//!          (outstanding) + cells, TLPs  MWr ═► last TLP has departed ───────────┘
//! ```
//!
//! A transfer waits until fewer than `outstanding` of its direction are in flight and one of the `engines` is free. The
//! engine is taken for `read.transaction` (`write.transaction`) and, for every started `cell` of data, `read.cell`
//! (`write.cell`): these bound the rate. `command`, `issue` and `done` only take time: they add to the latency, and to
//! the rate only through `outstanding` and the tags.
//!
//! Data are moved by the engine (a write: `write.tlp` for each TLP, of at most `write.payload`) or by the copier (a
//! read: `read.copy` for every started cell, once all its completions have arrived). There is one copier, which adds
//! to the latency and bounds the rate. `transfer` is a fixed cost of moving data in either direction, whatever the
//! size.
//!
//! A read is done when it has been copied, a write when its last TLP has departed. A tag is in use from a read request
//! to the last completion of it.
//!
//! **Lookahead.** Every TLP is offered to the link exactly `issue` after it could be.
//!
//! Not here: descriptors and doorbells (transfers come through the port `dma`), copying before a read is complete,
//! reads that time out.

mod rules;

use crate::agenda::Agenda;
use crate::gauge::{Gauge, held};
use crate::requests::{self, Requests};
use crate::roles::RequestsByDma;
use crate::servers::Servers;
use crate::slab::Slab;
use lanetwin_kernel::{Component, Port, Report, Trail};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Attributes, Build, Context, Dimension, Done, Message, Model, Operation, PCIE_DEVICE, PCIE_PORT, Param,
    Params, PcieSite, PortInfo, Protocol, Site, Status, Tlps, Transfer,
};
use lanetwin_units::{Instant, Span};
use rules::Rules;
use std::any::Any;
use std::collections::VecDeque;

/// The declaration.
pub static MODEL: Model = Model {
    name: "dma-requester",
    about: "Makes the DMA transfers of a load: a card with engines, a bound on transfers in flight, and tags.",
    ports: &[
        PortInfo { name: "pcie", speaks: Protocol::Pcie, about: "the card's edge connector", many: false },
        PortInfo { name: "dma", speaks: Protocol::Dma, about: "what to move", many: false },
    ],
    params: &[&PCIE_PORT, &PCIE_DEVICE, PARAMS],
    build: Build::Component(|params, site| Box::new(DmaRequester::new(params, site))),
    ..Model::DEFAULT
};

lanetwin_kernel::stages! {
    after requests::STAGES;
    PLACE = "queue for a place in flight",
    COMMAND = "command",
    ENGINE = "queue for an engine",
    COPIER = "queue for the copier",
    COPY = "copy",
    COMPLETION = "completion",
    TICK = "clock tick",
}

const PCIE: Port = Port(0);
const DMA: Port = Port(1);

const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "from a TLP being possible (its transfer begun, its tag free) to it being offered to the link",
    },
    Param {
        name: "command",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "from the request for a transfer to its being ready for an engine; not a limit of the rate",
    },
    Param {
        name: "engines",
        dimension: Dimension::Count { least: 1, most: 4096 },
        default: Some("1"),
        about: "how many transfers can be begun at once, in each direction",
    },
    Param {
        name: "engines.shared",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether reads and writes share the engines",
    },
    Param {
        name: "outstanding",
        dimension: Dimension::Count { least: 1, most: 1 << 20 },
        default: Some("64"),
        about: "how many transfers can be in flight, in each direction",
    },
    Param {
        name: "read.transaction",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by a read, whatever its size",
    },
    Param {
        name: "write.transaction",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by a write, whatever its size",
    },
    Param {
        name: "cell",
        dimension: Dimension::Size,
        default: Some("64B"),
        about: "the unit of data inside the card; 0 for none",
    },
    Param {
        name: "read.cell",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by each started cell of a read",
    },
    Param {
        name: "write.cell",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by each started cell of a write",
    },
    Param {
        name: "read.copy",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that the copier is taken by each started cell of a read whose completions have all arrived",
    },
    Param {
        name: "write.tlp",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by each TLP of a write",
    },
    Param {
        name: "write.payload",
        dimension: Dimension::Choice(&["mps", "128B", "256B", "512B", "1024B", "2048B"]),
        default: Some("mps"),
        about: "the most payload that the card puts into a TLP of a write, if that is less than MPS",
    },
    Param {
        name: "transfer",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "what moving the data of a transfer takes besides its TLPs or cells: of an engine (write), of the copier (read)",
    },
    Param {
        name: "done",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "from the last completion (and its copy), or the departure of the last TLP, to the end of the transfer",
    },
    Param {
        name: "tick",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the grain of the clock by which the end of a transfer is seen; 0 for none",
    },
];

/// The device.
#[derive(Debug)]
pub struct DmaRequester {
    rules: Rules,
    /// `None` if the card is not plugged in and does nothing.
    requests: Option<Requests>,
    /// Reads and writes; the same at index 0 if they are shared.
    engines: Vec<Servers>,
    copier: Servers,
    directions: [Queue; 2],
    transfers: Slab<InFlight>,
    agenda: Agenda<Task>,
    unexpected: u64,
}

/// The transfers of one direction.
#[derive(Default, Debug)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Number of queued transfers.
    queued: Gauge,
    in_flight: Gauge,
    done: u64,
    bytes: u64,
}

/// A transfer that is not in flight.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    transfer: Transfer,
    asked: Instant,
    trail: Trail,
}

#[derive(Debug)]
struct InFlight {
    transfer: Transfer,
    /// Bytes still to arrive \[B\].
    left: u32,
    status: Status,
}

#[derive(Debug)]
enum Task {
    /// An engine takes the transfer up.
    Begin(u32),
    /// The transfer is done.
    End(u32),
}

impl Queue {
    /// The next transfer, if fewer than `most` are in flight; it now is.
    fn next(&mut self, most: u64, now: Instant) -> Option<Waiting> {
        if self.in_flight.number() >= most {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.queued.remove(1, now);
        self.in_flight.add(1, now);
        Some(next)
    }
}

impl DmaRequester {
    fn new(params: &Params, site: &Site) -> Self {
        let rules = Rules::new(params);
        let kinds = if params.flag("engines.shared") { 1 } else { 2 };
        let port = site.pcie.first().copied().flatten();
        let request = |port: PcieSite| {
            let to = site.target.unwrap_or(port.root);
            Requests::new(PCIE, written_by(params, port), to, rules.issue)
        };
        Self {
            requests: port.map(request),
            rules,
            copier: Servers::new(1),
            engines: (0..kinds).map(|_| Servers::new(params.count("engines"))).collect(),
            directions: Default::default(),
            transfers: Slab::new(),
            agenda: Agenda::new(),
            unexpected: 0,
        }
    }

    /// Number of completed transfers of this direction, and their bytes.
    #[must_use]
    pub fn moved(&self, operation: Operation) -> (u64, u64) {
        let queue = &self.directions[operation as usize];
        (queue.done, queue.bytes)
    }

    fn ask(&mut self, transfer: Transfer, cx: &mut Context<'_>) {
        if transfer.bytes == 0 || self.requests.is_none() {
            let done = Done { handle: transfer.handle, status: Status::Aborted };
            cx.send(DMA, Span::ZERO, Message::DmaDone(done));
            return;
        }
        let queue = &mut self.directions[transfer.operation as usize];
        queue.waiting.push_back(Waiting { transfer, asked: cx.now(), trail: cx.trail() });
        queue.queued.add(1, cx.now());
        self.admit(transfer.operation, cx);
    }

    /// Hands transfers to the engines, as many as may be in flight.
    fn admit(&mut self, operation: Operation, cx: &mut Context<'_>) {
        let direction = operation as usize;
        while let Some(Waiting { transfer, asked, trail }) =
            self.directions[direction].next(self.rules.outstanding, cx.now())
        {
            cx.resume(trail);
            cx.mark(PLACE);
            let ready = (asked + self.rules.command).max(cx.now());
            let kind = direction.min(self.engines.len() - 1);
            let requests = self.requests.as_ref().expect("a card that is not plugged in admits nothing");
            let write_tlps = requests.write_tlps(transfer.address, transfer.bytes);
            let begun =
                self.engines[kind].serve_later(cx.now(), ready, self.rules.occupancy(&transfer, write_tlps));
            cx.mark_until(ready, COMMAND);
            cx.mark_until(begun, ENGINE);
            let handle = self.transfers.put(InFlight { transfer, left: transfer.bytes, status: Status::Ok });
            if begun > cx.now() {
                self.agenda.put(begun, Task::Begin(handle), cx);
            } else {
                self.begin(handle, cx);
            }
        }
    }

    fn begin(&mut self, handle: u32, cx: &mut Context<'_>) {
        let transfer = self.transfers.get(handle).expect("a transfer is begun once").transfer;
        let Transfer { operation, bytes, address, .. } = transfer;
        let requests = self.requests.as_mut().expect("a card that is not plugged in begins nothing");
        match operation {
            Operation::Read => requests.read(handle, address, bytes, cx),
            Operation::Write => requests.write(handle, address, bytes, Attributes::NOTIFY, cx),
        }
    }

    fn completions(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        let Some(requests) = &mut self.requests else { return };
        requests.completed(tlps, cx);
        let Some(transfer) = self.transfers.get(tlps.handle) else {
            self.unexpected += u64::from(tlps.count);
            return;
        };
        transfer.left = transfer.left.saturating_sub(u32::from(tlps.count) * u32::from(tlps.bytes));
        if transfer.left == 0 {
            self.last_tlp(tlps.handle, cx);
        }
    }

    /// The last completion has arrived, or the last TLP has departed.
    fn last_tlp(&mut self, handle: u32, cx: &mut Context<'_>) {
        let Some(InFlight { transfer, .. }) = self.transfers.get(handle) else { return };
        let copied = match transfer.operation {
            Operation::Read => {
                let copying = self.rules.copying(transfer);
                let begun = self.copier.serve(cx.now(), copying);
                cx.mark_until(begun, COPIER);
                begun + copying
            }
            Operation::Write => cx.now(),
        };
        cx.mark_until(copied, COPY);
        let done = copied + self.rules.done;
        cx.mark_until(done, COMPLETION);
        if done > cx.now() {
            self.agenda.put(done, Task::End(handle), cx);
        } else {
            self.end(handle, cx);
        }
    }

    fn end(&mut self, handle: u32, cx: &mut Context<'_>) {
        let Some(InFlight { transfer, status, .. }) = self.transfers.take(handle) else { return };
        let Transfer { operation, bytes, handle: name, .. } = transfer;
        let queue = &mut self.directions[operation as usize];
        queue.in_flight.remove(1, cx.now());
        queue.done += 1;
        queue.bytes += u64::from(bytes);
        let told = self.rules.seen(cx.now());
        cx.mark_until(told, TICK);
        cx.send_at(DMA, told, Message::DmaDone(Done { handle: name, status }));
        self.admit(operation, cx);
    }
}

/// The port, with its MPS limited to the card's largest write.
fn written_by(params: &Params, port: PcieSite) -> PcieSite {
    let own = params.choice("write.payload").trim_end_matches('B').parse();
    PcieSite { mps: own.map_or(port.mps, |own: u16| own.min(port.mps)), ..port }
}

impl RequestsByDma for DmaRequester {
    fn moved(&self, operation: Operation) -> (u64, u64) {
        Self::moved(self, operation)
    }
}

impl Component<Message> for DmaRequester {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Dma(transfer) => self.ask(transfer, cx),
            Message::Departed { handle } => self.last_tlp(handle, cx),
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::CplD => self.completions(&tlps, cx),
                TlpKind::Cpl | TlpKind::MRd | TlpKind::MWr | TlpKind::Msg | TlpKind::MsgD => {
                    self.unexpected += u64::from(tlps.count);
                }
            },
            _ => unreachable!("a DMA requester is sent transfers and TLPs, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(task) = self.agenda.take(cx) {
            match task {
                Task::Begin(handle) => self.begin(handle, cx),
                Task::End(handle) => self.end(handle, cx),
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        for (name, queue) in ["reads", "writes"].into_iter().zip(&self.directions) {
            let Queue { waiting, in_flight, done, bytes, .. } = queue;
            let (waiting, in_flight) = (waiting.len(), in_flight.number());
            see(name, format!("{waiting} wait, {in_flight} in flight, {done} done, {bytes} B moved"));
        }
        if let Some(requests) = &self.requests {
            see("tags-in-use", requests.tags_in_use().to_string());
            see("waiting-for-tags", requests.waiting().to_string());
        }
        let busy = self.engines.iter().fold(Span::ZERO, |sum, engines| sum + engines.busy());
        see("engines-busy", busy.to_string());
        see("copier-busy", self.copier.busy().to_string());
        see("unexpected", self.unexpected.to_string());
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let engines: &[&str] =
            if self.engines.len() == 1 { &["engines"] } else { &["read engines", "write engines"] };
        engines.iter().zip(&self.engines).for_each(|(name, engines)| report.supply(*name, engines.used(now)));
        report.supply("copier", self.copier.used(now));
        if let Some(requests) = &self.requests {
            report.supply("tags", requests.tags_used(now));
        }
        for (name, queue) in ["reads in flight", "writes in flight"].into_iter().zip(&self.directions) {
            report.supply(name, held(&queue.in_flight, &queue.queued, self.rules.outstanding, now));
        }
    }

    fn digest(&self) -> u64 {
        self.directions.iter().fold(0, |sum, queue| lanetwin_kernel::mix(sum ^ queue.done) ^ queue.bytes)
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[requests::STAGES, STAGES])
    }
    lanetwin_kernel::roles! { dyn RequestsByDma }
}
