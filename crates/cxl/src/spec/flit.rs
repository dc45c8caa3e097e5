//! Encoder and decoder of 68 B flits.
//!
//! ```text
//!  byte 0        2            18           34           50           66     68
//!       │ protocol │ slot 0     │ slot 1     │ slot 2     │ slot 3     │ CRC │
//!       │ ID       │ header, 96 │ messages or 16 B of data             │     │
//!
//!  Flit ── encode ──► 68 bytes ── Decoder ──► Flit, the same
//!                     any bytes ── Decoder ──► Flit or FlitError, never a panic
//! ```
//!
//! An all-data flit has no header: the receiver knows from earlier data headers that it comes. So the [`Decoder`]
//! counts the chunks that are still to come, as every receiver does. Reserved bits are sent as zero and ignored when
//! received.
//!
//! Not here: slots of CXL.cache and of integrity and data encryption, which the decoder refuses with an error of their
//! own; byte enables; half lines.

use super::Direction;
use super::constants::{
    FLIT_BYTES, FLIT_SLOTS, LINE_SLOTS, M2S_REQ_PER_FLIT, M2S_RWD_PER_FLIT, PROTOCOL_ID_BYTES,
    S2M_DRS_PER_FLIT, S2M_NDR_PER_FLIT, SLOT_BYTES,
};
use super::crc::crc;
use super::message::{M2sReq, M2sRwd, REQUEST_BITS};
use super::slots::{HEADER_BITS, Places, bits, format};
use core::fmt;
use lanetwin_wire::{open_enum, wire};

pub use super::slots::Responses;

/// Bytes of a flit.
pub type FlitBytes = [u8; FLIT_BYTES as usize];
/// A chunk of data: 16 B of a line.
pub type Chunk = [u8; SLOT_BYTES];

open_enum! {
    /// Protocol ID before a flit on the wire (CXL §6.2.2.1, table 6-2): two equal bytes.
    pub struct ProtocolId(u16) {
        /// CXL.io.
        IO = 0xffff;
        /// CXL.io, followed by an ordered set.
        IO_EDS = 0xd2d2;
        /// CXL.cache and CXL.mem.
        CACHEMEM = 0x5555;
        /// CXL.cache and CXL.mem, followed by an ordered set.
        CACHEMEM_EDS = 0x8787;
        /// Nothing.
        NULL = 0x9999;
        /// NULL flit, followed by an ordered set.
        NULL_EDS = 0x4b4b;
    }

    /// LLCTRL, the type of a control flit (CXL §4.2.6, table 4-9).
    pub struct LlCtrl(u8) {
        /// LLCRD: returns credits and acknowledgements.
        LLCRD = 0b0000;
        /// RETRY.
        RETRY = 0b0001;
        /// IDE.
        IDE = 0b0010;
        /// INIT.
        INIT = 0b1100;
    }

    /// SubType of a RETRY flit (CXL §4.2.6, table 4-10).
    pub struct RetrySubType(u8) {
        /// RETRY.Idle.
        IDLE = 0;
        /// RETRY.Req.
        REQ = 1;
        /// RETRY.Ack.
        ACK = 2;
        /// RETRY.Frame.
        FRAME = 3;
    }
}

wire! {
    /// Header of a protocol flit (CXL §4.2.2, table 4-1).
    pub struct FlitHeader(u32) {
        /// Type: a control flit
        control / with_control: bool = 0:0;
        /// Reserved
        reserved = 1:1;
        /// Ak: acknowledges eight flits
        acknowledge / with_acknowledge: bool = 2:2;
        /// BE: byte enables follow the data
        byte_enables / with_byte_enables: bool = 3:3;
        /// Sz: whole lines
        whole_lines / with_whole_lines: bool = 4:4;
        /// Format of slot 0
        slot_0 / with_slot_0: u8 = 7:5;
        /// Format of slot 1
        slot_1 / with_slot_1: u8 = 10:8;
        /// Format of slot 2
        slot_2 / with_slot_2: u8 = 13:11;
        /// Format of slot 3
        slot_3 / with_slot_3: u8 = 16:14;
        /// Reserved
        reserved = 19:17;
        /// RspCrd: NDR credits
        response_credits / with_response_credits: u8 = 23:20;
        /// ReqCrd: Req credits
        request_credits / with_request_credits: u8 = 27:24;
        /// DataCrd: RwD or DRS credits
        data_credits / with_data_credits: u8 = 31:28;
    }

    /// First eight bytes of a control flit (CXL §4.2.6, figures 4-35 and 4-36; the positions of LLCTRL and SubType are
    /// `assumed`).
    pub struct ControlHeader(u64) {
        /// Type: a control flit
        control / with_control: bool = 0:0;
        /// Reserved
        reserved = 1:1;
        /// Ak: part of the acknowledgement of an LLCRD flit
        acknowledge / with_acknowledge: bool = 2:2;
        /// Reserved
        reserved = 4:3;
        /// CTL_FMT
        format / with_format: u8 = 7:5;
        /// Reserved
        reserved = 19:8;
        /// RspCrd: NDR credits
        response_credits / with_response_credits: u8 = 23:20;
        /// ReqCrd: Req credits
        request_credits / with_request_credits: u8 = 27:24;
        /// DataCrd: RwD or DRS credits
        data_credits / with_data_credits: u8 = 31:28;
        /// SubType
        sub_type / with_sub_type: u8 = 35:32;
        /// LLCTRL
        kind / with_kind: LlCtrl = 39:36;
        /// Reserved
        reserved = 63:40;
    }
}

/// Encodes a number of CXL.mem credits as a header field: 0 or a power of two up to 64 (CXL §4.2.2, table 4-4).
///
/// Returns `None` for other numbers, which no field can encode.
#[must_use]
pub const fn credit_field(credits: u32) -> Option<u8> {
    match credits {
        0 => Some(0b1000),
        1 | 2 | 4 | 8 | 16 | 32 | 64 => Some(0b1001 + credits.trailing_zeros() as u8),
        _ => None,
    }
}

/// Number of CXL.mem credits that a header field returns; 0 if its credits are those of CXL.cache.
#[must_use]
pub const fn credits_of_field(field: u8) -> u32 {
    if field & 0b1000 == 0 || field & 0b111 == 0 { 0 } else { 1 << ((field & 0b111) - 1) }
}

/// Credits that a flit returns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CreditReturn {
    /// For S2M NDR.
    pub responses: u32,
    /// For M2S Req.
    pub requests: u32,
    /// For M2S RwD or S2M DRS.
    pub data: u32,
}

/// Content of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// No valid message.
    Empty,
    /// A request without data (H5, G4).
    Req(M2sReq),
    /// The header of a request with data (H4, G5).
    Rwd(M2sRwd),
    /// Responses (H3, H4, H5, G4, G5, G6).
    Responses(Responses),
    /// 16 B of a line (G0).
    Data(Chunk),
}

/// A flit of CXL.mem.
#[allow(
    clippy::large_enum_variant,
    reason = "protocol flits are what there is most of, and a box is not Copy"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flit {
    /// A flit with a header.
    Protocol {
        /// Whether it acknowledges eight flits.
        acknowledge: bool,
        /// Credits that the flit returns.
        credits: CreditReturn,
        /// The slots.
        slots: [Slot; FLIT_SLOTS],
    },
    /// Four chunks of data.
    AllData([Chunk; FLIT_SLOTS]),
    /// LLCRD: credits only.
    Credits(CreditReturn),
    /// RETRY.
    Retry(RetrySubType),
}

/// Reasons why bytes are not decoded, or a flit not encoded, as CXL.mem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlitError {
    /// The protocol ID is not that of CXL.mem.
    Protocol(ProtocolId),
    /// The CRC is wrong.
    Crc,
    /// A control flit of another type.
    Control(LlCtrl),
    /// A slot has a format of CXL.cache or of encryption, or a reserved one.
    Format {
        /// Number of the slot.
        slot: u8,
        /// Its format.
        format: u8,
    },
    /// Byte enables or half lines.
    PartialLine,
    /// A data slot without a data header before it, or another slot where data must follow.
    Rollover {
        /// Number of the slot.
        slot: u8,
    },
    /// More messages of a class than a flit may carry, or data headers in several slots.
    TooMany,
    /// A message follows a free position.
    Loose {
        /// Number of the slot.
        slot: u8,
    },
    /// A flit that cannot be encoded: messages of the other direction, or a number of credits without an encoding.
    NotWritable,
}

impl fmt::Display for FlitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(id) => write!(f, "a flit of protocol {id}"),
            Self::Crc => f.write_str("a wrong CRC"),
            Self::Control(kind) => write!(f, "a control flit of kind {kind}"),
            Self::Format { slot, format } => {
                write!(f, "slot {slot} has format {format}, which CXL.mem does not use")
            }
            Self::PartialLine => f.write_str("byte enables or half lines"),
            Self::Rollover { slot } => {
                write!(f, "slot {slot} does not hold the data that are due, or no data are due")
            }
            Self::TooMany => f.write_str("more messages than a flit may carry"),
            Self::Loose { slot } => write!(f, "slot {slot} has a message behind a place that is free"),
            Self::NotWritable => {
                f.write_str("messages of the other direction, or credits that no field can say")
            }
        }
    }
}

impl core::error::Error for FlitError {}

impl Flit {
    /// Encodes the flit for the wire, with [`ProtocolId::CACHEMEM`] before it.
    ///
    /// # Errors
    /// [`FlitError::NotWritable`] if there is no slot format for it in this direction, or no field for its credits.
    pub fn encode(&self, direction: Direction) -> Result<FlitBytes, FlitError> {
        let slots = match self {
            Self::AllData(chunks) => *chunks,
            Self::Credits(credits) => {
                let [responses, requests, data] = fields(*credits)?;
                let header = ControlHeader::ZERO.with_control(true).and_then(|header| {
                    header
                        .with_kind(LlCtrl::LLCRD)?
                        .with_response_credits(responses)?
                        .with_request_credits(requests)?
                        .with_data_credits(data)
                });
                control(header.map_err(|_| FlitError::NotWritable)?)
            }
            Self::Retry(what) => {
                let header = ControlHeader::ZERO
                    .with_control(true)
                    .and_then(|header| header.with_kind(LlCtrl::RETRY)?.with_sub_type(what.0));
                control(header.map_err(|_| FlitError::NotWritable)?)
            }
            Self::Protocol { acknowledge, credits, slots } => {
                protocol(direction, *acknowledge, *credits, slots)?
            }
        };
        let mut flat = [0; SLOT_BYTES * FLIT_SLOTS];
        flat.as_chunks_mut().0.copy_from_slice(&slots);
        let mut bytes = [0; FLIT_BYTES as usize];
        bytes[..PROTOCOL_ID_BYTES].copy_from_slice(&ProtocolId::CACHEMEM.0.to_le_bytes());
        bytes[PROTOCOL_ID_BYTES..][..flat.len()].copy_from_slice(&flat);
        bytes[PROTOCOL_ID_BYTES + flat.len()..].copy_from_slice(&crc(&flat).to_le_bytes());
        Ok(bytes)
    }
}

fn fields(credits: CreditReturn) -> Result<[u8; 3], FlitError> {
    let field = |credits| credit_field(credits).ok_or(FlitError::NotWritable);
    Ok([field(credits.responses)?, field(credits.requests)?, field(credits.data)?])
}

fn control(header: ControlHeader) -> [Chunk; FLIT_SLOTS] {
    let mut slots = [[0; SLOT_BYTES]; FLIT_SLOTS];
    slots[0] = u128::from(header.raw()).to_le_bytes();
    slots
}

fn protocol(
    direction: Direction,
    acknowledge: bool,
    credits: CreditReturn,
    slots: &[Slot; FLIT_SLOTS],
) -> Result<[Chunk; FLIT_SLOTS], FlitError> {
    let mut formats = [0; FLIT_SLOTS];
    let mut words = [0_u128; FLIT_SLOTS];
    for (place, slot) in slots.iter().enumerate() {
        let (format, word) = write_slot(direction, place, slot)?;
        formats[place] = format;
        words[place] = if place == 0 { word << HEADER_BITS } else { word };
    }
    let [responses, requests, data] = fields(credits)?;
    let header = FlitHeader::ZERO.with_acknowledge(acknowledge).and_then(|header| {
        header
            .with_whole_lines(true)?
            .with_slot_0(formats[0])?
            .with_slot_1(formats[1])?
            .with_slot_2(formats[2])?
            .with_slot_3(formats[3])?
            .with_response_credits(responses)?
            .with_request_credits(requests)?
            .with_data_credits(data)
    });
    words[0] |= u128::from(header.map_err(|_| FlitError::NotWritable)?.raw());
    Ok(words.map(u128::to_le_bytes))
}

/// The format and the bits of a slot, without the header in slot 0.
fn write_slot(direction: Direction, place: usize, slot: &Slot) -> Result<(u8, u128), FlitError> {
    let (req, rwd, empty) = if place == 0 {
        (format::H5, format::H4, if direction == Direction::M2s { format::H5 } else { format::H4 })
    } else {
        (format::G4, format::G5, if direction == Direction::M2s { format::G4 } else { format::G5 })
    };
    match (direction, slot) {
        (_, Slot::Empty) => Ok((empty, 0)),
        (_, Slot::Data(chunk)) if place > 0 => Ok((format::DATA, u128::from_le_bytes(*chunk))),
        (Direction::M2s, Slot::Req(message)) if message.valid() => {
            Ok((req, bits(message.raw(), 0, REQUEST_BITS)))
        }
        (Direction::M2s, Slot::Rwd(message)) if message.valid() => {
            Ok((rwd, bits(message.raw(), 0, REQUEST_BITS)))
        }
        (Direction::S2m, Slot::Responses(responses)) if responses.is_tight() => {
            let (drs, ndr) = responses.counts();
            let places = Places::for_counts(place, drs, ndr).ok_or(FlitError::NotWritable)?;
            Ok((places.format, places.write(responses)))
        }
        _ => Err(FlitError::NotWritable),
    }
}

/// Decoder of one direction, which counts the data chunks that its headers have announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoder {
    direction: Direction,
    rollover: u8,
}

impl Decoder {
    /// A decoder that expects a header.
    #[must_use]
    pub const fn new(direction: Direction) -> Self {
        Self { direction, rollover: 0 }
    }
    /// Number of data chunks still to come.
    #[must_use]
    pub const fn rollover(&self) -> u8 {
        self.rollover
    }
    /// Decodes a flit.
    ///
    /// # Errors
    /// The first error that is found; the decoder then still expects the same as before.
    pub fn decode(&mut self, bytes: &FlitBytes) -> Result<Flit, FlitError> {
        let (id, rest) = bytes.split_at(PROTOCOL_ID_BYTES);
        let id = ProtocolId(u16::from_le_bytes([id[0], id[1]]));
        if id != ProtocolId::CACHEMEM && id != ProtocolId::CACHEMEM_EDS {
            return Err(FlitError::Protocol(id));
        }
        let mut flat = [0; SLOT_BYTES * FLIT_SLOTS];
        flat.copy_from_slice(&rest[..SLOT_BYTES * FLIT_SLOTS]);
        if rest[flat.len()..] != crc(&flat).to_le_bytes() {
            return Err(FlitError::Crc);
        }
        let mut slots = [[0; SLOT_BYTES]; FLIT_SLOTS];
        slots.copy_from_slice(flat.as_chunks().0);
        if self.rollover >= LINE_SLOTS {
            self.rollover -= FLIT_SLOTS as u8;
            return Ok(Flit::AllData(slots));
        }
        let words = slots.map(u128::from_le_bytes);
        let header = FlitHeader::from_raw(words[0] as u32);
        if header.control() {
            return control_flit(ControlHeader::from_raw(words[0] as u64));
        }
        if header.byte_enables() || !header.whole_lines() {
            return Err(FlitError::PartialLine);
        }
        self.protocol(header, words)
    }

    fn protocol(&mut self, header: FlitHeader, words: [u128; FLIT_SLOTS]) -> Result<Flit, FlitError> {
        let formats = [header.slot_0(), header.slot_1(), header.slot_2(), header.slot_3()];
        let mut slots = [Slot::Empty; FLIT_SLOTS];
        let mut rollover = self.rollover;
        let mut count = Counts::default();
        for (place, format) in formats.into_iter().enumerate() {
            let slot = place as u8;
            let data = place > 0 && format == format::DATA;
            if place > 0 && data != (rollover > 0) {
                return Err(FlitError::Rollover { slot });
            }
            if data {
                rollover -= 1;
                slots[place] = Slot::Data(words[place].to_le_bytes());
                continue;
            }
            let word = if place == 0 { words[0] >> HEADER_BITS } else { words[place] };
            slots[place] = self.read_slot(place, format, word)?;
            rollover += LINE_SLOTS * count.add(&slots[place]);
            count.check(self.direction)?;
        }
        self.rollover = rollover;
        let credits = CreditReturn {
            responses: credits_of_field(header.response_credits()),
            requests: credits_of_field(header.request_credits()),
            data: credits_of_field(header.data_credits()),
        };
        Ok(Flit::Protocol { acknowledge: header.acknowledge(), credits, slots })
    }

    fn read_slot(&self, place: usize, format: u8, word: u128) -> Result<Slot, FlitError> {
        let slot = place as u8;
        let unknown = FlitError::Format { slot, format };
        let (req, rwd) = if place == 0 { (format::H5, format::H4) } else { (format::G4, format::G5) };
        let request = bits(word, 0, REQUEST_BITS);
        match self.direction {
            Direction::M2s if format == req => {
                let message = M2sReq::from_raw(request);
                Ok(if message.valid() { Slot::Req(message) } else { Slot::Empty })
            }
            Direction::M2s if format == rwd => {
                let message = M2sRwd::from_raw(request);
                Ok(if message.valid() { Slot::Rwd(message) } else { Slot::Empty })
            }
            Direction::M2s => Err(unknown),
            Direction::S2m => {
                let responses = Places::of_format(place, format).ok_or(unknown)?.read(word);
                if !responses.is_tight() {
                    return Err(FlitError::Loose { slot });
                }
                Ok(if responses.counts() == (0, 0) { Slot::Empty } else { Slot::Responses(responses) })
            }
        }
    }
}

fn control_flit(header: ControlHeader) -> Result<Flit, FlitError> {
    match header.kind() {
        LlCtrl::LLCRD => Ok(Flit::Credits(CreditReturn {
            responses: credits_of_field(header.response_credits()),
            requests: credits_of_field(header.request_credits()),
            data: credits_of_field(header.data_credits()),
        })),
        LlCtrl::RETRY => Ok(Flit::Retry(RetrySubType(header.sub_type()))),
        other => Err(FlitError::Control(other)),
    }
}

/// Numbers of messages of a flit so far.
#[derive(Default)]
struct Counts {
    no_data: u8,
    data: u8,
    slots_with_data_headers: u8,
}

impl Counts {
    /// Counts the messages of a slot, and returns the number of its data headers.
    fn add(&mut self, slot: &Slot) -> u8 {
        let (data, no_data) = match slot {
            Slot::Empty | Slot::Data(_) => (0, 0),
            Slot::Req(_) => (0, 1),
            Slot::Rwd(_) => (1, 0),
            Slot::Responses(responses) => {
                let (drs, ndr) = responses.counts();
                (drs as u8, ndr as u8)
            }
        };
        self.no_data += no_data;
        self.data += data;
        self.slots_with_data_headers += u8::from(data > 0);
        data
    }
    fn check(&self, direction: Direction) -> Result<(), FlitError> {
        let (no_data, data) = match direction {
            Direction::M2s => (M2S_REQ_PER_FLIT, M2S_RWD_PER_FLIT),
            Direction::S2m => (S2M_NDR_PER_FLIT, S2M_DRS_PER_FLIT),
        };
        if self.no_data > no_data || self.data > data || self.slots_with_data_headers > 1 {
            return Err(FlitError::TooMany);
        }
        Ok(())
    }
}
