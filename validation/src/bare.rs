//! Simulated links and switches without hosts and devices, whose only limit is the wire, for comparison with
//! arithmetic.
//!
//! No scenario can describe them: both directions of a link busy with writes, more credits than needed, DLLPs as an
//! application note of 2009 counts them; packets that enter a switch through several ports at the same instant.

use crate::experiment::{of_rows, row};
use crate::spec::Ask;
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_pcie::link::{
    Attach, CLASSES, Core, Credits, Direction, DllpMode, Dllps, Drain, EndpointId, EndpointSpec, Forwarding,
    OutputBuffer, Skp, SwitchSpec,
};
use lanetwin_pcie::spec::timing::{
    Clocking, SkpSchedule, ack_coalescing, ack_latency_limit, update_fc_coalescing,
};
use lanetwin_pcie::spec::{AddressWidth, Mps, TlpKind};
use lanetwin_ports::{Attributes, Builder, Context, LinksBuilder, Message, Tlps};
use lanetwin_stats::results::{Results, Row};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Width};
use std::any::Any;

/// Time from the decision to write until the write is eligible.
const ISSUE: Span = Span::from_ns(20);
const PCIE: Port = Port(0);
const WIDTHS: [Width; 5] = [Width::X1, Width::X2, Width::X4, Width::X8, Width::X16];
/// To saturate a link: TLPs in a train, and trains that wait for the wire.
const TRAIN: (u16, u32) = (32, 8);
const FROM_FIRST_TO_LAST: &str = "first bit in to last bit out";

/// The rows of a claim about links and switches without hosts and devices.
pub(crate) fn results(ask: &Ask) -> Results {
    of_rows(
        "bare links",
        match ask {
            Ask::ApplicationNote => application_note(),
            Ask::Ceilings => ceilings(),
            _ => forwarding(),
        },
    )
}

/// Payloads of 64 B to 4 KiB over Gen2 links: with framing only, or also with an Ack and an UpdateFC for every 4 TLPs.
fn application_note() -> Vec<Row> {
    // DLLPs are sent together once in this period, which is that of SKP ordered sets; these have no duration here
    let epoch = Span::from_us(1);
    let mut found = Vec::new();
    for (figure, width) in
        ["framing", "dllps"].into_iter().flat_map(|figure| WIDTHS[..3].iter().map(move |w| (figure, *w)))
    {
        let bare = Direction::bare(LinkRate::pcie(Generation::Gen2, width));
        let direction = if figure == "framing" {
            bare
        } else {
            let dllps = Dllps { mode: DllpMode::Lump, ack_every: 4, update_every: 4, delay: Span::ZERO };
            Direction { skp: Some(Skp { period: epoch.as_ticks().0, duration: 0 }), dllps, ..bare }
        };
        for payload in PAYLOADS {
            let both = plateau(payload, AddressWidth::Bits32, direction, (epoch * 1000, epoch * 20_000));
            let names = [figure, &width.to_string(), &format!("{payload} B"), "payload throughput", "Gb/s"];
            found.push(row(names, both));
        }
    }
    found
}

const PAYLOADS: [u16; 7] = [64, 128, 256, 512, 1024, 2048, 4096];

/// Writes of full MPS over links of every generation and width, with DLLPs and SKP ordered sets.
fn ceilings() -> Vec<Row> {
    // more credits than a round trip on the fastest link needs
    let ample =
        Credits { header: [Some(2047); CLASSES], data: [Some(32_767); CLASSES], latency: Span::from_ns(60) };
    let mut found = Vec::new();
    for (generation, width) in Generation::ALL.into_iter().flat_map(|g| WIDTHS.map(|width| (g, width))) {
        for payload in [128, 256, 512] {
            let mps = Mps::from_bytes(payload.into()).expect("128, 256 and 512 are sizes of the standard");
            let skp = SkpSchedule::new(generation, Clocking::Common);
            let ack = Span::from_ps(ack_latency_limit(generation, width, mps).as_ps_ceil().as_ps());
            let dllps = Dllps {
                mode: DllpMode::Lump,
                ack_every: ack_coalescing(generation, width, mps) as u32,
                update_every: update_fc_coalescing(generation, width, mps) as u32,
                delay: ack,
            };
            let direction = Direction {
                propagation: Span::from_ns(1),
                credits: ample,
                replay_buffer: Some(1 << 20),
                ack_latency: ack,
                skp: Some(Skp { period: skp.period().0, duration: skp.length().0 }),
                dllps,
                ..Direction::bare(LinkRate::pcie(generation, width))
            };
            // the measurement covers so many SKPs that one more or less changes the result by far less than the bar
            let period = skp.period().as_ps_ceil().as_ps();
            let times = (Span::from_ps(16 * period), Span::from_ps(512 * period));
            let both = plateau(payload, AddressWidth::Bits64, direction, times);
            let (variant, width, case) =
                (generation.to_string(), width.to_string(), format!("MPS {payload} B"));
            found.push(row([&variant, &width, &case, "payload throughput", "Gb/s"], both / 2.0));
        }
    }
    found
}

/// Payload throughput of a saturated link, the sum of both directions \[Gb/s\]: the trains between the first and the
/// last delivery in the measurement, divided by the time between these.
fn plateau(
    bytes: u16,
    addresses: AddressWidth,
    direction: Direction,
    (warm_up, measure): (Span, Span),
) -> f64 {
    let mut links = LinksBuilder::new();
    let drain = Drain::ByLink { latency: Span::from_ns(20), per_tlp: Span::ZERO, payload_rate: None };
    let ends = [(); 2].map(|()| links.endpoint(EndpointSpec { lookahead: ISSUE, drain }, addresses));
    let attached = (Attach::Endpoint(ends[0]), Attach::Endpoint(ends[1]));
    links.link(("link", "left", "right"), attached, direction, direction);
    let from = Instant::ZERO + warm_up;
    let (count, waiting) = TRAIN;
    let device = |me: usize| Device {
        waiting,
        again: true,
        from,
        ..Device::new((ends[me], ends[1 - me]), (bytes, count))
    };
    let devices = run(links, [0, 1].map(device).into(), from + measure);
    let delivered = |device: &Device| {
        let (first, last) = device.first.zip(device.last).expect("measuring lasts for many trains");
        (device.trains * u64::from(count) * u64::from(bytes) * 8) as f64 * 1e3
            / last.since(first).as_ps() as f64
    };
    devices.iter().map(delivered).sum()
}

/// One packet through an idle switch, and the last of four that arrive at once. The cores are fast enough to change
/// nothing; with them, only the width pairs and sizes are run for which they could matter most.
fn forwarding() -> Vec<Row> {
    const OUTPUT: OutputBuffer = OutputBuffer { tlps: 16, data: 16 * 256 };
    let cores = [
        ("", None),
        (", crossbar ×4", Some(Core::Crossbar { speed_up: 4, output: OUTPUT })),
        (", shared bus ×8", Some(Core::SharedBus { speed_up: 8, output: OUTPUT })),
        (", shared memory ×8", Some(Core::SharedMemory { speed_up: 8 })),
    ];
    let uneven =
        [(Width::X4, Width::X8), (Width::X8, Width::X4), (Width::X1, Width::X16), (Width::X16, Width::X1)];
    let pairs = || WIDTHS.map(|width| (width, width)).into_iter().chain(uneven);
    let mut found = Vec::new();
    for ((name, core), widths) in cores.into_iter().flat_map(|core| pairs().map(move |widths| (core, widths)))
    {
        let is_probe = core.is_none() || widths.0 != widths.1 || widths.0 == Width::X4;
        let sizes = PAYLOADS.into_iter().filter(|bytes| core.is_none() || [64, 512, 4096].contains(bytes));
        for bytes in sizes.filter(|_| is_probe) {
            for (how, forwarding) in
                [("cut-through", Forwarding::CutThrough), ("store-and-forward", Forwarding::StoreAndForward)]
            {
                for (which, sources) in [("one packet", 1), ("last of 4", 4)] {
                    let last = incast((bytes, sources), widths, (forwarding, core));
                    let (variant, ports) = (format!("{how}{name}"), format!("{} to {}", widths.0, widths.1));
                    let names = [&variant, &ports, &format!("{bytes} B, {which}"), FROM_FIRST_TO_LAST, "ns"];
                    found.push(row(names, last.as_ps() as f64 / 1e3));
                }
            }
        }
    }
    found
}

/// Sends one write from each source through an idle switch with Gen4 links. Returns the time from the instant at which
/// all are eligible until the last has arrived completely. The links have no propagation delay, and a packet that need
/// not wait enters the switch at that instant.
fn incast(
    (bytes, sources): (u16, usize),
    widths: (Width, Width),
    (forwarding, core): (Forwarding, Option<Core>),
) -> Span {
    let mut links = LinksBuilder::new();
    let drain = Drain::ByLink { latency: Span::ZERO, per_tlp: Span::ZERO, payload_rate: None };
    let switch = links.switch(SwitchSpec { core, ..SwitchSpec::plain(Span::from_ns(120), forwarding) });
    let mut port = |name: &str, width| {
        let end = links.endpoint(EndpointSpec { lookahead: ISSUE, drain }, AddressWidth::Bits64);
        let bare = Direction::bare(LinkRate::pcie(Generation::Gen4, width));
        links.link((name, name, "switch"), (Attach::Endpoint(end), Attach::Switch(switch)), bare, bare);
        end
    };
    let to = port("target", widths.1);
    let source = |i| {
        let me = port(&format!("source{i}"), widths.0);
        Device { waiting: 1, ..Device::new((me, to), (bytes, 1)) }
    };
    let senders: Vec<Device> = (0..sources).map(source).collect();
    let target = Device::new((to, to), (bytes, 1));
    let devices = run(links, std::iter::once(target).chain(senders).collect(), Instant::NEVER);
    assert_eq!(devices[0].trains + 1, sources as u64, "every write arrives");
    devices[0].last.expect("there is a source").since(Instant::ZERO + ISSUE)
}

/// Runs devices on links until an instant. Returns the devices.
fn run(links: LinksBuilder, devices: Vec<Device>, until: Instant) -> Vec<Device> {
    let mut builder = Builder::new();
    let links = builder.add_foreseeing("links", Box::new(links.build(1).expect("links that fit together")));
    let add = |device: Device| {
        let (me, id) = (device.me.0, builder.add(format!("device{}", device.me.0), Box::new(device)));
        builder.join((id, PCIE), (links, Port(me)));
        id
    };
    let ids: Vec<ComponentId> = devices.into_iter().map(add).collect();
    let mut kernel = builder.seal();
    kernel.run_until(until);
    let device = |id| *kernel.component::<Device>(id).expect("what was added is there");
    ids.into_iter().map(device).collect()
}

/// A device that keeps trains of writes waiting for the wire, and counts the trains that it receives.
#[derive(Clone, Copy)]
struct Device {
    me: EndpointId,
    to: EndpointId,
    bytes: u16,
    count: u16,
    waiting: u32,
    /// Whether another train is handed in when one has left.
    again: bool,
    /// The instant from which deliveries are counted.
    from: Instant,
    /// The first and the last delivery that were counted, and the trains after the first.
    first: Option<Instant>,
    last: Option<Instant>,
    trains: u64,
}

impl Device {
    const fn new((me, to): (EndpointId, EndpointId), (bytes, count): (u16, u16)) -> Self {
        let (first, last) = (None, None);
        Self { me, to, bytes, count, waiting: 0, again: false, from: Instant::ZERO, first, last, trains: 0 }
    }
    fn write(&self, cx: &mut Context<'_>) {
        let attributes = if self.again { Attributes::NOTIFY.and(Attributes::LAST) } else { Attributes::NONE };
        let Self { me: from, to, bytes, count, .. } = *self;
        let tlps = Tlps { kind: TlpKind::MWr, attributes, count, bytes, from, to, handle: 0, address: 0 };
        cx.send(PCIE, ISSUE, Message::Tlps(tlps));
    }
}

impl Component<Message> for Device {
    fn start(&mut self, cx: &mut Context<'_>) {
        (0..self.waiting).for_each(|_| self.write(cx));
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Departed { .. } => self.write(cx),
            Message::Tlps(tlps) => {
                assert_eq!((tlps.count, tlps.bytes), (self.count, self.bytes), "a train arrives as one");
                if cx.now() >= self.from {
                    self.trains += u64::from(self.first.is_some());
                    self.first.get_or_insert(cx.now());
                    self.last = Some(cx.now());
                }
            }
            other => unreachable!("the links send TLPs and notices of departure, not {other:?}"),
        }
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
