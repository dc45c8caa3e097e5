//! Time that a transfer occupies each part of the card.

use lanetwin_ports::{Operation, Params, Transfer};
use lanetwin_units::{Instant, Span};

/// The card's parameters, prepared for transfers.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) issue: Span,
    pub(super) command: Span,
    pub(super) outstanding: u64,
    pub(super) transaction: [Span; 2],
    pub(super) per_cell: [Span; 2],
    pub(super) cell: u64,
    pub(super) copy: Span,
    pub(super) per_write_tlp: Span,
    pub(super) transfer: Span,
    pub(super) done: Span,
    pub(super) tick: u64,
}

impl Rules {
    pub(super) fn new(params: &Params) -> Self {
        let time = |name| params.time(name);
        Self {
            issue: time("issue"),
            command: time("command"),
            outstanding: params.count("outstanding"),
            transaction: [time("read.transaction"), time("write.transaction")],
            per_cell: [time("read.cell"), time("write.cell")],
            cell: params.size("cell").0,
            copy: time("read.copy"),
            per_write_tlp: time("write.tlp"),
            transfer: time("transfer"),
            done: time("done"),
            tick: time("tick").as_ps(),
        }
    }
    /// Number of cells that the transfer starts.
    pub(super) fn cells(&self, transfer: &Transfer) -> u64 {
        if self.cell == 0 { 0 } else { u64::from(transfer.bytes).div_ceil(self.cell) }
    }
    /// Time that an engine is occupied by a write of `write_tlps` TLPs, or by a read.
    pub(super) fn occupancy(&self, transfer: &Transfer, write_tlps: u64) -> Span {
        let direction = transfer.operation as usize;
        let begin = self.transaction[direction] + self.per_cell[direction] * self.cells(transfer);
        match transfer.operation {
            Operation::Read => begin,
            Operation::Write => begin + self.transfer + self.per_write_tlp * write_tlps,
        }
    }
    /// Time that the copier is occupied by a read.
    pub(super) fn copying(&self, transfer: &Transfer) -> Span {
        self.transfer + self.copy * self.cells(transfer)
    }
    /// The clock tick at which `at` is noticed.
    pub(super) fn seen(&self, at: Instant) -> Instant {
        if self.tick == 0 { at } else { Instant::from_ps(at.as_ps().next_multiple_of(self.tick)) }
    }
}
