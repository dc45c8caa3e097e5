//! Tests that a load runs an access specification with its shares, bursts and pauses.

use lanetwin_kernel::{Component, Kernel, Port};
use lanetwin_load::BlockLoad;
use lanetwin_load::iometer::access::{AccessWorkload, Connections, Region};
use lanetwin_load::iometer::config::AccessLine;
use lanetwin_ports::{Builder, Context, Done, Message, Operation, Status, Transfer};
use lanetwin_units::{Instant, Span};

/// Answers after a fixed time, and records all requests and their times.
struct Disk {
    takes: Span,
    asked: Vec<(Instant, Transfer)>,
}

impl Component<Message> for Disk {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let Message::Block(request) = message else { return };
        self.asked.push((cx.now(), request));
        let done = Done { handle: request.handle, status: Status::Ok };
        cx.send(port, self.takes, Message::BlockDone(done));
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

const LINE: AccessLine =
    AccessLine { size: 4096, share: 100, reads: 100, random: 0, delay_ms: 0, burst: 1, align: 0, reply: 0 };
const REGION: Region = Region { start: 0, bytes: 1 << 30, sector: 512 };

/// Runs a load to its end.
fn run(lines: &[AccessLine], outstanding: u32, count: u64, takes: Span) -> Run {
    run_with(lines, outstanding, count, takes, None)
}

fn run_with(
    lines: &[AccessLine],
    outstanding: u32,
    count: u64,
    takes: Span,
    connections: Option<Connections>,
) -> Run {
    let workload = AccessWorkload {
        lines: lines.to_vec(),
        region: REGION,
        outstanding,
        count: Some(count),
        connections,
        network: false,
    };
    let mut builder = Builder::new();
    let load = builder.add("load", Box::new(BlockLoad::of_accesses(workload, 1, "load")));
    let disk = builder.add("disk", Box::new(Disk { takes, asked: Vec::new() }));
    builder.join((load, Port(0)), (disk, Port(0)));
    let mut kernel: Kernel<Message> = builder.seal();
    kernel.run_until(Instant::NEVER);
    let end = kernel.now();
    let asked = std::mem::take(&mut kernel.component::<Disk>(disk).expect("the disk").asked);
    let results = kernel.component::<BlockLoad>(load).expect("the load").results(end);
    Run { asked, results, end, digest: kernel.digest() }
}

struct Run {
    asked: Vec<(Instant, Transfer)>,
    results: lanetwin_load::Results,
    end: Instant,
    digest: u64,
}

/// By hand: opening takes 50 µs, and ten transactions, four at a time, take three rounds of 80 µs: 290 µs for each
/// connection. The last of ten is not closed, since nothing comes after it.
#[test]
fn a_target_is_closed_when_all_its_transactions_are_answered_and_opened_again() {
    let connections = Some(Connections { transactions: 10, opening: Span::from_us(50) });
    let run = run_with(&[LINE], 4, 100, Span::from_us(80), connections);
    assert_eq!(run.end, Instant::ZERO + Span::from_us(10 * 290));
    assert_eq!(run.results.reads.completed, 100);
    let made = run.results.connections.expect("connections were tested");
    assert_eq!((made.count(), made.max()), (9, Some(Span::from_us(290))));
    assert_eq!(made.sum_ps(), 9 * 290_000_000);
}

#[test]
fn without_a_delay_so_many_are_always_outstanding() {
    let run = run(&[LINE], 4, 1000, Span::from_us(80));
    assert_eq!(run.end, Instant::ZERO + Span::from_us(1000 / 4 * 80));
    assert_eq!(run.results.reads.completed, 1000);
    assert_eq!(run.results.mean_outstanding(), Some(4.0));
}

#[test]
fn a_mix_moves_shares_of_accesses() {
    let reads = AccessLine { size: 2 << 20, share: 67, ..LINE };
    let writes = AccessLine { size: 64 << 10, share: 33, reads: 0, ..LINE };
    let Run { results, .. } = run(&[reads, writes], 5, 20_000, Span::from_us(10));
    let (reads, writes) = (&results.reads, &results.writes);
    assert_eq!(reads.completed + writes.completed, 20_000);
    assert!(reads.completed.abs_diff(13_400) < 300, "{}", reads.completed);
    assert_eq!((reads.bytes, writes.bytes), (reads.completed << 21, writes.completed << 16));
    let share = reads.bytes as f64 / (reads.bytes + writes.bytes) as f64;
    assert!((share - 0.985).abs() < 0.002, "{share}");
}

#[test]
fn a_burst_goes_out_after_its_delay_and_answers_are_taken_meanwhile() {
    // at most four outstanding, bursts of six after delays of 1 ms; the disk takes 100 µs
    let line = AccessLine { burst: 6, delay_ms: 1, ..LINE };
    let Run { asked, results, .. } = run(&[line], 4, 18, Span::from_us(100));
    let times: Vec<u64> = asked.iter().map(|(at, _)| at.as_ps() / 1_000_000).collect();
    // the delay comes before the first burst too; the last two are sent at the first answers, when the next delay
    // begins
    let burst = |start: u64| [start, start, start, start, start + 100, start + 100];
    assert_eq!(times, [burst(1000), burst(2100), burst(3200)].concat());
    assert_eq!((results.reads.completed, results.outstanding), (18, 0));
    assert!(asked.iter().all(|(_, transfer)| transfer.operation == Operation::Read));
    assert_eq!(results.little.area_ps, results.little.residence_ps);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let lines = [
        AccessLine { share: 40, random: 50, reads: 30, ..LINE },
        AccessLine { share: 60, burst: 3, delay_ms: 1, ..LINE },
    ];
    let of = || run(&lines, 3, 500, Span::from_us(70));
    let (one, two) = (of(), of());
    assert_eq!((one.digest, &one.asked), (two.digest, &two.asked));
}
