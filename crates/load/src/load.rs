//! The load: a component that sends requests and counts the answers.

use crate::addresses::Operations;
use crate::fio::{self, JobWorkload};
use crate::handles::Handles;
use crate::intervals::Intervals;
use crate::iometer::access::AccessWorkload;
use crate::requests::{Gate, Request, Requests};
use crate::results::{Little, Results, Side};
use crate::role::{CountsOperations, GaveUp};
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
/// An open loop with this many outstanding is overloaded: each request costs memory here and in the queues below,
/// without limit. `assumed`: four times the 65,535 commands of the largest NVMe queue.
pub const MOST_OUTSTANDING: u64 = 1 << 18;
/// A load that gets more answers than this at one instant has latencies of zero, and time would never pass: no load has
/// this many operations outstanding.
pub const MOST_AT_ONCE: u64 = 1 << 20;
/// Tokens of wakes: the next arrival of an open loop, …
const ARRIVAL: u32 = 0;
/// … or the end of a pause: before a burst, or until the next operation is due.
const BURST: u32 = 1;

/// The protocol of a load.
pub trait LoadProtocol: 'static {
    /// Makes the request.
    fn ask(transfer: Transfer) -> Message;
    /// The answer in a message, if it is one.
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

/// Sends the operations of its [`Workload`] out of port 0, and counts the answers.
#[derive(Debug)]
pub struct Load<P> {
    arrivals: Arrivals,
    operations: Box<dyn Requests>,
    intervals: Stream,
    handles: Handles,
    /// The logical unit that it uses.
    unit: u16,
    /// The outstanding operations, by the index of their handles.
    outstanding: Vec<Option<Outstanding>>,
    free: Vec<usize>,
    stopped: bool,
    /// The time at which an open loop reached [`MOST_OUTSTANDING`]; it has sent nothing since.
    gave_up: Option<(Instant, GaveUp)>,
    /// The last instant at which an operation was answered, and the number of answers then.
    at_once: (Instant, u64),
    /// Whether it waits for the end of a pause, or for a connection to be opened or closed.
    paused: bool,
    /// The index of the handle of the request that opens or closes a connection.
    dialling: Option<usize>,
    completed: u64,
    /// The sum of all latencies, for the digest.
    latency_sum: u64,
    counted: Counted,
    protocol: PhantomData<P>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    operation: Operation,
    bytes: u32,
    /// Size of the reply \[B\].
    reply: u32,
    asked: Instant,
    /// Number of operations that it stands for; 0 if it is not followed.
    weight: u64,
    begun: Begun,
}

/// The counts since a reset.
#[derive(Default, Debug)]
struct Counted {
    since: Instant,
    sides: [Side; 2],
    number: u64,
    /// Number of operations sent.
    asked: u64,
    /// End of the area so far.
    area_until: Instant,
    area_ps: u128,
    /// Sum of the times outstanding of the answered operations.
    residence_ps: u128,
    /// For fio jobs.
    intervals: Option<Intervals>,
    /// Latencies of reads and of writes that have not been taken yet, if they are recorded.
    noted: Option<[Vec<Span>; 2]>,
    /// Durations of the connections that were closed.
    connections: Option<Box<Histogram>>,
}

impl Counted {
    /// Extends the area to `now`, and sets the number outstanding to `number`.
    fn becomes(&mut self, number: u64, now: Instant) {
        self.area_ps += u128::from(self.number) * u128::from(now.since(self.area_until).as_ps());
        self.area_until = now;
        self.number = number;
    }
    /// The area up to `at`, the present.
    fn area_up_to(&self, at: Instant) -> u128 {
        self.area_ps + u128::from(self.number) * u128::from(at.since(self.area_until).as_ps())
    }
    /// Time for which an operation sent at `asked` has been outstanding at `now`, as far as it is counted \[ps\].
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
    /// A load at `path` in a run with this seed, for an access specification of Iometer.
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
    /// A load at `path` in a run with this seed, for a fio job. It ends only if it replays a log.
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
    /// A load at `path` in a run with this seed, with these operations.
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
            gave_up: None,
            at_once: (Instant::ZERO, 0),
            paused: false,
            dialling: None,
            completed: 0,
            latency_sum: 0,
            counted: Counted::default(),
            protocol: PhantomData,
        }
    }

    /// The same load with these handles, as one of several.
    #[must_use]
    pub fn calling(self, handles: Handles) -> Self {
        Self { handles, ..self }
    }
    /// The same load on this logical unit of the device; the default is the first.
    #[must_use]
    pub fn on_unit(mut self, unit: u16) -> Self {
        self.unit = unit;
        self
    }

    /// The same load with the handles and the unit of a slot.
    #[must_use]
    pub fn in_slot(self, slot: Slot<'_>) -> Self {
        self.calling(slot.handles).on_unit(slot.unit)
    }

    /// Starts counting at `at`, the present, which is the end of the warm-up. An outstanding operation counts when it
    /// is answered, with its whole latency.
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
    /// The counts up to `at`, the present.
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
    /// Stops sending.
    pub fn stop(&mut self) {
        self.stopped = true;
    }
    /// When it gave up, and why, if it did: an open loop with [`MOST_OUTSTANDING`] operations outstanding, or a load
    /// with more than [`MOST_AT_ONCE`] answers at one instant.
    #[must_use]
    pub const fn gave_up(&self) -> Option<(Instant, GaveUp)> {
        self.gave_up
    }
    /// Number of operations sent, and number answered, since the start of the run.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.operations.made(), self.completed)
    }

    fn give_up(&mut self, why: GaveUp, now: Instant) {
        self.gave_up = Some((now, why));
        self.stopped = true;
    }
    /// Counts the answers at one instant, and gives up after more than [`MOST_AT_ONCE`].
    #[inline]
    fn count_at_once(&mut self, now: Instant) {
        let (at, answers) = &mut self.at_once;
        *answers = if *at == now { *answers + 1 } else { 1 };
        *at = now;
        if *answers > MOST_AT_ONCE {
            self.give_up(GaveUp::NoTimePasses, now);
        }
    }

    /// Sends the next operation, if there is one.
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

    /// Requests that a connection be opened or closed: a request without bytes that is not counted.
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

    /// Requests a wake at the next arrival of an open loop.
    fn schedule(&mut self, cx: &mut Context<'_>) {
        let interval = match self.arrivals {
            Arrivals::Closed { .. } => return,
            Arrivals::Fixed { interval } => interval,
            Arrivals::Poisson { mean } => self.intervals.exponential(mean),
        };
        cx.wake_at(cx.now() + interval, ARRIVAL);
    }
    /// Sends until a closed loop has its full number outstanding.
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
    fn gave_up(&self) -> Option<(Instant, GaveUp)> {
        Self::gave_up(self)
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
            self.give_up(GaveUp::Overloaded, cx.now());
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
        self.count_at_once(now);
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
