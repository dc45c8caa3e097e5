//! From bytes to a header: every way in which that can fail has a name.

use super::super::header_words::{
    AddressDw, CompletionDw1, CompletionDw2, HeaderDw0, MessageDw1, RequestDw1,
};
use super::super::tlp::TrafficClass;
use super::decode_error::DecodeError;
use super::{
    Bdf, ByteRange, Completion, Content, Dwords, Fmt, Message, MessageRouting, Part, Request,
    TYPE_COMPLETION, TYPE_MEMORY, TYPE_MESSAGE, TYPE_MESSAGE_LAST, Tag, TlpHeader, Traffic,
};

impl TlpHeader {
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
            (Fmt::FOUR_DW, TYPE_MESSAGE..=TYPE_MESSAGE_LAST) => {
                Content::Message(message(dw0, bytes, Dwords::ZERO)?)
            }
            (Fmt::FOUR_DW_DATA, TYPE_MESSAGE..=TYPE_MESSAGE_LAST) => {
                Content::Message(message(dw0, bytes, length(dw0))?)
            }
            (fmt, type_code) => return Err(DecodeError::Kind { fmt, type_code }),
        };
        let header = Self { traffic: traffic(dw0)?, ecrc: dw0.td(), poisoned: dw0.ep(), content };
        Ok((header, header.kind().header_bytes(header.address_width()) as usize))
    }
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

fn message(dw0: HeaderDw0, bytes: &[u8], payload: Dwords) -> Result<Message, DecodeError> {
    let dw1 = MessageDw1::from_raw(dword(bytes, 1)?);
    Ok(Message {
        requester: Bdf::from_raw(dw1.requester()),
        tag: dw1.tag(),
        code: dw1.code(),
        routing: MessageRouting(dw0.type_code() - TYPE_MESSAGE),
        words: [dword(bytes, 2)?, dword(bytes, 3)?],
        payload,
    })
}
