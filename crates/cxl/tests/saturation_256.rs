//! Flits of 256 B that are never short of messages, beside arithmetic: no more lines than [`closed_form`] allows, and
//! not many fewer; a flit in steady state keeps the rules, looked at flit by flit.

use lanetwin_cxl::logic::flit_256::packer::{Before, Group, Rules, pack};
use lanetwin_cxl::logic::packer::{Age, Class, Waiting};
use lanetwin_cxl::spec::flit_256::{GROUPS, Layout, Message};
use lanetwin_cxl::spec::{Direction, closed_form};

const LAYOUTS: [Layout; 2] = [Layout::Standard, Layout::LatencyOptimised];

/// Messages that have all waited from the start, with evenly mixed ages.
struct Queues([Vec<u64>; 2]);

impl Waiting for Queues {
    fn age(&self, class: Class, n: u8) -> Option<Age> {
        self.0[class.index()].get(usize::from(n)).map(|at| (*at, 0))
    }
}

/// All groups that these messages take.
fn groups(rules: Rules, no_data: u64, data: u64) -> Vec<Group> {
    let mut queues = Queues([
        (0..no_data).map(|i| i * 1_000_000 / no_data.max(1)).collect(),
        (0..data).map(|i| i * 1_000_000 / data.max(1) + 1).collect(),
    ]);
    let mut before = Before::default();
    let mut all = Vec::new();
    while before.rollover > 0 || queues.0.iter().any(|queue| !queue.is_empty()) {
        let (group, after) = pack(rules, all.len() % GROUPS, before, &queues);
        for (queue, sent) in queues.0.iter_mut().zip(group.messages()) {
            queue.drain(..usize::from(sent));
        }
        all.push(group);
        before = after;
    }
    all
}

/// Lines in a flit, in the busier direction of such a mix.
fn lines_per_flit(layout: Layout, reads: u64, writes: u64) -> f64 {
    let flits = Direction::ALL.map(|direction| {
        let rules = Rules { direction, layout, multi: true };
        let (no_data, data) = if direction == Direction::M2s { (reads, writes) } else { (writes, reads) };
        groups(rules, no_data, data).len() as f64 / GROUPS as f64
    });
    (reads + writes) as f64 / flits[0].max(flits[1])
}

#[test]
fn mixes_come_near_to_what_the_slots_allow() {
    for layout in LAYOUTS {
        for (reads, writes) in
            [(8000, 0), (7200, 800), (6000, 2000), (5333, 2667), (4000, 4000), (2000, 6000), (0, 8000)]
        {
            let [there, back] =
                closed_form::lines_per_flit_256(layout, reads as f64 / (reads + writes) as f64);
            let (most, got) = (there.min(back), lines_per_flit(layout, reads, writes));
            println!("{layout:?}, {reads} reads, {writes} writes: {got:.3} lines a flit of {most:.3}");
            assert!(got <= most * 1.002, "{layout:?} {reads} {writes}: {got} of {most}");
            assert!(got >= most * 0.93, "{layout:?} {reads} {writes}: {got} of {most}");
        }
    }
}

/// Where nothing is left to choose: three writes in each flit, and in latency-optimised flits thirteen slots of data of
/// reads.
#[test]
fn writes_and_latency_optimised_reads_fill_every_slot() {
    for layout in LAYOUTS {
        assert!((lines_per_flit(layout, 0, 9000) - 3.0).abs() < 0.01);
    }
    assert!((lines_per_flit(Layout::LatencyOptimised, 9100, 0) - 3.25).abs() < 0.01);
}

/// The messages of any two groups that follow each other, and of the five slots that count as the third group of a
/// latency-optimised flit.
#[test]
fn no_two_groups_have_more_messages_than_they_may() {
    for layout in LAYOUTS {
        for (direction, no_data, data) in [
            (Direction::M2s, 3000, 0),
            (Direction::M2s, 2000, 2000),
            (Direction::S2m, 3000, 0),
            (Direction::S2m, 0, 3000),
            (Direction::S2m, 2000, 2000),
        ] {
            let most = Message::of(direction).map(Message::most_in_two_groups);
            let all = groups(Rules { direction, layout, multi: true }, no_data, data);
            let mut full = [false; 2];
            for (n, pair) in all.windows(2).enumerate() {
                let [one, other] = [pair[0].messages(), pair[1].messages()];
                for i in 0..2 {
                    let mut sum = one[i] + other[i];
                    if layout == Layout::LatencyOptimised && n % GROUPS == 2 {
                        let seventh = all[n - 1].slots[3];
                        sum += [seventh.no_data, seventh.data_headers][i];
                    }
                    assert!(sum <= most[i], "{layout:?} {direction:?}: {sum} in groups {n} and the next");
                    full[i] |= sum == most[i];
                }
            }
            assert!(
                full[0] == (no_data > 0) || full[1],
                "{layout:?} {direction:?}: the limit is never reached"
            );
        }
    }
}
