//! `corrupt`: damages data at random: marks a share of the good answers as corrupt.

use crate::between::{self, UP};
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_ports::{Build, Context, Dimension, Done, Message, Model, Param, Status};
use lanetwin_units::Span;
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "corrupt",
    about: "Damages a share of what block requests bring back.",
    ports: between::PORTS,
    params: &[PARAMS],
    build: Build::Component(|params, site| {
        Box::new(Corrupt {
            probability: params.ratio("probability"),
            stream: Stream::new(site.seed, &site.path, "damage"),
            passed: 0,
            damaged: 0,
        })
    }),
    ..Model::DEFAULT
};

const PARAMS: &[Param] = &[Param {
    name: "probability",
    dimension: Dimension::Ratio,
    default: Some("0.1%"),
    about: "the share of good answers that arrive damaged, each by itself at random",
}];

/// A wrapper that damages.
#[derive(Debug)]
pub struct Corrupt {
    probability: f64,
    stream: Stream,
    passed: u64,
    damaged: u64,
}

impl Corrupt {
    /// The answer as it arrives.
    fn answer(&mut self, done: Done) -> Done {
        if done.status == Status::Ok && self.stream.chance(self.probability) {
            self.damaged += 1;
            return Done { status: Status::Corrupt, ..done };
        }
        self.passed += 1;
        done
    }
}

impl Component<Message> for Corrupt {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::BlockDone(done) => {
                let done = self.answer(done);
                cx.send(UP, Span::ZERO, Message::BlockDone(done));
            }
            _ => cx.send(between::other(port), Span::ZERO, message),
        }
    }
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("passed", self.passed.to_string());
        see("damaged", self.damaged.to_string());
    }
    fn digest(&self) -> u64 {
        self.damaged << 32 ^ self.passed
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
