//! TCP offloads of an adapter: it cuts segments into frames (TSO) and joins frames (GRO). The state of connections is
//! in software.
//!
//! ```text
//!  send:     doorbell ─► [MRd descriptor ═► CplD] ─► MRd data, frame by frame ═► CplD ─► line ═══► peer
//!  receive:  line ─► MWr frame ═► behind the last that is joined: MWr entry (signals)
//! ```
//!
//! Joined frames are delivered when the last of a segment has come (PSH), when the next does not follow, at 64 KiB,
//! or after 32 us.
//!
//! Interrupts are moderated where software takes them ([`crate::tcp_socket`]): it knows whether its core is idle.
//!
//! Not here: moderation that adapts itself to the load (adaptive-rx), several rings for one port, SACK blocks in
//! segments with data (their size is neglected).

use super::flow::{Flow, Piece};
use super::inside::{Read, RoceNic, SEND, Task, WORK};
use super::lane::Outgoing;
use lanetwin_fabric::tcp::logic::segment::Segment;
use lanetwin_ports::{Attributes, Context, SocketId, Tlps, socket_handle};
use lanetwin_units::Instant;

impl RoceNic {
    /// The socket with this name, if it is at this adapter.
    fn flow(&mut self, id: SocketId) -> Option<&mut Flow> {
        if !self.flows.contains_key(&id) {
            let ends = self.sockets.ends(id)?;
            self.site.filter(|site| site.station == Some(ends.station))?;
            let (quiet, frames) = self.rules.moderation;
            self.sockets.moderate(id, quiet, frames);
            self.flows.insert(id, Flow::new(ends));
        }
        self.flows.get_mut(&id)
    }

    /// Software has posted segments.
    pub(super) fn ring_socket(&mut self, id: SocketId, doorbell: &Tlps, cx: &mut Context<'_>) {
        if self.flow(id).is_none() {
            self.counts.unexpected += 1;
            return;
        }
        let sockets = self.sockets.clone();
        let segments: Vec<_> = std::iter::from_fn(|| sockets.take(id, doorbell.address)).collect();
        let brought = u32::from(doorbell.bytes) >= self.rules.wqe_bytes && self.rules.wqe_in_doorbell;
        match segments.len() {
            0 => {}
            1 if brought => self.understand_segments(id, (segments, cx.now()), cx),
            count => {
                let (address, bytes) = (1 << 34 | u64::from(id.0) << 24, count as u32 * self.rules.wqe_bytes);
                self.read(Read::Segments(id, segments), address, bytes, cx);
            }
        }
    }

    /// Descriptors are in the adapter from `there` on, which begins with one after another.
    pub(super) fn understand_segments(
        &mut self,
        id: SocketId,
        (segments, there): (Vec<Segment>, Instant),
        cx: &mut Context<'_>,
    ) {
        for segment in segments {
            let at = self.engine_free.max(there);
            self.engine_free = at + self.rules.wqe_interval;
            self.agenda.put(at + self.rules.wqe_latency, Task::Cut(id, Box::new(segment)), cx);
        }
    }

    pub(super) fn begin_segment(&mut self, id: SocketId, segment: Segment, cx: &mut Context<'_>) {
        let sockets = self.sockets.clone();
        self.counts.messages += 1;
        cx.mark(WORK);
        let trail = cx.trail();
        if let Some(flow) = self.flow(id) {
            flow.begin(id, (segment, trail), &sockets);
            self.fill_flow(id, cx);
        }
    }

    /// Cuts frames and requests their data, as far ahead as allowed.
    pub(super) fn fill_flow(&mut self, id: SocketId, cx: &mut Context<'_>) {
        let (rules, now) = (self.rules, cx.now());
        let handled = cx.trail();
        while let Some(flow) = self.flows.get_mut(&id)
            && let Some(next) = flow.next(id, &rules)
        {
            cx.resume(next.frame.trail);
            cx.mark(SEND);
            let ready = next.data.is_none().then_some(now + rules.tx_latency);
            let number = flow.lane.put(Outgoing { ready, trail: cx.trail(), ..next.frame });
            match next.data {
                Some((address, bytes)) => self.read(Read::Piece(id, number), address, bytes, cx),
                None => self.look_at_line(now + rules.tx_latency, cx),
            }
        }
        cx.resume(handled);
    }

    /// The data of a frame are in the adapter.
    pub(super) fn piece_read(&mut self, id: SocketId, number: u64, at: Instant, cx: &mut Context<'_>) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.lane.ready(number, at, cx.trail());
        }
        self.look_at_line(at, cx);
    }

    /// The next socket in turn of those that can send.
    pub(super) fn next_flow(&self, now: Instant) -> Option<SocketId> {
        if self.flows.is_empty() || !self.is_open(self.class.priority(), now) {
            return None;
        }
        let behind = self.flows.range(self.flow_turn..).filter(|(id, _)| **id > self.flow_turn);
        let mut all = behind.chain(self.flows.range(..=self.flow_turn));
        all.find(|(_, flow)| flow.lane.can_send(now)).map(|(id, _)| *id)
    }

    /// A frame of a socket is in the adapter.
    pub(super) fn hear_piece(&mut self, piece: Piece, marked: bool, cx: &mut Context<'_>) {
        let (sockets, id, now) = (self.sockets.clone(), piece.to, cx.now());
        let arrived = self.flow(id).and_then(|flow| flow.hear((id, piece, marked), now, &sockets));
        let Some(arrived) = arrived else {
            self.counts.unexpected += 1;
            return;
        };
        if let Some((address, bytes)) = arrived.write {
            self.counts.received += u64::from(bytes);
            self.write(socket_handle(id), address, bytes, Attributes::NONE, cx);
        }
        arrived.segments.into_iter().for_each(|segment| self.hand_over(id, segment, cx));
        if let Some(at) = arrived.look {
            self.agenda.put(at, Task::Joined(id), cx);
        }
    }

    /// Checks whether a joined segment has waited for too long.
    pub(super) fn joined(&mut self, id: SocketId, cx: &mut Context<'_>) {
        let now = cx.now();
        if let Some(segment) = self.flows.get_mut(&id).and_then(|flow| flow.waited(now)) {
            self.hand_over(id, segment, cx);
        }
    }

    fn hand_over(&self, id: SocketId, segment: Segment, cx: &mut Context<'_>) {
        self.sockets.deliver(id, segment);
        let entry = (1 << 41) | u64::from(id.0) << 12;
        self.write(socket_handle(id), entry, self.rules.cqe_bytes, Attributes::SIGNAL, cx);
    }
}
