//! The FIFO chain: a source with exponential gaps, three servers, a sink. The same work as `peers`.

use crate::clock::cpu_seconds;
use lanetwin_kernel::{Builder, Component, Content, Context, Observe, Port, Stream};
use lanetwin_units::{Instant, Span};

#[derive(Clone, Copy)]
struct Packet {
    born: Instant,
}

impl Content for Packet {
    fn content(&self) -> u64 {
        self.born.as_ps()
    }
}

const OUT: Port = Port(0);
const MEAN_GAP: Span = Span::from_ns(1111);
const SERVICE: Span = Span::from_ns(1000);

struct Source {
    left: u64,
    random: Stream,
}

impl Component<Packet> for Source {
    fn start(&mut self, cx: &mut Context<'_, Packet>) {
        cx.wake_at(Instant::from_ps(1000), 0);
    }
    fn receive(&mut self, _: Port, _: Packet, _: &mut Context<'_, Packet>) {}
    fn wake(&mut self, _: u32, cx: &mut Context<'_, Packet>) {
        cx.send(OUT, Span::ZERO, Packet { born: cx.now() });
        self.left -= 1;
        if self.left > 0 {
            cx.wake_at(cx.now() + self.random.exponential(MEAN_GAP), 0);
        }
    }
}

/// Serves one packet at a time, in the order of arrival; its queue has no limit.
struct Server {
    free: Instant,
}

impl Component<Packet> for Server {
    fn receive(&mut self, _: Port, packet: Packet, cx: &mut Context<'_, Packet>) {
        self.free = self.free.max(cx.now()) + SERVICE;
        cx.send_at(OUT, self.free, packet);
    }
}

#[derive(Default)]
struct Sink {
    packets: u64,
    latency: u64,
}

impl Component<Packet> for Sink {
    fn receive(&mut self, _: Port, packet: Packet, cx: &mut Context<'_, Packet>) {
        self.packets += 1;
        self.latency += (cx.now() - packet.born).as_ps();
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

/// What a run of the chain showed.
pub struct Chain {
    /// Millions of packet-hops (three for each packet) per CPU-second.
    pub hops_per_cpu_s: f64,
    /// Mean latency \[ns\], to see that the same was simulated.
    pub mean_latency_ns: f64,
}

/// Runs `packets` packets through the chain.
pub fn chain(packets: u64) -> Chain {
    let mut builder = Builder::new();
    let source =
        builder.add("source", Box::new(Source { left: packets, random: Stream::new(1, "source", "gaps") }));
    let servers =
        [0, 1, 2].map(|i| builder.add(format!("server{i}"), Box::new(Server { free: Instant::ZERO })));
    let sink = builder.add("sink", Box::new(Sink::default()));
    let path = [source, servers[0], servers[1], servers[2], sink];
    for pair in path.windows(2) {
        builder.connect((pair[0], OUT), (pair[1], Port(1)));
    }
    let mut kernel = builder.seal_observing(Observe { digest: false, recent: 0 });
    let before = cpu_seconds();
    kernel.run_until(Instant::NEVER);
    let cpu = cpu_seconds() - before;
    let sink = kernel.component::<Sink>(sink).expect("the sink is a sink");
    assert_eq!(sink.packets, packets, "every packet arrives");
    Chain {
        hops_per_cpu_s: 3.0 * packets as f64 / cpu / 1e6,
        mean_latency_ns: sink.latency as f64 / packets as f64 / 1e3,
    }
}
