//! Requests between programs of two hosts: messages with replies, over one connection or several in turn.
//!
//! ```text
//!  stream        message ─►  message ─►  message ─► …
//!  transactions  request ─►  ◄─ reply  request ─►  ◄─ reply …
//!  connections   open  transactions  close  open  transactions  close …
//! ```

use crate::requests::{Gate, Request, Requests};
use lanetwin_kernel::Stream;
use lanetwin_ports::Operation;
use lanetwin_units::{Instant, Span};

/// The messages of two programs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exchange {
    /// The length of a request \[B\]; at least one.
    pub request: u32,
    /// The length of its reply \[B\]; 0 without a reply.
    pub reply: u32,
    /// The share of requests that the program of the other host sends.
    pub reads: f64,
    /// Requests per connection; `None` for one connection that stays open.
    pub transactions: Option<u32>,
}

/// The requests of one connection, or of one after another.
#[derive(Clone, Debug)]
pub struct Conversation {
    exchange: Exchange,
    directions: Stream,
    made: u64,
    dialling: Option<Dialling>,
}

/// Connections that are opened, used for some transactions, and closed when all of them are answered, one after
/// another.
#[derive(Clone, Debug)]
pub(crate) struct Dialling {
    transactions: u32,
    state: State,
    /// The time at which its opening began.
    begun: Instant,
    /// Duration of the connection that was closed since the last query.
    ended: Option<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// No connection.
    Closed,
    /// Open, with this many transactions left.
    Open(u32),
    /// Being closed, or closed.
    Closing,
}

impl Dialling {
    /// Connections of `transactions` transactions each; for 0, of one.
    pub(crate) const fn new(transactions: u32) -> Self {
        Self { transactions, state: State::Closed, begun: Instant::ZERO, ended: None }
    }
    /// The event to wait for before the next transaction: none, answers, or the opening or closing of the connection.
    pub(crate) fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        match self.state {
            State::Open(left) if left > 0 => Gate::Open,
            State::Open(_) if outstanding > 0 => Gate::Answered,
            State::Open(_) => {
                self.state = State::Closing;
                Gate::Dialled { open: false }
            }
            State::Closed | State::Closing => {
                if self.state == State::Closing {
                    self.ended = Some(now - self.begun);
                }
                self.begun = now;
                self.state = State::Open(self.transactions.max(1));
                Gate::Dialled { open: true }
            }
        }
    }
    /// Counts a transaction.
    pub(crate) const fn count(&mut self) {
        if let State::Open(left) = &mut self.state {
            *left = left.saturating_sub(1);
        }
    }
    pub(crate) const fn take_ended(&mut self) -> Option<Span> {
        self.ended.take()
    }
}

impl Conversation {
    /// The requests of a load at `path` in a run with this seed.
    #[must_use]
    pub fn new(exchange: Exchange, seed: u64, path: &str) -> Self {
        let directions = Stream::new(seed, path, "directions");
        Self { exchange, directions, made: 0, dialling: exchange.transactions.map(Dialling::new) }
    }
}

impl Requests for Conversation {
    fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        self.dialling.as_mut().map_or(Gate::Open, |dialling| dialling.gate(now, outstanding))
    }
    fn next(&mut self, _: Instant) -> Option<Request> {
        self.made += 1;
        if let Some(dialling) = &mut self.dialling {
            dialling.count();
        }
        let operation =
            if self.directions.chance(self.exchange.reads) { Operation::Read } else { Operation::Write };
        Some(Request { operation, address: self.exchange.reply.into(), bytes: self.exchange.request })
    }
    fn made(&self) -> u64 {
        self.made
    }
    fn ended_connection(&mut self) -> Option<Span> {
        self.dialling.as_mut()?.take_ended()
    }
    fn has_replies(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: opened at 0, three transactions, closed when the last is answered, which takes until 90.
    #[test]
    fn a_connection_is_opened_used_and_closed() {
        let exchange = Exchange { request: 1, reply: 1, reads: 0.0, transactions: Some(3) };
        let mut own = Conversation::new(exchange, 1, "load");
        let at = |us| Instant::ZERO + Span::from_us(us);
        assert_eq!(own.gate(at(0), 0), Gate::Dialled { open: true });
        for made in 0..3 {
            assert_eq!(own.gate(at(10), made), Gate::Open);
            assert!(own.next(at(10)).is_some());
        }
        assert_eq!(own.gate(at(20), 3), Gate::Answered);
        assert_eq!(own.gate(at(80), 0), Gate::Dialled { open: false });
        assert_eq!(own.ended_connection(), None);
        assert_eq!(own.gate(at(90), 0), Gate::Dialled { open: true });
        assert_eq!((own.ended_connection(), own.ended_connection()), (Some(Span::from_us(90)), None));
        assert_eq!(own.made(), 3);
    }
}
