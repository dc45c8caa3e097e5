//! Effects that a controller requests: everything that takes time. The controller resumes when an effect is reported
//! as done.
//!
//! ```text
//!  4 KiB read:    ring ─► Fetch ─► fetched ─► Media ─► media_done ─► Transfer ─► transferred ─► Complete, Interrupt
//!  4 KiB write:   ring ─► Fetch ─► fetched ─► Transfer ─► transferred ─► Media ─► media_done ─► Complete, Interrupt
//! ```
//!
//! The contract with the owner, who carries them out:
//!
//! 1. An effect with a token is resumed **exactly once**, also after the controller was reset or lost: with
//!    [`fetched`], [`transferred`], [`media_done`], [`stored`], [`health`] or [`telemetry`], or with [`failed`].
//!    Until then the controller is not at rest (CSTS.RDY stays 1 after CC.EN was cleared).
//! 2. [`HostEffect::Complete`], [`HostEffect::Respond`], [`HostEffect::EventIndex`] and [`HostEffect::Interrupt`] have
//!    no token. They and all earlier writes of the controller must become visible to the host in the order in which
//!    they were requested, as posted writes do; an event index may come before earlier writes.
//! 3. A [`HostEffect::Fetch`] that follows an [`HostEffect::EventIndex`] must read after that write: the host rings
//!    the doorbell only if it sees the event index, and a read that passed it would miss what the host does not ring.
//! 4. A transfer to the host is resumed when its data are ordered before all later writes of the controller, such as
//!    the completion.
//! 5. Everything else may be done in any order and at the same time.
//!
//! [`fetched`]: super::Subsystem::fetched
//! [`transferred`]: super::Subsystem::transferred
//! [`media_done`]: super::Subsystem::media_done
//! [`stored`]: super::Subsystem::stored
//! [`health`]: super::Subsystem::health
//! [`telemetry`]: super::Subsystem::telemetry
//! [`failed`]: super::Subsystem::failed

use crate::spec::{CompletionEntry, ControllerId, CqId, Doorbell, Nsid, SqId};
use lanetwin_units::Instant;

/// Token with which an effect is resumed. It has a meaning only for the subsystem that created it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

impl Token {
    /// The token as a number, for owners that store it in a message.
    #[must_use]
    pub const fn to_raw(self) -> u64 {
        self.0
    }
    /// Index of the controller that created it, in the subsystem's configuration.
    #[must_use]
    pub const fn controller(self) -> usize {
        (self.0 >> 56) as usize
    }
    /// Number shared by all effects of one part of one command, for example the transfer of a write and its media
    /// effect, for owners that store the data between them. No other part has this number until all these effects are
    /// resumed.
    #[must_use]
    pub const fn part(self) -> u64 {
        self.0 & !(0xf << 52)
    }
    /// The token of a number that [`Token::to_raw`] returned. Resuming with any other number has no effect.
    #[must_use]
    pub const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }
}

/// Kind of the effect that is resumed: chosen by the controller, encoded in the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::logic) enum Kind {
    /// Submission queue entries; the number is a fetch.
    Commands,
    /// A PRP list or an SGL segment of a command.
    Pointers,
    /// Input data of a command other than user data.
    Content,
    /// User data, or data of the controller.
    Data,
    /// The medium, for a part of a command.
    Media,
    /// The owner's counters.
    Health,
    /// A shadow doorbell; the number is `2 × queue`, or `2 × queue + 1` for a completion queue.
    Shadow,
    /// The flush of a shutdown.
    Shutdown,
    /// A sanitize operation, which continues across resets.
    Sanitize,
    /// Telemetry of the owner, requested by a host.
    Telemetry,
    /// Telemetry of the owner, initiated by the controller, which continues across resets.
    Capture,
}

/// Result of a fetch.
#[derive(Clone, Copy, Debug)]
pub(in crate::logic) enum Resumed<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// A PRP list that is not stored, of consecutive pages.
    Contiguous,
    /// The fetch failed.
    Failed,
}

const KINDS: [Kind; 11] = [
    Kind::Commands,
    Kind::Pointers,
    Kind::Content,
    Kind::Data,
    Kind::Media,
    Kind::Health,
    Kind::Shadow,
    Kind::Shutdown,
    Kind::Sanitize,
    Kind::Telemetry,
    Kind::Capture,
];

/// The fields of a token.
///
/// | bits | content |
/// |---|---|
/// | 63:56 | index of the controller |
/// | 55:52 | [`Kind`] |
/// | 51:40 | epoch: number of resets of the controller, modulo 4096 |
/// | 39:16 | a command in progress, or a number that depends on the kind |
/// | 15:0 | a part of the command |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::logic) struct Ticket {
    pub controller: u8,
    pub kind: Kind,
    pub epoch: u16,
    pub number: u32,
    pub part: u16,
}

impl Ticket {
    /// Modulus of epochs.
    pub const EPOCHS: u16 = 1 << 12;

    pub const fn token(self) -> Token {
        Token(
            (self.controller as u64) << 56
                | (self.kind as u64) << 52
                | (self.epoch as u64) << 40
                | (self.number as u64) << 16
                | self.part as u64,
        )
    }
    /// Decodes a token; returns `None` if its kind is unknown.
    pub fn of(token: Token) -> Option<Self> {
        Some(Self {
            controller: (token.0 >> 56) as u8,
            kind: *KINDS.get((token.0 >> 52) as usize & 0xf)?,
            epoch: (token.0 >> 40) as u16 & 0xfff,
            number: (token.0 >> 16) as u32 & 0xff_ffff,
            part: token.0 as u16,
        })
    }
}

impl core::fmt::Debug for Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "token{:x}", self.0)
    }
}

/// Contiguous bytes of host memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Segment {
    /// Address of the first byte.
    pub address: u64,
    /// Length \[B\].
    pub bytes: u32,
}

/// Direction of data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From host memory to the controller: a write.
    FromHost,
    /// From the controller to host memory: a read.
    ToHost,
}

/// Content of a [`HostEffect::Fetch`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Purpose {
    /// Submission queue entries.
    Commands(SqId),
    /// Entries of a PRP list.
    PrpList,
    /// Descriptors of an SGL segment.
    SglSegment,
    /// Input data of a command other than user data: ranges, attributes.
    Content,
    /// A shadow doorbell.
    ShadowDoorbell(Doorbell),
}

/// A request to the medium.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MediaRequest {
    /// The namespace; [`Nsid::ALL`] for a flush or format of all, and for a sanitize operation.
    pub nsid: Nsid,
    /// The operation.
    pub operation: MediaOperation,
    /// The first block \[logical blocks of the namespace\].
    pub slba: u64,
    /// Number of blocks; 0 if the operation does not concern blocks.
    pub blocks: u32,
    /// The blocks of the command that this request is a part of; `None` if it is the whole command, or one of several
    /// ranges of the command.
    pub part_of: Option<CommandBlocks>,
}

/// The blocks of a command that the controller executes in parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommandBlocks {
    /// The first block \[logical blocks of the namespace\].
    pub slba: u64,
    /// Number of blocks.
    pub blocks: u32,
}

/// Operation on blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MediaOperation {
    /// Read; the data are then transferred to the host.
    Read,
    /// Write data that have been transferred from the host.
    Write {
        /// Force Unit Access, or the volatile write cache is disabled: done only when the data are on the medium.
        force_unit_access: bool,
    },
    /// Compare with data that have been transferred from the host;
    /// [`COMPARE_FAILURE`](crate::spec::Status::COMPARE_FAILURE) if they differ.
    Compare,
    /// Write zeroes, without data.
    WriteZeroes {
        /// The blocks may be deallocated.
        deallocate: bool,
        /// Force Unit Access.
        force_unit_access: bool,
    },
    /// Deallocate blocks, which the host no longer needs.
    Deallocate,
    /// Write all acknowledged data to the medium.
    Flush,
    /// Format the namespace; the subsystem already uses its new block size.
    Format {
        /// Secure Erase Settings (SES): 0 none, 1 user data erase, 2 cryptographic erase.
        secure_erase: u8,
    },
    /// Sanitize the subsystem; report progress with
    /// [`Subsystem::sanitize_progress`](super::Subsystem::sanitize_progress).
    Sanitize {
        /// Sanitize Action (SANACT): 2 block erase, 3 overwrite, 4 crypto erase.
        action: u8,
    },
}

/// Location of bytes at the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// In host memory, contiguous.
    Memory {
        /// Address of the first byte.
        address: u64,
    },
    /// In host memory, in several pieces, which [`Subsystem::segments`](super::Subsystem::segments) returns.
    Scattered {
        /// Number of pieces.
        pieces: u32,
    },
    /// In the in-capsule data of the command.
    Capsule {
        /// Offset \[B from the first byte of in-capsule data\].
        offset: u32,
    },
    /// In host buffers that the transport identifies by the command, and transfers on request (TCP: R2T and data
    /// units).
    Transport {
        /// Offset \[B from the first byte of the command's data\].
        offset: u32,
    },
    /// In host memory that the transport accesses with a key (RDMA).
    Keyed {
        /// Address of the first byte.
        address: u64,
        /// The key.
        key: u32,
    },
}

/// An effect that a controller requests. The owner has the medium and the clock; the front carries commands and data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// An effect for the front.
    Host(HostEffect),
    /// Send a request to the medium; report its end with [`media_done`](super::Subsystem::media_done).
    Media {
        /// Token to resume with.
        token: Token,
        /// The request.
        request: MediaRequest,
    },
    /// Report the owner's counters with [`health`](super::Subsystem::health).
    Health {
        /// Token to resume with.
        token: Token,
    },
    /// Report the owner's present state with [`telemetry`](super::Subsystem::telemetry).
    Telemetry {
        /// Token to resume with.
        token: Token,
    },
    /// Call [`Subsystem::wake`](super::Subsystem::wake) at this time or later. A request for a later time does not
    /// replace an earlier one.
    WakeAt {
        /// Time of the call.
        at: Instant,
    },
}

/// An effect for the front, which carries commands, data and completions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostEffect {
    /// Fetch bytes that the controller itself reads; pass them to [`fetched`](super::Subsystem::fetched).
    Fetch {
        /// Token to resume with.
        token: Token,
        /// Location of the bytes. Entries, lists and doorbells are contiguous in host memory.
        at: Place,
        /// Number of bytes.
        bytes: u32,
        /// Purpose of the bytes.
        purpose: Purpose,
    },
    /// Transfer user data between the host and the medium's buffers. The subsystem never accesses them.
    Transfer {
        /// Token to resume with, in [`transferred`](super::Subsystem::transferred).
        token: Token,
        /// Direction of the transfer.
        direction: Direction,
        /// Total number of bytes.
        bytes: u32,
        /// Location at the host.
        at: Place,
    },
    /// Transfer data of the controller to the host: an identify structure or a log page.
    /// [`Subsystem::content`](super::Subsystem::content) returns the bytes.
    Store {
        /// Token to resume with, in [`stored`](super::Subsystem::stored).
        token: Token,
        /// Total number of bytes.
        bytes: u32,
        /// Destination at the host.
        at: Place,
    },
    /// Write a completion queue entry to host memory. Not resumed.
    Complete {
        /// The controller.
        controller: ControllerId,
        /// The completion queue.
        queue: CqId,
        /// Address of the entry.
        address: u64,
        /// The entry, with its phase.
        entry: CompletionEntry,
    },
    /// Return the completion of a command that the front submitted: a response capsule. Not resumed.
    Respond {
        /// The controller.
        controller: ControllerId,
        /// Submission queue of the command.
        queue: SqId,
        /// The entry; its phase has no meaning.
        entry: CompletionEntry,
    },
    /// The Keep Alive Timer has expired: the controller has failed (CSTS.CFS), and a fabric ends the association. Not
    /// resumed.
    KeepAliveExpired {
        /// The controller.
        controller: ControllerId,
    },
    /// Write an entry of the EventIdx buffer \[4 B, least significant first\]. Not resumed.
    EventIndex {
        /// The controller.
        controller: ControllerId,
        /// Address of the entry.
        address: u64,
        /// Value to write.
        value: u32,
    },
    /// Signal an interrupt vector. Not resumed.
    Interrupt {
        /// The controller.
        controller: ControllerId,
        /// Entry of its MSI-X table.
        vector: u16,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_its_ticket() {
        for kind in KINDS {
            let ticket = Ticket { controller: 3, kind, epoch: 0xabc, number: 0x12_3456, part: 0xfedc };
            assert_eq!(Ticket::of(ticket.token()), Some(ticket));
        }
        assert_eq!(Ticket::of(Token(u64::MAX)), None);
    }
}
