//! Congestion window: slow start, then CUBIC (RFC 9438) or DCTCP (RFC 8257).
//!
//! All arithmetic uses integers, so that the window is the same on every machine.

use crate::tcp::spec::INITIAL_SEGMENTS;

/// Congestion control algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// CUBIC, the default of Linux.
    Cubic,
    /// DCTCP, which slows down as much as switches mark.
    Dctcp,
}

/// DCTCP's share of marked bytes is kept in parts of this (Linux `tcp_dctcp.c`: `DCTCP_MAX_ALPHA`); its gain is 1/16.
pub const WHOLE: u64 = 1024;
const GAIN_SHIFT: u32 = 4;
/// CUBIC: what a loss leaves of the window, C, and the growth of Reno beside it (RFC 9438 §4.3, §5, §4.6), in tenths
/// and thousandths.
const BETA_TENTHS: u64 = 7;
const C_TENTHS: u64 = 4;
const ALPHA_THOUSANDTHS: u64 = 529;
const PS_PER_MS: u64 = 1_000_000_000;

/// A congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Congestion {
    algorithm: Algorithm,
    segment: u64,
    window: u64,
    threshold: u64,
    /// CUBIC: since when it grows along its curve.
    epoch: Option<Epoch>,
    /// CUBIC: the window at the last loss \[B\].
    highest: u64,
    marks: Marks,
}

/// CUBIC's curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Epoch {
    began: u64,
    /// When the window reaches `origin` again \[ms\], and the value of that \[B\].
    reaches_ms: u64,
    origin: u64,
    /// The window that Reno would have \[B/1000\].
    reno: u64,
}

/// DCTCP's account of a window of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Marks {
    alpha: u64,
    acknowledged: u64,
    marked: u64,
    /// The byte with which the next account begins.
    until: u64,
}

impl Congestion {
    /// A connection with segments of this size that has not sent anything.
    #[must_use]
    pub const fn new(algorithm: Algorithm, segment: u32) -> Self {
        let segment = segment as u64;
        Self {
            algorithm,
            segment,
            window: segment * INITIAL_SEGMENTS as u64,
            threshold: u64::MAX,
            epoch: None,
            highest: 0,
            marks: Marks { alpha: WHOLE, acknowledged: 0, marked: 0, until: 0 },
        }
    }
    /// The congestion window \[B\].
    #[must_use]
    pub const fn window(&self) -> u64 {
        self.window
    }
    /// DCTCP: the share of bytes that were marked, in parts of [`WHOLE`].
    #[must_use]
    pub const fn marked_share(&self) -> u64 {
        self.marks.alpha
    }
    /// Whether the receiver echoes each mark (DCTCP), or keeps echoing one until the sender has slowed down.
    #[must_use]
    pub const fn echoes_each(&self) -> bool {
        matches!(self.algorithm, Algorithm::Dctcp)
    }
    /// Grows the window after `bytes` were acknowledged while the window was the limit.
    pub fn grow(&mut self, now: u64, bytes: u64, round_trip: u64) {
        if self.window < self.threshold {
            self.window = (self.window + bytes).min(self.threshold);
            return;
        }
        match self.algorithm {
            Algorithm::Cubic => self.grow_cubic(now, bytes, round_trip),
            // one segment each round trip
            Algorithm::Dctcp => self.window += (self.segment * bytes / self.window).max(1),
        }
    }
    fn grow_cubic(&mut self, now: u64, bytes: u64, round_trip: u64) {
        let (window, segment, highest) = (self.window, self.segment, self.highest);
        let epoch = self.epoch.get_or_insert_with(|| {
            let missing = highest.saturating_sub(window);
            // K³ = missing segments / C, in ms³
            let cube = u128::from(missing) * 10 * 1_000_000_000 / u128::from(C_TENTHS * segment);
            Epoch {
                began: now,
                reaches_ms: cube_root(cube),
                origin: window.max(highest),
                reno: window * 1000,
            }
        });
        epoch.reno += ALPHA_THOUSANDTHS * segment * bytes / window;
        let ms = ((now - epoch.began) + round_trip) / PS_PER_MS;
        let away = i128::from(ms) - i128::from(epoch.reaches_ms);
        let above = i128::from(C_TENTHS * segment) * away * away * away / 10_000_000_000;
        let target =
            (i128::from(epoch.origin) + above).clamp(i128::from(window), i128::from(window * 3 / 2)) as u64;
        let reno = epoch.reno / 1000;
        let step = (target - window) * bytes / window;
        self.window = (window + step).max(reno);
    }
    /// Something was lost, or marked where each window counts once.
    pub fn reduce(&mut self) {
        let left = match self.algorithm {
            // fast convergence: a flow that has not reached its last maximum leaves room for others (RFC 9438 §4.7)
            Algorithm::Cubic => {
                let falls_short = self.window < self.highest;
                self.highest = if falls_short { self.window * (10 + BETA_TENTHS) / 20 } else { self.window };
                self.window * BETA_TENTHS / 10
            }
            Algorithm::Dctcp => self.window / 2,
        };
        self.epoch = None;
        self.threshold = left.max(2 * self.segment);
        self.window = self.threshold;
    }
    /// Nothing came through (RFC 5681 §3.1).
    pub fn timed_out(&mut self) {
        self.reduce();
        self.window = self.segment;
    }
    /// Handles an acknowledgement of `bytes` up to `acknowledged`, with or without an echoed mark, when everything up
    /// to `sent` has been sent. Returns whether the window shrank.
    pub fn echo(&mut self, bytes: u64, is_marked: bool, (acknowledged, sent): (u64, u64)) -> bool {
        let marks = &mut self.marks;
        marks.acknowledged += bytes;
        marks.marked += if is_marked { bytes } else { 0 };
        if acknowledged < marks.until || marks.acknowledged == 0 {
            return false;
        }
        let share = WHOLE * marks.marked / marks.acknowledged;
        marks.alpha = marks.alpha - (marks.alpha >> GAIN_SHIFT) + (share >> GAIN_SHIFT);
        let shrinks = marks.marked > 0;
        (marks.acknowledged, marks.marked, marks.until) = (0, 0, sent);
        if shrinks {
            let left = self.window - self.window * self.marks.alpha / (2 * WHOLE);
            self.threshold = left.max(2 * self.segment);
            self.window = self.threshold;
        }
        shrinks
    }
}

/// The integer cube root.
fn cube_root(cube: u128) -> u64 {
    let (mut low, mut high) = (0_u128, 1 << 42);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if middle * middle * middle <= cube { low = middle } else { high = middle }
    }
    low as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 1448;

    #[test]
    fn cube_roots_are_whole() {
        for root in [1_u64, 2, 9, 1000, 123_456] {
            let cube = u128::from(root).pow(3);
            assert_eq!((cube_root(cube), cube_root(cube + 1)), (root, root));
        }
        assert_eq!((cube_root(0), cube_root(26)), (0, 2));
    }

    #[test]
    fn slow_start_doubles_each_round_trip() {
        let mut it = Congestion::new(Algorithm::Cubic, SEGMENT);
        let before = it.window();
        for _ in 0..10 {
            it.grow(0, SEGMENT.into(), 0);
        }
        assert_eq!(it.window(), 2 * before);
    }

    /// The curve of the standard in floating point, beside it: round trips of 100 ms, where Reno is slower.
    #[test]
    fn cubic_follows_its_curve() {
        let (segment, trip) = (u64::from(SEGMENT), 100 * PS_PER_MS);
        let mut it = Congestion::new(Algorithm::Cubic, SEGMENT);
        (0..2000).for_each(|_| it.grow(0, segment, trip));
        let highest = it.window() as f64 / f64::from(SEGMENT);
        it.reduce();
        assert!((it.window() as f64 / f64::from(SEGMENT) / highest - 0.7).abs() < 1e-3);
        let k = (highest * 0.3 / 0.4).cbrt();
        let (mut now, mut seconds) = (0, 0.0);
        while seconds < 1.5 * k {
            let mut left = it.window();
            while left > 0 {
                let bytes = left.min(segment);
                it.grow(now, bytes, trip);
                left -= bytes;
            }
            now += trip;
            seconds += 0.1;
            let target = 0.4 * (seconds - k).powi(3) + highest;
            let window = it.window() as f64 / f64::from(SEGMENT);
            assert!(
                (window / target - 1.0).abs() < 0.05,
                "at {seconds:.1} s of {k:.1} s: {window:.0}, {target:.0}"
            );
        }
    }

    #[test]
    fn dctcp_finds_the_share_of_marks_and_shrinks_by_half_of_it() {
        let segment = u64::from(SEGMENT);
        let mut it = Congestion::new(Algorithm::Dctcp, SEGMENT);
        it.reduce();
        let mut acknowledged = 0;
        for turn in 0..20_000_u64 {
            acknowledged += segment;
            let before = it.window();
            if it.echo(segment, turn % 4 == 0, (acknowledged, acknowledged + 8 * segment)) {
                let left = before - before * it.marked_share() / (2 * WHOLE);
                assert_eq!(it.window(), left.max(2 * segment));
            }
        }
        assert!(it.marked_share().abs_diff(WHOLE / 4) < WHOLE / 10, "{}", it.marked_share());
    }
}
