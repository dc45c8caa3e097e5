//! Headers to bytes and back: random ones, arbitrary bytes, and a few worked by hand.

use super::super::range::BadRange;
use super::super::tlp::TrafficClass;
use super::*;
use proptest::prelude::*;

fn range() -> impl Strategy<Value = ByteRange> {
    let address = prop_oneof![any::<u64>(), any::<u32>().prop_map(u64::from)];
    (address, 1u16..=4096).prop_map(|(address, len)| {
        let room = 4096 - (address % 4096) as u16;
        ByteRange::new(address, len.min(room)).unwrap()
    })
}

fn request() -> impl Strategy<Value = Request> {
    (any::<u16>(), 0u16..1024, range()).prop_map(|(requester, tag, range)| Request {
        requester: Bdf::from_raw(requester),
        tag: Tag(tag),
        range,
    })
}

/// A part of a read: either all of it without data, or a piece that starts at a dword and ends at one or at the end.
fn part() -> impl Strategy<Value = Part> {
    (range(), any::<u16>(), any::<u16>(), any::<bool>()).prop_map(|(request, skip, take, data)| {
        if !data {
            return Part::without_data(request);
        }
        let dwords = request.dwords().0;
        let first = skip % dwords;
        let count = 1 + take % (dwords - first);
        let from = (request.dword_address() + u64::from(first) * 4).max(request.address());
        let last = (request.dword_address() + u64::from(first + count) * 4 - 1).min(request.last_address());
        let piece = ByteRange::new(from, (last - from + 1) as u16).unwrap();
        Part::of(request, piece).unwrap()
    })
}

fn content() -> impl Strategy<Value = Content> {
    let completion = (any::<[u16; 2]>(), 0u16..1024, 0u8..8, part());
    let message = (any::<u16>(), any::<u8>(), any::<u8>(), 0u8..8, any::<[u32; 2]>(), 0u16..1024);
    prop_oneof![
        request().prop_map(Content::MemoryRead),
        request().prop_map(Content::MemoryWrite),
        completion.prop_map(|([completer, requester], tag, status, part)| Content::Completion(Completion {
            completer: Bdf::from_raw(completer),
            requester: Bdf::from_raw(requester),
            tag: Tag(tag),
            status: CompletionStatus(status),
            part,
        })),
        message.prop_map(|(requester, tag, code, routing, words, payload)| Content::Message(Message {
            requester: Bdf::from_raw(requester),
            tag,
            code: MessageCode(code),
            routing: MessageRouting(routing),
            words,
            payload: Dwords(payload),
        })),
    ]
}

fn header() -> impl Strategy<Value = TlpHeader> {
    (content(), 0u8..8, any::<[bool; 5]>()).prop_map(|(content, class, flags)| TlpHeader {
        traffic: Traffic {
            class: TrafficClass::new(class).unwrap(),
            relaxed_ordering: flags[0],
            id_based_ordering: flags[1],
            no_snoop: flags[2],
        },
        ecrc: flags[3],
        poisoned: flags[4],
        content,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_header_survives_the_wire(header in header(), rest: [u8; 3]) {
        let encoded = header.encode().unwrap();
        prop_assert_eq!(encoded.as_slice().len() as u32, header.kind().header_bytes(header.address_width()));
        let bytes = [encoded.as_slice(), &rest].concat();
        prop_assert_eq!(TlpHeader::decode(&bytes), Ok((header, encoded.as_slice().len())));
    }

    #[test]
    fn a_header_cut_short_says_so(header in header(), cut: prop::sample::Index) {
        let encoded = header.encode().unwrap();
        let len = cut.index(encoded.as_slice().len());
        let short = matches!(TlpHeader::decode(&encoded.as_slice()[..len]), Err(DecodeError::Truncated { .. }));
        prop_assert!(short);
    }

    /// Any bytes at all: an error, or a header that means the same when sent again.
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..20), kind in 0usize..8) {
        let mut bytes = bytes;
        // a random first byte is rarely a kind that is modelled, so half of the cases are given one
        if let (Some(first), Some(known)) = (bytes.first_mut(), [0x00, 0x20, 0x40, 0x60, 0x0a, 0x4a, 0x34].get(kind)) {
            *first = *known;
        }
        if let Ok((header, len)) = TlpHeader::decode(&bytes) {
            prop_assert!(len <= bytes.len());
            let again = header.encode().unwrap();
            prop_assert_eq!(TlpHeader::decode(again.as_slice()), Ok((header, len)));
        }
    }
}

fn plain(content: Content) -> TlpHeader {
    TlpHeader { traffic: Traffic::default(), ecrc: false, poisoned: false, content }
}

/// A read of one dword, worked by hand from the layout: Fmt 000, Type 00000, Length 1, first BE 1111.
#[test]
fn a_small_read_is_these_bytes() {
    let request = Request {
        requester: Bdf::from_raw(0x0100),
        tag: Tag(0x0c),
        range: ByteRange::new(0xfdaf_f040, 4).unwrap(),
    };
    let bytes = [0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x0c, 0x0f, 0xfd, 0xaf, 0xf0, 0x40];
    assert_eq!(plain(Content::MemoryRead(request)).encode().unwrap().as_slice(), bytes);
}

/// 4096 bytes and 1024 dwords are zero on the wire, and come back.
#[test]
fn the_largest_read_and_its_completion_have_zero_counts() {
    let range = ByteRange::new(0x1_0000_0000, 4096).unwrap();
    let id = Bdf::ZERO;
    let read = plain(Content::MemoryRead(Request { requester: id, tag: Tag(1023), range }));
    let bytes = read.encode().unwrap();
    assert_eq!(bytes.as_slice()[..4], [0x20, 0x88, 0x00, 0x00]); // four dwords, T9 and T8 set, Length 0
    let part = Part::of(range, range).unwrap();
    assert_eq!(
        (part.bytes(), part.remaining(), part.dwords(), part.lower_address()),
        (4096, 4096, Dwords(1024), 0)
    );
    let status = CompletionStatus::SUCCESSFUL;
    let answer =
        plain(Content::Completion(Completion { completer: id, requester: id, tag: Tag(0), status, part }));
    assert_eq!(answer.encode().unwrap().as_slice(), [0x4a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((answer.kind(), answer.payload()), (TlpKind::CplD, Dwords(1024)));
}

#[test]
fn a_part_lies_inside_its_request() {
    let range = |address, len| ByteRange::new(address, len).unwrap();
    let request = range(0x102, 10); // 0x102 to 0x10b
    let second = Part::of(request, range(0x104, 8)).unwrap();
    assert_eq!((second.bytes(), second.remaining(), second.lower_address()), (8, 8, 4));
    assert_eq!(Part::of(request, range(0x102, 2)).map(Part::bytes), Some(2));
    assert_eq!(Part::of(request, range(0x102, 3)), None); // would end inside a dword
    assert_eq!(Part::of(request, range(0x100, 4)), None); // starts before
    assert_eq!(Part::of(request, range(0x108, 5)), None); // ends after
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let decode = |bytes: [u8; 16]| TlpHeader::decode(&bytes).unwrap_err();
    let with = |places: &[(usize, u8)]| {
        let mut bytes = [0x00, 0, 0, 1, 0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0]; // a legal read
        places.iter().for_each(|&(at, byte)| bytes[at] = byte);
        bytes
    };
    assert!(TlpHeader::decode(&with(&[])).is_ok());
    assert_eq!(decode(with(&[(0, 0x04)])), DecodeError::Kind { fmt: Fmt::THREE_DW, type_code: 4 }); // CfgRd0
    assert_eq!(decode(with(&[(0, 0x20)])), DecodeError::AddressFitsThreeDwords);
    assert_eq!(decode(with(&[(7, 0)])), DecodeError::Range(BadRange::Empty)); // a flushing read
    assert_eq!(
        decode(with(&[(7, 0x05)])),
        DecodeError::Range(BadRange::Scattered { first_be: 5, last_be: 0 })
    );
    assert_eq!(decode(with(&[(1, 1)])), DecodeError::NotModelled("a TLP processing hint"));
    assert_eq!(decode(with(&[(0, 0x4a), (3, 2), (7, 4)])), DecodeError::CompletionTooLong);
    assert_eq!(decode(with(&[(0, 0x80)])).to_string(), "Fmt PREFIX, Type 0b00000 is not modelled");
}

#[test]
fn what_has_no_place_in_a_header_does_not_get_there() {
    let (requester, code, words) = (Bdf::ZERO, MessageCode::ERR_COR, [0; 2]);
    let payload = Dwords::ZERO;
    let message =
        |routing| plain(Content::Message(Message { requester, tag: 0, code, routing, words, payload }));
    assert!(message(MessageRouting(8)).encode().is_err());
    assert_eq!(message(MessageRouting::TO_ROOT_COMPLEX).encode().unwrap().as_slice()[0], 0x30);
    assert_eq!((Tag::new(1023).map(Tag::number), Tag::new(1024)), (Some(1023), None));
}
