//! Properties: enabling, disabling, shutdown, reset (Base 2.0 §3.1.3, §3.5, §3.6, §3.7).
//!
//! CSTS.RDY follows CC.EN only when all effects have been resumed. So a host that waits for it knows that none of its
//! earlier commands can still have an effect.

use super::arbiter::{Arbiter, Class};
use super::queues::{CompletionQueue, QueueOrigin, QueueState, ShadowRead, SubmissionQueue};
use super::settings::Features;
use super::stage::Stage;
use super::{Controller, Cx};
use crate::logic::effect::{Effect, Kind, MediaOperation, MediaRequest, Ticket};
use crate::spec::log::{ErrorEvent, EventType, LogPage};
use crate::spec::registers::{
    ACQ, AQA, ASQ, AdminQueueAttributes, ArbitrationMechanism, CAP, CC, CSTS, Configuration,
    ControllerStatus, DOORBELLS, Doorbell, INTMC, INTMS, LEAST_QUEUE_ENTRIES, NSSR, RESET_WORD,
    ShutdownNotification, ShutdownStatus, VERSION, VS, doorbell_at,
};
use crate::spec::{CqId, SqId};

impl Controller {
    /// Whether CSTS.RDY is 1 and the controller has not failed.
    #[inline]
    pub(super) fn is_enabled(&self) -> bool {
        self.stage == Stage::Ready && !self.status.fatal()
    }
    /// Whether commands are fetched.
    #[inline]
    pub(super) fn is_working(&self) -> bool {
        self.is_enabled() && self.status.shutdown() == ShutdownStatus::NORMAL
    }
    /// Reads a dword of the registers.
    pub fn read_register(&self, offset: u32) -> u32 {
        match offset {
            CAP => self.capabilities.raw() as u32,
            o if o == CAP + 4 => (self.capabilities.raw() >> 32) as u32,
            VS => VERSION,
            INTMS | INTMC => self.interrupt_mask,
            CC => self.configuration.raw(),
            CSTS => self.status.raw(),
            AQA => self.attributes.raw(),
            ASQ => self.admin_sq_address as u32,
            o if o == ASQ + 4 => (self.admin_sq_address >> 32) as u32,
            ACQ => self.admin_cq_address as u32,
            o if o == ACQ + 4 => (self.admin_cq_address >> 32) as u32,
            _ => 0,
        }
    }
    /// Writes a dword of the registers.
    pub fn write_register(&mut self, offset: u32, value: u32, cx: &mut Cx<'_>) {
        if offset >= DOORBELLS {
            return match doorbell_at(offset, self.config.doorbell_stride) {
                Some(doorbell) => self.ring(doorbell, value, cx),
                None => self.bad_doorbell(ErrorEvent::INVALID_DOORBELL, cx),
            };
        }
        let idle = !self.configuration.enable();
        match offset {
            INTMS => self.interrupt_mask |= value,
            INTMC => self.interrupt_mask &= !value,
            CC => self.configure(Configuration::from_raw(value), cx),
            CSTS if ControllerStatus::from_raw(value).subsystem_reset() => {
                self.status = ControllerStatus::from_raw(self.status.raw() & !(1 << 4)); // NSSRO is cleared by a 1
            }
            NSSR => cx.nvm.reset_asked |= value == RESET_WORD,
            AQA if idle => self.attributes = AdminQueueAttributes::from_raw(value & 0x0fff_0fff),
            ASQ if idle => set_low(&mut self.admin_sq_address, value & !0xfff),
            o if o == ASQ + 4 && idle => set_high(&mut self.admin_sq_address, value),
            ACQ if idle => set_low(&mut self.admin_cq_address, value & !0xfff),
            o if o == ACQ + 4 && idle => set_high(&mut self.admin_cq_address, value),
            _ => {}
        }
    }
    fn configure(&mut self, new: Configuration, cx: &mut Cx<'_>) {
        let old = self.configuration;
        self.configuration = new;
        match (old.enable(), new.enable()) {
            (false, true) => self.enable(cx),
            (true, false) => self.disable(cx),
            _ => {}
        }
        if new.shutdown() != ShutdownNotification::NONE
            && old.shutdown() != new.shutdown()
            && self.status.shutdown() == ShutdownStatus::NORMAL
        {
            self.shut_down(new.shutdown() == ShutdownNotification::NORMAL, cx);
        }
    }

    fn enable(&mut self, cx: &mut Cx<'_>) {
        self.set_shutdown(ShutdownStatus::NORMAL);
        let weighted = self.configuration.arbitration() == ArbitrationMechanism::WEIGHTED_ROUND_ROBIN;
        let arbitration_known = self.configuration.arbitration() == ArbitrationMechanism::ROUND_ROBIN
            || (weighted && self.config.weighted_round_robin);
        let connected = self.submission_queues[0].data_location().is_some();
        let entries = [self.attributes.sq_entries_less_1(), self.attributes.cq_entries_less_1()]
            .map(|less_1| u32::from(less_1) + 1);
        let too_small = entries.iter().any(|&entries| entries < LEAST_QUEUE_ENTRIES);
        if !arbitration_known
            || self.configuration.command_set() != 0
            || self.configuration.page() > self.capabilities.largest_page()
            || (too_small && !connected)
        {
            return self.fail(cx);
        }
        self.page_log2 = 12 + self.configuration.page();
        if !connected {
            self.make_admin_queues(entries);
        }
        let at = cx.now + self.config.ready_after;
        self.stage = Stage::Starting(at);
        self.starting(cx);
        if self.stage != Stage::Ready {
            self.wake_at(at, cx);
        }
    }
    fn make_admin_queues(&mut self, [sq_entries, cq_entries]: [u32; 2]) {
        self.submission_queues[0] = SubmissionQueue {
            life: QueueState::Active,
            home: QueueOrigin::Memory { address: self.admin_sq_address, cqid: 0 },
            entries: sq_entries,
            class: Class::FIRST,
            ..SubmissionQueue::ABSENT
        };
        self.completion_queues[0] = CompletionQueue {
            life: QueueState::Active,
            address: self.admin_cq_address,
            entries: cq_entries,
            interrupts: true,
            vector: 0,
            submission_queues: 1,
            ..CompletionQueue::ABSENT
        };
    }
    /// Becomes ready if its time has come and no effects are outstanding.
    pub(super) fn starting(&mut self, cx: &mut Cx<'_>) {
        if let Stage::Starting(at) = self.stage
            && at <= cx.now
            && self.under_way == 0
        {
            self.stage = Stage::Ready;
            self.set_ready(true);
            self.keep_alive_came(cx);
        }
    }
    /// Continues after an effect that began before a reset has been resumed.
    pub(super) fn effect_after_reset(&mut self, cx: &mut Cx<'_>) {
        if self.under_way == 0 && self.stage == Stage::Stopping {
            self.stage = Stage::Disabled;
            self.set_ready(false);
        }
        self.starting(cx);
    }
    fn disable(&mut self, cx: &mut Cx<'_>) {
        let connected = self.submission_queues[0].without_commands();
        self.forget(cx);
        if let Some(queue) = connected {
            self.submission_queues[0] = queue;
        }
        self.stage = Stage::Stopping;
        self.effect_after_reset(cx);
    }
    /// Resets the controller from outside: registers are at once as after power on.
    pub fn reset(&mut self, cx: &mut Cx<'_>) {
        self.forget(cx);
        self.configuration = Configuration::ZERO;
        self.status = ControllerStatus::ZERO;
        self.attributes = AdminQueueAttributes::ZERO;
        (self.admin_sq_address, self.admin_cq_address, self.interrupt_mask) = (0, 0, 0);
        self.stage = Stage::Disabled;
    }
    /// Records a reset of the subsystem.
    pub fn mark_subsystem_reset(&mut self) {
        self.status = self.status.with_subsystem_reset(true).expect("a bit");
    }
    /// Removes queues and commands. Outstanding effects will be resumed with an earlier epoch.
    fn forget(&mut self, cx: &mut Cx<'_>) {
        self.epoch = (self.epoch + 1) % Ticket::EPOCHS;
        // parked effects have not begun
        let parked = self.parked.len() as u32;
        self.under_way -= parked;
        cx.nvm.fence += self.media_under_way - parked;
        self.media_under_way = 0;
        self.abandon_formats(cx);
        self.submission_queues.fill(SubmissionQueue::ABSENT);
        self.completion_queues.iter_mut().for_each(|queue| *queue = CompletionQueue::ABSENT);
        self.fetches.clear();
        self.slots.clear();
        self.parked.clear();
        self.features = Features::default();
        self.arbiter = Arbiter::new(self.submission_queues.len(), self.features.arbitration);
        self.interrupts = super::Interrupts::new(self.interrupts.count());
        self.events.clear();
        self.doorbell_buffers = None;
        self.status = ControllerStatus::from_raw(self.status.raw() & !(1 << 1)); // CFS
    }
    /// Sets Controller Fatal Status, until a reset.
    pub(super) fn fail(&mut self, _: &mut Cx<'_>) {
        self.status = self.status.with_fatal(true).expect("a bit");
    }

    fn shut_down(&mut self, normal: bool, cx: &mut Cx<'_>) {
        if normal && self.is_enabled() && cx.nvm.config.volatile_write_cache {
            self.set_shutdown(ShutdownStatus::OCCURRING);
            self.media_under_way += 1;
            let token = self.token(Kind::Shutdown, 0, 0);
            let request = MediaRequest {
                nsid: crate::spec::Nsid::ALL,
                operation: MediaOperation::Flush,
                slba: 0,
                blocks: 0,
                part_of: None,
            };
            cx.effects.push(Effect::Media { token, request });
        } else {
            self.set_shutdown(ShutdownStatus::COMPLETE);
        }
    }
    /// Completes a shutdown after its flush.
    pub(super) fn shutdown_done(&mut self) {
        self.set_shutdown(ShutdownStatus::COMPLETE);
    }

    /// Handles a doorbell.
    #[inline]
    pub fn ring(&mut self, doorbell: Doorbell, value: u32, cx: &mut Cx<'_>) {
        if !self.is_enabled() {
            return;
        }
        match doorbell {
            Doorbell::SubmissionTail(id) => {
                if let Some(queue) = self.submission_queues.get_mut(id.index())
                    && queue.read_shadow == ShadowRead::UnderWay
                {
                    queue.read_shadow = ShadowRead::Overtaken;
                }
                self.tail_moved(id, value, cx);
            }
            Doorbell::CompletionHead(id) => {
                if let Some(queue) = self.completion_queues.get_mut(id.index())
                    && queue.read_shadow == ShadowRead::UnderWay
                {
                    queue.read_shadow = ShadowRead::Overtaken;
                }
                self.head_moved(id, value, cx);
            }
        }
    }
    /// The host has added entries to a submission queue.
    #[inline]
    pub(super) fn tail_moved(&mut self, id: SqId, tail: u32, cx: &mut Cx<'_>) {
        let queue = self.submission_queues.get_mut(id.index()).filter(|queue| queue.is_in_memory());
        match queue.map(|queue| queue.set_tail(tail)) {
            Some(true) => {
                self.refresh(id.0);
                self.pump(cx);
            }
            Some(false) => self.bad_doorbell(ErrorEvent::INVALID_DOORBELL_VALUE, cx),
            None => self.bad_doorbell(ErrorEvent::INVALID_DOORBELL, cx),
        }
    }
    /// The host has consumed entries of a completion queue.
    #[inline]
    pub(super) fn head_moved(&mut self, id: CqId, head: u32, cx: &mut Cx<'_>) {
        let queue =
            self.completion_queues.get_mut(id.index()).filter(|queue| queue.life != QueueState::Absent);
        match queue.map(|queue| (queue.set_head(head), queue.held.is_empty())) {
            Some((true, true)) => {}
            Some((true, false)) => {
                self.post_held(id.0, cx);
                self.pump(cx);
            }
            Some((false, _)) => self.bad_doorbell(ErrorEvent::INVALID_DOORBELL_VALUE, cx),
            None => self.bad_doorbell(ErrorEvent::INVALID_DOORBELL, cx),
        }
    }
    fn bad_doorbell(&mut self, what: ErrorEvent, cx: &mut Cx<'_>) {
        if self.is_enabled() {
            self.errors.add_doorbell();
            self.events.raise(EventType::ERROR, what.0, LogPage::ERROR);
            self.tell_events(cx);
        }
    }

    fn set_ready(&mut self, ready: bool) {
        self.status = self.status.with_ready(ready).expect("a bit");
    }
    fn set_shutdown(&mut self, status: ShutdownStatus) {
        self.status = self.status.with_shutdown(status).expect("two bits");
    }
}

fn set_low(address: &mut u64, value: u32) {
    *address = *address & !0xffff_ffff | u64::from(value);
}
fn set_high(address: &mut u64, value: u32) {
    *address = *address & 0xffff_ffff | u64::from(value) << 32;
}
