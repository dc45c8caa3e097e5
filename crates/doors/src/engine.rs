//! Twin and bytes together: commands in, replies out; time is an argument.
//!
//! ```text
//!  clock      ── ask ──────────────────────── reply ──►          whoever has a clock, or none
//!                 │ enters at this time         ▲ the answer's time, less the lead
//!  machine    ────┴──────────── … ── answer ────┴──────►
//! ```
//!
//! **Real time.** A command enters the machine at the time of the clock at which it arrives, and its reply is sent
//! when the clock reaches the machine's answer. The door itself takes time in both directions: by this **lead**
//! replies have to be sent earlier. If the drive's firmware has a latency that occupies nothing, it is reduced by the
//! lead, and everything else is unchanged. For the rest of the lead the machine is run ahead, and commands that
//! arrive before the time up to which it has run enter there, since no answer can be given before all earlier
//! commands are known. So this compensates fully with one request in progress, and partly with more.
//!
//! **Notice.** If the firmware has more of such a latency than the lead, it is further reduced by a notice, so that
//! answers are known this long before they are due. Simulating a request takes microseconds of a core: without
//! notice, one of several requests due together would be late by the time that simulating the others takes.
//!
//! **Virtual time.** Time passes when a caller waits ([`Engine::next_replies`]), exactly as in a run.

use crate::bytes::{Content, CutOutcome, Unsure};
use crate::command::{Command, Ended, Kind, Request};
use crate::drive::Drive;
use crate::faults::{Fault, ToCome, When};
use crate::lateness::{Lateness, Told};
use crate::problem::Problem;
use crate::record::{Asked, Record};
use crate::twin::{Answer, Tag, Twin};
use crate::unit::Unit;
use lanetwin_kernel::Stream;
use lanetwin_ssd::telemetry::{Section, State};
use lanetwin_ssd::{ByteStore, SparseMemory, StoreFault};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

/// Machine time after which an unanswered command is given up.
const PATIENCE: Span = Span::from_us(3_600_000_000);
/// Time by which answers are known before they are due, if the drive allows it. `assumed`: the time to simulate some
/// ten requests, and no longer than doors watch the clock ([`crate::local`]).
const NOTICE: Span = Span::from_us(60);

/// The reply to a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The asker's name for it.
    pub ticket: u64,
    /// Outcome.
    pub ended: Ended,
    /// Data read.
    pub data: Vec<u8>,
    /// Latency, in the time of the machine.
    pub latency: Span,
}

/// A command in progress.
struct Pending {
    ticket: u64,
    command: Command,
    /// Whether a fault affected it.
    is_faulted: bool,
    /// Whether its answer is due as soon as it is known, or nearly so.
    is_urgent: bool,
}

/// A reply that is due at a time of the machine.
struct Due {
    pending: Pending,
    answer: Answer,
}

/// A drive that is used.
pub struct Engine {
    twin: Twin,
    /// By the numbers that commands have.
    units: Vec<Unit>,
    lateness: Lateness,
    drive: Drive,
    /// The machine's time at the clock's zero.
    zero: Instant,
    /// By how much replies leave earlier.
    lead: Span,
    /// Time by which the machine is run ahead: the part of the lead by which its drives cannot be faster.
    ahead: Span,
    /// Replies that are due within this time of one another are made together.
    gathered: Span,
    open: BTreeMap<Tag, Pending>,
    /// Number of urgent ones.
    urgent: usize,
    /// By the time at which they are due, and a number.
    due: BTreeMap<(Instant, u64), Due>,
    /// Replies that nothing has to be waited for.
    at_once: Vec<Reply>,
    made: u64,
    /// Random stream of faults.
    chance: Stream,
    /// Faults that are still to come, in the time of the machine.
    to_come: ToCome,
    cuts: u64,
    has_power: bool,
    answers: Vec<Answer>,
    record: Option<Record>,
}

impl Engine {
    /// A drive after power on, with these bytes.
    #[must_use]
    pub fn new(drive: &Drive, store: Box<dyn ByteStore + Send>) -> Self {
        Self::of(drive, vec![store])
    }
    /// A drive and those beside it, with the bytes of each; for those of which none are given, in memory.
    #[must_use]
    pub fn of(drive: &Drive, stores: Vec<Box<dyn ByteStore + Send>>) -> Self {
        let memory = || Box::new(SparseMemory::new()) as Box<dyn ByteStore + Send>;
        let stores = stores.into_iter().chain(std::iter::repeat_with(memory));
        let units = drive.all_facts().into_iter().zip(stores);
        Self {
            twin: Twin::new(drive),
            units: units.map(|(facts, store)| Unit::new(store, facts)).collect(),
            lateness: Lateness::default(),
            drive: drive.clone(),
            zero: Instant::ZERO,
            lead: Span::ZERO,
            ahead: Span::ZERO,
            gathered: Span::ZERO,
            open: BTreeMap::new(),
            urgent: 0,
            due: BTreeMap::new(),
            at_once: Vec::new(),
            made: 0,
            chance: Stream::new(drive.seed, "door", "faults"),
            to_come: ToCome::default(),
            cuts: 0,
            has_power: true,
            answers: Vec::new(),
            record: None,
        }
    }
    /// Records commands from now on.
    pub fn record_into(&mut self, record: Option<Record>) {
        self.record = record;
    }
    /// Ends the record, if there is one.
    ///
    /// # Errors
    /// Not all of it could be written.
    pub fn end_record(&mut self) -> Result<(), Problem> {
        self.record.take().map_or(Ok(()), Record::close)
    }
    /// The same with a machine that has started: the clock's zero is when a first read has been answered.
    #[must_use]
    pub fn started(mut self) -> Self {
        self.start(Instant::ZERO);
        self
    }
    /// Lets the machine start, in no time of the clock.
    fn start(&mut self, now: Instant) {
        for (number, unit) in (0..).zip(&self.units) {
            let bytes = unit.facts.block;
            self.twin.ask(Instant::ZERO, number, Request { kind: Kind::Read, first: 0, bytes });
        }
        let mut answers = Vec::new();
        for _ in &self.units {
            self.twin.advance_to_answer(Instant::ZERO + PATIENCE, &mut answers);
        }
        let passed = now.since(Instant::ZERO);
        let at = self.twin.from() + passed;
        self.twin.advance(at, &mut answers);
        self.zero = Instant::ZERO + at.since(Instant::ZERO + passed);
    }
    /// The drive.
    #[must_use]
    pub const fn drive(&self) -> &Drive {
        &self.drive
    }
    /// Lateness of replies.
    #[must_use]
    pub fn lateness(&self) -> Told {
        self.lateness.told()
    }
    /// Content of the Telemetry log of the drives, and counters of the door, up to the time to which the machine has
    /// been run.
    pub fn state(&mut self, now: Instant) -> State {
        let until = self.machine_time(now);
        if until > self.twin.from() {
            let mut answers = std::mem::take(&mut self.answers);
            self.twin.advance(until, &mut answers);
            self.take(&mut answers);
            self.answers = answers;
        }
        let mut states = self.twin.states();
        let mut state = match states.len() {
            1 => states.remove(0).1,
            _ => State::default(),
        };
        states.into_iter().for_each(|(name, other)| state.append(&name, other));
        let (mut door, told) = (Section::new("door"), self.lateness());
        door.tell("answers", told.answers);
        door.tell("answers_that_a_fault_had_a_hand_in", told.faulted);
        door.tell("late_share", format!("{:.6}", told.late_share));
        door.tell("power_cuts", self.cuts);
        state.areas[0].push(door);
        state
    }
    /// Resets the lateness of replies, at the start of a measurement.
    pub fn forget_lateness(&mut self) {
        self.lateness = Lateness::default();
    }
    /// By how much replies leave earlier than the machine's answers, from a start of the machine on. Nothing may be in
    /// progress; if something is, this changes nothing.
    pub fn set_lead(&mut self, now: Instant, lead: Span) {
        if self.in_progress() > 0 {
            return;
        }
        let (drive, earlier) = self.drive.earlier(lead + NOTICE);
        self.twin = Twin::new(&drive);
        self.start(now);
        let least = earlier.iter().map(|earlier| earlier.reads.min(earlier.writes)).min().unwrap_or_default();
        (self.lead, self.ahead) = (lead, less(lead, least));
        self.units.iter_mut().zip(earlier).for_each(|(unit, earlier)| unit.earlier = earlier);
    }
    /// From now on sends replies that are due within this time of the first one together, when the last of them is
    /// due.
    pub const fn gather(&mut self, within: Span) {
        self.gathered = within;
    }
    /// When the next replies are sent.
    fn first_due(&self) -> Option<Instant> {
        let (first, _) = *self.due.first_key_value()?.0;
        let together = self.due.range(..=(first + self.gathered, u64::MAX));
        together.map(|((due, _), _)| *due).next_back()
    }
    /// Number of commands without a reply.
    #[must_use]
    pub fn in_progress(&self) -> usize {
        self.open.len() + self.due.len() + self.at_once.len()
    }

    /// Asks at a time of the clock; the reply has this ticket.
    pub fn ask(&mut self, now: Instant, ticket: u64, command: Command) {
        let at = self.machine_time(now);
        self.bring_faults(at);
        let by_chance = self.to_come.drawn(command.unit, &mut self.chance);
        if let Some(unit) = self.units.get_mut(usize::from(command.unit)) {
            by_chance.iter().for_each(|fault| unit.fault(at, fault));
        }
        let unit = self.units.get(usize::from(command.unit));
        let Some(unit) = unit.filter(|unit| self.has_power && unit.facts.allow(command.request).is_ok())
        else {
            let ended = if self.has_power { Ended::Aborted } else { Ended::NoPower };
            self.at_once.push(Reply { ticket, ended, data: Vec::new(), latency: Span::ZERO });
            return;
        };
        let up = unit.faults.down_until();
        let is_faulted = at < up;
        if let Some(record) = &mut self.record {
            record.asked(ticket, Asked { at: now, asker: command.asker, request: command.request });
        }
        let is_urgent = unit.earlier.of(command.request.kind) < self.lead + NOTICE;
        self.urgent += usize::from(is_urgent);
        let tag = self.twin.ask(at.max(up), command.unit, command.request);
        self.open.insert(tag, Pending { ticket, command, is_faulted, is_urgent });
    }
    /// Whether the link of one of the drives is down in a way that registers show.
    pub fn is_link_lost(&mut self, now: Instant, unit: u16) -> bool {
        let at = self.machine_time(now);
        self.bring_faults(at);
        self.units.get(usize::from(unit)).is_some_and(|unit| at < unit.faults.lost_until())
    }
    /// Replies at once: no drive has a part in it.
    pub fn echo(&mut self, ticket: u64) {
        self.at_once.push(Reply { ticket, ended: Ended::Well, data: Vec::new(), latency: Span::ZERO });
    }
    fn machine_time(&self, now: Instant) -> Instant {
        self.zero + now.since(Instant::ZERO)
    }

    /// The clock is at `now`: every reply that is due.
    pub fn poll(&mut self, now: Instant) -> Vec<Reply> {
        let until = self.machine_time(now) + self.ahead;
        self.bring_faults(self.machine_time(now));
        if !self.open.is_empty() {
            let mut answers = std::mem::take(&mut self.answers);
            self.twin.advance(until, &mut answers);
            self.take(&mut answers);
            self.answers = answers;
        }
        self.replies(until)
    }
    /// When the clock must be checked next; [`Instant::NEVER`] if nothing will happen before another command.
    pub fn next_due(&mut self) -> Instant {
        if !self.at_once.is_empty() {
            return Instant::ZERO;
        }
        let event = if self.open.is_empty() { Instant::NEVER } else { self.twin.next_event() };
        let event = match event {
            Instant::NEVER => event,
            _ if self.urgent > 0 => event,
            // half of the notice is left for the work at that time
            _ => event + Span::from_ps(NOTICE.as_ps() / 2),
        };
        let first = event.min(self.first_due().unwrap_or(Instant::NEVER));
        if first == Instant::NEVER { first } else { Instant::ZERO + first.since(self.zero + self.ahead) }
    }
    /// Advances time to the next reply. Returns the replies of that instant, and the time; `None` if nothing is in
    /// progress.
    pub fn next_replies(&mut self, now: Instant) -> Option<(Instant, Vec<Reply>)> {
        if !self.at_once.is_empty() {
            return Some((now, std::mem::take(&mut self.at_once)));
        }
        let mut answers = std::mem::take(&mut self.answers);
        let reply = loop {
            let first = self.first_due();
            if self.open.is_empty() {
                break first.map(|at| (at, self.replies(at)));
            }
            let given_up = self.machine_time(now) + PATIENCE;
            let until = first.unwrap_or(given_up);
            self.twin.advance_to_answer(until, &mut answers);
            if answers.is_empty() && first.is_none() {
                self.give_up();
                break Some((given_up, std::mem::take(&mut self.at_once)));
            }
            self.take(&mut answers);
            let time = first.map_or(self.twin.from(), |at| at.min(self.twin.from()));
            let replies = self.replies(time);
            if !replies.is_empty() {
                break Some((time, replies));
            }
        };
        self.answers = answers;
        reply.map(|(at, replies)| (Instant::ZERO + at.since(self.zero), replies))
    }
    fn give_up(&mut self) {
        self.urgent = 0;
        for (_, pending) in std::mem::take(&mut self.open) {
            let reply =
                Reply { ticket: pending.ticket, ended: Ended::Aborted, data: Vec::new(), latency: PATIENCE };
            self.over(pending.ticket, None);
            self.at_once.push(reply);
        }
    }
    /// Notes that a command has been answered after this time, or will not be.
    fn over(&mut self, ticket: u64, latency: Option<Span>) {
        if let Some(record) = &mut self.record {
            record.over(ticket, latency);
        }
    }

    /// Notes when each answer is due.
    fn take(&mut self, answers: &mut Vec<Answer>) {
        for answer in answers.drain(..) {
            // of something that a cut has ended
            let Some(mut pending) = self.open.remove(&answer.tag) else { continue };
            self.urgent -= usize::from(pending.is_urgent);
            let request = pending.command.request;
            let Unit { faults, earlier, .. } = &self.units[usize::from(pending.command.unit)];
            // due time of the reply on the clock, in the time of the machine, which is run ahead
            let undisturbed = answer.at + less(self.ahead + earlier.of(request.kind), self.lead);
            let due = (undisturbed + faults.extra(request, &mut self.chance)).max(faults.down_until());
            pending.is_faulted |= due > undisturbed;
            self.made += 1;
            self.due.insert((due, self.made), Due { pending, answer });
        }
    }
    /// Everything that is due at a time of the machine.
    fn replies(&mut self, until: Instant) -> Vec<Reply> {
        let mut replies = std::mem::take(&mut self.at_once);
        if self.first_due().is_none_or(|due| due > until) {
            return replies;
        }
        while let Some(first) = self.due.first_entry().filter(|first| first.key().0 <= until) {
            let due = first.key().0;
            let Due { pending, answer } = first.remove();
            let Pending { ticket, command, is_faulted, .. } = pending;
            if is_faulted {
                self.lateness.record_faulted();
            } else {
                let earlier = self.units[usize::from(command.unit)].earlier.of(command.request.kind);
                let predicted = answer.at.since(answer.asked) + earlier;
                self.lateness.record(predicted, until.since(due));
            }
            let (ended, data) =
                self.units[usize::from(command.unit)].carry_out(command, answer.is_done, &mut self.chance);
            let latency = due.since(answer.asked);
            self.over(ticket, Some(latency));
            replies.push(Reply { ticket, ended, data, latency });
        }
        replies
    }

    /// Applies a fault to one of the drives from `now` on. Returns whether there is such a drive.
    pub fn fault(&mut self, now: Instant, unit: u16, fault: &Fault) -> bool {
        let at = self.machine_time(now);
        let Some(unit) = self.units.get_mut(usize::from(unit)) else { return false };
        unit.fault(at, fault);
        true
    }
    /// Schedules a fault of one of the drives: later, repeatedly or at random. Returns whether there is such a drive.
    /// `None` at once cancels this drive's scheduled faults.
    pub fn fault_later(&mut self, now: Instant, unit: u16, (when, fault): (When, &Fault)) -> bool {
        let at_once = when.after == Span::ZERO && when.one_in == 0;
        if *fault == Fault::None && at_once {
            self.to_come.forget(unit);
        }
        if at_once && when.every == Span::ZERO {
            return self.fault(now, unit, fault);
        }
        let is_there = usize::from(unit) < self.units.len();
        if is_there {
            self.to_come.plan(self.machine_time(now), unit, (when, fault));
        }
        is_there
    }
    /// Applies faults that are due.
    fn bring_faults(&mut self, until: Instant) {
        for (at, unit, fault) in self.to_come.due(until) {
            self.units[usize::from(unit)].fault(at, &fault);
        }
    }
    /// Cuts the power: commands in progress end, and new ones end at once until the power is back.
    pub fn power_cut(&mut self) -> CutOutcome {
        let due = std::mem::take(&mut self.due).into_values().map(|due| due.pending);
        let ended: Vec<Pending> = due.chain(std::mem::take(&mut self.open).into_values()).collect();
        self.urgent = 0;
        let mut under_way: Vec<Vec<Unsure>> = self.units.iter().map(|_| Vec::new()).collect();
        for Pending { ticket, command, .. } in ended {
            let Request { kind, first, bytes } = command.request;
            let under_way = &mut under_way[usize::from(command.unit)];
            match kind {
                Kind::Write => under_way.push(Unsure { first, content: Content::Data(command.data) }),
                Kind::Deallocate | Kind::WriteZeroes => {
                    under_way.push(Unsure { first, content: Content::Zeroes(bytes.into()) });
                }
                Kind::Read | Kind::Compare | Kind::Flush => {}
            }
            self.over(ticket, None);
            let (ended, data, latency) = (Ended::NoPower, Vec::new(), Span::ZERO);
            self.at_once.push(Reply { ticket, ended, data, latency });
            self.lateness.record_faulted();
        }
        self.has_power = false;
        self.cuts += 1;
        let mut chance = Stream::new(self.drive.seed ^ self.cuts, "door", "power cut");
        let mut all = CutOutcome::default();
        for (unit, under_way) in self.units.iter_mut().zip(under_way) {
            let one = unit.bytes.power_cut(&under_way, &mut chance).unwrap_or_default();
            all = CutOutcome { kept: all.kept + one.kept, lost: all.lost + one.lost };
        }
        all
    }
    /// The power is back. The drive takes no time to start.
    pub const fn power_on(&mut self) {
        self.has_power = true;
    }
    /// Every byte of one of the drives becomes zero, at once.
    pub fn erase(&mut self, unit: u16) {
        self.units.get_mut(usize::from(unit)).into_iter().for_each(Unit::erase);
    }
    /// Whether the power is on.
    #[must_use]
    pub const fn has_power(&self) -> bool {
        self.has_power
    }
    /// Everything that was acknowledged survives the end of the program.
    ///
    /// # Errors
    /// The store cannot write it.
    pub fn close(&mut self) -> Result<(), StoreFault> {
        let all: Vec<_> = self.units.iter_mut().map(Unit::close).collect();
        all.into_iter().collect()
    }
}

/// The difference of two lengths of time, or zero.
const fn less(length: Span, by: Span) -> Span {
    Span::from_ps(length.as_ps().saturating_sub(by.as_ps()))
}
