//! Captures the first TLPs on the links of a world, one by one, in the order of their starts.
//!
//! Links decide runs of equal TLPs, and not in the order of time across links. Each TLP of a run is recorded with its
//! own start. If there are more than wanted, the latest are dropped, which bounds the memory.
//!
//! Not here: the contents of their headers (`tlp_headers`) and the file format (`formats::tlps`).

use lanetwin_pcie::link::{Attach, Departures, EgressId, Train};
use lanetwin_pcie::spec::constants::TLP_FRAMING_128B130B_BYTES;
use lanetwin_ports::{Carried, Links, Tlps};
use lanetwin_units::{Instant, Ticks};
use std::cell::RefCell;
use std::rc::Rc;

/// A TLP on one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TlpOnLink {
    /// When its first symbol is on the link; for a TLP that was corrupted, the start of the attempt that succeeds.
    pub start: Ticks,
    /// The direction of a link.
    pub egress: EgressId,
    /// Number of TLPs that had started there before.
    pub number: u64,
    /// Its train, as the device sent it.
    pub tlps: Tlps,
    /// The number of the train among those of its device.
    pub sequence: u64,
    /// Its index in the train.
    pub index: u16,
    /// Size on the wire \[B\], with framing, header and LCRC.
    pub wire_bytes: u16,
    /// Size of its payload \[B\], without the padding of the last dword.
    pub payload: u16,
}

impl TlpOnLink {
    /// The start, rounded up to whole picoseconds like the times of all deliveries.
    #[must_use]
    pub fn at(&self) -> Instant {
        self.start.as_ps_ceil()
    }
    /// Size of its payload \[B\], padded to whole dwords.
    #[must_use]
    pub const fn padded(&self) -> u16 {
        self.payload.next_multiple_of(4)
    }
    /// Size of its header \[B\]: 12 or 16.
    #[must_use]
    pub const fn header_bytes(&self) -> u16 {
        self.wire_bytes - self.padded() - TLP_FRAMING_128B130B_BYTES as u16
    }
    /// The address of its first byte.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.tlps.address + u64::from(self.index) * u64::from(self.tlps.bytes)
    }
    /// Sorting key, by start; no two TLPs start together in one direction.
    const fn order(&self) -> (u64, u16) {
        (self.start.0, self.egress.0)
    }
}

/// One direction of a captured link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listened {
    /// The link's name.
    pub link: String,
    /// Component at its transmitter.
    pub from: String,
    /// Component at its receiver.
    pub to: String,
    /// The endpoint or switch at its receiver.
    pub end: Attach,
    /// Number of TLPs that have started, captured or not.
    pub started: u64,
}

/// TLPs captured since the beginning of a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// The TLPs, in the order of their starts.
    pub tlps: Vec<TlpOnLink>,
    /// Every direction of every link, by the number of its egress.
    pub directions: Vec<Listened>,
}

/// Records the departures of links.
pub(super) struct Capture {
    recorder: Rc<RefCell<Recorder>>,
    directions: Vec<Listened>,
}

impl Capture {
    /// Starts to record the first `most` TLPs of all links together.
    pub(super) fn begin(links: &mut Links, most: usize) -> Self {
        let directions: Vec<Listened> = links
            .usage()
            .into_iter()
            .enumerate()
            .map(|(e, usage)| {
                let end = links.wiring().links[e / 2].ends[1 - e % 2];
                Listened { link: usage.link, from: usage.from, to: usage.to, end, started: 0 }
            })
            .collect();
        let recorder = Rc::new(RefCell::new(Recorder::new(most.max(1), directions.len())));
        let told = Rc::clone(&recorder);
        links.set_departure_tap(Some(Box::new(move |run, train| told.borrow_mut().hear(run, train))));
        Self { recorder, directions }
    }

    /// The TLPs recorded up to now.
    pub(super) fn so_far(&self) -> Captured {
        let mut recorder = self.recorder.borrow_mut();
        recorder.keep_the_first();
        let counted = self.directions.iter().zip(&recorder.started);
        let directions = counted.map(|(of, &started)| Listened { started, ..of.clone() }).collect();
        let mut tlps = recorder.tlps.clone();
        number(&mut tlps, self.directions.len());
        Captured { tlps, directions }
    }
}

/// Numbers the TLPs of each direction in the order of their starts. Links report them in another order where several
/// inputs take turns.
fn number(tlps: &mut [TlpOnLink], directions: usize) {
    let mut numbers = vec![0; directions];
    for tlp in tlps {
        let number = &mut numbers[tlp.egress.index()];
        tlp.number = *number;
        *number += 1;
    }
}

/// The first `most` TLPs, and the number of all TLPs of each direction.
struct Recorder {
    most: usize,
    /// In any order; up to twice as many as wanted.
    tlps: Vec<TlpOnLink>,
    started: Vec<u64>,
    /// Start of the last TLP that is wanted, once there are too many.
    last: Ticks,
}

impl Recorder {
    fn new(most: usize, directions: usize) -> Self {
        Self { most, tlps: Vec::new(), started: vec![0; directions], last: Ticks(u64::MAX) }
    }

    fn hear(&mut self, run: &Departures, train: &Train<Carried>) {
        // egresses inside a switch are not links
        let Some(started) = self.started.get_mut(run.egress.index()) else { return };
        *started += u64::from(run.count);
        for n in 0..run.count {
            let start = Ticks(run.start + u64::from(n) * run.spacing);
            if start > self.last {
                break;
            }
            self.tlps.push(TlpOnLink {
                start,
                egress: run.egress,
                number: 0, // known when all before it are
                tlps: train.user.tlps,
                sequence: run.sequence,
                index: run.first + n,
                wire_bytes: train.wire_bytes,
                payload: train.payload,
            });
            if self.tlps.len() >= self.most.saturating_mul(2) {
                self.keep_the_first();
            }
        }
    }

    fn keep_the_first(&mut self) {
        self.tlps.sort_unstable_by_key(TlpOnLink::order);
        self.tlps.truncate(self.most);
        if let Some(last) = self.tlps.last().filter(|_| self.tlps.len() == self.most) {
            self.last = last.start;
        }
    }
}
