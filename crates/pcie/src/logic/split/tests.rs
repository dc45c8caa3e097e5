//! The laws of splitting, on random transfers; and the shapes that hardware is known to make.

use super::*;
use proptest::prelude::*;

const CUTS: [CompletionCut; 4] =
    [CompletionCut::Mps, CompletionCut::LastRcb, CompletionCut::RcbThenMps, CompletionCut::Rcb];

/// Lengths of the pieces.
fn lengths(pieces: Pieces) -> Vec<u16> {
    pieces.map(ByteRange::len).collect()
}

fn alignment() -> impl Strategy<Value = Alignment> {
    prop_oneof![Just(Alignment::Aligned), Just(Alignment::Packed)]
}

fn mps() -> impl Strategy<Value = Mps> {
    prop::sample::select(&Mps::ALL[..])
}

/// Addresses near a page's end as often as anywhere, and at the end of memory.
fn transfer() -> impl Strategy<Value = (u64, u32)> {
    let len = prop_oneof![0u32..300, 0u32..20_000, 3_900u32..4_300];
    let address = prop_oneof![0u64..10_000, any::<u64>(), (0u64..64).prop_map(|back| u64::MAX - back)];
    (address, len).prop_map(|(address, len)| {
        let room = (u64::MAX - address).saturating_add(1).min(1 << 31) as u32;
        (address, len.min(room))
    })
}

/// The bytes of the pieces are the bytes of the transfer, in order.
fn conserves(pieces: Pieces, address: u64, len: u32) -> Result<(), TestCaseError> {
    let mut at = u128::from(address);
    for piece in pieces {
        prop_assert_eq!(u128::from(piece.address()), at);
        at += u128::from(piece.len());
    }
    prop_assert_eq!(at, u128::from(address) + u128::from(len));
    Ok(())
}

/// The runs are the pieces: the same ones, as few runs as there can be, all of a run alike on the wire.
fn runs_are_the_pieces(pieces: Pieces) -> Result<(), TestCaseError> {
    let runs = pieces.runs();
    let unrolled: Vec<_> = runs.as_slice().iter().flat_map(|run| run.pieces()).collect();
    prop_assert_eq!(&unrolled, &pieces.collect::<Vec<_>>());
    prop_assert_eq!(pieces.len(), unrolled.len());
    prop_assert!(runs.as_slice().windows(2).all(|pair| pair[0].len != pair[1].len), "{:?}", runs);
    for run in runs.as_slice() {
        prop_assert!(run.count > 0);
        let mut dwords: Vec<_> = run.pieces().map(ByteRange::dwords).collect();
        dwords.dedup();
        prop_assert_eq!(dwords.len(), 1, "{:?} differ in Length", run);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn writes_obey_the_laws((address, len) in transfer(), mps in mps(), alignment in alignment()) {
        let pieces = writes(address, len, mps, alignment);
        conserves(pieces, address, len)?;
        runs_are_the_pieces(pieces)?;
        for piece in pieces {
            prop_assert!(piece.dwords() <= mps.dwords(), "{:?} is longer than {:?}", piece, mps);
        }
    }

    /// Aligned: every cut is at a multiple of the limit. Packed: every cut is at a page, or after a full TLP.
    #[test]
    fn the_cuts_are_where_the_policy_says((address, len) in transfer(), mps in mps()) {
        for cut in writes(address, len, mps, Alignment::Aligned).skip(1) {
            prop_assert_eq!(cut.address() % u64::from(mps.bytes()), 0);
        }
        let packed: Vec<_> = writes(address, len, mps, Alignment::Packed).collect();
        for pair in packed.windows(2) {
            let full = pair[0].dwords() == mps.dwords();
            prop_assert!(full || pair[1].address() % PAGE_BYTES == 0, "{:?}", pair);
        }
        prop_assert!(packed.len() <= writes(address, len, mps, Alignment::Aligned).len());
    }

    #[test]
    fn reads_are_cut_as_writes_are((address, len) in transfer(), size in 0usize..6, alignment in alignment()) {
        let as_reads: Vec<_> = reads(address, len, Mrrs::ALL[size], alignment).collect();
        let as_writes: Vec<_> = writes(address, len, Mps::ALL[size], alignment).collect();
        prop_assert_eq!(as_reads, as_writes);
    }

    #[test]
    fn completions_obey_the_laws(
        address in prop_oneof![0u64..5_000, any::<u64>()],
        len in 1u16..=4096,
        mps in mps(),
        rcb in prop::sample::select(&Rcb::ALL[..]),
        cut in prop::sample::select(&CUTS[..]),
    ) {
        let room = (PAGE_BYTES - address % PAGE_BYTES) as u16;
        let request = ByteRange::new(address, len.min(room)).unwrap();
        let pieces = completions(request, rcb, mps, cut);
        conserves(pieces, address, request.len().into())?;
        runs_are_the_pieces(pieces)?;
        let boundary = u64::from(rcb.bytes());
        for piece in pieces {
            prop_assert!(piece.dwords() <= mps.dwords());
            prop_assert!(piece.address() == address || piece.address() % boundary == 0, "cut off the RCB: {:?}", piece);
        }
        let fewest = completions(request, rcb, mps, CompletionCut::LastRcb).len();
        prop_assert!(fewest <= pieces.len());
        if address / boundary == request.last_address() / boundary {
            prop_assert_eq!(pieces.len(), 1, "within one RCB there is one completion");
        }
    }
}

#[test]
fn a_write_of_4_kib_is_sixteen_tlps_of_256() {
    let mps = Mps::from_bytes(256).unwrap();
    for alignment in [Alignment::Aligned, Alignment::Packed] {
        let pieces = writes(0x20_0000, 4096, mps, alignment);
        assert_eq!(pieces.runs().as_slice(), [Run { first_address: 0x20_0000, len: 256, count: 16 }]);
    }
}

#[test]
fn an_unaligned_write_shows_the_policy() {
    let mps = Mps::from_bytes(256).unwrap();
    assert_eq!(lengths(writes(0x10, 512, mps, Alignment::Aligned)), [240, 256, 16]);
    assert_eq!(lengths(writes(0x10, 512, mps, Alignment::Packed)), [256, 256]);
    assert_eq!(lengths(writes(0x11, 512, mps, Alignment::Packed)), [255, 256, 1]); // 256 bytes would lie in 65 dwords
    assert_eq!(lengths(writes(0xf80, 512, mps, Alignment::Packed)), [128, 256, 128]); // the page ends
}

/// The most there can be: head, pieces, rest of the page, pieces, tail.
#[test]
fn five_runs_are_needed_and_enough() {
    let mps = Mps::from_bytes(128).unwrap();
    let runs = writes(0xe11, 10_000, mps, Alignment::Packed).runs();
    let shape: Vec<_> = runs.as_slice().iter().map(|run| (run.count, run.len)).collect();
    assert_eq!(shape, [(1, 127), (2, 128), (1, 112), (74, 128), (1, 33)]);
    assert_eq!(shape.len(), MAX_RUNS);
}

#[test]
fn an_unaligned_read_is_answered_up_to_the_boundary_first() {
    let request = ByteRange::new(0x1030, 512).unwrap();
    let (rcb, mps) = (Rcb::B64, Mps::from_bytes(256).unwrap());
    assert_eq!(lengths(completions(request, rcb, mps, CompletionCut::Mps)), [208, 256, 48]);
    assert_eq!(lengths(completions(request, rcb, mps, CompletionCut::LastRcb)), [208, 256, 48]);
    let later = ByteRange::new(0x1070, 512).unwrap();
    assert_eq!(lengths(completions(later, rcb, mps, CompletionCut::Mps)), [144, 256, 112]);
    assert_eq!(lengths(completions(later, rcb, mps, CompletionCut::LastRcb)), [208, 256, 48]);
    assert_eq!(lengths(completions(request, rcb, mps, CompletionCut::RcbThenMps)), [16, 256, 240]);
    let each = lengths(completions(request, rcb, mps, CompletionCut::Rcb));
    assert_eq!(each, [16, 64, 64, 64, 64, 64, 64, 64, 48]);
}

/// The largest transfer there is costs no more than a small one: five runs at most, not 2^25 steps.
#[test]
fn the_largest_transfer_is_counted_without_walking_it() {
    let mps = Mps::from_bytes(128).unwrap();
    assert_eq!(writes(0, u32::MAX, mps, Alignment::Aligned).len(), (u32::MAX as usize).div_ceil(128));
    assert_eq!(writes(7, 0, mps, Alignment::Aligned).next(), None);
}

#[test]
#[should_panic(expected = "within 64 bits")]
fn a_transfer_beyond_memory_is_a_mistake_of_ours() {
    let _ = writes(u64::MAX, 2, Mps::ALL[0], Alignment::Aligned);
}
