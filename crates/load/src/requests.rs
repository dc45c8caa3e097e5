//! The requests of a load, one after the other: the interface that all kinds of workload implement.

use lanetwin_ports::Operation;
use lanetwin_units::{Instant, Span};
use std::fmt::Debug;

/// A request, before it has a handle and a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Read or write.
    pub operation: Operation,
    /// Its first byte; over a network, the length of the reply.
    pub address: u64,
    /// Its size \[B\]; at least one.
    pub bytes: u32,
}

/// When the next request may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// At once.
    Open,
    /// After this time.
    After(Span),
    /// When an operation has been answered, which has to be checked again then.
    Answered,
    /// When a connection has been opened or closed, which is requested now.
    Dialled {
        /// Whether to open it; otherwise to close it.
        open: bool,
    },
}

/// The requests of a load. They depend only on the seed, the load's path, and the answers.
pub trait Requests: Debug {
    /// Whether the next request may be sent `now`, with `outstanding` requests outstanding. A pause is returned once;
    /// the next call comes after it.
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        let _ = (now, outstanding);
        Gate::Open
    }
    /// The next request, sent `now`; `None` if all have been made.
    fn next(&mut self, now: Instant) -> Option<Request>;
    /// Number of requests made.
    fn made(&self) -> u64;
    /// The duration of the connection that was closed since the last call; `None` if none was.
    fn ended_connection(&mut self) -> Option<Span> {
        None
    }
    /// Whether addresses are the lengths of replies.
    fn has_replies(&self) -> bool {
        false
    }
    /// Records that a request was answered after `latency`.
    fn answered(&mut self, latency: Span, now: Instant) {
        let _ = (latency, now);
    }
}
