//! The memory expander: latencies by arithmetic, order, limits, and what it says of itself.

use crate::rig::*;
use lanetwin_kernel::{Component, ComponentId, Port, Report, Stream, Supply, SupplyKind};
use lanetwin_media::dram::{Density, Speed, Timings, Width};
use lanetwin_models::cxl_expander::{CxlExpander, Totals};
use lanetwin_ports::{Builder, Context, Hint, HintKind, Kernel, Line, LineDone, Message, Operation, Status};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

const CXL: Port = Port(0);

fn line(operation: Operation, handle: u32, address: u64) -> Message {
    Message::Line(Line { operation, handle, address })
}

/// The answers to a script, with their times \[ps\].
fn answers(
    replaced: &[(&str, &str)],
    script: Vec<(Instant, Message)>,
) -> (Vec<(u64, Message)>, Kernel, ComponentId) {
    let mut builder = Builder::new();
    let expander = add(&mut builder, "cxl-expander", replaced);
    let log = peer(&mut builder, (expander, CXL), script);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let answers = log.borrow().iter().map(|(at, _, message)| (*at, *message)).collect();
    (answers, kernel, expander)
}

fn totals(kernel: &mut Kernel, expander: ComponentId) -> Totals {
    let now = kernel.now();
    kernel.component::<CxlExpander>(expander).unwrap().totals(now)
}

#[test]
fn a_read_takes_both_latencies_and_what_the_memory_needs() {
    let t = Timings::of(Speed::Ddr5_4800, Width::X8, Density::Gb16, 4);
    let replaced = [("request-latency", "30ns"), ("answer-latency", "11ns"), ("dram.refresh", "none")];
    let script = vec![(ns(100), line(Operation::Read, 7, 64)), (ns(1100), line(Operation::Read, 8, 64))];
    let (answers, mut kernel, expander) = answers(&replaced, script);
    // at whole microseconds and nanoseconds of 2.4 GHz: 100 + 30 ns is clock 312, 1100 + 30 ns is clock 2712
    let at = |clock: u64| t.clock.instant(clock).as_ps() + 11_000;
    let (first, second) = (at(312 + t.rcd + t.cl + t.burst), at(2712 + t.cl + t.burst));
    let done =
        |handle| Message::LineDone(LineDone { operation: Operation::Read, handle, status: Status::Ok });
    assert_eq!(answers, [(first, done(7)), (second, done(8))]);
    assert_eq!(totals(&mut kernel, expander).dram.rows, [1, 1, 0]);
}

#[test]
fn a_queued_write_is_answered_without_the_memory() {
    let (answers, ..) = answers(&[], vec![(ns(100), line(Operation::Write, 1, 0))]);
    let done = LineDone { operation: Operation::Write, handle: 1, status: Status::Ok };
    // 120 ns is a clock of 2.4 GHz
    assert_eq!(answers, [(140_000, Message::LineDone(done))]);
}

#[test]
fn what_lies_beyond_the_capacity_is_aborted_and_hints_are_answered_with_nothing() {
    let end = 64 << 30;
    let hint = Hint { what: HintKind::Prefetch, pages: 3, handle: 9, address: 0 };
    let script = vec![
        (ns(1), line(Operation::Read, 1, end)),
        (ns(2), line(Operation::Write, 2, end - 64)),
        (ns(3), Message::Hint(hint)),
    ];
    let (answers, mut kernel, expander) = answers(&[], script);
    let done = LineDone { operation: Operation::Read, handle: 1, status: Status::Aborted };
    assert_eq!(answers[0], (41_000, Message::LineDone(done)));
    assert_eq!(answers[2], (43_000, Message::HintDone { handle: 9, value: 0 }));
    assert_eq!(totals(&mut kernel, expander).aborted, 1);
}

/// Keeps so many requests under way, and asks as soon as one is answered.
struct Host {
    random: Stream,
    depth: u32,
    left: u32,
    asked: BTreeMap<u32, Instant>,
    latencies: Vec<Span>,
}

impl Host {
    fn ask(&mut self, cx: &mut Context<'_>) {
        if self.left > 0 {
            self.left -= 1;
            let operation = if self.random.below(3) == 0 { Operation::Write } else { Operation::Read };
            self.asked.insert(self.left, cx.now());
            cx.send(CXL, Span::ZERO, line(operation, self.left, self.random.below(1 << 24) * 64));
        }
    }
}

impl Component<Message> for Host {
    fn start(&mut self, cx: &mut Context<'_>) {
        (0..self.depth).for_each(|_| self.ask(cx));
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::LineDone(done) = message else { panic!("{message:?} is no answer") };
        let asked = self.asked.remove(&done.handle).expect("it was asked once");
        self.latencies.push(cx.now() - asked);
        self.ask(cx);
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

fn closed(replaced: &[(&str, &str)], depth: u32, left: u32) -> (Kernel, ComponentId, ComponentId) {
    let mut builder = Builder::new();
    let expander = add(&mut builder, "cxl-expander", replaced);
    let random = Stream::new(3, "host", "addresses");
    let host = Host { random, depth, left, asked: BTreeMap::new(), latencies: Vec::new() };
    let host = builder.add("host", Box::new(host));
    builder.join((host, CXL), (expander, CXL));
    (builder.seal(), expander, host)
}

#[test]
fn everything_is_answered_once_with_any_tracker_and_nobody_overtakes_before_it() {
    for (tracker, answer) in [("1", "queued"), ("7", "written"), ("64", "queued"), ("256", "written")] {
        let (mut kernel, _, host) = closed(&[("tracker", tracker), ("dram.write-answer", answer)], 40, 4000);
        kernel.run_until(Instant::NEVER);
        let end = kernel.now();
        let host: &mut Host = kernel.component(host).unwrap();
        assert_eq!((host.asked.len(), host.latencies.len()), (0, 4000), "tracker {tracker}");
        // Little's law: 40 are under way from the start, fewer at the end
        let sum: u64 = host.latencies.iter().map(|span| span.as_ps()).sum();
        let mean = sum as f64 / end.as_ps() as f64;
        assert!((38.5..=40.0).contains(&mean), "tracker {tracker}: {mean} under way");
    }
}

fn supplies(kernel: &mut Kernel) -> Vec<(String, Supply)> {
    let reports = kernel.report().into_iter();
    let named = |(_, path, report): (_, &str, Report)| {
        let supplies = report.supplies.into_iter();
        supplies.map(|(name, supply)| (format!("{path}/{name}"), supply)).collect::<Vec<_>>()
    };
    reports.flat_map(named).collect()
}

#[test]
fn slices_do_not_show_and_no_time_is_counted_twice() {
    let replaced = [("tracker", "24"), ("request-latency", "123ns")];
    let (mut whole, ..) = closed(&replaced, 40, 3000);
    let (mut sliced, ..) = closed(&replaced, 40, 3000);
    let mut cuts = Stream::new(1, "cuts", "");
    let mut until = Instant::ZERO;
    for _ in 0..400 {
        let (before, slice) = (supplies(&mut sliced), Span::from_ps(cuts.below(60_000)));
        until += slice;
        sliced.run_until(until);
        for ((name, before), (_, after)) in before.iter().zip(supplies(&mut sliced)) {
            let used = after.in_use_ps.checked_sub(before.in_use_ps);
            let most = u128::from(after.supply) * u128::from(slice.as_ps());
            assert!(used.is_some_and(|used| used <= most), "{name}: {before:?} {after:?} in {slice}");
        }
    }
    whole.run_until(until);
    assert_eq!(supplies(&mut whole), supplies(&mut sliced));
    whole.run_until(Instant::NEVER);
    sliced.run_until(Instant::NEVER);
    assert_eq!((whole.digest(), whole.now()), (sliced.digest(), sliced.now()));
    let told = supplies(&mut whole);
    let of = |name: &str| told.iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
    // forty ask, twenty-four have places
    let (tracker, end) = (of("tracker"), u128::from(whole.now().as_ps()));
    let SupplyKind::Held { waiting_ps } = tracker.kind else { panic!("places are held") };
    assert!(tracker.in_use_ps > 23 * end && tracker.in_use_ps <= 24 * end, "{tracker:?}");
    assert!(waiting_ps > 15 * end && waiting_ps <= 16 * end, "{tracker:?}");
    let buses = of("data buses");
    let bursts = buses.in_use_ps / 3333;
    assert!((2900..=3000).contains(&bursts), "{bursts} bursts of 3.3 ns");
}

#[test]
fn few_events_are_needed_for_a_request() {
    let (mut kernel, _, host) = closed(&[], 128, 20_000);
    kernel.run_until(Instant::NEVER);
    let answered = kernel.component::<Host>(host).unwrap().latencies.len() as f64;
    let events = kernel.events() as f64 / answered;
    assert!(events < 2.5, "{events} events for each: two are deliveries");
}

#[test]
fn what_makes_no_memory_is_told_by_parameter() {
    let model = lanetwin_models::find("cxl-expander").unwrap();
    let params = params(
        model,
        &[("capacity", "1KiB"), ("dram.ranks", "3"), ("dram.write-high", "9"), ("dram.write-low", "9")],
    );
    let found: Vec<_> = (model.mistakes)(&params).into_iter().map(|mistake| mistake.parameter).collect();
    assert_eq!(found, ["dram.ranks", "capacity", "dram.write-low"]);
}
