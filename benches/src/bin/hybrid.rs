//! How many lines of 64 B a second through a memory with a disk behind a cache: host, CXL link, look-ups, cache, DRAM
//! commands; every flit accounted, closed loop, one thread.
//!
//! `cargo run --release -p lanetwin-benches --bin hybrid` prints requests per CPU-second and kernel events for each.
//! With arguments `CASE REQUESTS` it runs one case once, for a profiler.

#[path = "../calibration.rs"]
mod calibration;
#[path = "../clock.rs"]
mod clock;
#[path = "../closed_loop.rs"]
mod closed_loop;

use calibration::Calibration;
use clock::{median, peak_rss_mb};
use closed_loop::{ClosedLoop, Measured, OUTSTANDING, device};
use lanetwin_kernel::{Port, Stream};
use lanetwin_models::cxl_hybrid::CxlHybrid;
use lanetwin_ports::{Builder, Operation, Value};
use lanetwin_units::Bytes;

const ROUNDS: usize = 5;
const REQUESTS: u64 = 1_000_000;
const GIB: u64 = 1 << 30;

/// A case: its name, its reads among so many requests, its working set, and whether pages are read from their begin to
/// their end.
struct Case {
    name: &'static str,
    reads: [u64; 2],
    working_set: u64,
    in_order: bool,
}

const CASES: [Case; 4] = [
    Case { name: "hits, all reads", reads: [1, 1], working_set: 16 * GIB, in_order: false },
    Case { name: "hits, 2 reads : 1 write", reads: [2, 3], working_set: 16 * GIB, in_order: false },
    Case { name: "hits, pages in order, all reads", reads: [1, 1], working_set: 16 * GIB, in_order: true },
    Case { name: "a working set of twice the cache", reads: [2, 3], working_set: 96 * GIB, in_order: true },
];

/// What each line does and where; each handle goes its own way.
fn lines(case: &'static Case) -> impl FnMut(&mut Stream, u32) -> (Operation, u64) {
    let mut all = vec![u64::MAX - 4095; OUTSTANDING as usize];
    move |random, handle| {
        let [reads, of] = case.reads;
        let operation = if random.below(of) < reads { Operation::Read } else { Operation::Write };
        let at = &mut all[handle as usize];
        *at = if case.in_order && !(*at + 64).is_multiple_of(4096) {
            *at + 64
        } else if case.in_order {
            random.below(case.working_set / 4096) * 4096
        } else {
            random.below(case.working_set / 64) * 64
        };
        (operation, *at)
    }
}

/// What was measured, and the share that hit.
fn run(case: &'static Case, requests: u64) -> (Measured, f64) {
    let others = [
        ("initial", Value::Choice("warm")),
        ("initial.size", Value::Size(Bytes(case.working_set))),
        ("cache.hashed", Value::Flag(false)),
    ];
    let mut id = None;
    let add = |builder: &mut Builder| {
        let hybrid = builder.add("hybrid", device("cxl-hybrid", &others));
        let disk = device("fixed-latency-disk", &[("parallelism", Value::Count(512))]);
        let disk = builder.add("disk", disk);
        builder.join((hybrid, Port(1)), (disk, Port(0)));
        *id.insert(hybrid)
    };
    let mut machine = ClosedLoop::new(Box::new(lines(case)), add);
    let measured = machine.measure(requests);
    let now = machine.kernel.now();
    let hybrid = id.and_then(|id| machine.kernel.component::<CxlHybrid>(id));
    let totals = hybrid.and_then(|hybrid| hybrid.totals(now));
    (measured, totals.and_then(|totals| totals.cache.hit_rate()).unwrap_or(0.0))
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, requests] = arguments[..] {
        let case = &CASES[case as usize];
        let (Measured { rate, events, lines, .. }, _) = run(case, requests);
        println!(
            "{}: {:.3} M per CPU-second, {events:.2} events each, {lines} lines in all",
            case.name,
            rate / 1e6
        );
        return;
    }
    println!("lines of 64 B per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    let mut calibration = Calibration::default();
    for case in &CASES {
        calibration.measure();
        let runs: Vec<_> = (0..ROUNDS).map(|_| run(case, REQUESTS)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run.0.rate / 1e6).collect());
        let (Measured { events, gigabytes, slots: [there, back], .. }, hits) = runs[0];
        println!(
            "{:34} {rate:6.3} [{least:.3} .. {most:.3}] M, {events:.2} events each, {gigabytes:.3} GB/s, {:.1} % hits, \
             slots in use M2S {:.1} %, S2M {:.1} %",
            case.name,
            hits * 100.0,
            there * 100.0,
            back * 100.0
        );
    }
    println!("\n{calibration}, peak memory {:.0} MB", peak_rss_mb());
}
