//! How many lines of 64 B a second: host, CXL link and a device, closed loop, every flit accounted; one thread. The
//! device has a fixed latency, or is an expander with DDR5 by its timing tables.
//!
//! `cargo run --release -p lanetwin-benches --bin cxl` prints requests per CPU-second and kernel events for each, with
//! what the link was busy with. With arguments `CASE REQUESTS` it runs one case once, for a profiler.

#[path = "../calibration.rs"]
mod calibration;
#[path = "../clock.rs"]
mod clock;
#[path = "../closed_loop.rs"]
mod closed_loop;

use calibration::Calibration;
use clock::{median, peak_rss_mb};
use closed_loop::{ClosedLoop, Measured, device};
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_ports::{Builder, Context, Line, LineDone, Message, Operation, Status};
use lanetwin_units::Span;

const ROUNDS: usize = 5;
const REQUESTS: u64 = 3_000_000;

/// A case: its name, the reads among so many requests at random addresses of 16 GiB, and whether the device is an
/// expander.
const CASES: [(&str, u64, u64, bool); 5] = [
    ("all reads", 1, 1, false),
    ("2 reads : 1 write", 2, 3, false),
    ("1 read : 1 write", 1, 2, false),
    ("expander, all reads", 1, 1, true),
    ("expander, 2R1W", 2, 3, true),
];

/// Answers after 50 ns.
struct Device;

impl Component<Message> for Device {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        if let Message::Line(Line { operation, handle, .. }) = message {
            let done = LineDone { operation, handle, status: Status::Ok };
            cx.send(port, Span::from_ns(50), Message::LineDone(done));
        }
    }
}

fn run(case: usize, requests: u64) -> Measured {
    let (_, reads, of, expands) = CASES[case];
    let next = move |random: &mut Stream, _| {
        let bits = random.bits();
        let read = ((bits >> 32) * of) >> 32 < reads;
        (if read { Operation::Read } else { Operation::Write }, (bits & 0xfff_ffff) << 6)
    };
    let add = |builder: &mut Builder| {
        builder.add("device", if expands { device("cxl-expander", &[]) } else { Box::new(Device) })
    };
    ClosedLoop::new(Box::new(next), add).measure(requests)
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, requests] = arguments[..] {
        let Measured { rate, events, lines, .. } = run(case as usize, requests);
        println!(
            "{}: {:.3} M per CPU-second, {events:.2} events each, {lines} lines in all",
            CASES[case as usize].0,
            rate / 1e6
        );
        return;
    }
    println!("lines of 64 B per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    let mut calibration = Calibration::default();
    for (case, (name, ..)) in CASES.iter().enumerate() {
        calibration.measure();
        let runs: Vec<_> = (0..ROUNDS).map(|_| run(case, REQUESTS)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run.rate / 1e6).collect());
        let Measured { events, gigabytes, slots: [there, back], .. } = runs[0];
        println!(
            "{name:20} {rate:6.3} [{least:.3} .. {most:.3}] M, {events:.2} events each, {gigabytes:.3} GB/s, \
             slots in use M2S {:.1} %, S2M {:.1} %",
            there * 100.0,
            back * 100.0
        );
    }
    println!("\n{calibration}, peak memory {:.0} MB", peak_rss_mb());
}
