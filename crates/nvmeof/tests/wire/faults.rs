//! Every fault of a stream ends it with the Fatal Error Status of the specification.

use crate::reference::{Agreed, encode};
use lanetwin_nvme::spec::{Cid, Command, CompletionEntry};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::tcp::{Pdu, Reader, Side, Stream};
use lanetwin_nvmeof::spec::tcp::{DigestTypes, FatalError};
use proptest::prelude::*;

const BOTH: Agreed = Agreed { header_digests: true, data_digests: true, alignment: 4 };
const NONE: Agreed = Agreed { header_digests: false, data_digests: false, alignment: 4 };
const ALIGNED: Agreed = Agreed { header_digests: false, data_digests: false, alignment: 64 };

/// What a controller says of these bytes. It takes capsules with 1 KiB and H2CData of 4 KiB.
fn judge(bytes: Vec<u8>, agreed: Agreed) -> Option<(FatalError, u32)> {
    let mut reader = Reader::new(Side::Controller);
    let digests = u8::from(agreed.header_digests) | u8::from(agreed.data_digests) << 1;
    reader.agree(DigestTypes::from_raw(digests), (agreed.alignment / 4 - 1) as u8);
    reader.limit(1024, 4096);
    reader.push(Stream::from(bytes));
    let fault = reader.read()?.err()?;
    assert!(reader.read().is_none(), "nothing is read behind a fault");
    Some((fault.status, fault.information))
}
fn write(bytes: usize) -> Pdu {
    Pdu::DataToController { cid: Cid(7), tag: 1, offset: 0, last: true, data: vec![0x5a; bytes].into() }
}
fn command(bytes: usize) -> Pdu {
    Pdu::Command { command: Command::ZERO, data: vec![0xa5; bytes].into() }
}
/// The bytes with one replaced.
fn with(mut bytes: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    bytes[at] = value;
    bytes
}

#[test]
fn each_fault_has_its_status() {
    let field = |at| Some((FatalError::INVALID_HEADER_FIELD, at));
    let limit = Some((FatalError::LIMIT_EXCEEDED, 0));
    let cases = [
        ("nothing is wrong", encode(&write(4096), BOTH), BOTH, None),
        ("an unknown type", with(encode(&write(8), NONE), 0, 0x0a), NONE, field(0)),
        ("what a controller sends", with(encode(&write(8), NONE), 0, 7), NONE, field(0)),
        ("a header of another type's length", with(encode(&write(8), NONE), 2, 72), NONE, field(2)),
        ("a header digest that is not agreed on", encode(&write(8), BOTH), NONE, field(1)),
        ("no header digest", encode(&write(8), NONE), BOTH, field(1)),
        ("a data digest that is not agreed on", with(encode(&write(8), NONE), 1, 2 | 4), NONE, field(1)),
        ("data inside the header", with(encode(&write(8), NONE), 3, 20), NONE, field(3)),
        ("data behind the end", with(encode(&write(8), NONE), 3, 255), NONE, field(3)),
        ("data on no dword", with(encode(&write(8), NONE), 3, 25), NONE, field(3)),
        ("data not aligned as asked", encode(&write(8), NONE), ALIGNED, field(3)),
        ("aligned", encode(&write(8), ALIGNED), ALIGNED, None),
        ("longer than DATAL", with(encode(&write(8), NONE), 4, 36), NONE, field(4)),
        ("shorter than its header", with(encode(&command(0), NONE), 4, 71), NONE, field(3)),
        ("more than MAXH2CDATA", encode(&write(4100), NONE), NONE, limit),
        ("more than a capsule takes", encode(&command(1028), NONE), NONE, field(4)),
        ("as much as a capsule takes", encode(&command(1024), BOTH), BOTH, None),
    ];
    for (name, bytes, agreed, expected) in cases {
        assert_eq!(judge(bytes, agreed), expected, "{name}");
    }
    // a response has nothing behind its header
    let mut reader = Reader::new(Side::Host);
    let response = encode(&Pdu::Response { entry: CompletionEntry::ZERO }, NONE);
    reader.push(Stream::from(with(response, 4, 25)));
    let fault = reader.read().expect("an answer").expect_err("a fault");
    assert_eq!((fault.status, fault.information), (FatalError::INVALID_HEADER_FIELD, 4));
    assert_eq!((fault.header.len(), fault.header[4]), (24, 25), "the header goes into the terminate request");
}

#[test]
fn the_digest_of_a_header_is_told_when_it_is_wrong() {
    let bytes = encode(&write(8), BOTH);
    let digest = u32::from_le_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]);
    let wrong = with(bytes.clone(), 12, 1);
    assert_eq!(judge(wrong, BOTH), Some((FatalError::HEADER_DIGEST, digest)));
    let wrong = with(bytes.clone(), 24, bytes[24] ^ 1);
    assert_eq!(judge(wrong, BOTH), Some((FatalError::HEADER_DIGEST, digest ^ 1)));
}

proptest! {
    /// A bit that turns over in a data unit with both digests never goes unseen: in the header it ends the connection,
    /// in the data it is told, and the next data unit is read all the same.
    #[test]
    fn no_wrong_bit_goes_unseen(bytes in 1..200_usize, bit in 0..1600_usize) {
        let sent = encode(&write(bytes), BOTH);
        let at = bit / 8 % sent.len();
        let mut wrong = sent.clone();
        wrong[at] ^= 1 << (bit % 8);
        let mut reader = Reader::new(Side::Controller);
        reader.agree(DigestTypes::from_raw(3), 0);
        wrong.extend(&sent);
        reader.push(Stream::from(wrong));
        match reader.read() {
            Some(Ok(read)) => {
                prop_assert!(at >= 28 && !read.data_intact);
                let next = reader.read().expect("another one").expect("which is right");
                prop_assert!(next.data_intact);
                let Pdu::DataToController { data: Data::Bytes(data), .. } = next.pdu else { panic!("data") };
                prop_assert_eq!(data.len(), bytes);
            }
            Some(Err(_)) => prop_assert!(at < 28),
            None => prop_assert!(at < 8, "a length that is wrong waits for more, and no other field does"),
        }
    }

    /// Any bytes are data units or a fault.
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0..11_u8, host: bool) {
        let mut reader = Reader::new(if host { Side::Host } else { Side::Controller });
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        reader.push(Stream::from(bytes));
        while let Some(Ok(_)) = reader.read() {}
    }
}
