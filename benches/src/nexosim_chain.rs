//! The chain of `fifo` in nexosim 1.0: the same gaps, the same servers, one thread.
//!
//! nexosim counts whole nanoseconds, so each gap is rounded to the nearest one, at least 1. Its servers decide a
//! departure when a packet arrives, as those of `fifo` do; each hop is then two calls of a model, an arrival and a
//! departure.

use crate::clock::cpu_seconds;
use lanetwin_kernel::Stream;
use lanetwin_units::Span;
use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const MEAN_GAP: Span = Span::from_ns(1111);
const SERVICE_NS: u64 = 1000;
const FIRST_NS: u64 = 1;

/// When a packet was born \[ns\].
type Packet = u64;

/// The gaps between packets; those of `fifo`, in whole nanoseconds.
struct Gaps(Stream);

impl Default for Gaps {
    fn default() -> Self {
        Self(Stream::new(1, "source", "gaps"))
    }
}

impl Gaps {
    fn next_ns(&mut self) -> u64 {
        ((self.0.exponential(MEAN_GAP).as_ps() + 500) / 1000).max(1)
    }
}

fn now_ns(cx: &Context<impl Model>) -> u64 {
    let now = cx.time().duration_since(MonotonicTime::EPOCH);
    now.as_secs() * 1_000_000_000 + u64::from(now.subsec_nanos())
}

#[derive(Serialize, Deserialize)]
struct Source {
    out: Output<Packet>,
    left: u64,
    #[serde(skip)]
    gaps: Gaps,
}

#[Model]
impl Source {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        Self::fire_after(FIRST_NS, cx);
    }

    #[nexosim(schedulable)]
    async fn fire(&mut self, _: (), cx: &Context<Self>) {
        self.out.send(now_ns(cx)).await;
        self.left -= 1;
        if self.left > 0 {
            Self::fire_after(self.gaps.next_ns(), cx);
        }
    }

    fn fire_after(gap_ns: u64, cx: &Context<Self>) {
        cx.schedule_event(Duration::from_nanos(gap_ns), schedulable!(Self::fire), ())
            .expect("a gap is at least 1 ns");
    }
}

/// Serves one packet at a time, in the order of arrival; its queue has no limit.
#[derive(Serialize, Deserialize, Default)]
struct Server {
    out: Output<Packet>,
    free_ns: u64,
}

#[Model]
impl Server {
    fn arrive(&mut self, packet: Packet, cx: &Context<Self>) {
        let now = now_ns(cx);
        self.free_ns = self.free_ns.max(now) + SERVICE_NS;
        let wait = Duration::from_nanos(self.free_ns - now);
        cx.schedule_event(wait, schedulable!(Self::depart), packet).expect("a service takes time");
    }

    #[nexosim(schedulable)]
    async fn depart(&mut self, packet: Packet) {
        self.out.send(packet).await;
    }
}

/// What arrived, for a reader outside the simulation.
#[derive(Default)]
struct Tally {
    packets: AtomicU64,
    latency_ns: AtomicU64,
}

#[derive(Serialize, Deserialize)]
struct Sink {
    #[serde(skip)]
    tally: Arc<Tally>,
}

#[Model]
impl Sink {
    fn receive(&mut self, packet: Packet, cx: &Context<Self>) {
        self.tally.packets.fetch_add(1, Relaxed);
        self.tally.latency_ns.fetch_add(now_ns(cx) - packet, Relaxed);
    }
}

/// The sum of the latencies \[ns\] of all packets, without a simulator: each server's departures follow from its
/// arrivals.
fn latency_by_recurrence(packets: u64) -> u64 {
    let mut gaps = Gaps::default();
    let mut born = FIRST_NS;
    let mut free = [0; 3];
    let mut sum = 0;
    for _ in 0..packets {
        let mut at = born;
        for free in &mut free {
            *free = at.max(*free) + SERVICE_NS;
            at = *free;
        }
        sum += at - born;
        born += gaps.next_ns();
    }
    sum
}

/// Sends `packets` packets through the chain; millions of packet-hops (three for each packet) per CPU-second.
///
/// Panics unless every packet arrives and the sum of their latencies is, to the nanosecond, that of the recurrence.
pub fn chain(packets: u64) -> f64 {
    let tally = Arc::new(Tally::default());
    let mut source = Source { out: Output::default(), left: packets, gaps: Gaps::default() };
    let mut servers = [Server::default(), Server::default(), Server::default()];
    let sink = Sink { tally: Arc::clone(&tally) };

    let inboxes = [Mailbox::new(), Mailbox::new(), Mailbox::new()];
    let sink_inbox = Mailbox::new();
    source.out.connect(Server::arrive, &inboxes[0]);
    servers[0].out.connect(Server::arrive, &inboxes[1]);
    servers[1].out.connect(Server::arrive, &inboxes[2]);
    servers[2].out.connect(Sink::receive, &sink_inbox);

    let mut bench = SimInit::with_num_threads(1).add_model(source, Mailbox::new(), "source");
    for ((server, inbox), name) in servers.into_iter().zip(inboxes).zip(["server0", "server1", "server2"]) {
        bench = bench.add_model(server, inbox, name);
    }
    let bench = bench.add_model(sink, sink_inbox, "sink");
    let mut simulation = bench.init(MonotonicTime::EPOCH).expect("five models, all connected");

    let before = cpu_seconds();
    simulation.run().expect("no model panics or blocks");
    let cpu = cpu_seconds() - before;
    assert_eq!(tally.packets.load(Relaxed), packets, "every packet arrives");
    assert_eq!(tally.latency_ns.load(Relaxed), latency_by_recurrence(packets), "the same was simulated");
    3.0 * packets as f64 / cpu / 1e6
}
