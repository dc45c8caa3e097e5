//! Reliable connections over channels that lose, double and delay: every message arrives once, whole and in order.

mod channel;
mod go_back_n;

use channel::{Faults, Heard, World};
use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_fabric::roce::logic::requester::{Limits, Work};
use lanetwin_fabric::roce::spec::PathMtu;
use proptest::prelude::*;

/// How many random worlds are tried: a few hundred, or what `LANETWIN_ROCE_CASES` says.
fn cases() -> u32 {
    std::env::var("LANETWIN_ROCE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// What would be heard over a channel that fails nothing, worked out from nothing but what was asked for: each message
/// whole, in the order of asking.
fn naive(work: &[Work]) -> Heard {
    let whole = |work: &Work| (work.message, work.operation, work.bytes);
    let (reads, others): (Vec<_>, Vec<_>) = work.iter().partition(|work| work.operation == Operation::Read);
    Heard {
        arrived: others.into_iter().map(whole).collect(),
        read: reads.into_iter().map(whole).collect(),
        done: work.iter().map(|work| work.message).collect(),
    }
}

fn limits() -> impl Strategy<Value = Limits> {
    let mtu = prop::sample::select(PathMtu::ALL.to_vec());
    (mtu, 1_u32..5, 1_u32..20, prop_oneof![Just(1_u64), 2_u64..20, Just(1000)]).prop_map(
        |(mtu, reads, ack_every, window)| Limits {
            mtu,
            reads,
            ack_every,
            window,
            timeout: 40_000,
            retries: 1000,
            not_ready: 3_000,
            not_ready_retries: None,
        },
    )
}

fn work() -> impl Strategy<Value = Vec<Work>> {
    let operation = prop_oneof![
        any::<bool>().prop_map(|invalidate| Operation::Send { invalidate }),
        Just(Operation::Write),
        Just(Operation::Read),
    ];
    let bytes = prop_oneof![Just(0_u32), 1_u32..300, 300_u32..20_000];
    prop::collection::vec((operation, bytes), 1..25).prop_map(|drawn| {
        let work = drawn.into_iter().zip(0..);
        work.map(|((operation, bytes), message)| Work { message, operation, bytes }).collect()
    })
}

fn faults() -> impl Strategy<Value = Faults> {
    let rare = || prop_oneof![2 => Just(0_u64), 1 => 1_u64..80, 1 => 80_u64..300];
    let late = prop_oneof![2 => Just(0_u64), 1 => 1_u64..20_000];
    (rare(), rare(), late, any::<u64>()).prop_map(|(lost, doubled, late, seed)| Faults {
        lost,
        doubled,
        late,
        seed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Whatever is lost, doubled or overtaken, whenever receives are posted, wherever numbers wrap.
    #[test]
    fn every_message_arrives_once_whole_and_in_order(
        limits in limits(),
        work in work(),
        faults in faults(),
        eager in any::<bool>(),
        first in prop_oneof![Just(0_u32), Just((1 << 24) - 3), 0_u32..1 << 24],
    ) {
        let heard = World::new(limits, faults, first, eager).run(&work);
        prop_assert_eq!(heard, naive(&work));
    }
}
