//! What a load asks for, one request after the other: the seam behind which every kind of workload stands.

use lanetwin_ports::Operation;
use lanetwin_units::{Instant, Span};
use std::fmt::Debug;

/// A request, before it has a name and a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Read or write.
    pub operation: Operation,
    /// From this byte on; of what goes over a network, how many bytes come in reply.
    pub address: u64,
    /// How many bytes; at least one.
    pub bytes: u32,
}

/// When the next request may go out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// At once.
    Open,
    /// After this time.
    After(Span),
    /// When something has been answered: look again then.
    Answered,
    /// When a connection has been opened, or else closed, which is asked for now.
    Dialled {
        /// Whether it is opened.
        open: bool,
    },
}

/// The requests of a load. They depend on the seed, the load's path, and what it is told of answers; on nothing else.
pub trait Requests: Debug {
    /// Whether the next may go out `now`, with so many outstanding. A pause is told once: the next call comes when it
    /// is over.
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        let _ = (now, outstanding);
        Gate::Open
    }
    /// The next, which goes out `now`; none if all have been made.
    fn next(&mut self, now: Instant) -> Option<Request>;
    /// How many have been made.
    fn made(&self) -> u64;
    /// The connection that has ended since the last call, from its opening to its closing; none if none has.
    fn ended_connection(&mut self) -> Option<Span> {
        None
    }
    /// Whether addresses are the lengths of replies.
    fn has_replies(&self) -> bool {
        false
    }
    /// Takes note that a request was answered after `latency`.
    fn answered(&mut self, latency: Span, now: Instant) {
        let _ = (latency, now);
    }
}
