//! Reader of data units from a stream that arrives in arbitrary pieces (TCP Transport 1.0, PDU Structure and Error
//! Handling Model).
//!
//! | error | FES | FEI |
//! |---|---|---|
//! | type unknown, or of the other direction | Invalid PDU Header Field | 0 |
//! | HLEN is not that of the type | Invalid PDU Header Field | 2 |
//! | header or data digest present though not negotiated, or the reverse | Invalid PDU Header Field | 1 |
//! | header digest wrong | Header Digest Error | the digest received |
//! | PDO inside the header, not aligned, or beyond the end | Invalid PDU Header Field | 3 |
//! | PLEN does not match header and data | Invalid PDU Header Field | 4 |
//! | H2CData longer than MAXH2CDATA | Data Transfer Limit Exceeded | 0 |
//!
//! A wrong data digest is not a fatal error of the connection: the data unit is returned with
//! [`data_intact`](Received::data_intact) false.

use super::pdu::{Framing, Pdu};
use super::stream::Stream;
use crate::logic::data::Data;
use crate::spec::tcp::{
    COMMON_BYTES, CommonHeader, DIGEST_BYTES, DataHeader, DigestTypes, FatalError, InitializeRequest,
    InitializeResponse, MOST_TERMINATE_DATA, PduType, ReadyToTransfer, SHORT_HEADER_BYTES, TerminateRequest,
};
use lanetwin_nvme::spec::{Cid, Command, CompletionEntry};

/// Side that reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// A host, which reads the data units of a controller.
    Host,
    /// A controller, which reads the data units of a host.
    Controller,
}

/// A data unit that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// The data unit.
    pub pdu: Pdu,
    /// Whether its data match its data digest; true without one.
    pub data_intact: bool,
}

/// A fatal transport error, reported in the terminate request that ends the connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// FES.
    pub status: FatalError,
    /// FEI.
    pub information: u32,
    /// The faulty header, as far as it was read.
    pub header: Vec<u8>,
}

/// Reader of data units.
#[derive(Clone, Debug)]
pub struct Reader {
    side: Side,
    framing: Framing,
    /// The largest CapsuleCmd data, and the largest data of H2CData or C2HData \[B\].
    most_capsule_data: u32,
    most_data: u32,
    stream: Stream,
    /// The header at the start of the stream, if it has been read.
    header: Option<Header>,
    /// Header of the last data unit read.
    last: Vec<u8>,
    failed: bool,
}

/// A header that has been read, and the layout of the rest of its data unit.
#[derive(Clone, Debug)]
struct Header {
    common: CommonHeader,
    /// Bytes including the common header, without the digest.
    bytes: Vec<u8>,
    /// Length of header, digest and padding, and length of the data \[B\].
    before_data: u32,
    data: u32,
    has_data_digest: bool,
}

impl Reader {
    /// A reader for a new connection, without digests.
    #[must_use]
    pub fn new(side: Side) -> Self {
        Self {
            side,
            framing: Framing::default(),
            most_capsule_data: u32::MAX,
            most_data: u32::MAX,
            stream: Stream::new(),
            header: None,
            last: Vec::new(),
            failed: false,
        }
    }
    /// Applies the negotiated digests and alignment from the next data unit on. `alignment` is the one that this side
    /// requested.
    pub fn agree(&mut self, digests: DigestTypes, alignment: u8) {
        self.framing = Framing { digests, alignment };
        self.header = None;
    }
    /// Sets the maximum data of capsules, and of H2CData or C2HData \[B\].
    pub fn limit(&mut self, capsule_data: u32, data: u32) {
        (self.most_capsule_data, self.most_data) = (capsule_data, data);
    }
    /// Appends received bytes.
    pub fn push(&mut self, more: Stream) {
        if !self.failed {
            self.stream.append(more);
        }
    }
    /// A fault in the last data unit read, detected by its receiver.
    #[must_use]
    pub fn fault(&self, status: FatalError, information: u32) -> Fault {
        Fault { status, information, header: self.last.clone() }
    }
    /// Number of bytes of an incomplete data unit.
    #[must_use]
    pub const fn waiting(&self) -> u64 {
        self.stream.len()
    }
    /// Reads the next data unit; returns `None` if it is incomplete or a fault has occurred before.
    pub fn read(&mut self) -> Option<Result<Received, Fault>> {
        if self.failed {
            return None;
        }
        match self.try_read() {
            Ok(received) => received.map(Ok),
            Err(fault) => {
                self.failed = true;
                self.stream = Stream::new();
                Some(Err(fault))
            }
        }
    }

    fn try_read(&mut self) -> Result<Option<Received>, Fault> {
        let known = match self.header.take() {
            Some(header) => Some(header),
            None => self.next_header()?,
        };
        let Some(header) = known else { return Ok(None) };
        if self.stream.len() < u64::from(header.common.bytes()) {
            self.header = Some(header);
            return Ok(None);
        }
        let _ = self.stream.split_front(header.before_data.into());
        let data = self.stream.take(header.data);
        let mut data_intact = true;
        if header.has_data_digest {
            let digest = self.stream.take(DIGEST_BYTES as u32);
            if let (Some(data), Some(digest)) = (data.bytes(), digest.bytes()) {
                data_intact = crc32c::crc32c(data).to_le_bytes() == digest;
            }
        }
        let pdu = pdu_of(&header, data);
        self.last = header.bytes;
        Ok(Some(Received { pdu, data_intact }))
    }

    /// Reads and checks the header at the start of the stream; returns `None` if it is incomplete.
    fn next_header(&self) -> Result<Option<Header>, Fault> {
        if self.stream.len() < COMMON_BYTES as u64 {
            return Ok(None);
        }
        let mut common = [0; COMMON_BYTES];
        self.stream.peek(&mut common);
        let common = CommonHeader::from_bytes(common);
        let early = |at| invalid(at, common.as_bytes());
        let of_other = common.kind().is_from_host() == (self.side == Side::Controller);
        let expected = common.kind().header_bytes().filter(|_| of_other).ok_or_else(|| early(0))?;
        if usize::from(common.header_bytes()) != expected {
            return Err(early(2));
        }
        let digests = if common.kind().has_digests() { self.framing.digests } else { DigestTypes::ZERO };
        if common.flags().header_digest() != digests.header() {
            return Err(early(1));
        }
        let digest_bytes = if digests.header() { DIGEST_BYTES } else { 0 };
        if self.stream.len() < (expected + digest_bytes) as u64 {
            return Ok(None);
        }
        let mut bytes = vec![0; expected + digest_bytes];
        self.stream.peek(&mut bytes);
        let digest = bytes.split_off(expected);
        if let Ok(digest) = digest.try_into().map(u32::from_le_bytes)
            && digest != crc32c::crc32c(&bytes)
        {
            return Err(Fault { status: FatalError::HEADER_DIGEST, information: digest, header: bytes });
        }
        self.measure(common, bytes, digests, digest_bytes).map(Some)
    }

    /// Computes and checks the layout of the data unit after a header.
    fn measure(
        &self,
        common: CommonHeader,
        bytes: Vec<u8>,
        digests: DigestTypes,
        digest_bytes: usize,
    ) -> Result<Header, Fault> {
        let (kind, all) = (common.kind(), common.bytes());
        let head = (bytes.len() + digest_bytes) as u32;
        let is_terminate = matches!(kind, PduType::H2C_TERM_REQ | PduType::C2H_TERM_REQ);
        let no_data = !kind.may_have_data() || (kind == PduType::CAPSULE_CMD && all == head);
        if no_data {
            let more = all.checked_sub(head).ok_or_else(|| invalid(4, &bytes))?;
            if more > if is_terminate { MOST_TERMINATE_DATA as u32 } else { 0 } {
                return Err(invalid(4, &bytes));
            }
            return Ok(Header { common, bytes, before_data: head, data: more, has_data_digest: false });
        }
        if common.flags().data_digest() != digests.data() {
            return Err(invalid(1, &bytes));
        }
        let offset = u32::from(common.data_offset());
        let step = (u32::from(self.framing.alignment) + 1) * 4;
        if offset < head || offset > all || offset % step != 0 {
            return Err(invalid(3, &bytes));
        }
        let tail = if digests.data() { DIGEST_BYTES as u32 } else { 0 };
        let data = (all - offset).checked_sub(tail).ok_or_else(|| invalid(4, &bytes))?;
        let most = if kind == PduType::CAPSULE_CMD { self.most_capsule_data } else { self.most_data };
        if let Some(header) = data_header(&bytes) {
            if header.length() > most {
                return Err(Fault { status: FatalError::LIMIT_EXCEEDED, information: 0, header: bytes });
            }
            if header.length() != data {
                return Err(invalid(4, &bytes));
            }
        } else if data > most {
            return Err(invalid(4, &bytes));
        }
        Ok(Header { common, bytes, before_data: offset, data, has_data_digest: tail > 0 })
    }
}

/// Invalid PDU Header Field, with the field at this byte.
fn invalid(at: u32, header: &[u8]) -> Fault {
    Fault { status: FatalError::INVALID_HEADER_FIELD, information: at, header: header.to_vec() }
}

/// The header as one of H2CData or C2HData, if it has their length.
fn data_header(bytes: &[u8]) -> Option<DataHeader> {
    Some(DataHeader::from_bytes(<[u8; SHORT_HEADER_BYTES]>::try_from(bytes).ok()?))
}

/// Bytes of the header, whose length has been checked.
fn all<const N: usize>(header: &Header) -> [u8; N] {
    core::array::from_fn(|at| header.bytes.get(at).copied().unwrap_or(0))
}

/// The data unit of a checked header.
fn pdu_of(header: &Header, data: Data) -> Pdu {
    let flags = header.common.flags();
    match header.common.kind() {
        PduType::IC_REQ => {
            let told = InitializeRequest::from_bytes(all(header));
            Pdu::InitializeRequest {
                version: told.version(),
                alignment: told.alignment(),
                digests: told.digests(),
                r2ts_less_1: told.r2ts_less_1(),
            }
        }
        PduType::IC_RESP => {
            let told = InitializeResponse::from_bytes(all(header));
            Pdu::InitializeResponse {
                version: told.version(),
                alignment: told.alignment(),
                digests: told.digests(),
                most_data: told.most_data(),
            }
        }
        PduType::CAPSULE_CMD => {
            let bytes: [u8; 72] = all(header);
            let mut command = [0; 64];
            command.copy_from_slice(&bytes[COMMON_BYTES..]);
            Pdu::Command { command: Command::from_bytes(command), data }
        }
        PduType::CAPSULE_RESP => {
            let bytes: [u8; SHORT_HEADER_BYTES] = all(header);
            let mut entry = [0; 16];
            entry.copy_from_slice(&bytes[COMMON_BYTES..]);
            Pdu::Response { entry: CompletionEntry::from_bytes(entry) }
        }
        PduType::H2C_DATA => {
            let told = DataHeader::from_bytes(all(header));
            let (cid, tag) = (Cid(told.cid_number()), told.tag());
            Pdu::DataToController { cid, tag, offset: told.offset(), last: flags.last(), data }
        }
        PduType::C2H_DATA => {
            let told = DataHeader::from_bytes(all(header));
            Pdu::DataToHost {
                cid: Cid(told.cid_number()),
                offset: told.offset(),
                last: flags.last(),
                success: flags.success(),
                data,
            }
        }
        PduType::R2T => {
            let told = ReadyToTransfer::from_bytes(all(header));
            let (cid, tag) = (Cid(told.cid_number()), told.tag());
            Pdu::ReadyToTransfer { cid, tag, offset: told.offset(), length: told.length() }
        }
        kind => terminate_of(kind, header, &data),
    }
}

/// The terminate request with this header.
fn terminate_of(kind: PduType, header: &Header, data: &Data) -> Pdu {
    let told = TerminateRequest::from_bytes(all(header));
    Pdu::Terminate {
        from_host: kind.is_from_host(),
        status: told.status(),
        information: told.information(),
        header: data.bytes().unwrap_or(&[]).to_vec(),
    }
}
