//! Reading NVMe/TCP: any bytes are data units or a fault, never a panic, however they are cut; what was read is what
//! its own writing reads as.

use lanetwin_nvmeof::logic::tcp::{Framing, Pdu, Reader, Side, Stream};
use lanetwin_nvmeof::spec::tcp::DigestTypes;

crate::input::promise!(|input: (bool, u8, u8, u8, &[u8])| {
    let (is_host, digests, alignment, cut, bytes) = input;
    let side = if is_host { Side::Host } else { Side::Controller };
    let framing = Framing { digests: DigestTypes::from_raw(digests & 3), alignment: alignment & 31 };
    let reader = || {
        let mut reader = Reader::new(side);
        reader.agree(framing.digests, framing.alignment);
        reader
    };
    let mut whole = reader();
    whole.push(Stream::from(bytes.to_vec()));
    let mut pieces = reader();
    let mut in_pieces = Vec::new();
    for piece in bytes.chunks(usize::from(cut) + 1) {
        pieces.push(Stream::from(piece.to_vec()));
        while let Some(read) = pieces.read() {
            in_pieces.push(read);
        }
    }
    let mut at_once = Vec::new();
    while let Some(read) = whole.read() {
        at_once.push(read);
    }
    assert_eq!(at_once, in_pieces);
    for read in at_once.into_iter().flatten().filter(|read| read.data_intact) {
        // data of no length leave no trace
        let is_empty = matches!(&read.pdu,
            Pdu::DataToHost { data, .. } | Pdu::DataToController { data, .. } if data.is_empty());
        if is_empty {
            continue;
        }
        let mut stream = Stream::new();
        read.pdu.clone().write(framing, &mut stream);
        let mut again = reader();
        again.push(stream);
        assert_eq!(again.read().map(|read| read.map(|read| read.pdu)), Some(Ok(read.pdu)));
    }
});
