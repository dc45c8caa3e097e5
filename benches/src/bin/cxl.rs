//! How many lines of 64 B a second: host, CXL link and a device, closed loop, every flit accounted; one thread. The device has a fixed latency, or
//! is an expander with DDR5 by its timing tables.
//!
//! `cargo run --release -p lanetwin-benches --bin cxl` prints requests per CPU-second and kernel events for each, with what the link was busy
//! with. With arguments `CASE REQUESTS` it runs one case once, for a profiler.

#[path = "../clock.rs"]
mod clock;

use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_models::find;
use lanetwin_ports::{
    Builder, Context, CxlLink, CxlLinkSpec, Kernel, Line, LineDone, Message, Operation, Param, Params, Site,
    Status,
};
use lanetwin_scenario::quantity;
use lanetwin_units::{Generation, Instant, Span, Width};

const ROUNDS: usize = 5;
const REQUESTS: u64 = 3_000_000;
const OUTSTANDING: u32 = 256;

/// A case: its name, the reads among so many requests, and whether the device is an expander.
const CASES: [(&str, u64, u64, bool); 5] = [
    ("all reads", 1, 1, false),
    ("2 reads : 1 write", 2, 3, false),
    ("1 read : 1 write", 1, 2, false),
    ("expander, all reads", 1, 1, true),
    ("expander, 2R1W", 2, 3, true),
];

/// Keeps so many lines outstanding, at random addresses of 16 GiB.
struct Host {
    random: Stream,
    reads: u64,
    of: u64,
    done: u64,
}

impl Host {
    fn next(&mut self, handle: u32, cx: &mut Context<'_>) {
        let bits = self.random.bits();
        let read = ((bits >> 32) * self.of) >> 32 < self.reads;
        let operation = if read { Operation::Read } else { Operation::Write };
        let line = Line { operation, handle, address: (bits & 0xfff_ffff) << 6 };
        cx.send(Port(0), Span::ZERO, Message::Line(line));
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

/// An expander as its parameters are by default.
fn expander() -> Box<dyn Component<Message>> {
    let model = find("cxl-expander").expect("it is on the shelf");
    let value = |param: &'static Param| {
        let text = param.default.expect("every parameter has a default");
        (param.name, quantity::read(param.dimension, text).expect("a value").0)
    };
    let site = Site {
        path: "device".into(),
        seed: 1,
        pcie: Vec::new(),
        target: None,
        routes: Vec::new(),
        memory: None,
        decoders: Vec::new(),
    };
    model.component(&Params(model.all_params().map(value).collect()), &site).expect("a component")
}

/// Requests per CPU-second, events for each, GB/s simulated, and the shares of slots in use, there and back.
fn run(case: usize, requests: u64) -> [f64; 5] {
    let (_, reads, of, expands) = CASES[case];
    let mut builder = Builder::new();
    let host =
        builder.add("host", Box::new(Host { random: Stream::new(1, "host", "lines"), reads, of, done: 0 }));
    let spec = CxlLinkSpec::new(Generation::Gen5, Width::X8);
    let link = builder.add_foreseeing("link", Box::new(CxlLink::new("link", 1, spec)));
    let device = builder.add("device", if expands { expander() } else { Box::new(Device) });
    builder.join((host, Port(0)), (link, CxlLink::HOST));
    builder.join((link, CxlLink::DEVICE), (device, Port(0)));
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
    let use_ = kernel.component::<CxlLink>(link).map(|link| link.report(Instant::from_ps(end.2.as_ps())));
    let [there, back] = use_.map_or([0.0; 2], |both| both.map(|one| one.slot_utilisation()));
    let events = (end.1 - begin.1) as f64 / lines;
    [lines / (end.3 - begin.3), events, lines * 64.0 / simulated * 1e3, there, back]
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, requests] = arguments[..] {
        let [rate, events, ..] = run(case as usize, requests);
        println!("{}: {:.3} M per CPU-second, {events:.2} events each", CASES[case as usize].0, rate / 1e6);
        return;
    }
    println!("lines of 64 B per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    for (case, (name, ..)) in CASES.iter().enumerate() {
        let runs: Vec<[f64; 5]> = (0..ROUNDS).map(|_| run(case, REQUESTS)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run[0] / 1e6).collect());
        let [_, events, gigabytes, there, back] = runs[0];
        println!(
            "{name:20} {rate:6.3} [{least:.3} .. {most:.3}] M, {events:.2} events each, {gigabytes:.3} GB/s, \
             slots in use M2S {:.1} %, S2M {:.1} %",
            there * 100.0,
            back * 100.0
        );
    }
    println!("\npeak memory {:.0} MB", peak_rss_mb());
}
