//! `drop`: loses requests at random. The initiator is told after a timeout that there was no answer.

use crate::between::{self, UP};
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_ports::{Build, Context, Dimension, Done, Message, Model, Param, Status};
use lanetwin_units::Span;
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "drop",
    about: "Loses a share of the block requests: they end in a timeout.",
    ports: between::PORTS,
    params: &[PARAMS],
    build: Build::Component(|params, site| {
        Box::new(Drop {
            probability: params.ratio("probability"),
            timeout: params.time("timeout"),
            stream: Stream::new(site.seed, &site.path, "loss"),
            passed: 0,
            lost: 0,
        })
    }),
    ..Model::DEFAULT
};

const PARAMS: &[Param] = &[
    Param {
        name: "probability",
        dimension: Dimension::Ratio,
        default: Some("0.1%"),
        about: "the share of requests that are lost, each by itself at random",
    },
    Param {
        name: "timeout",
        dimension: Dimension::Time,
        default: Some("30s"),
        about: "the time after which a lost request ends with a time-out",
    },
];

/// A wrapper that loses requests.
#[derive(Debug)]
pub struct Drop {
    probability: f64,
    timeout: Span,
    stream: Stream,
    passed: u64,
    lost: u64,
}

impl Component<Message> for Drop {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(request) if port == UP && self.stream.chance(self.probability) => {
                self.lost += 1;
                let done = Done { handle: request.handle, status: Status::Aborted };
                cx.send(UP, self.timeout, Message::BlockDone(done));
            }
            _ => {
                self.passed += u64::from(port == UP);
                cx.send(between::other(port), Span::ZERO, message);
            }
        }
    }
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("passed", self.passed.to_string());
        see("lost", self.lost.to_string());
    }
    fn digest(&self) -> u64 {
        self.lost << 32 ^ self.passed
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
