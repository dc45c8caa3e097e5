//! `template-model`: a device that answers every block request after the same time, any number at once.
//!
//! Not here: a medium, queues, errors.

use lanetwin_kernel::{Component, Port};
use lanetwin_ports::{Build, Context, Dimension, Done, Message, Model, Param, PortInfo, Protocol, Status};
use lanetwin_units::Span;
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "template-model",
    about: "A device that answers every block request after the same time, any number at once.",
    ports: &[PortInfo {
        name: "block",
        speaks: Protocol::Block,
        about: "requests to the device",
        many: false,
    }],
    params: &[PARAMS],
    drains_itself: |_| false,
    has_memory: false,
    build: Build::Component(|params, _| {
        Box::new(TemplateModel { latency: params.time("latency"), answered: 0 })
    }),
};

const PARAMS: &[Param] = &[Param {
    name: "latency",
    dimension: Dimension::Time,
    default: Some("80us"),
    about: "the time from a request to its completion",
}];

/// A device that answers after the same time.
#[derive(Debug)]
pub struct TemplateModel {
    latency: Span,
    answered: u64,
}

impl Component<Message> for TemplateModel {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let Message::Block(request) = message else { unreachable!("a block port carries block requests") };
        self.answered += 1;
        let done = Done { handle: request.handle, status: Status::Ok };
        cx.send(port, self.latency, Message::BlockDone(done));
    }
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("answered", self.answered.to_string());
    }
    fn digest(&self) -> u64 {
        self.answered
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
