use super::super::lines::Surroundings;
use super::super::{iolog, read};
use super::*;
use std::collections::{BTreeMap, BTreeSet};

const CAPACITY: u64 = 1 << 30;

fn workload(options: &str) -> JobWorkload {
    let nothing = |_: &str| Err("no file".to_owned());
    let text = format!("[a]\ndirect=1\n{options}");
    let understood = read(&text, "job.fio", &Surroundings::nowhere(&nothing)).expect("a job");
    let job = Arc::new(understood.file.jobs[0].clone());
    let workload = JobWorkload { job, clone: 0, capacity: CAPACITY, log: None };
    workload.check().expect("a workload that can be run");
    workload
}
fn ios(options: &str, count: usize) -> Vec<Io> {
    let mut stream = Stream::new(workload(options), 1, "load");
    std::iter::repeat_with(|| stream.next(Instant::ZERO).expect("no end")).take(count).collect()
}
fn offsets(options: &str, count: usize) -> Vec<u64> {
    ios(options, count).iter().map(|io| io.offset / 4096).collect()
}

#[test]
fn sequential_accesses_go_on_leave_gaps_and_begin_again() {
    assert_eq!(offsets("rw=read\nsize=16k", 6), [0, 1, 2, 3, 0, 1]);
    assert_eq!(offsets("rw=read:4k\nsize=32k", 6), [0, 2, 4, 6, 0, 2]);
    assert_eq!(offsets("rw=write\nsize=16k\noffset=8k", 5), [2, 3, 4, 5, 2]);
    // backwards: a gap of minus two blocks; after the start, it goes on at the end
    assert_eq!(offsets("rw=read:-8k\nsize=32k", 4), [0, 6, 5, 4]);
}

#[test]
fn with_a_map_every_block_comes_once_in_a_pass() {
    let pass: Vec<u64> = offsets("rw=randread\nsize=4m", 2048);
    for pass in pass.chunks(1024) {
        assert_eq!(pass.iter().collect::<BTreeSet<_>>().len(), 1024);
        assert!(pass.windows(2).filter(|two| two[0] + 1 == two[1]).count() < 700);
    }
    let without: BTreeSet<u64> = offsets("rw=randread\nsize=4m\nnorandommap", 1024).into_iter().collect();
    assert!((600..700).contains(&without.len()), "{}", without.len()); // 1 − 1/e of them
}

#[test]
fn a_random_address_comes_after_so_many_and_shares_are_kept() {
    let eights = offsets("rw=randread:8\nsize=1g\nnorandommap", 800);
    let jumps = eights.windows(2).filter(|two| two[0] + 1 != two[1]).count();
    assert!((95..=100).contains(&jumps), "{jumps}");
    let same = offsets("rw=randread:8\nrw_sequencer=identical\nsize=1g", 800);
    assert_eq!(same.iter().collect::<BTreeSet<_>>().len(), 100);
    let mixed = ios("rw=randrw\nrwmixread=70\nsize=1g", 10_000);
    let reads = mixed.iter().filter(|io| io.operation == Operation::Read).count();
    assert!(reads.abs_diff(7000) < 200, "{reads}");
    let half = offsets("rw=randread\npercentage_random=50\nsize=1g\nnorandommap", 10_000);
    let behind = half.windows(2).filter(|two| two[0] + 1 == two[1]).count();
    assert!(behind.abs_diff(5000) < 250, "{behind}");
}

#[test]
fn sizes_are_drawn_by_their_shares_and_fit() {
    let mut counts = BTreeMap::new();
    for io in ios("rw=randread\nbssplit=4k/60:64k/40\nsize=1g\nnorandommap", 10_000) {
        *counts.entry(io.bytes).or_insert(0_u32) += 1;
        assert!(io.offset + u64::from(io.bytes) <= CAPACITY && io.offset % 4096 == 0);
    }
    assert_eq!(counts.len(), 2);
    assert!(counts[&4096].abs_diff(6000) < 200, "{counts:?}");
    let range = ios("rw=randwrite\nbsrange=4k-16k\nsize=64m", 10_000);
    assert!(range.iter().all(|io| io.bytes % 4096 == 0 && (4096..=16384).contains(&io.bytes)));
    let three = ios("rw=rw\nbs=4k,8k\nsize=64m", 100);
    let of = |operation| if operation == Operation::Read { 4096 } else { 8192 };
    assert!(three.iter().all(|io| io.bytes == of(io.operation)));
}

#[test]
fn extents_are_percentages_and_clones_lie_apart() {
    let extent = |options: &str, clone: u32| {
        let job = workload(options);
        JobWorkload { clone, ..job }.extent()
    };
    let of = |start, bytes| Extent { start, bytes };
    assert_eq!(extent("rw=read", 0), of(0, CAPACITY));
    assert_eq!(extent("rw=read\nsize=25%", 0), of(0, CAPACITY / 4));
    assert_eq!(extent("rw=read\noffset=50%\nsize=25%", 0), of(CAPACITY / 2, CAPACITY / 4));
    assert_eq!(extent("rw=read\nsize=64m\noffset_increment=64m", 3), of(192 << 20, 64 << 20));
    assert_eq!(extent("rw=read\nsize=1m\noffset_increment=10%", 1), of(107_376_640, 1 << 20));
    let beyond = JobWorkload { clone: 99, ..workload("rw=read\nsize=64m\noffset_increment=64m") };
    assert_eq!(beyond.check(), Err(BadJob::Beyond { end: 100 * (64 << 20) }));
}

#[test]
fn rates_hold_back_and_thinking_waits_until_all_is_answered() {
    let us = |us: u64| Instant::ZERO + Span::from_us(us);
    let mut stream = Stream::new(workload("rw=read\nrate_iops=1000\nsize=1m\niodepth=4"), 1, "load");
    assert_eq!(stream.gate(us(0), 0), Gate::Open);
    stream.next(us(0));
    assert_eq!(stream.gate(us(0), 1), Gate::After(Span::from_us(1000)));
    assert_eq!(stream.gate(us(2500), 1), Gate::Open);
    stream.next(us(2500));
    // it is behind its rate and catches up
    assert_eq!(stream.gate(us(2500), 2), Gate::Open);
    assert_eq!(stream.gate(us(2500), 4), Gate::Answered);

    let mut stream =
        Stream::new(workload("rw=read\nthinktime=50\nthinktime_blocks=2\nsize=1m\niodepth=4"), 1, "load");
    stream.next(us(0));
    stream.next(us(0));
    assert_eq!(stream.gate(us(1), 2), Gate::Open);
    stream.answered(Span::from_us(9), us(9));
    stream.answered(Span::from_us(9), us(9));
    assert_eq!(stream.gate(us(9), 1), Gate::Answered);
    assert_eq!(stream.gate(us(9), 0), Gate::After(Span::from_us(50)));
    assert_eq!(stream.gate(us(59), 0), Gate::Open);
}

#[test]
fn a_log_is_replayed_with_its_times_or_as_fast_as_possible() {
    let text = "fio version 3 iolog\n1 f add\n11 f read 0 4096\n111 f write 8192 512\n";
    let log = Arc::new(iolog::read(text, "log").expect("a log").0);
    let replay = |options: &str| {
        let job = workload(&format!("read_iolog=x\n{options}"));
        let mut stream = Stream::new(JobWorkload { log: Some(Arc::clone(&log)), ..job }, 1, "load");
        let (mut now, mut told) = (Instant::ZERO, Vec::new());
        loop {
            match stream.gate(now, 0) {
                Gate::After(span) => now += span,
                Gate::Answered | Gate::Dialled { .. } => return told,
                Gate::Open => {}
            }
            let Some(io) = stream.next(now) else { return told };
            told.push((now.as_ps() / 1_000_000, io.operation, io.offset, io.bytes));
        }
    };
    let (read, write) = (Operation::Read, Operation::Write);
    assert_eq!(replay(""), [(10, read, 0, 4096), (110, write, 8192, 512)]);
    assert_eq!(replay("replay_time_scale=50"), [(20, read, 0, 4096), (220, write, 8192, 512)]);
    assert_eq!(replay("replay_no_stall=1\nreplay_scale=2"), [(0, read, 0, 4096), (0, write, 4096, 512)]);
}

#[test]
fn a_latency_target_finds_the_depth_that_keeps_it() {
    let job = workload(
        "rw=randread\nsize=1g\niodepth=64\nlatency_target=100\nlatency_window=1ms\nlatency_percentile=99",
    );
    let mut stream = Stream::new(job, 1, "load");
    let mut now = Instant::ZERO;
    // the latency is 5 µs per outstanding I/O: the target is kept up to a depth of 20
    for _ in 0..4000 {
        now += Span::from_us(50);
        stream.answered(Span::from_us(u64::from(stream.depth.now) * 5), now);
    }
    assert!((18..=20).contains(&stream.depth.now), "{}", stream.depth.now);
}
