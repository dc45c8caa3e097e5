//! Runs: evenly spaced departures of TLPs of one segment, decided and committed together.

use super::egress::{Egress, Segment};
use super::returns::Returns;

/// Departures at `start`, `start + spacing`, …, each TLP on the wire for `duration` \[ticks\].
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub start: u64,
    pub spacing: u64,
    pub count: u16,
    pub duration: u64,
}

/// Factor of a TLP's index in the digest.
const INDEX_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Limits of a run.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// All of its TLPs start before this tick.
    pub until: u64,
    /// All of its TLPs except the first were eligible at this tick or before.
    pub behind: u64,
}

impl Run {
    /// The start of the last of them.
    pub const fn last(self) -> u64 {
        self.start + (self.count as u64 - 1) * self.spacing
    }
}

impl Egress {
    /// The number of TLPs of a segment that may leave from `t` on in one decision, and their spacing.
    #[inline]
    pub(super) fn run(
        &self,
        segment: &Segment,
        class: usize,
        t: u64,
        duration: u64,
        bounds: Bounds,
        one_by_one: bool,
    ) -> Run {
        let (mut spacing, mut count) = (duration, u64::from(segment.count));
        if one_by_one || count == 1 {
            return Run { start: t, spacing, count: 1, duration };
        }
        if segment.spacing > duration {
            if t == segment.eligible {
                spacing = segment.spacing;
            } else {
                count = count.min((t - segment.eligible) / (segment.spacing - duration) + 1);
            }
        }
        let until = bounds.until.min(self.overhead.next);
        if t + (count - 1) * spacing >= until {
            count = (until - 1 - t) / spacing + 1;
        }
        count = count.min(eligible_by(segment, bounds.behind));
        if self.finite[class] {
            count = count.min(self.header_credits[class].unsigned_abs());
            if segment.units != 0 && self.data_credits[class] < count as i64 * i64::from(segment.units) {
                count = self.data_credits[class] as u64 / u64::from(segment.units);
            }
        }
        if self.replay_finite && self.replay_room < count as i64 * i64::from(segment.bytes) {
            count = self.replay_room as u64 / u64::from(segment.bytes);
        }
        Run { start: t, spacing, count: count as u16, duration }
    }

    /// Extends a run of one TLP if the credits for the next ones return one by one at a steady pace, at which the
    /// TLPs then leave.
    #[inline(never)]
    pub(super) fn follow_credits(&mut self, segment: Segment, class: usize, bounds: Bounds, run: Run) -> Run {
        let units = i64::from(segment.units);
        let spare = (self.header_credits[class] - 1, self.data_credits[class] - units);
        // What is left must not be enough for another TLP, so that each return allows exactly one.
        if (spare.0 > 0 && spare.1 >= units) || self.bit_error_ratio > 0.0 {
            return run;
        }
        // Only one ring, now and after these TLPs: further returns come after those it holds.
        let ring = usize::from(self.hops[usize::from(segment.to)].ring) + class;
        if self.only_returns(class) != Some(ring) {
            return run;
        }
        let Some(&front) = self.returns[ring].front() else { return run };
        let (duration, t) = (run.duration, run.start);
        let pace = front.at.saturating_sub(t);
        let steady = i64::from(front.weight) == units
            && pace >= duration
            && (front.count == 1 || front.spacing == pace);
        if !steady || segment.spacing > pace {
            return run;
        }
        let until = bounds.until.min(self.overhead.next);
        let room = if self.replay_finite { self.replay_room / i64::from(segment.bytes) } else { i64::MAX };
        let mut more = u64::from(front.count)
            .min(u64::from(segment.count) - 1)
            .min(room.unsigned_abs().saturating_sub(1));
        if t + more * pace >= until {
            more = (until - 1 - t) / pace;
        }
        more = more.min(eligible_by(&segment, bounds.behind) - 1);
        if more == 0 {
            return run;
        }
        self.returns[ring].take_front(more as u32);
        self.rest_if_done(ring);
        self.header_credits[class] += more as i64;
        self.data_credits[class] += more as i64 * units;
        self.done.stalled += more * (pace - duration) - late(&segment, t, (duration, pace), more);
        Run { spacing: pace, count: 1 + more as u16, ..run }
    }

    /// Occupies the wire, credits and replay buffer room for a run.
    #[inline(always)]
    pub(super) fn occupy(&mut self, input: usize, class: usize, segment: &Segment, run: &Run) {
        let count = i64::from(run.count);
        self.pointer = (input + 1) as u16;
        if let Some(turns) = &mut self.turns {
            turns.advance(input, run.count);
        }
        self.link_free = run.last() + run.duration;
        (self.idle_from, self.idle_overhead) = (self.link_free, 0);
        if self.finite[class] {
            self.header_credits[class] -= count;
            self.data_credits[class] -= count * i64::from(segment.units);
        }
        if self.replay_finite {
            self.replay_room -= count * i64::from(segment.bytes);
            let t = run.start + run.duration + self.ack_round;
            let weight = u32::from(segment.bytes);
            self.replay_returns.push(Returns {
                at: t,
                spacing: run.spacing,
                count: u32::from(run.count),
                weight,
            });
        }
    }

    /// Updates the counters for a run. The digest is a sum over TLPs of `key × (start + index × constant)`, which is
    /// equal for equal schedules however they are divided into runs.
    #[inline]
    pub(super) fn record_departures(&mut self, segment: &Segment, run: &Run, decided: u64) {
        if run.count == 1 {
            return self.note_one(segment, run, decided);
        }
        let count = u64::from(run.count);
        let pairs = count * (count - 1) / 2;
        let starts = count.wrapping_mul(run.start).wrapping_add(run.spacing.wrapping_mul(pairs));
        let indices = count * u64::from(segment.index) + pairs;
        let done = &mut self.done;
        done.tlps += count;
        done.data_units += count * u64::from(segment.units);
        done.wire_bytes += count * u64::from(segment.bytes);
        done.tlp_time += count * run.duration;
        let ahead = count * (decided - segment.eligible) + run.spacing * pairs;
        done.waited += u128::from(ahead - segment.spacing * pairs);
        let what = starts.wrapping_add(indices.wrapping_mul(INDEX_FACTOR));
        done.digest = done.digest.wrapping_add(segment.key.wrapping_mul(what));
    }

    /// The same for a single TLP.
    #[inline]
    fn note_one(&mut self, segment: &Segment, run: &Run, decided: u64) {
        let done = &mut self.done;
        if segment.message {
            done.messages += 1;
            done.message_time += run.duration;
        }
        done.tlps += 1;
        done.data_units += u64::from(segment.units);
        done.wire_bytes += u64::from(segment.bytes);
        done.tlp_time += run.duration;
        done.waited += u128::from(decided - segment.eligible);
        let what = run.start.wrapping_add(u64::from(segment.index).wrapping_mul(INDEX_FACTOR));
        done.digest = done.digest.wrapping_add(segment.key.wrapping_mul(what));
    }
}

/// Number of TLPs of a segment that were eligible at `t` or before, at least the first.
#[inline]
fn eligible_by(segment: &Segment, t: u64) -> u64 {
    t.saturating_sub(segment.eligible)
        .checked_div(segment.spacing)
        .map_or(u64::MAX, |further| further.saturating_add(1))
}

/// Idle time of the wire, summed over `more` TLPs after the first of a segment, which leave at `t + pace`, `t + 2 ·
/// pace`, …: the wire is free `ser` after each start and waits until the next TLP is eligible.
#[inline]
fn late(segment: &Segment, t: u64, (ser, pace): (u64, u64), more: u64) -> u64 {
    let first = (segment.eligible + segment.spacing).saturating_sub(t + ser);
    let less = pace - segment.spacing;
    let n = if less == 0 { more } else { first.div_ceil(less).min(more) };
    n * first - less * (n * n.saturating_sub(1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_wire_waits_for_each_tlp_by_itself(
            (t, ser, more) in (0_u64..50, 1_u64..20, 1_u64..10), (lead, spare, slack) in (0_u64..40, 0_u64..20, 0_u64..20),
        ) {
            let p = ser + spare;
            let pace = p + slack;
            let segment = Segment { eligible: t.saturating_sub(lead), spacing: p, count: 20, ..Segment::default() };
            let each = (1..=more).map(|k| (segment.eligible + k * p).saturating_sub(t + (k - 1) * pace + ser));
            prop_assert_eq!(late(&segment, t, (ser, pace), more), each.sum::<u64>());
        }
    }
}
