//! How many lines of DRAM a second: the controllers by themselves, one channel, one thread.
//!
//! `cargo run --release -p lanetwin-benches --bin dram` prints requests per CPU-second, the bandwidth that they get
//! and, where requests come at their own pace, their mean latency. A name of a case, or part of it, and a number of
//! requests run one case once, for a profiler.
//!
//! The cases are those that Ramulator 2.1 and DRAMsim3 were measured with: uniform random lines in 4 GiB of one channel
//! of one rank (for DDR5 one sub-channel is what Ramulator calls a channel: here both are there, and the figures of a
//! bus are half of what is printed).

#[path = "../calibration.rs"]
mod calibration;
#[path = "../clock.rs"]
mod clock;

use calibration::Calibration;
use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_kernel::Stream;
use lanetwin_media::dram::{Config, Done, LINE, Machine, Offer, Operation, Request, Speed};
use lanetwin_units::{Bytes, Instant};
use std::collections::VecDeque;

const ROUNDS: usize = 5;
const REQUESTS: u64 = 2_000_000;
const SPAN: u64 = 4 << 30;

/// How addresses follow one another.
#[derive(Clone, Copy)]
enum Pattern {
    Random,
    Stream,
}

/// When requests come.
#[derive(Clone, Copy)]
enum Pace {
    /// So many are always under way.
    Closed(u64),
    /// One every so many clocks.
    Gap(u64),
}

struct Case {
    name: &'static str,
    speed: Speed,
    pattern: Pattern,
    pace: Pace,
    /// One request of so many is a write; 0 for none.
    writes: u64,
}

const fn case(name: &'static str, speed: Speed, pattern: Pattern, pace: Pace, writes: u64) -> Case {
    Case { name, speed, pattern, pace, writes }
}

const CASES: &[Case] = &[
    case("DDR4-2400 random reads, saturated", Speed::Ddr4_2400, Pattern::Random, Pace::Closed(64), 0),
    case("DDR4-2400 random reads, one per 16 clocks", Speed::Ddr4_2400, Pattern::Random, Pace::Gap(16), 0),
    case("DDR4-3200 random 2:1, saturated", Speed::Ddr4_3200, Pattern::Random, Pace::Closed(64), 3),
    case("DDR5-4800 random reads, saturated", Speed::Ddr5_4800, Pattern::Random, Pace::Closed(128), 0),
    case("DDR5-4800 random reads, one per 16 clocks", Speed::Ddr5_4800, Pattern::Random, Pace::Gap(16), 0),
    case("DDR5-4800 random reads, one per 100 clocks", Speed::Ddr5_4800, Pattern::Random, Pace::Gap(100), 0),
    case("DDR5-4800 random 2:1, saturated", Speed::Ddr5_4800, Pattern::Random, Pace::Closed(128), 3),
    case("DDR5-4800 streaming reads, saturated", Speed::Ddr5_4800, Pattern::Stream, Pace::Closed(128), 0),
    case("DDR5-4800 streaming reads, one per 16 clocks", Speed::Ddr5_4800, Pattern::Stream, Pace::Gap(16), 0),
    case("DDR5-4800 streaming 2:1, saturated", Speed::Ddr5_4800, Pattern::Stream, Pace::Closed(128), 3),
];

/// Requests per CPU-second, bytes per simulated second, mean latency \[ns\].
fn run(case: &Case, requests: u64) -> [f64; 3] {
    let mut config = Config::new(case.speed, 1, Bytes(SPAN));
    config.queues.waiting = 1 << 20;
    let clock = case.speed.clock();
    let mut machine = Machine::new(&config).expect("the configuration is sound");
    let mut random = Stream::new(1, "bench", "addresses");
    let addresses: Vec<u64> = (0..1 << 16).map(|_| random.below(SPAN / LINE) * LINE).collect();
    let ask = |n: u64| {
        let write = case.writes > 0 && n % case.writes == case.writes - 1;
        let address = match case.pattern {
            Pattern::Random => addresses[(n % (1 << 16)) as usize] ^ ((n >> 16) * 4096 % SPAN),
            Pattern::Stream => n * LINE % SPAN,
        };
        let operation = if write { Operation::Write } else { Operation::Read };
        Request { token: n as u32, operation, address }
    };
    let mut asked_at = vec![Instant::ZERO; requests as usize];
    let (mut now, mut asked, mut ended, mut waited) = (Instant::ZERO, 0, 0, 0);
    let mut done: Vec<Done> = Vec::with_capacity(1024);
    let mut answers: VecDeque<Done> = VecDeque::with_capacity(1024);
    let before = cpu_seconds();
    while ended < requests {
        let next = machine.next().unwrap_or(Instant::NEVER);
        let answered = answers.front().map_or(Instant::NEVER, |answer| answer.at);
        let may = match case.pace {
            Pace::Closed(depth) if asked < requests && asked - ended < depth => now,
            Pace::Gap(gap) if asked < requests => clock.instant(asked * gap),
            _ => Instant::NEVER,
        };
        if may <= next.min(answered) {
            now = may;
            let accepted = machine.offer(now, ask(asked));
            assert_eq!(accepted, Offer::Accepted);
            asked_at[asked as usize] = now;
            asked += 1;
        } else if answered <= next {
            now = answered;
            waited += now.since(asked_at[answers[0].token as usize]).as_ps();
            ended += 1;
            answers.pop_front();
        } else {
            now = next;
            machine.advance(now, &mut done);
            answers.extend(done.drain(..));
        }
    }
    let rate = requests as f64 / (cpu_seconds() - before);
    [rate, (requests * LINE) as f64 / (now.as_ps() as f64 * 1e-12), waited as f64 / requests as f64 * 1e-3]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rounds, requests) = match arguments.get(1) {
        Some(number) => (1, number.parse().expect("the second argument is a number of requests")),
        None => (ROUNDS, REQUESTS),
    };
    println!("requests per CPU-second, one thread: median [least .. most] of {rounds} rounds\n");
    let mut calibration = Calibration::default();
    for case in CASES.iter().filter(|case| arguments.first().is_none_or(|part| case.name.contains(part))) {
        calibration.measure();
        let runs: Vec<[f64; 3]> = (0..rounds).map(|_| run(case, requests)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run[0] / 1e6).collect());
        let [_, bandwidth, latency] = runs[0];
        let period = case.speed.clock().num() as f64 / case.speed.clock().den() as f64 * 1e-3;
        println!(
            "{:46} {rate:6.2} [{least:.2} .. {most:.2}] M, {:5.2} GB/s, {:.4} requests a clock, latency {latency:.0} ns",
            case.name,
            bandwidth / 1e9,
            bandwidth / 64e9 * period,
        );
    }
    println!("\n{calibration}, peak memory {:.0} MB", peak_rss_mb());
}
