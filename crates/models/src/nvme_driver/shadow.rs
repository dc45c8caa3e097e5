//! Doorbells in memory: where they are, and when one has to be rung after all (NVM Express Base 2.0 §5.8 and annex
//! B.5).
//!
//! ```text
//!  a tail or head moves ─► its shadow is written ─► EventIdx is read ─┬─ passed by the move: the doorbell is rung (MMIO)
//!                                                                    └─ else: the controller will read the shadow
//! ```
//!
//! Both buffers are as large as the doorbells of all queues, also beyond a page, as Linux has them.

use lanetwin_nvme::logic::host::need_event;
use lanetwin_nvme::spec::registers::{DOORBELLS, doorbell_offset};
use lanetwin_nvme::spec::{Doorbell, SqId};
use lanetwin_ports::{HostMemory, SharedMemory};

/// Doorbells are next to each other (CAP.DSTRD 0), as in all drives on PCIe.
pub(super) const STRIDE: u8 = 0;

/// The shadow doorbells of a controller, and the EventIdx of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShadowDoorbells {
    /// Address of the shadow doorbells.
    pub(super) doorbells: u64,
    /// Address of the event indices, which the controller writes.
    pub(super) event_index: u64,
}

impl ShadowDoorbells {
    /// For `queues` I/O queues.
    pub(super) fn new(queues: u16, memory: &mut HostMemory) -> Self {
        let bytes = place(Doorbell::SubmissionTail(SqId(queues + 1)));
        Self { doorbells: memory.allocate(bytes), event_index: memory.allocate(bytes) }
    }

    /// A doorbell moves to `value`: whether it has to be rung.
    pub(super) fn moves(&self, doorbell: Doorbell, value: u16, memory: &SharedMemory) -> bool {
        let place = place(doorbell);
        let mut memory = memory.change();
        let old = read(&memory, self.doorbells + place);
        memory.write(self.doorbells + place, &u32::from(value).to_le_bytes());
        need_event(read(&memory, self.event_index + place), value, old)
    }
}

/// The place of a doorbell among the shadows \[B\]: as among the registers.
fn place(doorbell: Doorbell) -> u64 {
    u64::from(doorbell_offset(doorbell, STRIDE) - DOORBELLS)
}

/// A doorbell, or its EventIdx: the upper half of the dword is reserved.
fn read(memory: &HostMemory, address: u64) -> u16 {
    memory.read(address, 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_nvme::spec::CqId;

    #[test]
    fn a_doorbell_is_rung_when_it_passes_what_the_controller_waits_for() {
        let memory = SharedMemory::new();
        let shadow = ShadowDoorbells::new(600, &mut memory.change());
        let tail = Doorbell::SubmissionTail(SqId(600));
        assert!(shadow.moves(tail, 1, &memory), "a controller waits at 0 at first");
        assert!(!shadow.moves(tail, 2, &memory) && !shadow.moves(tail, 9, &memory));
        let event = shadow.event_index + place(tail);
        memory.change().write(event, &9_u32.to_le_bytes());
        assert!(shadow.moves(tail, 12, &memory), "it has read up to 9 and waits");
        assert!(!shadow.moves(tail, 13, &memory));
        // nobody else's doorbell has moved
        assert!(shadow.moves(Doorbell::CompletionHead(CqId(600)), 3, &memory));
        assert!(shadow.moves(Doorbell::SubmissionTail(SqId(599)), 1, &memory));
    }
}
