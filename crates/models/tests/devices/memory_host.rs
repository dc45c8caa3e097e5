//! What a memory host does with programs, on simple and on timed DRAM, with and without memory behind CXL ports.

use crate::rig::{add_at, params};
use lanetwin_cxl::hdm::Decoder;
use lanetwin_kernel::{Component, ComponentId, Kernel, Port};
use lanetwin_load::memory::*;
use lanetwin_models::memory_host::{MODEL, MemoryHost, MemoryResults};
use lanetwin_ports::{Builder, Context, HintKind, LineDone, Message, Operation, Status};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use std::any::Any;

/// Memory behind a CXL port: answers every line after 200 ns, however many there are.
#[derive(Default)]
struct Expander {
    open: u32,
    most: u32,
    lines: [u64; 2],
    hints: Vec<(u64, u32)>,
    wait: Vec<(Instant, Message)>,
}

const EXPANDER: Span = Span::from_ns(200);

impl Component<Message> for Expander {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Line(line) => {
                self.open += 1;
                self.most = self.most.max(self.open);
                self.lines[line.operation as usize] += 1;
                let done = LineDone { operation: line.operation, handle: line.handle, status: Status::Ok };
                self.wait.push((cx.now() + EXPANDER, Message::LineDone(done)));
                cx.wake_at(cx.now() + EXPANDER, 0);
            }
            Message::Hint(hint) => {
                self.hints.push((hint.address, hint.pages));
                let answer = Message::HintDone { handle: hint.handle, value: u64::from(hint.pages) };
                cx.send(port, Span::from_us(1), answer);
            }
            _ => unreachable!("{message:?}"),
        }
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        self.open -= self.wait.iter().filter(|(at, _)| *at == now).count() as u32;
        for (_, message) in self.wait.extract_if(.., |(at, _)| *at == now) {
            cx.send(Port(0), Span::ZERO, message);
        }
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

struct World {
    kernel: Kernel<Message>,
    host: ComponentId,
    expanders: Vec<ComponentId>,
}

/// A host with a socket of 8 cores, DRAM of 50 ns and 100 GB/s, and no caches but what is said; so many expanders, each
/// a node.
fn world(replaced: &[(&str, &str)], expanders: u16) -> World {
    const PLAIN: &[(&str, &str)] = &[
        ("dram", "simple"),
        ("dram.latency", "50ns"),
        ("dram.bandwidth", "100GB/s"),
        ("uncore.latency", "30ns"),
        ("l1.size", "0B"),
        ("l2.size", "0B"),
        ("llc.size", "0B"),
        ("ports", "2"),
    ];
    let replaced: Vec<_> = PLAIN.iter().chain(replaced).copied().collect();
    let mut builder = Builder::new();
    let window = |port: u16| Decoder::new(u64::from(port) << 40, 1 << 36, 256, vec![port]).unwrap();
    let host = add_at(&mut builder, "host", "memory-host", &replaced, |site| {
        site.decoders = (0..expanders).map(window).collect();
    });
    let expander = |port: u16| {
        let id = builder.add(format!("expander{port}"), Box::<Expander>::default());
        builder.join((id, Port(0)), (host, Port(port)));
        id
    };
    let expanders = (0..expanders).map(expander).collect();
    World { kernel: builder.seal(), host, expanders }
}

impl World {
    fn host(&mut self) -> &mut MemoryHost {
        self.kernel.component(self.host).unwrap()
    }
    fn expander(&mut self, n: usize) -> &mut Expander {
        self.kernel.component(self.expanders[n]).unwrap()
    }
    /// How much of the DRAM of each socket has been used so far [ps], and how much there is of it.
    fn dram(&mut self) -> [(u128, u64); 2] {
        let mut used = [(0, 1); 2];
        let supplies = self.kernel.report().into_iter().flat_map(|(_, _, report)| report.supplies);
        for (name, supply) in supplies.filter(|(name, _)| name.starts_with("DRAM")) {
            used[usize::from(name.ends_with('1'))] = (supply.in_use_ps, supply.supply);
        }
        used
    }
    fn run(&mut self, program: impl Program + 'static, policy: Policy) -> &mut Self {
        self.host().run(Box::new(program), Placement::new("program", policy)).unwrap();
        self
    }
    /// Runs to the end; everything asked for has been answered then.
    fn finish(&mut self) -> MemoryResults {
        self.kernel.run_until(Instant::NEVER);
        let now = self.kernel.now();
        let (asked, answered) = self.host().progress();
        assert_eq!(asked, answered);
        let results = self.host().results(now).remove(0);
        assert_eq!((results.outstanding, results.little.area_ps), (0, results.little.residence_ps));
        results
    }
    fn until(&mut self, us: u64) -> MemoryResults {
        let at = Instant::ZERO + Span::from_us(us);
        self.kernel.run_until(at);
        let results = self.host().results(at).remove(0);
        assert_eq!(results.little.area_ps, results.little.residence_ps);
        results
    }
}

fn chase(bytes: u64, count: u64) -> Chase {
    let spec = ChaseSpec { bytes, stride: 64, order: ChaseOrder::Random, count: Some(count) };
    Chase::new(spec, 1, "chase").unwrap()
}
fn traffic(threads: u32, mix: TrafficMix, count: Option<u64>) -> Traffic {
    let order = TrafficOrder::Sequential;
    let spec = TrafficSpec { threads, buffer: 1 << 26, mix, order, think: Span::ZERO, count };
    Traffic::new(spec, 1, "traffic").unwrap()
}
fn local() -> Policy {
    Policy::Bind(vec![0])
}
fn mean_ns(results: &MemoryResults) -> f64 {
    results.loads.mean_ps().unwrap() / 1000.0
}
fn gb_per_second(results: &MemoryResults) -> f64 {
    results.bytes_per_second().unwrap() / 1e9
}

#[test]
fn a_chase_sees_the_latency_of_memory_and_nothing_else() {
    let mut world = world(&[], 1);
    let results = world.run(chase(1 << 20, 1000), local()).finish();
    assert_eq!((results.loads.count(), mean_ns(&results)), (1000, 80.0));
    assert_eq!(results.until, Instant::ZERO + Span::from_ps(500 + 1000 * 80_000));
    let mut world = self::world(&[("cxl.latency", "7ns")], 1);
    let results = world.run(chase(1 << 20, 1000), Policy::Bind(vec![1])).finish();
    assert_eq!(mean_ns(&results), 237.0);
    assert_eq!(results.nodes[1].lines_read, 1000);
}

/// By hand (Little): a core with 10 lines outstanding, 80 ns each, moves 8 GB/s; 8 cores 64 GB/s; twice the lines more
/// than the DRAM has.
#[test]
fn outstanding_misses_limit_bandwidth_until_memory_does() {
    let bandwidth = |threads, misses| {
        let mut world = world(&[("core.misses", misses)], 0);
        gb_per_second(&world.run(traffic(threads, TrafficMix::AllReads, None), local()).until(50))
    };
    for (threads, misses, expected) in [(1, "10", 8.0), (8, "10", 64.0), (8, "20", 100.0)] {
        let got = bandwidth(threads, misses);
        assert!((got / expected - 1.0).abs() < 0.01, "{threads} {misses}: {got}");
    }
}

#[test]
fn a_window_and_a_tracker_are_never_exceeded() {
    let most = |replaced: &[(&str, &str)]| {
        let mut world = world(replaced, 1);
        world.run(traffic(4, TrafficMix::AllReads, None), Policy::Bind(vec![1])).until(20);
        world.expander(0).most
    };
    assert_eq!(most(&[("core.misses", "9")]), 36);
    assert_eq!(most(&[("core.misses", "9"), ("core.window", "5")]), 20);
    assert_eq!(most(&[("core.misses", "9"), ("cxl.outstanding", "7")]), 7);
}

#[test]
fn mixes_are_what_memory_sees() {
    for mix in TrafficMix::ALL {
        for cached in [&[][..], &[("llc.size", "1MiB"), ("l1.size", "48KiB")][..]] {
            let mut world = world(cached, 0);
            let spec = TrafficSpec {
                threads: 2,
                buffer: 1 << 20,
                mix,
                order: TrafficOrder::Sequential,
                think: Span::ZERO,
                count: None,
            };
            let placement = Placement::new("program", local());
            world.host().run(Box::new(Traffic::new(spec, 1, "traffic").unwrap()), placement).unwrap();
            let results = world.until(200);
            let [reads, writes] =
                [results.nodes[0].lines_read, results.nodes[0].lines_written].map(|n| n as f64);
            let share = reads / (reads + writes);
            assert!((share - mix.reads()).abs() < 0.005, "{mix:?} {}: {share}", cached.len());
        }
    }
}

#[test]
fn weights_are_shares_of_lines_to_the_line() {
    let policy = Policy::WeightedInterleave(vec![(0, 3), (1, 1), (2, 2)]);
    let mut world = world(&[], 2);
    let results = world.run(traffic(2, TrafficMix::AllReads, Some(64 * 600)), policy).finish();
    let lines: Vec<u64> = results.nodes.iter().map(|node| node.lines_read).collect();
    assert_eq!(lines, [64 * 600, 64 * 200, 64 * 400]);
    let seen = [0, 1].map(|n| world.expander(n).lines);
    assert_eq!(seen, [[64 * 200, 0], [64 * 400, 0]]);
}

/// A chase through so many bytes finds its lines in the level that they fit into.
#[test]
fn every_level_has_its_latency() {
    let caches = &[
        ("l1.size", "32KiB"),
        ("l1.ways", "8"),
        ("l1.latency", "2ns"),
        ("l2.size", "256KiB"),
        ("l2.latency", "6ns"),
        ("llc.size", "2MiB"),
        ("llc.latency", "25ns"),
    ];
    let mean = |bytes, fill: &'static str| {
        let all: Vec<_> = caches.iter().copied().chain([("llc.filled-by", fill)]).collect();
        let mut world = world(&all, 0);
        let placement = Placement::new("program", local());
        world.host().run(Box::new(chase(bytes, 10_000)), placement).unwrap();
        mean_ns(&world.finish())
    };
    for fill in ["memory", "evictions"] {
        assert_eq!(
            [1 << 14, 1 << 15, 1 << 17, 1 << 18, 1 << 20].map(|bytes| mean(bytes, fill)),
            [2.0, 2.0, 6.0, 6.0, 25.0]
        );
        assert_eq!([mean(1 << 21, fill), mean(1 << 23, fill)], [25.0, 80.0]);
    }
}

#[test]
fn a_prefetcher_hides_latency_of_streams_and_of_nothing_else() {
    let run = |prefetch: &str, order, cached| {
        let caches = if cached { "1MiB" } else { "0B" };
        let mut world = world(&[("prefetch", prefetch), ("core.misses", "4"), ("l2.size", caches)], 0);
        let spec = TrafficSpec {
            threads: 1,
            buffer: 1 << 24,
            mix: TrafficMix::AllReads,
            order,
            think: Span::ZERO,
            count: Some(20_000),
        };
        world.run(Traffic::new(spec, 1, "traffic").unwrap(), local()).finish()
    };
    for cached in [false, true] {
        let bandwidth = |prefetch, order| gb_per_second(&run(prefetch, order, cached));
        let plain = bandwidth("off", TrafficOrder::Sequential);
        assert!((plain / 3.2 - 1.0).abs() < 0.01, "{plain}");
        assert!(bandwidth("stream", TrafficOrder::Sequential) > 3.0 * plain);
        assert!(bandwidth("next-line", TrafficOrder::Sequential) > 1.2 * plain);
        assert!((bandwidth("stream", TrafficOrder::Random) / plain - 1.0).abs() < 0.02);
        let results = run("stream", TrafficOrder::Sequential, cached);
        let read = results.nodes[0].lines_read;
        assert!((20_000..20_064).contains(&read), "a line is read once, by whomever; {read}");
    }
}

/// The mean latency \[ns\] of a chase through one line of each of 4096 pages, none of whose translations a TLB of 64
/// keeps; and its walks.
fn walked(more: &[(&'static str, &'static str)]) -> (f64, u64) {
    walked_in(PageSize::Small, more)
}
/// The same in pages of a size.
fn walked_in(size: PageSize, more: &[(&'static str, &'static str)]) -> (f64, u64) {
    let tlb = [("tlb.entries", "64"), ("tlb.walk", "5ns"), ("l2.size", "0B"), ("l2.latency", "6ns")];
    let said: Vec<_> =
        tlb.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name)).copied().collect();
    let mut world = world(&[&said, more].concat(), 0);
    let spec = ChaseSpec { bytes: 1 << 24, stride: 4096, order: ChaseOrder::Random, count: Some(4096) };
    let placement = Placement::new("program", Mapping { policy: local(), size }).warmed_by(4096);
    world.host().run(Box::new(Chase::new(spec, 1, "chase").unwrap()), placement).unwrap();
    let results = world.finish();
    (mean_ns(&results), results.walks)
}

#[test]
fn page_walks_cost_what_their_loads_cost() {
    // without a cache, the walk's load takes as long as the load's own; eight entries of the directory are kept
    assert_eq!(walked(&[]), (5.0 + 80.0 + 80.0, 4096));
    let (some, walks) = walked(&[("l2.size", "128KiB")]);
    assert_eq!(walks, 4096);
    assert!(some > 90.0 && some < 165.0, "{some}");
}

#[test]
fn a_walk_loads_every_level_below_the_lowest_that_is_kept() {
    let none = [("tlb.pde.entries", "0"), ("tlb.pdpte.entries", "0"), ("tlb.pml4e.entries", "0")];
    for (levels, loads) in [("1", 1.0), ("4", 4.0), ("5", 5.0)] {
        let (mean, _) = walked(&[&none[..], &[("tlb.levels", levels)]].concat());
        assert_eq!(mean, 5.0 + 80.0 * (loads + 1.0), "{levels} levels");
    }
    // the level above the directory is kept: two loads
    assert_eq!(walked(&none[..1]).0, 5.0 + 80.0 * 3.0);
    // one of eight directory entries is kept: a random page has it in one case of eight
    let (mean, _) = walked(&[("tlb.pde.entries", "1")]);
    assert!((mean - (5.0 + 80.0 * (3.0 - 1.0 / 8.0))).abs() < 2.0, "{mean}");
    // pages of 2 MiB: eight translations, which the TLB keeps
    assert_eq!(walked(&[("tlb.page", "2MiB")]), (80.0, 0));
    // and without room for them: three levels, of which the one above the lowest is kept
    let (mean, walks) = walked(&[("tlb.page", "2MiB"), ("tlb.entries", "1")]);
    assert_eq!(mean, (walks as f64 * (5.0 + 80.0) + 4096.0 * 80.0) / 4096.0);
}

#[test]
fn large_pages_are_translated_as_large_ones_are() {
    // eight of 2 MiB, which the TLB keeps
    assert_eq!(walked_in(PageSize::Huge, &[]), (80.0, 0));
    // and without room for them: the same walks as if all pages of the core were of 2 MiB
    let one = ("tlb.entries", "1");
    assert_eq!(walked_in(PageSize::Huge, &[one]), walked(&[("tlb.page", "2MiB"), one]));
    assert_eq!(walked_in(PageSize::Huge, &[("tlb.page", "2MiB"), one]), walked(&[("tlb.page", "2MiB"), one]));
    // no page of 1 GiB lies in 16 MiB: all of them are of 4 KiB
    assert_eq!(walked_in(PageSize::Gigantic, &[one]), walked(&[one]));
}

#[test]
fn the_other_socket_is_farther_and_its_way_is_narrow() {
    let sockets = &[("sockets", "2"), ("socket.latency", "60ns"), ("socket.bandwidth", "16GB/s")];
    let mut far = world(sockets, 0);
    let results = far.run(chase(1 << 20, 100), Policy::Bind(vec![1])).finish();
    assert_eq!(mean_ns(&results), 80.0 + 60.0 + 4.0);
    let mut world = world(sockets, 0);
    let bandwidth =
        gb_per_second(&world.run(traffic(8, TrafficMix::AllReads, None), Policy::Bind(vec![1])).until(50));
    assert!((bandwidth / 16.0 - 1.0).abs() < 0.01, "{bandwidth}");
}

#[test]
fn hints_go_to_the_devices_of_their_pages() {
    let mut world = world(&[], 2);
    world.run(traffic(1, TrafficMix::AllReads, Some(10)), Policy::Interleave(vec![0, 1, 2]));
    let at = Instant::ZERO + Span::from_us(1);
    world.host().hint(0, HintKind::Prefetch, 0, 9, at);
    world.host().hint(0, HintKind::Status, 3 * 4096, 1, at);
    world.finish();
    assert_eq!(world.host().hint_answers(), [Some(6), Some(0)]);
    assert_eq!(world.expander(0).hints, [(0, 3)]);
}

#[test]
fn parameters_that_make_no_host_are_told() {
    let wrong = params(&MODEL, &[("dram.size", "63B"), ("tlb.entries", "64"), ("tlb.page", "5000B")]);
    let told: Vec<_> = (MODEL.mistakes)(&wrong).iter().map(|mistake| mistake.parameter).collect();
    assert_eq!(told, ["dram.size", "tlb.page"]);
    let of_slices = |slice| (MODEL.mistakes)(&params(&MODEL, &[("core.slice", slice)])).len();
    assert_eq!(["0ns", "1ps", "999ns", "1us"].map(of_slices), [0, 1, 1, 0]);
    assert_eq!((MODEL.mistakes)(&params(&MODEL, &[])), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever runs on whatever host: what is asked is answered, Little's law holds to the picosecond in every window,
    /// and cutting the run into slices changes nothing.
    #[test]
    fn slices_change_nothing_and_nothing_is_lost(
        misses in 1..20_u64,
        writes in 0..6_u64,
        window in 1..128_u64,
        prefetch in prop::sample::select(vec!["off", "next-line", "stream"]),
        llc in prop::sample::select(vec!["0B", "64KiB", "1MiB"]),
        fill in prop::sample::select(vec!["memory", "evictions"]),
        tlb in prop::sample::select(vec!["0", "16"]),
        dram in prop::sample::select(vec!["simple", "timed"]),
        sockets in 1..=2_u64,
        mix in prop::sample::select(TrafficMix::ALL.to_vec()),
        random: bool,
        think in 0..50_u64,
        slice in prop::sample::select(vec!["0ns", "700ns"]),
        cut in 1..400_u64,
    ) {
        let [misses, writes, window, sockets] = [misses, writes, window, sockets].map(|n| n.to_string());
        let replaced = [
            ("core.misses", &*misses), ("core.writes", &writes), ("core.window", &window), ("prefetch", prefetch), ("llc.size", llc),
            ("llc.filled-by", fill), ("tlb.entries", tlb), ("tlb.pde.entries", "1"), ("tlb.pdpte.entries", "0"), ("dram", dram), ("sockets", &sockets), ("cores", "2"), ("threads", "2"), ("core.slice", slice),
            ("l1.size", "4KiB"), ("l2.size", "16KiB"), ("tlb.first.entries", "8"), ("tlb.first.miss", "2ns"), ("prefetch.outstanding", "3"), ("cxl.outstanding", "5"),
        ];
        let far = if sockets == "2" { 2 } else { 1 };
        let build = || {
            let mut world = world(&replaced, 2);
            let order = if random { TrafficOrder::Random } else { TrafficOrder::Sequential };
            let think = Span::from_ns(think);
            let spec = TrafficSpec { threads: 5, buffer: 200_000, mix, order, think, count: Some(600) };
            world.run(Traffic::new(spec, 1, "traffic").unwrap(), Policy::WeightedInterleave(vec![(0, 2), (far, 1), (far + 1, 1)]));
            world.run(chase(100_000, 300), Policy::Preferred(far));
            world
        };
        let mut whole = build();
        let all = whole.finish();
        let mut sliced = build();
        let mut at = Instant::ZERO;
        let mut used = [(0_u128, 1_u64); 2];
        while at < all.until {
            let slice = Span::from_ns(1 + cut * 7);
            at += slice;
            sliced.kernel.run_until(at);
            let before = used;
            used = sliced.dram();
            for ((before, _), (used, supply)) in before.into_iter().zip(used) {
                let most = u128::from(supply) * u128::from(slice.as_ps());
                prop_assert!(before <= used && used - before <= most, "DRAM used from {before} to {used} by {at}");
            }
            for results in sliced.host().results(at) {
                prop_assert_eq!(results.little.area_ps, results.little.residence_ps);
            }
        }
        prop_assert_eq!(whole.kernel.digest(), sliced.kernel.digest());
        prop_assert!(used[0].0 > 0 || llc != "0B", "nothing of the DRAM was used");
        let again = sliced.host().results(at).remove(0);
        prop_assert_eq!((&all.loads, all.found, all.bytes()), (&again.loads, again.found, again.bytes()));
        let taken = all.found.all();
        let steps = if mix == TrafficMix::StreamingWrites { 0 } else { 3000 };
        prop_assert_eq!(taken, steps);
        let [reads, writes] = [Operation::Read, Operation::Write].map(|operation| {
            (0..2).map(|n| whole.expander(n).lines[operation as usize]).sum::<u64>()
        });
        let now = whole.kernel.now();
        let programs = whole.host().results(now);
        let far = usize::from(far);
        let lines = programs.iter().flat_map(|program| &program.nodes[far..]);
        prop_assert_eq!((reads, writes), lines.fold((0, 0), |(r, w), node| (r + node.lines_read, w + node.lines_written)));
    }
}
