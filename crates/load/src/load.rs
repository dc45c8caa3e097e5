//! The load itself: a component that asks and counts.

use crate::addresses::Operations;
use crate::fio::{self, JobWorkload};
use crate::handles::Handles;
use crate::intervals::Intervals;
use crate::iometer::access::AccessWorkload;
use crate::requests::{Gate, Request, Requests};
use crate::results::{Little, Results, Side};
use crate::role::CountsOperations;
use crate::slot::Slot;
use crate::source::Bursts;
use crate::stages;
use crate::tally::Tally;
use crate::workload::{Arrivals, Workload};
use lanetwin_kernel::{Begun, Component, Port, Stream, Trail, mix};
use lanetwin_ports::{Context, Done, Message, Operation, Status, Transfer};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};
use std::any::Any;
use std::marker::PhantomData;

const ASK: Port = Port(0);
/// An open loop with so many outstanding is overloaded: each costs memory here and in queues below, and there is no end
/// to them. `assumed`: four times the 65,535 commands of the largest NVMe queue.
pub const MOST_OUTSTANDING: u64 = 1 << 18;
/// What a load is woken for: the next arrival of an open loop, …
const ARRIVAL: u32 = 0;
/// … or the end of a pause: before a burst, or until the next is due.
const BURST: u32 = 1;

/// The protocol that a load speaks.
pub trait LoadProtocol: 'static {
    /// The question.
    fn ask(transfer: Transfer) -> Message;
    /// The answer, if the message is one.
    fn answer(message: Message) -> Option<Done>;
}

/// Commands to a DMA requester.
#[derive(Clone, Copy, Debug)]
pub struct Dma;
/// Block requests.
#[derive(Clone, Copy, Debug)]
pub struct Block;

impl LoadProtocol for Dma {
    fn ask(transfer: Transfer) -> Message {
        Message::Dma(transfer)
    }
    fn answer(message: Message) -> Option<Done> {
        if let Message::DmaDone(done) = message { Some(done) } else { None }
    }
}

impl LoadProtocol for Block {
    fn ask(transfer: Transfer) -> Message {
        Message::Block(transfer)
    }
    fn answer(message: Message) -> Option<Done> {
        if let Message::BlockDone(done) = message { Some(done) } else { None }
    }
}

/// A load on the port of a DMA requester.
pub type DmaLoad = Load<Dma>;
/// A load on the port of a block device or driver.
pub type BlockLoad = Load<Block>;

/// Asks for what its [`Workload`] says, out of port 0, and counts what comes back.
#[derive(Debug)]
pub struct Load<P> {
    arrivals: Arrivals,
    operations: Box<dyn Requests>,
    intervals: Stream,
    handles: Handles,
    /// The logical unit that is asked.
    unit: u16,
    /// What is outstanding, by the place of its handle.
    outstanding: Vec<Option<Outstanding>>,
    free: Vec<usize>,
    stopped: bool,
    /// When an open loop had [`MOST_OUTSTANDING`]; it asks for nothing since.
    overloaded: Option<Instant>,
    /// Whether nothing is asked for before the next burst.
    paused: bool,
    /// The place of the handle by which a connection is being opened or closed.
    dialling: Option<usize>,
    completed: u64,
    /// Of all latencies, for the digest.
    latency_sum: u64,
    counted: Counted,
    protocol: PhantomData<P>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    operation: Operation,
    bytes: u32,
    /// What comes in reply \[B\].
    reply: u32,
    asked: Instant,
    /// For how many operations it stands; 0 if it is not followed.
    weight: u64,
    begun: Begun,
}

/// What has been counted since a reset.
#[derive(Default, Debug)]
struct Counted {
    since: Instant,
    sides: [Side; 2],
    number: u64,
    /// How many were asked for.
    asked: u64,
    /// How far the area reaches.
    area_until: Instant,
    area_ps: u128,
    /// Of what has been answered.
    residence_ps: u128,
    /// Of jobs of fio.
    intervals: Option<Intervals>,
    /// Latencies of reads and of writes that nobody has taken yet, if they are noted.
    noted: Option<[Vec<Span>; 2]>,
    /// How long the connections took that have ended.
    connections: Option<Box<Histogram>>,
}

impl Counted {
    /// Lets the area reach up to `now`; then the number outstanding becomes `number`.
    fn becomes(&mut self, number: u64, now: Instant) {
        self.area_ps += u128::from(self.number) * u128::from(now.since(self.area_until).as_ps());
        self.area_until = now;
        self.number = number;
    }
    /// The area up to `at`, the present.
    fn area_up_to(&self, at: Instant) -> u128 {
        self.area_ps + u128::from(self.number) * u128::from(at.since(self.area_until).as_ps())
    }
    /// How long something asked for at `asked` had been outstanding at `now`, as far as it is counted \[ps\].
    fn residence(&self, asked: Instant, now: Instant) -> u128 {
        now.since(asked.max(self.since)).as_ps().into()
    }
}

impl<P: LoadProtocol> Load<P> {
    /// A load at `path` in a run with this seed.
    ///
    /// # Panics
    /// If the workload cannot be run ([`Workload::check`]).
    #[must_use]
    pub fn new(workload: Workload, seed: u64, path: &str) -> Self {
        if let Err(wrong) = workload.check() {
            panic!("{path}: {wrong}");
        }
        Self::of(Box::new(Operations::new(workload, seed, path)), workload.arrivals, seed, path)
    }
    /// A load at `path` in a run with this seed, that does what an access specification of Iometer says.
    ///
    /// # Panics
    /// If the workload cannot be run ([`AccessWorkload::check`]).
    #[must_use]
    pub fn of_accesses(workload: AccessWorkload, seed: u64, path: &str) -> Self {
        if let Err(wrong) = workload.check() {
            panic!("{path}: {wrong}");
        }
        let arrivals = Arrivals::Closed { outstanding: workload.outstanding };
        Self::of(Box::new(Bursts::new(workload, seed, path)), arrivals, seed, path)
    }
    /// A load at `path` in a run with this seed, that does what a job of fio says. It has no end but that of a log.
    ///
    /// # Panics
    /// If the workload cannot be run ([`JobWorkload::check`]).
    #[must_use]
    pub fn of_job(workload: JobWorkload, seed: u64, path: &str) -> Self {
        if let Err(wrong) = workload.check() {
            panic!("{path}: {wrong}");
        }
        let arrivals = Arrivals::Closed { outstanding: workload.job.settings.iodepth };
        let mut load = Self::of(Box::new(fio::Stream::new(workload, seed, path)), arrivals, seed, path);
        load.counted.intervals = Some(Intervals::default());
        load
    }
    /// A load at `path` in a run with this seed, that asks for these.
    #[must_use]
    pub fn of(operations: Box<dyn Requests>, arrivals: Arrivals, seed: u64, path: &str) -> Self {
        Self {
            arrivals,
            operations,
            intervals: Stream::new(seed, path, "intervals"),
            handles: Handles::ALL,
            unit: 0,
            outstanding: Vec::new(),
            free: Vec::new(),
            stopped: false,
            overloaded: None,
            paused: false,
            dialling: None,
            completed: 0,
            latency_sum: 0,
            counted: Counted::default(),
            protocol: PhantomData,
        }
    }

    /// The same load as one of several: its operations have these handles.
    #[must_use]
    pub fn calling(self, handles: Handles) -> Self {
        Self { handles, ..self }
    }
    /// The same load on this logical unit of the device; without it, on the first.
    #[must_use]
    pub fn on_unit(mut self, unit: u16) -> Self {
        self.unit = unit;
        self
    }

    /// The same load as it stands there: its operations have these handles, and go to this unit.
    #[must_use]
    pub fn in_slot(self, slot: Slot<'_>) -> Self {
        self.calling(slot.handles).on_unit(slot.unit)
    }

    /// Counts from `at` on, the present: the end of the warm-up. What is outstanding counts when it is answered, with
    /// its whole latency.
    ///
    /// # Panics
    /// If something was counted after `at`.
    pub fn reset(&mut self, at: Instant) {
        assert!(at >= self.counted.area_until, "what was counted up to now cannot be reset in the past");
        let number = self.counted.number;
        let intervals = self.counted.intervals.as_ref().map(|_| Intervals::default());
        let noted = self.counted.noted.as_ref().map(|_| Default::default());
        self.counted = Counted { since: at, area_until: at, number, intervals, noted, ..Counted::default() };
    }
    /// What has been counted up to `at`, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    #[must_use]
    pub fn results(&self, at: Instant) -> Results {
        let Counted {
            since,
            number,
            area_until,
            residence_ps,
            sides: [reads, writes],
            intervals,
            connections,
            ..
        } = &self.counted;
        assert!(at >= *area_until, "what was counted up to now cannot be told of the past");
        let open = self.outstanding.iter().flatten().map(|open| self.counted.residence(open.asked, at));
        Results {
            since: *since,
            until: at,
            reads: reads.clone(),
            writes: writes.clone(),
            little: Little {
                area_ps: self.counted.area_up_to(at),
                residence_ps: residence_ps + open.sum::<u128>(),
            },
            outstanding: *number,
            intervals: intervals.clone(),
            connections: connections.clone(),
        }
    }
    /// Asks for nothing more.
    pub fn stop(&mut self) {
        self.stopped = true;
    }
    /// When it gave up, if it did: an open loop that is answered so much more slowly than it asks that
    /// [`MOST_OUTSTANDING`] wait.
    #[must_use]
    pub const fn overloaded(&self) -> Option<Instant> {
        self.overloaded
    }
    /// How many operations have been asked for and how many answered since the start of the run.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.operations.made(), self.completed)
    }

    /// Asks for the next operation, if there is one.
    fn ask(&mut self, cx: &mut Context<'_>) -> bool {
        if self.stopped || self.paused {
            return false;
        }
        let gate = self.operations.gate(cx.now(), self.counted.number);
        if let Some(time) = self.operations.ended_connection() {
            self.counted.connections.get_or_insert_default().record(time);
        }
        match gate {
            Gate::Open => {}
            Gate::After(pause) => {
                self.paused = true;
                cx.wake_at(cx.now() + pause, BURST);
                return false;
            }
            Gate::Answered => return false,
            Gate::Dialled { open } => {
                self.dial(open, cx);
                return false;
            }
        }
        let place = self.free.last().copied().unwrap_or(self.outstanding.len());
        let Some(Request { operation, address, bytes }) = self.operations.next(cx.now()) else {
            return false;
        };
        let handle = self.handles.nth(place);
        let weight = stages::weight(self.counted.asked, self.handles.loads().into());
        self.counted.asked += 1;
        let begun = if weight > 0 {
            cx.begin(cx.now())
        } else {
            cx.resume(Trail::NONE);
            Begun::NONE
        };
        let reply = if self.operations.has_replies() { address as u32 } else { 0 };
        let entry = Some(Outstanding { operation, bytes, reply, asked: cx.now(), weight, begun });
        if self.free.pop().is_some() {
            self.outstanding[place] = entry;
        } else {
            self.outstanding.push(entry);
        }
        self.counted.becomes(self.counted.number + 1, cx.now());
        let transfer = Transfer { operation, bytes, handle, unit: self.unit, address };
        cx.send(ASK, Span::ZERO, P::ask(transfer));
        true
    }

    /// Asks for a connection to be opened, or closed: a request without bytes, which nobody counts.
    fn dial(&mut self, open: bool, cx: &mut Context<'_>) {
        self.paused = true;
        let place = self.free.pop().unwrap_or_else(|| {
            self.outstanding.push(None);
            self.outstanding.len() - 1
        });
        self.dialling = Some(place);
        cx.resume(Trail::NONE);
        let (operation, handle) = (Operation::Write, self.handles.nth(place));
        let transfer = Transfer { operation, bytes: 0, handle, unit: self.unit, address: open.into() };
        cx.send(ASK, Span::ZERO, P::ask(transfer));
    }

    /// Asks to be woken for the next arrival of an open loop.
    fn schedule(&mut self, cx: &mut Context<'_>) {
        let interval = match self.arrivals {
            Arrivals::Closed { .. } => return,
            Arrivals::Fixed { interval } => interval,
            Arrivals::Poisson { mean } => self.intervals.exponential(mean),
        };
        cx.wake_at(cx.now() + interval, ARRIVAL);
    }
    /// Asks until as many are outstanding as a closed loop may have.
    fn fill(&mut self, cx: &mut Context<'_>) {
        if let Arrivals::Closed { outstanding } = self.arrivals {
            while self.counted.number < u64::from(outstanding) && self.ask(cx) {}
        }
    }
}

impl<P: LoadProtocol> CountsOperations for Load<P> {
    fn progress(&self) -> (u64, u64) {
        Self::progress(self)
    }
    fn reset(&mut self, at: Instant) {
        Self::reset(self, at);
    }
    fn results(&self, at: Instant) -> Results {
        Self::results(self, at)
    }
    fn tally(&self, at: Instant) -> Tally {
        let [reads, writes] = &self.counted.sides;
        Tally { reads: reads.answered(), writes: writes.answered(), area_ps: self.counted.area_up_to(at) }
    }
    fn note_latencies(&mut self) {
        self.counted.noted = Some(Default::default());
    }
    fn take_latencies(&mut self) -> [Vec<Span>; 2] {
        self.counted.noted.as_mut().map(std::mem::take).unwrap_or_default()
    }
    fn stop(&mut self) {
        Self::stop(self);
    }
    fn overloaded(&self) -> Option<Instant> {
        Self::overloaded(self)
    }
}

impl<P: LoadProtocol> Component<Message> for Load<P> {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.fill(cx);
        self.schedule(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == BURST {
            self.paused = false;
            self.fill(cx);
        } else if self.counted.number >= MOST_OUTSTANDING {
            self.overloaded = Some(cx.now());
            self.stopped = true;
        } else if self.ask(cx) {
            self.schedule(cx);
        }
    }

    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Some(Done { handle, status }) = P::answer(message) else {
            unreachable!("a load is sent answers, not {message:?}")
        };
        let place = self.handles.index(handle).filter(|place| *place < self.outstanding.len());
        if place.is_some() && place == self.dialling {
            self.free.extend(self.dialling.take());
            self.paused = false;
            return self.fill(cx);
        }
        let open = place.and_then(|place| Some((place, self.outstanding[place].take()?)));
        let (place, open) =
            open.unwrap_or_else(|| panic!("operation {handle} was answered, but is not outstanding"));
        self.free.push(place);
        let (now, counted) = (cx.now(), &mut self.counted);
        let latency = now - open.asked;
        self.completed += 1;
        self.latency_sum = self.latency_sum.wrapping_add(latency.as_ps());
        counted.becomes(counted.number - 1, now);
        counted.residence_ps += counted.residence(open.asked, now);
        let side = &mut counted.sides[open.operation as usize];
        side.count(status, open.bytes, latency);
        if open.reply > 0 && status == Status::Ok {
            side.replies.count(open.reply);
        }
        if let (Some(noted), Status::Ok) = (&mut counted.noted, status) {
            noted[open.operation as usize].push(latency);
        }
        if open.weight > 0 {
            if status == Status::Ok {
                side.stages.take(open.asked..now, open.weight, cx);
            }
            cx.end(open.begun);
        }
        if let (Some(intervals), Status::Ok) = (&mut counted.intervals, status) {
            intervals.record(now - counted.since, open.operation, open.bytes);
        }
        self.operations.answered(latency, now);
        self.fill(cx);
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("asked", self.operations.made().to_string());
        see("answered", self.completed.to_string());
        see("outstanding", self.counted.number.to_string());
    }

    fn digest(&self) -> u64 {
        mix(self.completed) ^ mix(self.latency_sum)
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn CountsOperations }
}
