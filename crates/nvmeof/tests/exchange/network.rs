//! Connections of the rig, and what goes by them.

use lanetwin_nvme::spec::{Cid, Command, CompletionEntry};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::tcp::Stream;
use std::collections::VecDeque;

/// xorshift64*: enough to shuffle.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % bound
    }
}

/// What goes by an RDMA connection.
pub enum Packet {
    Request(Vec<u8>),
    Accept(Vec<u8>),
    Reject(Vec<u8>),
    Capsule(Command, Data),
    Response(CompletionEntry, Option<u32>),
    Write { address: u64, key: u32, data: Data },
    Read { operation: u32, address: u64, key: u32, bytes: u32 },
    ReadResponse { operation: u32, data: Data },
}

/// A connection, both ways.
#[derive(Default)]
pub struct Wire {
    pub stream_to_target: Stream,
    pub stream_to_host: Stream,
    pub to_target: VecDeque<Packet>,
    pub to_host: VecDeque<Packet>,
    /// Completions at the host's adapter: SENDs, then local invalidations.
    pub sent: VecDeque<Cid>,
    pub invalidated: VecDeque<u32>,
    /// The target has closed it, and sends nothing more.
    pub closed: bool,
}

/// What was carried, for arithmetic.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Carried {
    pub tcp_to_target: u64,
    pub tcp_to_host: u64,
    pub sends: u64,
    pub responses: u64,
    pub responses_with_invalidate: u64,
    pub reads: u64,
    pub writes: u64,
    pub registrations: u64,
    pub invalidations: u64,
}

impl Wire {
    pub fn has(&self, kind: u64) -> bool {
        match kind {
            0 => !self.stream_to_target.is_empty() || !self.to_target.is_empty(),
            1 => !self.stream_to_host.is_empty() || !self.to_host.is_empty(),
            2 => !self.sent.is_empty(),
            _ => !self.invalidated.is_empty(),
        }
    }
    pub fn is_busy(&self) -> bool {
        (0..4).any(|kind| self.has(kind))
    }
}
