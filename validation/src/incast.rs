//! Incast: one write from each of several ports of a switch, all handed in at the same instant, to one port.
//!
//! The links are bare, so that what is seen is the switch: no credits, no SKPs, no DLLPs.

use lanetwin_kernel::{Component, Port};
use lanetwin_pcie::link::{Attach, Core, Direction, Drain, EndpointId, EndpointSpec, Forwarding, SwitchSpec};
use lanetwin_pcie::spec::{AddressWidth, TlpKind};
use lanetwin_ports::{Attributes, Builder, Context, Links, LinksBuilder, Message, Tlps};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Generation, Instant, LinkRate, Span, Width};
use std::any::Any;

/// From the decision to write to the write being eligible.
const ISSUE: Span = Span::from_ns(20);
const PCIE: Port = Port(0);

/// What is sent through which switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incast {
    /// Ports that send.
    pub sources: u16,
    /// The payload of each write \[B\].
    pub payload: u16,
    /// The generation of all links.
    pub generation: Generation,
    /// The widths of the links of the sources and of the one that all leave through.
    pub widths: (Width, Width),
    /// The latency of the switch.
    pub latency: Span,
    /// How it forwards.
    pub forwarding: Forwarding,
    /// Its core.
    pub core: Option<Core>,
}

/// Sends one write from each source through an idle switch: the time from the instant at which all writes are eligible
/// to the last being all there.
pub(crate) fn simulate(incast: &Incast) -> (Span, Digest) {
    let mut builder = Builder::new();
    let (links, target, sources) = links(incast);
    let links = builder.add_foreseeing("links", Box::new(links));
    let sink = builder.add("target", Box::new(Target::default()));
    builder.join((sink, PCIE), (links, Port(target.0)));
    for me in sources {
        let source = Source { me, to: target, payload: incast.payload };
        let id = builder.add(format!("source{}", me.0), Box::new(source));
        builder.join((id, PCIE), (links, Port(me.0)));
    }
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let digest = Digest(kernel.digest());
    let arrived = &kernel.component::<Target>(sink).expect("a target is a target").arrived;
    assert_eq!(arrived.len(), usize::from(incast.sources), "every write arrives");
    let last = arrived.last().expect("there is a source");
    (last.since(Instant::ZERO + ISSUE), digest)
}

fn links(incast: &Incast) -> (Links, EndpointId, Vec<EndpointId>) {
    let mut links = LinksBuilder::new();
    let drain = Drain::ByLink { latency: Span::ZERO, per_tlp: Span::ZERO, payload_rate: None };
    let end = EndpointSpec { lookahead: ISSUE, drain };
    let plain = SwitchSpec::plain(incast.latency, incast.forwarding);
    let switch = links.switch(SwitchSpec { core: incast.core, ..plain });
    let mut port = |name: &str, width| {
        let end = links.endpoint(end, AddressWidth::Bits64);
        let bare = Direction::bare(LinkRate::pcie(incast.generation, width));
        links.link((name, name, "switch"), (Attach::Endpoint(end), Attach::Switch(switch)), bare, bare);
        end
    };
    let target = port("target", incast.widths.1);
    let sources = (0..incast.sources).map(|i| port(&format!("source{i}"), incast.widths.0)).collect();
    (links.build(1).expect("a switch with bare links"), target, sources)
}

struct Source {
    me: EndpointId,
    to: EndpointId,
    payload: u16,
}

impl Component<Message> for Source {
    fn start(&mut self, cx: &mut Context<'_>) {
        let tlps = Tlps {
            kind: TlpKind::MWr,
            attributes: Attributes::NONE,
            count: 1,
            bytes: self.payload,
            from: self.me,
            to: self.to,
            handle: 0,
            address: 0,
        };
        cx.send(PCIE, ISSUE, Message::Tlps(tlps));
    }
    fn receive(&mut self, _: Port, message: Message, _: &mut Context<'_>) {
        unreachable!("nobody writes to a source: {message:?}")
    }
}

#[derive(Default)]
struct Target {
    arrived: Vec<Instant>,
}

impl Component<Message> for Target {
    fn receive(&mut self, _: Port, _: Message, cx: &mut Context<'_>) {
        self.arrived.push(cx.now());
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
