//! What a controller wants done. It asks for everything that takes time, and goes on when it is told that it was done.
//!
//! ```text
//!  4 KiB read:    ring ─► Fetch ─► fetched ─► Media ─► media_done ─► Transfer ─► transferred ─► Complete, Interrupt
//!  4 KiB write:   ring ─► Fetch ─► fetched ─► Transfer ─► transferred ─► Media ─► media_done ─► Complete, Interrupt
//! ```
//!
//! The contract with whoever carries them out:
//!
//! 1. An effect with a token is resumed **exactly once**, also after the controller was reset or lost: with
//!    [`fetched`], [`transferred`], [`media_done`], [`stored`], [`health`] or [`telemetry`], or with [`failed`].
//!    Until then the controller is not at rest (CSTS.RDY stays 1 after CC.EN was cleared).
//! 2. [`HostEffect::Complete`], [`HostEffect::Respond`], [`HostEffect::EventIndex`] and [`HostEffect::Interrupt`] have
//!    no token. They and whatever a controller wrote before must become visible to the host in the order in which they
//!    were asked for, as posted writes do.
//! 3. A [`HostEffect::Fetch`] that follows an [`HostEffect::EventIndex`] reads behind that write.
//! 4. A transfer to the host is resumed when its data are ahead of whatever the controller writes next: the completion
//!    comes behind.
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

/// What an effect is resumed with. It means something to the subsystem that made it, and to nobody else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

impl Token {
    /// The token as a number, for owners that keep it in a message.
    #[must_use]
    pub const fn to_raw(self) -> u64 {
        self.0
    }
    /// The place in the subsystem's configuration of the controller that made it.
    #[must_use]
    pub const fn controller(self) -> usize {
        (self.0 >> 56) as usize
    }
    /// What all effects of one part of one command have in common: the transfer of a write and its media effect, for
    /// owners that keep the data between them. No other part has it while one of those effects is not resumed.
    #[must_use]
    pub const fn part(self) -> u64 {
        self.0 & !(0xf << 52)
    }
    /// The token of a number that [`Token::to_raw`] gave. Any other number is ignored where it is resumed.
    #[must_use]
    pub const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }
}

/// What is resumed: chosen by the controller, kept in the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::logic) enum Kind {
    /// Submission queue entries; the number is a fetch.
    Commands,
    /// A PRP list or an SGL segment of a command.
    Pointers,
    /// What a command brings beside user data.
    Content,
    /// User data, or what the controller made.
    Data,
    /// The medium, for a part of a command.
    Media,
    /// The owner's counters.
    Health,
    /// A shadow doorbell; the number is `2 × queue`, or `2 × queue + 1` for a completion queue.
    Shadow,
    /// The flush of a shutdown.
    Shutdown,
    /// A sanitize, which no reset ends.
    Sanitize,
    /// The owner's state, for a host that asks.
    Telemetry,
    /// The owner's state, which the controller asks for of its own accord and no reset ends.
    Capture,
}

/// How a fetch has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::logic) enum Resumed<'a> {
    /// With these bytes.
    Bytes(&'a [u8]),
    /// With a list that nobody keeps, of pages that follow one another.
    Contiguous,
    /// With none.
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

/// A token taken apart.
///
/// | bits | holds |
/// |---|---|
/// | 63:56 | which controller |
/// | 55:52 | [`Kind`] |
/// | 51:40 | epoch: how often the controller was reset, modulo 4096 |
/// | 39:16 | a command in progress, or what the kind says |
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
    /// Epochs are counted modulo this.
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
    /// None for a number that no token has.
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

/// Bytes of host memory that follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Segment {
    /// Where they begin.
    pub address: u64,
    /// How many there are \[B\].
    pub bytes: u32,
}

/// Which way data go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From host memory to the controller: a write.
    FromHost,
    /// From the controller to host memory: a read.
    ToHost,
}

/// What the bytes of a [`HostEffect::Fetch`] are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Purpose {
    /// Submission queue entries.
    Commands(SqId),
    /// Entries of a PRP list.
    PrpList,
    /// Descriptors of an SGL segment.
    SglSegment,
    /// What a command brings beside user data: ranges, attributes.
    Content,
    /// A shadow doorbell.
    ShadowDoorbell(Doorbell),
}

/// What the medium is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MediaRequest {
    /// Whose blocks. [`Nsid::ALL`] for a flush or format of all, and for a sanitize.
    pub nsid: Nsid,
    /// What to do.
    pub operation: MediaOperation,
    /// The first block \[logical blocks of the namespace\].
    pub slba: u64,
    /// How many; 0 where the operation is not about blocks.
    pub blocks: u32,
    /// The blocks of the command that this is a part of; none if it is all of it, or one of several things that the
    /// command asks for.
    pub part_of: Option<CommandBlocks>,
}

/// The blocks of a command that the controller takes in parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommandBlocks {
    /// The first one \[logical blocks of the namespace\].
    pub slba: u64,
    /// How many.
    pub blocks: u32,
}

/// What is done with blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MediaOperation {
    /// Read; the data go to the host afterwards.
    Read,
    /// Write data that have come from the host.
    Write {
        /// Force Unit Access, or the volatile write cache is off: not before it is on the medium.
        force_unit_access: bool,
    },
    /// Compare with data that have come from the host; [`COMPARE_FAILURE`](crate::spec::Status::COMPARE_FAILURE) if
    /// they differ.
    Compare,
    /// Write zeroes, without data.
    WriteZeroes {
        /// The blocks may be deallocated.
        deallocate: bool,
        /// Force Unit Access.
        force_unit_access: bool,
    },
    /// The host no longer needs the blocks.
    Deallocate,
    /// Everything that was acknowledged goes to the medium.
    Flush,
    /// Format the namespace; the subsystem has its new block size already.
    Format {
        /// Secure Erase Settings (SES): 0 none, 1 user data erase, 2 cryptographic erase.
        secure_erase: u8,
    },
    /// Sanitize the subsystem; [`Subsystem::sanitize_progress`](super::Subsystem::sanitize_progress) tells how far it
    /// is.
    Sanitize {
        /// Sanitize Action (SANACT): 2 block erase, 3 overwrite, 4 crypto erase.
        action: u8,
    },
}

/// Where bytes are on the host's side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// In host memory, in one piece.
    Memory {
        /// Where they begin.
        address: u64,
    },
    /// In host memory, in so many pieces; [`Subsystem::segments`](super::Subsystem::segments) gives them.
    Scattered {
        /// How many.
        pieces: u32,
    },
    /// In the data that came in the command's capsule.
    Capsule {
        /// Where they begin \[B from the first byte of in-capsule data\].
        offset: u32,
    },
    /// In buffers of the host that only its transport knows by the command: it is asked for them (TCP: R2T and data
    /// units).
    Transport {
        /// Where they begin \[B from the first byte of the command's data\].
        offset: u32,
    },
    /// In memory of the host that the transport reaches with a key (RDMA).
    Keyed {
        /// Where they begin.
        address: u64,
        /// The key.
        key: u32,
    },
}

/// What a controller wants done. Its owner has the medium and keeps time; whoever carries commands and data is the
/// front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// For the front.
    Host(HostEffect),
    /// Ask the medium; [`media_done`](super::Subsystem::media_done) says how it ended.
    Media {
        /// To resume with.
        token: Token,
        /// What for.
        request: MediaRequest,
    },
    /// The owner is asked for its counters; [`health`](super::Subsystem::health) takes them.
    Health {
        /// To resume with.
        token: Token,
    },
    /// The owner is asked for its state at this time; [`telemetry`](super::Subsystem::telemetry) takes it.
    Telemetry {
        /// To resume with.
        token: Token,
    },
    /// Call [`Subsystem::wake`](super::Subsystem::wake) at this time, or any time later; a later wake does not take
    /// back an earlier one.
    WakeAt {
        /// When.
        at: Instant,
    },
}

/// What a controller wants of the host's side: of whoever carries commands, data and completions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostEffect {
    /// Bring bytes that the controller reads itself; they go to [`fetched`](super::Subsystem::fetched).
    Fetch {
        /// To resume with.
        token: Token,
        /// From where. Entries, lists and doorbells are in host memory, in one piece.
        at: Place,
        /// How many bytes.
        bytes: u32,
        /// What for.
        purpose: Purpose,
    },
    /// Move user data between the host and the medium's buffers. The subsystem never sees them.
    Transfer {
        /// To resume with, in [`transferred`](super::Subsystem::transferred).
        token: Token,
        /// Which way.
        direction: Direction,
        /// How many bytes in all.
        bytes: u32,
        /// Where they are, or go.
        at: Place,
    },
    /// Give the host what the controller has made: an identify structure, a log page.
    /// [`Subsystem::content`](super::Subsystem::content) gives the bytes.
    Store {
        /// To resume with, in [`stored`](super::Subsystem::stored).
        token: Token,
        /// How many bytes in all.
        bytes: u32,
        /// Where they go.
        at: Place,
    },
    /// Write a completion queue entry to host memory. Not resumed.
    Complete {
        /// Who.
        controller: ControllerId,
        /// Into which queue.
        queue: CqId,
        /// Where the entry goes.
        address: u64,
        /// The entry, with its phase.
        entry: CompletionEntry,
    },
    /// Hand over the completion of a command that was handed in: a response capsule. Not resumed.
    Respond {
        /// Who.
        controller: ControllerId,
        /// By which queue the command came.
        queue: SqId,
        /// The entry; its phase means nothing.
        entry: CompletionEntry,
    },
    /// The Keep Alive Timer has expired: the controller has failed (CSTS.CFS), and a fabric ends the association. Not
    /// resumed.
    KeepAliveExpired {
        /// Whose.
        controller: ControllerId,
    },
    /// Write an entry of the EventIdx buffer \[4 B, least significant first\]. Not resumed.
    EventIndex {
        /// Who.
        controller: ControllerId,
        /// Where.
        address: u64,
        /// What.
        value: u32,
    },
    /// Signal an interrupt vector. Not resumed.
    Interrupt {
        /// Who.
        controller: ControllerId,
        /// Which entry of its MSI-X table.
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
