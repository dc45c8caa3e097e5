//! Shadow doorbells: the host writes tails and heads to memory, and rings only past the EventIdx that the controller left
//! (Base 2.0 §5.11 and annex B.5).
//!
//! ```text
//!  queue is empty (or full) ─► write EventIdx ─► read the shadow ─┬─ it has moved: go on
//!                                                                 └─ it has not: the host will ring
//! ```
//!
//! The read is behind the write, so a host that moves its shadow either sees the new EventIdx and rings, or has moved it before the
//! read. The admin queues have no shadows.

use super::{Controller, Cx};
use crate::logic::effect::{Effect, Kind, Purpose, Resumed};
use crate::spec::{CqId, Doorbell, SqId};

/// Where the buffers are.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoorbellBuffers {
    pub shadow: u64,
    pub event_index: u64,
}

/// The size of a doorbell in memory \[B\].
const DOORBELL_BYTES: u32 = 4;

impl Controller {
    /// A submission queue has been emptied: is there more?
    #[inline]
    pub(super) fn look_for_tail(&mut self, sqid: u16, cx: &mut Cx<'_>) {
        let Some(buffers) = self.doorbell_buffers.filter(|_| sqid != 0) else { return };
        let queue = &mut self.submission_queues[usize::from(sqid)];
        if !core::mem::replace(&mut queue.looking, true) {
            let tail = queue.tail;
            self.look(buffers, Doorbell::SubmissionTail(SqId(sqid)), tail, cx);
        }
    }
    /// A completion queue is full: has the host taken something?
    #[inline]
    pub(super) fn look_for_head(&mut self, cqid: u16, cx: &mut Cx<'_>) {
        let Some(buffers) = self.doorbell_buffers.filter(|_| cqid != 0) else { return };
        let queue = &mut self.completion_queues[usize::from(cqid)];
        if !core::mem::replace(&mut queue.looking, true) {
            let head = queue.head;
            self.look(buffers, Doorbell::CompletionHead(CqId(cqid)), head, cx);
        }
    }
    fn look(&mut self, buffers: DoorbellBuffers, doorbell: Doorbell, value: u32, cx: &mut Cx<'_>) {
        let index = match doorbell {
            Doorbell::SubmissionTail(id) => u32::from(id.0) * 2,
            Doorbell::CompletionHead(id) => u32::from(id.0) * 2 + 1,
        };
        let offset = u64::from(index) << (2 + self.config.doorbell_stride);
        let controller = self.config.id;
        let address = buffers.event_index.wrapping_add(offset);
        cx.effects.push(Effect::EventIndex { controller, address, value });
        let token = self.token(Kind::Shadow, index, 0);
        let address = buffers.shadow.wrapping_add(offset);
        let purpose = Purpose::ShadowDoorbell(doorbell);
        cx.effects.push(Effect::Fetch { token, address, bytes: DOORBELL_BYTES, purpose });
    }

    /// A shadow has been read.
    pub(super) fn shadow_arrived(&mut self, index: u32, resumed: Resumed<'_>, cx: &mut Cx<'_>) {
        let Resumed::Bytes(&[a, b, c, d, ..]) = resumed else { return self.fail(cx) };
        let value = u32::from_le_bytes([a, b, c, d]);
        let id = (index / 2) as u16;
        if index % 2 == 0 {
            let Some(queue) = self.submission_queues.get_mut(usize::from(id)) else { return };
            queue.looking = false;
            if queue.tail != value {
                self.ring(Doorbell::SubmissionTail(SqId(id)), value, cx);
            } else if queue.next != queue.tail {
                self.pump(cx);
            }
        } else {
            let Some(queue) = self.completion_queues.get_mut(usize::from(id)) else { return };
            queue.looking = false;
            if queue.head != value {
                self.ring(Doorbell::CompletionHead(CqId(id)), value, cx);
            }
        }
    }
}
