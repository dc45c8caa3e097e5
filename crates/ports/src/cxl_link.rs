//! A CXL link, as one component of the kernel.
//!
//! ```text
//!            Line, Hint                                Line, Hint
//!  host  ──────────────► port 0 ══ M2S flits ══► port 1 ──────────► device
//!        ◄──────────────        ◄═ S2M flits ══        ◄──────────
//!          LineDone, HintDone                      LineDone, HintDone
//! ```
//!
//! The link is foreseeing: it learns of a message when it is sent, so nothing is spent on its way to the link. It wakes
//! only when something is about to arrive, and decides several flits at a time ([`lanetwin_cxl::logic::link`]): a
//! request and its answer cost two deliveries and a share of a wake.
//!
//! A [`Message::Line`] is a M2S Req (read) or RwD (write), a [`Message::LineDone`] a S2M DRS (read) or NDR (write).
//! Hints go over CXL.io, one flit each way.

use crate::cxl_stages::{self, Timing};
use crate::message::{Message, Operation};
use lanetwin_cxl::logic::{
    Activity, Class, Direction, Environment, FlitTap, Link, LinkLayer, LinkSpec, flit_256,
};
use lanetwin_kernel::{Component, Context, Port, Report, Stage, Stream, Supply, SupplyKind, Trail, mix};
use lanetwin_units::{Instant, TICKS_PER_PS, Ticks};

/// Parameters of a CXL link.
pub type CxlLinkSpec = LinkSpec;

const M2S: Direction = Direction::M2s;
const S2M: Direction = Direction::S2m;

/// The purposes of the streams of a link's bit errors, by direction.
const ERROR_STREAMS: [&str; 2] = ["bit errors M2S", "bit errors S2M"];

/// A message on a link, and the trail of whoever has sent it, up to the end of the sending port.
#[derive(Clone, Copy)]
pub struct OnLink {
    message: Message,
    trail: Trail,
}

/// A CXL link with flits of 68 B.
pub type CxlLink = CxlLinkOf<Link<OnLink>>;
/// A CXL link with flits of 256 B.
pub type CxlLink256 = CxlLinkOf<flit_256::Link<OnLink>>;

/// A CXL link with this link layer.
pub struct CxlLinkOf<L> {
    link: L,
    timing: [Timing; 2],
    errors: [Stream; 2],
    /// Time of the next wake that is not stale.
    armed: Instant,
}

/// Counters of one direction of a CXL link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CxlLinkUse {
    /// The direction.
    pub direction: Direction,
    /// Flits, slots, messages.
    pub activity: Activity,
    /// Number of flits for which the wire had time.
    pub flits: u64,
    /// Slots of a flit.
    pub slots: u64,
    /// The length of time in which it did so \[ticks\].
    pub elapsed: Ticks,
}

impl CxlLinkUse {
    /// The share of flits that were not idle.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(self.activity.flits(), self.flits)
    }
    /// The share of slots that carried messages or data of CXL.mem.
    #[must_use]
    pub fn slot_utilisation(&self) -> f64 {
        ratio(self.activity.message_slots + self.activity.data_slots, self.slots * self.flits)
    }
    /// Mean number of CXL.mem messages that waited for a flit.
    #[must_use]
    pub fn mean_queue(&self) -> f64 {
        if self.elapsed.0 == 0 { 0.0 } else { self.activity.waited_ticks as f64 / self.elapsed.0 as f64 }
    }
    /// The share of time in which a message waited for a credit; the sum over both classes.
    #[must_use]
    pub fn credit_stalls(&self) -> f64 {
        ratio(self.activity.stalled_ticks, self.elapsed.0)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl CxlLink {
    /// The port of the end nearer to the host.
    pub const HOST: Port = Port(0);
    /// The port of the device's end.
    pub const DEVICE: Port = Port(1);

    /// Shows every flit to `tap`, when it is decided.
    pub fn set_flit_tap(&mut self, tap: Option<FlitTap>) {
        self.link.set_tap(tap);
    }
}

impl<L: LinkLayer<OnLink>> CxlLinkOf<L> {
    /// A link; its name and the seed of the run name the streams of its bit errors.
    ///
    /// # Panics
    /// If the link cannot be: see [`Link::new`] and [`flit_256::Link::new`].
    #[must_use]
    pub fn new(name: &str, seed: u64, spec: CxlLinkSpec) -> Self {
        let link = L::build(spec);
        Self {
            timing: Direction::ALL.map(|direction| Timing::new(&link, direction)),
            link,
            errors: ERROR_STREAMS.map(|purpose| Stream::new(seed, name, purpose)),
            armed: Instant::NEVER,
        }
    }
    /// The link layer.
    #[must_use]
    pub const fn link(&self) -> &L {
        &self.link
    }
    /// Counters of both directions up to `now`, M2S first. Flits that started less than a flight time ago may be
    /// missing, because a link decides as late as it can.
    #[must_use]
    pub fn usage(&self, now: Instant) -> [CxlLinkUse; 2] {
        let elapsed = Ticks::from(now);
        Direction::ALL.map(|direction| CxlLinkUse {
            direction,
            activity: self.link.activity(direction),
            flits: self.link.flits_before(elapsed.0),
            slots: L::SLOTS,
            elapsed,
        })
    }

    #[inline]
    fn arm(&mut self, at: Instant, cx: &mut Context<'_, Message>) {
        if at < self.armed {
            self.armed = at;
            cx.wake_at(at, 0);
        }
    }
}

/// A CXL link with flits of either size: its counters and stages.
pub trait CarriesLines {
    /// Counters of both directions up to `now`, M2S first: [`CxlLinkOf::usage`].
    fn usage(&self, now: Instant) -> [CxlLinkUse; 2];
    /// The direction of a stage, and whether a message passes it exactly once.
    fn stage(&self, stage: Stage) -> (Direction, bool);
}

impl<L: LinkLayer<OnLink>> CarriesLines for CxlLinkOf<L> {
    fn usage(&self, now: Instant) -> [CxlLinkUse; 2] {
        Self::usage(self, now)
    }
    fn stage(&self, stage: Stage) -> (Direction, bool) {
        cxl_stages::place(stage)
    }
}

impl<L: LinkLayer<OnLink> + 'static> Component<Message> for CxlLinkOf<L> {
    fn receive(&mut self, _port: Port, _message: Message, _cx: &mut Context<'_, Message>) {
        unreachable!("a link is told of messages when they are sent")
    }

    fn expect(&mut self, at: Instant, port: Port, message: &Message, cx: &mut Context<'_, Message>) {
        let (link, direction) = (&mut self.link, if port == CxlLink::HOST { M2S } else { S2M });
        self.timing[direction.index()].enter(direction, at, cx);
        let carried = &OnLink { message: *message, trail: cx.trail() };
        let wake = match (*message, direction) {
            (Message::Line(line), M2S) => link.submit(direction, request_class(line.operation), at, carried),
            (Message::LineDone(done), S2M) => {
                link.submit(direction, response_class(done.operation), at, carried)
            }
            (Message::Hint(_), M2S) | (Message::HintDone { .. }, S2M) => {
                link.submit_io(direction, at, carried)
            }
            (other, _) => panic!("somebody sent {other:?} to {port:?} of a CXL link"),
        };
        self.arm(wake, cx);
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_, Message>) {
        if cx.now() < self.armed {
            // An earlier wake has done the work of this one.
            return;
        }
        self.armed = Instant::NEVER;
        let now = cx.now();
        self.link.pump(now, &mut Surroundings { cx, timing: &self.timing, errors: &mut self.errors });
        if let Some(at) = self.link.deadline() {
            self.arm(at, cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        for (direction, name) in Direction::ALL.into_iter().zip(["m2s", "s2m"]) {
            for (class, what) in Class::ALL.into_iter().zip(["no-data", "data"]) {
                see(&format!("{name}/{what}/waiting"), self.link.waiting(direction, class).to_string());
                see(&format!("{name}/{what}/credits"), self.link.credits(direction, class).to_string());
            }
            see(&format!("{name}/activity"), format!("{:?}", self.link.activity(direction)));
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        for (direction, name) in Direction::ALL.into_iter().zip(["M2S flits", "S2M flits"]) {
            let busy = self.link.activity(direction).flits() * self.link.flit_ticks() / TICKS_PER_PS;
            let in_use_ps = u128::from(busy.min(now.as_ps()));
            report.supply(name, Supply { in_use_ps, supply: 1, kind: SupplyKind::Server });
        }
    }

    fn stages(&self) -> Vec<String> {
        cxl_stages::names()
    }

    fn digest(&self) -> u64 {
        Direction::ALL.into_iter().fold(0, |digest, direction| {
            let a = self.link.activity(direction);
            let parts = [a.flits(), a.empty_slots, a.crc_errors, a.stalled_ticks, a.waited_ticks as u64];
            parts.into_iter().fold(digest, |digest, part| mix(digest ^ part))
        })
    }

    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn CarriesLines }
}

const fn request_class(operation: Operation) -> Class {
    match operation {
        Operation::Read => Class::NoData,
        Operation::Write => Class::Data,
    }
}

const fn response_class(operation: Operation) -> Class {
    match operation {
        Operation::Read => Class::Data,
        Operation::Write => Class::NoData,
    }
}

struct Surroundings<'a, 'b> {
    cx: &'a mut Context<'b, Message>,
    timing: &'a [Timing; 2],
    errors: &'a mut [Stream; 2],
}

impl Environment<OnLink> for Surroundings<'_, '_> {
    #[inline]
    fn deliver(&mut self, direction: Direction, at: Instant, carried: &OnLink) {
        let OnLink { message, trail } = carried;
        self.cx.resume(*trail);
        if *trail != Trail::NONE {
            self.timing[direction.index()].leave(direction, at, self.cx);
        }
        let port = match direction {
            Direction::M2s => CxlLink::DEVICE,
            Direction::S2m => CxlLink::HOST,
        };
        self.cx.send_at(port, at, *message);
    }
    fn clean_bits(&mut self, direction: Direction, bit_error_ratio: f64) -> u64 {
        self.errors[direction.index()].geometric(bit_error_ratio)
    }
}
