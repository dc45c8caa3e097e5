//! Queue pairs of RDMA, as software and adapters know them.
//!
//! ```text
//!  software ── post_send ──► work ─────────┐  doorbell (Mmio)   ┌──► adapter ══ frames ══► adapter of the peer
//!           ── post_receive ─► receives ───┴──────────────────► ┘                               │
//!           ◄── poll ─── completions ◄── Signal ─── adapter                      what lies in the queue pair
//! ```
//!
//! Software and the adapter of a host hold the same [`Rdma`] and ask it directly: it is what queues in host memory and
//! headers of packets say. What it costs that they lie there - doorbells, fetched work requests, completion entries,
//! the frames themselves - crosses links as always.
//!
//! What connection managers say to each other while a run goes on are datagrams, each a packet of its own that nobody
//! acknowledges or sends again.
//!
//! Not here: setting connections up, which is what software says to software; keys that are checked.

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

/// What software wants to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkRequest {
    /// The asker's name for it.
    pub id: u32,
    /// What.
    pub operation: Operation,
    /// Of how many bytes.
    pub bytes: u32,
    /// Where the data are, or go to, in the memory of the asker's host.
    pub local: u64,
    /// Where the data go to, or are, in the memory of the peer's host; of no meaning for a SEND.
    pub remote: u64,
    /// Whether the asker is told of its end.
    pub signalled: bool,
    /// Whether the data are in the work request itself, so that the adapter need not fetch them.
    pub inline: bool,
    /// How many pages of memory are registered before it, by a work request of its own that is posted with it.
    pub registers: u32,
    /// The bytes of a SEND, where they mean something.
    pub content: Option<Rc<[u8]>>,
}

/// Room for a SEND of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receive {
    /// The asker's name for it.
    pub id: u32,
    /// Where its data go to.
    pub address: u64,
}

/// What software is told.
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
        /// How many bytes.
        bytes: u32,
        /// Whether it has invalidated a key.
        invalidated: bool,
        /// The bytes, where they mean something.
        content: Option<Rc<[u8]>>,
    },
    /// The connection is lost, and with it all work that was not done.
    Lost,
}

/// Work that an adapter has taken on and not finished.
#[derive(Clone, Debug)]
pub struct UnderWay {
    /// What.
    pub work: WorkRequest,
    /// Its first packet, by count.
    pub first: u64,
    /// How far the request had come that it is of.
    pub trail: Trail,
}

/// What both sides know of a message that is under way, without its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// What.
    pub operation: Operation,
    /// Of how many bytes.
    pub bytes: u32,
    /// Where the data are, or go to, in the memory of the asker's host.
    pub local: u64,
    /// Where the data go to, or are, in the memory of the peer's host.
    pub remote: u64,
    /// Whether the data are in the work request itself.
    pub inline: bool,
    /// Its first packet, by count.
    pub first: u64,
    /// How far the request had come that it is of.
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
    /// Whether the adapter itself is its software.
    inside: bool,
    /// Whether its first message makes the connection, which no transport sends again.
    opening: bool,
    /// Whether its messages are datagrams.
    datagrams: bool,
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

/// What a doorbell says of a queue pair that is no more: nothing is sent for it, and nothing that comes is taken.
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
    /// The software of a queue pair runs in its adapter: neither work nor completions lie in the memory of a host. To
    /// be said before the run starts.
    pub fn keep_inside(&self, of: QueuePairId) {
        self.with(of, |pair| pair.inside = true);
    }
    /// Whether it does.
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
    /// A queue pair for datagrams at each of the stations of a queue pair and its peer, in this order: what the
    /// connection managers of both hosts say of that connection.
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
    /// Whether its messages are datagrams: a packet each, which may be lost.
    #[must_use]
    pub fn is_for_datagrams(&self, of: QueuePairId) -> bool {
        self.with(of, |pair| pair.datagrams).unwrap_or(false)
    }
    fn with<R>(&self, of: QueuePairId, act: impl FnOnce(&mut QueuePair) -> R) -> Option<R> {
        self.0.borrow_mut().get_mut(of.index()).map(act)
    }
    /// Software posts work; how much has been posted so far, which is what the doorbell says.
    pub fn post_send(&self, of: QueuePairId, work: WorkRequest) -> u64 {
        let post = |pair: &mut QueuePair| {
            pair.work.push_back(work);
            pair.posted += 1;
            pair.posted
        };
        self.with(of, post).unwrap_or(0)
    }
    /// Software posts room for a SEND of the peer. The adapter sees it at once: a record in memory says so.
    pub fn post_receive(&self, of: QueuePairId, receive: Receive) {
        self.with(of, |pair| {
            pair.receives.push_back(receive);
            pair.received += 1;
        });
    }
    /// Software takes what it is told next; none if there is nothing.
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
    /// How many receives have been posted so far.
    #[must_use]
    pub fn receives(&self, of: QueuePairId) -> u64 {
        self.with(of, |pair| pair.received).unwrap_or(0)
    }
    /// The adapter uses the next receive up.
    #[must_use]
    pub fn take_receive(&self, of: QueuePairId) -> Option<Receive> {
        self.with(of, |pair| pair.receives.pop_front()).flatten()
    }
    /// The adapter begins with a message: both sides know from now on what it is.
    pub fn begin(&self, of: QueuePairId, message: u32, under_way: UnderWay) {
        self.with(of, |pair| pair.under_way.put(message, under_way));
    }
    /// What a message is that is under way.
    #[must_use]
    pub fn under_way(&self, of: QueuePairId, message: u32) -> Option<Sent> {
        self.with(of, |pair| pair.under_way.get(message).map(Sent::of)).flatten()
    }
    /// The bytes of a SEND that is under way, where they mean something.
    #[must_use]
    pub fn content(&self, of: QueuePairId, message: u32) -> Option<Rc<[u8]>> {
        self.with(of, |pair| pair.under_way.get(message)?.work.content.clone()).flatten()
    }
    /// The adapter is done with a message.
    #[must_use]
    pub fn end(&self, of: QueuePairId, message: u32) -> Option<UnderWay> {
        self.with(of, |pair| pair.under_way.take(message)).flatten()
    }
    /// The adapter tells software something.
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
