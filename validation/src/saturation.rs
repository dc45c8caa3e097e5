//! Two endpoints that saturate the link between them, and the plateau they reach.
//!
//! Each keeps trains of writes of one size waiting for its wire, so that the wire is the only limit. The plateau is
//! measured exactly: after a warm-up, from one delivery to a later one, whole trains over a whole number of
//! picoseconds.

use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_pcie::link::{Attach, Direction, Drain, EndpointId, EndpointSpec};
use lanetwin_pcie::spec::{AddressWidth, TlpKind};
use lanetwin_ports::{Attributes, Builder, Context, Links, LinksBuilder, Message, Tlps};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Instant, Span};
use std::any::Any;

/// From a notice of departure to the next train being eligible.
const ISSUE: Span = Span::from_ns(20);
/// TLPs in a train …
const TRAIN: u16 = 32;
/// … and trains that are handed in and have not left: the wire is never waiting for a device.
const WAITING: u32 = 8;

/// What saturates a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saturation {
    /// The payload of each write \[B\].
    pub payload: u16,
    /// The width of its address.
    pub addresses: AddressWidth,
    /// Both directions of the link.
    pub direction: Direction,
    /// When measuring begins.
    pub warm_up: Span,
    /// For how long.
    pub measure: Span,
}

/// What one direction delivered between two deliveries: an exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Delivered {
    /// The payload \[B\].
    pub bytes: u64,
    /// The time.
    pub span: Span,
}

impl Delivered {
    /// Payload bits per second.
    pub(crate) fn bits_per_second(self) -> f64 {
        const PS_PER_SECOND: f64 = 1e12;
        (self.bytes * 8) as f64 * PS_PER_SECOND / self.span.as_ps() as f64
    }
}

/// The plateau of both directions, and the digest of the run.
pub(crate) fn plateau(blast: &Saturation) -> ([Delivered; 2], Digest) {
    let mut builder = Builder::new();
    let links = builder.add_foreseeing("links", Box::new(links(blast)));
    let ends = [EndpointId(0), EndpointId(1)];
    let from = Instant::ZERO + blast.warm_up;
    let endpoints: Vec<ComponentId> = ends
        .map(|me| {
            let to = ends[1 - me.index()];
            let saturation = SaturatingEndpoint {
                me,
                to,
                payload: blast.payload,
                from,
                first: None,
                last: None,
                trains: 0,
            };
            let id = builder.add(format!("blaster{}", me.0), Box::new(saturation));
            builder.join((id, PCIE), (links, Port(me.0)));
            id
        })
        .into();
    let mut kernel = builder.seal();
    kernel.run_until(from + blast.measure);
    let digest = Digest(kernel.digest());
    let mut delivered = |end: usize| {
        kernel.component::<SaturatingEndpoint>(endpoints[end]).expect("what was added is there").delivered()
    };
    ([delivered(0), delivered(1)], digest)
}

fn links(blast: &Saturation) -> Links {
    let mut links = LinksBuilder::new();
    let drain = Drain::ByLink { latency: Span::from_ns(20), per_tlp: Span::ZERO, payload_rate: None };
    let mut end =
        || Attach::Endpoint(links.endpoint(EndpointSpec { lookahead: ISSUE, drain }, blast.addresses));
    let ends = (end(), end());
    links.link(("link", "left", "right"), ends, blast.direction, blast.direction);
    links.build(1).expect("two endpoints and one link fit together")
}

const PCIE: Port = Port(0);

/// One end.
struct SaturatingEndpoint {
    me: EndpointId,
    to: EndpointId,
    payload: u16,
    /// When it begins to count.
    from: Instant,
    /// The first and the last delivery that were counted, and the trains after the first.
    first: Option<Instant>,
    last: Option<Instant>,
    trains: u64,
}

impl SaturatingEndpoint {
    fn write(&self, cx: &mut Context<'_>) {
        let tlps = Tlps {
            kind: TlpKind::MWr,
            attributes: Attributes::NOTIFY.and(Attributes::LAST),
            count: TRAIN,
            bytes: self.payload,
            from: self.me,
            to: self.to,
            handle: 0,
            address: 0,
        };
        cx.send(PCIE, ISSUE, Message::Tlps(tlps));
    }

    fn count(&mut self, tlps: &Tlps, now: Instant) {
        assert_eq!((tlps.count, tlps.bytes), (TRAIN, self.payload), "a train of writes arrives as one");
        if now < self.from {
            return;
        }
        self.trains += u64::from(self.first.is_some());
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    fn delivered(&self) -> Delivered {
        let (first, last) = self.first.zip(self.last).expect("measuring lasts for many trains");
        let bytes = self.trains * u64::from(TRAIN) * u64::from(self.payload);
        Delivered { bytes, span: last.since(first) }
    }
}

impl Component<Message> for SaturatingEndpoint {
    fn start(&mut self, cx: &mut Context<'_>) {
        for _ in 0..WAITING {
            self.write(cx);
        }
    }

    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Departed { .. } => self.write(cx),
            Message::Tlps(tlps) => self.count(&tlps, cx.now()),
            other => unreachable!("the links send TLPs and notices of departure, not {other:?}"),
        }
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
