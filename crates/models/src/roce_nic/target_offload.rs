//! An adapter that is a target by itself: offload of the target, as adapters from ConnectX-5 on have it.
//!
//! ```text
//!  capsule ─► engine ─► MWr entry of the submission queue ─► host memory     drive: MRd entry, data ═ host memory
//!                   └─► MWr doorbell ─► drive
//!  drive ─► MWr completion entry ─► host memory ─► MRd entry ═► CplD ─► engine ─► MRd data ═► CplD ─► line
//! ```
//!
//! Queues and staging buffer are in host memory, and the doorbells are registers of the drive: software gives the
//! adapter the addresses of all of them (`sq_pas`, `cq_pas`, `sqt_dbr_addr`, `cqh_dbr_addr` of
//! `ib_nvmf_backend_ctrl_init_attr` in `ib_verbs_exp.h` of the vendor's drivers; NVIDIA developer forum, topic
//! 289894: "I/O queue, completion queue and staging buffer" in the memory of the target). No core takes part once
//! queues are made. That the adapter polls for completion entries is assumed: there is no interrupt vector among
//! these parameters. Unsuccessful polls take no link bandwidth here.
//!
//! The software inside is the same as on a host, with other costs: `nvmeof-target` and `nvme-driver`, on one run
//! queue.

use super::WITHIN;
use super::inside::{Read, RoceNic};
use super::pair::Pair;
use lanetwin_nvme::spec::registers::DOORBELLS;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Attributes, Context, DESTROYED, Message, QueuePairId};
use lanetwin_units::Span;

/// Address of submission and completion queues on the links: at an address without bytes, since the bytes are already
/// there.
const QUEUES: u64 = 1 << 41;
const SUBMISSION_BYTES: u32 = 64;
const COMPLETION_BYTES: u32 = 16;

impl RoceNic {
    /// Handles a doorbell from the software inside: one of this adapter, or of a drive.
    pub(super) fn hear_within(
        &mut self,
        to: EndpointId,
        (handle, address): (u32, u64),
        cx: &mut Context<'_>,
    ) {
        let Some(requests) = &self.requests else { return };
        if to == requests.endpoint() {
            let Ok(id) = u16::try_from(handle).map(QueuePairId) else { return };
            if address == DESTROYED {
                return self.pairs.get_mut(id).into_iter().for_each(Pair::destroy);
            }
            let rdma = self.rdma.clone();
            let work: Vec<_> = std::iter::from_fn(|| rdma.take(id, address)).collect();
            if self.pair(id).is_some() {
                self.understand(id, (work, cx.now()), cx);
            }
            return;
        }
        let entries = self.submitted(to, (address, handle));
        if let Some(requests) = &self.requests {
            if entries > 0 {
                let at = QUEUES | (address & 0xffff) << 16;
                requests.write(0, at, entries * SUBMISSION_BYTES, Attributes::NONE, cx);
            }
            requests.write_register(to, (address, handle), cx);
        }
    }

    /// Number of entries announced by a doorbell; 0 for that of a completion queue. When a ring wraps, the entries
    /// before its end are not counted.
    fn submitted(&mut self, to: EndpointId, (offset, tail): (u64, u32)) -> u32 {
        let Some(number) = offset.checked_sub(DOORBELLS.into()).map(|offset| offset / 4) else { return 0 };
        if !number.is_multiple_of(2) {
            return 0;
        }
        let before = self.tails.insert((to, offset), tail).unwrap_or(0);
        if tail >= before { tail - before } else { tail }
    }

    /// A completion entry of a drive is in host memory: the adapter reads it.
    pub(super) fn fetch_entry(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        let at = QUEUES | 1 << 40 | u64::from(handle & 0xffff) << 12;
        self.read(Read::Entry { handle, from }, at, COMPLETION_BYTES, cx);
    }
    /// It is here.
    pub(super) fn tell_within(&self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        cx.send(WITHIN, Span::ZERO, Message::Signal { handle, from });
    }
    /// Reports a completion of a queue pair to the software inside.
    pub(super) fn complete_within(&self, id: QueuePairId, cx: &mut Context<'_>) {
        if let Some(requests) = &self.requests {
            let from = requests.endpoint();
            cx.send(WITHIN, Span::ZERO, Message::Signal { handle: id.0.into(), from });
        }
    }
}
