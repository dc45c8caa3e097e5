//! Laws of the links that need no second opinion, in the engine alone. A storm of small random worlds: all that is
//! handed in is delivered, all credits come back, nobody waits for ever. And saturated outputs of switches: everybody
//! gets a fair share.
//!
//! A failure prints its seed: `LANETWIN_SEED=n LANETWIN_WORLDS=1 cargo test -p lanetwin-pcie --test storm`.

#[allow(dead_code, reason = "the reference itself is for the laws")]
mod reference;

use reference::by_hand::{NS, bare, star, writes};
use reference::draw;
use reference::engine::{self, Manner};
use reference::machine::{Core, Credits, Machine, OutputBuffer, Switch};
use reference::simulator::Departure;
use reference::world::{Recital, Script, World};

/// Every switch of every shape meets every load many times over, in seconds.
const WORLDS: u64 = 12_000;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn nothing_is_lost_and_nobody_waits_for_ever() {
    let first = from_environment("LANETWIN_SEED", 0);
    let mut wrong = Vec::new();
    for seed in first..first + from_environment("LANETWIN_WORLDS", WORLDS) {
        let verdict = std::panic::catch_unwind(|| weather(seed));
        if !matches!(verdict, Ok(Ok(()))) {
            let why =
                verdict.map_or_else(|_| "it panicked".to_owned(), |verdict| verdict.expect_err("not ok"));
            eprintln!("LANETWIN_SEED={seed}: {why}");
            wrong.push(seed);
        }
    }
    assert!(wrong.is_empty(), "{} worlds are wrong: {wrong:?}", wrong.len());
}

/// Runs a world to its end. That all TLPs and bytes are delivered is seen to by the devices.
fn weather(seed: u64) -> Result<(), String> {
    let drawn = draw::small_machine(seed);
    let strictly_ordered = drawn.is_strictly_ordered();
    let manner = Manner {
        shuffle: seed,
        tlp_by_tlp: seed % 4 == 3,
        slice_ps: None,
        strictly_ordered,
        messages_ps: None,
    };
    let run = engine::run(&drawn.machine, drawn.world(), manner);
    if run.outcome.seen.is_empty() {
        return Err("nothing is delivered".to_owned());
    }
    run.at_rest(&drawn.machine)
}

/// All cores, slow and fast, with little room and with much.
fn cores() -> Vec<Option<Core>> {
    let mut all = vec![None];
    for speed_up in [1, 2, 5] {
        all.push(Some(Core::SharedMemory { speed_up }));
        for tlps in [1, 3, 64] {
            let output = OutputBuffer { tlps, data: 5 * tlps };
            all.push(Some(Core::Crossbar { speed_up, output }));
            all.push(Some(Core::SharedBus { speed_up, output }));
        }
    }
    all
}

/// Endpoints `sinks …` write to endpoints `0 … sinks − 1` in turn, each as many TLPs as said; the links are alike but
/// for their length.
struct Contest {
    machine: Machine,
    sinks: usize,
    counts: Vec<u32>,
}

impl Contest {
    fn new(switch: Switch, sinks: usize, counts: Vec<u32>) -> Self {
        let mut machine = star(sinks + counts.len(), switch, &bare());
        for (number, link) in (0..).zip(&mut machine.links) {
            for direction in &mut link.directions {
                direction.propagation_ps = 7_001 * number;
            }
            // Room for what is under way until the first credit is back, and for many turns of the others.
            link.directions[0].credits[0] = Credits { header: Some(40), data: Some(200) };
        }
        Self { machine, sinks, counts }
    }

    /// What leaves an egress or a column, first to last.
    fn leaving(&self, egress: usize) -> Vec<Departure> {
        let mut scripts: Vec<Box<dyn Script>> = Vec::new();
        scripts.resize_with(self.sinks, || Box::new(Recital(Vec::new())));
        for (number, &count) in self.counts.iter().enumerate() {
            scripts.push(Box::new(Recital(vec![(0, writes(count, number % self.sinks))])));
        }
        let outcome = engine::run(&self.machine, World::new(scripts), Manner::default()).outcome;
        let mut leaving = outcome.departures;
        leaving.retain(|departure| departure.egress == egress);
        leaving.sort_unstable_by_key(|departure| departure.tick);
        leaving
    }
}

/// The winners one after another, from when each of them has won once until one of them has won for the last time.
fn stretch(winners: &[usize]) -> &[usize] {
    let place = |at: Option<usize>| at.expect("each of them wins");
    let mut all = winners.to_vec();
    all.sort_unstable();
    all.dedup();
    let first = all.iter().map(|one| place(winners.iter().position(|winner| winner == one))).max();
    let last = all.iter().map(|one| place(winners.iter().rposition(|winner| winner == one))).min();
    &winners[place(first)..=place(last)]
}

/// By how many wins two of them differ at most, over any part of a stretch.
fn widest_gap(winners: &[usize], a: usize, b: usize) -> i64 {
    let (mut ahead, mut least, mut most) = (0, 0, 0);
    for &winner in winners {
        ahead += i64::from(winner == a) - i64::from(winner == b);
        (least, most) = (ahead.min(least), ahead.max(most));
    }
    most - least
}

/// What is measured, on an order that is not fair.
#[test]
fn a_gap_is_measured_over_the_part_that_all_compete_for() {
    let winners = [1, 1, 2, 1, 2, 2, 2, 1, 2, 2];
    assert_eq!(stretch(&winners), [2, 1, 2, 2, 2, 1]);
    assert_eq!(widest_gap(stretch(&winners), 1, 2), 3);
}

#[test]
fn equal_sources_have_equal_shares_over_any_stretch() {
    for core in cores() {
        for (cut_through, sources) in [(false, 2), (true, 3), (false, 5)] {
            let switch = Switch { core, ..Switch::plain(60 * NS, cut_through) };
            let contest = Contest::new(switch, 1, vec![200; sources]);
            let winners: Vec<usize> = contest.leaving(1).iter().map(|departure| departure.source).collect();
            let stretch = stretch(&winners);
            assert!(stretch.len() > 150 * sources, "{core:?}: {sources} sources compete all the time");
            for a in 1..=sources {
                for b in 1..a {
                    let gap = widest_gap(stretch, a, b);
                    assert!(gap <= 1, "{core:?}, cut-through {cut_through}: {gap} TLPs between {a} and {b}");
                }
            }
        }
    }
}

#[test]
fn weighted_sources_have_shares_as_their_weights_over_a_long_run() {
    for core in cores() {
        for (cut_through, weights) in [(false, vec![3, 1]), (true, vec![1, 2, 5]), (false, vec![8, 4, 2, 1])]
        {
            let mut switch = Switch { core, ..Switch::plain(60 * NS, cut_through) };
            switch.weights = Some((1..).zip(weights.iter().copied()).collect());
            // So many that all of them end at about the same time.
            let counts = weights.iter().map(|&weight| 300 * weight as u32).collect();
            let winners = Contest::new(switch, 1, counts).leaving(1);
            let winners: Vec<usize> = winners.iter().map(|departure| departure.source).collect();
            let stretch = stretch(&winners);
            let all: u64 = weights.iter().sum();
            assert!(stretch.len() as u64 > 250 * all, "{core:?}: {weights:?} compete all the time");
            for (source, weight) in (1..).zip(weights) {
                let won = stretch.iter().filter(|&&winner| winner == source).count() as f64;
                let share = won / stretch.len() as f64 * all as f64 / weight as f64;
                assert!((share - 1.0).abs() < 0.01, "{core:?}: {share} of what source {source} may have");
            }
        }
    }
}

#[test]
fn saturated_outputs_have_equal_shares_of_a_bus() {
    for tlps in [1, 64] {
        for core in [
            Core::SharedBus { speed_up: 1, output: OutputBuffer { tlps, data: 5 * tlps } },
            Core::SharedMemory { speed_up: 1 },
        ] {
            // One source for each output, and a TLP from another that does not matter.
            let switch = Switch { core: Some(core), ..Switch::plain(60 * NS, false) };
            let mut contest = Contest::new(switch, 2, vec![400, 400, 1, 400]);
            contest.machine.links.iter_mut().for_each(|link| link.directions[0].propagation_ps = 0);
            let columns = contest.machine.egresses();
            let mut winners = contest.leaving(columns);
            winners.extend(contest.leaving(columns + 1));
            winners.sort_unstable_by_key(|departure| departure.tick);
            let winners: Vec<usize> = winners.iter().map(|departure| departure.egress).collect();
            let stretch = stretch(&winners);
            assert!(stretch.len() > 700, "{core:?}: the bus is busy");
            let gap = widest_gap(stretch, columns, columns + 1);
            assert!(gap <= 1, "{core:?}: {gap} TLPs between the outputs");
        }
    }
}
