//! How many lines of 64 B a CPU-second: cores with limited misses, and the memory that they ask.
//!
//! `cargo run --release -p lanetwin-benches --bin memory_host` prints, for each case, lines per CPU-second, what they
//! move, and events for each line. The last two go through a CXL link, flit by flit, and an expander with DDR5
//! controllers. With arguments `CASE MICROSECONDS` it simulates so much of one case once, for a profiler.

#[path = "../calibration.rs"]
mod calibration;
#[path = "../clock.rs"]
mod clock;

use calibration::Calibration;
use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_cxl::hdm::Decoder;
use lanetwin_document::quantity;
use lanetwin_kernel::{ComponentId, Kernel, Port};
use lanetwin_load::memory::{Placement, Policy, Traffic, TrafficMix, TrafficOrder, TrafficSpec};
use lanetwin_models::find;
use lanetwin_models::memory_host::MemoryHost;
use lanetwin_ports::{Builder, CxlLink, CxlLinkSpec, Message, Model, Params, Site, Value};
use lanetwin_units::{Generation, Instant, Span, Width};

const ROUNDS: usize = 3;
/// What is simulated of each case.
const TIME: Span = Span::from_us(500);

struct Case {
    name: &'static str,
    threads: u32,
    node: u16,
    mix: TrafficMix,
    host: &'static [(&'static str, &'static str)],
}

const SIMPLE: &[(&str, &str)] = &[("cores", "16"), ("dram", "simple")];
const TIMED: &[(&str, &str)] = &[("cores", "16"), ("dram.channels", "8")];

const fn case(
    name: &'static str,
    node: u16,
    mix: TrafficMix,
    host: &'static [(&'static str, &'static str)],
) -> Case {
    Case { name, threads: 16, node, mix, host }
}

const CASES: &[Case] = &[
    case("simple DRAM, all reads", 0, TrafficMix::AllReads, SIMPLE),
    case("eight channels of DDR5-4800, all reads", 0, TrafficMix::AllReads, TIMED),
    case("eight channels of DDR5-4800, 2R1W", 0, TrafficMix::R2W1, TIMED),
    case("CXL x8 and an expander, all reads", 1, TrafficMix::AllReads, SIMPLE),
    case("CXL x8 and an expander, 2R1W", 1, TrafficMix::R2W1, SIMPLE),
];

fn params(model: &Model, replaced: &[(&str, &str)]) -> Params {
    let value = |param: &'static lanetwin_ports::Param| -> (&'static str, Value) {
        let said = replaced.iter().find(|(name, _)| *name == param.name).map(|(_, text)| *text);
        let text = said.or(param.default).expect("every parameter has a default");
        (param.name, quantity::read(param.dimension, text).expect("a value").0)
    };
    Params(model.all_params().map(value).collect())
}

fn world(case: &Case) -> (Kernel<Message>, ComponentId) {
    let mut builder = Builder::new();
    let mut add = |path: &str, name: &str, replaced: &[(&str, &str)], decoders: Vec<Decoder>| {
        let model = find(name).expect("it is on the shelf");
        let site = Site { decoders, ..Site::alone(path, 1) };
        builder.add(path, model.component(&params(model, replaced), &site).expect("a component"))
    };
    let window = Decoder::new(1 << 40, 64 << 30, 256, vec![0]).expect("a window of one target");
    let host = add("host", "memory-host", case.host, vec![window]);
    let device = add("device", "cxl-expander", &[], Vec::new());
    let link = CxlLink::new("slot", 1, CxlLinkSpec::new(Generation::Gen5, Width::X8));
    let link = builder.add_foreseeing("link", Box::new(link));
    builder.join((host, Port(0)), (link, CxlLink::HOST));
    builder.join((device, Port(0)), (link, CxlLink::DEVICE));
    (builder.seal(), host)
}

/// Lines per CPU-second, GB/s, events for each line.
fn run(case: &Case, time: Span) -> [f64; 3] {
    let (mut kernel, id) = world(case);
    let spec = TrafficSpec {
        threads: case.threads,
        buffer: 256 << 20,
        mix: case.mix,
        order: TrafficOrder::Sequential,
        think: Span::ZERO,
        count: None,
    };
    let program = Traffic::new(spec, 1, "bench").expect("traffic");
    let host = kernel.component::<MemoryHost>(id).expect("the host is one");
    host.run(Box::new(program), Placement::new("bench", Policy::Bind(vec![case.node])))
        .expect("there is room");
    let start = cpu_seconds();
    kernel.run_until(Instant::ZERO + time);
    let (seconds, events) = (cpu_seconds() - start, kernel.events());
    let host = kernel.component::<MemoryHost>(id).expect("the host is one");
    let results = host.results(Instant::ZERO + time).remove(0);
    let lines: u64 = results.nodes.iter().map(|node| node.lines_read + node.lines_written).sum();
    [lines as f64 / seconds, results.bytes_per_second().unwrap_or(0.0) / 1e9, events as f64 / lines as f64]
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, time] = arguments[..] {
        let case = &CASES[case as usize];
        let [rate, moved, events] = run(case, Span::from_us(time));
        let lines = moved * 1e3 * time as f64 / 64.0;
        println!(
            "{}: {:.3} M per CPU-second, {events:.2} events each, {lines:.0} lines",
            case.name,
            rate / 1e6
        );
        return;
    }
    let mut calibration = Calibration::default();
    for case in CASES {
        calibration.measure();
        let runs: Vec<[f64; 3]> = (0..ROUNDS).map(|_| run(case, TIME)).collect();
        let (rate, low, high) = median(runs.iter().map(|run| run[0] / 1e6).collect());
        let [_, moved, events] = runs[0];
        println!(
            "{:42} {rate:6.2} M lines/s ({low:.2} to {high:.2}), {moved:6.1} GB/s, {events:.2} events a line",
            case.name
        );
    }
    println!("\n{calibration}, peak memory {:.0} MB", peak_rss_mb());
}
