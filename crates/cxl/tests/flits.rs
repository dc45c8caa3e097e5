//! Flits to bytes and back: what the packer packs can be written, and a receiver reads it and knows what data are still
//! to come; any bytes are a flit or an error.

use lanetwin_cxl::logic::packer::{Age, Class, Packed, Waiting, pack};
use lanetwin_cxl::spec::Direction;
use lanetwin_cxl::spec::crc::crc;
use lanetwin_cxl::spec::flit::{
    Chunk, CreditReturn, Decoder, Flit, FlitBytes, FlitError, ProtocolId, Responses, RetrySubType, Slot,
};
use lanetwin_cxl::spec::message::{M2sReq, M2sRwd, S2mDrs, S2mNdr};
use proptest::prelude::*;

/// Some bits of so many, the lowest of them set: a valid message.
fn message(seed: &mut u128, bits: u32) -> u128 {
    *seed = seed.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x9e37_79b9);
    (*seed ^ *seed >> 64) & (u128::MAX >> (128 - bits)) | 1
}

fn chunk(seed: &mut u128) -> Chunk {
    message(seed, 128).to_le_bytes()
}

/// A flit with random messages where `packed` has some.
fn filled(direction: Direction, packed: &Packed, seed: &mut u128) -> Flit {
    if packed.all_data {
        return Flit::AllData([(); 4].map(|()| chunk(seed)));
    }
    let slots = packed.slots.map(|slot| {
        if slot.data {
            return Slot::Data(chunk(seed));
        }
        match (direction, slot.no_data, slot.data_headers) {
            (_, 0, 0) => Slot::Empty,
            // Six bits at the end are reserved.
            (Direction::M2s, 1, 0) => Slot::Req(M2sReq::from_raw(message(seed, 81))),
            (Direction::M2s, ..) => Slot::Rwd(M2sRwd::from_raw(message(seed, 81))),
            (Direction::S2m, ndr, drs) => {
                let mut responses = Responses::default();
                for place in &mut responses.drs[..drs.into()] {
                    *place = Some(S2mDrs::from_raw(message(seed, 31) as u64));
                }
                for place in &mut responses.ndr[..ndr.into()] {
                    *place = Some(S2mNdr::from_raw(message(seed, 30) as u32));
                }
                Slot::Responses(responses)
            }
        }
    });
    let power = |seed: &mut u128| match message(seed, 8) % 8 {
        0 => 0,
        n => 1 << (n - 1),
    };
    let credits = CreditReturn { responses: power(seed), requests: power(seed), data: power(seed) };
    Flit::Protocol { acknowledge: message(seed, 9) > 255, credits, slots }
}

struct Queues([Vec<u64>; 2]);
impl Waiting for Queues {
    fn age(&self, class: Class, n: u8) -> Option<Age> {
        self.0[class.index()].get(usize::from(n)).map(|at| (*at, 0))
    }
}

proptest! {
    #[test]
    fn a_receiver_reads_what_a_packer_packs(
        m2s: bool,
        multi: bool,
        ages in prop::collection::vec((any::<bool>(), 0_u64..40), 0..40),
        mut seed: u128,
    ) {
        let direction = if m2s { Direction::M2s } else { Direction::S2m };
        let mut queues = Queues([vec![], vec![]]);
        for (data, at) in ages {
            queues.0[usize::from(data)].push(at);
        }
        queues.0.iter_mut().for_each(|queue| queue.sort_unstable());
        let mut receiver = Decoder::new(direction);
        let mut rollover = 0;
        while rollover > 0 || queues.0.iter().any(|queue| !queue.is_empty()) {
            let packed = pack(direction, rollover, multi, &queues);
            queues.0[0].drain(..usize::from(packed.no_data()));
            queues.0[1].drain(..usize::from(packed.data_headers()));
            rollover = packed.rollover;
            let flit = filled(direction, &packed, &mut seed);
            let bytes = flit.encode(direction).expect("what is packed can be written");
            prop_assert_eq!(receiver.decode(&bytes), Ok(flit));
            prop_assert_eq!(receiver.rollover(), rollover);
        }
    }

    /// Any bytes, made to pass the CRC, to a receiver that expects any number of chunks.
    #[test]
    fn any_bytes_are_a_flit_or_an_error(
        m2s: bool,
        slots in prop::collection::vec(any::<u8>(), 64),
        formats in prop::option::of(prop::array::uniform4(0_u8..8)),
        before in prop::collection::vec((0_u8..2, 0_u8..4), 0..3),
    ) {
        let direction = if m2s { Direction::M2s } else { Direction::S2m };
        let mut receiver = Decoder::new(direction);
        let mut seed = 1;
        for (no_data, data_headers) in before {
            // Announces some data.
            let queues = Queues([vec![0; no_data.into()], vec![0; data_headers.into()]]);
            let packed = pack(direction, receiver.rollover(), true, &queues);
            let bytes = filled(direction, &packed, &mut seed).encode(direction).expect("it can be written");
            receiver.decode(&bytes).expect("it can be read");
        }
        let mut slots: [u8; 64] = slots.try_into().expect("64 bytes");
        if let Some(formats) = formats {
            // A protocol flit of whole lines, and any formats: most random headers are neither.
            let header = formats.iter().enumerate().fold(0x10_u32, |header, (n, format)| {
                header | u32::from(*format) << (5 + 3 * n)
            });
            slots[..4].copy_from_slice(&header.to_le_bytes());
        }
        let mut bytes: FlitBytes = [0; 68];
        bytes[..2].copy_from_slice(&ProtocolId::CACHEMEM_EDS.0.to_le_bytes());
        bytes[2..66].copy_from_slice(&slots);
        bytes[66..].copy_from_slice(&crc(&slots).to_le_bytes());
        let expected = receiver;
        let mut again = receiver;
        match receiver.decode(&bytes) {
            Ok(flit) => {
                let written = flit.encode(direction).expect("what was read can be written");
                prop_assert_eq!(again.decode(&written), Ok(flit));
                prop_assert_eq!(again, receiver);
            }
            Err(_) => prop_assert_eq!(receiver, expected),
        }
    }

    #[test]
    fn a_wrong_bit_is_found(bit in 16_usize..544, mut seed: u128) {
        let packed = pack(Direction::S2m, 0, true, &Queues([vec![1], vec![0, 2]]));
        let mut bytes = filled(Direction::S2m, &packed, &mut seed).encode(Direction::S2m).expect("it can be written");
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(Decoder::new(Direction::S2m).decode(&bytes), Err(FlitError::Crc));
    }
}

#[test]
fn control_flits_are_read_back() {
    let credits = CreditReturn { responses: 64, requests: 1, data: 16 };
    for flit in [Flit::Credits(credits), Flit::Retry(RetrySubType::FRAME), Flit::Retry(RetrySubType::REQ)] {
        for direction in Direction::ALL {
            let bytes = flit.encode(direction).expect("it can be written");
            assert_eq!(Decoder::new(direction).decode(&bytes), Ok(flit));
        }
    }
    let unsayable = Flit::Credits(CreditReturn { data: 3, ..CreditReturn::default() });
    assert_eq!(unsayable.encode(Direction::M2s), Err(FlitError::NotWritable));
}

#[test]
fn the_rules_are_those_of_the_receiver_too() {
    let req = || Slot::Req(M2sReq::from_raw(1));
    let rwd = || Slot::Rwd(M2sRwd::from_raw(1));
    let data = || Slot::Data([7; 16]);
    let read = |slots| {
        let flit = Flit::Protocol { acknowledge: false, credits: CreditReturn::default(), slots };
        let bytes = flit.encode(Direction::M2s).expect("it can be written");
        Decoder::new(Direction::M2s).decode(&bytes).map(|_| ())
    };
    assert_eq!(read([req(), req(), Slot::Empty, Slot::Empty]), Ok(()));
    assert_eq!(read([req(), req(), req(), Slot::Empty]), Err(FlitError::TooMany));
    assert_eq!(read([req(), rwd(), data(), data()]), Ok(()));
    assert_eq!(read([req(), rwd(), data(), rwd()]), Err(FlitError::Rollover { slot: 3 }));
    assert_eq!(read([req(), data(), Slot::Empty, Slot::Empty]), Err(FlitError::Rollover { slot: 1 }));
    let wrong_way = Flit::Protocol {
        acknowledge: false,
        credits: CreditReturn::default(),
        slots: [req(), req(), req(), req()],
    };
    assert_eq!(wrong_way.encode(Direction::S2m), Err(FlitError::NotWritable));
}
