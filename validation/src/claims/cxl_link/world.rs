//! The world of the claim: a generator of lines, a CXL link, an expander.

use crate::experiment;
use lanetwin_kernel::{Component, Port, Stream};
use lanetwin_plan::{ComponentPlan, check};
use lanetwin_ports::{Builder, Context, CxlLink, CxlLinkSpec, Line, Message, Operation, Params, Site, Value};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Generation, Instant, Span, Width};
use std::path::Path;

/// What the saturated rows say of how many lines are outstanding, by Little's law.
pub const OUTSTANDING: u32 = 256;
/// Lines are drawn from this many bytes.
const FOOTPRINT: u64 = 8 << 30;
/// In so many lines the share of reads is exact.
const BLOCK: u64 = 50;

/// Where lines are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addresses {
    /// Anywhere.
    Random,
    /// One after another.
    Sequential,
}

/// A machine under test.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The link.
    pub link: CxlLinkSpec,
    expander: ComponentPlan,
    /// Where lines are.
    pub addresses: Addresses,
}

impl Machine {
    /// An x8 link of 32 GT/s and an expander, both as they are by default, but for what [`Machine::set`] says.
    pub fn new() -> Self {
        let text = "about: An expander.\nmachine:\n  host: {model: memory-host}\n  exp: {model: cxl-expander}\n\
                    links:\n  slot: {from: host, to: exp, width: x8}\nworkloads:\n  load:\n    \
                    memory: {working-set: 1GiB, placement: exp, lines: 1000}\n    on: host\n";
        let checked = check(Path::new("expander.yaml"), text, &[], experiment::catalogue());
        let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
        let expander = plan.variants[0].machine.iter().find(|component| component.name == "exp").cloned();
        Self::of(expander.expect("the scenario has one"))
    }
    /// The same link, and this expander.
    pub fn of(expander: ComponentPlan) -> Self {
        let link = CxlLinkSpec::new(Generation::Gen5, Width::X8);
        Self { link, expander, addresses: Addresses::Random }
    }
    /// The same, with another value of a parameter of the expander.
    pub fn set(&self, name: &'static str, value: Value) -> Self {
        let mut changed = self.clone();
        let old = changed.expander.params.0.insert(name, value);
        assert!(old.is_some(), "an expander has no {name}");
        changed
    }
    /// The parameters of the expander.
    pub const fn params(&self) -> &Params {
        &self.expander.params
    }
}

/// What is asked of a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Reads among the lines \[%\].
    pub read_pct: u64,
    /// A line every so often; none for as fast as the outstanding lines allow.
    pub period: Option<Span>,
    /// Lines in all; the first fifth and the last tenth are not measured.
    pub lines: u64,
    /// For the addresses and the order of reads and writes.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// The mean time from a read being handed to the link to its data being handed back \[ns\].
    pub latency_ns: f64,
    /// Lines moved \[GB/s\].
    pub bandwidth: f64,
    /// The run.
    pub digest: Digest,
}

/// Lets a load run.
pub fn run(machine: &Machine, load: Load) -> Measured {
    let mut builder = Builder::new();
    let generator = builder.add("generator", Box::new(Generator::new(machine.addresses, load)));
    let link = builder.add_foreseeing("link", Box::new(CxlLink::new("link", load.seed, machine.link)));
    let site = Site::alone("expander", load.seed);
    let expander = machine.expander.model.component(&machine.expander.params, &site);
    let expander = builder.add("expander", expander.expect("an expander is a component"));
    builder.join((generator, Port(0)), (link, CxlLink::HOST));
    builder.join((link, CxlLink::DEVICE), (expander, Port(0)));
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let digest = Digest(kernel.digest());
    let generator = kernel.component::<Generator>(generator).expect("the generator");
    assert_eq!(generator.answered, load.lines, "every line is answered");
    Measured {
        latency_ns: generator.latency_ps as f64 / generator.reads.max(1) as f64 / 1e3,
        bandwidth: (generator.until - generator.unmeasured) as f64 * 64.0
            / (generator.last - generator.first).as_ps() as f64
            * 1e3,
        digest,
    }
}

/// Asks for lines at a steady rate, or as soon as one is answered.
struct Generator {
    load: Load,
    addresses: Addresses,
    random: Stream,
    /// Reads and writes left in this block.
    left: [u64; 2],
    asked: u64,
    free: Vec<u32>,
    open: Vec<Option<(Instant, Operation)>>,
    answered: u64,
    unmeasured: u64,
    until: u64,
    first: Instant,
    last: Instant,
    reads: u64,
    latency_ps: u64,
}

impl Generator {
    fn new(addresses: Addresses, load: Load) -> Self {
        Self {
            load,
            addresses,
            random: Stream::new(load.seed, "generator", "lines"),
            left: [0; 2],
            asked: 0,
            free: (0..OUTSTANDING).collect(),
            open: vec![None; OUTSTANDING as usize],
            answered: 0,
            unmeasured: load.lines / 5,
            until: load.lines / 10 * 9,
            first: Instant::ZERO,
            last: Instant::ZERO,
            reads: 0,
            latency_ps: 0,
        }
    }
    fn ask(&mut self, cx: &mut Context<'_>) {
        if self.asked == self.load.lines {
            return;
        }
        let Some(handle) = self.free.pop() else { return };
        if self.left == [0; 2] {
            let reads = self.load.read_pct * BLOCK / 100;
            self.left = [reads, BLOCK - reads];
        }
        let read = self.random.below(self.left[0] + self.left[1]) < self.left[0];
        self.left[usize::from(!read)] -= 1;
        let operation = if read { Operation::Read } else { Operation::Write };
        let line = match self.addresses {
            Addresses::Random => self.random.below(FOOTPRINT / 64),
            Addresses::Sequential => self.asked % (FOOTPRINT / 64),
        };
        self.asked += 1;
        self.open[handle as usize] = Some((cx.now(), operation));
        cx.send(Port(0), Span::ZERO, Message::Line(Line { operation, handle, address: line * 64 }));
    }
}

impl Component<Message> for Generator {
    fn start(&mut self, cx: &mut Context<'_>) {
        match self.load.period {
            Some(_) => cx.wake_at(cx.now(), 0),
            None => (0..OUTSTANDING).for_each(|_| self.ask(cx)),
        }
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        self.ask(cx);
        if let Some(period) = self.load.period
            && self.asked < self.load.lines
        {
            cx.wake_at(cx.now() + period, 0);
        }
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::LineDone(done) = message else { panic!("a generator got {message:?}") };
        let (asked, operation) = self.open[done.handle as usize].take().expect("an answer to a line");
        self.free.push(done.handle);
        self.answered += 1;
        if self.answered == self.unmeasured {
            self.first = cx.now();
        }
        if self.answered == self.until {
            self.last = cx.now();
        }
        if self.answered > self.unmeasured && self.answered <= self.until && operation == Operation::Read {
            self.reads += 1;
            self.latency_ps += (cx.now() - asked).as_ps();
        }
        if self.load.period.is_none() {
            self.ask(cx);
        }
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}
