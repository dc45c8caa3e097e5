//! `delay`: passes block requests and their answers on, later. To be put before any disk: a slower one without another
//! model.

use crate::between::{self, DOWN, UP};
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_ports::{Build, Context, Dimension, Message, Model, Param};
use lanetwin_units::Span;
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "delay",
    about: "Passes block requests and their answers on, each a while later.",
    ports: between::PORTS,
    params: &[PARAMS],
    build: Build::Component(|params, site| {
        Box::new(Delay {
            request: params.time("request"),
            answer: params.time("answer"),
            jitter: params.time("jitter"),
            stream: Stream::new(site.seed, &site.path, "jitter"),
            passed: 0,
        })
    }),
    ..Model::DEFAULT
};

const PARAMS: &[Param] = &[
    Param {
        name: "request",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "how much later a request arrives",
    },
    Param {
        name: "answer",
        dimension: Dimension::Time,
        default: Some("10us"),
        about: "how much later an answer arrives",
    },
    Param {
        name: "jitter",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the most that is added to each answer, uniformly at random; answers may then overtake one another",
    },
];

/// A wrapper that delays.
#[derive(Debug)]
pub struct Delay {
    request: Span,
    answer: Span,
    jitter: Span,
    stream: Stream,
    passed: u64,
}

impl Component<Message> for Delay {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        if port == UP {
            cx.send(DOWN, self.request, message);
        } else {
            let extra = Span::from_ps(self.stream.below(self.jitter.as_ps() + 1));
            self.passed += 1;
            cx.send(UP, self.answer + extra, message);
        }
    }
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("passed", self.passed.to_string());
    }
    fn digest(&self) -> u64 {
        self.passed
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
