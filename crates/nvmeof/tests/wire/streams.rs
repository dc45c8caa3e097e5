//! What is written is what the reference writes, and is read as it was written, however the stream is cut.

use crate::reference::{any_agreed, encode};
use lanetwin_nvme::spec::{Cid, Command, CompletionEntry};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::tcp::{Framing, Pdu, Reader, Received, Side, Stream};
use lanetwin_nvmeof::spec::tcp::{DigestTypes, FatalError};
use proptest::prelude::*;

fn any_data(least: usize) -> impl Strategy<Value = Data> {
    prop::collection::vec(any::<u8>(), least..700).prop_map(Data::Bytes)
}
fn any_command() -> impl Strategy<Value = Command> {
    prop::array::uniform32(any::<u8>()).prop_map(|half| {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&half);
        bytes[32..].copy_from_slice(&half);
        Command::from_bytes(bytes)
    })
}
/// A data unit of a connection whose initialization is over.
fn any_pdu(from_host: bool) -> BoxedStrategy<Pdu> {
    let terminate = (1..7_u16, any::<u32>(), prop::collection::vec(any::<u8>(), 0..129)).prop_map(
        move |(status, information, header)| Pdu::Terminate {
            from_host,
            status: FatalError(status),
            information,
            header,
        },
    );
    if from_host {
        let command = (any_command(), any_data(0)).prop_map(|(command, data)| Pdu::Command { command, data });
        let data = (any::<u16>(), any::<u16>(), any::<u32>(), any::<bool>(), any_data(1));
        let data = data.prop_map(|(cid, tag, offset, last, data)| Pdu::DataToController {
            cid: Cid(cid),
            tag,
            offset,
            last,
            data,
        });
        return prop_oneof![command, data, terminate].boxed();
    }
    let response = any::<u128>().prop_map(|raw| Pdu::Response { entry: CompletionEntry::from_raw(raw) });
    let data = (any::<u16>(), any::<u32>(), any::<bool>(), any::<bool>(), any_data(1));
    let data = data.prop_map(|(cid, offset, last, success, data)| Pdu::DataToHost {
        cid: Cid(cid),
        offset,
        last,
        success,
        data,
    });
    let r2t = (any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>())
        .prop_map(|(cid, tag, offset, length)| Pdu::ReadyToTransfer { cid: Cid(cid), tag, offset, length });
    prop_oneof![response, data, r2t, terminate].boxed()
}
fn any_conversation() -> impl Strategy<Value = (Side, Vec<Pdu>)> {
    any::<bool>().prop_flat_map(|from_host| {
        let side = if from_host { Side::Controller } else { Side::Host };
        (Just(side), prop::collection::vec(any_pdu(from_host), 1..8))
    })
}
fn framing(agreed: crate::reference::Agreed) -> Framing {
    let digests = u8::from(agreed.header_digests) | u8::from(agreed.data_digests) << 1;
    Framing { digests: DigestTypes::from_raw(digests), alignment: (agreed.alignment / 4 - 1) as u8 }
}
/// Everything a reader makes of a stream that comes in pieces of these lengths, one after another and again.
fn read_in_pieces(mut reader: Reader, mut stream: Stream, lengths: &[u64]) -> Vec<Received> {
    let mut all = Vec::new();
    for &length in lengths.iter().cycle() {
        if stream.is_empty() {
            break;
        }
        reader.push(stream.split_front(length));
        while let Some(read) = reader.read() {
            all.push(read.expect("nothing is wrong with it"));
        }
    }
    assert_eq!(reader.waiting(), 0);
    all
}
fn reader(side: Side, framing: Framing) -> Reader {
    let mut reader = Reader::new(side);
    reader.agree(framing.digests, framing.alignment);
    reader
}

proptest! {
    #[test]
    fn a_stream_is_what_the_reference_writes_and_is_read_however_it_is_cut(
        (side, pdus) in any_conversation(),
        agreed in any_agreed(),
        lengths in prop::collection::vec(1..200_u64, 1..10),
    ) {
        let framing = framing(agreed);
        let (mut stream, mut expected) = (Stream::new(), Vec::new());
        for pdu in &pdus {
            pdu.clone().write(framing, &mut stream);
            expected.extend(encode(pdu, agreed));
        }
        prop_assert_eq!(stream.to_bytes(), Some(expected));
        let read = read_in_pieces(reader(side, framing), stream, &lengths);
        prop_assert!(read.iter().all(|received| received.data_intact));
        // data of no length are none, kept or not
        let same = |a: &Pdu, b: &Pdu| encode(a, agreed) == encode(b, agreed);
        prop_assert_eq!(read.len(), pdus.len());
        prop_assert!(read.iter().zip(&pdus).all(|(read, sent)| same(&read.pdu, sent)));
    }

    /// A stream whose data nobody keeps is as long, and is cut into the same data units.
    #[test]
    fn lengths_take_as_much_of_a_stream_as_bytes(
        (side, pdus) in any_conversation(),
        agreed in any_agreed(),
        lengths in prop::collection::vec(1..200_u64, 1..10),
    ) {
        let framing = framing(agreed);
        let (mut kept, mut counted) = (Stream::new(), Stream::new());
        let mut sizes = Vec::new();
        for pdu in &pdus {
            pdu.clone().write(framing, &mut kept);
            let (blank, size) = without_bytes(pdu.clone());
            blank.write(framing, &mut counted);
            sizes.push(size);
        }
        prop_assert_eq!(kept.len(), counted.len());
        let read = read_in_pieces(reader(side, framing), counted, &lengths);
        let read: Vec<u32> = read.into_iter().map(|received| without_bytes(received.pdu).1).collect();
        prop_assert_eq!(read, sizes);
    }
}

fn without_bytes(mut pdu: Pdu) -> (Pdu, u32) {
    let mut size = 0;
    if let Pdu::Command { data, .. } | Pdu::DataToController { data, .. } | Pdu::DataToHost { data, .. } =
        &mut pdu
    {
        size = data.len();
        *data = Data::Length(size);
    }
    (pdu, size)
}

/// What a data unit takes is a sum that can be done by hand.
#[test]
fn lengths_by_hand() {
    let plain = Framing::default();
    let digests = Framing { digests: DigestTypes::from_raw(3), alignment: 0 };
    let aligned = Framing { digests: DigestTypes::from_raw(3), alignment: 31 };
    let all = |header, data| [plain, digests, aligned].map(|framing| framing.bytes(header, data));
    assert_eq!(all(24, 4096), [24 + 4096, 24 + 4 + 4096 + 4, 128 + 4096 + 4]);
    assert_eq!(all(72, 4096), [72 + 4096, 72 + 4 + 4096 + 4, 128 + 4096 + 4]);
    assert_eq!(all(24, 0), [24, 28, 28]);
}
