//! Reading NBD: any bytes are options, requests or the end, never a panic, however they are cut; what a drive is asked
//! is of whole blocks within it; a connection holds no more than the largest request and its answers.

use lanetwin_doors::command::{Ended, Kind};
use lanetwin_doors::drive::Facts;
use lanetwin_doors::nbd::connection::{Asked, Connection, MOST};

const FACTS: Facts = Facts { bytes: 1 << 20, block: 512, is_volatile: true, buffer: 0, atomic: 512 };

/// What is asked and sent, if the bytes come in pieces of this size.
fn heard(bytes: &[u8], piece: usize) -> (Vec<Asked>, Vec<u8>) {
    let (mut connection, mut asked, mut sent) = (Connection::new(FACTS), Vec::new(), Vec::new());
    for piece in bytes.chunks(piece.max(1)) {
        connection.push(piece);
        while let Some(found) = connection.next_request() {
            let request = found.command.request;
            assert!(FACTS.allow(request).is_ok());
            let data = vec![0; if request.kind == Kind::Read { request.bytes as usize } else { 0 }];
            connection.reply(found.cookie, request.kind, request.first, (Ended::Well, &data));
            asked.push(found);
        }
        sent.append(connection.output());
        assert!(connection.held() < 4 * MOST as usize);
    }
    (asked, sent)
}

crate::input::promise!(|input: (bool, u8, &[u8])| {
    let (is_negotiated, cut, bytes) = input;
    // flags, NBD_OPT_STRUCTURED_REPLY, NBD_OPT_GO for the empty name: what fuzzing would take long to find
    let mut whole = Vec::new();
    if is_negotiated {
        whole.extend([0, 0, 0, 3]);
        whole.extend(b"IHAVEOPT\0\0\0\x08\0\0\0\0");
        whole.extend(b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0");
    }
    whole.extend(bytes);
    assert_eq!(heard(&whole, whole.len()), heard(&whole, usize::from(cut) + 1));
});
