//! The waterfall: where one operation spent its time, hop by hop, summing exactly to the whole.
//!
//! ```text
//!  asked                                                                                told
//!    ├─ card ─┼─ slot: queue ─┼─ slot: wire ─┼─ host ─┼─ slot: queue ─┼─ slot: wire ─┼─ card ─┤
//!             ready           start          arrival  ready           …
//! ```
//!
//! Where a switch is on the way, a wire is followed up to where the switch can forward what comes in, then the switch:
//!
//! ```text
//!    … ─┼─ slot: wire ─┼─ switch: forwarding to bay ─┼─ switch: queue for bay ─┼─ bay: wire ─┼─ …
//!     start      header or all in                  eligible                  start       arrival
//! ```
//!
//! A cursor goes from question to answer along the chain of trains that the answer waited for: the last one to arrive,
//! the one that this was the answer to, and so on back to the first. What lies between two trains was spent inside the
//! component where the one ended and the other began; card and host say what they did meanwhile. Of a train the last
//! TLP is followed, so that its queue includes the TLPs before it.

pub(super) mod memory;
mod nvme;

use super::loads::{WorldLoad, shown};
use super::route::{Crossing, way};
use super::wire::World;
use lanetwin_kernel::Tap;
use lanetwin_models::roles::{ServedRead, TransferRecord};
use lanetwin_pcie::link::{EgressId, EndpointId, RECORDED_HOPS};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{Done, Journey, Links, Message, Operation as Kind, Tlps};
use lanetwin_units::{Instant, Span, Ticks};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The stages of one operation, in order; they sum to its latency.
pub type Stages = Vec<(String, Span)>;

/// What became of one operation.
#[derive(Clone, Default, Debug)]
pub struct Followed {
    /// Where its time went.
    pub stages: Stages,
    /// How often it waited for something to cross each link, by the link's name.
    pub crossings: BTreeMap<String, u32>,
}

/// A question and its answer, by the handle of the one who asks; no two loads share one.
#[derive(Clone, Copy, Debug)]
struct Operation {
    /// The load that asked: its place in the world.
    load: usize,
    handle: u32,
    asked: Instant,
    told: Instant,
}

#[derive(Default)]
struct Seen {
    open: BTreeMap<u32, Instant>,
    done: Vec<Operation>,
}

/// What is written down while operations are followed.
pub(super) struct Log(Rc<RefCell<Seen>>);

struct Listener {
    seen: Rc<RefCell<Seen>>,
    /// The paths of the loads.
    loads: Vec<String>,
}

impl Listener {
    fn place(&self, path: &str) -> Option<usize> {
        self.loads.iter().position(|load| load == path)
    }
}

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &Message) {
        let seen = &mut *self.seen.borrow_mut();
        match *message {
            Message::Dma(t) | Message::Block(t) if self.place(from).is_some() => {
                seen.open.insert(t.handle, at);
            }
            Message::DmaDone(Done { handle, .. }) | Message::BlockDone(Done { handle, .. }) => {
                if let Some(load) = self.place(to)
                    && let Some(asked) = seen.open.remove(&handle)
                {
                    seen.done.push(Operation { load, handle, asked, told: at });
                }
            }
            _ => {}
        }
    }
}

/// Begins to follow operations.
pub(super) fn start(world: &mut World) -> Log {
    let seen = Rc::new(RefCell::new(Seen::default()));
    let loads = world.loads.iter().map(|load| load.path.clone()).collect();
    let listener = Listener { seen: Rc::clone(&seen), loads };
    world.kernel.set_tap(Some(Box::new(listener)));
    set_recording(world, true);
    Log(seen)
}

/// Lets the cards and the host say when they did what, or no longer.
fn set_recording(world: &mut World, on: bool) {
    for load in 0..world.loads.len() {
        if let Some(requester) = world.requester(load) {
            requester.record(on);
        }
    }
    nvme::set_recording(world, on);
    world.record_reads(on);
    world.kernel.follow_marks(on);
}

/// Ends following; explains the operation of median latency among those that were followed from question to answer,
/// over these journeys.
pub(super) fn finish(world: &mut World, log: &Log, journeys: &[Journey]) -> Option<Followed> {
    world.kernel.set_tap(None);
    let mut done = std::mem::take(&mut log.0.borrow_mut().done);
    done.sort_by_key(|o| (o.told - o.asked, o.asked, o.handle));
    let Some(median) = done.get(done.len() / 2).copied() else {
        set_recording(world, false);
        return None;
    };
    let load = world.loads[median.load].clone();
    if load.nvme.is_some() {
        let served = world.take_reads();
        let followed = nvme::followed(world, &load, &median, served, journeys);
        set_recording(world, false);
        return followed;
    }
    let WorldLoad { asked, endpoint, .. } = load;
    let marks = marks_on(world, &median);
    let records = world.requester(median.load).map(|requester| requester.take_record()).unwrap_or_default();
    let record =
        records.iter().find(|r| r.transfer.handle == median.handle && r.asked == median.asked).copied();
    let handle = record.map_or(median.handle, |r| r.handle);
    // A handle is given to one operation after the other: of this one is only what happened in its time.
    let (from, until) = record.map_or((median.asked, median.told), |r| (r.issued, r.last));
    let mut served = world.take_reads();
    // Cards name their own transfers, and do not ask each other.
    let is_from = |from: EndpointId| Some(from) == endpoint;
    served.retain(|s| s.handle == handle && is_from(s.from) && s.arrived >= from && s.answered <= until);
    set_recording(world, false);
    let is_its = |tlps: &Tlps| tlps.handle == handle && (is_from(tlps.from) || is_from(tlps.to));
    let journeys: Vec<Journey> =
        journeys.iter().filter(|j| is_its(&j.user) && within(j, from, until)).copied().collect();
    let course = Course {
        links: world.links(),
        record,
        served,
        marks,
        cursor: median.asked,
        seen: Followed::default(),
    };
    Some(course.follow(&chain(&journeys), &asked, median.told))
}

/// What components said of an operation as it passed, in the order of time.
fn marks_on(world: &mut World, operation: &Operation) -> Vec<Marked> {
    let marks = world.kernel.take_marks().into_iter();
    let its = marks.filter(|mark| {
        mark.request == operation.handle && (operation.asked..=operation.told).contains(&mark.at)
    });
    let mut marks: Vec<Marked> = its
        .map(|mark| Marked {
            at: mark.at,
            place: shown(world.kernel.path(mark.component)),
            stage: mark.stage,
        })
        .collect();
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// Whether a train was sent in this time. It need not have arrived: a write is done when it has left.
fn within(journey: &Journey, from: Instant, until: Instant) -> bool {
    journey.ready.as_ps_ceil() >= from && Ticks(journey.starts[0]).as_ps_ceil() < until
}

/// The trains that led to the last one to arrive, first to last.
fn chain(journeys: &[Journey]) -> Vec<Journey> {
    let mut chain: Vec<Journey> = Vec::new();
    let mut next = journeys.iter().max_by_key(|j| (j.arrival, j.ready));
    while let Some(journey) = next {
        chain.push(*journey);
        let causes = journeys.iter().filter(|cause| may_cause(cause, journey));
        next = causes.max_by_key(|j| (j.arrival, j.ready));
    }
    chain.reverse();
    chain
}

/// Whether a train may be what another was sent for: a completion answers the request for its bytes, a request was told
/// of by a doorbell.
fn may_cause(cause: &Journey, journey: &Journey) -> bool {
    let (before, after) = (&cause.user, &journey.user);
    let asked = before.address..before.address + u64::from(before.count) * u64::from(before.bytes);
    let fits = match after.kind {
        TlpKind::CplD | TlpKind::Cpl => before.kind == TlpKind::MRd && asked.contains(&after.address),
        TlpKind::MRd => before.kind == TlpKind::MWr,
        TlpKind::MWr | TlpKind::Msg => true,
    };
    fits && cause.to == journey.from && cause.ready < journey.ready
}

/// `slot card → host`
fn way_of((link, from, to): (&str, &str, &str)) -> String {
    format!("{link} {from} → {to}")
}

/// Up to `at` an operation was in this stage of a component.
#[derive(Clone, Debug)]
struct Marked {
    at: Instant,
    place: String,
    stage: &'static str,
}

struct Course<'a> {
    links: &'a Links,
    /// What components said of the operation.
    marks: Vec<Marked>,
    /// What the card says of the operation, if it is one of a card.
    record: Option<TransferRecord>,
    /// What the one with the memory says of its reads.
    served: Vec<ServedRead>,
    cursor: Instant,
    seen: Followed,
}

impl Course<'_> {
    /// From the question, at `asked`, along the chain to the answer.
    fn follow(mut self, chain: &[Journey], asked: &str, told: Instant) -> Followed {
        let mut request: Option<&Journey> = None;
        for journey in chain {
            let ready = journey.ready.as_ps_ceil();
            match request {
                None => self.begin(asked, ready),
                Some(request) => self.inside(request, ready),
            }
            self.travel(journey);
            request = Some(journey);
        }
        self.end(asked);
        let rest = if chain.is_empty() { asked.to_owned() } else { format!("{asked}: answer") };
        self.stay(asked, told);
        self.spend(told, rest);
        self.seen
    }

    /// One train's way. A write is done when it has left: what comes then is not waited for.
    fn travel(&mut self, journey: &Journey) {
        let hops = way(self.links.wiring(), journey.from, journey.to);
        let first = self.links.egress_name(hops[0]);
        self.spend(Ticks(journey.starts[0]).as_ps_ceil(), format!("{}: queue", way_of(first)));
        if let Some(left) = self.record.filter(|r| r.transfer.operation == Kind::Write).map(|r| r.last) {
            self.spend(left, format!("{}: wire", way_of(first)));
            return;
        }
        for hop in &hops {
            let link = self.links.egress_name(*hop).0.to_owned();
            *self.seen.crossings.entry(link).or_default() += 1;
        }
        let known = &hops[..hops.len().min(RECORDED_HOPS)];
        for (pair, starts) in known.windows(2).zip(journey.starts.windows(2)) {
            self.cross(journey, [pair[0], pair[1]], [starts[0], starts[1]]);
        }
        let last = way_of(self.links.egress_name(known[known.len() - 1]));
        let beyond = if known.len() < hops.len() { " and beyond" } else { "" };
        self.spend(journey.arrival.as_ps_ceil(), format!("{last}: wire{beyond}"));
    }

    /// From a start on one link to that on the next, through the switch between them.
    fn cross(&mut self, journey: &Journey, [incoming, outgoing]: [EgressId; 2], [start, next]: [u64; 2]) {
        let wiring = self.links.wiring();
        let bytes = self.links.wire_bytes(journey.from, &journey.user);
        let crossing = Crossing::new(wiring, incoming, outgoing, bytes);
        let Crossing { wire, forwarding, .. } = crossing.expect("one hop begins where the one before ends");
        let name = self.links.egress_name(incoming);
        let (way, switch) = (way_of(name), name.2.to_owned());
        let to = self.links.egress_name(outgoing).0.to_owned();
        let forwarded = Ticks(start + wire.0).as_ps_ceil();
        let next = Ticks(next).as_ps_ceil();
        // what is known beats what is computed: a switch has done its work when the TLP starts
        self.spend(forwarded.min(next), format!("{way}: wire"));
        self.spend((forwarded + forwarding).min(next), format!("{switch}: forwarding to {to}"));
        self.spend(next, format!("{switch}: queue for {to}"));
    }

    /// Before the first train, which is eligible at `ready`: the card says what it was doing.
    fn begin(&mut self, place: &str, ready: Instant) {
        if let Some(r) = self.record {
            let issue = r.issued - r.tagged;
            let marks = [
                (r.admitted, "queue for a place in flight"),
                (r.ready, "command"),
                (r.begun, "queue for an engine"),
                (Instant::from_ps(ready.as_ps() - issue.as_ps()), "queue for a tag"),
                (ready, "issue"),
            ];
            self.pass(place, &marks);
        }
        self.stay(place, ready);
        self.spend(ready, format!("{place}: request"));
    }

    /// Between two trains, in the component where the one ended and the other began: the host says what it was doing.
    fn inside(&mut self, before: &Journey, ready: Instant) {
        let last = way(self.links.wiring(), before.from, before.to).pop();
        let place = last.map_or("", |egress: EgressId| self.links.egress_name(egress).2).to_owned();
        let asked = before.user.address
            ..before.user.address + u64::from(before.user.count) * u64::from(before.user.bytes);
        let of_request =
            |s: &&ServedRead| s.from == before.user.from && asked.contains(&s.address) && s.answered <= ready;
        let served = self.served.iter().filter(of_request).max_by_key(|s| s.answered).copied();
        if let Some(s) = served {
            let marks =
                [(s.translated, "translation"), (s.taken, "queue for the completer"), (s.answered, "memory")];
            self.pass(&place, &marks);
        }
        self.stay(&place, ready);
        self.spend(ready, place);
    }

    /// After the last train: the card says what it was doing.
    fn end(&mut self, place: &str) {
        if let Some(r) = self.record {
            let marks = [
                (r.copying, "queue for the copier"),
                (r.copied, "copy"),
                (r.done, "completion"),
                (r.told, "clock tick"),
            ];
            self.pass(place, &marks);
        }
    }

    /// In a component, up to a time: it has said what it was doing, or it has not.
    fn stay(&mut self, place: &str, until: Instant) {
        let Self { marks, seen, cursor, .. } = self;
        for mark in marks.iter().filter(|mark| mark.place == place && mark.at <= until) {
            seen.spend(cursor, mark.at, format!("{place}: {}", mark.stage));
        }
    }

    fn pass(&mut self, place: &str, marks: &[(Instant, &str)]) {
        marks.iter().for_each(|&(at, what)| self.spend(at, format!("{place}: {what}")));
    }

    fn spend(&mut self, until: Instant, what: String) {
        self.seen.spend(&mut self.cursor, until, what);
    }
}

impl Followed {
    /// The time from the cursor to `until` was spent on this; what is over already, was not.
    fn spend(&mut self, cursor: &mut Instant, until: Instant, what: String) {
        if until <= *cursor {
            return;
        }
        let span = until - *cursor;
        *cursor = until;
        match self.stages.iter_mut().find(|s| s.0 == what) {
            Some(stage) => stage.1 += span,
            None => self.stages.push((what, span)),
        }
    }
}
