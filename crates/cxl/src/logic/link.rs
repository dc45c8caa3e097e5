//! Both directions of a link with flits of 68 B, flit by flit.
//!
//! ```text
//!            submit                    flits                       deliver
//!  host    ──Req, RwD──► [transmit] ═══════════════► [receive] ──► device      M2S
//!  host ◄── deliver ──── [receive]  ◄═══════════════ [transmit] ◄──DRS, NDR──  S2M
//!                                     credits, retries: between the two
//! ```
//!
//! **Late decisions.** A flit that starts at tick *t* contains messages submitted for *t* or before, and they arrive
//! after the duration of a flit, the time of flight and the latency of the receiver. Nothing outside the link depends
//! on the flit in between. So the link must be woken only just before the first delivery ([`Link::deadline`]), and then
//! decides all flits up to that time: several flits per wake, and the same flits as with one wake each.
//!
//! Each direction carries the credits and retry requests of the other, which also arrive only after these three times.
//! So in a window of that length, from the first pending flit on, one direction is decided after the other. Flits that
//! a tap may see are decided one by one in the order of time.

use super::activity::Activity;
use super::clock::{Grid, Place};
use super::effects::Environment;
use super::half::{FLIT_BITS, Flit, Half, INFINITE, Wire};
use super::packer::{Class, Packed};
use super::plan::Plans;
use super::queue::Entry;
use super::receiver::Receiver;
use super::retry::{Cargo, Control, Retry, Sequence};
use super::ring::NEVER;
use super::spec::{LinkSpec, Release};
use crate::spec::constants::{IO_FLIT_PAYLOAD_BYTES, LINE_SLOTS, RETRY_SEQUENCE_FLITS};
use crate::spec::{Direction, FlitMode};
use lanetwin_units::{Generation, Instant, LinkRate, Ticks};

/// Called with every flit that is not empty, when it is decided: for studies and tests.
pub type FlitTap = Box<dyn FnMut(Direction, Ticks, FlitSeen)>;

/// Description of a flit for a tap.
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
    /// A flit from the retry buffer.
    Replayed,
    /// A flit of CXL.io.
    Io,
}

/// A link. `U` is the sender's type of a message.
pub struct Link<U> {
    spec: LinkSpec,
    grid: Grid,
    halves: [Half<U>; 2],
    transmit: [u64; 2],
    /// Whether a response frees the buffer of its request.
    answers_release: bool,
    /// Least time from the start of a flit of either direction to the first flit of the other direction that can depend
    /// on it \[ticks\].
    reach: u64,
    submitted: u64,
    tap: Option<FlitTap>,
}

impl<U: Copy> Link<U> {
    /// A link at rest.
    ///
    /// # Panics
    /// If the flit mode is not 68 B, the generation is below Gen3 or above Gen5, or S2M credits are to be released by
    /// answers: responses have none.
    #[must_use]
    pub fn new(spec: LinkSpec) -> Self {
        assert!(spec.flits == FlitMode::Bytes68 && spec.generation <= Generation::Gen5, "another flit");
        let grid = Grid::new(spec.generation, spec.width, spec.sync_header_bypass, spec.skp);
        assert!(spec.credits[1].release != Release::Answered, "nobody answers a response");
        let clean_bits = if spec.bit_error_ratio > 0.0 { 0 } else { NEVER };
        let half = |direction: Direction| {
            let d = direction.index();
            let credits = [spec.credits[d].no_data, spec.credits[d].data];
            let wire = Wire {
                grid,
                lag: grid.flit() + (spec.flight + spec.receive[1 - d]).as_ticks().0,
                flush: spec.credit_flush.as_ticks().0,
                drain: match spec.credits[d].release {
                    Release::Answered => [NEVER; 2],
                    Release::After(span) => credits.map(|n| if n == 0 { NEVER } else { span.as_ticks().0 }),
                },
                plans: Plans::new(direction, spec.multi_data_headers),
            };
            let io = spec.io[d].bytes_per_second;
            let period =
                if io == 0 { 0 } else { LinkRate::bytes_per_second(io).ticks_for(IO_FLIT_PAYLOAD_BYTES).0 };
            Half::new(wire, credits, period, clean_bits)
        };
        let halves = Direction::ALL.map(half);
        Self {
            grid,
            reach: halves[0].wire.lag.min(halves[1].wire.lag),
            halves,
            transmit: spec.transmit.map(|span| span.as_ticks().0),
            answers_release: spec.credits[0].release == Release::Answered,
            submitted: 0,
            spec,
            tap: None,
        }
    }
    /// Specification that the link was built from.
    #[must_use]
    pub const fn spec(&self) -> &LinkSpec {
        &self.spec
    }
    /// Start times of its flits.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }
    /// Counters of a direction.
    #[must_use]
    pub fn activity(&self, direction: Direction) -> Activity {
        self.halves[direction.index()].activity()
    }
    /// Number of messages of a class that have been submitted but not sent.
    #[must_use]
    pub fn waiting(&self, direction: Direction, class: Class) -> usize {
        self.halves[direction.index()].queues[class.index()].len()
    }
    /// Number of credits that a transmitter has; `u32::MAX` is infinite.
    #[must_use]
    pub fn credits(&self, direction: Direction, class: Class) -> u32 {
        self.halves[direction.index()].credits[class.index()]
    }
    /// Number of credits of a direction that are free at the receiver or on their way back.
    #[must_use]
    pub fn credits_returning(&self, direction: Direction, class: Class) -> u32 {
        let d = direction.index();
        let on_the_way = self.halves[d].returning.iter().map(|credit| credit.credits[class.index()]);
        on_the_way.sum::<u32>() + self.halves[1 - d].to_return[class.index()].len() as u32
    }
    /// Whether flits of a direction are being sent again.
    #[must_use]
    pub const fn retries(&self, direction: Direction) -> bool {
        self.halves[direction.index()].retry.is_some()
    }
    /// Calls `tap` with every flit from now on.
    pub fn set_tap(&mut self, tap: Option<FlitTap>) {
        for half in &mut self.halves {
            half.watched = tap.is_some();
            half.update_exceptional();
        }
        self.tap = tap;
    }

    /// Submits a message at `at`. Returns the latest time at which the link must be pumped because of this message.
    #[inline(always)]
    pub fn submit(&mut self, direction: Direction, class: Class, at: Instant, message: &U) -> Instant {
        let entry = self.entry(direction, at, message);
        let half = &mut self.halves[direction.index()];
        half.submit(class, entry);
        let bound = half.bound(entry.at);
        if direction == Direction::S2m && self.answers_release {
            self.answered(class, at).min(bound)
        } else {
            bound
        }
    }
    /// Frees the buffer of the request of a response. Returns the latest time at which the link must be pumped because
    /// of this credit.
    #[inline(always)]
    fn answered(&mut self, class: Class, at: Instant) -> Instant {
        // A response with data belongs to a Req, one without data to a RwD.
        let answered = match class {
            Class::Data => Class::NoData,
            Class::NoData => Class::Data,
        };
        let [there, back] = &mut self.halves;
        let (credits, free) = (there.credits[answered.index()], Ticks::from(at).0);
        if credits != INFINITE {
            back.free_credit(answered, free);
        }
        // A request may wait for this credit, which can leave before the response does.
        if credits == 0 { there.bound(free + there.wire.flush) } else { Instant::NEVER }
    }
    /// As [`Link::submit`], for a message that takes one flit of CXL.io.
    pub fn submit_io(&mut self, direction: Direction, at: Instant, message: &U) -> Instant {
        let entry = self.entry(direction, at, message);
        let half = &mut self.halves[direction.index()];
        half.submit_io(entry);
        half.bound(entry.at)
    }
    #[inline(always)]
    fn entry(&mut self, direction: Direction, at: Instant, user: &U) -> Entry<U> {
        self.submitted += 1;
        Entry {
            at: Ticks::from(at).0 + self.transmit[direction.index()],
            number: self.submitted,
            user: *user,
        }
    }

    /// Latest time at which the link must be pumped; `None` if no known flit has an effect outside the link.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let lacks_credits = self.halves.iter().any(Half::lacks_credits);
        let of = |direction: Direction| {
            let half = &self.halves[direction.index()];
            let start = if lacks_credits { half.start() } else { half.first(half.wanted()) };
            (start != Place::NEVER).then(|| half.bound(start.start))
        };
        Direction::ALL.into_iter().filter_map(of).min()
    }

    /// Decides all flits that start before `now`.
    pub fn pump(&mut self, now: Instant, env: &mut impl Environment<U>) {
        let limit = Ticks::from(now).0;
        loop {
            let [there, back] = &mut self.halves;
            let first = there.start().start.min(back.start().start);
            if first >= limit {
                break;
            }
            let window = limit.min(first + self.reach);
            let left = there.plain_flits(Direction::M2s, window, back, env);
            let left = back.plain_flits(Direction::S2m, window, there, env) || left;
            if left {
                self.first_of_any_kind(env);
            }
        }
    }

    /// Sends the next flit or sequence of control flits, with CXL.io, errors and retries taken into account.
    #[cold]
    #[inline(never)]
    fn first_of_any_kind(&mut self, env: &mut impl Environment<U>) {
        let [there, back] = self.halves.each_ref().map(Half::start);
        let (direction, place) =
            if there.start <= back.start { (Direction::M2s, there) } else { (Direction::S2m, back) };
        let half = &mut self.halves[direction.index()];
        half.take_credits(place.start);
        if half.rollover < LINE_SLOTS
            && half.controls.front().is_some_and(|control| control.at <= place.start)
        {
            self.control(direction, place);
        } else {
            half.next = self.grid.after(place);
            self.flit(direction, place.start, env);
        }
        let half = &mut self.halves[direction.index()];
        half.update_exceptional();
        half.update_wanted();
    }
    fn flit(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        let half = &mut self.halves[direction.index()];
        let memory = half.memory_wanted() <= now;
        let io = half.io.at() <= now;
        if (io || half.background[0] <= now) && (half.io_turn || !memory) {
            half.io_turn = false;
            self.io_flit(direction, now, io, env);
            return;
        }
        half.io_turn = true;
        let rollover = half.rollover;
        let (flit, seen) = if half.replays() {
            self.replay(direction, now, env);
            return;
        } else if rollover >= LINE_SLOTS {
            (Flit::AllData, FlitSeen::Memory(Packed::all_data(rollover - LINE_SLOTS)))
        } else if memory {
            let case = half.ready(now).case(rollover);
            (Flit::Protocol(case), FlitSeen::Memory(half.wire.plans.packed(case)))
        } else {
            (Flit::Credits, FlitSeen::Credits)
        };
        self.see(direction, now, seen);
        self.send(direction, flit, now, env);
    }

    fn see(&mut self, direction: Direction, now: u64, flit: FlitSeen) {
        if let Some(tap) = &mut self.tap {
            tap(direction, Ticks(now), flit);
        }
    }

    /// Sends a sequence of control flits without interruption.
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
                let at = last.start + self.halves[d].wire.lag;
                self.halves[1 - d].queue_control(Control { at, what: Sequence::Acknowledge });
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

    /// Whether the flit that is now sent arrives with a wrong CRC.
    fn fails(&mut self, direction: Direction, env: &mut impl Environment<U>) -> bool {
        let half = &mut self.halves[direction.index()];
        if !std::mem::replace(&mut half.drawn, true) {
            half.clean_bits = env.clean_bits(direction, self.spec.bit_error_ratio);
        }
        if half.clean_bits >= FLIT_BITS {
            half.clean_bits -= FLIT_BITS;
            return false;
        }
        (half.clean_bits, half.drawn) = (0, false);
        half.activity.crc_errors += 1;
        true
    }

    /// Sends a flit of CXL.io: of the constant load, or with a message. After an error it is sent again, as by the data
    /// link layer of PCI Express.
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
        } else if let Some(entry) = half.io.get(0) {
            env.deliver(direction, Ticks(now + half.wire.lag).as_ps_ceil(), &entry.user);
            half.activity.io_messages += 1;
            half.io.leave();
        }
    }

    /// Sends a new flit, which arrives or is stored in the retry buffer.
    fn send(&mut self, direction: Direction, flit: Flit, now: u64, env: &mut impl Environment<U>) {
        let d = direction.index();
        let mut cargo = Cargo::default();
        self.halves[d].fill(flit, now, &mut cargo);
        if let Some(retry) = &mut self.halves[d].retry {
            retry.store(cargo);
            self.arrive_in_retry(direction, now, env);
        } else if self.fails(direction, env) {
            self.halves[d].retry = Some(Box::new(Retry::new(cargo)));
            self.request_retry(direction, now);
        } else {
            self.arrive(direction, &cargo, now, env);
        }
    }
    /// Sends a flit from the retry buffer.
    fn replay(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        self.see(direction, now, FlitSeen::Replayed);
        let half = &mut self.halves[direction.index()];
        half.activity.replayed_flits += 1;
        if let Some(retry) = &mut half.retry {
            retry.send_again();
        }
        self.arrive_in_retry(direction, now, env);
    }
    /// The flit just sent reaches the receiver during a retry, and may be dropped.
    fn arrive_in_retry(&mut self, direction: Direction, now: u64, env: &mut impl Environment<U>) {
        let d = direction.index();
        if self.halves[d].retry.as_ref().is_none_or(|retry| retry.is_dropping()) {
            return;
        }
        if self.fails(direction, env) {
            if let Some(retry) = &mut self.halves[d].retry {
                retry.fail();
            }
            self.request_retry(direction, now);
            return;
        }
        let Some(retry) = &mut self.halves[d].retry else { return };
        let cargo = retry.arrive();
        if retry.is_over() {
            self.halves[d].retry = None;
        }
        self.arrive(direction, &cargo, now, env);
    }
    /// Queues a retry request for a wrong CRC in the flit that started at `now`.
    fn request_retry(&mut self, direction: Direction, now: u64) {
        let d = direction.index();
        let at = now + self.halves[d].wire.lag;
        self.halves[1 - d].queue_control(Control { at, what: Sequence::Request });
    }
    /// A flit that started at `now` arrives intact.
    fn arrive(&mut self, direction: Direction, cargo: &Cargo<U>, now: u64, env: &mut impl Environment<U>) {
        let [there, back] = &mut self.halves;
        let (half, other) = if direction == Direction::M2s { (there, back) } else { (back, there) };
        cargo.unload(&mut Receiver::new(direction, &half.wire, now, other, env));
    }
}
