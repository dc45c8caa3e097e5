//! `dma-requester`: a device that moves what it is told to move: the FPGA or NIC of a PCIe benchmark.
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
//! read: `read.copy` for every started cell, once all its completions have arrived). There is one copier, so that it
//! adds to the latency and bounds the rate. What moving costs besides, whatever the size, is `transfer`, for both.
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
use crate::requests::Requests;
use crate::roles::RequestsByDma;
pub use crate::roles::TransferRecord;
use crate::servers::Servers;
use crate::slab::Slab;
use lanetwin_kernel::{Component, Port, Report};
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
    /// None if the card is not plugged in: it then does nothing.
    requests: Option<Requests>,
    /// Reads and writes; the same at index 0 if they are shared.
    engines: Vec<Servers>,
    copier: Servers,
    directions: [Queue; 2],
    transfers: Slab<InFlight>,
    agenda: Agenda<Task>,
    records: Option<Vec<TransferRecord>>,
    unexpected: u64,
}

/// The transfers of one direction.
#[derive(Default, Debug)]
struct Queue {
    waiting: VecDeque<(Transfer, Instant)>,
    /// How many those are.
    queued: Gauge,
    in_flight: Gauge,
    done: u64,
    bytes: u64,
}

#[derive(Debug)]
struct InFlight {
    /// What is known of it so far; the rest is [`Instant::NEVER`].
    record: TransferRecord,
    /// What has not arrived yet \[B\].
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
    /// The next transfer, with when it was asked for, if fewer than `most` are in flight; it now is.
    fn next(&mut self, most: u64, now: Instant) -> Option<(Transfer, Instant)> {
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
            records: None,
            unexpected: 0,
        }
    }

    /// Records from now on when each transfer is where, or stops recording.
    pub fn record(&mut self, on: bool) {
        self.records = on.then(Vec::new);
    }
    /// The transfers that ended since recording began, in the order of their ends; forgets them.
    pub fn take_record(&mut self) -> Vec<TransferRecord> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }
    /// How many transfers of this direction are done, and their bytes.
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
        queue.waiting.push_back((transfer, cx.now()));
        queue.queued.add(1, cx.now());
        self.admit(transfer.operation, cx);
    }

    /// Gives the engines what may be in flight.
    fn admit(&mut self, operation: Operation, cx: &mut Context<'_>) {
        let direction = operation as usize;
        while let Some((transfer, asked)) = self.directions[direction].next(self.rules.outstanding, cx.now())
        {
            let ready = (asked + self.rules.command).max(cx.now());
            let kind = direction.min(self.engines.len() - 1);
            let requests = self.requests.as_ref().expect("a card that is not plugged in admits nothing");
            let write_tlps = requests.write_tlps(transfer.address, transfer.bytes);
            let begun =
                self.engines[kind].serve_later(cx.now(), ready, self.rules.occupancy(&transfer, write_tlps));
            let unknown = Instant::NEVER;
            let handle = self.transfers.put(InFlight {
                record: TransferRecord {
                    handle: 0,
                    transfer,
                    asked,
                    admitted: cx.now(),
                    ready,
                    begun,
                    tagged: unknown,
                    issued: unknown,
                    last: unknown,
                    copying: unknown,
                    copied: unknown,
                    done: unknown,
                    told: unknown,
                },
                left: transfer.bytes,
                status: Status::Ok,
            });
            if begun > cx.now() {
                self.agenda.put(begun, Task::Begin(handle), cx);
            } else {
                self.begin(handle, cx);
            }
        }
    }

    fn begin(&mut self, handle: u32, cx: &mut Context<'_>) {
        let (now, issue) = (cx.now(), self.rules.issue);
        let transfer = self.transfers.get(handle).expect("a transfer is begun once").record.transfer;
        let Transfer { operation, bytes, address, .. } = transfer;
        let requests = self.requests.as_mut().expect("a card that is not plugged in begins nothing");
        let transfers = &mut self.transfers;
        match operation {
            Operation::Read => {
                requests.read(handle, address, bytes, cx, &mut |h| note_issue(transfers, h, now, issue))
            }
            Operation::Write => {
                requests.write(handle, address, bytes, Attributes::NOTIFY, cx);
                note_issue(transfers, handle, now, issue);
            }
        }
    }

    fn completions(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        let Some(requests) = &mut self.requests else { return };
        let (transfers, now, issue) = (&mut self.transfers, cx.now(), self.rules.issue);
        requests.completed(tlps, cx, &mut |handle| note_issue(transfers, handle, now, issue));
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
        let Some(InFlight { record, .. }) = self.transfers.get(handle) else { return };
        record.last = cx.now();
        (record.copying, record.copied) = match record.transfer.operation {
            Operation::Read => {
                let copying = self.rules.copying(&record.transfer);
                let begun = self.copier.serve(cx.now(), copying);
                (begun, begun + copying)
            }
            Operation::Write => (cx.now(), cx.now()),
        };
        record.done = record.copied + self.rules.done;
        let done = record.done;
        if done > cx.now() {
            self.agenda.put(done, Task::End(handle), cx);
        } else {
            self.end(handle, cx);
        }
    }

    fn end(&mut self, handle: u32, cx: &mut Context<'_>) {
        let Some(InFlight { record, status, .. }) = self.transfers.take(handle) else { return };
        let Transfer { operation, bytes, handle: name, .. } = record.transfer;
        let queue = &mut self.directions[operation as usize];
        queue.in_flight.remove(1, cx.now());
        queue.done += 1;
        queue.bytes += u64::from(bytes);
        let told = self.rules.seen(cx.now());
        cx.send_at(DMA, told, Message::DmaDone(Done { handle: name, status }));
        if let Some(records) = &mut self.records {
            records.push(TransferRecord { handle, told, ..record });
        }
        self.admit(operation, cx);
    }
}

/// The port, whose MPS is that of its own writes: not more than the card puts into one.
fn written_by(params: &Params, port: PcieSite) -> PcieSite {
    let own = params.choice("write.payload").trim_end_matches('B').parse();
    PcieSite { mps: own.map_or(port.mps, |own: u16| own.min(port.mps)), ..port }
}

/// The first TLP of the transfer is made now, and offered to the link `issue` later.
fn note_issue(transfers: &mut Slab<InFlight>, handle: u32, now: Instant, issue: Span) {
    if let Some(transfer) = transfers.get(handle) {
        transfer.record.tagged = now;
        transfer.record.issued = now + issue;
    }
}

impl RequestsByDma for DmaRequester {
    fn record(&mut self, on: bool) {
        Self::record(self, on);
    }
    fn take_record(&mut self) -> Vec<TransferRecord> {
        Self::take_record(self)
    }
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
                TlpKind::Cpl | TlpKind::MRd | TlpKind::MWr | TlpKind::Msg => {
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
    lanetwin_kernel::roles! { dyn RequestsByDma }
}
