//! Data units of NVMe/TCP, and their encoding (TCP Transport 1.0, PDU Definitions).

use super::stream::Stream;
use crate::logic::data::Data;
use crate::spec::tcp::{
    COMMAND_HEADER_BYTES, COMMON_BYTES, CommonHeader, DIGEST_BYTES, DataHeader, DigestTypes, FatalError,
    InitializeRequest, InitializeResponse, MOST_TERMINATE_DATA, PduFlags, PduType, ReadyToTransfer,
    SHORT_HEADER_BYTES, TerminateRequest,
};
use lanetwin_nvme::spec::{Cid, Command, CompletionEntry};

/// A data unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pdu {
    /// ICReq.
    InitializeRequest {
        /// PFV.
        version: u16,
        /// HPDA \[dwords, counted from 0\].
        alignment: u8,
        /// The digests that the host requests.
        digests: DigestTypes,
        /// MAXR2T, counted from 0.
        r2ts_less_1: u32,
    },
    /// ICResp.
    InitializeResponse {
        /// PFV.
        version: u16,
        /// CPDA \[dwords, counted from 0\].
        alignment: u8,
        /// The digests that are used.
        digests: DigestTypes,
        /// MAXH2CDATA \[B\].
        most_data: u32,
    },
    /// H2CTermReq or C2HTermReq.
    Terminate {
        /// Whether a host sends it.
        from_host: bool,
        /// FES.
        status: FatalError,
        /// FEI.
        information: u32,
        /// The header of the faulty data unit, or its beginning.
        header: Vec<u8>,
    },
    /// CapsuleCmd.
    Command {
        /// The submission queue entry.
        command: Command,
        /// In-capsule data.
        data: Data,
    },
    /// CapsuleResp.
    Response {
        /// The completion queue entry.
        entry: CompletionEntry,
    },
    /// H2CData.
    DataToController {
        /// The command.
        cid: Cid,
        /// TTAG of the R2T that it answers.
        tag: u16,
        /// DATAO \[B\].
        offset: u32,
        /// LAST_PDU: the last data of this R2T.
        last: bool,
        /// The data.
        data: Data,
    },
    /// C2HData.
    DataToHost {
        /// The command.
        cid: Cid,
        /// DATAO \[B\].
        offset: u32,
        /// LAST_PDU: the last data of this command.
        last: bool,
        /// SUCCESS: the command has succeeded, and no response follows.
        success: bool,
        /// The data.
        data: Data,
    },
    /// R2T.
    ReadyToTransfer {
        /// The command.
        cid: Cid,
        /// TTAG.
        tag: u16,
        /// R2TO \[B\].
        offset: u32,
        /// R2TL \[B\].
        length: u32,
    },
}

/// Negotiated parameters of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Framing {
    /// Digests in use.
    pub digests: DigestTypes,
    /// Alignment of data: they begin at multiples of `4 × (alignment + 1)` B.
    pub alignment: u8,
}

impl Framing {
    /// Offset of the data after a header of `header_bytes` \[B from the start of the data unit\].
    #[must_use]
    pub const fn data_offset(self, header_bytes: usize) -> usize {
        let digest = if self.digests.header() { DIGEST_BYTES } else { 0 };
        (header_bytes + digest).next_multiple_of((self.alignment as usize + 1) * 4)
    }
    /// Length of a data unit with a header of `header_bytes` and `data` bytes of data \[B\].
    ///
    /// A response is `bytes(24, 0)`, 4 KiB to the host `bytes(24, 4096)`.
    #[must_use]
    pub const fn bytes(self, header_bytes: usize, data: u32) -> u64 {
        if data == 0 {
            let digest = if self.digests.header() { DIGEST_BYTES } else { 0 };
            return (header_bytes + digest) as u64;
        }
        let digest = if self.digests.data() { DIGEST_BYTES as u64 } else { 0 };
        self.data_offset(header_bytes) as u64 + data as u64 + digest
    }
}

impl Pdu {
    /// Type of the data unit.
    #[must_use]
    pub const fn kind(&self) -> PduType {
        match self {
            Self::InitializeRequest { .. } => PduType::IC_REQ,
            Self::InitializeResponse { .. } => PduType::IC_RESP,
            Self::Terminate { from_host: true, .. } => PduType::H2C_TERM_REQ,
            Self::Terminate { from_host: false, .. } => PduType::C2H_TERM_REQ,
            Self::Command { .. } => PduType::CAPSULE_CMD,
            Self::Response { .. } => PduType::CAPSULE_RESP,
            Self::DataToController { .. } => PduType::H2C_DATA,
            Self::DataToHost { .. } => PduType::C2H_DATA,
            Self::ReadyToTransfer { .. } => PduType::R2T,
        }
    }
    /// Appends the encoded data unit to a stream.
    pub fn write(self, framing: Framing, out: &mut Stream) {
        let kind = self.kind();
        let framing = if kind.has_digests() { framing } else { Framing::default() };
        let flags = self.flags();
        let (mut header, data) = self.into_parts();
        let length = data.len();
        let has_data = length > 0 && kind.may_have_data();
        let mut bits = flags.raw() | u8::from(framing.digests.header());
        bits |= u8::from(has_data && framing.digests.data()) << 1;
        let behind = if has_data { framing.data_offset(header.len()) } else { 0 };
        // the header in a terminate request counts as data, but has no offset
        let bytes = framing.bytes(header.len(), if has_data { length } else { 0 });
        let bytes = if kind.may_have_data() { bytes } else { bytes + u64::from(length) };
        let mut common = CommonHeader::ZERO;
        common.set_kind(kind);
        common.set_flags(PduFlags::from_raw(bits));
        common.set_header_bytes(header.len() as u8);
        common.set_data_offset(behind as u8);
        common.set_bytes(bytes as u32);
        header[..COMMON_BYTES].copy_from_slice(common.as_bytes());
        if framing.digests.header() {
            let digest = crc32c::crc32c(&header);
            header.extend_from_slice(&digest.to_le_bytes());
        }
        header.resize(header.len().max(behind), 0);
        out.push(Data::Bytes(header));
        let digest = (has_data && framing.digests.data()).then(|| digest_of(&data));
        out.push(data);
        digest.into_iter().for_each(|digest| out.push(digest));
    }

    fn flags(&self) -> PduFlags {
        let bits = match self {
            Self::DataToController { last, .. } => u8::from(*last) << 2,
            Self::DataToHost { last, success, .. } => u8::from(*last) << 2 | u8::from(*success) << 3,
            _ => 0,
        };
        PduFlags::from_raw(bits)
    }
    /// The header, with an empty common header, and the data after it.
    fn into_parts(self) -> (Vec<u8>, Data) {
        match self {
            Self::InitializeRequest { version, alignment, digests, r2ts_less_1 } => {
                let mut header = InitializeRequest::ZERO;
                header.set_version(version);
                header.set_alignment(alignment);
                header.set_digests(digests);
                header.set_r2ts_less_1(r2ts_less_1);
                (header.as_bytes().to_vec(), Data::NONE)
            }
            Self::InitializeResponse { version, alignment, digests, most_data } => {
                let mut header = InitializeResponse::ZERO;
                header.set_version(version);
                header.set_alignment(alignment);
                header.set_digests(digests);
                header.set_most_data(most_data);
                (header.as_bytes().to_vec(), Data::NONE)
            }
            Self::Terminate { status, information, header: mut fault, .. } => {
                let mut header = TerminateRequest::ZERO;
                header.set_status(status);
                header.set_information(information);
                fault.truncate(MOST_TERMINATE_DATA);
                (header.as_bytes().to_vec(), Data::Bytes(fault))
            }
            Self::Command { command, data } => {
                let mut header = Vec::with_capacity(COMMAND_HEADER_BYTES + DIGEST_BYTES);
                header.resize(COMMON_BYTES, 0);
                header.extend_from_slice(command.as_bytes());
                (header, data)
            }
            Self::Response { entry } => {
                let mut header = Vec::with_capacity(SHORT_HEADER_BYTES + DIGEST_BYTES);
                header.resize(COMMON_BYTES, 0);
                header.extend_from_slice(&entry.to_bytes());
                (header, Data::NONE)
            }
            Self::DataToController { cid, tag, offset, data, .. } => data_parts(cid, tag, offset, data),
            Self::DataToHost { cid, offset, data, .. } => data_parts(cid, 0, offset, data),
            Self::ReadyToTransfer { cid, tag, offset, length } => {
                let mut header = ReadyToTransfer::ZERO;
                header.set_cid_number(cid.0);
                header.set_tag(tag);
                header.set_offset(offset);
                header.set_length(length);
                (header.as_bytes().to_vec(), Data::NONE)
            }
        }
    }
}

fn data_parts(cid: Cid, tag: u16, offset: u32, data: Data) -> (Vec<u8>, Data) {
    let mut header = DataHeader::ZERO;
    header.set_cid_number(cid.0);
    header.set_tag(tag);
    header.set_offset(offset);
    header.set_length(data.len());
    (header.as_bytes().to_vec(), data)
}

/// Data digest; only a length if the data are only a length.
fn digest_of(data: &Data) -> Data {
    match data.bytes() {
        Some(bytes) => Data::Bytes(crc32c::crc32c(bytes).to_le_bytes().to_vec()),
        None => Data::Length(DIGEST_BYTES as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::tcp::stream::Units;

    #[test]
    fn units_are_counted_as_they_were_written() {
        let framing = Framing { digests: DigestTypes::from_raw(3), alignment: 0 };
        let mut stream = Stream::new();
        Pdu::Command { command: Command::ZERO, data: Data::Length(512) }.write(framing, &mut stream);
        Pdu::ReadyToTransfer { cid: Cid(3), tag: 1, offset: 0, length: 9 }.write(framing, &mut stream);
        let data = Data::Length(4096);
        Pdu::DataToHost { cid: Cid(3), offset: 0, last: true, success: false, data }
            .write(framing, &mut stream);
        let headers = 72 + 4 + 4 + 24 + 4 + 24 + 4 + 4;
        assert_eq!(stream.units(), Units { commands: 1, r2ts: 1, others: 1, headers, data: 4608 });
        assert_eq!(stream.len(), headers + 4608);
    }
}
