//! Shadow doorbells: the host writes tails and heads to memory, and rings a doorbell only when it passes the EventIdx
//! that the controller has written (Base 2.0 §5.11 and annex B.5).
//!
//! ```text
//!  queue is empty (or full) ─► write EventIdx ─► read the shadow ─┬─ it has moved: go on
//!                                                                 └─ it has not: the host will ring
//! ```
//!
//! The read is ordered after the write, so a host that updates its shadow either reads the new EventIdx and rings, or
//! has updated it before the read. If a doorbell is rung while its shadow is read, the value read may be older and is
//! discarded; the shadow is read again once the queue is empty. The admin queues have no shadows.

use super::queues::{DoorbellBuffers, QueueState, ShadowRead};
use super::{Controller, Cx};
use crate::logic::effect::{HostEffect, Kind, Place, Purpose, Resumed};
use crate::spec::{CqId, Doorbell, SqId};

/// The size of a doorbell in memory \[B\].
const DOORBELL_BYTES: u32 = 4;

impl Controller {
    /// Reads the shadow tail of a submission queue that has become empty.
    #[inline]
    pub(super) fn read_tail_doorbell(&mut self, sqid: u16, cx: &mut Cx<'_>) {
        let Some(buffers) = self.doorbell_buffers.filter(|_| sqid != 0) else { return };
        let queue = &mut self.submission_queues[usize::from(sqid)];
        if queue.read_shadow == ShadowRead::None {
            queue.read_shadow = ShadowRead::UnderWay;
            let tail = queue.tail;
            self.read_shadow(buffers, Doorbell::SubmissionTail(SqId(sqid)), tail, cx);
        }
    }
    /// Reads the shadow head of a completion queue that is full.
    #[inline]
    pub(super) fn read_head_doorbell(&mut self, cqid: u16, cx: &mut Cx<'_>) {
        let Some(buffers) = self.doorbell_buffers.filter(|_| cqid != 0) else { return };
        let queue = &mut self.completion_queues[usize::from(cqid)];
        if queue.read_shadow == ShadowRead::None {
            queue.read_shadow = ShadowRead::UnderWay;
            let head = queue.head;
            self.read_shadow(buffers, Doorbell::CompletionHead(CqId(cqid)), head, cx);
        }
    }
    fn read_shadow(&mut self, buffers: DoorbellBuffers, doorbell: Doorbell, value: u32, cx: &mut Cx<'_>) {
        let index = match doorbell {
            Doorbell::SubmissionTail(id) => u32::from(id.0) * 2,
            Doorbell::CompletionHead(id) => u32::from(id.0) * 2 + 1,
        };
        let offset = u64::from(index) << (2 + self.config.doorbell_stride);
        let controller = self.config.id;
        let address = buffers.event_index.wrapping_add(offset);
        cx.host(HostEffect::EventIndex { controller, address, value });
        let token = self.token(Kind::Shadow, index, 0);
        let at = Place::Memory { address: buffers.shadow.wrapping_add(offset) };
        let purpose = Purpose::ShadowDoorbell(doorbell);
        cx.host(HostEffect::Fetch { token, at, bytes: DOORBELL_BYTES, purpose });
    }

    /// A shadow has been read.
    pub(super) fn shadow_arrived(&mut self, index: u32, resumed: Resumed<'_>, cx: &mut Cx<'_>) {
        let Resumed::Bytes(&[a, b, c, d, ..]) = resumed else { return self.fail(cx) };
        let value = u32::from_le_bytes([a, b, c, d]);
        let id = (index / 2) as u16;
        if index & 1 == 0 {
            let Some(queue) = self.submission_queues.get_mut(usize::from(id)) else { return };
            let overtaken =
                core::mem::replace(&mut queue.read_shadow, ShadowRead::None) == ShadowRead::Overtaken;
            if !overtaken && queue.tail != value {
                self.tail_moved(SqId(id), value, cx);
            } else if overtaken && queue.next == queue.tail && queue.life == QueueState::Active {
                self.read_tail_doorbell(id, cx);
            }
        } else {
            let Some(queue) = self.completion_queues.get_mut(usize::from(id)) else { return };
            let overtaken =
                core::mem::replace(&mut queue.read_shadow, ShadowRead::None) == ShadowRead::Overtaken;
            if !overtaken && queue.head != value {
                self.head_moved(CqId(id), value, cx);
            } else if overtaken && !queue.held.is_empty() {
                self.read_head_doorbell(id, cx);
            }
        }
    }
}
