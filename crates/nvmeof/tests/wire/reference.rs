//! Data units byte by byte, as the tables of the specification say, without any declaration of the crate.

use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::tcp::Pdu;
use proptest::prelude::*;

/// CRC-32C, bit by bit: reflected polynomial 82F63B78h, all ones before and after.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}

/// What is agreed on: header digests, data digests, alignment in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Agreed {
    pub header_digests: bool,
    pub data_digests: bool,
    pub alignment: usize,
}

pub fn any_agreed() -> impl Strategy<Value = Agreed> {
    (any::<bool>(), any::<bool>(), 1..=32_usize).prop_map(|(header_digests, data_digests, dwords)| Agreed {
        header_digests,
        data_digests,
        alignment: dwords * 4,
    })
}

fn words(header: &mut [u8], at: usize, words: &[u32]) {
    for (index, word) in words.iter().enumerate() {
        header[at + index * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
}

/// The bytes of a data unit.
pub fn encode(pdu: &Pdu, agreed: Agreed) -> Vec<u8> {
    let kept = |data: &Data| data.bytes().expect("bytes").to_vec();
    let (kind, mut flags, mut header, data) = match pdu {
        Pdu::InitializeRequest { version, alignment, digests, r2ts_less_1 } => {
            let mut header = vec![0; 128];
            header[8..10].copy_from_slice(&version.to_le_bytes());
            (header[10], header[11]) = (*alignment, digests.raw());
            words(&mut header, 12, &[*r2ts_less_1]);
            (0, 0, header, vec![])
        }
        Pdu::InitializeResponse { version, alignment, digests, most_data } => {
            let mut header = vec![0; 128];
            header[8..10].copy_from_slice(&version.to_le_bytes());
            (header[10], header[11]) = (*alignment, digests.raw());
            words(&mut header, 12, &[*most_data]);
            (1, 0, header, vec![])
        }
        Pdu::Terminate { from_host, status, information, header: fault } => {
            let mut header = vec![0; 24];
            header[8..10].copy_from_slice(&status.0.to_le_bytes());
            header[10..14].copy_from_slice(&information.to_le_bytes());
            (if *from_host { 2 } else { 3 }, 0, header, fault[..fault.len().min(128)].to_vec())
        }
        Pdu::Command { command, data } => {
            let mut header = vec![0; 8];
            header.extend_from_slice(command.as_bytes());
            (4, 0, header, kept(data))
        }
        Pdu::Response { entry } => {
            let mut header = vec![0; 8];
            header.extend_from_slice(&entry.to_bytes());
            (5, 0, header, vec![])
        }
        Pdu::DataToController { cid, tag, offset, last, data } => {
            let mut header = vec![0; 24];
            words(&mut header, 8, &[u32::from(cid.0) | u32::from(*tag) << 16, *offset, data.len()]);
            (6, u8::from(*last) * 4, header, kept(data))
        }
        Pdu::DataToHost { cid, offset, last, success, data } => {
            let mut header = vec![0; 24];
            words(&mut header, 8, &[u32::from(cid.0), *offset, data.len()]);
            (7, u8::from(*last) * 4 + u8::from(*success) * 8, header, kept(data))
        }
        Pdu::ReadyToTransfer { cid, tag, offset, length } => {
            let mut header = vec![0; 24];
            words(&mut header, 8, &[u32::from(cid.0) | u32::from(*tag) << 16, *offset, *length]);
            (9, 0, header, vec![])
        }
    };
    let (digests, data_digests) =
        if kind < 4 { (false, false) } else { (agreed.header_digests, agreed.data_digests) };
    let carries = matches!(kind, 4 | 6 | 7) && !data.is_empty();
    let mut data_at = header.len() + if digests { 4 } else { 0 };
    if carries {
        data_at = data_at.div_ceil(agreed.alignment) * agreed.alignment;
    }
    let all = data_at + data.len() + if carries && data_digests { 4 } else { 0 };
    flags |= u8::from(digests) | u8::from(carries && data_digests) << 1;
    let (header_bytes, offset) = (header.len() as u8, if carries { data_at as u8 } else { 0 });
    header[..4].copy_from_slice(&[kind, flags, header_bytes, offset]);
    words(&mut header, 4, &[all as u32]);
    let mut out = header.clone();
    if digests {
        out.extend_from_slice(&crc32c(&header).to_le_bytes());
    }
    out.resize(data_at, 0);
    out.extend_from_slice(&data);
    if carries && data_digests {
        out.extend_from_slice(&crc32c(&data).to_le_bytes());
    }
    out
}

#[test]
fn the_checksum_is_that_of_the_specification() {
    // RFC 3720 §B.4: 32 bytes of zeroes, 32 of ones, 0 to 31
    assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    assert_eq!(crc32c(&core::array::from_fn::<u8, 32, _>(|at| at as u8)), 0x46dd_794e);
}
