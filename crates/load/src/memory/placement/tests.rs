//! Tests that every page is where Linux would put it if it placed one page after the other.

use super::*;
use proptest::prelude::*;
use std::ops::Range;

/// Places page by page, as Linux does: a large page if it lies in the mapping and a node has a whole free frame for it,
/// otherwise a small one. The page's number determines whose turn it is; the page goes to the nearest node with room.
/// `None` if there is none.
fn one_by_one(
    mapping: &Mapping,
    pages: Range<u64>,
    frames: &[u64],
    used: &mut [u64],
) -> Option<Vec<(u16, u64)>> {
    let Mapping { policy, size } = mapping;
    let (round, nodes) = (policy.round(), frames.len() as u16);
    let mut take = |page: u64, unit: u64| {
        let turn = round[(page / unit % round.len() as u64) as usize];
        let fits = |n: &u16| {
            let n = usize::from(*n);
            policy.may_use(n as u16) && used[n].next_multiple_of(unit) + unit <= frames[n]
        };
        let node = (turn..nodes).chain(0..turn).find(fits)?;
        let used = &mut used[usize::from(node)];
        let first = used.next_multiple_of(unit);
        *used = first + unit;
        Some((node, first))
    };
    let (mut places, mut page, unit) = (Vec::new(), pages.start, size.pages());
    while page < pages.end {
        let is_whole = page % unit == 0 && page + unit <= pages.end;
        let large = if is_whole { take(page, unit) } else { None };
        let taken = if large.is_some() { unit } else { 1 };
        let (node, first) = large.or_else(|| take(page, 1))?;
        places.extend((0..taken).map(|within| (node, first + within)));
        page += taken;
    }
    Some(places)
}

fn policy() -> impl Strategy<Value = Policy> {
    let some = prop::sample::subsequence(vec![0_u16, 1, 2, 3], 1..=4);
    prop_oneof![
        some.clone().prop_map(Policy::Bind),
        (0..4_u16).prop_map(Policy::Preferred),
        some.clone().prop_map(Policy::Interleave),
        (some, prop::array::uniform4(1..=9_u8)).prop_map(|(nodes, weights)| {
            Policy::WeightedInterleave(nodes.into_iter().zip(weights).collect())
        }),
    ]
}

fn small(policy: Policy) -> Mapping {
    policy.into()
}
fn in_pages(size: PageSize, policy: Policy) -> Mapping {
    Mapping { policy, size }
}

proptest! {
    #[test]
    fn every_page_is_where_one_by_one_would_put_it(
        policy in policy(),
        frames in prop::collection::vec(0..60_u64, 4),
        used in prop::collection::vec(0..20_u64, 4),
        pages in 1..200_u64,
    ) {
        let room: u64 = (0..4).filter(|n| policy.may_use(*n as u16)).map(|n| frames[n].saturating_sub(used[n])).sum();
        let mapping = small(policy);
        let map = PageMap::new(&mapping, pages, &frames, &used);
        if room < pages {
            prop_assert_eq!(map.unwrap_err(), [BadPlacement::NoRoom { needed: pages, room }]);
            return Ok(());
        }
        let map = map.unwrap();
        let places: Vec<_> = (0..pages).map(|page| map.place(page)).collect();
        prop_assert_eq!(Some(places), one_by_one(&mapping, 0..pages, &frames, &mut used.clone()));
    }

    /// With large pages, and a part with any limits and pages of another size: the result is the same as page by page,
    /// and pages that are called large are whole.
    #[test]
    fn every_large_page_is_where_one_by_one_would_put_it(
        policies in (policy(), policy()),
        sizes in prop::array::uniform2(prop::sample::select(vec![PageSize::Small, PageSize::Huge])),
        frames in prop::collection::vec(0..5000_u64, 4),
        used in prop::collection::vec(0..700_u64, 4),
        cuts in prop::array::uniform2(0..4000_u64),
        pages in 1..5000_u64,
    ) {
        let [mapping, other] = [in_pages(sizes[0], policies.0), in_pages(sizes[1], policies.1)];
        let (first, end) = (cuts[0].min(cuts[1]).min(pages), cuts[0].max(cuts[1]).min(pages));
        let parts = [Part { pages: first..end, mapping: other.clone() }];
        let mut expected_used = used.clone();
        let mut all = |mapping: &Mapping, pages: Range<u64>| one_by_one(mapping, pages, &frames, &mut expected_used);
        let expected = all(&mapping, 0..first)
            .and_then(|before| Some([before, all(&other, first..end)?].concat()))
            .and_then(|before| Some([before, all(&mapping, end..pages)?].concat()));
        let map = PageMap::with_parts((&mapping, &parts), pages, &frames, &used);
        let Ok(map) = map else {
            prop_assert!(expected.is_none(), "{:?}", map.unwrap_err());
            return Ok(());
        };
        let places: Vec<_> = (0..pages).map(|page| map.place(page)).collect();
        prop_assert_eq!(map.used(), expected_used);
        prop_assert_eq!(Some(&places), expected.as_ref());
        for large in map.large() {
            prop_assert!(large.pages.start % 512 == 0 && large.pages.end % 512 == 0);
            for page in large.pages.clone().filter(|page| page % 512 > 0) {
                let ((node, frame), before) = (places[page as usize], places[page as usize - 1]);
                prop_assert_eq!((node, frame - 1), before);
                prop_assert_eq!(map.size(page), PageSize::Huge);
            }
        }
    }

    /// An extended map is the same as one of all pages at once.
    #[test]
    fn pages_that_come_later_go_on_with_the_turns(policy in policy(), pages in 1..100_u64, more in 0..100_u64) {
        let (frames, mapping) = ([40, 30, 200, 500], small(policy));
        let (Ok(all), Ok(mut map)) =
            (PageMap::new(&mapping, pages + more, &frames, &[0; 4]), PageMap::new(&mapping, pages, &frames, &[0; 4])) else {
            return Ok(());
        };
        map.extend(&mapping, pages + more, &frames).unwrap();
        for page in 0..pages + more {
            prop_assert_eq!(map.place(page), all.place(page));
        }
    }
}

#[test]
fn turns_are_taken_by_large_pages() {
    let policy = Policy::WeightedInterleave(vec![(0, 6), (1, 1)]);
    let nodes = [1 << 20, 1 << 20];
    let map =
        PageMap::new(&in_pages(PageSize::Huge, policy.clone()), 512 * 21 + 13, &nodes, &[0; 2]).unwrap();
    let far = |unit: u64, n: u64| (0..n).filter(|page| map.place(page * unit).0 == 1).collect::<Vec<_>>();
    assert_eq!(far(512, 21), [6, 13, 20]);
    // the rest, which does not fill a large page, takes turns in pages of 4 KiB by their own numbers: the first of the
    // thirteen has the number 10 752, which is turn 0
    let rest: Vec<u16> = (512 * 21..512 * 21 + 13).map(|page| map.place(page).0).collect();
    assert_eq!(rest, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(map.large(), [Large { pages: 0..512 * 21, size: PageSize::Huge }]);
    let gigabytes =
        PageMap::new(&in_pages(PageSize::Gigantic, policy), (1 << 18) * 3 + 1, &[1 << 18, 1 << 20], &[0, 1])
            .unwrap();
    let of = |page| gigabytes.place(page);
    // one page fits on the first node; on the other node, they begin at multiples of 1 GiB
    assert_eq!(
        [of(5), of(1 << 18), of(2 << 18), of(3 << 18)],
        [(0, 5), (1, 1 << 18), (1, 2 << 18), (1, 3 << 18)]
    );
}

#[test]
fn what_has_no_room_for_a_whole_large_page_is_in_small_ones() {
    let mapping = |policy| in_pages(PageSize::Huge, policy);
    let map =
        PageMap::new(&mapping(Policy::Interleave(vec![0, 1])), 1024, &[1100, 1500], &[40, 600]).unwrap();
    // frames 40 to 511 are skipped, since a large page begins at a multiple of its size; there is no room for a second
    // large page on any node
    assert_eq!([map.place(0), map.place(511)], [(0, 512), (0, 1023)]);
    assert_eq!([map.place(512), map.place(513)], [(0, 1024), (1, 600)]);
    assert_eq!(map.large(), [Large { pages: 0..512, size: PageSize::Huge }]);
    let bound = PageMap::new(&mapping(Policy::Bind(vec![0])), 1024, &[1100, 9999], &[40, 0]).unwrap_err();
    assert_eq!(bound, [BadPlacement::NoRoom { needed: 1024, room: 512 + 76 }]);
}

#[test]
fn weights_are_shares_of_every_round() {
    let policy = Policy::WeightedInterleave(vec![(0, 10), (1, 1)]);
    let map = PageMap::new(&small(policy), 1100, &[1 << 20; 2], &[0; 2]).unwrap();
    for round in 0..100 {
        let far = (round * 11..round * 11 + 11).filter(|page| map.place(*page).0 == 1).count();
        assert_eq!(far, 1);
    }
    assert_eq!((map.place(10), map.place(11), map.place(21)), ((1, 0), (0, 10), (1, 1)));
    assert_eq!(map.used(), [1000, 100]);
}

#[test]
fn parts_have_policies_of_their_own_and_dax_whole_pages_of_two_mebibytes() {
    let part = |pages, policy| Part { pages, mapping: small(policy) };
    let parts = [
        part(10..20, Policy::Bind(vec![1])),
        part(100..700, Policy::Dax(2)),
        part(900..1300, Policy::Dax(2)),
    ];
    let policy = Policy::Interleave(vec![0, 1]);
    let map = PageMap::with_parts((&small(policy), &parts), 1000, &[10_000; 3], &[0, 0, 3]).unwrap();
    let nodes: Vec<u16> = (0..1000).map(|page| map.place(page).0).collect();
    assert_eq!(&nodes[8..22], &[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
    assert!(nodes[100..700].iter().chain(&nodes[900..]).all(|node| *node == 2));
    assert!(nodes[700..900].iter().all(|node| *node < 2));
    // both begin at a multiple of 2 MiB, and the rest of their last large page is not used
    assert_eq!((map.place(100), map.place(699), map.place(900)), ((2, 512), (2, 1111), (2, 1536)));
    let large = [100..700, 900..1000].map(|pages| Large { pages, size: PageSize::Huge });
    assert_eq!((map.used()[2], map.large()), (2048, &large[..]));
    // no two pages have the same place
    let places: std::collections::BTreeSet<_> = (0..1000).map(|page| map.place(page)).collect();
    assert_eq!(places.len(), 1000);
    let tight = PageMap::new(&small(Policy::Dax(1)), 513, &[9999, 1023], &[0; 2]).unwrap_err();
    assert_eq!(tight, [BadPlacement::NoRoom { needed: 1024, room: 1023 }]);
}

#[test]
fn a_terabyte_is_placed_without_a_table() {
    let pages = 1 << 28;
    let policy = Policy::WeightedInterleave(vec![(0, 3), (1, 1)]);
    let map = PageMap::new(&small(policy), pages, &[1 << 26, 1 << 28], &[0; 2]).unwrap();
    assert_eq!(map.used(), [1 << 26, 3 << 26]);
    assert_eq!(map.place(pages - 1), (1, (3 << 26) - 1));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let weights = vec![(0, 0), (5, 1), (5, 2)];
    let wrong = PageMap::new(&small(Policy::WeightedInterleave(weights)), 1, &[1; 2], &[0; 2]).unwrap_err();
    let none = |node| BadPlacement::NoSuchNode { node, nodes: 2 };
    assert_eq!(wrong, [none(5), none(5), BadPlacement::Twice(5), BadPlacement::Weight(0)]);
    assert_eq!(Policy::Interleave(Vec::new()).check(1), [BadPlacement::NoNodes]);
}
