//! TLP headers: what a packet says, to bytes and back.
//!
//! ```text
//!  TlpHeader ── encode ──► 12 or 16 bytes ── decode ──► TlpHeader, the same
//!                                  any bytes ── decode ──► TlpHeader or DecodeError, never a panic
//! ```
//!
//! Reserved bits are sent as zero and ignored when received.
//!
//! Not here: what the models never make, which [`decode`](TlpHeader::decode) refuses by name — reads of no bytes, byte
//! enables with a hole, processing hints, translated addresses, prefixes, requests other than memory's.

use super::header_words::{AddressDw, CompletionDw1, CompletionDw2, HeaderDw0, MessageDw1, RequestDw1};
use super::range::ByteRange;
use super::size::Dwords;
use super::tlp::{AddressWidth, Format, TlpKind, Traffic};
use core::fmt;
use lanetwin_wire::DoesNotFit;

mod decode;
mod decode_error;

pub use super::header_words::{Bdf, CompletionStatus, Fmt, MessageCode, MessageRouting};
pub use decode_error::DecodeError;

/// Type of a memory request.
const TYPE_MEMORY: u8 = 0b0_0000;
/// Type of a completion.
const TYPE_COMPLETION: u8 = 0b0_1010;
/// Type of a message, its routing zero.
const TYPE_MESSAGE: u8 = 0b1_0000;
/// The lower three bits of a message's type are its routing.
const TYPE_MESSAGE_LAST: u8 = TYPE_MESSAGE | 0b111;

/// What ties a completion to its request: 0 to 1023.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(u16);

impl Tag {
    /// The tag with this number, if ten bits hold it.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number < 1 << 10 { Some(Self(number)) } else { None }
    }
    /// 0 to 1023.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tag{}", self.0)
    }
}

/// A TLP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TlpHeader {
    /// How the packet asks to be treated.
    pub traffic: Traffic,
    /// Whether an end-to-end CRC follows (TD).
    pub ecrc: bool,
    /// Whether its data are known to be bad (EP).
    pub poisoned: bool,
    /// What it is about.
    pub content: Content,
}

/// What a TLP is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Memory Read Request (MRd).
    MemoryRead(Request),
    /// Memory Write Request (MWr).
    MemoryWrite(Request),
    /// Completion, with or without data (CplD, Cpl).
    Completion(Completion),
    /// Message, with or without data (MsgD, Msg).
    Message(Message),
}

/// A memory request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Who asks.
    pub requester: Bdf,
    /// What the completion will be known by.
    pub tag: Tag,
    /// The bytes.
    pub range: ByteRange,
}

/// A completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Who answers.
    pub completer: Bdf,
    /// Who had asked.
    pub requester: Bdf,
    /// The request's tag.
    pub tag: Tag,
    /// How the request ended.
    pub status: CompletionStatus,
    /// What part of the request this answers.
    pub part: Part,
}

/// The part of a read that a completion answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    lower_address: u8,
    remaining: u16,
    dwords: Dwords,
}

impl Part {
    /// The part of `request` that `piece` is; none if it is not a part, or ends inside a dword before the last.
    #[must_use]
    pub fn of(request: ByteRange, piece: ByteRange) -> Option<Self> {
        let inside = piece.address() >= request.address() && piece.last_address() <= request.last_address();
        let remaining = request.last_address().wrapping_sub(piece.address()).wrapping_add(1);
        let part = Self::checked(piece.lower_address(), u16::try_from(remaining).ok()?, piece.dwords())?;
        (inside && part.bytes() == piece.len()).then_some(part)
    }
    /// The whole of `request`, answered without data.
    #[must_use]
    pub const fn without_data(request: ByteRange) -> Self {
        Self { lower_address: request.lower_address(), remaining: request.len(), dwords: Dwords::ZERO }
    }
    /// How many bytes this completion carries.
    #[must_use]
    pub fn bytes(self) -> u16 {
        let up_to = self.dwords.bytes().saturating_sub(u32::from(self.lower_address & 3));
        u16::try_from(up_to).map_or(self.remaining, |up_to| up_to.min(self.remaining))
    }
    /// Byte Count: how many bytes are still to come, with these.
    #[must_use]
    pub const fn remaining(self) -> u16 {
        self.remaining
    }
    /// Lower Address: the seven lower bits of the first byte's.
    #[must_use]
    pub const fn lower_address(self) -> u8 {
        self.lower_address
    }
    /// The payload's Length.
    #[must_use]
    pub const fn dwords(self) -> Dwords {
        self.dwords
    }
    /// The part with these fields, if the payload is no longer than what is still to come.
    fn checked(lower_address: u8, remaining: u16, dwords: Dwords) -> Option<Self> {
        let needed = (u16::from(lower_address & 3) + remaining).div_ceil(4);
        (remaining > 0 && dwords.0 <= needed).then_some(Self { lower_address, remaining, dwords })
    }
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who sends it.
    pub requester: Bdf,
    /// Its tag, of eight bits.
    pub tag: u8,
    /// What it says.
    pub code: MessageCode,
    /// Where it goes.
    pub routing: MessageRouting,
    /// The last two dwords of its header, which the code gives a meaning.
    pub words: [u32; 2],
    /// Its payload, if it has one.
    pub payload: Dwords,
}

/// The bytes of a header: 12 or 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderBytes {
    bytes: [u8; 16],
    len: usize,
}

impl HeaderBytes {
    /// The bytes in the order of transmission.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
    fn from_words(words: [u32; 4], dwords: usize) -> Self {
        let mut bytes = [0; 16];
        for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
            four.copy_from_slice(&word.to_be_bytes());
        }
        Self { bytes, len: dwords * 4 }
    }
}

impl TlpHeader {
    /// What kind of packet it is.
    #[must_use]
    pub const fn kind(&self) -> TlpKind {
        match self.content {
            Content::MemoryRead(_) => TlpKind::MRd,
            Content::MemoryWrite(_) => TlpKind::MWr,
            Content::Completion(completion) if completion.part.dwords.0 == 0 => TlpKind::Cpl,
            Content::Completion(_) => TlpKind::CplD,
            Content::Message(message) if message.payload.0 == 0 => TlpKind::Msg,
            Content::Message(_) => TlpKind::MsgD,
        }
    }
    /// What determines its size on the wire.
    #[must_use]
    pub const fn format(&self) -> Format {
        Format::new(self.kind(), self.address_width()).with_ecrc(self.ecrc)
    }
    /// The payload that follows it.
    #[must_use]
    pub const fn payload(&self) -> Dwords {
        match self.content {
            Content::MemoryWrite(request) => request.range.dwords(),
            Content::Completion(completion) => completion.part.dwords,
            Content::Message(message) => message.payload,
            Content::MemoryRead(_) => Dwords::ZERO,
        }
    }
    const fn address_width(&self) -> AddressWidth {
        match self.content {
            Content::MemoryRead(request) | Content::MemoryWrite(request) => request.range.address_width(),
            Content::Completion(_) | Content::Message(_) => AddressWidth::Bits32,
        }
    }

    /// The header's bytes.
    ///
    /// # Errors
    /// If a completion status or a message routing has more than its three bits.
    pub fn encode(&self) -> Result<HeaderBytes, DoesNotFit> {
        let dwords = self.kind().header_bytes(self.address_width()) as usize / 4;
        let words = match self.content {
            Content::MemoryRead(request) | Content::MemoryWrite(request) => self.request_words(request)?,
            Content::Completion(completion) => self.completion_words(completion)?,
            Content::Message(message) => self.message_words(message)?,
        };
        Ok(HeaderBytes::from_words(words, dwords))
    }

    fn dw0(&self, type_code: u8, length: Dwords) -> Result<HeaderDw0, DoesNotFit> {
        let four_dwords = self.kind().header_bytes(self.address_width()) == 16;
        let fmt = match (four_dwords, self.kind().has_data()) {
            (false, false) => Fmt::THREE_DW,
            (true, false) => Fmt::FOUR_DW,
            (false, true) => Fmt::THREE_DW_DATA,
            (true, true) => Fmt::FOUR_DW_DATA,
        };
        HeaderDw0::ZERO
            .with_fmt(fmt)?
            .with_type_code(type_code)?
            .with_tc(self.traffic.class.number())?
            .with_ido(self.traffic.id_based_ordering)?
            .with_ro(self.traffic.relaxed_ordering)?
            .with_ns(self.traffic.no_snoop)?
            .with_td(self.ecrc)?
            .with_ep(self.poisoned)?
            .with_length(length.0 % 1024)
    }

    fn request_words(&self, request: Request) -> Result<[u32; 4], DoesNotFit> {
        let Request { requester, tag, range } = request;
        let dw0 = with_tag(self.dw0(TYPE_MEMORY, range.dwords())?, tag)?;
        let dw1 = RequestDw1::ZERO
            .with_requester(requester.raw())?
            .with_tag(tag.0 as u8)?
            .with_last_be(range.last_be())?
            .with_first_be(range.first_be())?;
        let address = AddressDw::ZERO.with_dword((range.address() as u32) >> 2)?.raw();
        let (dw2, dw3) = match range.address_width() {
            AddressWidth::Bits32 => (address, 0),
            AddressWidth::Bits64 => ((range.address() >> 32) as u32, address),
        };
        Ok([dw0.raw(), dw1.raw(), dw2, dw3])
    }

    fn completion_words(&self, completion: Completion) -> Result<[u32; 4], DoesNotFit> {
        let Completion { completer, requester, tag, status, part } = completion;
        let dw0 = with_tag(self.dw0(TYPE_COMPLETION, part.dwords)?, tag)?;
        let dw1 = CompletionDw1::ZERO
            .with_completer(completer.raw())?
            .with_status(status)?
            .with_byte_count(part.remaining % 4096)?;
        let dw2 = CompletionDw2::ZERO
            .with_requester(requester.raw())?
            .with_tag(tag.0 as u8)?
            .with_lower_address(part.lower_address)?;
        Ok([dw0.raw(), dw1.raw(), dw2.raw(), 0])
    }

    fn message_words(&self, message: Message) -> Result<[u32; 4], DoesNotFit> {
        let Message { requester, tag, code, routing, words: [dw2, dw3], payload } = message;
        HeaderDw0::ZERO.with_tc(routing.0)?; // three bits too, so that the sum below is a Type
        let dw0 = self.dw0(TYPE_MESSAGE + routing.0, payload)?;
        let dw1 = MessageDw1::ZERO.with_requester(requester.raw())?.with_tag(tag)?.with_code(code)?;
        Ok([dw0.raw(), dw1.raw(), dw2, dw3])
    }
}

fn with_tag(dw0: HeaderDw0, tag: Tag) -> Result<HeaderDw0, DoesNotFit> {
    dw0.with_tag_9(tag.0 & 0x200 != 0)?.with_tag_8(tag.0 & 0x100 != 0)
}

#[cfg(test)]
mod tests;
