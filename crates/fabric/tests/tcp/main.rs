//! Connections of TCP over lines that lose, double, delay and mark: every byte arrives once and in order; what a line
//! that does nothing wrong carries is the closed form; loss costs what the standards say.

mod channel;
mod closed_form;
mod recovery;

use channel::{Line, Takes, World};
use lanetwin_fabric::tcp::logic::congestion::Algorithm;
use lanetwin_fabric::tcp::logic::connection::Limits;
use proptest::prelude::*;

/// How many random worlds are tried: a few hundred, or what `LANETWIN_TCP_CASES` says.
fn cases() -> u32 {
    std::env::var("LANETWIN_TCP_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

fn limits() -> impl Strategy<Value = Limits> {
    let algorithm = prop_oneof![Just(Algorithm::Cubic), Just(Algorithm::Dctcp)];
    let segment = prop::sample::select(vec![536_u32, 1448, 8948]);
    let offload = prop_oneof![Just(0_u32), Just(16_384), Just(65_536)];
    let buffer = prop_oneof![1_u32..20_000, 20_000_u32..400_000];
    (algorithm, segment, offload, buffer).prop_map(|(algorithm, segment, offload, buffer)| Limits {
        segment,
        offload,
        buffer,
        algorithm,
    })
}

fn line() -> impl Strategy<Value = Line> {
    let rare = || prop_oneof![2 => Just(0_u64), 1 => 1_u64..60, 1 => 60_u64..250];
    let late = prop_oneof![2 => Just(0_u64), 1 => 1_u64..3_000_000, 1 => 1_u64..100_000_000];
    (rare(), rare(), rare(), late, any::<u64>()).prop_map(|(lost, doubled, marked, late, seed)| Line {
        lost,
        doubled,
        marked,
        late,
        seed,
        ..Line::RIGHT
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Whatever is lost, doubled, overtaken or marked, whoever takes how slowly, wherever numbers wrap.
    #[test]
    fn every_byte_arrives_once_and_in_order(
        limits in limits(),
        line in line(),
        offered in prop::collection::vec((0_usize..2, 1_u64..60_000), 1..12),
        eager in any::<bool>(),
        first in prop_oneof![Just(0_u64), Just((1 << 32) - 5000), 0_u64..1 << 33],
    ) {
        let mut world = World::new(limits, line, first);
        world.takes = if eager { Takes::All } else { Takes::Some };
        let mut whole = [0; 2];
        for (end, bytes) in offered {
            whole[end] += bytes;
            world.ends[end].offer(world.now, bytes);
            (0..5).for_each(|_| { world.step(); });
        }
        let arrived = |world: &World, end: usize| world.ends[end].receiver().expected() - first;
        let mut steps = 0_u32;
        while world.step() {
            // a program that is slow comes back now and then
            (0..2).for_each(|end| world.take(end));
            steps += 1;
            prop_assert!(steps < 3_000_000, "it goes on for ever: {:?}", world.ends);
            let [a, b] = [arrived(&world, 0), arrived(&world, 1)];
            prop_assert!(a <= whole[1] && b <= whole[0], "more than was offered");
        }
        prop_assert_eq!([arrived(&world, 1), arrived(&world, 0)], whole);
        prop_assert!(world.ends.iter().all(|end| end.outstanding() == 0));
        if line.lost == 0 && line.late == 0 {
            let again = world.ends.iter().map(|end| end.sender().counts().again).sum::<u64>();
            prop_assert_eq!(again, 0, "nothing is sent again over a line that loses nothing and keeps the order");
        }
    }
}
