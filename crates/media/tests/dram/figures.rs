//! Latencies and bandwidths against arithmetic.

use super::*;

/// When each of these reads of one bus is answered, in clocks after it came.
fn latencies(config: &Config, reads: &[(u64, u8, u32)]) -> Vec<u64> {
    let ask = |(token, (clock, bank, row)): (usize, &(u64, u8, u32))| {
        (0, Asked { clock: *clock, write: false, token: token as u32, bank: *bank, row: *row, line: 0 })
    };
    let asked: Vec<_> = reads.iter().enumerate().map(ask).collect();
    let (_, mut done, _) = run(config, &asked, None);
    done.sort_by_key(|done| done.token);
    let clock = config.timings().clock;
    done.iter().zip(reads).map(|(done, read)| clock.edge(done.at) - read.0).collect()
}

#[test]
fn hits_misses_and_conflicts_last_what_their_commands_need() {
    for speed in Speed::ALL {
        let mut config = plain(speed, 1);
        config.refresh = Refresh::None;
        let t = config.timings();
        let far = 1000;
        let found = latencies(&config, &[(far, 3, 1), (2 * far, 3, 1), (3 * far, 3, 2), (3 * far, 7, 0)]);
        let read = t.cl + t.burst;
        assert_eq!(found[..3], [t.rcd + read, read, t.rp + t.rcd + read], "{speed:?}");
        // the activate of the other bank goes behind the precharge, on the command bus
        assert_eq!(found[3], t.command + t.rcd + read, "{speed:?}");
        config.page = PagePolicy::Closed;
        let found = latencies(&config, &[(far, 3, 1), (2 * far, 3, 1), (3 * far, 3, 2)]);
        assert_eq!(found, [t.rcd + read; 3], "{speed:?}");
        config.page = PagePolicy::Adaptive(Span::from_ns(50));
        let found = latencies(&config, &[(far, 3, 1), (far + 500, 3, 2), (far + 530, 3, 2)]);
        assert_eq!(found[1], t.rcd + read, "{speed:?}: the row was closed in time");
    }
}

#[test]
fn a_write_is_answered_when_it_is_queued_or_when_it_is_written() {
    let mut config = plain(Speed::Ddr5_4800, 1);
    config.refresh = Refresh::None;
    let t = config.timings();
    let write = [(0, Asked { clock: 1000, write: true, token: 0, bank: 0, row: 0, line: 0 })];
    let at = |config: &Config| t.clock.edge(run(config, &write, None).1[0].at);
    assert_eq!(at(&config), 1000);
    config.answer = WriteAnswer::Written;
    config.queues.idle = Span::from_ns(0);
    assert_eq!(at(&config), 1000 + t.rcd + t.cwl + t.burst);
    config.queues.idle = Span::from_ns(500);
    // there has been no read since the start of the run
    assert_eq!(at(&config), 1200 + t.rcd + t.cwl + t.burst);
}

#[test]
fn a_read_finds_its_line_in_the_write_queue() {
    let mut config = plain(Speed::Ddr4_3200, 1);
    config.queues.idle = Span::from_us(1);
    let ask = |token, write, line| (0, Asked { clock: 1000, write, token, bank: 5, row: 1, line });
    let asked = [ask(0, true, 3), ask(1, false, 3), ask(2, false, 2), ask(3, true, 3)];
    let (_, done, machine) = run(&config, &asked, None);
    let at = |token| done.iter().find(|done| done.token == token).unwrap().at;
    let t = config.timings();
    assert_eq!((at(0), at(3)), (t.clock.instant(1000), t.clock.instant(1000)));
    assert_eq!(at(1), t.clock.instant(1000 + t.cl + t.burst));
    assert_eq!(at(2), t.clock.instant(1000 + t.rcd + t.cl + t.burst));
    let c = machine.counters_up_to(end(&config, &asked));
    assert_eq!((c.forwarded, c.merged, c.accesses), (1, 1, [1, 1]));
}

/// Bytes per second of a memory that always has `depth` requests, with their row hits.
fn bandwidth(config: &Config, depth: u64, lines: u64, ask: impl Fn(u64) -> (Operation, u64)) -> f64 {
    let mut machine = Machine::new(config).expect("the configuration is right");
    let mut answers = std::collections::VecDeque::new();
    let (mut now, mut asked, mut done, mut ended) = (Instant::ZERO, 0, Vec::new(), 0);
    while ended < lines {
        while asked < lines && asked - ended < depth {
            let (operation, address) = ask(asked);
            let request = Request { token: asked as u32, operation, address };
            assert_eq!(machine.offer(now, request), Offer::Accepted);
            asked += 1;
        }
        let next = machine.next().unwrap_or(Instant::NEVER);
        match answers.front() {
            Some(Done { at, .. }) if *at <= next => {
                now = *at;
                answers.pop_front();
                ended += 1;
            }
            _ => {
                now = next;
                machine.advance(now, &mut done);
                answers.extend(done.drain(..));
            }
        }
    }
    (lines * 64) as f64 / (now.as_ps() as f64 * 1e-12)
}

fn stream(n: u64) -> (Operation, u64) {
    (Operation::Read, n * 64)
}

#[test]
fn streaming_reads_take_all_that_refreshes_leave() {
    for speed in Speed::ALL {
        for (ranks, width) in [(1, Width::X8), (2, Width::X4)] {
            let mut config = Config::new(speed, 1, Bytes(16 << 30));
            (config.geometry.ranks, config.geometry.width) = (ranks, width);
            let t = config.timings();
            let depth = 80 * u64::from(config.geometry.buses(speed));
            let found = bandwidth(&config, depth, 200_000, stream);
            // with two ranks the bus is free while one of them refreshes, and pauses between them
            let left = if ranks == 1 { 1.0 - t.rfc as f64 / t.refi as f64 } else { 1.0 };
            let bound = config.peak() as f64 * left;
            let share = found / bound;
            let least = if ranks == 1 { 0.98 } else { 0.9 };
            assert!((least..=1.0).contains(&share), "{speed:?} {ranks} ranks: {share:.4} of what is left");
        }
    }
}

#[test]
fn random_reads_of_one_rank_are_bound_by_activates() {
    // four activates in tFAW, or one in tRRD; banks are enough
    let mut config = Config::new(Speed::Ddr4_2400, 1, Bytes(4 << 30));
    config.refresh = Refresh::None;
    let t = config.timings();
    let mut state = 1_u64;
    let lines: Vec<u64> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % ((4 << 30) / 64) * 64
    })
    .take(40_000)
    .collect();
    let found = bandwidth(&config, 80, 40_000, |n| (Operation::Read, lines[n as usize]));
    let bound = config.peak() as f64 * (4 * t.burst) as f64 / t.faw as f64;
    assert!((0.97..=1.0).contains(&(found / bound)), "{:.4} of four reads in tFAW", found / bound);
}

#[test]
fn every_mistake_is_told_at_once() {
    let mut config = plain(Speed::Ddr4_3200, 1);
    config.geometry = Geometry { channels: 65, ranks: 3, width: Width::X8, density: Density::Gb32 };
    config.mapping.interleave = Bytes(100);
    config.capacity = Bytes(5000);
    config.queues.reads = 0;
    (config.queues.writes, config.queues.high, config.queues.low) = (8, 9, 9);
    config.queues.waiting = 0;
    config.refresh = Refresh::SameBank;
    let fields: Vec<_> = Machine::new(&config).unwrap_err().iter().map(|bad| bad.field).collect();
    assert_eq!(
        fields,
        [
            "geometry.channels",
            "geometry.ranks",
            "geometry.density",
            "mapping.interleave",
            "capacity",
            "queues.reads",
            "queues.high",
            "queues.low",
            "queues.waiting",
            "refresh",
            "timings"
        ]
    );
}

#[test]
fn who_finds_no_room_is_told_so_and_what_lies_beyond_is_not_taken() {
    let mut config = plain(Speed::Ddr4_3200, 1);
    (config.queues.reads, config.queues.waiting) = (2, 1);
    let mut machine = Machine::new(&config).unwrap();
    let mut offer = |token, address| {
        machine.offer(Instant::from_ps(9), Request { token, operation: Operation::Read, address })
    };
    let offers: Vec<_> = (0..4).map(|n| offer(n, 1 << 14 << n)).collect();
    assert_eq!(offers, [Offer::Accepted, Offer::Accepted, Offer::Accepted, Offer::Full]);
    assert_eq!(offer(9, config.capacity.0), Offer::Beyond);
}

#[test]
fn what_has_come_counts_before_anybody_has_looked() {
    let mut config = plain(Speed::Ddr4_3200, 1);
    config.refresh = Refresh::None;
    let mut machine = Machine::new(&config).unwrap();
    for token in 0..3 {
        let request = Request { token, operation: Operation::Read, address: u64::from(token) << 14 };
        assert_eq!(machine.offer(Instant::ZERO, request), Offer::Accepted);
    }
    let later = Instant::ZERO + Span::from_us(1);
    assert_eq!((machine.waiting(), machine.counters().accesses), (3, [0, 0]));
    assert_eq!(machine.counters_up_to(later).accesses, [3, 0]);
    assert!(machine.bus_use(later).busy_ps > 0);
    // none of that has changed the machine
    assert_eq!((machine.waiting(), machine.counters().accesses), (3, [0, 0]));
    let mut done = Vec::new();
    while let Some(next) = machine.next().filter(|next| *next <= later) {
        machine.advance(next, &mut done);
    }
    assert_eq!((done.len(), machine.waiting()), (3, 0));
}

/// What waits while its bus is idle has lost that time; what has not had the time to get there has not.
#[test]
fn a_bus_loses_the_time_for_which_data_could_have_been_there() {
    for speed in Speed::ALL {
        let config = plain(speed, 1);
        let t = config.timings();
        let ask = |clock: u64, n: u32, write| {
            let (bank, row) = ((n % 7) as u8, n * n % 11);
            (0, Asked { clock, write, token: n, bank, row, line: n })
        };
        let use_of = |config: &Config, asked: &[(u32, Asked)]| {
            let (_, done, machine) = run(config, asked, None);
            let end = done.iter().map(|done| done.at).max().unwrap();
            (end, machine.bus_use(end))
        };
        // one at a time, with rows to close and to open, waits for nothing but refreshes
        let mut calm = config.clone();
        calm.refresh = Refresh::None;
        let alone: Vec<_> = (0..100).map(|n| ask(1000 * u64::from(n + 1), n, false)).collect();
        let (_, used) = use_of(&calm, &alone);
        let bursts = used.busy_ps as f64 / t.clock.instant(t.burst).as_ps() as f64;
        assert!((99.9..100.1).contains(&bursts) && used.lost_ps == 0, "{speed:?}: {used:?}");
        // all at once: from when the first could be there, every clock carries data or is lost
        let begin = 1000;
        for mixed in [false, true] {
            let all: Vec<_> = (0..600).map(|n| ask(begin, n, mixed && n % 3 == 0)).collect();
            let (end, used) = use_of(&config, &all);
            let due = t.clock.instant(begin + t.command + t.rp + t.rcd + t.cl);
            let (all, told) = (end.since(due).as_ps(), used.busy_ps + used.lost_ps);
            assert!(used.lost_ps > all / 20, "{speed:?}: rows are opened, banks refreshed: {used:?}");
            assert!(told as f64 > 0.99 * all as f64, "{speed:?}, mixed {mixed}: {told} of {all} ps");
        }
    }
}

#[test]
fn a_write_is_answered_with_its_place_in_the_queue_at_once_or_when_there_is_one() {
    let mut config = plain(Speed::Ddr4_3200, 1);
    config.answer = WriteAnswer::Queued;
    (config.queues.writes, config.queues.high, config.queues.low) = (2, 2, 1);
    let mut machine = Machine::new(&config).unwrap();
    for token in 0..3 {
        let request = Request { token, operation: Operation::Write, address: u64::from(token) << 14 };
        assert_eq!(machine.offer(Instant::ZERO, request), Offer::Accepted);
    }
    assert!(machine.is_overfull(), "one of three has no place among two");
    let mut done = Vec::new();
    machine.advance(Instant::ZERO, &mut done);
    assert_eq!(done.iter().map(|done| (done.token, done.at.as_ps())).collect::<Vec<_>>(), [(0, 0), (1, 0)]);
    let t = config.timings();
    while let Some(next) = machine.next().filter(|_| done.len() < 3) {
        machine.advance(next, &mut done);
    }
    // a place is free when the first of them is written: its row is open by then, and its data are still to come
    let [open, written] = [t.rcd, t.rcd + t.write()].map(|clocks| t.clock.instant(clocks));
    assert!(done[2].token == 2 && done[2].at > open && done[2].at < written, "{:?}", done[2]);
}

/// Random lines of the first bus.
fn random_lines(config: &Config, count: usize) -> Vec<u64> {
    let buses = u64::from(config.geometry.buses(config.speed));
    let granule = config.mapping.interleave.0 / 64;
    let all = config.capacity.0 / 64 / buses;
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let line = (state >> 20) % all;
        (line / granule * buses * granule + line % granule) * 64
    };
    (0..count).map(|_| next()).collect()
}

/// The mean latency of random reads that come every `gap` clocks \[clocks\].
fn mean_latency(config: &Config, gap: u64) -> f64 {
    let lines = random_lines(config, 60_000);
    let clock = config.timings().clock;
    let mut machine = Machine::new(config).expect("the configuration is right");
    let (mut done, mut sum) = (Vec::new(), 0);
    for (n, address) in lines.iter().enumerate() {
        let request = Request { token: n as u32, operation: Operation::Read, address: *address };
        let now = clock.instant(n as u64 * gap);
        assert_eq!(machine.offer(now, request), Offer::Accepted);
        machine.advance(now, &mut done);
    }
    while let Some(next) = machine.next() {
        machine.advance(next, &mut done);
    }
    for Done { token, at, .. } in &done {
        sum += clock.edge(*at) - u64::from(*token) * gap;
    }
    assert_eq!(done.len(), lines.len());
    sum as f64 / lines.len() as f64
}

/// The mean latency of one random read after the other, each asked for `gap` after the answer of the one before \[ps\].
fn mean_of_a_chain(config: &Config, gap: Span) -> f64 {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 20) % (config.capacity.0 / 64) * 64
    };
    let mut machine = Machine::new(config).expect("the configuration is right");
    let (mut done, mut sum, mut now) = (Vec::new(), 0, Instant::ZERO);
    const READS: u32 = 40_000;
    for token in 0..READS {
        let request = Request { token, operation: Operation::Read, address: random() };
        assert_eq!(machine.offer(now, request), Offer::Accepted);
        while done.is_empty() {
            let next = machine.next().expect("it is read some day");
            machine.advance(next, &mut done);
        }
        let Done { at, .. } = done.pop().expect("one is asked for at a time");
        sum += at.since(now).as_ps();
        now = at + gap;
    }
    sum as f64 / f64::from(READS)
}

/// What a chain of loads takes beside the memory is added to the latency once, wherever its period lies to that of
/// refreshes: a read waits for refreshes as long in the mean as at any other phase.
#[test]
fn chains_of_reads_do_not_fall_into_step_with_refreshes() {
    let config = Config::new(Speed::Ddr4_2666, 3, Bytes(48 << 30));
    let means: Vec<f64> =
        (0..12).map(|n| mean_of_a_chain(&config, Span::from_ns(450 + 13 * n)) / 1000.0).collect();
    let (least, most) = means.iter().fold((f64::MAX, 0.0), |(a, b), x| (x.min(a), x.max(b)));
    // the standard error of each is some 0.4 ns; in step, they lie 13 ns and more apart
    assert!(most - least < 3.0, "{means:.1?}");
}

/// Ramulator 2.1 (revision c5b1c3a), 200 000 uniform random reads of 64 B in 4 GiB, one channel, FR-FCFS, open rows,
/// refresh of all banks. It is given its own tables here: what is compared is what two controllers make of the same
/// limits.
#[test]
fn ramulators_figures_follow_from_its_tables() {
    let mut config = Config::new(Speed::Ddr4_2400, 1, Bytes(4 << 30));
    let t = config.timings();
    config.timings = Some(Timings { cl: 16, rcd: 16, rp: 16, rc: 55, rfc: 433, ..t });
    let per_clock = |config: &Config| {
        let lines = random_lines(config, 40_000);
        let found = bandwidth(config, 80, 40_000, |n| (Operation::Read, lines[n as usize]));
        found / config.timings().peak() as f64 / config.timings().burst as f64
    };
    let is_near = |what: &str, found: f64, published: f64, percent: f64| {
        let error = 100.0 * (found / published - 1.0);
        println!("{what}: {found:.4}, published {published}, {error:+.1} %");
        assert!(error.abs() < percent, "{what}: {found:.4}, published {published}, {error:+.1} %");
    };
    is_near("DDR4_2400R, requests a clock", per_clock(&config), 0.1461, 1.5);
    let mut config = Config::new(Speed::Ddr5_4800, 1, Bytes(8 << 30));
    let t = config.timings();
    let its = Timings {
        cl: 34,
        rcd: 34,
        rp: 34,
        cwl: 32,
        rc: 111,
        faw: 48,
        ccd_l_wr: 48,
        rfc: 710,
        refi: 9375,
        ..t
    };
    config.timings = Some(its);
    is_near("DDR5_4800AN, requests a clock", per_clock(&config), 0.0762, 1.5);
    is_near("DDR5_4800AN, one in 100 clocks, latency", mean_latency(&config, 100), 137.1, 5.0);
    // here latency counts from the arrival, there from the acceptance into 32 places: 44 come while a refresh lasts
    is_near("DDR5_4800AN, one in 16 clocks, latency", mean_latency(&config, 16), 237.4, 20.0);
}
