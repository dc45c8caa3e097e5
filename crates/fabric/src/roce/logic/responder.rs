//! The responder: takes packets in order, each once, and answers in their order.

use super::packet::{Operation, Part, Psn, Request, Response, Says};
use crate::roce::spec::{PathMtu, packets};
use std::collections::VecDeque;

/// Effect of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// Nothing: it had come before, or too early, or nothing was posted to receive it.
    Nothing,
    /// Data of a SEND or WRITE: each byte once, in order. With the first part of a SEND a receive is used up.
    Data(Operation, Part),
    /// These data are to be read; they may have been read before.
    Read(Part),
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets that had come before.
    pub duplicates: u64,
    /// Packets that came before one that was missing.
    pub early: u64,
    /// Packets for which nothing was posted to receive them.
    pub not_ready: u64,
    /// Acknowledgements, without negative ones.
    pub acks: u64,
}

/// An answer that is not sent.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// The rest of the data of a READ, whose first part is the packet with this count.
    Data(u64, Part),
    /// Something short.
    Short(u64, Says),
}

impl Answer {
    fn count(&self) -> u64 {
        match *self {
            Self::Data(count, _) | Self::Short(count, _) => count,
        }
    }
}

/// The responder of a queue pair.
#[derive(Debug)]
pub struct Responder {
    mtu: PathMtu,
    /// The packet that has to come next.
    expected: u64,
    /// Number of posted receives not used up.
    receives: u64,
    /// Whether a NAK for the missing packet has been sent.
    missed: bool,
    answers: VecDeque<Answer>,
    counts: Counts,
}

impl Responder {
    /// A connection on which nothing has come; its first packet has this number.
    #[must_use]
    pub fn new(mtu: PathMtu, first: u32) -> Self {
        let counts = Counts::default();
        Self { mtu, expected: first.into(), receives: 0, missed: false, answers: VecDeque::new(), counts }
    }
    /// Posts receives.
    pub fn post(&mut self, receives: u64) {
        self.receives += receives;
    }
    /// Counters.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
    /// A packet has come.
    pub fn receive(&mut self, request: Request) -> Taken {
        let count = request.psn.near(self.expected);
        if count > self.expected {
            self.counts.early += 1;
            if !std::mem::replace(&mut self.missed, true) {
                self.answer(self.expected, Says::OutOfSequence);
            }
            return Taken::Nothing;
        }
        if count < self.expected {
            self.counts.duplicates += 1;
            return self.again(count, &request);
        }
        let Request { operation, part, ack, .. } = request;
        let uses_receive = matches!(operation, Operation::Send { .. }) && part.offset == 0;
        if uses_receive && self.receives == 0 {
            self.counts.not_ready += 1;
            self.answer(count, Says::NotReady);
            return Taken::Nothing;
        }
        self.receives -= u64::from(uses_receive);
        self.missed = false;
        if operation == Operation::Read {
            self.expected += u64::from(packets(part.bytes, self.mtu));
            self.answers.push_back(Answer::Data(count, part));
            return Taken::Read(part);
        }
        self.expected += 1;
        if ack {
            self.acknowledge();
        }
        Taken::Data(operation, part)
    }
    /// A packet has come again.
    fn again(&mut self, count: u64, request: &Request) -> Taken {
        if request.operation != Operation::Read {
            self.acknowledge();
            return Taken::Nothing;
        }
        // the requester has gone back to it, and will repeat everything after it
        while self.answers.back().is_some_and(|answer| answer.count() >= count) {
            self.answers.pop_back();
        }
        if let Some(Answer::Data(first, part)) = self.answers.back_mut() {
            // a repeated request may be for the rest of an earlier one
            let kept = (count - *first) * u64::from(self.mtu.bytes());
            part.last &= kept >= u64::from(part.bytes);
            part.bytes = u64::from(part.bytes).min(kept) as u32;
        }
        self.answers.push_back(Answer::Data(count, request.part));
        Taken::Read(request.part)
    }
    /// Acknowledges everything received; an acknowledgement that has not been sent yet covers all earlier ones.
    fn acknowledge(&mut self) {
        if let Some(Answer::Short(_, Says::Ack)) = self.answers.back() {
            self.answers.pop_back();
        }
        self.answer(self.expected - 1, Says::Ack);
    }
    fn answer(&mut self, count: u64, says: Says) {
        self.answers.push_back(Answer::Short(count, says));
    }
    /// The next answer, which may be data that have to be read first.
    #[must_use]
    pub fn look(&self) -> Option<Response> {
        let response = |count, says| Response { psn: Psn::of(count), says };
        Some(match *self.answers.front()? {
            Answer::Short(count, says) => response(count, says),
            Answer::Data(count, part) => {
                let bytes = part.bytes.min(self.mtu.bytes());
                let last = part.last && bytes == part.bytes;
                response(count, Says::Data(Part { bytes, last, ..part }))
            }
        })
    }
    /// Sends the next answer.
    pub fn send(&mut self) -> Option<Response> {
        let response = self.look()?;
        self.counts.acks += u64::from(response.says == Says::Ack);
        match (self.answers.front_mut(), response.says) {
            (Some(Answer::Data(count, rest)), Says::Data(part)) if rest.bytes > part.bytes => {
                *count += 1;
                rest.offset += part.bytes;
                rest.bytes -= part.bytes;
            }
            _ => drop(self.answers.pop_front()),
        }
        Some(response)
    }
    /// Number of answers to send.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.answers.len()
    }
}
