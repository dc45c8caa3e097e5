//! A host that always has so many lines outstanding at a CXL link, and a run of it.

use crate::clock::cpu_seconds;
use lanetwin_document::quantity;
use lanetwin_kernel::{Component, ComponentId, Port, Stream};
use lanetwin_models::find;
use lanetwin_ports::{
    Builder, Context, CxlLink, CxlLinkSpec, Kernel, Line, Message, Operation, Param, Params, Site, Value,
};
use lanetwin_units::{Generation, Span, Width};

/// How many lines are outstanding.
pub const OUTSTANDING: u32 = 256;

/// What a line does, and where.
pub type Next = Box<dyn FnMut(&mut Stream, u32) -> (Operation, u64)>;

/// Asks for the next line as soon as one is answered.
struct Host {
    random: Stream,
    next: Next,
    done: u64,
}

impl Host {
    fn ask(&mut self, handle: u32, cx: &mut Context<'_>) {
        let (operation, address) = (self.next)(&mut self.random, handle);
        cx.send(Port(0), Span::ZERO, Message::Line(Line { operation, handle, address }));
    }
}

impl Component<Message> for Host {
    fn start(&mut self, cx: &mut Context<'_>) {
        (0..OUTSTANDING).for_each(|handle| self.ask(handle, cx));
    }
    fn receive(&mut self, _port: Port, message: Message, cx: &mut Context<'_>) {
        if let Message::LineDone(done) = message {
            self.done += 1;
            self.ask(done.handle, cx);
        }
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

/// A machine whose host goes round.
pub struct ClosedLoop {
    /// The machine.
    pub kernel: Kernel,
    link: ComponentId,
    host: ComponentId,
}

/// What a closed loop has done in its measured part.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Lines per CPU-second.
    pub rate: f64,
    /// How many there were, those before included.
    pub lines: f64,
    /// Kernel events for each.
    pub events: f64,
    /// What they moved in simulated time \[GB/s\].
    pub gigabytes: f64,
    /// The shares of slots in use, there and back.
    pub slots: [f64; 2],
}

impl ClosedLoop {
    /// A host, a link (Gen5 x8), and what `device` adds, which is joined to the link.
    pub fn new(next: Next, device: impl FnOnce(&mut Builder) -> ComponentId) -> Self {
        let mut builder = Builder::new();
        let host = Host { random: Stream::new(1, "host", "lines"), next, done: 0 };
        let host = builder.add("host", Box::new(host));
        let spec = CxlLinkSpec::new(Generation::Gen5, Width::X8);
        let link = builder.add_foreseeing("link", Box::new(CxlLink::new("link", 1, spec)));
        let device = device(&mut builder);
        builder.join((host, Port(0)), (link, CxlLink::HOST));
        builder.join((link, CxlLink::DEVICE), (device, Port(0)));
        Self { kernel: builder.seal(), link, host }
    }
    fn until(&mut self, lines: u64) -> [f64; 4] {
        let done = |kernel: &mut Kernel, host| kernel.component::<Host>(host).map_or(0, |host| host.done);
        while done(&mut self.kernel, self.host) < lines {
            self.kernel.run_until(self.kernel.now() + Span::from_us(100));
        }
        let kernel = &mut self.kernel;
        let (done, events) = (done(kernel, self.host), kernel.events());
        [done as f64, events as f64, kernel.now().as_ps() as f64, cpu_seconds()]
    }
    /// Measures so many lines, after a tenth of them.
    pub fn measure(&mut self, lines: u64) -> Measured {
        let begin = self.until(lines / 10);
        let end = self.until(lines + lines / 10);
        let [lines, events, simulated, seconds] = [0, 1, 2, 3].map(|part| end[part] - begin[part]);
        let now = self.kernel.now();
        let link = self.kernel.component::<CxlLink>(self.link).expect("it was added");
        let slots = link.usage(now).map(|one| one.slot_utilisation());
        Measured {
            rate: lines / seconds,
            lines: end[0],
            events: events / lines,
            gigabytes: lines * 64.0 / simulated * 1e3,
            slots,
        }
    }
}

/// A device as its parameters are by default, but for some.
pub fn device(name: &str, others: &[(&str, Value)]) -> Box<dyn Component<Message>> {
    let model = find(name).expect("it is on the shelf");
    let value = |param: &'static Param| {
        let other = others.iter().find(|other| other.0 == param.name).map(|other| other.1);
        let default = || {
            let text = param.default.expect("every parameter has a default");
            quantity::read(param.dimension, text).expect("a value").0
        };
        (param.name, other.unwrap_or_else(default))
    };
    let params = Params(model.all_params().map(value).collect());
    model.component(&params, &Site::alone(name, 1)).expect("it is a component")
}
