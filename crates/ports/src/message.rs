//! The message: closed over the protocols, `Copy`, at most 32 bytes.
//!
//! **Bytes.** No message carries a payload or a reference to one. If data move, the message has the address that they
//! come from or go to ([`Tlps::address`], [`Transfer::address`], the data pointer of an NVMe command), and the
//! component that has bytes at that address stores them: a host in its [`HostMemory`](crate::HostMemory), a medium in
//! a store of its own. Predictions allocate no region for user data, which then have no bytes; an emulation does. A
//! reference in addition to the address would be a second name for the same bytes, which could disagree with the
//! first.

use lanetwin_fabric::ethernet::logic::Train;
use lanetwin_kernel::{Content, mix, mix_product};
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::spec::tlp::TlpKind;

/// Whatever can cross a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// PCIe, device → link: send these TLPs. Link → device: these TLPs have arrived.
    Tlps(Tlps),
    /// PCIe, link → device: the last TLP of a train that asked for it ([`Attributes::NOTIFY`]) has left the device.
    Departed {
        /// The handle of the train.
        handle: u32,
    },
    /// PCIe, device → link: the device has emptied its receive buffer of TLPs (only ports that drain by themselves).
    Release(Release),
    /// DMA port, load → requester: move this.
    Dma(Transfer),
    /// DMA port, requester → load: the transfer with this handle is done.
    DmaDone(Done),
    /// Block port, load → device: read or write this.
    Block(Transfer),
    /// Block port, load → device: do this, which moves no bytes.
    Command(BlockCommand),
    /// Block port, device → load: the request or command with this handle is done.
    BlockDone(Done),
    /// CPU port, driver → root complex: write `bytes` to a device (a doorbell).
    Mmio {
        /// The device's PCIe port.
        to: EndpointId,
        /// The size of the write \[B\].
        bytes: u16,
        /// Handle of the write, for the device.
        handle: u32,
        /// Further information for the device.
        address: u64,
    },
    /// CPU port, root complex → driver: a device has signalled (an interrupt, or a write that the CPU polls for).
    Signal {
        /// The device's handle.
        handle: u32,
        /// The device.
        from: EndpointId,
    },
    /// CXL port, towards the memory (M2S): read or write this line.
    Line(Line),
    /// CXL port, from the memory (S2M): that is done.
    LineDone(LineDone),
    /// CXL port, towards a device with a cache (over CXL.io): a hint or query of the host about pages.
    Hint(Hint),
    /// CXL port, from such a device: the answer to a [`Hint`].
    HintDone {
        /// The asker's name for the hint.
        handle: u32,
        /// The value queried, or the number of pages affected.
        value: u64,
    },
    /// Ethernet: equal frames; the first bit of the first one arrives with the message. The number of frames per
    /// message is arbitrary, so that digests leave it out: senders and receivers report each frame.
    Frames(Train),
}

const _: () =
    assert!(size_of::<Message>() <= 32, "a message is at most 32 bytes: larger state lives behind a handle");

/// `count` equal TLPs one after another: a train.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tlps {
    /// Kind of TLP.
    pub kind: TlpKind,
    /// Relaxed ordering, notifications.
    pub attributes: Attributes,
    /// Number of TLPs.
    pub count: u16,
    /// The size of each \[B\]: payload of a write or completion, requested length of a read.
    pub bytes: u16,
    /// The port that they leave from.
    pub from: EndpointId,
    /// The port that they go to.
    pub to: EndpointId,
    /// The requester's name for the transfer; completions carry the name of their request.
    pub handle: u32,
    /// The address of the first; the i-th is at `address + i × bytes`.
    pub address: u64,
}

/// Attributes of a train.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Attributes(u8);

impl Attributes {
    /// None.
    pub const NONE: Self = Self(0);
    /// Relaxed Ordering: a completion may pass posted writes.
    pub const RELAXED: Self = Self(1);
    /// The sender wants [`Message::Departed`] when the last TLP has left.
    pub const NOTIFY: Self = Self(2);
    /// The last train of its transfer, or the last completion of its request.
    pub const LAST: Self = Self(4);
    /// A write that notifies a CPU: a message-signalled interrupt, or a completion entry that it polls.
    pub const SIGNAL: Self = Self(8);

    /// These and those.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether all of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// These if `condition` holds, else none.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}

/// Receive-buffer space given back by a device that drains by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// The kind of TLP that occupied it.
    pub kind: TlpKind,
    /// Number of TLPs.
    pub count: u16,
    /// The payload of each \[B\].
    pub bytes: u16,
}

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// From the target to the initiator.
    Read,
    /// From the initiator to the target.
    Write,
}

/// A request to move bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Read or write.
    pub operation: Operation,
    /// Number of bytes.
    pub bytes: u32,
    /// The asker's name for it.
    pub handle: u32,
    /// The logical unit of the device (a LUN, a namespace); 0 is the first.
    pub unit: u16,
    /// A host address (DMA), or a byte offset on the medium (block).
    pub address: u64,
}

/// Commands to a block device other than reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BlockCommandKind {
    /// Make acknowledged writes durable.
    Flush,
    /// Discard these blocks.
    Deallocate,
    /// These blocks become zero.
    WriteZeroes,
}

/// A request to a block device that moves no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCommand {
    /// Kind of command.
    pub kind: BlockCommandKind,
    /// Number of bytes; 0 for a flush, which applies to the whole unit.
    pub bytes: u32,
    /// The asker's name for it, of the same names as those of its [`Transfer`]s.
    pub handle: u32,
    /// The logical unit of the device.
    pub unit: u16,
    /// The byte offset on the medium.
    pub address: u64,
}

/// A request for one cache line of 64 B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Read (M2S Req, `MemRd`) or write (M2S RwD, `MemWr`).
    pub operation: Operation,
    /// The requester's handle, unique among its outstanding requests on this port.
    pub handle: u32,
    /// Address \[B\]: the host physical address up to the last decoder, the device physical address behind it.
    pub address: u64,
}

/// The answer to a [`Line`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineDone {
    /// The operation: a read is answered with data (S2M DRS), a write with a completion (S2M NDR).
    pub operation: Operation,
    /// The asker's name for it.
    pub handle: u32,
    /// Outcome.
    pub status: Status,
}

/// A hint or query of a host about consecutive pages of 4 KiB of a caching device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hint {
    /// Kind.
    pub what: HintKind,
    /// Number of pages.
    pub pages: u32,
    /// The asker's name for it.
    pub handle: u32,
    /// The device physical address of the first page \[B\].
    pub address: u64,
}

/// Kind of hint or query about pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HintKind {
    /// They will be needed: bring them in. Answered with how many are on their way or there.
    Prefetch,
    /// They will not be needed: write dirty ones back and free their room. Answered with the number removed.
    Evict,
    /// Query whether they are cached. Answered with the number of those that are.
    Status,
    /// Query how often they are used. Answered with the sum of the device's access counts.
    Temperature,
}

/// The answer to a [`Transfer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The asker's name for the transfer.
    pub handle: u32,
    /// Outcome.
    pub status: Status,
}

/// Outcome of a transfer: faults of the modelled world are values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Success.
    Ok,
    /// The data arrived damaged.
    Corrupt,
    /// There was no answer.
    Aborted,
}

impl Content for Message {
    #[inline(always)]
    fn content(&self) -> u64 {
        // most messages are TLPs
        if let Self::Tlps(t) = *self {
            let shape = [t.kind as u64, t.attributes.0.into(), t.count.into(), t.bytes.into()];
            let shape = shape.into_iter().fold(0_u64, |word, part| word << 16 | part);
            return fold(1, [shape ^ u64::from(t.handle).rotate_left(32), t.address]);
        }
        // and of the others most are lines of memory
        match *self {
            Self::Line(l) => fold(10, [l.operation as u64 | u64::from(l.handle) << 8, l.address]),
            Self::LineDone(d) => {
                fold(11, [d.operation as u64 | (d.status as u64) << 8 | u64::from(d.handle) << 16])
            }
            _ => self.content_of_others(),
        }
    }
}

impl Message {
    /// Contribution to a digest, for everything but TLPs and lines.
    #[inline(never)]
    fn content_of_others(&self) -> u64 {
        match *self {
            Self::Tlps(_) | Self::Line(_) | Self::LineDone(_) => unreachable!("they are seen to before"),
            Self::Departed { handle } => fold(2, [handle.into()]),
            Self::Release(r) => fold(3, [u64::from(r.kind as u8), r.count.into(), r.bytes.into()]),
            Self::Dma(t) => fold(4, t.parts()),
            Self::DmaDone(d) => fold(5, [d.handle.into(), d.status as u64]),
            Self::Block(t) => fold(6, t.parts()),
            Self::BlockDone(d) => fold(7, [d.handle.into(), d.status as u64]),
            Self::Mmio { to, bytes, handle, address } => {
                fold(8, [to.0.into(), bytes.into(), handle.into(), address])
            }
            Self::Signal { handle, from } => fold(9, [handle.into(), from.0.into()]),
            Self::Hint(h) => fold(12, [h.what as u64, h.pages.into(), h.handle.into(), h.address]),
            Self::HintDone { handle, value } => fold(13, [handle.into(), value]),
            Self::Command(c) => {
                let what = c.kind as u64 | u64::from(c.unit) << 8;
                fold(14, [what, c.bytes.into(), c.handle.into(), c.address])
            }
            Self::Frames(_) => 0,
        }
    }
}

impl Transfer {
    /// Contribution to a digest; unit 0 adds nothing to it.
    fn parts(&self) -> [u64; 4] {
        let what = self.operation as u64 | u64::from(self.unit) << 8;
        [what, self.bytes.into(), self.handle.into(), self.address]
    }
}

/// The parts of a message of one kind as 64 bits.
#[inline(always)]
fn fold<const N: usize>(kind: u8, parts: [u64; N]) -> u64 {
    parts.into_iter().fold(KINDS[kind as usize], |hash, part| mix_product(hash ^ part, PART))
}

/// Constant that each part is mixed with.
const PART: u64 = mix(0xff);

/// Start value of a message's contribution, by the number of its kind.
const KINDS: [u64; 15] = {
    let mut kinds = [0; 15];
    let mut kind = 0;
    while kind < kinds.len() {
        kinds[kind] = mix(kind as u64);
        kind += 1;
    }
    kinds
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn lines() -> impl Iterator<Item = Message> {
        let whats = [Operation::Read, Operation::Write].into_iter();
        whats.flat_map(|operation| {
            let line = move |handle, address| Message::Line(Line { operation, handle, address });
            let done = move |handle, status| Message::LineDone(LineDone { operation, handle, status });
            let asked = [line(0, 0), line(1, 0), line(0, 1), line(1 << 31, 0), line(0, 1 << 63)];
            let statuses = [Status::Ok, Status::Corrupt, Status::Aborted].into_iter();
            let answers = statuses.flat_map(move |status| [0, 1, 1 << 8, 1 << 31].map(|n| done(n, status)));
            asked.into_iter().chain(answers)
        })
    }

    fn block_command(kind: BlockCommandKind, handle: u32) -> Message {
        Message::Command(BlockCommand { kind, bytes: 0, handle, unit: 0, address: 0 })
    }

    fn trains() -> impl Iterator<Item = Message> {
        let train = Tlps {
            kind: TlpKind::MWr,
            attributes: Attributes::NONE,
            count: 1,
            bytes: 64,
            from: EndpointId(0),
            to: EndpointId(1),
            handle: 0,
            address: 0,
        };
        let others = [
            Tlps { kind: TlpKind::MRd, ..train },
            Tlps { attributes: Attributes::LAST, ..train },
            Tlps { count: 2, ..train },
            Tlps { bytes: 65, ..train },
            Tlps { handle: 1, ..train },
            Tlps { address: 64, ..train },
        ];
        others.into_iter().chain([train]).map(Message::Tlps)
    }

    /// What differs in one field, or is of another kind, is different to a digest.
    #[test]
    fn every_field_is_in_the_content() {
        let kinds = [
            Message::Departed { handle: 0 },
            Message::DmaDone(Done { handle: 0, status: Status::Ok }),
            Message::BlockDone(Done { handle: 0, status: Status::Ok }),
            block_command(BlockCommandKind::Flush, 0),
            block_command(BlockCommandKind::Deallocate, 0),
            block_command(BlockCommandKind::WriteZeroes, 0),
            block_command(BlockCommandKind::Flush, 1),
            Message::BlockDone(Done { handle: 0, status: Status::Corrupt }),
            Message::HintDone { handle: 0, value: 0 },
            Message::HintDone { handle: 0, value: 1 },
        ];
        let mut seen = BTreeMap::new();
        for message in lines().chain(trains()).chain(kinds) {
            let other = seen.insert(message.content(), message);
            assert_eq!(other, None, "{message:?} has the content of another");
        }
    }
}
