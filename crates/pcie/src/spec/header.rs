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
//! enables with a hole, processing hints, translated addresses, prefixes, requests other than memory's, messages with
//! data.

use super::header_words::{AddressDw, CompletionDw1, CompletionDw2, HeaderDw0, MessageDw1, RequestDw1};
use super::range::{BadRange, ByteRange};
use super::size::Dwords;
use super::tlp::{AddressWidth, Format, TlpKind, Traffic, TrafficClass};
use core::fmt;
use lanetwin_wire::DoesNotFit;

pub use super::header_words::{Bdf, CompletionStatus, Fmt, MessageCode, MessageRouting};

/// Type of a memory request.
const TYPE_MEMORY: u8 = 0b0_0000;
/// Type of a completion.
const TYPE_COMPLETION: u8 = 0b0_1010;
/// Type of a message, its routing zero.
const TYPE_MESSAGE: u8 = 0b1_0000;

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
    /// Message without data (Msg).
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

/// A message without data.
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
    /// Its last two dwords, which the code gives a meaning.
    pub words: [u32; 2],
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

/// Why bytes are not a header that is modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// There are fewer bytes than the header has.
    Truncated {
        /// How many it has.
        needed: usize,
    },
    /// The kind of packet is not modelled.
    Kind {
        /// Fmt.
        fmt: Fmt,
        /// Type.
        type_code: u8,
    },
    /// It uses something that is not modelled.
    NotModelled(&'static str),
    /// The bytes asked for are not a legal range.
    Range(BadRange),
    /// An address below 4 GiB in a header of four dwords.
    AddressFitsThreeDwords,
    /// A completion carries more than is still to come.
    CompletionTooLong,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed } => write!(f, "the header has {needed} bytes, and there are fewer"),
            Self::Kind { fmt, type_code } => write!(f, "Fmt {fmt}, Type {type_code:#07b} is not modelled"),
            Self::NotModelled(what) => write!(f, "{what} is not modelled"),
            Self::Range(bad) => bad.fmt(f),
            Self::AddressFitsThreeDwords => write!(f, "an address below 4 GiB in a header of four dwords"),
            Self::CompletionTooLong => write!(f, "a completion carries more than is still to come"),
        }
    }
}
impl core::error::Error for DecodeError {}

impl TlpHeader {
    /// What kind of packet it is.
    #[must_use]
    pub const fn kind(&self) -> TlpKind {
        match self.content {
            Content::MemoryRead(_) => TlpKind::MRd,
            Content::MemoryWrite(_) => TlpKind::MWr,
            Content::Completion(completion) if completion.part.dwords.0 == 0 => TlpKind::Cpl,
            Content::Completion(_) => TlpKind::CplD,
            Content::Message(_) => TlpKind::Msg,
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
            Content::MemoryRead(_) | Content::Message(_) => Dwords::ZERO,
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
        let Message { requester, tag, code, routing, words: [dw2, dw3] } = message;
        HeaderDw0::ZERO.with_tc(routing.0)?; // three bits too, so that the sum below is a Type
        let dw0 = self.dw0(TYPE_MESSAGE + routing.0, Dwords::ZERO)?;
        let dw1 = MessageDw1::ZERO.with_requester(requester.raw())?.with_tag(tag)?.with_code(code)?;
        Ok([dw0.raw(), dw1.raw(), dw2, dw3])
    }

    /// Reads the header at the start of `bytes`, and how many bytes it has.
    ///
    /// # Errors
    /// If it is cut short, malformed, or of a kind that is not modelled.
    pub fn decode(bytes: &[u8]) -> Result<(Self, usize), DecodeError> {
        let dw0 = HeaderDw0::from_raw(dword(bytes, 0)?);
        let content = match (dw0.fmt(), dw0.type_code()) {
            (Fmt::THREE_DW | Fmt::FOUR_DW, TYPE_MEMORY) => Content::MemoryRead(request(dw0, bytes)?),
            (Fmt::THREE_DW_DATA | Fmt::FOUR_DW_DATA, TYPE_MEMORY) => {
                Content::MemoryWrite(request(dw0, bytes)?)
            }
            (Fmt::THREE_DW, TYPE_COMPLETION) => Content::Completion(completion(dw0, bytes, Dwords::ZERO)?),
            (Fmt::THREE_DW_DATA, TYPE_COMPLETION) => {
                Content::Completion(completion(dw0, bytes, length(dw0))?)
            }
            (Fmt::FOUR_DW, TYPE_MESSAGE..) => Content::Message(message(dw0, bytes)?),
            (fmt, type_code) => return Err(DecodeError::Kind { fmt, type_code }),
        };
        let header = Self { traffic: traffic(dw0)?, ecrc: dw0.td(), poisoned: dw0.ep(), content };
        Ok((header, header.kind().header_bytes(header.address_width()) as usize))
    }
}

fn with_tag(dw0: HeaderDw0, tag: Tag) -> Result<HeaderDw0, DoesNotFit> {
    dw0.with_tag_9(tag.0 & 0x200 != 0)?.with_tag_8(tag.0 & 0x100 != 0)
}

/// The dword of a header with this index.
fn dword(bytes: &[u8], index: usize) -> Result<u32, DecodeError> {
    let needed = (index + 1) * 4;
    let four = bytes.get(needed - 4..needed).and_then(|four| four.try_into().ok());
    four.map(u32::from_be_bytes).ok_or(DecodeError::Truncated { needed })
}

fn length(dw0: HeaderDw0) -> Dwords {
    Dwords(if dw0.length() == 0 { 1024 } else { dw0.length() })
}

fn tag(dw0: HeaderDw0, low: u8) -> Tag {
    Tag(u16::from(dw0.tag_9()) << 9 | u16::from(dw0.tag_8()) << 8 | u16::from(low))
}

fn traffic(dw0: HeaderDw0) -> Result<Traffic, DecodeError> {
    match dw0 {
        _ if dw0.th() => Err(DecodeError::NotModelled("a TLP processing hint")),
        _ if dw0.ln() => Err(DecodeError::NotModelled("lightweight notification")),
        _ if dw0.at() != 0 => Err(DecodeError::NotModelled("an address type other than untranslated")),
        _ => Ok(Traffic {
            class: TrafficClass::new(dw0.tc()).expect("a field of three bits"),
            relaxed_ordering: dw0.ro(),
            id_based_ordering: dw0.ido(),
            no_snoop: dw0.ns(),
        }),
    }
}

fn request(dw0: HeaderDw0, bytes: &[u8]) -> Result<Request, DecodeError> {
    let dw1 = RequestDw1::from_raw(dword(bytes, 1)?);
    let (high, low) = match dw0.fmt() {
        Fmt::FOUR_DW | Fmt::FOUR_DW_DATA => (dword(bytes, 2)?, dword(bytes, 3)?),
        _ => (0, dword(bytes, 2)?),
    };
    if high == 0 && matches!(dw0.fmt(), Fmt::FOUR_DW | Fmt::FOUR_DW_DATA) {
        return Err(DecodeError::AddressFitsThreeDwords);
    }
    let address = u64::from(high) << 32 | u64::from(AddressDw::from_raw(low).dword()) << 2;
    let range = ByteRange::from_byte_enables(address, length(dw0), dw1.first_be(), dw1.last_be());
    Ok(Request {
        requester: Bdf::from_raw(dw1.requester()),
        tag: tag(dw0, dw1.tag()),
        range: range.map_err(DecodeError::Range)?,
    })
}

fn completion(dw0: HeaderDw0, bytes: &[u8], payload: Dwords) -> Result<Completion, DecodeError> {
    let dw1 = CompletionDw1::from_raw(dword(bytes, 1)?);
    let dw2 = CompletionDw2::from_raw(dword(bytes, 2)?);
    if dw1.bcm() {
        return Err(DecodeError::NotModelled("a modified byte count (PCI-X)"));
    }
    let remaining = if dw1.byte_count() == 0 { 4096 } else { dw1.byte_count() };
    Ok(Completion {
        completer: Bdf::from_raw(dw1.completer()),
        requester: Bdf::from_raw(dw2.requester()),
        tag: tag(dw0, dw2.tag()),
        status: dw1.status(),
        part: Part::checked(dw2.lower_address(), remaining, payload).ok_or(DecodeError::CompletionTooLong)?,
    })
}

fn message(dw0: HeaderDw0, bytes: &[u8]) -> Result<Message, DecodeError> {
    let dw1 = MessageDw1::from_raw(dword(bytes, 1)?);
    Ok(Message {
        requester: Bdf::from_raw(dw1.requester()),
        tag: dw1.tag(),
        code: dw1.code(),
        routing: MessageRouting(dw0.type_code() - TYPE_MESSAGE),
        words: [dword(bytes, 2)?, dword(bytes, 3)?],
    })
}

#[cfg(test)]
mod tests;
