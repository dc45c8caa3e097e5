//! `fixed-latency-disk`: a disk with a fixed time for every request, several at once. A request without data, such as
//! a flush, takes as long as a write.
//!
//! By Little's law its throughput at depth `n` is `min(n, parallelism) / latency`.

use crate::servers::Servers;
use lanetwin_kernel::{Component, Port, Report};
use lanetwin_ports::{
    Build, Context, Dimension, Done, Message, Model, Operation, Param, PortInfo, Protocol, Status,
};
use lanetwin_units::{Instant, Span};
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "fixed-latency-disk",
    about: "A disk that takes the same time for every request, several at once.",
    ports: &[PortInfo { name: "block", speaks: Protocol::Block, about: "requests to the disk", many: false }],
    params: &[PARAMS],
    build: Build::Component(|params, _| {
        Box::new(FixedLatencyDisk {
            read: params.time("read.latency"),
            write: params.time("write.latency"),
            servers: Servers::new(params.count("parallelism")),
            answered: 0,
        })
    }),
    ..Model::DEFAULT
};

const PARAMS: &[Param] = &[
    Param {
        name: "read.latency",
        dimension: Dimension::Time,
        default: Some("80us"),
        about: "the time that a read takes once it is being worked on",
    },
    Param {
        name: "write.latency",
        dimension: Dimension::Time,
        default: Some("15us"),
        about: "the time that a write takes once it is being worked on",
    },
    Param {
        name: "parallelism",
        dimension: Dimension::Count { least: 1, most: 1 << 20 },
        default: Some("128"),
        about: "how many requests are worked on at once; others wait, first come first served",
    },
];

lanetwin_kernel::stages! { QUEUE = "queue", WORK = "work" }

/// A disk that takes the same time for every request.
#[derive(Debug)]
pub struct FixedLatencyDisk {
    read: Span,
    write: Span,
    servers: Servers,
    answered: u64,
}

impl Component<Message> for FixedLatencyDisk {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let (handle, latency) = match message {
            Message::Block(request) if request.operation == Operation::Read => (request.handle, self.read),
            Message::Block(request) => (request.handle, self.write),
            Message::Command(command) => (command.handle, self.write),
            other => unreachable!("a disk is sent block requests, not {other:?}"),
        };
        let start = self.servers.serve(cx.now(), latency);
        self.answered += 1;
        cx.mark_until(start, QUEUE);
        cx.mark_until(start + latency, WORK);
        let done = Done { handle, status: Status::Ok };
        cx.send_at(port, start + latency, Message::BlockDone(done));
    }
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("answered", self.answered.to_string());
        see("busy", self.servers.busy().to_string());
    }
    fn report(&mut self, now: Instant, report: &mut Report) {
        report.supply("parallelism", self.servers.used(now));
    }
    fn digest(&self) -> u64 {
        self.answered
    }
    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[STAGES])
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
