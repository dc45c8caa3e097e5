//! Merges: several inputs with equal TLPs for one wire, decided TLP by TLP but committed in runs.
//!
//! ```text
//!   input a  ──█───────█───────█──     one run: a's TLPs leave at an even pace,
//!   input b  ────█───────█───────█     and so do b's, whether they take turns
//!   wire     ──██──────██──────██──    or leave as they arrive
//! ```
//!
//! A decision is cheap, a commit is expensive (credits, counters, consequences). Here decisions are made on a few
//! numbers per input, and the departures of each input are committed as the runs that they form. This is not done if
//! the egress ends at a switch: there the merged TLPs would be one queue of alternating trains, which would not stay
//! compressed. After a column each input has its own queue.

use super::choice::Obstacle;
use super::class_masks::{bits, class_mask};
use super::egress::{Egress, Segment, Sink};
use super::fabric::Domain;
use super::lane::IDLE;
use super::lane::Lane;
use super::run::Run;
use super::sentinels::{NEVER, NO_EGRESS};
use super::spec::{CLASSES, DllpMode, Environment};

/// All inputs of a merge, in the order of their numbers.
struct Lanes {
    lanes: Vec<Lane>,
    class: usize,
    ser: u64,
    sample: Segment,
}

impl<U: Copy> Domain<U> {
    /// Sends from all inputs that hold TLPs, from `t` on and before `until`. Returns false if they are not alike or
    /// none can send.
    pub(super) fn send_merged(
        &mut self,
        own: &mut Egress,
        t: u64,
        until: u64,
        env: &mut impl Environment<U>,
    ) -> bool {
        let echo = self.merge_echo(own, t);
        let mut until = self.merge_until(own, until, echo);
        if until <= t + 1 {
            return false;
        }
        let Some(mut lanes) = self.take_lanes(own, t) else { return false };
        let mut most = own.affordable(lanes.class, &lanes.sample);
        let mut turn = lanes.turn(own.pointer);
        let (begin, mut t) = (t, t);
        let (mut wire, mut last) = (IDLE, None);
        loop {
            let i = match lanes.next(turn, t) {
                Ok(i) if t < until => i,
                Err(later) if later < until => {
                    t = later;
                    continue;
                }
                _ => break,
            };
            if most == 0 {
                self.flush_wire(own, &lanes, &mut wire, env);
                let Some(back) = own.await_credits(&lanes, t, until) else { break };
                (most, t) = (own.affordable(lanes.class, &lanes.sample), back);
                continue;
            }
            if last.is_none() {
                own.end_stall(t);
            }
            turn = if i + 1 == lanes.lanes.len() { 0 } else { i + 1 };
            self.take_one(own, (&mut lanes, &mut wire), i, t, env);
            let lane = &mut lanes.lanes[i];
            last = Some(lane.input);
            most -= 1;
            if lane.left == 0 {
                self.leave(own, usize::from(lane.input), lane.run, env);
                // The end of a train is an event, and may cause a TLP to arrive in an input that is empty now.
                until = self.merge_until(own, until, echo);
                if !lane.reload(own, &lanes.sample) {
                    break; // what comes next in this input is not alike
                }
            }
            t += lanes.ser;
        }
        self.flush_wire(own, &lanes, &mut wire, env);
        if let Some(last) = last {
            own.pointer = u16::from(last) + 1;
            self.leave_all(own, &lanes, env);
            // All of them started in one epoch, before the next SKP.
            self.cause_dllps(own, Run { start: begin, ..IDLE });
        }
        self.lanes = lanes.lanes;
        last.is_some()
    }

    /// The inputs that hold TLPs, if they are alike and can send.
    #[inline]
    fn take_lanes(&mut self, own: &mut Egress, t: u64) -> Option<Lanes> {
        let room = std::mem::take(&mut self.lanes);
        own.lanes(t, room).map_err(|room| self.lanes = room).ok()
    }

    /// Puts the next TLP of a lane on the wire at `t`.
    #[inline]
    fn take_one(
        &mut self,
        own: &mut Egress,
        (lanes, wire): (&mut Lanes, &mut Run),
        i: usize,
        t: u64,
        env: &mut impl Environment<U>,
    ) {
        if let Some(run) = wire.extend(t, lanes.ser) {
            self.take_wire(own, lanes, run, env);
        }
        let lane = &mut lanes.lanes[i];
        if let Some(run) = lane.run.extend(t, lanes.ser) {
            self.leave(own, usize::from(lane.input), run, env);
        }
        lane.head += lane.spacing;
        lane.left -= 1;
    }

    /// Accounts for the run on the wire.
    #[inline]
    fn flush_wire(&mut self, own: &mut Egress, lanes: &Lanes, wire: &mut Run, env: &mut impl Environment<U>) {
        if wire.count != 0 {
            self.take_wire(own, lanes, *wire, env);
            *wire = IDLE;
        }
    }

    /// Removes the committed runs from the inputs.
    #[inline]
    fn leave_all(&mut self, own: &mut Egress, lanes: &Lanes, env: &mut impl Environment<U>) {
        for lane in &lanes.lanes {
            if lane.run.count != 0 {
                self.leave(own, usize::from(lane.input), lane.run, env);
            }
        }
    }

    /// The earliest tick of an effect of a TLP that starts at `t` and does not end its train.
    #[inline]
    fn merge_echo(&self, own: &Egress, t: u64) -> u64 {
        let mut reach = if matches!(own.sink, Sink::Line { .. }) { NEVER } else { own.reach };
        for input in bits(own.occupied) {
            let lender = own.ingress[input / CLASSES].lender;
            if lender != NO_EGRESS && self.egresses[usize::from(lender)].starved != 0 {
                reach = reach.min(self.egresses[usize::from(lender)].credit_latency);
            }
        }
        t.saturating_add(reach)
    }

    /// The tick up to which decisions are safe: before the next overhead, and before the next event can have an
    /// effect here.
    #[inline]
    fn merge_until(&mut self, own: &Egress, until: u64, echo: u64) -> u64 {
        let happens = self.soonest.min(echo).saturating_add(self.distance_on_wire(own));
        until.min(own.overhead.next).min(happens)
    }

    /// Accounts for a run of TLPs of any inputs on the wire, in the replay buffer and at the receiver.
    #[inline]
    fn take_wire(&mut self, own: &mut Egress, lanes: &Lanes, run: Run, env: &mut impl Environment<U>) {
        own.occupy(0, lanes.class, &lanes.sample, &run);
        self.receive_at_destination(own, lanes.class, &lanes.sample, &run);
        if own.one_lender() {
            // The credits of all inputs return through one ring, in the order of time.
            self.return_credits(own, lanes.class, &lanes.sample, &run, env);
        }
    }

    /// Commits the departure of a run of TLPs of one input.
    #[inline]
    fn leave(&mut self, own: &mut Egress, input: usize, run: Run, env: &mut impl Environment<U>) {
        let segment = *own.inputs[input].front().expect("a lane has a segment");
        self.account_departures(own, input, run.start, &segment, &run, env);
        if !own.one_lender() {
            self.return_credits(own, input, &segment, &run, env);
        }
        if let Sink::Output { egress } = own.sink {
            self.pass_to_output(own, usize::from(egress), input, &segment, &run, env);
            return;
        }
        let is_last = segment.index + run.count == segment.train_count;
        self.arrive(own, &segment, &run, is_last, env);
    }
}

impl Run {
    /// Adds a departure at `t`. Returns the previous run if the departure does not continue it.
    #[inline]
    fn extend(&mut self, t: u64, duration: u64) -> Option<Self> {
        if self.count == 1 {
            self.spacing = t - self.start;
        } else if self.count == 0 || t - self.start != self.spacing * u64::from(self.count) {
            let done = *self;
            *self = Self { start: t, spacing: duration, count: 1, duration };
            return (done.count != 0).then_some(done);
        }
        self.count += 1;
        None
    }
}

impl Lanes {
    /// The next lane in round-robin order.
    fn turn(&self, pointer: u16) -> usize {
        self.lanes.iter().position(|l| u16::from(l.input) >= pointer).unwrap_or(0)
    }
    /// The first lane from `turn` on with an eligible TLP at `t`; otherwise the tick at which the first has one.
    #[inline]
    fn next(&self, turn: usize, t: u64) -> Result<usize, u64> {
        let mut later = NEVER;
        for i in (turn..self.lanes.len()).chain(0..turn) {
            let head = self.lanes[i].head;
            if head <= t {
                return Ok(i);
            }
            later = later.min(head);
        }
        Err(later)
    }
}

impl Egress {
    /// Whether merged sending may be possible.
    #[inline]
    pub(super) fn merges(&self) -> bool {
        self.filled > 1
            && self.ingress.len() > 1
            && !matches!(self.sink, Sink::Switch { .. })
            && self.turns.is_none()
            && self.bit_error_ratio == 0.0
            && self.overhead.mode != DllpMode::Each
            && self.occupied & !class_mask(self.occupied.trailing_zeros() as usize % CLASSES) == 0
    }

    /// The inputs that hold TLPs, if these are equal, of one class and not delivered singly, and the first may be
    /// sent. `room` is memory for the result; it is returned as an error if not.
    fn lanes(&mut self, t: u64, mut room: Vec<Lane>) -> Result<Lanes, Vec<Lane>> {
        let first = self.occupied.trailing_zeros() as usize;
        let class = first % CLASSES;
        let Some(&sample) = self.inputs[first].front() else { return Err(room) };
        room.clear();
        for input in bits(self.occupied) {
            match self.inputs[input].front().and_then(|segment| Lane::new(input, segment, &sample)) {
                Some(lane) => room.push(lane),
                None => return Err(room),
            }
        }
        // Credits and room are shared: those due at `t` are counted once, later ones when they are needed.
        if self.obstacle(first, t) != Obstacle::None {
            return Err(room);
        }
        let ser = self.serialiser.ticks(u64::from(sample.bytes));
        Ok(Lanes { lanes: room, class, ser, sample })
    }

    /// If credits are missing at `t`, takes the next returns that are known, if they are before `until` and no other
    /// return can be earlier. Returns the tick at which there are enough for one TLP.
    fn await_credits(&mut self, lanes: &Lanes, t: u64, until: u64) -> Option<u64> {
        let Lanes { class, sample, .. } = lanes;
        // A ring has one writer, which writes in the order of time, so that further returns come after those it
        // holds.
        self.only_returns(*class).filter(|_| self.finite[*class] && !self.replay_finite)?;
        let mut back = t;
        while !self.has_credits(*class, sample.units, back) {
            back = self.next_credit(*class);
            if back >= until {
                return None;
            }
        }
        self.done.stalled += back - t;
        Some(back)
    }

    /// Number of TLPs like this one for which there are credits and replay buffer room.
    fn affordable(&self, class: usize, like: &Segment) -> u64 {
        let mut most = u64::from(u16::MAX);
        if self.finite[class] {
            most = most.min(self.header_credits[class].unsigned_abs());
            if like.units != 0 {
                most = most.min(self.data_credits[class].unsigned_abs() / u64::from(like.units));
            }
        }
        if self.replay_finite {
            most = most.min(self.replay_room.unsigned_abs() / u64::from(like.bytes));
        }
        most
    }
}
