//! TCP connections, as software and adapters see them.
//!
//! ```text
//!  software ── post ──► segments ──┐  doorbell (Mmio)   ┌──► adapter cuts ══ frames ══► adapter joins ── deliver ──┐
//!           ◄── poll ── segments ◄─┴──────── Signal ─── ┴────────────────────────────── of the peer ◄──────────────┘
//! ```
//!
//! Software has the state of a connection ([`lanetwin_fabric::tcp::logic`]) and hands the adapter segments of up to
//! 64 KiB; the adapter cuts them into frames (TSO), and joins consecutive received frames (GRO). Both hold the same
//! [`Sockets`] and access it directly: it stands for the content of descriptor rings in host memory and of frame
//! headers. The corresponding traffic crosses links as always.
//!
//! Not here: connection setup, which takes no time.

use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_fabric::tcp::logic::segment::Segment;
use lanetwin_units::{Span, id};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

id! {
    /// One end of a connection of TCP.
    SocketId(u16) => "socket";
}

/// Handles of sockets on the link begin here; below are queue pairs.
const SOCKETS: u32 = 1 << 16;

/// The handle of a socket in doorbells and signals.
#[must_use]
pub const fn socket_handle(of: SocketId) -> u32 {
    SOCKETS | of.0 as u32
}

/// The socket of a doorbell or a signal. Returns `None` if it belongs to a queue pair.
#[must_use]
pub const fn socket_of(handle: u32) -> Option<SocketId> {
    if handle >> 16 == 1 { Some(SocketId(handle as u16)) } else { None }
}

/// Number of a connection's segments whose headers are kept for frames in flight; older ones are forgotten.
const KEPT: usize = 1 << 14;

/// The two ends of a socket, and how its stream is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketEnds {
    /// The station that it is at.
    pub station: Station,
    /// The other end of the connection.
    pub peer: SocketId,
    /// The station of that.
    pub peer_station: Station,
    /// The most payload of a frame \[B\] (MSS without options).
    pub segment: u32,
}

struct Socket {
    station: Station,
    peer: SocketId,
    segment: u32,
    work: VecDeque<Segment>,
    posted: u64,
    taken: u64,
    /// The headers of segments that were cut; the first has the name `first`.
    headers: VecDeque<Segment>,
    first: u32,
    arrived: VecDeque<Segment>,
    /// Frames of these, and when the adapter interrupts for them: so long after the last, or for so many.
    waiting: u32,
    moderation: (Span, u32),
}

/// All connections of TCP of a network. Clones are the same.
#[derive(Clone, Default)]
pub struct Sockets(Rc<RefCell<Vec<Socket>>>);

impl std::fmt::Debug for Sockets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} sockets", self.0.borrow().len())
    }
}

impl Sockets {
    /// Connects two stations: a socket of each, in this order, with frames of up to `segment` bytes of payload.
    ///
    /// # Panics
    /// If a network has more than 65536 sockets.
    #[must_use]
    pub fn connect(&self, ends: [Station; 2], segment: u32) -> [SocketId; 2] {
        let mut sockets = self.0.borrow_mut();
        let first = u16::try_from(sockets.len() + 1).expect("a network has at most 65536 sockets") - 1;
        let ids = [SocketId(first), SocketId(first + 1)];
        for (station, peer) in ends.into_iter().zip([ids[1], ids[0]]) {
            sockets.push(Socket {
                station,
                peer,
                segment,
                work: VecDeque::new(),
                posted: 0,
                taken: 0,
                headers: VecDeque::new(),
                first: 0,
                arrived: VecDeque::new(),
                waiting: 0,
                moderation: (Span::ZERO, 1),
            });
        }
        ids
    }
    fn with<R>(&self, of: SocketId, act: impl FnOnce(&mut Socket) -> R) -> Option<R> {
        self.0.borrow_mut().get_mut(of.index()).map(act)
    }
    /// The stations of a socket and of its peer.
    #[must_use]
    pub fn ends(&self, of: SocketId) -> Option<SocketEnds> {
        let sockets = self.0.borrow();
        let &Socket { station, peer, segment, .. } = sockets.get(of.index())?;
        let peer_station = sockets.get(peer.index())?.station;
        Some(SocketEnds { station, peer, peer_station, segment })
    }
    /// Posts a segment. Returns the number posted so far, which is the value of the doorbell.
    pub fn post(&self, of: SocketId, segment: Segment) -> u64 {
        let post = |socket: &mut Socket| {
            socket.work.push_back(segment);
            socket.posted += 1;
            socket.posted
        };
        self.with(of, post).unwrap_or(0)
    }
    /// The adapter takes the next segment that was posted, of the first `posted`.
    #[must_use]
    pub fn take(&self, of: SocketId, posted: u64) -> Option<Segment> {
        self.with(of, |socket| {
            let work = if socket.taken < posted { socket.work.pop_front() } else { None };
            socket.taken += u64::from(work.is_some());
            work
        })
        .flatten()
    }
    /// The adapter cuts a segment into frames: the name by which they have its header.
    pub fn cut(&self, of: SocketId, segment: Segment) -> u32 {
        let cut = |socket: &mut Socket| {
            socket.headers.push_back(segment);
            if socket.headers.len() > KEPT {
                socket.headers.pop_front();
                socket.first = socket.first.wrapping_add(1);
            }
            socket.first.wrapping_add(socket.headers.len() as u32 - 1)
        };
        self.with(of, cut).unwrap_or(0)
    }
    /// The header of a segment that was cut at this socket. Returns `None` if that is too long ago.
    #[must_use]
    pub fn header(&self, of: SocketId, name: u32) -> Option<Segment> {
        let header = |socket: &mut Socket| {
            let place = usize::try_from(name.wrapping_sub(socket.first)).ok()?;
            socket.headers.get(place).copied()
        };
        self.with(of, header).flatten()
    }
    /// Delivers a received segment to software.
    pub fn deliver(&self, to: SocketId, segment: Segment) {
        self.with(to, |socket| {
            socket.waiting += segment.bytes.div_ceil(socket.segment.max(1)).max(1);
            socket.arrived.push_back(segment);
        });
    }
    /// Sets when the adapter interrupts: `quiet` after the last segment, or as soon as so many frames wait.
    pub fn moderate(&self, at: SocketId, quiet: Span, frames: u32) {
        self.with(at, |socket| socket.moderation = (quiet, frames));
    }
    /// Time from the segment delivered now to its interrupt, if no other follows.
    #[must_use]
    pub fn moderation(&self, at: SocketId) -> Span {
        let left = |socket: &mut Socket| {
            let (quiet, frames) = socket.moderation;
            if socket.waiting < frames { quiet } else { Span::ZERO }
        };
        self.with(at, left).unwrap_or(Span::ZERO)
    }
    /// Takes the next received segment, if there is one.
    #[must_use]
    pub fn poll(&self, of: SocketId) -> Option<Segment> {
        self.with(of, |socket| {
            let next = socket.arrived.pop_front();
            socket.waiting = if socket.arrived.is_empty() { 0 } else { socket.waiting };
            next
        })
        .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_fabric::tcp::logic::segment::Seq;

    fn segment(at: u64) -> Segment {
        Segment {
            seq: Seq::of(at),
            bytes: 1,
            ack: Seq::of(0),
            window: 0,
            sack: [None; 3],
            echo: false,
            reduced: false,
            marked: false,
        }
    }

    #[test]
    fn an_adapter_takes_no_more_than_the_doorbell_says() {
        let sockets = Sockets::default();
        let [a, b] = sockets.connect([Station(3), Station(4)], 1448);
        assert_eq!([1, 2].map(|at| sockets.post(a, segment(at))), [1, 2]);
        let take = |posted| sockets.take(a, posted);
        assert_eq!([take(1), take(1), take(2), take(2)], [Some(segment(1)), None, Some(segment(2)), None]);
        let ends = SocketEnds { station: Station(4), peer: a, peer_station: Station(3), segment: 1448 };
        assert_eq!(sockets.ends(b), Some(ends));
        sockets.deliver(b, segment(7));
        assert_eq!([sockets.poll(b), sockets.poll(b)], [Some(segment(7)), None]);
        sockets.moderate(b, Span::from_us(8), 2);
        let waits = [0, 1].map(|at| {
            sockets.deliver(b, segment(at));
            sockets.moderation(b)
        });
        assert_eq!(waits, [Span::from_us(8), Span::ZERO], "the second frame is enough");
        assert!(std::iter::from_fn(|| sockets.poll(b)).count() == 2 && sockets.moderation(b) > Span::ZERO);
    }

    #[test]
    fn headers_are_known_until_many_others_were_cut() {
        let sockets = Sockets::default();
        let [a, _] = sockets.connect([Station(0), Station(1)], 1448);
        let names: Vec<_> = (0..KEPT as u64 + 2).map(|at| sockets.cut(a, segment(at))).collect();
        let known = |place: usize| sockets.header(a, names[place]);
        assert_eq!((known(1), known(2)), (None, Some(segment(2))));
        assert_eq!(known(KEPT + 1), Some(segment(KEPT as u64 + 1)));
    }
}
