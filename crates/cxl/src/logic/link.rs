//! Both directions of a link, flit by flit.
//!
//! ```text
//!            submit                    flits                       deliver
//!  host    ──Req, RwD──► [transmit] ═══════════════► [receive] ──► device      M2S
//!  host ◄── deliver ──── [receive]  ◄═══════════════ [transmit] ◄──DRS, NDR──  S2M
//!                                     credits, retries: between the two
//! ```
//!
//! **Late, not early.** A flit that starts at tick *t* is decided with everything that was handed in for *t* or before, and its messages
//! arrive a flit, a flight and a receiver later. Between the two nobody can see what was decided. So the link asks to be woken only
//! just before the first delivery ([`Link::deadline`]), and then decides all flits up to there at once: some flits for each wake, and
//! the same flits as with one wake each.
//!
//! The two directions are decided in the order of time, since each carries the credits and the retry requests of the other: they take at
//! least a flit and a flight, so that what starts at one tick in both directions is independent.

use super::activity::Activity;
use super::clock::{Grid, Place};
use super::half::{At, Half, NEVER, Returning};
use super::packer::{Class, Packed, pack};
use super::queue::Entry;
use super::retry::{Cargo, Control, Retry, Sequence};
use super::spec::{LinkSpec, Release};
use crate::spec::Direction;
use crate::spec::constants::{
    CREDITS_PER_FIELD, FLIT_BYTES, IO_FLIT_PAYLOAD_BYTES, LINE_SLOTS, RETRY_SEQUENCE_FLITS,
};
use lanetwin_units::{Instant, LinkRate, Ticks};

/// Bits of a flit that can be wrong.
const FLIT_BITS: u64 = FLIT_BYTES * 8;

/// What a link asks of its surroundings.
pub trait Environment<U> {
    /// This message arrives at `at`. Calls for one direction come in the order of time.
    fn deliver(&mut self, direction: Direction, at: Instant, message: U);
    /// How many bits of a direction are right before the next wrong one; drawn anew after each error.
    fn clean_bits(&mut self, direction: Direction, bit_error_ratio: f64) -> u64;
}

/// Sees every flit that carries something, when it is decided: for studies and tests.
pub type FlitTap = Box<dyn FnMut(Direction, Ticks, FlitSeen)>;

/// What a tap sees of a flit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlitSeen {
    /// A protocol flit or an all-data flit.
    Memory(Packed),
    /// A LLCRD flit.
    Credits,
    /// A RETRY.Req sequence.
    RetryRequest,
    /// A RETRY.Ack sequence.
    RetryAcknowledge,
    /// A flit out of the retry buffer.
    Replayed,
    /// A flit of CXL.io.
    Io,
}

/// A link. `U` is what a message is to those who send it.
pub struct Link<U> {
    spec: LinkSpec,
    grid: Grid,
    halves: [Half<U>; 2],
    /// From the start of a flit to the arrival of its messages, by direction \[ticks\].
    lag: [u64; 2],
    transmit: [u64; 2],
    flush: u64,
    submitted: u64,
    tap: Option<FlitTap>,
}

impl<U: Copy> Link<U> {
    /// A link at rest.
    ///
    /// # Panics
    /// If the generation is below Gen3, or S2M credits are to wait for answers, which there are none to responses.
    #[must_use]
    pub fn new(spec: LinkSpec) -> Self {
        let grid = Grid::new(spec.generation, spec.width, spec.sync_header_bypass, spec.skp);
        assert!(spec.credits[1].release != Release::Answered, "nobody answers a response");
        let half = |d: usize| {
            let io = spec.io[d].bytes_per_second;
            let period =
                if io == 0 { 0 } else { LinkRate::bytes_per_second(io).ticks_for(IO_FLIT_PAYLOAD_BYTES).0 };
            Half::new(grid, [spec.credits[d].no_data, spec.credits[d].data], period)
        };
        let lag = |receiver: usize| grid.flit() + (spec.flight + spec.receive[receiver]).as_ticks().0;
        Self {
            grid,
            halves: [half(0), half(1)],
            lag: [lag(1), lag(0)],
            transmit: spec.transmit.map(|span| span.as_ticks().0),
            flush: spec.credit_flush.as_ticks().0,
            submitted: 0,
            spec,
            tap: None,
        }
    }
    /// What it was built from.
    #[must_use]
    pub const fn spec(&self) -> &LinkSpec {
        &self.spec
    }
    /// When its flits start.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }
    /// What a direction has done so far.
    #[must_use]
    pub fn activity(&self, direction: Direction) -> Activity {
        self.halves[direction.index()].activity
    }
    /// How many messages of a class have been handed in and not sent yet.
    #[must_use]
    pub fn waiting(&self, direction: Direction, class: Class) -> usize {
        self.halves[direction.index()].queues[class.index()].len()
    }
    /// How many credits a transmitter has in hand; `u32::MAX` is infinite.
    #[must_use]
    pub fn credits(&self, direction: Direction, class: Class) -> u32 {
        self.halves[direction.index()].credits[class.index()]
    }
    /// How many credits of a direction are on their way back or owed.
    #[must_use]
    pub fn credits_returning(&self, direction: Direction, class: Class) -> u32 {
        let d = direction.index();
        let on_the_way = self.halves[d].returning.iter().filter(|credit| credit.class == class);
        let owed = self.halves[1 - d].owed[class.index()].len() as u32;
        on_the_way.map(|credit| credit.credits).sum::<u32>() + owed
    }
    /// Whether flits of a direction are being sent again.
    #[must_use]
    pub const fn retries(&self, direction: Direction) -> bool {
        self.halves[direction.index()].retry.is_some()
    }
    /// Shows every flit to `tap`.
    pub fn set_tap(&mut self, tap: Option<FlitTap>) {
        self.tap = tap;
    }

    /// A message is handed to the link at `at`. The answer says when the link must be pumped at the latest, as far as this message goes.
    #[inline]
    pub fn submit(&mut self, direction: Direction, class: Class, at: Instant, message: U) -> Instant {
        let entry = self.entry(direction, at, message);
        let mut bound = self.bound(direction, entry.at);
        if direction == Direction::S2m && self.spec.credits[0].release == Release::Answered {
            // An answer with data is that of a Req, one without that of a RwD.
            let answered = match class {
                Class::Data => Class::NoData,
                Class::NoData => Class::Data,
            };
            let free = Ticks::from(at).0;
            self.owe(Direction::M2s, answered, free);
            if self.halves[0].credits[answered.index()] == 0 {
                // Somebody may wait for this credit, which can leave before the answer does.
                bound = bound.min(self.bound(direction, free + self.flush));
            }
        }
        self.halves[direction.index()].queues[class.index()].insert(entry);
        bound
    }
    /// As [`Link::submit`], for a message that takes one flit of CXL.io.
    pub fn submit_io(&mut self, direction: Direction, at: Instant, message: U) -> Instant {
        let entry = self.entry(direction, at, message);
        let bound = self.bound(direction, entry.at);
        self.halves[direction.index()].io.insert(entry);
        bound
    }
    #[inline]
    fn entry(&mut self, direction: Direction, at: Instant, user: U) -> Entry<U> {
        self.submitted += 1;
        Entry { at: Ticks::from(at).0 + self.transmit[direction.index()], number: self.submitted, user }
    }
    /// A picosecond before anything that starts at or after `at` can arrive.
    #[inline]
    fn bound(&self, direction: Direction, at: u64) -> Instant {
        let d = direction.index();
        let start = at.max(self.halves[d].next.start);
        Instant::from_ps(Ticks(start + self.lag[d]).as_ps_floor().as_ps() - 1)
    }
    /// Notes a free buffer at the receiver of a direction.
    #[inline]
    fn owe(&mut self, direction: Direction, class: Class, at: u64) {
        let d = direction.index();
        if self.halves[d].credits[class.index()] != u32::MAX {
            self.halves[1 - d].owe(class, at);
        }
    }

    /// When the link must be pumped at the latest; none if nothing is known that anybody waits for.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let starves = self.halves.iter().any(Half::starves);
        let of = |direction: Direction| {
            let half = &self.halves[direction.index()];
            let wanted = if starves { half.wanted_at_all(self.flush) } else { half.wanted() };
            (wanted != NEVER).then(|| self.bound(direction, self.grid.from(half.next, wanted).start))
        };
        Direction::ALL.into_iter().filter_map(of).min()
    }

    /// Decides every flit that starts before `now`.
    pub fn pump(&mut self, now: Instant, env: &mut impl Environment<U>) {
        let limit = Ticks::from(now).0;
        loop {
            let [there, back] = [self.start(0), self.start(1)];
            let d = usize::from(back.start < there.start);
            let place = if d == 0 { there } else { back };
            if place.start >= limit {
                return;
            }
            self.flit(Direction::ALL[d], place, env);
        }
    }
    /// The next flit of a direction that is not idle.
    #[inline]
    fn start(&self, d: usize) -> Place {
        let half = &self.halves[d];
        let wanted = half.wanted_at_all(self.flush);
        if wanted <= half.next.start {
            half.next
        } else if wanted == NEVER {
            Place::NEVER
        } else {
            self.grid.find(wanted)
        }
    }

    /// Sends one flit, or a sequence of control flits.
    fn flit(&mut self, direction: Direction, place: Place, env: &mut impl Environment<U>) {
        let (d, now) = (direction.index(), place.start);
        let half = &mut self.halves[d];
        half.take_credits(now);
        if half.rollover < LINE_SLOTS && half.controls.front().is_some_and(|control| control.at <= now) {
            self.control(direction, place);
            return;
        }
        half.next = self.grid.after(place);
        let memory = half.memory_wanted() <= now;
        let io = half.io.front().is_some_and(|entry| entry.at <= now);
        if (io || half.background[0] <= now) && (half.io_turn || !memory) {
            half.io_turn = false;
            self.io_flit(direction, now, io, env);
            return;
        }
        half.io_turn = true;
        if half.retry.as_ref().is_some_and(|retry| retry.replaying()) {
            self.replay(direction, now, env);
        } else if memory {
            self.memory_flit(direction, now, env);
        } else {
            self.credit_flit(direction, now, env);
        }
    }

    fn see(&mut self, direction: Direction, now: u64, flit: FlitSeen) {
        if let Some(tap) = &mut self.tap {
            tap(direction, Ticks(now), flit);
        }
    }

    /// A sequence of control flits: it is not interrupted.
    fn control(&mut self, direction: Direction, place: Place) {
        let d = direction.index();
        let half = &mut self.halves[d];
        let Some(control) = half.controls.pop_front() else { return };
        let mut last = place;
        for _ in 1..RETRY_SEQUENCE_FLITS {
            last = self.grid.after(last);
        }
        half.next = self.grid.after(last);
        half.activity.retry_flits += u64::from(RETRY_SEQUENCE_FLITS);
        match control.what {
            Sequence::Request => {
                let at = last.start + self.lag[d];
                self.halves[1 - d].must_send(Control { at, what: Sequence::Acknowledge });
                self.see(direction, place.start, FlitSeen::RetryRequest);
            }
            Sequence::Acknowledge => {
                if let Some(retry) = &mut half.retry {
                    retry.begin_again();
                }
                self.see(direction, place.start, FlitSeen::RetryAcknowledge);
            }
        }
    }

    /// Whether the flit that is sent now arrives with a wrong CRC.
    #[inline]
    fn fails(&mut self, direction: Direction, env: &mut impl Environment<U>) -> bool {
        if self.spec.bit_error_ratio <= 0.0 {
            return false;
        }
        let half = &mut self.halves[direction.index()];
        if half.clean_bits == NEVER {
            half.clean_bits = env.clean_bits(direction, self.spec.bit_error_ratio);
        }
        if half.clean_bits >= FLIT_BITS {
            half.clean_bits -= FLIT_BITS;
            return false;
        }
        half.clean_bits = NEVER;
        half.activity.crc_errors += 1;
        true
    }

    /// A flit of CXL.io: of the steady load, or one with a message. After an error it is sent again, as the data-link layer of PCI Express
    /// would see to.
    fn io_flit(&mut self, direction: Direction, now: u64, message: bool, env: &mut impl Environment<U>) {
        let d = direction.index();
        self.halves[d].activity.io_flits += 1;
        self.see(direction, now, FlitSeen::Io);
        if self.fails(direction, env) {
            return;
        }
        let half = &mut self.halves[d];
        if !message {
            half.background[0] += half.background[1];
        } else if let Some(entry) = half.io.pop() {
            half.activity.io_messages += 1;
            env.deliver(direction, Ticks(now + self.lag[d]).as_ps_ceil(), entry.user);
        }
    }

    /// A protocol flit or an all-data flit.
    fn memory_flit(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        let d = direction.index();
        let half = &self.halves[d];
        let packed = pack(direction, half.rollover, self.spec.multi_data_headers, &At { half, now });
        self.see(direction, now, FlitSeen::Memory(packed));
        let cargo = self.load(direction, &packed, now);
        self.send(direction, cargo, now, env);
    }
    /// Takes what a flit carries out of the queues.
    #[inline]
    fn load(&mut self, direction: Direction, packed: &Packed, now: u64) -> Cargo<U> {
        let d = direction.index();
        let half = &mut self.halves[d];
        let mut cargo = Cargo::of_credits([0; 2]);
        half.rollover = packed.rollover;
        if packed.all_data {
            half.activity.all_data_flits += 1;
        } else {
            half.activity.protocol_flits += 1;
            cargo.credits = self.give_back(direction, now);
        }
        let half = &mut self.halves[d];
        for slot in &packed.slots {
            if slot.data {
                half.activity.data_slots += 1;
                if let Some(transfer) = half.transfers.front_mut() {
                    transfer.1 -= 1;
                    if transfer.1 == 0 {
                        cargo.add(Class::Data, transfer.0);
                        half.transfers.pop_front();
                    }
                }
                continue;
            }
            for _ in 0..slot.no_data {
                if let Some(entry) = half.queues[Class::NoData.index()].pop() {
                    half.spend(Class::NoData, now);
                    half.activity.no_data_messages += 1;
                    half.activity.waited_ticks += u128::from(now - entry.at);
                    cargo.add(Class::NoData, entry.user);
                }
            }
            for _ in 0..slot.data_headers {
                if let Some(entry) = half.queues[Class::Data.index()].pop() {
                    half.spend(Class::Data, now);
                    half.activity.data_messages += 1;
                    half.activity.waited_ticks += u128::from(now - entry.at);
                    half.transfers.push_back((entry.user, LINE_SLOTS));
                }
            }
            if slot.is_empty() {
                half.activity.empty_slots += 1;
            } else {
                half.activity.message_slots += 1;
            }
        }
        cargo
    }
    /// A LLCRD flit.
    fn credit_flit(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        let credits = self.give_back(direction, now);
        self.halves[direction.index()].activity.credit_flits += 1;
        self.see(direction, now, FlitSeen::Credits);
        self.send(direction, Cargo::of_credits(credits), now, env);
    }
    /// The credits that a header returns.
    #[inline]
    fn give_back(&mut self, direction: Direction, now: u64) -> [u32; 2] {
        let half = &mut self.halves[direction.index()];
        Class::ALL.map(|class| half.give_back(class, now, CREDITS_PER_FIELD))
    }

    /// Sends a new flit.
    #[inline]
    fn send(&mut self, direction: Direction, cargo: Cargo<U>, now: u64, env: &mut impl Environment<U>) {
        let d = direction.index();
        if let Some(retry) = &mut self.halves[d].retry {
            retry.store(cargo);
            self.arrive_in_retry(direction, now, env);
        } else if self.fails(direction, env) {
            self.halves[d].retry = Some(Box::new(Retry::new(cargo)));
            self.ask_again(direction, now);
        } else {
            self.arrive(direction, &cargo, now, env);
        }
    }
    /// Sends a flit of the retry buffer.
    fn replay(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        self.see(direction, now, FlitSeen::Replayed);
        let half = &mut self.halves[direction.index()];
        half.activity.replayed_flits += 1;
        if let Some(retry) = &mut half.retry {
            retry.send_again();
        }
        self.arrive_in_retry(direction, now, env);
    }
    /// The flit just sent reaches a receiver that may drop it.
    fn arrive_in_retry(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        let d = direction.index();
        if self.halves[d].retry.as_ref().is_none_or(|retry| retry.is_deaf()) {
            return;
        }
        if self.fails(direction, env) {
            if let Some(retry) = &mut self.halves[d].retry {
                retry.fail();
            }
            self.ask_again(direction, now);
            return;
        }
        let Some(retry) = &mut self.halves[d].retry else { return };
        let cargo = retry.arrive();
        if retry.is_over() {
            self.halves[d].retry = None;
        }
        self.arrive(direction, &cargo, now, env);
    }
    /// The receiver of a direction has found a wrong CRC in the flit that started at `now`.
    fn ask_again(&mut self, direction: Direction, now: u64) {
        let d = direction.index();
        let at = now + self.lag[d];
        self.halves[1 - d].must_send(Control { at, what: Sequence::Request });
    }
    /// A flit that started at `now` arrives well.
    #[inline]
    fn arrive(&mut self, direction: Direction, cargo: &Cargo<U>, now: u64, env: &mut impl Environment<U>) {
        let d = direction.index();
        let at = now + self.lag[d];
        for class in Class::ALL {
            let credits = cargo.credits[class.index()];
            if credits > 0 {
                self.halves[1 - d].returning.push_back(Returning { at, class, credits });
            }
        }
        for (class, message) in cargo.done() {
            env.deliver(direction, Ticks(at).as_ps_ceil(), message);
            if let Release::After(drain) = self.spec.credits[d].release {
                self.owe(direction, class, at + drain.as_ticks().0);
            }
        }
    }
}
