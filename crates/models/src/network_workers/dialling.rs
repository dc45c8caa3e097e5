//! Cores of programs, and opening and closing of their connections.

use super::conversation::{End, Name};
use super::{CORE, NetworkWorkers, SETUP};
use crate::tcp_socket::Place;
use lanetwin_kernel::Port;
use lanetwin_ports::{Context, Status};
use lanetwin_units::{Instant, Span};

impl NetworkWorkers {
    /// An end, and where its program runs.
    pub(super) fn end(&mut self, handle: u32) -> Option<(&mut End, Place<'_>)> {
        let end = self.ends.get_mut(&handle)?;
        let spec = &self.conversations[end.of].spec.ends[end.side];
        let (host, costs) = &self.hosts[spec.host];
        let cpu = Port(spec.host as u16);
        let place = Place { core: &spec.core, costs: &costs.tcp, adapter: host.adapter, cpu, waiting: CORE };
        Some((end, place))
    }
    pub(super) fn is_polled(&self, end: &End) -> bool {
        self.hosts[self.conversations[end.of].spec.ends[end.side].host].1.polled
    }

    /// The first side opens a connection, or closes it.
    pub(super) fn dial(&mut self, conversation: usize, slot: u32, open: bool, cx: &mut Context<'_>) {
        if open {
            self.connect(conversation);
        }
        self.pay((conversation, 0), cx);
        self.send((conversation, 0), Name::Dial { slot, open }, 1, cx);
    }
    /// The other side accepts a connection, or closes it, too.
    pub(super) fn answer_dial(
        &mut self,
        (of, side): (usize, usize),
        (slot, open): (u32, bool),
        cx: &mut Context<'_>,
    ) {
        self.pay((of, side), cx);
        self.send((of, side), Name::Dialled { slot, open }, 1, cx);
    }
    /// A connection is open, or closed.
    pub(super) fn dialled(
        &mut self,
        (of, slot, open): (usize, u32, bool),
        at: Instant,
        cx: &mut Context<'_>,
    ) {
        self.counts.connections += u64::from(!open);
        if !open {
            for handle in self.conversations[of].handles.take().into_iter().flatten() {
                if let Some(end) = self.ends.get_mut(&handle) {
                    end.closed = true;
                }
            }
        }
        self.answer(slot, at, Status::Ok, cx);
    }
    /// Charges an end half of the cost of opening and closing a connection.
    fn pay(&self, (of, side): (usize, usize), cx: &mut Context<'_>) {
        let cost = Span::from_ps(self.test.opening.as_ps() / 2);
        let begun = self.conversations[of].spec.ends[side].core.serve(cx.now(), cost);
        cx.mark_until(begun, CORE);
        cx.mark_until(begun + cost, SETUP);
    }

    /// Forgets an end that is closed, when all that it has sent is acknowledged.
    pub(super) fn retire(&mut self, handle: u32) {
        let is_over = |end: &&End| end.closed && end.socket.offered().1 == 0 && !end.socket.owes();
        if self.ends.get(&handle).filter(is_over).is_some()
            && let Some(end) = self.ends.remove(&handle)
        {
            self.counts.tcp.add(end.socket.counts());
        }
    }
}
