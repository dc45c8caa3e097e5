//! The requests of access specifications of Iometer and of jobs of fio, for a load.

use crate::conversation::Dialling;
use crate::fio::{Io, Stream};
use crate::iometer::access::{AccessWorkload, Accesses, Connections};
use crate::requests::{Gate, Request, Requests};
use lanetwin_units::{Instant, Span};

/// The accesses of a worker of Iometer.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    accesses: Accesses,
    made: u64,
    count: Option<u64>,
    connections: Option<Connected>,
    /// Whether the target is a network, so that requests have the length of the reply in place of an address.
    network: bool,
    dialling: Option<Dialling>,
}

/// A target that is opened, used for some transactions, and closed when all of them are answered, repeatedly.
#[derive(Clone, Debug)]
struct Connected {
    each: Connections,
    /// Number of transactions that the current connection has left.
    left: u32,
    /// When the opening of the current connection began; `None` before the first one.
    begun: Option<Instant>,
    /// Duration of the connection that was closed since the last query.
    ended: Option<Span>,
}

impl Connected {
    /// What to wait for before the next transaction: nothing, answers, or the opening of the target.
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        if self.left > 0 {
            return Gate::Open;
        }
        if outstanding > 0 {
            return Gate::Answered;
        }
        self.ended = self.begun.map(|begun| now - begun);
        self.begun = Some(now);
        self.left = self.each.transactions.max(1);
        if self.each.opening == Span::ZERO { Gate::Open } else { Gate::After(self.each.opening) }
    }
}

impl Bursts {
    pub(crate) fn new(workload: AccessWorkload, seed: u64, path: &str) -> Self {
        let AccessWorkload { lines, region, outstanding: _, count, connections, network } = workload;
        let connected = |each| Connected { each, left: 0, begun: None, ended: None };
        Self {
            accesses: Accesses::new(lines, &[region], seed, path),
            made: 0,
            count,
            connections: connections.filter(|_| !network).map(connected),
            network,
            dialling: connections.filter(|_| network).map(|each| Dialling::new(each.transactions)),
        }
    }
    fn is_over(&self) -> bool {
        self.count.is_some_and(|count| self.made >= count)
    }
}

impl Requests for Bursts {
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        if self.is_over() {
            return Gate::Open;
        }
        if let Some(connected) = &mut self.connections {
            let gate = connected.gate(now, outstanding);
            if gate != Gate::Open {
                return gate;
            }
        }
        if let Some(dialling) = &mut self.dialling {
            let gate = dialling.gate(now, outstanding);
            if gate != Gate::Open {
                return gate;
            }
        }
        match self.accesses.pause() {
            Span::ZERO => Gate::Open,
            pause => Gate::After(pause),
        }
    }
    fn next(&mut self, _: Instant) -> Option<Request> {
        if self.is_over() {
            return None;
        }
        self.made += 1;
        if let Some(connected) = &mut self.connections {
            connected.left = connected.left.saturating_sub(1);
        }
        if let Some(dialling) = &mut self.dialling {
            dialling.count();
        }
        let access = self.accesses.next(0);
        let address = if self.network { access.reply.into() } else { access.address };
        Some(Request { operation: access.operation, address, bytes: access.bytes })
    }
    fn made(&self) -> u64 {
        self.made
    }
    fn ended_connection(&mut self) -> Option<Span> {
        let dialled = self.dialling.as_mut().and_then(Dialling::take_ended);
        dialled.or_else(|| self.connections.as_mut()?.ended.take())
    }
    fn has_replies(&self) -> bool {
        self.network
    }
}

impl Requests for Stream {
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        Self::gate(self, now, outstanding)
    }
    fn next(&mut self, now: Instant) -> Option<Request> {
        let Io { operation, offset, bytes } = Self::next(self, now)?;
        Some(Request { operation, address: offset, bytes })
    }
    fn made(&self) -> u64 {
        Self::made(self)
    }
    fn answered(&mut self, latency: Span, now: Instant) {
        Self::answered(self, latency, now);
    }
}
