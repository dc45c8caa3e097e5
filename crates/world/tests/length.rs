//! Is a case measured as long as it takes, if nobody says how long: until it is steady, its run time is over or its
//! budget is spent; and is it repeated until it is known well enough?

use crate::tree::{options, plan, results, substance};
use lanetwin_stats::results::{Condition, Results, Row};
use lanetwin_world::{Granularity, Options};

/// Random writes to a drive with a buffer for 8192 of them.
const WRITES: &str = "
about: What does the drive take?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-tlc-gen4, buffer: 32MiB}
links:
  bay: {from: host, to: ssd}
workloads:
  writes: {fio: {rw: randwrite, bs: 4k, iodepth: 64}, on: host, target: ssd}
run: {repeats: 1}
";

/// Random reads.
const READS: &str = "
about: What does a retimer cost?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-tlc-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
  reads: {block: {size: 4KiB, depth: 4, requests: 300}, on: host, target: ssd}
variants:
  x4: {}
  x2: {links.bay.width: x2}
compare: {equivalent_within: 0.1%}
run: {repeats: 2}
";

/// A thread goes through 4 MiB, of which caches have all but one line in a hundred.
const LINES: &str = "
about: What does a program move that its caches serve?
machine:
  host: {part: intel-xeon-8480, cores: 8, llc.size: 7680KiB, llc.ways: 15, l2.size: 512KiB}
  exp: {part: mess-cxl-expander}
links:
  slot: {from: host, to: exp}
workloads:
  app: {memory: {pattern: random, mix: 1r1w, placement: exp, working-set: 4MiB, threads: 1}, on: host}
run: {seed: 5}
";

fn run(text: &str, sets: &[&str]) -> Results {
    results(&plan("length.yaml", text, sets), &Options::default())
}

fn row<'a>(results: &'a Results, metric: &str) -> &'a Row {
    let is_it = |row: &&Row| row.device.is_none() && row.metric == metric;
    results.rows.iter().find(is_it).expect("a row")
}

/// What is measured, whether it was steady, and of what it was not.
fn told(results: &Results) -> (u64, Condition, &str) {
    let row = row(results, "throughput");
    let steady = row.steady.as_ref().expect("it is said");
    (row.operations.expect("they are counted"), steady.condition, &steady.of)
}

#[test]
fn what_a_buffer_swallows_is_not_the_answer() {
    // who says what comes before has the buffer as it is then
    let swallowed = run(WRITES, &["workloads.writes.fio.requests=4000", "run.warm-up=1000"]);
    let (_, condition, of) = told(&swallowed);
    assert!(condition == Condition::NotSteady && of.starts_with("ssd: "), "{of}");
    let open = run(WRITES, &[]);
    let (operations, condition, _) = told(&open);
    // once more as long, and up to six times that for its tail
    assert!((10_000..121_000).contains(&operations) && condition == Condition::Steady, "{:?}", told(&open));
    let [swallowed, open] = [&swallowed, &open].map(|results| row(results, "throughput").value);
    assert!(swallowed > 1.4 * open, "the flash is slower: {swallowed} and {open}");
}

/// 16 MB go from the buffer to dies that have nothing to do, which take 6.3 MB in a program of 3.14 ms, as fast as the
/// firmware takes them; the flash does 2.0 GB/s.
#[test]
fn what_idle_dies_take_at_once_is_not_the_answer() {
    let drive = "machine.ssd={part: samsung-pm9a3}";
    let job = "workloads.writes.fio={rw: write, bs: 4k, iodepth: 128, ioengine: spdk, requests: 1500}";
    let swallowed = run(WRITES, &[drive, job]);
    let (_, condition, of) = told(&swallowed);
    assert_eq!((condition, of), (Condition::NotSteady, "ssd: dies of the medium"));
    // what the dies can do lasts
    let slow = "workloads.writes.fio={rw: write, bs: 4k, iodepth: 1, requests: 1500}";
    assert_eq!(told(&run(WRITES, &[drive, slow])).1, Condition::Steady);
}

/// A buffer that fills up is filled: 1 GiB of it, which would swallow two million writes, does not change what is told.
#[test]
fn how_long_a_buffer_takes_to_fill_does_not_matter() {
    let of = |buffer: &str| {
        let results = run(WRITES, &["workloads.writes.fio.requests=10000", buffer]);
        (told(&results).1, row(&results, "throughput").value)
    };
    let (small, large) = (of("machine.ssd.buffer=16MiB"), of("machine.ssd.buffer=1GiB"));
    assert!((large.1 / small.1 - 1.0).abs() < 0.03, "{small:?} {large:?}");
    assert_ne!(large.0, Condition::Whole);
}

/// 32 MiB are full when the warm-up of 90,000 operations is over, so that nothing fills while they are measured, and
/// the rate stays; but the first tenth of a second of them has reads of 2 ms, and the 99th percentile of all was 30 %
/// beyond that of 110,000, which begin later.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn a_stated_length_begins_in_balance() {
    let tail = |requests: u64| {
        let job = format!("{{rw: randrw, rwmixread: 70, bs: 16k, iodepth: 128, requests: {requests}}}");
        let results = run(
            WRITES,
            &["machine.ssd={part: samsung-pm9a3, buffer: 32MiB}", &format!("workloads.writes.fio={job}")],
        );
        let percentiles = &row(&results, "read latency").percentiles;
        percentiles.iter().find(|(percent, _)| *percent == 99.0).expect("there are some").1
    };
    let (early, late) = (tail(90_000), tail(110_000));
    assert!((early / late - 1.0).abs() < 0.1, "{early} {late}");
}

/// Of seven reads to three writes the writes become slower throughout, by some 8 % in all, and the reads faster, while
/// the rate is the same.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn a_balance_that_all_repeats_find_slowly_is_told() {
    let told_of = |metric: &str, job: &str| {
        let job = format!("workloads.writes.fio={{{job}, bs: 8k, iodepth: 16, ioengine: io_uring}}");
        let results = run(
            WRITES,
            &[
                "machine.host={part: generic-host-gen3}",
                "machine.ssd={part: intel-900p}",
                &job,
                "run={seed: 1412}",
            ],
        );
        let steady = row(&results, metric).steady.as_ref().expect("rows say so");
        (steady.condition, steady.of.clone())
    };
    let slowly = told_of("write latency", "rw: randrw, rwmixread: 70");
    assert_eq!(slowly, (Condition::NotSteady, "balance of reads and writes".into()));
    assert_eq!(told_of("latency", "rw: randread").0, Condition::Steady);
}

#[test]
fn a_case_ends_with_its_run_time_and_with_its_budget() {
    let timed = run(WRITES, &["workloads.writes.fio.runtime=20ms"]);
    let steady = row(&timed, "throughput").steady.clone().expect("it is said");
    assert_eq!(steady.of_run_time, Some(1.0));
    assert!((row(&timed, "throughput").seconds.expect("it is told") - 0.02).abs() < 1e-6);
    let poor = run(WRITES, &["run.budget=1us", "machine.ssd.buffer=1GiB"]);
    let (operations, condition, _) = told(&poor);
    assert!((10_000..12_000).contains(&operations) && condition == Condition::NotSteady, "{operations}");
}

#[test]
fn repeats_are_added_until_it_is_known_well_enough() {
    let repeats = |results: &Results| results.rows.iter().map(|row| row.n).collect::<Vec<_>>();
    let wide = run(READS, &["run.until=±50%"]);
    assert!(repeats(&wide).iter().all(|n| *n == 2));
    let sets = ["run.until=±0.2%"];
    let plan = plan("length.yaml", READS, &sets);
    let [one, two] = [1, 2].map(|threads| results(&plan, &options(threads, Granularity::Train)));
    assert_eq!(substance(&one), substance(&two));
    // all variants have as many: each is paired with that of the baseline
    let all = repeats(&one);
    assert!(all[0] > 2 && all.iter().all(|n| *n == all[0]), "{all:?}");
    let spent = run(READS, &["run.until=±0.0001%", "run.budget=1us"]);
    assert!(repeats(&spent).iter().all(|n| *n == 2), "no more than it may cost");
}

#[test]
fn a_job_that_goes_on_when_the_erased_blocks_are_gone_is_not_steady() {
    let of = |sets: &[&str]| {
        let sets: Vec<&str> = [&["machine.ssd.ftl.initial=sequential"], sets].concat();
        row(&run(WRITES, &sets), "throughput").steady.clone().expect("it is said")
    };
    let lasts = of(&[]).lasts_seconds.expect("erased blocks are used up");
    let [short, long] = [0.5, 2.0].map(|times| {
        let time = format!("workloads.writes.fio.runtime={:.0}s", lasts * times);
        of(&[&time, "workloads.writes.fio.time_based=true"])
    });
    assert_eq!((short.condition, &*short.of), (Condition::Steady, "ssd: free blocks"));
    assert_eq!((long.condition, &*long.of), (Condition::NotSteady, "ssd: free blocks"));
    assert!(long.why().starts_with("ssd: free blocks: gone in "), "{}", long.why());
}

/// Sequential reads of several jobs, which draw nothing, and disturb each other in ways that take long to come back.
const IN_ORDER: &str = "
about: What does the drive read in order?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-tlc-gen4, ftl.initial: sequential}
links:
  bay: {from: host, to: ssd}
workloads:
  reads: {fio: {rw: read, bs: 4k, iodepth: 4, numjobs: 2}, on: host, target: ssd}
variants:
  x4: {}
  x2: {links.bay.width: x2}
";

#[test]
fn what_has_no_chance_in_it_is_run_once_and_for_longer() {
    let repeated = run(IN_ORDER, &["run.repeats=2"]);
    let once = run(IN_ORDER, &[]);
    for variant in ["x4", "x2"] {
        let of = |results: &Results| {
            let is_it =
                |row: &&Row| row.variant == variant && row.device.is_none() && row.metric == "throughput";
            results.rows.iter().find(is_it).expect("a row").clone()
        };
        let (twice, once) = (of(&repeated), of(&once));
        assert_eq!((twice.n, once.n), (2, 1), "{variant}");
        assert_eq!(twice.samples[0].to_bits(), twice.samples[1].to_bits(), "{variant}: both are the same");
        assert!(once.low < once.high, "{variant}: its own course is told");
        // two repeats have been counted twice
        let times =
            2.0 * once.operations.expect("they are counted") as f64 / twice.operations.expect("too") as f64;
        assert!((4.9..5.1).contains(&times), "{variant}: {times}");
        assert!(once.low <= Some(1.05 * twice.value) && once.high >= Some(0.95 * twice.value), "{variant}");
    }
}

#[test]
fn a_variant_with_chance_has_all_others_repeated() {
    let some = run(IN_ORDER, &["variants.x2={workloads.reads.fio.rw: randread}"]);
    assert!(
        some.rows.iter().filter(|row| row.better != lanetwin_units::Better::Neither).all(|row| row.n == 5)
    );
}

/// A drive of few dies, whose programs and collections keep reads waiting now and then.
const MIXED: &str = "
about: How long do reads wait for writes?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-tlc-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
  job: {fio: {rw: randread, bs: 4k, iodepth: 4, ioengine: io_uring}, on: host, target: ssd}
run: {repeats: 2}
";

/// Of reads alone the tail is known at once, and costs nothing; of a mix it is made longer, six times at most, and
/// told as not settled if that is not enough.
#[test]
fn a_tail_that_is_not_known_is_made_longer_or_told() {
    let reads = run(MIXED, &[]);
    let latency = row(&reads, "latency");
    assert!((20_000..21_000).contains(&told(&reads).0) && !latency.unsettled.contains(&99.0), "{latency:?}");
    let mixed = run(MIXED, &["workloads.job.fio.rw=randrw", "workloads.job.fio.numjobs=8"]);
    let tail = row(&mixed, "read latency");
    let condition = tail.steady.as_ref().expect("it is said").condition;
    assert!(condition == Condition::Steady && tail.operations > Some(21_000), "{tail:?}");
    let told = tail.percentile_intervals.iter().find(|(percent, ..)| *percent == 99.0);
    let at = tail.percentiles.iter().find(|(percent, _)| *percent == 99.0).expect("it is told").1;
    let is_settled = told.is_some_and(|(_, low, high)| *low >= 0.9 * at && *high <= 1.1 * at);
    assert_eq!(is_settled, !tail.unsettled.contains(&99.0), "{tail:?}");
}

/// Readers that all begin at the same place of a Gen4 drive that reads nothing ahead: it reads each page once for each.
const CLONES: &str = "
about: Does it rest on clients that keep step?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: samsung-pm9a3, ftl.read-ahead.streams: 0}
links:
  bay: {from: host, to: ssd}
workloads:
  reads: {fio: {rw: read, bs: 4k, iodepth: 8, numjobs: 4, requests: 20000, group_reporting: 1}, on: host, target: ssd}
run: {repeats: 1}
";

/// A trial changes nothing of what is told but whether it was steady.
#[test]
fn clones_that_read_the_same_in_step_are_told_and_those_that_begin_apart_are_not() {
    let together = run(CLONES, &[]);
    let steady = row(&together, "throughput").steady.clone().expect("it is said");
    let apart = run(CLONES, &["workloads.reads.fio.offset_increment=25%"]);
    assert_eq!(told(&apart).1, Condition::Steady);
    assert_eq!((steady.condition, &*steady.of), (Condition::NotSteady, "clones in step"));
    let more = row(&apart, "IOPS").value / row(&together, "IOPS").value - 1.0;
    let said = steady.apart.expect("it is said how much");
    assert!(more > 0.1 && (said - more).abs() < 0.1 * more, "{said} {more}");
    for set in [
        "workloads.reads.fio.numjobs=1",
        "workloads.reads.fio.rate=1m",
        "workloads.reads.fio.rw=randread",
        // what was read ahead for one of them is there for the others
        "machine.ssd.ftl.read-ahead.streams=8",
    ] {
        let other = row(&run(CLONES, &[set]), "throughput").steady.clone().expect("it is said");
        assert_eq!(other.apart, None, "{set}");
    }
}

/// Eight keep all dies of a drive busy in any case; together some of them wait for others, apart all of them in turn.
#[test]
fn a_tail_that_rests_on_clones_in_step_is_open_to_what_it_is_apart() {
    let full =
        "numjobs=8 ioengine=spdk requests=8000".split(' ').map(|set| format!("workloads.reads.fio.{set}"));
    let full: Vec<String> = full.chain(["machine.ssd.part=phison-e16".to_owned()]).collect();
    let mut sets: Vec<&str> = full.iter().map(String::as_str).collect();
    let together = row(&run(CLONES, &sets), "latency").clone();
    sets.push("workloads.reads.fio.offset_increment=12%");
    let apart = row(&run(CLONES, &sets), "latency").clone();
    let tail = |row: &Row| row.percentiles.iter().find(|(of, _)| *of == 99.0).expect("it is told").1;
    assert!((apart.value / together.value - 1.0).abs() < 0.05 && tail(&apart) < 0.85 * tail(&together));
    let low = together.percentile_intervals.iter().find(|(of, ..)| *of == 99.0).expect("it is told").1;
    assert!(low <= tail(&apart) && together.unsettled.contains(&99.0), "{low}");
    assert!(together.steady.expect("it is said").apart.is_none());
}

/// A mix whose 99th percentile of reads five repeats leave open.
const OPEN: &str = "
about: How slow are the slowest?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: samsung-pm9a3, ftl.initial: sequential}
links:
  bay: {from: host, to: ssd}
workloads:
  mix: {fio: {rw: randrw, rwmixread: 70, bs: 4k, iodepth: 1, numjobs: 8, group_reporting: 1}, on: host, target: ssd}
run: {seed: 1101}
";

/// What is added has random numbers of its own, and nothing is added that costs too much or that nobody wants.
#[test]
fn repeats_are_added_until_tails_are_settled_where_that_costs_little() {
    let reads = |sets: &[&str]| row(&run(OPEN, sets), "read latency").clone();
    let open = reads(&["run.budget=1s"]);
    assert_eq!((open.n, open.unsettled.contains(&99.0)), (5, true), "too dear");
    let quick = reads(&["run.repeats=4"]);
    assert_eq!(quick.n, 4, "somebody wants few");
    let added = reads(&[]);
    assert!([10, 20].contains(&added.n), "{}", added.n);
    let mut samples = added.samples.clone();
    samples.sort_by(f64::total_cmp);
    assert!(samples.windows(2).all(|pair| pair[0] < pair[1]), "no repeat counts twice");
}

/// 100 000 lines move 800, of which a fifth varies by a third.
#[test]
fn memory_loads_go_on_until_they_are_steady() {
    let stated = run(LINES, &["workloads.app.memory.lines=100000"]);
    let (few, condition, of) = told(&stated);
    assert_eq!((condition, of), (Condition::NotSteady, "rate"));
    let open = run(LINES, &[]);
    let (more, condition, _) = told(&open);
    assert!(condition == Condition::Steady && more > few, "{more} after {few}");
    let [few, more] = [&stated, &open].map(|results| row(results, "throughput").value);
    assert!((few / more - 1.0).abs() < 0.1, "{few} and {more}");
}

/// A budget of 150 000 events: each repeat has a fifth of them, and lines that caches serve count.
#[test]
fn what_caches_serve_is_paid_from_the_budget() {
    let poor = run(LINES, &["run.budget=15ms"]);
    let open = run(LINES, &[]);
    assert!(open.cost.events < 150_000, "events alone would not have ended it: {}", open.cost.events);
    let (operations, condition, _) = told(&poor);
    assert!(condition == Condition::NotSteady && operations < told(&open).0, "{operations}");
}

#[test]
fn a_program_that_ends_is_as_long_as_it_is() {
    let program = "workloads.app.memory={program: {mg: {class: S}}, threads: 4, placement: exp}";
    let [open, stated] = [&["run.repeats=3"][..], &["run.repeats=3", "workloads.app.memory.lines=100000"]]
        .map(|sets| {
            let sets = [&[program], sets].concat();
            run(LINES, &sets)
        });
    assert_eq!(open.rows, stated.rows);
    assert_eq!(told(&open).1, Condition::Whole);
}
