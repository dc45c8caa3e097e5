//! Both directions of one end of a connection.

use super::congestion::Algorithm;
use super::receiver::Receiver;
use super::segment::{Segment, Seq};
use super::sender::Sender;

/// Parameters of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most payload of a segment \[B\].
    pub segment: u32,
    /// The most that an adapter cuts or joins \[B\]; not more than a segment without offload.
    pub offload: u32,
    /// Room for data that the program has not taken \[B\], at both ends.
    pub buffer: u32,
    /// Congestion control algorithm.
    pub algorithm: Algorithm,
}

/// One end of a connection that is set up. Times are in ps.
///
/// ```
/// use lanetwin_fabric::tcp::logic::congestion::Algorithm;
/// use lanetwin_fabric::tcp::logic::connection::{Connection, Limits};
///
/// let limits = Limits { segment: 1448, offload: 65_536, buffer: 1 << 20, algorithm: Algorithm::Cubic };
/// let (mut host, mut target) = (Connection::new(limits, 0), Connection::new(limits, 0));
/// host.offer(0, 3000);
/// let segment = host.send(0).expect("3000 B go as one");
/// assert_eq!(segment.bytes, 3000);
/// target.receive(1_000_000, &segment);
/// assert_eq!(target.available(), 3000);
/// let answer = target.send(1_000_000).expect("two segments are acknowledged at once");
/// host.receive(2_000_000, &answer);
/// assert_eq!(host.outstanding(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

impl Connection {
    /// One end; both streams begin with this byte.
    #[must_use]
    pub fn new(limits: Limits, first: u64) -> Self {
        let Limits { segment, offload, buffer, algorithm } = limits;
        let sender = Sender::new((segment, offload), algorithm, (first, buffer));
        let receiver = Receiver::new((segment, buffer), sender.congestion().echoes_each(), first);
        Self { sender, receiver }
    }
    /// Adds this many bytes to send.
    pub fn offer(&mut self, now: u64, bytes: u64) {
        self.sender.offer(now, bytes);
    }
    /// The same for a message, after which a new segment begins.
    pub fn offer_message(&mut self, now: u64, bytes: u64) {
        self.sender.offer_message(now, bytes);
    }
    /// Bytes offered that have not been acknowledged \[B\].
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.sender.outstanding()
    }
    /// Bytes received in order that have not been taken \[B\].
    #[must_use]
    pub const fn available(&self) -> u64 {
        self.receiver.available()
    }
    /// Takes this many received bytes.
    ///
    /// # Panics
    /// If fewer have been received.
    pub fn take(&mut self, bytes: u64) {
        self.receiver.take(bytes);
    }
    /// A segment has come.
    pub fn receive(&mut self, now: u64, segment: &Segment) {
        self.sender.receive(now, segment);
        if segment.bytes > 0 {
            self.receiver.receive(now, segment);
        }
    }
    /// The next segment that can be sent now: data with an acknowledgement, or that alone if it is due.
    pub fn send(&mut self, now: u64) -> Option<Segment> {
        let chunk = self.sender.send(now);
        let is_due = self.receiver.deadline().is_some_and(|at| at <= now);
        if chunk.is_none() && !is_due {
            return None;
        }
        let said = self.receiver.acknowledge();
        let (from, bytes) = chunk.map_or((self.sender.next(), 0), |chunk| (chunk.from, chunk.bytes));
        Some(Segment {
            seq: Seq::of(from),
            bytes,
            ack: Seq::of(said.upto),
            window: said.window,
            sack: said.sack,
            echo: said.echo,
            reduced: chunk.is_some_and(|chunk| chunk.reduced),
            marked: false,
        })
    }
    /// Whether a segment can be sent now.
    #[must_use]
    pub fn can_send(&self, now: u64) -> bool {
        self.sender.look().is_some() || self.receiver.deadline().is_some_and(|at| at <= now)
    }
    /// When it has to be called if nothing arrives: for a delayed acknowledgement or a retransmission.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        [self.sender.deadline(), self.receiver.deadline()].into_iter().flatten().min()
    }
    /// Advances time to `now`: data that have timed out are retransmitted by the next [`send`](Self::send).
    pub fn expire(&mut self, now: u64) {
        self.sender.expire(now);
    }
    /// The direction from here.
    #[must_use]
    pub const fn sender(&self) -> &Sender {
        &self.sender
    }
    /// The direction to here.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}
