//! The waterfall: where one operation spent its time, hop by hop, summing exactly to the whole.
//!
//! ```text
//!  asked                                                                                told
//!    ├─ card ─┼─ slot: wait ─┼─ slot: wire ─┼─ host ─┼─ slot: wait ─┼─ slot: wire ─┼─ card ─┤
//!             ready          start          arrival  ready          …
//! ```
//!
//! A cursor goes from question to answer along the journeys of the operation's trains, by the last TLP of each. What lies between
//! two journeys was spent inside the component where the one ended and the other began.

use super::wire::World;
use lanetwin_kernel::Tap;
use lanetwin_models::dma_requester::{DmaRequester, TransferRecord};
use lanetwin_pcie::link::EgressId;
use lanetwin_ports::{Journey, Links, Message};
use lanetwin_units::{Instant, Span, Ticks};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The stages of one operation, in order; they sum to its latency.
pub type Stages = Vec<(String, Span)>;

/// A question and its answer, by the handle of the one who asks.
#[derive(Clone, Copy, Debug)]
struct Operation {
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
    load: String,
}

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &Message) {
        let seen = &mut *self.seen.borrow_mut();
        match *message {
            Message::Dma(t) | Message::Block(t) if from == self.load => {
                seen.open.insert(t.handle, at);
            }
            Message::DmaDone(d) | Message::BlockDone(d) if to == self.load => {
                if let Some(asked) = seen.open.remove(&d.handle) {
                    seen.done.push(Operation { handle: d.handle, asked, told: at });
                }
            }
            _ => {}
        }
    }
}

/// Begins to follow operations.
pub(super) fn start(world: &mut World) -> Log {
    let seen = Rc::new(RefCell::new(Seen::default()));
    let listener = Listener { seen: Rc::clone(&seen), load: "(load)".into() };
    world.kernel.set_tap(Some(Box::new(listener)));
    world.links().fabric().record_journeys(true);
    if let Some(requester) = world.requester() {
        requester.record(true);
    }
    Log(seen)
}

/// Ends following; explains the operation of median latency among those that were followed from question to answer.
pub(super) fn finish(world: &mut World, log: &Log) -> Option<Stages> {
    world.kernel.set_tap(None);
    let mut done = std::mem::take(&mut log.0.borrow_mut().done);
    done.sort_by_key(|o| (o.told - o.asked, o.asked, o.handle));
    let median = *done.get(done.len() / 2)?;
    let records = world.requester().map(DmaRequester::take_record).unwrap_or_default();
    let record =
        records.iter().find(|r| r.transfer.handle == median.handle && r.asked == median.asked).copied();
    let handle = record.map_or(median.handle, |r| r.handle);
    let journeys: Vec<Journey> = {
        let links = world.links();
        let all = links.fabric().take_journeys();
        links.fabric().record_journeys(false);
        all.into_iter().filter(|j| j.user.handle == handle && within(j, &median)).collect()
    };
    Some(Course::new(world.links(), median, record).follow(journeys))
}

fn within(journey: &Journey, operation: &Operation) -> bool {
    journey.ready.as_ps_ceil() >= operation.asked && journey.arrival.as_ps_ceil() <= operation.told
}

struct Course<'a> {
    links: &'a Links,
    operation: Operation,
    record: Option<TransferRecord>,
    cursor: Instant,
    /// Where the operation is while it is on no link.
    place: String,
    stages: Stages,
}

impl<'a> Course<'a> {
    fn new(links: &'a Links, operation: Operation, record: Option<TransferRecord>) -> Self {
        Self {
            links,
            operation,
            record,
            cursor: operation.asked,
            place: String::new(),
            stages: Stages::new(),
        }
    }

    fn follow(mut self, mut journeys: Vec<Journey>) -> Stages {
        journeys.sort_by_key(|j| (j.ready, j.arrival));
        for journey in &journeys {
            self.travel(journey);
        }
        self.stay(self.operation.told);
        self.stages
    }

    /// One train's way, as far as it lies after the cursor.
    fn travel(&mut self, journey: &Journey) {
        if journey.arrival.as_ps_ceil() <= self.cursor {
            return;
        }
        let (link, from, to) = self.link_of(journey);
        if self.place.is_empty() {
            self.place.clone_from(&from);
        }
        self.stay(journey.ready.as_ps_ceil());
        let start = Ticks(journey.starts[0]).as_ps_ceil();
        self.spend(start, format!("{link} {from} → {to}: waiting"));
        self.spend(journey.arrival.as_ps_ceil(), format!("{link} {from} → {to}: wire"));
        self.place = to;
    }

    /// Time inside the component where the operation is, split where the component says what it did.
    fn stay(&mut self, until: Instant) {
        let place = if self.place.is_empty() { "device".to_owned() } else { self.place.clone() };
        if let Some(record) = self.record {
            let marks = [
                (record.begun, "queue for an engine"),
                (record.issued, "command and issue"),
                (record.last, "waiting for the rest"),
                (record.done, "copy and completion"),
                (record.told, "clock tick"),
            ];
            if self.place.is_empty() || self.cursor >= record.last || until <= record.issued {
                for (at, what) in marks {
                    if at > self.cursor && at <= until {
                        self.spend(at, format!("{place}: {what}"));
                    }
                }
            }
        }
        self.spend(until, place);
    }

    fn spend(&mut self, until: Instant, what: String) {
        if until <= self.cursor {
            return;
        }
        let span = until - self.cursor;
        self.cursor = until;
        match self.stages.iter_mut().find(|s| s.0 == what) {
            Some(stage) => stage.1 += span,
            None => self.stages.push((what, span)),
        }
    }

    /// The link that a journey went over, and its direction. Links join two endpoints: `2n` and `2n + 1`.
    fn link_of(&self, journey: &Journey) -> (String, String, String) {
        let (link, from, to) = self.links.egress_name(EgressId(journey.from.0));
        (link.to_owned(), from.to_owned(), to.to_owned())
    }
}
