//! Ending commands: completion queue entries, interrupts, completions held back while a queue is full; responses to
//! commands that a front submitted.

use super::interrupts::Signal;
use super::queues::{Ended, QueueOrigin, QueueState};
use super::slots::Plan;
use super::{Controller, Cx};
use crate::logic::effect::HostEffect;
use crate::spec::{CompletionEntry, CqId, SqId, Status};

impl Controller {
    /// Ends a command without outstanding effects.
    #[inline]
    pub(super) fn end(&mut self, number: u32, status: Status, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        let (sqid, cid, dw0) = (slot.sqid, slot.cid, slot.dw0);
        let mut more = false;
        if status.is_success() {
            if sqid != 0 {
                super::io::count(slot, cx.nvm);
            }
        } else {
            more = self.errors.add(slot, status);
        }
        self.slots.give(number);
        self.post(Ended { sqid, cid, status, more, dw0 }, cx);
    }
    /// Ends a command if all its parts are done, or if it has failed and has no outstanding effects.
    #[inline]
    pub(super) fn settle(&mut self, number: u32, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        if slot.under_way > 0 || slot.plan == Plan::Free {
            return;
        }
        let status = slot.status;
        if !status.is_success() || (slot.parts_left == 0 && slot.plan != Plan::DeleteSq) {
            self.end(number, status, cx);
        }
    }
    /// Stops a command as soon as possible, with this status. Returns false if that would not prevent any effect.
    pub(super) fn stop(&mut self, number: u32, status: Status, cx: &mut Cx<'_>) -> bool {
        let slot = self.slots.at(number);
        if !slot.status.is_success() || !slot.can_stop() {
            return false;
        }
        slot.status = status;
        self.settle(number, cx);
        true
    }

    /// Writes a completion, or holds it back.
    #[inline]
    pub(super) fn post(&mut self, ended: Ended, cx: &mut Cx<'_>) {
        let QueueOrigin::Memory { cqid, .. } = self.submission_queues[usize::from(ended.sqid)].home else {
            return self.respond(ended, cx);
        };
        let queue = &mut self.completion_queues[usize::from(cqid)];
        if queue.is_full() || !queue.held.is_empty() {
            queue.held.push_back(ended);
            self.read_head_doorbell(cqid, cx);
        } else {
            self.write_entry(cqid, ended, cx);
        }
    }
    /// Sends the front the completion of a command that it submitted, unless the queue is disconnected.
    fn respond(&mut self, ended: Ended, cx: &mut Cx<'_>) {
        let queue = &mut self.submission_queues[usize::from(ended.sqid)];
        let QueueOrigin::Front(inbox) = &queue.home else { return };
        let head = if inbox.flow_control { queue.head as u16 } else { 0 };
        queue.in_progress = queue.in_progress.saturating_sub(1);
        if queue.life == QueueState::Active {
            let (controller, queue) = (self.config.id, SqId(ended.sqid));
            cx.host(HostEffect::Respond { controller, queue, entry: entry(ended, head, false) });
        }
        self.refresh(ended.sqid);
        self.deletion(ended.sqid, cx);
    }
    /// Writes the completions held back, as far as the queue has room.
    pub(super) fn post_held(&mut self, cqid: u16, cx: &mut Cx<'_>) {
        loop {
            let queue = &mut self.completion_queues[usize::from(cqid)];
            if queue.life == QueueState::Absent || queue.is_full() {
                break;
            }
            let Some(ended) = queue.held.pop_front() else { return };
            self.write_entry(cqid, ended, cx);
        }
        if !self.completion_queues[usize::from(cqid)].held.is_empty() {
            self.read_head_doorbell(cqid, cx);
        }
    }
    #[inline]
    fn write_entry(&mut self, cqid: u16, ended: Ended, cx: &mut Cx<'_>) {
        let submission = &mut self.submission_queues[usize::from(ended.sqid)];
        let queue = &mut self.completion_queues[usize::from(cqid)];
        let (address, phase) = queue.advance();
        let entry = entry(ended, submission.head as u16, phase);
        let (interrupts, vector) = (queue.interrupts, queue.vector);
        submission.in_progress = submission.in_progress.saturating_sub(1);
        let deleting = submission.life == QueueState::Deleting;
        let controller = self.config.id;
        cx.host(HostEffect::Complete { controller, queue: CqId(cqid), address, entry });
        if interrupts {
            match self.interrupts.completion(vector, cqid == 0, cx.now) {
                Signal::Now => cx.host(HostEffect::Interrupt { controller, vector }),
                Signal::Later(Some(at)) => self.wake_at(at, cx),
                Signal::Later(None) => {}
            }
        }
        self.refresh(ended.sqid);
        if deleting {
            self.deletion(ended.sqid, cx);
        }
    }
    /// Reports events for which there are requests.
    pub(super) fn tell_events(&mut self, cx: &mut Cx<'_>) {
        while self.is_enabled()
            && let Some((cid, event)) = self.events.next()
        {
            // the request was no longer counted after it was accepted; its completion decrements the counter again
            self.submission_queues[0].in_progress += 1;
            let ended = Ended { sqid: 0, cid, status: Status::SUCCESS, more: false, dw0: event.raw() };
            self.post(ended, cx);
        }
    }
}

#[inline]
fn entry(ended: Ended, sq_head: u16, phase: bool) -> CompletionEntry {
    let permanent = !ended.status.is_success() && ended.status.is_permanent();
    let high = u32::from(ended.cid)
        | u32::from(phase) << 16
        | u32::from(ended.status.0 & 0x7ff) << 17
        | u32::from(ended.more) << 30
        | u32::from(permanent) << 31;
    let queue = u32::from(sq_head) | u32::from(ended.sqid) << 16;
    let raw = u128::from(ended.dw0) | u128::from(queue) << 64 | u128::from(high) << 96;
    CompletionEntry::from_raw(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Cid, SqId};

    #[test]
    fn an_entry_says_what_ended_and_how() {
        let ended =
            Ended { sqid: 5, cid: 0xabcd, status: Status::COMPARE_FAILURE, more: true, dw0: 0x1234_5678 };
        let entry = entry(ended, 77, true);
        assert_eq!((entry.sqid(), entry.cid(), entry.sq_head()), (SqId(5), Cid(0xabcd), 77));
        assert_eq!(
            (entry.status(), entry.dw0(), entry.phase()),
            (Status::COMPARE_FAILURE, 0x1234_5678, true)
        );
        assert!(entry.more() && entry.do_not_retry() && entry.retry_delay() == 0);
    }
}
