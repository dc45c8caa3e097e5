//! `block-driver`: CPU work between a program and a block device on PCIe.
//!
//! ```text
//!  Block ─► a core: submit ─► doorbell ─► root complex ═► device
//!  BlockDone ◄─ a core: complete ◄─ signal ◄─ root complex ◄═
//! ```
//!
//! `submit` and `complete` occupy one of the `cores`, in order of arrival: they are latency at low rates and limit
//! the rate at high ones. If the host has `cores`, one of those is used instead. The driver's place in the machine
//! determines its device.
//!
//! Not here: interrupts as opposed to polling (a signal of either kind costs `complete`), merging, page caches.

use crate::doorbell::ring;
use lanetwin_kernel::{Component, Port, Report};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    Build, Context, Dimension, Done, Message, Model, Param, Params, PortInfo, Protocol, RunQueue, Site,
    Status, Transfer,
};
use lanetwin_units::{Instant, Span};
use std::any::Any;
use std::collections::BTreeSet;

/// The declaration.
pub static MODEL: Model = Model {
    name: "block-driver",
    about: "The software between block requests and a block device on PCIe: rings doorbells, sees signals, costs CPU time.",
    ports: &[
        PortInfo { name: "block", speaks: Protocol::Block, about: "requests from programs", many: false },
        PortInfo {
            name: "cpu",
            speaks: Protocol::Cpu,
            about: "the root complex that the CPU belongs to",
            many: false,
        },
    ],
    params: &[PARAMS],
    build: Build::Component(|params, site| Box::new(BlockDriver::new(params, site))),
    ..Model::DEFAULT
};

const BLOCK: Port = Port(0);
const CPU: Port = Port(1);

const PARAMS: &[Param] = &[
    Param {
        name: "submit",
        dimension: Dimension::Time,
        default: Some("500ns"),
        about: "the CPU time from a request to its doorbell",
    },
    Param {
        name: "complete",
        dimension: Dimension::Time,
        default: Some("500ns"),
        about: "the CPU time from a signal to the answer",
    },
    Param {
        name: "cores",
        dimension: Dimension::Count { least: 1, most: 4096 },
        default: Some("1"),
        about: "how many requests and signals are worked on at once, if the host does not say how many cores it has",
    },
    Param {
        name: "doorbell",
        dimension: Dimension::Size,
        default: Some("4B"),
        about: "the size of the write that rings the doorbell",
    },
];

lanetwin_kernel::stages! { CORE = "queue for the core", SUBMIT = "submit", COMPLETE = "complete" }

/// The device.
#[derive(Debug)]
pub struct BlockDriver {
    submit: Span,
    complete: Span,
    doorbell: u16,
    cores: RunQueue,
    /// Whether the cores belong to this driver; if not, the host reports them.
    owns_cores: bool,
    target: Option<EndpointId>,
    outstanding: BTreeSet<u32>,
    answered: u64,
    refused: u64,
    unexpected: u64,
}

impl BlockDriver {
    fn new(params: &Params, site: &Site) -> Self {
        Self {
            submit: params.time("submit"),
            complete: params.time("complete"),
            // at least one byte, at most a CPU's largest write
            doorbell: params.size("doorbell").0.clamp(1, 64) as u16,
            cores: site.cores.first().cloned().unwrap_or_else(|| RunQueue::new(params.count("cores"))),
            owns_cores: site.cores.is_empty(),
            target: site.target,
            outstanding: BTreeSet::new(),
            answered: 0,
            refused: 0,
            unexpected: 0,
        }
    }

    /// Turns a request into a doorbell; refuses it if no doorbell can encode it, or if there is no device.
    fn request(&mut self, request: &Transfer, cx: &mut Context<'_>) {
        let handle = request.handle;
        let begun = self.cores.serve(cx.now(), self.submit);
        let submitted = begun + self.submit;
        cx.mark_until(begun, CORE);
        cx.mark_until(submitted, SUBMIT);
        match (ring(request), self.target) {
            (Some((rung, address)), Some(to)) if !self.outstanding.contains(&handle) => {
                self.outstanding.insert(handle);
                cx.send_at(CPU, submitted, Message::Mmio { to, bytes: self.doorbell, handle: rung, address });
            }
            _ => {
                self.refused += 1;
                let done = Done { handle, status: Status::Aborted };
                cx.send_at(BLOCK, submitted, Message::BlockDone(done));
            }
        }
    }

    fn signal(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        if Some(from) != self.target || !self.outstanding.remove(&handle) {
            self.unexpected += 1;
            return;
        }
        self.answered += 1;
        let begun = self.cores.serve(cx.now(), self.complete);
        let completed = begun + self.complete;
        cx.mark_until(begun, CORE);
        cx.mark_until(completed, COMPLETE);
        cx.send_at(BLOCK, completed, Message::BlockDone(Done { handle, status: Status::Ok }));
    }
}

impl Component<Message> for BlockDriver {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(request) => self.request(&request, cx),
            Message::Signal { handle, from } => self.signal(handle, from, cx),
            _ => unreachable!("a block driver is sent requests and signals, not {message:?}"),
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("outstanding", self.outstanding.len().to_string());
        see("answered", self.answered.to_string());
        see("refused", self.refused.to_string());
        see("unexpected", self.unexpected.to_string());
        see("cores-busy", self.cores.busy().to_string());
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        if self.owns_cores {
            report.supply("cores", self.cores.used(now));
        }
    }

    fn digest(&self) -> u64 {
        lanetwin_kernel::mix(self.answered) ^ self.refused << 32 ^ self.unexpected
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
