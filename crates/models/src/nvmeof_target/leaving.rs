//! Disconnections by hosts on purpose: a target's reaction when a connection is ended.
//!
//! ```text
//!  DREQ ─► core ─► queue pair: error ─► what waits is flushed, what the drive does ends unheard ─► DREP, timewait
//!  DREQ, once more ─► DREP, once more
//!  FIN  ─► worker ─► what waits is dropped                                                         ─► FIN
//! ```
//!
//! As in Linux: the target answers by ending its side (`drivers/nvme/target/rdma.c`, `__nvmet_rdma_queue_disconnect`;
//! `drivers/infiniband/core/cma.c`, `rdma_disconnect`), and frees the connection's resources when the drive has
//! answered all its requests (`nvmet_sq_destroy`). A repeated disconnect request is answered from timewait, and so is
//! one for an unknown connection (`drivers/infiniband/core/cm.c`, `cm_dreq_handler`), so that the duration of
//! timewait has no effect here: queue pair numbers are not reused.

use super::connection::{Step, receive};
use super::{CPU, NvmeofTarget};
use crate::fabric_control::Control;
use crate::fabric_software::doorbell_bytes;
use lanetwin_kernel::{Metric, Report};
use lanetwin_ports::{Context, DESTROYED, Message, WorkCompletion};
use lanetwin_units::Better;

const ENDED: Metric =
    Metric::new("connections ended by hosts", "", Better::Higher).if_any("connections ended by hosts");
const HELD: Metric = Metric::new("connections held", "", Better::Lower).if_any("connections ended by hosts");
const REPEATED: Metric = Metric::new("disconnect requests answered again", "", Better::Lower)
    .if_any("disconnect requests sent again");

impl NvmeofTarget {
    /// The adapter has a datagram for a connection manager, if this handle is one's.
    pub(super) fn hear_manager(&mut self, handle: u32, cx: &mut Context<'_>) -> bool {
        let Some(&place) = self.managers.get(&handle) else { return false };
        self.connections[place].core().serve(cx.now(), self.costs.notice);
        self.later(cx.now() + self.costs.notice, place, Step::Manager, cx);
        true
    }
    pub(super) fn look_at_manager(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(pair) = self.connections[place].manager() else { return };
        while let Some(completion) = self.rdma.poll(pair) {
            let WorkCompletion::Received { id, content, .. } = completion else { continue };
            self.rdma.post_receive(pair, receive(id));
            match content.and_then(|bytes| Control::of(&bytes)) {
                Some(Control::Disconnect(of)) => self.disconnect(place, of, cx),
                _ => self.counts.unexpected += 1,
            }
        }
    }
    /// Handles a disconnect request of a host.
    fn disconnect(&mut self, place: usize, of: u32, cx: &mut Context<'_>) {
        let own = &self.connections[place];
        if own.handle() == of && !own.has_left() {
            self.end(place);
            if let Some(to) = self.adapter {
                let bytes = doorbell_bytes(false);
                cx.send_at(CPU, cx.now(), Message::Mmio { to, bytes, handle: of, address: DESTROYED });
            }
        } else {
            self.counts.repeated += 1;
        }
        let core = self.connections[place].core();
        let at = core.serve(cx.now(), self.costs.respond) + self.costs.respond;
        self.later(at, place, Step::Disconnected(of), cx);
    }
    /// Frees the resources of a connection, except those that the drive is using.
    fn end(&mut self, place: usize) {
        let own = &mut self.connections[place];
        own.leave();
        self.counts.ended += 1;
        if let Some(target) = &mut self.target {
            // transfers that it waits for have failed with the connection
            target.lost(self.connections[place].id(), &mut Vec::new());
        }
    }
    /// The connection has ended.
    pub(super) fn tell_manager(&self, place: usize, of: u32, cx: &mut Context<'_>) {
        let (Some(pair), Some(to)) = (self.connections[place].manager(), self.adapter) else { return };
        let address = self.rdma.post_send(pair, Control::Disconnected(of).work());
        let bytes = doorbell_bytes(self.costs.polled);
        cx.send_at(CPU, cx.now(), Message::Mmio { to, bytes, handle: pair.0.into(), address });
    }
    /// Handles the host's FIN over TCP: the target sends its own.
    pub(super) fn finish(&mut self, place: usize, cx: &mut Context<'_>) {
        if !self.connections[place].has_left() {
            self.end(place);
            self.answer(place, Control::Finish, cx);
        }
    }

    pub(super) fn report_leaving(&self, report: &mut Report) {
        let held = self.connections.iter().filter(|own| own.is_held()).count();
        report.count(ENDED, self.counts.ended);
        report.level(HELD, if self.counts.ended > 0 { held as f64 } else { 0.0 });
        report.count(REPEATED, self.counts.repeated);
    }
}
