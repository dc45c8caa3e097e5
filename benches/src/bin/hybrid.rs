//! How many lines of 64 B a second through a memory with a disk behind a cache: host, CXL link, look-ups, cache, DRAM commands; every flit
//! accounted, closed loop, one thread.
//!
//! `cargo run --release -p lanetwin-benches --bin hybrid` prints requests per CPU-second and kernel events for each. With arguments
//! `CASE REQUESTS` it runs one case once, for a profiler.

#[path = "../clock.rs"]
mod clock;

use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_models::cxl_hybrid::CxlHybrid;
use lanetwin_models::find;
use lanetwin_ports::{
    Builder, Context, CxlLink, CxlLinkSpec, Dimension, Kernel, Line, Message, Model, Operation, Params, Site,
    Value,
};
use lanetwin_units::{Bytes, Generation, Instant, Span, Width};

const ROUNDS: usize = 5;
const REQUESTS: u64 = 1_000_000;
const OUTSTANDING: u32 = 256;
const GIB: u64 = 1 << 30;

/// A case: its name, its reads among so many requests, its working set, and whether pages are read from their begin to their end.
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

/// Keeps so many lines outstanding; each handle goes its own way.
struct Host {
    random: Stream,
    case: &'static Case,
    at: Vec<u64>,
    done: u64,
}

impl Host {
    fn next(&mut self, handle: u32, cx: &mut Context<'_>) {
        let [reads, of] = self.case.reads;
        let operation = if self.random.below(of) < reads { Operation::Read } else { Operation::Write };
        let at = &mut self.at[handle as usize];
        *at = if self.case.in_order && !(*at + 64).is_multiple_of(4096) {
            *at + 64
        } else if self.case.in_order {
            self.random.below(self.case.working_set / 4096) * 4096
        } else {
            self.random.below(self.case.working_set / 64) * 64
        };
        cx.send(Port(0), Span::ZERO, Message::Line(Line { operation, handle, address: *at }));
    }
}

impl Component<Message> for Host {
    fn start(&mut self, cx: &mut Context<'_>) {
        (0..OUTSTANDING).for_each(|handle| self.next(handle, cx));
    }
    fn receive(&mut self, _port: Port, message: Message, cx: &mut Context<'_>) {
        if let Message::LineDone(done) = message {
            self.done += 1;
            self.next(done.handle, cx);
        }
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

/// The value of a default, which is a whole number and a unit.
fn parse(dimension: Dimension, text: &str) -> Value {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ns" | "KB/s" => 1_000,
        "us" => 1_000_000,
        "ms" | "GB/s" => 1_000_000_000,
        "s" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => GIB,
        _ => 1,
    };
    let whole = || number.parse::<u64>().expect("a whole number") * scale;
    match dimension {
        Dimension::Time => Value::Time(Span::from_ps(whole())),
        Dimension::Size => Value::Size(Bytes(whole())),
        Dimension::Rate => Value::Rate(whole()),
        Dimension::Count { .. } => Value::Count(whole()),
        Dimension::Ratio => Value::Ratio(number.parse().expect("a ratio")),
        Dimension::Flag => Value::Flag(text == "true"),
        Dimension::Choice(words) => {
            Value::Choice(words.iter().find(|word| **word == text).expect("one of the words"))
        }
    }
}

fn device(name: &str, others: &[(&str, Value)]) -> Box<dyn Component<Message>> {
    let model: &'static Model = find(name).expect("it is on the shelf");
    let default = |param: &'static lanetwin_ports::Param| {
        let other = others.iter().find(|other| other.0 == param.name).map(|other| other.1);
        let value = other.unwrap_or_else(|| parse(param.dimension, param.default.expect("it has a default")));
        (param.name, value)
    };
    let params = Params(model.all_params().map(default).collect());
    let (path, pcie, routes, decoders) = (name.to_owned(), Vec::new(), Vec::new(), Vec::new());
    let site = Site { path, seed: 1, pcie, target: None, routes, memory: None, decoders };
    model.component(&params, &site).expect("it is a component")
}

/// Requests per CPU-second, events for each, GB/s simulated, and the share that hit.
fn run(case: &'static Case, requests: u64) -> [f64; 4] {
    let mut builder = Builder::new();
    let at = vec![u64::MAX - 4095; OUTSTANDING as usize];
    let host = Host { random: Stream::new(1, "host", "lines"), case, at, done: 0 };
    let host = builder.add("host", Box::new(host));
    let spec = CxlLinkSpec::new(Generation::Gen5, Width::X8);
    let link = builder.add_foreseeing("link", Box::new(CxlLink::new("link", 1, spec)));
    let others = [
        ("initial", Value::Choice("warm")),
        ("initial.size", Value::Size(Bytes(case.working_set))),
        ("cache.hashed", Value::Flag(false)),
    ];
    let hybrid = builder.add("hybrid", device("cxl-hybrid", &others));
    let disk = builder.add("disk", device("fixed-latency-disk", &[("parallelism", Value::Count(512))]));
    builder.join((host, Port(0)), (link, CxlLink::HOST));
    builder.join((link, CxlLink::DEVICE), (hybrid, Port(0)));
    builder.join((hybrid, Port(1)), (disk, Port(0)));
    let mut kernel = builder.seal();
    let done = |kernel: &mut Kernel| kernel.component::<Host>(host).map_or(0, |host| host.done);
    let until = |kernel: &mut Kernel, requests: u64| {
        while done(kernel) < requests {
            kernel.run_until(kernel.now() + Span::from_us(100));
        }
        (done(kernel), kernel.events(), kernel.now(), cpu_seconds())
    };
    let begin = until(&mut kernel, requests / 10);
    let end = until(&mut kernel, requests + requests / 10);
    let lines = (end.0 - begin.0) as f64;
    let simulated = (end.2 - begin.2).as_ps() as f64;
    let now = Instant::from_ps(end.2.as_ps());
    let lived = kernel.component::<CxlHybrid>(hybrid).and_then(|hybrid| hybrid.lived(now));
    let hits = lived.and_then(|lived| lived.cache.hit_rate()).unwrap_or(0.0);
    let events = (end.1 - begin.1) as f64 / lines;
    [lines / (end.3 - begin.3), events, lines * 64.0 / simulated * 1e3, hits]
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, requests] = arguments[..] {
        let case = &CASES[case as usize];
        let [rate, events, ..] = run(case, requests);
        println!("{}: {:.3} M per CPU-second, {events:.2} events each", case.name, rate / 1e6);
        return;
    }
    println!("lines of 64 B per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    for case in &CASES {
        let runs: Vec<[f64; 4]> = (0..ROUNDS).map(|_| run(case, REQUESTS)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run[0] / 1e6).collect());
        let [_, events, gigabytes, hits] = runs[0];
        println!(
            "{:34} {rate:6.3} [{least:.3} .. {most:.3}] M, {events:.2} events each, {gigabytes:.3} GB/s, {:.1} % hits",
            case.name,
            hits * 100.0
        );
    }
    println!("\npeak memory {:.0} MB", peak_rss_mb());
}
