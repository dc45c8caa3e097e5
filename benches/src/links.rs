//! Real links: 4 KiB writes from devices over a retimed x4 link, a switch and its uplink into a root complex.

use crate::clock::cpu_seconds;
use lanetwin_kernel::{Component, Context, Port};
use lanetwin_pcie::link::{
    Attach, Core, Credits, Direction, DllpMode, Dllps, Drain, EndpointId, EndpointSpec, Errors, Forwarding,
    OutputBuffer, Skp, SwitchSpec,
};
use lanetwin_pcie::spec::{AddressWidth, TlpKind};
use lanetwin_ports::{Attributes, Builder, Links, LinksBuilder, Message, Tlps};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Width};

const ISSUE: Span = Span::from_ns(100);
const PAYLOAD: u16 = 256;
const TLPS: u16 = 16;

/// A scene: so many devices, each with so many writes in flight, behind an uplink of this width.
pub struct Scene {
    pub devices: u16,
    pub depth: u32,
    pub uplink: Width,
    pub writes: u64,
    /// The core of the switch.
    pub core: Option<Core>,
}

/// The cores that are compared: a speed-up of 2 or more, and room for a round trip at each output.
pub const CROSSBAR: Core = Core::Crossbar { speed_up: 2, output: OUTPUT };
/// The same on a bus.
pub const SHARED_BUS: Core = Core::SharedBus { speed_up: 4, output: OUTPUT };
/// The same in a memory.
pub const SHARED_MEMORY: Core = Core::SharedMemory { speed_up: 4 };
const OUTPUT: OutputBuffer = OutputBuffer { tlps: 64, data: 1024 };

/// Keeps a number of 4 KiB writes in flight; the next one goes when one has arrived.
struct Device {
    me: EndpointId,
    root: EndpointId,
    depth: u32,
    left: u64,
}

impl Device {
    fn write(&mut self, cx: &mut Context<'_, Message>) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let tlps = Tlps {
            kind: TlpKind::MWr,
            attributes: Attributes::NONE,
            count: TLPS,
            bytes: PAYLOAD,
            from: self.me,
            to: self.root,
            handle: 0,
            address: 1 << 32,
        };
        cx.send(Port(0), ISSUE, Message::Tlps(tlps));
    }
}

impl Component<Message> for Device {
    fn start(&mut self, cx: &mut Context<'_, Message>) {
        for _ in 0..self.depth {
            self.write(cx);
        }
    }
    fn receive(&mut self, _: Port, _: Message, cx: &mut Context<'_, Message>) {
        self.write(cx);
    }
}

/// Tells a device that its write has arrived.
struct Root;

impl Component<Message> for Root {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_, Message>) {
        let Message::Tlps(tlps) = message else { unreachable!("only writes go to the root") };
        cx.send(Port(tlps.from.0), Span::from_ns(20), Message::Departed { handle: tlps.handle });
    }
}

/// One direction with everything that a real link has.
fn direction(width: Width, propagation: Span) -> Direction {
    let rate = LinkRate::pcie(Generation::Gen5, width);
    let block = Generation::Gen5.symbol().0 * 16;
    let ample = Some(1024);
    Direction {
        payload_max: PAYLOAD,
        propagation,
        credits: Credits {
            header: [Some(128), Some(128), None],
            data: [ample, ample, None],
            latency: Span::from_ns(60),
        },
        replay_buffer: Some(16384),
        ack_latency: Span::from_ns(80),
        skp: Some(Skp { period: 371 * block, duration: block }),
        dllps: Dllps { mode: DllpMode::Lump, ack_every: 2, update_every: 2, delay: Span::from_ns(20) },
        errors: Errors::NONE,
        ..Direction::bare(rate)
    }
}

/// Runs a scene; returns millions of TLP-hops per CPU-second and the digest of all departures.
pub fn run(scene: &Scene, tlp_by_tlp: bool) -> (f64, u64) {
    let endpoint = EndpointSpec {
        lookahead: ISSUE,
        drain: Drain::ByLink { latency: Span::from_ns(20), per_tlp: Span::ZERO, payload_rate: None },
    };
    let mut links = LinksBuilder::new();
    let plain = SwitchSpec::plain(Span::from_ns(100), Forwarding::CutThrough);
    let switch = links.switch(SwitchSpec { core: scene.core, ..plain });
    let root = links.endpoint(endpoint, AddressWidth::Bits64);
    let up = direction(scene.uplink, Span::from_ns(5));
    links.link(("up", "switch", "root"), (Attach::Switch(switch), Attach::Endpoint(root)), up, up);
    let retimed = direction(Width::X4, Span::from_ns(15));
    let devices: Vec<EndpointId> = (0..scene.devices)
        .map(|i| {
            let device = links.endpoint(endpoint, AddressWidth::Bits64);
            let ends = (Attach::Endpoint(device), Attach::Switch(switch));
            links.link((&format!("slot{i}"), "device", "switch"), ends, retimed, retimed);
            device
        })
        .collect();
    let mut links = links.build(1).expect("a tree");
    links.set_tlp_by_tlp(tlp_by_tlp);

    let mut builder = Builder::new();
    let links = builder.add_foreseeing("links", Box::new(links));
    let root_id = builder.add("root", Box::new(Root));
    builder.connect((links, Port(root.0)), (root_id, Port(100)));
    let each = scene.writes / u64::from(scene.devices);
    for &me in &devices {
        let device = Device { me, root, depth: scene.depth, left: each };
        let id = builder.add(format!("device{}", me.0), Box::new(device));
        builder.connect((id, Port(0)), (links, Port(me.0)));
        builder.connect((root_id, Port(me.0)), (id, Port(1)));
    }
    let mut kernel = builder.seal();
    let before = cpu_seconds();
    kernel.run_until(Instant::NEVER);
    let cpu = cpu_seconds() - before;
    let digest = kernel.digest();
    let links = kernel.component::<Links>(links).expect("links are links");
    let hops: u64 = links.usage().iter().map(|r| r.activity.tlps).sum();
    assert_eq!(hops, 2 * u64::from(TLPS) * each * u64::from(scene.devices), "every TLP crosses two links");
    (hops as f64 / cpu / 1e6, digest)
}
