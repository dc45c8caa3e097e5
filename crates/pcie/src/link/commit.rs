//! Commits: a run leaves. Its credits are returned, its TLPs are forwarded or delivered, and corrupted ones are
//! replayed.

use super::egress::{Egress, HEADER_BYTES, Hop, Ingress, Segment, Sink};
use super::fabric::Domain;
use super::returns::Returns;
use super::run::{Bounds, Run};
use super::sentinels::{NEVER, NO_EGRESS};
use super::spec::{CLASSES, Delivery, Departures, EgressId, EndpointId, Environment, LinkError, Starts};
use super::trains::RECORDED_HOPS;
use crate::spec::constants::REPLAY_NUM_ROLLOVER;
use lanetwin_units::Ticks;

impl<U: Copy> Domain<U> {
    /// Sends a TLP from `input` at `t`, and as many equal ones after it as the bounds allow.
    #[inline(never)]
    pub(super) fn send(
        &mut self,
        own: &mut Egress,
        input: usize,
        t: u64,
        bounds: Bounds,
        env: &mut impl Environment<U>,
    ) {
        let one_by_one = self.tlp_by_tlp;
        let segment = *own.inputs[input].front().expect("an occupied input has a segment");
        let ser = own.serialiser.ticks(u64::from(segment.bytes));
        let mut run = own.run(&segment, input % CLASSES, t, ser, bounds, one_by_one);
        if run.count == 1 && segment.count > 1 && own.finite[input % CLASSES] && !one_by_one {
            run = own.follow_credits(segment, input % CLASSES, bounds, run);
        }
        if own.bit_error_ratio > 0.0 {
            self.soonest = self.soonest.min(own.corrupt(&segment, &mut run, env));
        }
        self.commit(own, input, t, segment, run, env);
    }

    /// Commits a run of TLPs: takes credits and replay buffer room, and forwards or delivers them.
    #[inline(always)]
    fn commit(
        &mut self,
        own: &mut Egress,
        input: usize,
        decided: u64,
        segment: Segment,
        run: Run,
        env: &mut impl Environment<U>,
    ) {
        let class = input % CLASSES;
        // A single TLP that is sent when it becomes eligible ends no stall.
        if decided > segment.eligible || own.filled > 1 {
            own.end_stall(decided);
        }
        own.occupy(input, class, &segment, &run);
        self.account_departures(own, input, decided, &segment, &run, env);
        self.return_credits(own, input, &segment, &run, env);
        self.cause_dllps(own, run);
        let hop = own.hops[usize::from(segment.to)];
        if let Sink::Output { egress } = own.sink {
            self.receive_at_destination(own, class, &segment, &run);
            self.pass_to_output(own, usize::from(egress), input, &segment, &run, env);
        } else if hop.egress == NO_EGRESS {
            let is_last = segment.index + run.count == segment.train_count;
            self.receive_at_destination(own, class, &segment, &run);
            self.arrive(own, &segment, &run, is_last, env);
        } else {
            if own.finite[class] {
                own.expect_return(usize::from(hop.ring) + class, u32::from(run.count));
            }
            self.forward(own, hop, class, &segment, &run, env);
        }
    }

    /// Accounts for a run of TLPs of one input: advances the input, sends departure notices, updates counters.
    #[inline(always)]
    pub(super) fn account_departures(
        &mut self,
        own: &mut Egress,
        input: usize,
        decided: u64,
        segment: &Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        own.dequeue(input, run.count);
        own.record_departures(segment, run, decided);
        let is_last = segment.index + run.count == segment.train_count;
        if is_last {
            let train = self.trains.get_mut(segment.train);
            if usize::from(train.hops) < RECORDED_HOPS && usize::from(own.number) < self.on_links {
                train.starts[usize::from(train.hops)] = run.last();
                train.hops += 1;
            }
            if train.train.notify && own.ingress[input / CLASSES].upstream == NO_EGRESS {
                let at = Ticks(run.last() + run.duration).as_ps_ceil();
                self.soonest = self.soonest.min(Ticks::from(at).0);
                env.departed(train.from, at, run.last(), train.train.user);
            }
        }
        if self.tap.is_some() {
            self.show(own.number, *segment, *run);
        }
    }

    #[cold]
    #[inline(never)]
    fn show(&mut self, number: u16, segment: Segment, run: Run) {
        let train = self.trains.get(segment.train);
        if let Some(tap) = &mut self.tap {
            let departures = Departures {
                egress: EgressId(number),
                from: train.from,
                sequence: train.sequence,
                first: segment.index,
                count: run.count,
                start: run.start,
                spacing: run.spacing,
            };
            tap(&departures, &train.train);
        }
    }

    /// Returns the credits that TLPs of an ingress occupied upstream, after they have left.
    #[inline(always)]
    pub(super) fn return_credits(
        &mut self,
        own: &Egress,
        input: usize,
        segment: &Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        let Ingress { lender, ring, .. } = own.ingress[input / CLASSES];
        let class = input % CLASSES;
        if lender != NO_EGRESS && self.egresses[usize::from(lender)].finite[class] {
            let from_column = matches!(own.sink, Sink::Output { .. });
            self.give_back(from_column, usize::from(lender), usize::from(ring) + class, segment, run, env);
        }
    }

    /// Returns credits upstream: the buffer is free when the TLPs have left here, and from a column not before they
    /// are completely received.
    #[inline(always)]
    fn give_back(
        &mut self,
        from_column: bool,
        lender: usize,
        ring: usize,
        segment: &Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        let egress = &mut self.egresses[lender];
        let first = if from_column {
            egress.give_back_from_column(ring, segment, run)
        } else {
            let first = run.start + run.duration + egress.credit_latency;
            let weight = u32::from(segment.units);
            egress.put_return(
                ring,
                Returns { at: first, spacing: run.spacing, count: u32::from(run.count), weight },
            );
            first
        };
        egress.owed[ring] -= u32::from(run.count);
        if egress.starved & (1 << (ring % CLASSES)) != 0 {
            let at = first.max(egress.link_free);
            self.ask_wake(lender, at, env);
        }
    }

    /// Forwards TLPs to the next egress, or to the column in front of it.
    #[inline(always)]
    fn forward(
        &mut self,
        own: &mut Egress,
        hop: Hop,
        class: usize,
        segment: &Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        let (next, input) = (usize::from(hop.egress), usize::from(hop.input) + class);
        let onward = &mut self.egresses[next];
        let bytes = u64::from(segment.bytes);
        let mut t = run.start + own.propagation + hop.latency;
        if own.cut_through {
            let header = own.serialiser.ticks(u64::from(HEADER_BYTES)).min(run.duration);
            // A core takes TLPs as they arrive; without a core a faster egress must not underrun.
            let ahead = if matches!(own.sink, Sink::Switch { core: true }) {
                0
            } else {
                run.duration.saturating_sub(onward.paces.declared.ticks(bytes))
            };
            t += header.max(ahead);
        } else {
            t += run.duration;
        }
        let (spacing, count, pace) = (run.spacing, run.count, own.pace);
        onward.enqueue(input, Segment { eligible: t, spacing, count, pace, ..*segment });
        let at = t.max(onward.link_free);
        self.ask_wake(next, at, env);
    }

    /// Forwards TLPs from a column to the egress behind it.
    #[inline(never)]
    pub(super) fn pass_to_output(
        &mut self,
        own: &Egress,
        next: usize,
        input: usize,
        segment: &Segment,
        run: &Run,
        env: &mut impl Environment<U>,
    ) {
        let ingress = own.ingress[input / CLASSES];
        let rest = self.egresses[usize::from(ingress.upstream)].rest(segment);
        let onward = &mut self.egresses[next];
        let dry = rest.saturating_sub(onward.paces.declared.ticks(segment.bytes.into()));
        let moved = Times { start: run.start, spacing: run.spacing, count: run.count };
        let rows = moved.or_later(segment.eligible + dry, segment.spacing);
        let first = rows[0].start + ingress.onward;
        let mut index = segment.index;
        for Times { start, spacing, count } in rows.into_iter().filter(|times| times.count > 0) {
            onward.enqueue(
                input,
                Segment { eligible: start + ingress.onward, spacing, count, index, ..*segment },
            );
            index += count;
        }
        let at = first.max(onward.link_free);
        self.ask_wake(next, at, env);
    }

    /// Puts TLPs into the receive buffer at the destination.
    #[inline]
    pub(super) fn receive_at_destination(
        &self,
        own: &mut Egress,
        class: usize,
        segment: &Segment,
        run: &Run,
    ) {
        if !matches!(own.sink, Sink::Device | Sink::Output { .. }) {
            own.drain(class, segment, run, || self.trains.get(segment.train).train.payload);
        } else if own.finite[class] {
            own.expect_return(class, u32::from(run.count));
        }
    }

    /// Delivers TLPs to their destination.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        own: &Egress,
        segment: &Segment,
        run: &Run,
        is_last: bool,
        env: &mut impl Environment<U>,
    ) {
        let to = EndpointId(segment.to);
        if segment.singly || matches!(own.sink, Sink::Device) {
            let train = self.trains.get(segment.train);
            let (from, sequence, user) = (train.from, train.sequence, train.train.user);
            let tail = run.start + run.duration + own.propagation;
            self.soonest = self.soonest.min(tail);
            let is_direct = own.ingress.first().is_some_and(|ingress| ingress.upstream == NO_EGRESS);
            for i in 0..run.count {
                let start = run.start + u64::from(i) * run.spacing;
                let at = Ticks(tail + u64::from(i) * run.spacing).as_ps_ceil();
                let delivery = Delivery { from, sequence, first: segment.index + i, count: 1, user };
                let starts = match train.starts.get(..usize::from(train.hops)) {
                    Some(starts) if is_last && i + 1 == run.count => Starts::All(starts),
                    _ if is_direct => Starts::All(&[start]),
                    _ => Starts::Last(start),
                };
                env.deliver(to, at, delivery, starts);
            }
        } else if is_last {
            let train = self.trains.get(segment.train);
            let (from, sequence, user) = (train.from, train.sequence, train.train.user);
            let tail = run.last() + run.duration + own.propagation;
            self.soonest = self.soonest.min(tail);
            let delivery = Delivery { from, sequence, first: 0, count: segment.train_count, user };
            let starts = Starts::All(&train.starts[..usize::from(train.hops)]);
            env.deliver(to, Ticks(tail).as_ps_ceil(), delivery, starts);
        }
        if is_last {
            if let Some(journeys) = self.journeys.as_mut().filter(|_| !segment.message) {
                let train = self.trains.get(segment.train);
                journeys.push(train.journey(to, run.last() + run.duration + own.propagation));
            }
            self.trains.remove(segment.train);
        }
    }
}

impl Egress {
    /// Cuts the run to the TLPs before the first corrupted one; if the first TLP is corrupted, replaces the run by
    /// the attempt that succeeds. Returns when a port first notices an error.
    #[inline(never)]
    fn corrupt<U>(&mut self, segment: &Segment, run: &mut Run, env: &mut impl Environment<U>) -> u64 {
        let number = EgressId(self.number);
        let bits = u64::from(segment.bytes) * 8;
        if self.clean_bits == u64::MAX {
            self.clean_bits = env.clean_bits(number, self.bit_error_ratio);
        }
        let well = self.clean_bits / bits;
        if well > 0 {
            run.count = run.count.min(u16::try_from(well).unwrap_or(u16::MAX));
            self.clean_bits -= u64::from(run.count) * bits;
            return NEVER;
        }
        run.count = 1;
        let decided = run.start;
        let (mut failures, mut told) = (0, NEVER);
        while self.clean_bits < bits {
            // The TLP may contain further corrupted bits: continue at its end.
            let mut left = bits - self.clean_bits - 1;
            self.clean_bits = env.clean_bits(number, self.bit_error_ratio);
            while self.clean_bits < left {
                left -= self.clean_bits + 1;
                self.clean_bits = env.clean_bits(number, self.bit_error_ratio);
            }
            self.clean_bits -= left;
            failures += 1;
            self.done.replays += 1;
            let arrived = run.start + run.duration + self.propagation;
            told = told.min(self.notice(LinkError::BadTlp, arrived, env));
            run.start += run.duration + self.nak_round;
            if failures % REPLAY_NUM_ROLLOVER == 0 {
                told = told.min(self.notice(LinkError::ReplayNumRollover, run.start, env));
                run.start += self.retrain;
                self.done.retrains += 1;
            }
        }
        self.clean_bits -= bits;
        self.done.replay_time += run.start - decided;
        told
    }

    /// Reports an error that a port notices at tick `at`. Returns the earliest tick of an effect.
    fn notice<U>(&self, error: LinkError, at: u64, env: &mut impl Environment<U>) -> u64 {
        if self.message_input.is_none() {
            return NEVER;
        }
        let at = Ticks(at).as_ps_ceil();
        env.noticed(EgressId(self.number), error, at);
        Ticks::from(at).0
    }

    /// Returns the credits of TLPs that have left the column behind this egress through a ring. Returns when the
    /// first of them is back.
    #[inline(never)]
    fn give_back_from_column(&mut self, ring: usize, segment: &Segment, run: &Run) -> u64 {
        let rest = self.rest(segment);
        let left = Times { start: run.start + run.duration, spacing: run.spacing, count: run.count };
        let rows = left.or_later(segment.eligible + rest, segment.spacing);
        let (weight, latency) = (u32::from(segment.units), self.credit_latency);
        for Times { start, spacing, count } in rows.into_iter().filter(|times| times.count > 0) {
            self.put_return(ring, Returns { at: start + latency, spacing, count: count.into(), weight });
        }
        rows[0].start + latency
    }

    /// Time from when a TLP of this egress may be forwarded until it is completely received.
    #[inline]
    fn rest(&self, segment: &Segment) -> u64 {
        if !self.cut_through {
            return 0;
        }
        let mut serialiser = self.at_pace(segment.pace);
        let ser = serialiser.ticks(segment.bytes.into());
        ser - serialiser.ticks(HEADER_BYTES.into()).min(ser)
    }
}

/// `count` times from `start` on, `spacing` apart \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Times {
    start: u64,
    spacing: u64,
    count: u16,
}

impl Times {
    const NONE: Self = Self { start: 0, spacing: 0, count: 0 };

    /// The later of each of these times and the corresponding time of another evenly spaced row; one row overtakes
    /// the other at most once.
    #[inline]
    fn or_later(self, start: u64, spacing: u64) -> [Self; 2] {
        let other = Self { start, spacing, count: self.count };
        let (leader, chaser) = if self.start >= start { (self, other) } else { (other, self) };
        if leader.spacing >= chaser.spacing || self.count == 1 {
            return [leader, Self::NONE];
        }
        // The chaser is this much earlier, and gains this much with each time.
        let (behind, gain) = (leader.start - chaser.start, chaser.spacing - leader.spacing);
        let count = (behind / gain + 1).min(u64::from(self.count)) as u16;
        let overtaken = Self {
            start: chaser.start + u64::from(count) * chaser.spacing,
            spacing: chaser.spacing,
            count: self.count - count,
        };
        [Self { count, ..leader }, overtaken]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_rows_of_times_are_the_later_of_each(t in 0_u64..50, u in 0_u64..50, p in 0_u64..9, q in 0_u64..9, n in 1_u16..20) {
            let rows = Times { start: t, spacing: p, count: n }.or_later(u, q);
            let times: Vec<u64> =
                rows.iter().flat_map(|row| (0..u64::from(row.count)).map(|i| row.start + i * row.spacing)).collect();
            let expected: Vec<u64> = (0..u64::from(n)).map(|i| (t + i * p).max(u + i * q)).collect();
            prop_assert_eq!(times, expected);
        }
    }
}
