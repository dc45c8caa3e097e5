//! Reconnection of paths and reports of their changes: the host software's work beside I/O.
//!
//! ```text
//!  lost ─ driver.reconnect-delay ─► Connect for each queue ─► Accept of each ─► works, as the target says that it does
//!                      ▲                     └ no answer for driver.connect-timeout ─┐
//!                      └────────────────────────────────────────────────────────────┘
//!  Event (ANA change) ─► ReadLog ─► Log ─► the path is optimized, non-optimized or inaccessible
//! ```

use super::queue::Software;
use super::{Due, NvmeofHost, Step};
use crate::fabric_control::Control;
use crate::roles::nvme::{PATH_EXPIRED, PATH_INACCESSIBLE, PATH_NON_OPTIMIZED, PATH_OPTIMIZED, PATH_WORKS};
use crate::roles::nvmeof::Access;
use lanetwin_ports::Context;

impl NvmeofHost {
    /// After the loss of a path: schedules its reconnection, and the end of waiting for it.
    pub(super) fn plan_return(&mut self, association: usize, cx: &mut Context<'_>) {
        let is_left = |queue: &usize| self.queues[*queue].leaving.is_some();
        if self.associations[association].queues.iter().any(is_left) {
            return;
        }
        let own = &self.associations[association];
        if let Some((for_, loss)) = self.costs.recovery.waited_for.zip(own.loss()) {
            self.agenda.put(cx.now() + for_, Due::Expired(association, loss), cx);
        }
        self.try_later(association, cx);
    }
    fn try_later(&mut self, association: usize, cx: &mut Context<'_>) {
        match self.associations[association].next_attempt(cx.now(), self.costs.recovery) {
            Some(at) => self.agenda.put(at, Due::Connect(association), cx),
            None => self.say_all(association, PATH_EXPIRED, cx),
        }
    }
    /// Ends the waiting for a path that has been lost for too long.
    pub(super) fn expire(&self, association: usize, loss: u32, cx: &mut Context<'_>) {
        if self.associations[association].loss() == Some(loss) {
            self.say_all(association, PATH_EXPIRED, cx);
        }
    }
    /// Says something of a path on the port of each of its queues.
    fn say_all(&self, association: usize, handle: u32, cx: &mut Context<'_>) {
        self.associations[association].queues.iter().for_each(|queue| self.say(*queue, handle, cx));
    }

    /// Asks for every connection of an association again.
    pub(super) fn connect_again(&mut self, association: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter.filter(|_| self.associations[association].try_again()) else {
            return;
        };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        for place in self.associations[association].queues.clone() {
            let queue = &mut self.queues[place];
            self.by_handle.remove(&queue.way.handle());
            queue.connect_again(software, cx);
            self.by_handle.insert(queue.way.handle(), place);
            if let Some(at) = queue.set_timer(cx.now()) {
                self.agenda.put(at, Due::Queue(place, Step::Timer), cx);
            }
        }
        if let Some(attempt) = self.associations[association].attempt() {
            self.agenda.put(cx.now() + self.costs.recovery.answer, Due::Unanswered(association, attempt), cx);
        }
    }
    /// An attempt has waited for its answer for long enough.
    pub(super) fn stop_waiting(&mut self, association: usize, attempt: (u32, u64), cx: &mut Context<'_>) {
        if self.associations[association].attempt() == Some(attempt) {
            self.fail(association, cx);
        }
    }
    fn fail(&mut self, association: usize, cx: &mut Context<'_>) {
        for place in self.associations[association].queues.clone() {
            let Some(adapter) = self.adapter else { return };
            let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
            // one of them may have been made
            let none = self.queues[place].lose(software, cx);
            debug_assert!(none.is_empty(), "nothing is asked over a path that does not work");
            self.queues[place].stop_connecting();
        }
        self.try_later(association, cx);
    }

    /// Handles a control message for a queue.
    pub(super) fn hear_beside(&mut self, (place, association): (usize, usize), cx: &mut Context<'_>) {
        for control in std::mem::take(&mut self.queues[place].told_beside) {
            match control {
                Control::Accept(access) => self.accepted((place, association), access, cx),
                Control::Event => self.read_log(place, cx),
                Control::Log(log) => {
                    if let Some(access) = Control::access(&log, self.queues[place].nsid) {
                        self.say_all(association, told(access), cx);
                    }
                }
                _ => self.unexpected += 1,
            }
        }
        if std::mem::take(&mut self.queues[place].unreached) {
            // the path is not used until the log says otherwise (`nvme_failover_req`)
            self.say_all(association, PATH_INACCESSIBLE, cx);
            self.read_log(place, cx);
        }
        if self.queues[place].failed && self.associations[association].attempt().is_some() {
            self.fail(association, cx);
        }
    }
    /// A connection is made; with the last of an association the path works.
    fn accepted(&mut self, (place, association): (usize, usize), access: Access, cx: &mut Context<'_>) {
        if !self.queues[place].connecting || !self.queues[place].connected(cx) {
            return;
        }
        let own = &mut self.associations[association];
        if own.queues.iter().all(|queue| self.queues[*queue].queue.is_live()) {
            own.work(cx.now());
            // the ANA log is read before the path is used (`nvme_mpath_init_identify`)
            self.say_all(association, told(access), cx);
            self.say_all(association, PATH_WORKS, cx);
        }
    }
    fn read_log(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        let queue = &mut self.queues[place];
        if queue.queue.is_live() {
            queue.tell(Control::ReadLog, software, cx);
        }
    }
}

/// The signal for a path's state.
const fn told(access: Access) -> u32 {
    match access {
        Access::Optimized => PATH_OPTIMIZED,
        Access::NonOptimized => PATH_NON_OPTIMIZED,
        Access::Inaccessible => PATH_INACCESSIBLE,
    }
}
