//! `null-disk`: a disk that answers every request at once, so that a run shows the time of everything else.

use lanetwin_kernel::{Component, Port};
use lanetwin_ports::{Build, Context, Done, Message, Model, PortInfo, Protocol, Status};
use lanetwin_units::Span;
use std::any::Any;

/// The declaration.
pub static MODEL: Model = Model {
    name: "null-disk",
    about: "A disk that answers every request at once.",
    ports: &[PortInfo { name: "block", speaks: Protocol::Block, about: "requests to the disk", many: false }],
    params: &[],
    build: Build::Component(|_, _| Box::new(NullDisk { answered: 0 })),
    ..Model::DEFAULT
};

/// A disk that takes no time.
#[derive(Debug)]
pub struct NullDisk {
    answered: u64,
}

impl Component<Message> for NullDisk {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let handle = match message {
            Message::Block(request) => request.handle,
            Message::Command(command) => command.handle,
            other => unreachable!("a disk is sent block requests, not {other:?}"),
        };
        self.answered += 1;
        cx.send(port, Span::ZERO, Message::BlockDone(Done { handle, status: Status::Ok }));
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
