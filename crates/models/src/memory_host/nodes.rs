//! NUMA nodes: the DRAM of a socket, or the memory behind a decoder of the CXL ports.

use super::ids::FlightId;
use super::params::per_line;
use crate::dram_params;
use lanetwin_cxl::hdm::Decoder;
use lanetwin_kernel::{Report, Supply, SupplyKind};
use lanetwin_media::dram::{Counters, Done, Machine, Offer, Operation, Request};
use lanetwin_ports::Params;
use lanetwin_units::{Instant, Span, mix};
use std::collections::VecDeque;

/// Number of the bits of a line's place for its index in the node; the bits above are the node's number.
const LINE_BITS: u32 = 40;

/// The place of a line in the machine.
#[inline]
pub(super) const fn place(node: u16, line: u64) -> u64 {
    (node as u64) << LINE_BITS | line
}
/// The node of a place.
#[inline]
pub(super) const fn node_of(place: u64) -> usize {
    (place >> LINE_BITS) as usize
}
/// The address of a place in its node \[B\].
#[inline]
pub(super) const fn address_of(place: u64) -> u64 {
    (place & ((1 << LINE_BITS) - 1)) * 64
}

/// A NUMA node.
#[derive(Debug)]
pub(super) enum Node {
    /// A socket's own memory.
    Dram(Dram),
    /// The memory behind a decoder.
    Cxl(Decoder),
}

impl Node {
    /// Its size \[B\].
    pub(super) const fn size(&self) -> u64 {
        match self {
            Self::Dram(dram) => dram.size,
            Self::Cxl(decoder) => decoder.size(),
        }
    }
}

/// The DRAM of a socket.
#[derive(Debug)]
pub(super) struct Dram {
    pub(super) size: u64,
    /// `None` if it only has a latency and a bandwidth.
    pub(super) machine: Option<Box<Machine>>,
    pub(super) spread: Spread,
    pub(super) latency: Span,
    /// Time that a line occupies it.
    line: Span,
    free: Instant,
    /// Number of lines that have occupied it.
    lines: u64,
    /// When the machine has to be polled next.
    pub(super) due: Instant,
}

impl Dram {
    /// The DRAM described by the parameters.
    ///
    /// # Panics
    /// If it is not valid: its mistakes are reported earlier.
    pub(super) fn new(params: &Params) -> Self {
        let size = params.size("dram.size");
        let timed = params.choice("dram") == "timed";
        let config = dram_params::config(params, size);
        let machine = || Machine::new(&config).unwrap_or_else(|wrong| panic!("{}", wrong[0]));
        Self {
            size: size.0,
            machine: timed.then(|| Box::new(machine())),
            spread: Spread::over(params.size("dram.interleave").0, size.0),
            latency: params.time("dram.latency"),
            line: per_line(params.rate("dram.bandwidth")),
            free: Instant::ZERO,
            lines: 0,
            due: Instant::NEVER,
        }
    }
    /// Asks for a line, now; when it is there, if that is known at once.
    #[inline]
    pub(super) fn ask(&mut self, now: Instant, token: u32, write: bool, address: u64) -> Option<Instant> {
        let Some(machine) = &mut self.machine else {
            let start = now.max(self.free);
            self.free = start + self.line;
            self.lines += 1;
            return Some(start + self.latency);
        };
        let operation = if write { Operation::Write } else { Operation::Read };
        let offer = machine.offer(now, Request { token, operation, address: self.spread.place(address) });
        assert_eq!(
            offer,
            Offer::Accepted,
            "the queue before the controllers has no end, and frames lie in the memory"
        );
        self.due = machine.next().unwrap_or(Instant::NEVER);
        None
    }
    /// Takes the answers of the machine, some of which are delayed.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        if let Some(machine) = &mut self.machine {
            machine.advance(now, done);
            self.due = machine.next().unwrap_or(Instant::NEVER);
        }
    }
    /// Reports the use of its buses up to `now`, the present; without controllers, for how long lines have occupied it.
    fn report(&self, name: &str, now: Instant, report: &mut Report) {
        if let Some(machine) = &self.machine {
            return dram_params::report_buses(name, machine, now, report);
        }
        // from now until it is free it is occupied without a break
        let ahead = self.free.max(now).since(now);
        let in_use_ps = u128::from(self.lines) * u128::from(self.line.as_ps()) - u128::from(ahead.as_ps());
        report.supply(name, Supply { in_use_ps, supply: 1, kind: SupplyKind::Server });
    }
    /// Counters of the machine so far.
    pub(super) fn counters(&self) -> Option<Counters> {
        self.machine.as_ref().map(|machine| machine.counters())
    }
}

/// Placement of a line in the controllers of a socket: among its neighbours, at a position given by a hash of the
/// bits above. Address decoders of servers hash channels with upper bits for the same reason: if the channels of all
/// pages were in the same order, streaming threads would fall into step and use the same few channels at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// The bits that are changed: of sixteen pieces that an interleave leaves together, which one it is.
    mask: u64,
    /// Bits above them.
    above: u32,
    /// End of the last complete group of sixteen: the rest of the memory is not hashed.
    end: u64,
}

impl Spread {
    /// The least piece that is moved: places in a page of 4 KiB are changed only, unless an interleave leaves more
    /// together.
    const PIECE: u64 = 256;

    const fn over(interleave: u64, size: u64) -> Self {
        let piece = if interleave > Self::PIECE { interleave } else { Self::PIECE };
        let above = piece.ilog2() + 4;
        Self { mask: (1 << above) - (1 << (above - 4)), above, end: size >> above << above }
    }
    #[inline]
    pub(super) const fn place(self, address: u64) -> u64 {
        if address >= self.end {
            return address;
        }
        address ^ mix(address >> self.above) & self.mask
    }
}

/// Reports the use of a host's nodes, and of the lanes between its sockets.
pub(super) fn tell_supplies(nodes: &[Node], lanes: &[Lane; 2], now: Instant, report: &mut Report) {
    let local = || {
        nodes.iter().enumerate().filter_map(|(socket, node)| match node {
            Node::Dram(dram) => Some((socket, dram)),
            Node::Cxl(_) => None,
        })
    };
    let several = local().count() > 1;
    // without controllers there are no queues, and it is nothing
    dram_params::report_queue(&local().filter_map(|(_, dram)| dram.counters()).sum(), report);
    for (socket, dram) in local() {
        let name = if several { format!("DRAM of socket {socket}") } else { "DRAM".to_owned() };
        dram.report(&name, now, report);
    }
    for (from, lane) in lanes.iter().enumerate().filter(|_| several) {
        report.supply(format!("lines from socket {from} to socket {}", 1 - from), lane.used());
    }
}

/// A CXL port of the host.
#[derive(Debug)]
pub(super) struct CxlPort {
    pub(super) socket: u32,
    /// Number of further lines that it can track.
    pub(super) free: u32,
    /// Flights that wait for a tracker entry, each with its address there.
    pub(super) waiting: VecDeque<(FlightId, u64)>,
}

/// The lane from one socket to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    line: Span,
    free: Instant,
    /// Number of lines known to have passed.
    passed: u64,
}

impl Lane {
    /// A lane that a line occupies for so long.
    pub(super) const fn new(line: Span) -> Self {
        Self { line, free: Instant::ZERO, passed: 0 }
    }
    /// Notes that a line has arrived on the other side. Writes may be handed in before their time, so that only now
    /// is it certain that the lane worked for it.
    pub(super) const fn has_passed(&mut self) {
        self.passed += 1;
    }
    /// For how long it has worked.
    pub(super) fn used(&self) -> Supply {
        let in_use_ps = u128::from(self.passed) * u128::from(self.line.as_ps());
        Supply { in_use_ps, supply: 1, kind: SupplyKind::Server }
    }
    /// When a line that arrives at `at` has passed.
    pub(super) fn pass(&mut self, at: Instant) -> Instant {
        self.free = self.free.max(at) + self.line;
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Lines stay in the memory, in their piece, and no two of them meet.
        #[test]
        fn pieces_change_places_within_their_group(interleave in 6..15_u32, size in (1_u64 << 13)..(1 << 22), a in any::<u64>(), b in any::<u64>()) {
            let size = size / 4096 * 4096;
            let spread = Spread::over(1 << interleave, size);
            let piece = 1_u64 << interleave.max(8);
            let (a, b) = (a % size, b % size);
            prop_assert!(spread.place(a) < size);
            prop_assert_eq!(spread.place(a) % piece, a % piece);
            prop_assert_eq!(spread.place(a) / (16 * piece), a / (16 * piece));
            prop_assert_eq!(spread.place(spread.place(a)), a);
            prop_assert_eq!(spread.place(a) == spread.place(b), a == b);
        }
    }
}
