//! The pump: commits, at one wake of an egress, every start that is safe before a horizon, in runs where it can.
//!
//! ```text
//!   now          start  start+per  …                     horizon
//!   ─┼─────────────█████─█████─█████─█████─────────────────┼────────► ticks
//!                  └───── one run: one segment, ──────┘    nothing that is still unknown
//!                         one commit, O(1)                  can matter before here
//! ```
//!
//! The decision at a tick depends only on what carries a time ≤ that tick (docs/link-model.md, section 4), and nothing with a time
//! before the horizon can still turn up. So the schedule does not depend on how far the horizon is, and `granularity: tlp` is
//! this code with the horizon one picosecond away and runs of one.

use super::Fabric;
use super::egress::{Egress, HEADER_BYTES, NEVER, NO_EGRESS, Returns, Segment, Sink};
use super::spec::{CLASSES, Delivery, Departures, EgressId, EndpointId, Environment, REPLAY_NUM};
use super::trains::RECORDED_HOPS;
use lanetwin_units::{Instant, LinkRate, TICKS_PER_PS, Ticks};

/// What an egress can do at a tick.
enum Choice {
    /// Send from this input. Another one is waiting (`contended`), or will be at `until`.
    Send { input: usize, contended: bool, until: u64 },
    /// Nothing before this tick.
    Wait(u64),
}

/// What keeps a TLP from going.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    None,
    /// A posted TLP that came before it.
    Order,
    /// Credits or room, the next of which are known to come back at a tick, or at no known tick ([`NEVER`]).
    Until(u64),
}

/// `m` TLPs that leave at `start`, `start + per`, …, each `ser` long.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub start: u64,
    pub per: u64,
    pub m: u16,
    pub ser: u64,
}

impl Run {
    pub fn last(self) -> u64 {
        self.start + u64::from(self.m - 1) * self.per
    }
}

impl<U: Copy> Fabric<U> {
    /// Lets an egress decide, at the wake it asked for.
    pub fn pump(&mut self, egress: EgressId, now: Instant, env: &mut impl Environment<U>) {
        let e = egress.index();
        let wake = self.egresses[e].wake;
        if Ticks(wake).as_ps_floor() != now {
            return; // an earlier wake has done this one's work
        }
        self.egresses[e].wake = NEVER;
        self.egresses[e].starved = 0;
        let now = Ticks::from(now).0;
        let step = now + TICKS_PER_PS;
        let (known, end) = self.view(step, env);
        self.soonest = known;
        let mut t = wake.max(self.egresses[e].link_free);
        loop {
            let egress = &mut self.egresses[e];
            if egress.occupied == 0 {
                return;
            }
            if egress.occupied.is_power_of_two() {
                t = t.max(egress.head[egress.occupied.trailing_zeros() as usize]);
            }
            let horizon = egress.horizon(self.soonest, step).min(end);
            if t >= horizon {
                let t = t.max(egress.earliest());
                self.ask_wake(e, t, env);
                return;
            }
            if self.pay_overhead(e, t) {
                t = self.egresses[e].link_free;
                continue;
            }
            if !self.tlp_by_tlp && self.egresses[e].merges() && self.send_merged(e, t, horizon, env) {
                t = self.egresses[e].link_free;
                continue;
            }
            let starved = self.egresses[e].starved;
            match self.egresses[e].choose(t) {
                Choice::Wait(NEVER) => return,
                Choice::Wait(later) => t = later,
                Choice::Send { input, contended, until } => {
                    let mut horizon = horizon;
                    if self.egresses[e].starved != starved {
                        // A TLP that wants credits has turned up: a credit that is not known yet may be there before `t`.
                        horizon = self.egresses[e].horizon(self.soonest, step).min(end);
                        if t >= horizon {
                            self.ask_wake(e, t, env);
                            return;
                        }
                    }
                    let until = if contended { t } else { until.min(horizon).min(self.echo(e, input, t)) };
                    self.send(e, input, t, until.max(t + 1), env);
                    t = self.egresses[e].link_free;
                }
            }
        }
    }

    /// The tick from which on a TLP that starts at `t` can have had consequences here.
    #[inline]
    fn echo(&self, e: usize, input: usize, t: u64) -> u64 {
        let egress = &self.egresses[e];
        let mut reach = egress.reach;
        let upstream = egress.ingress[input / CLASSES].upstream;
        if upstream != NO_EGRESS && self.egresses[usize::from(upstream)].starved != 0 {
            reach = reach.min(self.egresses[usize::from(upstream)].credit_latency);
        }
        t.saturating_add(reach).saturating_add(egress.lookahead)
    }

    /// The earliest tick at which anything unknown can happen, and the tick at which decisions must end.
    fn view(&self, step: u64, env: &mut impl Environment<U>) -> (u64, u64) {
        if self.tlp_by_tlp {
            return (0, step);
        }
        let end = env.limit().as_ps().saturating_add(1).saturating_mul(TICKS_PER_PS);
        (env.next_unknown().as_ps().saturating_mul(TICKS_PER_PS), end.max(step))
    }

    /// Asks for a wake of `e` at tick `t`, unless an earlier one is pending.
    #[inline]
    pub(super) fn ask_wake(&mut self, e: usize, t: u64, env: &mut impl Environment<U>) {
        let egress = &mut self.egresses[e];
        if t < egress.wake {
            let (at, pending) = (Ticks(t).as_ps_floor(), Ticks(egress.wake).as_ps_floor());
            egress.wake = t;
            self.soonest = self.soonest.min(Ticks::from(at).0);
            if at < pending {
                env.wake(EgressId(e as u16), at);
            }
        }
    }

    /// Sends from `input` at `t`, and as many more of the same as may start before `until`.
    fn send(&mut self, e: usize, input: usize, t: u64, until: u64, env: &mut impl Environment<U>) {
        let one_by_one = self.tlp_by_tlp;
        let egress = &mut self.egresses[e];
        let segment = *egress.inputs[input].front().expect("an occupied input has a segment");
        let ser = egress.serialiser.ticks(u64::from(segment.bytes));
        let mut run = egress.run(&segment, input % CLASSES, t, ser, until, one_by_one);
        if run.m == 1 && segment.n > 1 && egress.starved != 0 && !one_by_one {
            egress.follow_credits(&segment, input % CLASSES, until, &mut run);
        }
        if egress.bit_error_ratio > 0.0 {
            self.corrupt(e, &segment, &mut run, env);
        }
        self.commit(e, input, t, segment, run, env);
    }

    /// Shortens the run to the TLPs that arrive well; if the first does not, replaces it by the attempt that succeeds.
    fn corrupt(&mut self, e: usize, segment: &Segment, run: &mut Run, env: &mut impl Environment<U>) {
        let bits = u64::from(segment.bytes) * 8;
        let egress = &mut self.egresses[e];
        if egress.clean_bits == u64::MAX {
            egress.clean_bits = env.clean_bits(EgressId(e as u16), egress.bit_error_ratio);
        }
        let well = egress.clean_bits / bits;
        if well > 0 {
            run.m = run.m.min(u16::try_from(well).unwrap_or(u16::MAX));
            egress.clean_bits -= u64::from(run.m) * bits;
            return;
        }
        run.m = 1;
        let decided = run.start;
        let mut failures = 0;
        while egress.clean_bits < bits {
            // The TLP may hold more than one corrupted bit: go on from its end.
            let mut left = bits - egress.clean_bits - 1;
            egress.clean_bits = env.clean_bits(EgressId(e as u16), egress.bit_error_ratio);
            while egress.clean_bits < left {
                left -= egress.clean_bits + 1;
                egress.clean_bits = env.clean_bits(EgressId(e as u16), egress.bit_error_ratio);
            }
            egress.clean_bits -= left;
            failures += 1;
            egress.done.replays += 1;
            run.start += run.ser + egress.nak_round;
            if failures % REPLAY_NUM == 0 {
                run.start += egress.retrain;
                egress.done.retrains += 1;
            }
        }
        egress.clean_bits -= bits;
        egress.done.replay_time += run.start - decided;
    }

    /// Lets a run of TLPs leave: takes credits and room, and sees them off.
    #[inline]
    fn commit(
        &mut self,
        e: usize,
        input: usize,
        decided: u64,
        segment: Segment,
        run: Run,
        env: &mut impl Environment<U>,
    ) {
        let class = input % CLASSES;
        self.egresses[e].occupy(input, class, &segment, &run);
        self.see_off(e, input, decided, segment, run, env);
        self.cause_dllps(e, run.start, run.per, run.m, run.ser);
        let hop = self.egresses[e].hops[usize::from(segment.to)];
        if hop.egress == NO_EGRESS {
            let is_last = segment.index + run.m == segment.count;
            self.take_in(e, class, &segment, &run);
            self.arrive(e, &segment, &run, is_last, env);
        } else {
            if self.egresses[e].finite[class] {
                self.egresses[e].expect_return(usize::from(hop.ring) + class, u32::from(run.m));
            }
            self.forward(e, usize::from(hop.egress), usize::from(hop.input) + class, segment, &run, env);
        }
    }

    /// What every run of TLPs of one input means for those behind it: credits go back, notices are given, books are kept.
    #[inline]
    pub(super) fn see_off(
        &mut self,
        e: usize,
        input: usize,
        decided: u64,
        segment: Segment,
        run: Run,
        env: &mut impl Environment<U>,
    ) {
        let egress = &mut self.egresses[e];
        egress.dequeue(input, run.m);
        egress.note(&segment, &run, decided);
        let ingress = egress.ingress[input / CLASSES];
        let is_last = segment.index + run.m == segment.count;
        if is_last {
            let train = self.trains.get_mut(segment.train);
            if usize::from(train.hops) < RECORDED_HOPS {
                train.starts[usize::from(train.hops)] = run.last();
                train.hops += 1;
            }
            if train.train.notify && ingress.upstream == NO_EGRESS {
                let at = Ticks(run.last() + run.ser).as_ps_ceil();
                self.soonest = self.soonest.min(Ticks::from(at).0);
                env.departed(train.from, at, train.train.user);
            }
        }
        if let Some(tap) = &mut self.tap {
            let train = self.trains.get(segment.train);
            tap(&Departures {
                egress: EgressId(e as u16),
                from: train.from,
                sequence: train.sequence,
                first: segment.index,
                count: run.m,
                start: run.start,
                spacing: run.per,
            });
        }
        if ingress.upstream != NO_EGRESS {
            let ring = usize::from(ingress.ring) + input % CLASSES;
            self.give_back(usize::from(ingress.upstream), ring, &segment, &run, env);
        }
    }

    /// The buffer upstream is free when the TLPs have left here: returns the credits.
    #[inline]
    pub(super) fn give_back(
        &mut self,
        upstream: usize,
        ring: usize,
        segment: &Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        let egress = &mut self.egresses[upstream];
        if !egress.finite[ring % CLASSES] {
            return;
        }
        egress.owed[ring] -= u32::from(run.m);
        let first = run.start + run.ser + egress.credit_latency;
        let weight = u32::from(segment.units);
        egress.put_return(ring, Returns { t: first, p: run.per, n: u32::from(run.m), weight });
        if egress.starved & (1 << (ring % CLASSES)) != 0 {
            let at = first.max(egress.link_free);
            self.ask_wake(upstream, at, env);
        }
    }

    /// Passes TLPs on to the next egress.
    #[inline]
    fn forward(
        &mut self,
        e: usize,
        next: usize,
        input: usize,
        segment: Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        let egress = &mut self.egresses[e];
        let bytes = u64::from(segment.bytes);
        let mut t = run.start + egress.transit;
        if egress.cut_through {
            let header = egress.serialiser.ticks(u64::from(HEADER_BYTES)).min(run.ser);
            let theirs = self.egresses[next].serialiser.ticks(bytes);
            t += header.max(run.ser.saturating_sub(theirs));
        } else {
            t += run.ser;
        }
        let onward = &mut self.egresses[next];
        onward.enqueue(input, Segment { t, p: run.per, n: run.m, ..segment });
        let at = t.max(onward.link_free);
        self.ask_wake(next, at, env);
    }

    /// The receive buffer at the destination takes TLPs in.
    #[inline]
    pub(super) fn take_in(&mut self, e: usize, class: usize, segment: &Segment, run: &Run) {
        let egress = &mut self.egresses[e];
        if !egress.finite[class] && matches!(egress.sink, Sink::Device) {
            return;
        }
        if matches!(egress.sink, Sink::Device) {
            egress.expect_return(class, u32::from(run.m));
        } else if egress.finite != [false; CLASSES] {
            let payload = self.trains.get(segment.train).train.payload;
            egress.drain(class, segment, payload, run);
        }
    }

    /// TLPs reach their destination.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        e: usize,
        segment: &Segment,
        run: &Run,
        is_last: bool,
        env: &mut impl Environment<U>,
    ) {
        let egress = &self.egresses[e];
        let tail = run.start + run.ser + egress.propagation;
        let by_device = matches!(egress.sink, Sink::Device);
        if !is_last && !by_device && !segment.singly {
            return;
        }
        let train = self.trains.get(segment.train);
        let (to, from, sequence, user) =
            (EndpointId(segment.to), train.from, train.sequence, train.train.user);
        if segment.singly || by_device {
            self.soonest = self.soonest.min(tail);
            for i in 0..run.m {
                let at = Ticks(tail + u64::from(i) * run.per).as_ps_ceil();
                env.deliver(to, at, Delivery { from, sequence, first: segment.index + i, count: 1, user });
            }
        } else if is_last {
            let tail = run.last() + run.ser + egress.propagation;
            self.soonest = self.soonest.min(tail);
            let delivery = Delivery { from, sequence, first: 0, count: segment.count, user };
            env.deliver(to, Ticks(tail).as_ps_ceil(), delivery);
        }
        if is_last {
            if let Some(journeys) = &mut self.journeys {
                journeys.push(train.journey(to, run.last() + run.ser + egress.propagation));
            }
            self.trains.remove(segment.train);
        }
    }
}

impl Egress {
    /// The tick before which nothing that is still unknown can turn up, if nothing unknown happens anywhere before `soonest`.
    #[inline]
    fn horizon(&self, soonest: u64, step: u64) -> u64 {
        let mut horizon = soonest.saturating_add(self.lookahead);
        if self.starved != 0 {
            let credits = soonest.saturating_add(self.credit_lookahead);
            if credits < horizon {
                horizon = horizon.min(credits.max(self.returns_known()));
            }
        }
        horizon.max(step)
    }

    #[inline]
    fn earliest(&self) -> u64 {
        let mut rest = self.occupied;
        let mut least = NEVER;
        while rest != 0 {
            least = least.min(self.head[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        least
    }

    /// Round robin at `t` over the inputs whose first TLP may go.
    #[inline]
    fn choose(&mut self, t: u64) -> Choice {
        if self.occupied.is_power_of_two() {
            return self.choose_only(t);
        }
        let ahead = self.occupied & (u128::MAX << self.pointer);
        let mut winner = None;
        let (mut contended, mut until, mut stalled) = (false, NEVER, false);
        for mut part in [ahead, self.occupied & !ahead] {
            while part != 0 {
                let input = part.trailing_zeros() as usize;
                part &= part - 1;
                let head = self.head[input];
                if head > t {
                    until = until.min(head);
                } else if winner.is_some() {
                    contended = true;
                } else {
                    match self.obstacle(input, t) {
                        Obstacle::None => winner = Some(input),
                        Obstacle::Order => contended = true,
                        Obstacle::Until(known) => {
                            (contended, stalled) = (true, true);
                            until = until.min(known);
                        }
                    }
                }
            }
        }
        match winner {
            Some(input) => self.chosen(input, contended, until, t),
            None => self.nobody(stalled, until, t),
        }
    }

    /// The same with one input that holds anything.
    #[inline]
    fn choose_only(&mut self, t: u64) -> Choice {
        let input = self.occupied.trailing_zeros() as usize;
        let head = self.head[input];
        if head > t {
            return Choice::Wait(head);
        }
        match self.obstacle(input, t) {
            Obstacle::None => self.chosen(input, false, NEVER, t),
            Obstacle::Order => Choice::Wait(NEVER),
            Obstacle::Until(known) => self.nobody(true, known, t),
        }
    }

    #[inline]
    fn chosen(&mut self, input: usize, contended: bool, until: u64, t: u64) -> Choice {
        if self.stalled_since != NEVER {
            self.done.stalled += t - self.stalled_since;
            self.stalled_since = NEVER;
        }
        Choice::Send { input, contended, until }
    }

    #[inline]
    fn nobody(&mut self, stalled: bool, until: u64, t: u64) -> Choice {
        if stalled {
            self.stalled_since = self.stalled_since.min(t);
        }
        Choice::Wait(until)
    }

    /// What keeps the first TLP of `input` from going at `t`.
    #[inline]
    pub(super) fn obstacle(&mut self, input: usize, t: u64) -> Obstacle {
        let class = input % CLASSES;
        let Some(&Segment { bytes, units, relaxed, .. }) = self.inputs[input].front() else {
            return Obstacle::Order;
        };
        if class != 0 && !relaxed && self.head[input - class] <= self.head[input] {
            return Obstacle::Order;
        }
        if self.finite[class] && !self.has_credits(class, units, t) {
            self.starved |= 1 << class;
            return Obstacle::Until(self.next_credit(class));
        }
        if self.replay_finite && !self.has_room(bytes, t) {
            return Obstacle::Until(self.replay_returns.next());
        }
        Obstacle::None
    }

    /// A run takes the wire, credits, and room in the replay buffer.
    #[inline]
    pub(super) fn occupy(&mut self, input: usize, class: usize, segment: &Segment, run: &Run) {
        let m = i64::from(run.m);
        self.pointer = (input + 1) as u16;
        self.link_free = run.last() + run.ser;
        if self.finite[class] {
            self.header_credits[class] -= m;
            self.data_credits[class] -= m * i64::from(segment.units);
        }
        if self.replay_finite {
            self.replay_room -= m * i64::from(segment.bytes);
            let t = run.start + run.ser + self.ack_round;
            let weight = u32::from(segment.bytes);
            self.replay_returns.push(Returns { t, p: run.per, n: u32::from(run.m), weight });
        }
    }

    /// How many TLPs of a segment may leave from `t` on without another look, and how far apart.
    #[inline]
    fn run(&self, segment: &Segment, class: usize, t: u64, ser: u64, until: u64, one_by_one: bool) -> Run {
        let (mut per, mut m) = (ser, u64::from(segment.n));
        if one_by_one || m == 1 {
            return Run { start: t, per, m: 1, ser };
        }
        if segment.p > ser {
            if t == segment.t {
                per = segment.p;
            } else {
                m = m.min((t - segment.t) / (segment.p - ser) + 1);
            }
        }
        let until = until.min(self.overhead.next);
        if t + (m - 1) * per >= until {
            m = (until - 1 - t) / per + 1;
        }
        if self.finite[class] {
            m = m.min(self.header_credits[class].unsigned_abs());
            if segment.units != 0 && self.data_credits[class] < m as i64 * i64::from(segment.units) {
                m = self.data_credits[class] as u64 / u64::from(segment.units);
            }
        }
        if self.replay_finite && self.replay_room < m as i64 * i64::from(segment.bytes) {
            m = self.replay_room as u64 / u64::from(segment.bytes);
        }
        Run { start: t, per, m: m as u16, ser }
    }

    /// If the credits for the next TLPs come back one by one at a steady pace, the TLPs leave at that pace: extends a run of one.
    #[inline]
    fn follow_credits(&mut self, segment: &Segment, class: usize, until: u64, run: &mut Run) {
        let units = i64::from(segment.units);
        if self.header_credits[class] != 1 && self.data_credits[class] >= 2 * units
            || self.bit_error_ratio > 0.0
        {
            return;
        }
        let exact = self.data_credits[class] == units || self.header_credits[class] == 1;
        let (ser, t) = (run.ser, run.start);
        let until = until.min(self.overhead.next);
        let spare = (self.header_credits[class] - 1, self.data_credits[class] - units);
        let room = if self.replay_finite { self.replay_room / i64::from(segment.bytes) } else { i64::MAX };
        let Some(ring) = self.only_returns(class) else { return };
        let Some(&front) = self.returns[ring].front() else { return };
        let pace = front.t.saturating_sub(t);
        let steady =
            exact && i64::from(front.weight) == units && pace >= ser && (front.n == 1 || front.p == pace);
        // What is left over must not be enough for a TLP by itself: headers and data come back in step.
        if !steady || (spare.0 > 0 && spare.1 >= units) || segment.p > pace {
            return;
        }
        let mut more =
            u64::from(front.n).min(u64::from(segment.n) - 1).min(room.unsigned_abs().saturating_sub(1));
        if t + more * pace >= until {
            more = (until - 1 - t) / pace;
        }
        if more == 0 {
            return;
        }
        self.returns[ring].take_front(more as u32);
        self.rest_if_done(ring);
        self.header_credits[class] += more as i64;
        self.data_credits[class] += more as i64 * units;
        self.done.stalled += more * (pace - ser);
        (run.per, run.m) = (pace, 1 + more as u16);
    }

    /// Keeps the books of a run. The digest is a sum over TLPs of `key × (start + index × constant)`: equal for equal schedules,
    /// however they are cut into runs.
    #[inline]
    pub(super) fn note(&mut self, segment: &Segment, run: &Run, decided: u64) {
        let m = u64::from(run.m);
        let pairs = m * (m - 1) / 2;
        let starts = m.wrapping_mul(run.start).wrapping_add(run.per.wrapping_mul(pairs));
        let indices = m * u64::from(segment.index) + pairs;
        let done = &mut self.done;
        done.tlps += m;
        done.data_units += m * u64::from(segment.units);
        done.wire_bytes += m * u64::from(segment.bytes);
        done.tlp_time += m * run.ser;
        let ahead = m * (decided - segment.t) + run.per * pairs;
        done.waited += u128::from(ahead - segment.p * pairs);
        let what = starts.wrapping_add(indices.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        done.digest = done.digest.wrapping_add(segment.key.wrapping_mul(what));
    }

    /// The receiver takes the TLPs out of its buffer, one after another, and returns their credits.
    #[inline]
    pub(super) fn drain(&mut self, class: usize, segment: &Segment, payload_bytes: u16, run: &Run) {
        let tail = run.start + run.ser + self.propagation;
        let Sink::Line { latency, per_tlp, payload, free } = &mut self.sink else { return };
        let per_payload = |rate: LinkRate| rate.ticks_for(u64::from(payload_bytes)).0;
        let cost = *per_tlp + payload.map_or(0, per_payload);
        let (ready, latency_back, weight) = (tail + *latency, self.credit_latency, u32::from(segment.units));
        let finite = self.finite[class];
        self.live |= 1 << class;
        let ring = &mut self.returns[class];
        let mut put = |t: u64, p: u64, n: u64| {
            if finite {
                ring.push(Returns { t: t + latency_back, p, n: n as u32, weight });
            }
        };
        let m = u64::from(run.m);
        let mut i = 0;
        while i < m {
            let (at, left) = (ready + i * run.per, m - i);
            if *free <= at {
                let spacing = run.per.max(cost);
                put(at + cost, spacing, left);
                *free = at + (left - 1) * spacing + cost;
                return;
            }
            // The receiver is behind: it takes them out at its own pace until it has caught up.
            let behind = if run.per <= cost { left } else { (*free - at).div_ceil(run.per - cost).min(left) };
            put(*free + cost, cost, behind);
            *free += behind * cost;
            i += behind;
        }
    }
}
