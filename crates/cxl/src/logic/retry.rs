//! Link-layer retry (LLR) after a flit with a wrong CRC.
//!
//! ```text
//!  sender    F0 F1 F2 F3 F4 F5 │ 5 × RETRY.Frame, RETRY.Ack │ F1 F2 F3 F4 F5 │ F6 …
//!               ✗  dropped     ▲                             the retry buffer again
//!  receiver     └► 5 × RETRY.Frame, RETRY.Req
//! ```
//!
//! After a wrong CRC the receiver drops all flits (CXL §4.2.8) and requests the first missing one. The sender continues
//! until that request arrives, acknowledges it, and resends the content of its retry buffer (LLRB) from that flit on. A
//! sequence of control flits is not sent between a header and its all-data flits.
//!
//! Not here: errors in control flits (a lost RETRY.Req is repeated after a timeout); retraining of the link after many
//! retries; a full retry buffer (it is assumed to be larger than a round trip, as §4.2.8 requires).

use super::effects::Unload;
use super::packer::Class;
use crate::spec::constants::{M2S_REQ_PER_FLIT, S2M_NDR_PER_FLIT};

/// A pending sequence of control flits.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Earliest time at which it may be sent \[ticks\].
    pub at: u64,
    /// Kind of the sequence.
    pub what: Sequence,
}

/// Kind of a sequence of control flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequence {
    /// RETRY.Req: requests all flits from the first missing one on.
    Request,
    /// RETRY.Ack: announces the requested flits.
    Acknowledge,
}

/// Maximum number of messages that one flit completes: two without data and one whose last chunk it carries.
pub const DONE_PER_FLIT: usize = {
    assert!(M2S_REQ_PER_FLIT == S2M_NDR_PER_FLIT);
    M2S_REQ_PER_FLIT as usize + 1
};

/// Content of a flit: the messages that it completes, and the credits that it returns.
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
    /// If there are more messages than a flit can complete.
    fn done(&mut self, class: Class, user: &U) {
        let free = self.done.iter_mut().find(|place| place.is_none());
        *free.expect("a flit completes so many messages at most") = Some((class, *user));
    }
}

impl<U: Copy> Cargo<U> {
    /// Passes the content on, in its order.
    pub fn unload(&self, to: &mut impl Unload<U>) {
        to.credits(self.credits);
        self.done.iter().map_while(Option::as_ref).for_each(|(class, user)| to.done(*class, user));
    }
}

/// The retry buffer during a retry: content of all flits from the first missing one on.
#[derive(Clone, Debug)]
pub struct Retry<C> {
    flits: Vec<C>,
    /// The next flit to be sent (RdPtr).
    sent: usize,
    /// The next flit that the receiver expects (ESeq).
    expected: usize,
    /// Whether the receiver drops arriving flits.
    dropping: bool,
}

impl<C: Clone> Retry<C> {
    /// A retry that begins with this flit, which arrives with a wrong CRC.
    pub fn new(first: C) -> Self {
        Self { flits: vec![first], sent: 1, expected: 0, dropping: true }
    }
    /// Whether the next flit is a resent one.
    pub fn replaying(&self) -> bool {
        self.sent < self.flits.len()
    }
    /// Whether the receiver drops arriving flits.
    pub const fn is_dropping(&self) -> bool {
        self.dropping
    }
    /// Stores a new flit, which is being sent.
    pub fn store(&mut self, cargo: C) {
        self.flits.push(cargo);
        self.sent += 1;
    }
    /// Resends the next stored flit.
    pub fn send_again(&mut self) {
        self.sent += 1;
    }
    /// The flit just sent arrives intact; returns its content.
    pub fn arrive(&mut self) -> C {
        let cargo = self.flits[self.expected].clone();
        self.expected += 1;
        cargo
    }
    /// The flit just sent arrives with a wrong CRC.
    pub fn fail(&mut self) {
        self.dropping = true;
    }
    /// The request has been acknowledged: continues with the flit that the receiver expects.
    pub fn begin_again(&mut self) {
        self.sent = self.expected;
        self.dropping = false;
    }
    /// Whether all flits have arrived.
    pub fn is_over(&self) -> bool {
        !self.dropping && self.expected == self.flits.len()
    }
}
