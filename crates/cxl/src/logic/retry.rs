//! Link-layer retry (LLR): what happens to flits when one of them arrives with a wrong CRC.
//!
//! ```text
//!  sender    F0 F1 F2 F3 F4 F5 │ 5 × RETRY.Frame, RETRY.Ack │ F1 F2 F3 F4 F5 │ F6 …
//!               ✗  dropped     ▲                             the retry buffer again
//!  receiver     └► 5 × RETRY.Frame, RETRY.Req
//! ```
//!
//! From a wrong CRC on the receiver drops everything (CXL §4.2.8). It asks for the first flit that it misses; the
//! sender goes on until that request arrives, answers, and sends again what lies in its retry buffer (LLRB) from there
//! on. A sequence of control flits is not sent between a header and its all-data flits.
//!
//! Not here: errors in control flits (a RETRY.Req that is lost is repeated after a timeout), a link that retrains after
//! many retries, a retry buffer that fills up: it is taken to be larger than a round trip, as §4.2.8 asks for.

use super::effects::Unload;
use super::packer::Class;
use crate::spec::constants::{M2S_REQ_PER_FLIT, S2M_NDR_PER_FLIT};

/// A sequence of control flits that must be sent.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// From when on \[ticks\].
    pub at: u64,
    /// What it says.
    pub what: Sequence,
}

/// What a sequence says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequence {
    /// RETRY.Req: send again from the first flit that is missing.
    Request,
    /// RETRY.Ack: here it comes.
    Acknowledge,
}

/// The most messages that are complete with one flit: two without data and one whose last chunk it carries.
pub const DONE_PER_FLIT: usize = {
    assert!(M2S_REQ_PER_FLIT == S2M_NDR_PER_FLIT);
    M2S_REQ_PER_FLIT as usize + 1
};

/// What a flit brings when it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Cargo<U> {
    done: [Option<(Class, U)>; DONE_PER_FLIT],
    credits: [u32; 2],
}

impl<U: Copy> Default for Cargo<U> {
    fn default() -> Self {
        Self { done: [None; DONE_PER_FLIT], credits: [0; 2] }
    }
}

impl<U: Copy> Unload<U> for Cargo<U> {
    fn credits(&mut self, credits: [u32; 2]) {
        self.credits = credits;
    }
    /// # Panics
    /// If there are more than a flit can complete.
    fn done(&mut self, class: Class, user: &U) {
        let free = self.done.iter_mut().find(|place| place.is_none());
        *free.expect("a flit completes so many messages at most") = Some((class, *user));
    }
}

impl<U: Copy> Cargo<U> {
    /// What is in it, in its order.
    pub fn unload(&self, to: &mut impl Unload<U>) {
        to.credits(self.credits);
        self.done.iter().map_while(Option::as_ref).for_each(|(class, user)| to.done(*class, user));
    }
}

/// The retry buffer, while it matters: what flits carry, from the first on that the receiver misses.
#[derive(Clone, Debug)]
pub struct Retry<C> {
    flits: Vec<C>,
    /// The next to be sent (RdPtr).
    sent: usize,
    /// The next that the receiver waits for (ESeq).
    expected: usize,
    /// Whether the receiver drops what arrives.
    dropping: bool,
}

impl<C: Clone> Retry<C> {
    /// After this flit has arrived with a wrong CRC.
    pub fn new(first: C) -> Self {
        Self { flits: vec![first], sent: 1, expected: 0, dropping: true }
    }
    /// Whether the next flit is one that was sent before.
    pub fn replaying(&self) -> bool {
        self.sent < self.flits.len()
    }
    /// Whether the receiver drops what arrives.
    pub const fn is_dropping(&self) -> bool {
        self.dropping
    }
    /// Stores a new flit, which is sent now.
    pub fn store(&mut self, cargo: C) {
        self.flits.push(cargo);
        self.sent += 1;
    }
    /// Sends the next of those that were sent before.
    pub fn send_again(&mut self) {
        self.sent += 1;
    }
    /// The flit just sent arrives well: what it brings.
    pub fn arrive(&mut self) -> C {
        let cargo = self.flits[self.expected].clone();
        self.expected += 1;
        cargo
    }
    /// The flit just sent arrives with a wrong CRC.
    pub fn fail(&mut self) {
        self.dropping = true;
    }
    /// The request has been answered: begins again with what the receiver waits for.
    pub fn begin_again(&mut self) {
        self.sent = self.expected;
        self.dropping = false;
    }
    /// Whether everything has arrived.
    pub fn is_over(&self) -> bool {
        !self.dropping && self.expected == self.flits.len()
    }
}
