//! Tests loads at a server with random latencies: their requests, the times of these, and the counts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use lanetwin_kernel::{Component, ComponentId, Port, Stream};
use lanetwin_load::{Arrivals, BlockLoad, DmaLoad, Handles, Mix, Pattern, Results, Workload};
use lanetwin_ports::{Builder, Context, Done, Kernel, Message, Operation, Status, Transfer};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

type Log = Rc<RefCell<Vec<(u64, Transfer)>>>;

/// Answers everything after a time between `least` and `most` \[ps\], and keeps a list of all requests.
struct Server {
    least: u64,
    most: u64,
    status: Status,
    stream: Stream,
    log: Log,
}

impl Component<Message> for Server {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let (Message::Dma(transfer) | Message::Block(transfer)) = message else { panic!("{message:?}") };
        self.log.borrow_mut().push((cx.now().as_ps(), transfer));
        let latency = Span::from_ps(self.least + self.stream.below(self.most - self.least + 1));
        let done = Done { handle: transfer.handle, status: self.status };
        let answer =
            if let Message::Dma(_) = message { Message::DmaDone(done) } else { Message::BlockDone(done) };
        cx.send(port, latency, answer);
    }
}

const WORKLOAD: Workload = Workload {
    mix: Mix::Reads,
    bytes: 64,
    unit: 64,
    span: 8192,
    pattern: Pattern::Random,
    arrivals: Arrivals::Closed { outstanding: 4 },
    count: None,
};

/// A DMA load at a server with these limits of its latency \[ps\].
fn machine(workload: Workload, seed: u64, (least, most): (u64, u64)) -> (Kernel, ComponentId, Log) {
    let (mut builder, log) = (Builder::new(), Log::default());
    let load = builder.add("load", Box::new(DmaLoad::new(workload, seed, "load")));
    let stream = Stream::new(seed, "server", "latency");
    let server = Server { least, most, status: Status::Ok, stream, log: log.clone() };
    let server = builder.add("server", Box::new(server));
    builder.join((load, Port(0)), (server, Port(0)));
    (builder.seal(), load, log)
}

fn results(kernel: &mut Kernel, load: ComponentId) -> Results {
    let now = kernel.now();
    kernel.component::<DmaLoad>(load).unwrap().results(now)
}

#[test]
fn a_closed_loop_keeps_its_number_outstanding() {
    let (mut kernel, load, _) = machine(WORKLOAD, 1, (500_000, 500_000));
    kernel.run_until(Instant::from_ps(100_000_000));
    let results = results(&mut kernel, load);
    assert_eq!((results.reads.completed, results.reads.bytes, results.outstanding), (800, 51_200, 4));
    assert_eq!(results.little.area_ps, 4 * 100_000_000);
    assert_eq!(results.mean_outstanding(), Some(4.0));
    let half_a_microsecond = Some(Span::from_ns(500));
    assert_eq!(
        (results.reads.latency.min(), results.reads.latency.max()),
        (half_a_microsecond, half_a_microsecond)
    );
    assert_eq!(results.reads.bits_per_second(results.elapsed()), Some(4.096e9));
    assert_eq!(results.writes.completed, 0);
}

#[test]
fn an_open_loop_asks_at_its_rate_whatever_happens() {
    let fixed = Arrivals::Fixed { interval: Span::from_ns(10) };
    let (mut kernel, load, log) =
        machine(Workload { arrivals: fixed, ..WORKLOAD }, 1, (1_000_000_000, 1_000_000_000));
    kernel.run_until(Instant::from_ps(1_000_000));
    assert_eq!(results(&mut kernel, load).outstanding, 100);
    let times: Vec<_> = log.borrow().iter().map(|entry| entry.0).collect();
    assert_eq!(times, (1..=100).map(|i| i * 10_000).collect::<Vec<_>>());

    let poisson = Arrivals::Poisson { mean: Span::from_ns(10) };
    let (mut kernel, _, log) = machine(Workload { arrivals: poisson, ..WORKLOAD }, 1, (1, 1));
    kernel.run_until(Instant::from_ps(100_000_000));
    let n = log.borrow().len();
    assert!(n.abs_diff(10_000) < 400, "{n}: four standard deviations are 400");
    let gaps = log.borrow().windows(2).filter(|pair| pair[1].0 - pair[0].0 > 10_000).count();
    let share = gaps as f64 / n as f64;
    assert!((share - (-1.0_f64).exp()).abs() < 0.03, "{share} of the gaps are longer than the mean");
}

/// Three loads with a server each: their requests have their own handles and units, and the sum of their results is
/// that of a load with three times the depth.
#[test]
fn several_loads_do_not_share_handles_and_can_be_summed() {
    let (mut builder, log) = (Builder::new(), Log::default());
    let loads: Vec<ComponentId> = (0..3)
        .map(|place| {
            let path = format!("load{place}");
            let load =
                BlockLoad::new(WORKLOAD, 1, &path).calling(Handles::of(place, 3)).on_unit(place as u16);
            let load = builder.add(path, Box::new(load));
            let stream = Stream::new(1, "server", "latency");
            let server = Server { least: 1_000, most: 9_000, status: Status::Ok, stream, log: log.clone() };
            let server = builder.add(format!("server{place}"), Box::new(server));
            builder.join((load, Port(0)), (server, Port(0)));
            load
        })
        .collect();
    let mut kernel = builder.seal();
    let end = Instant::from_ps(1_000_000);
    kernel.run_until(end);
    assert!(log.borrow().iter().all(|(_, t)| t.handle < 12 && t.handle % 3 == u32::from(t.unit)));
    let each: Vec<Results> =
        loads.iter().map(|load| kernel.component::<BlockLoad>(*load).unwrap().results(end)).collect();
    let mut sum = each[0].clone();
    each[1..].iter().for_each(|other| sum.merge(other));
    let total = |of: fn(&Results) -> u64| each.iter().map(of).sum::<u64>();
    assert_eq!((sum.outstanding, sum.mean_outstanding()), (12, Some(12.0)));
    assert_eq!(sum.reads.completed, total(|results| results.reads.completed));
    assert_eq!(sum.reads.bytes, total(|results| results.reads.bytes));
    assert_eq!(sum.reads.latency.count(), sum.reads.completed);
    assert_eq!(sum.little.area_ps, sum.little.residence_ps);
    assert_eq!(sum.bits_per_second(), Some(sum.reads.bytes as f64 * 8.0 * 1e12 / 1e6));
}

#[test]
#[should_panic(expected = "one window")]
fn what_was_counted_in_other_windows_has_no_sum() {
    let (mut kernel, load, _) = machine(WORKLOAD, 1, (1_000, 9_000));
    kernel.run_until(Instant::from_ps(10_000));
    let mut early = results(&mut kernel, load);
    kernel.run_until(Instant::from_ps(20_000));
    early.merge(&results(&mut kernel, load));
}

#[test]
fn a_counted_load_ends_and_a_stopped_one_too() {
    let (mut kernel, load, log) = machine(Workload { count: Some(37), ..WORKLOAD }, 1, (1, 900));
    kernel.run_until(Instant::NEVER);
    assert_eq!(log.borrow().len(), 37);
    assert_eq!(kernel.component::<DmaLoad>(load).unwrap().progress(), (37, 37));

    for arrivals in [WORKLOAD.arrivals, Arrivals::Fixed { interval: Span::from_ps(300) }] {
        let (mut kernel, load, _) = machine(Workload { arrivals, ..WORKLOAD }, 1, (1, 900));
        kernel.run_until(Instant::from_ps(10_000));
        kernel.component::<DmaLoad>(load).unwrap().stop();
        kernel.run_until(Instant::NEVER);
        let (asked, answered) = kernel.component::<DmaLoad>(load).unwrap().progress();
        assert!(asked == answered && asked > 20);
    }
}

#[test]
fn rounds_of_a_read_and_a_write_move_as_much_each_way() {
    let (mut kernel, load, log) = machine(Workload { mix: Mix::Alternating, ..WORKLOAD }, 1, (1_000, 90_000));
    kernel.run_until(Instant::from_ps(10_000_000));
    let results = results(&mut kernel, load);
    assert!(results.reads.completed.abs_diff(results.writes.completed) <= 4);
    assert!(results.reads.completed > 300);
    let reads = log.borrow().iter().filter(|(_, t)| t.operation == Operation::Read).count();
    assert!(reads.abs_diff(log.borrow().len() - reads) <= 1);
}

#[test]
fn the_warm_up_is_forgotten_and_the_run_does_not_notice() {
    let run = |reset| {
        let (mut kernel, load, _) = machine(WORKLOAD, 3, (1_000, 90_000));
        kernel.run_until(Instant::from_ps(1_000_000));
        if reset {
            kernel.component::<DmaLoad>(load).unwrap().reset(Instant::from_ps(1_000_000));
        }
        kernel.run_until(Instant::from_ps(2_000_000));
        (kernel.digest(), results(&mut kernel, load))
    };
    let ((digest, whole), (digest_reset, part)) = (run(false), run(true));
    assert_eq!(digest, digest_reset);
    assert_eq!((part.since, part.until), (Instant::from_ps(1_000_000), Instant::from_ps(2_000_000)));
    assert!(part.reads.completed > 50 && part.reads.completed < whole.reads.completed);
    assert_eq!(part.little.area_ps, 4 * 1_000_000);
    assert_eq!(part.reads.latency.count(), part.reads.completed);
}

#[test]
fn a_block_load_counts_what_went_wrong_by_itself() {
    for (status, wrong) in [(Status::Corrupt, (10, 0)), (Status::Aborted, (0, 10))] {
        let mut builder = Builder::new();
        let workload = Workload { mix: Mix::Writes, count: Some(10), ..WORKLOAD };
        let load = builder.add("load", Box::new(BlockLoad::new(workload, 1, "load")));
        let stream = Stream::new(1, "server", "latency");
        let server = Server { least: 5, most: 5, status, stream, log: Log::default() };
        let server = builder.add("server", Box::new(server));
        builder.join((load, Port(0)), (server, Port(0)));
        let mut kernel = builder.seal();
        kernel.run_until(Instant::NEVER);
        let end = kernel.now();
        let results = kernel.component::<BlockLoad>(load).unwrap().results(end);
        let side = results.side(Operation::Write);
        assert_eq!((side.completed, side.bytes, (side.corrupt, side.aborted)), (0, 0, wrong));
    }
}

#[test]
#[should_panic(expected = "an operation moves at least one byte")]
fn a_workload_that_cannot_be_run_is_refused() {
    let _load = DmaLoad::new(Workload { bytes: 0, ..WORKLOAD }, 1, "load");
}

#[test]
#[should_panic(expected = "is not outstanding")]
fn a_second_answer_is_our_own_mistake() {
    let mut builder = Builder::new();
    let load = builder.add("load", Box::new(DmaLoad::new(WORKLOAD, 1, "load")));
    let stream = Stream::new(1, "server", "latency");
    let server = Server { least: 5_000, most: 5_000, status: Status::Ok, stream, log: Log::default() };
    let server = builder.add("server", Box::new(server));
    builder.join((load, Port(0)), (server, Port(0)));
    let entry = builder.entry((load, Port(0)));
    let mut kernel = builder.seal();
    kernel.inject(Instant::from_ps(1), entry, Message::DmaDone(Done { handle: 99, status: Status::Ok }));
    kernel.run_until(Instant::NEVER);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Little's law holds exactly in every part of a run.
    #[test]
    fn littles_law_is_an_identity(
        seed: u64,
        outstanding in 1_u32..20,
        kind in 0..3,
        least in 0_u64..2_000,
        spread in 0_u64..50_000,
        cuts in prop::collection::vec(0_u64..100_000, 1..8),
    ) {
        let arrivals = match kind {
            0 => Arrivals::Closed { outstanding },
            1 => Arrivals::Fixed { interval: Span::from_ps(u64::from(outstanding) * 777) },
            _ => Arrivals::Poisson { mean: Span::from_ps(u64::from(outstanding) * 777) },
        };
        // at least 1 ps: with latency 0, time would not pass in a closed loop
        let latency = (least + 1, least + 1 + spread);
        let (mut kernel, load, _) = machine(Workload { arrivals, ..WORKLOAD }, seed, latency);
        let mut now = Instant::ZERO;
        for cut in cuts {
            now += Span::from_ps(cut);
            kernel.run_until(now);
            let load = kernel.component::<DmaLoad>(load).unwrap();
            let little = load.results(now).little;
            prop_assert_eq!(little.area_ps, little.residence_ps);
            load.reset(now);
            let little = load.results(now).little;
            prop_assert_eq!((little.area_ps, little.residence_ps), (0, 0));
        }
    }
}
