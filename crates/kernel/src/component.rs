//! What a component is: something with ports, that is told of messages and of the times it asked to be woken at.

use crate::context::Context;
use lanetwin_units::{Instant, id};

id! {
    /// A component of one kernel, in the order of addition.
    ComponentId(u32) => "c";
    /// A port of a component; ports are numbered by the component itself, outputs and inputs alike.
    Port(u16) => "p";
}

/// What a digest says of a message.
pub trait Content {
    /// The meaning of the message as 64 bits. It must not depend on where the message is stored.
    fn content(&self) -> u64;
}

/// What has been used so far of something of which a component has only so many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supply {
    /// The integral over time, from the start of the run, of how many were in use \[number · ps\].
    pub in_use_ps: u128,
    /// How many there are; at least one.
    pub supply: u64,
    /// What their being in use means.
    pub kind: SupplyKind,
}

/// What it means that something is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SupplyKind {
    /// It works: for a time that is its own, whatever others do. Engines, cores, walkers.
    Server,
    /// It is held while others work, and so is in use the longer the slower they are. Tags, places in a queue.
    Held {
        /// The integral over time of how many waited for one \[number · ps\].
        waiting_ps: u128,
    },
}

/// A device, a load, a set of links: whatever has ports.
pub trait Component<M> {
    /// Called once, before the first event.
    fn start(&mut self, _cx: &mut Context<'_, M>) {}

    /// A message has arrived.
    fn receive(&mut self, port: Port, message: M, cx: &mut Context<'_, M>);

    /// A message will arrive at `at`, not before now. Only components that were added as *foreseeing* are asked; knowing
    /// early what will come is what gives a link its lookahead.
    fn expect(&mut self, _at: Instant, _port: Port, _message: &M, _cx: &mut Context<'_, M>) {
        unreachable!("a component that foresees implements `expect`")
    }

    /// The time has come that the component asked for with [`Context::wake_at`].
    fn wake(&mut self, _token: u32, _cx: &mut Context<'_, M>) {}

    /// Shows the state by name, for people.
    fn inspect(&self, _see: &mut dyn FnMut(&str, String)) {}

    /// Shows by name what was used up to `now`, the present, of everything that the component has a finite supply of.
    /// What is held while another supply is waited for comes after that one.
    fn supplies(&self, _now: Instant, _see: &mut dyn FnMut(&str, Supply)) {}

    /// What the component has done so far, beyond the messages it was sent, as 64 bits; part of the kernel's digest.
    fn digest(&self) -> u64 {
        0
    }

    /// As [`digest`](Self::digest), at `now`, the present: for a component that makes up for what it has done when somebody asks.
    fn digest_up_to(&self, _now: Instant) -> u64 {
        self.digest()
    }

    /// The component itself, for the code that built it and reads its results after a run.
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        None
    }
}
