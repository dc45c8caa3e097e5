//! RDMA queue pairs, as software and adapters see them.
//!
//! ```text
//!  software ── post_send ──► work ─────────┐  doorbell (Mmio)   ┌──► adapter ══ frames ══► adapter of the peer
//!           ── post_receive ─► receives ───┴──────────────────► ┘                               │
//!           ◄── poll ─── completions ◄── Signal ─── adapter                      what lies in the queue pair
//! ```
//!
//! Software and the adapter of a host hold the same [`Rdma`] and access it directly: it stands for the content of
//! queues in host memory and of packet headers. The corresponding traffic (doorbells, fetched work requests,
//! completion entries and frames) crosses links as always.
//!
//! Messages between connection managers during a run are datagrams, each a packet of its own without acknowledgement
//! or retransmission.
//!
//! Not here: connection setup, which is an exchange between software; checks of keys.

use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_kernel::Trail;
use lanetwin_units::id;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

id! {
    /// A queue pair of a network.
    QueuePairId(u16) => "qp";
}

/// A work request of software.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkRequest {
    /// The asker's name for it.
    pub id: u32,
    /// Operation.
    pub operation: Operation,
    /// Number of bytes.
    pub bytes: u32,
    /// Local address of the data, in the memory of the requester's host.
    pub local: u64,
    /// Remote address of the data, in the memory of the peer's host; not used for a SEND.
    pub remote: u64,
    /// Whether its completion is reported.
    pub signalled: bool,
    /// Whether the data are inline in the work request, so that the adapter need not fetch them.
    pub inline: bool,
    /// Number of pages registered by a work request posted together with it.
    pub registers: u32,
    /// The bytes of a SEND, where they mean something.
    pub content: Option<Rc<[u8]>>,
}

/// Room for a SEND of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receive {
    /// The asker's name for it.
    pub id: u32,
    /// Address for its data.
    pub address: u64,
}

/// A completion for software.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorkCompletion {
    /// This is done.
    Done {
        /// The asker's name for it.
        id: u32,
    },
    /// A SEND has come.
    Received {
        /// The asker's name for the receive.
        id: u32,
        /// Number of bytes.
        bytes: u32,
        /// Whether it has invalidated a key.
        invalidated: bool,
        /// The bytes, where they mean something.
        content: Option<Rc<[u8]>>,
    },
    /// A WRITE of the peer is in memory that software watches ([`Rdma::watch`]).
    Written {
        /// Number of bytes.
        bytes: u32,
    },
    /// The connection is lost, and with it all work that was not done.
    Lost,
}

/// Work that an adapter has taken on and not finished.
#[derive(Clone, Debug)]
pub struct UnderWay {
    /// The work request.
    pub work: WorkRequest,
    /// Its first packet, by count.
    pub first: u64,
    /// Trail of its request.
    pub trail: Trail,
}

/// A message in progress, as both sides see it, without its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Operation.
    pub operation: Operation,
    /// Number of bytes.
    pub bytes: u32,
    /// Local address of the data, in the memory of the requester's host.
    pub local: u64,
    /// Remote address of the data, in the memory of the peer's host.
    pub remote: u64,
    /// Whether the data are inline in the work request.
    pub inline: bool,
    /// Its first packet, by count.
    pub first: u64,
    /// Trail of its request.
    pub trail: Trail,
}

impl Sent {
    const fn of(UnderWay { work, first, trail }: &UnderWay) -> Self {
        let WorkRequest { operation, bytes, local, remote, inline, .. } = *work;
        Self { operation, bytes, local, remote, inline, first: *first, trail: *trail }
    }
}

struct QueuePair {
    station: Station,
    peer: QueuePairId,
    mtu: PathMtu,
    /// Whether its software is in the adapter.
    inside: bool,
    /// Whether its first message makes the connection, and so is not retransmitted by the transport.
    opening: bool,
    /// Whether its messages are datagrams.
    datagrams: bool,
    /// Whether its software watches the memory that the peer writes.
    watched: bool,
    work: VecDeque<WorkRequest>,
    posted: u64,
    taken: u64,
    receives: VecDeque<Receive>,
    received: u64,
    under_way: Begun,
    completions: VecDeque<WorkCompletion>,
}

/// Messages that have begun, by their names, which count on: they end nearly in the order of beginning.
#[derive(Default)]
struct Begun {
    /// The name of the first.
    first: u32,
    messages: VecDeque<Option<UnderWay>>,
}

impl Begun {
    /// Begins with the message of this name, which is that of the one before and one more.
    fn put(&mut self, name: u32, message: UnderWay) {
        if self.messages.is_empty() {
            self.first = name;
        }
        debug_assert_eq!(self.place(name), self.messages.len(), "names of messages count on");
        self.messages.push_back(Some(message));
    }
    const fn place(&self, name: u32) -> usize {
        name.wrapping_sub(self.first) as usize
    }
    fn get(&self, name: u32) -> Option<&UnderWay> {
        self.messages.get(self.place(name))?.as_ref()
    }
    fn take(&mut self, name: u32) -> Option<UnderWay> {
        let place = self.place(name);
        let taken = self.messages.get_mut(place)?.take();
        while self.messages.front().is_some_and(Option::is_none) {
            self.messages.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        taken
    }
}

/// Doorbell value for a destroyed queue pair: nothing is sent for it, and received packets are dropped.
pub const DESTROYED: u64 = u64::MAX;

/// All queue pairs of a network. Clones are the same.
#[derive(Clone, Default)]
pub struct Rdma(Rc<RefCell<Vec<QueuePair>>>);

impl std::fmt::Debug for Rdma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} queue pairs", self.0.borrow().len())
    }
}

impl Rdma {
    /// Connects two stations: a queue pair of each, in this order. Packets carry as much as both take in.
    ///
    /// # Panics
    /// If a network has more than 65536 queue pairs.
    #[must_use]
    pub fn connect(&self, ends: [Station; 2], mtu: PathMtu) -> [QueuePairId; 2] {
        let mut pairs = self.0.borrow_mut();
        let first = u16::try_from(pairs.len() + 1).expect("a network has at most 65536 queue pairs") - 1;
        let ids = [QueuePairId(first), QueuePairId(first + 1)];
        for (station, peer) in ends.into_iter().zip([ids[1], ids[0]]) {
            pairs.push(QueuePair {
                station,
                peer,
                mtu,
                inside: false,
                opening: false,
                datagrams: false,
                watched: false,
                work: VecDeque::new(),
                posted: 0,
                taken: 0,
                receives: VecDeque::new(),
                received: 0,
                under_way: Begun::default(),
                completions: VecDeque::new(),
            });
        }
        ids
    }
    /// Notes that the software of a queue pair runs in its adapter: neither work requests nor completions are in host
    /// memory. Must be called before the run starts.
    pub fn keep_inside(&self, of: QueuePairId) {
        self.with(of, |pair| pair.inside = true);
    }
    /// Whether its software runs in its adapter.
    #[must_use]
    pub fn is_inside(&self, of: QueuePairId) -> bool {
        self.with(of, |pair| pair.inside).unwrap_or(false)
    }
    /// Connects the stations of a queue pair and its peer once more, in this order. The first message of each stands
    /// for a datagram of the connection manager.
    #[must_use]
    pub fn connect_again(&self, of: QueuePairId) -> Option<[QueuePairId; 2]> {
        let (station, peer, peer_station, mtu) = self.ends(of)?;
        let new = self.connect([station, peer_station], mtu);
        for (old, new) in [of, peer].into_iter().zip(new) {
            let inside = self.is_inside(old);
            self.with(new, |pair| (pair.inside, pair.opening) = (inside, true));
        }
        Some(new)
    }
    /// Whether its first message stands for a datagram.
    #[must_use]
    pub fn is_opening(&self, of: QueuePairId) -> bool {
        self.with(of, |pair| pair.opening).unwrap_or(false)
    }
    /// Makes a queue pair for datagrams at each of the stations of a queue pair and its peer, in this order: for the
    /// messages of both hosts' connection managers about that connection.
    #[must_use]
    pub fn connect_managers(&self, of: QueuePairId) -> Option<[QueuePairId; 2]> {
        let (station, peer, peer_station, mtu) = self.ends(of)?;
        let new = self.connect([station, peer_station], mtu);
        for (connection, new) in [of, peer].into_iter().zip(new) {
            let inside = self.is_inside(connection);
            self.with(new, |pair| (pair.inside, pair.datagrams) = (inside, true));
        }
        Some(new)
    }
    /// Whether its messages are datagrams: one packet each, which may be lost.
    #[must_use]
    pub fn is_for_datagrams(&self, of: QueuePairId) -> bool {
        self.with(of, |pair| pair.datagrams).unwrap_or(false)
    }
    /// Notes that the software of a queue pair watches the memory that its peer writes: it sees each WRITE as soon as
    /// the last of it is there, without a completion entry. Must be called before the run starts.
    pub fn watch(&self, of: QueuePairId) {
        self.with(of, |pair| pair.watched = true);
    }
    /// Whether its software watches that memory.
    #[must_use]
    pub fn is_watched(&self, of: QueuePairId) -> bool {
        self.with(of, |pair| pair.watched).unwrap_or(false)
    }
    fn with<R>(&self, of: QueuePairId, act: impl FnOnce(&mut QueuePair) -> R) -> Option<R> {
        self.0.borrow_mut().get_mut(of.index()).map(act)
    }
    /// Posts a work request. Returns the number posted so far, which is the value of the doorbell.
    pub fn post_send(&self, of: QueuePairId, work: WorkRequest) -> u64 {
        let post = |pair: &mut QueuePair| {
            pair.work.push_back(work);
            pair.posted += 1;
            pair.posted
        };
        self.with(of, post).unwrap_or(0)
    }
    /// Posts a receive for a SEND of the peer. The adapter sees it at once, by a record in memory.
    pub fn post_receive(&self, of: QueuePairId, receive: Receive) {
        self.with(of, |pair| {
            pair.receives.push_back(receive);
            pair.received += 1;
        });
    }
    /// Takes the next completion, if there is one.
    #[must_use]
    pub fn poll(&self, of: QueuePairId) -> Option<WorkCompletion> {
        self.with(of, |pair| pair.completions.pop_front()).flatten()
    }

    /// The station that a queue pair is at, and its peer with that one's, and the most payload of a packet.
    #[must_use]
    pub fn ends(&self, of: QueuePairId) -> Option<(Station, QueuePairId, Station, PathMtu)> {
        let pairs = self.0.borrow();
        let pair = pairs.get(of.index())?;
        Some((pair.station, pair.peer, pairs.get(pair.peer.index())?.station, pair.mtu))
    }
    /// The adapter takes the next work that was posted, of the first `posted`.
    #[must_use]
    pub fn take(&self, of: QueuePairId, posted: u64) -> Option<WorkRequest> {
        self.with(of, |pair| {
            let work = if pair.taken < posted { pair.work.pop_front() } else { None };
            pair.taken += u64::from(work.is_some());
            work
        })
        .flatten()
    }
    /// Number of receives posted so far.
    #[must_use]
    pub fn receives(&self, of: QueuePairId) -> u64 {
        self.with(of, |pair| pair.received).unwrap_or(0)
    }
    /// The adapter uses the next receive up.
    #[must_use]
    pub fn take_receive(&self, of: QueuePairId) -> Option<Receive> {
        self.with(of, |pair| pair.receives.pop_front()).flatten()
    }
    /// Notes that the adapter has begun a message, which both sides can look up from now on.
    pub fn begin(&self, of: QueuePairId, message: u32, under_way: UnderWay) {
        self.with(of, |pair| pair.under_way.put(message, under_way));
    }
    /// Looks up a message in progress.
    #[must_use]
    pub fn under_way(&self, of: QueuePairId, message: u32) -> Option<Sent> {
        self.with(of, |pair| pair.under_way.get(message).map(Sent::of)).flatten()
    }
    /// The bytes of a SEND in progress, if they have a meaning.
    #[must_use]
    pub fn content(&self, of: QueuePairId, message: u32) -> Option<Rc<[u8]>> {
        self.with(of, |pair| pair.under_way.get(message)?.work.content.clone()).flatten()
    }
    /// The adapter is done with a message.
    #[must_use]
    pub fn end(&self, of: QueuePairId, message: u32) -> Option<UnderWay> {
        self.with(of, |pair| pair.under_way.take(message)).flatten()
    }
    /// Adds a completion for software.
    pub fn complete(&self, of: QueuePairId, completion: WorkCompletion) {
        self.with(of, |pair| pair.completions.push_back(completion));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_takes_no_more_than_the_doorbell_says() {
        let rdma = Rdma::default();
        let [a, b] = rdma.connect([Station(3), Station(4)], PathMtu::B1024);
        let work = |id| WorkRequest {
            id,
            operation: Operation::Write,
            bytes: 1,
            local: 0,
            remote: 0,
            signalled: true,
            inline: false,
            registers: 0,
            content: None,
        };
        assert_eq!([1, 2].map(|id| rdma.post_send(a, work(id))), [1, 2]);
        let take = |posted| rdma.take(a, posted).map(|work| work.id);
        assert_eq!([take(1), take(1), take(2), take(2)], [Some(1), None, Some(2), None]);
        assert_eq!(rdma.ends(b), Some((Station(4), a, Station(3), PathMtu::B1024)));
        rdma.complete(b, WorkCompletion::Lost);
        assert_eq!([rdma.poll(a), rdma.poll(b), rdma.poll(b)], [None, Some(WorkCompletion::Lost), None]);
    }
}
