//! Bathtubs in both axes, and their crossings of a bit error ratio: width, height, centre of an eye.

use super::statistical::StatisticalEye;

/// Positions per UI at which the eye is evaluated to find its centre.
const PLACES_PER_UI: i32 = 32;
/// Resolution of voltages \[V\] and of times \[UI\].
const VOLTAGE_STEP: f64 = 1e-6;
const TIME_STEP: f64 = 1e-4;

/// A point of a bathtub.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BathtubPoint {
    /// Sampling time \[UI\] or threshold \[V\].
    pub at: f64,
    /// The bit error ratio there.
    pub ber: f64,
}

impl StatisticalEye {
    /// The sampling time with the fewest errors \[UI from the middle\]: where an ideal clock recovery stands.
    ///
    /// The middle of several that are equally good, as deep inside a wide eye.
    #[must_use]
    pub fn centre_ui(&self) -> f64 {
        let row = self.row(0.0);
        let reach = (self.reach_ui() * f64::from(PLACES_PER_UI)) as i32;
        let places: Vec<(f64, f64)> = (-reach..=reach)
            .map(|place| f64::from(place) / f64::from(PLACES_PER_UI))
            .map(|at| (at, self.averaged(&row, at)))
            .collect();
        let least = places.iter().map(|(_, ber)| *ber).fold(f64::INFINITY, f64::min);
        let good = |&&(_, ber): &&(f64, f64)| ber <= least * 1.000_001;
        let first = places.iter().find(good).map_or(0.0, |(at, _)| *at);
        let last = places.iter().rev().find(good).map_or(0.0, |(at, _)| *at);
        0.5 * (first + last)
    }

    /// The width at a bit error ratio, threshold in the middle \[UI\]; 0 if the eye is closed at its centre.
    #[must_use]
    pub fn width_ui(&self, ber: f64) -> f64 {
        let (row, centre) = (self.row(0.0), self.centre_ui());
        let open = |at: f64| self.averaged(&row, at) <= ber;
        if !open(centre) {
            return 0.0;
        }
        let side = |direction: f64| {
            let step = 1.0 / f64::from(PLACES_PER_UI);
            let (mut inside, mut outside) = (0.0, 0.0);
            while outside < 1.0 && open(centre + direction * outside) {
                inside = outside;
                outside += step;
            }
            // open to the end of what is known: the eye is at least that wide
            let end = self.reach_ui() - direction * centre;
            if outside > end && open(centre + direction * end) {
                return end;
            }
            bisect(inside, outside, TIME_STEP, |off| open(centre + direction * off))
        };
        side(-1.0) + side(1.0)
    }

    /// The height at a bit error ratio and a sampling time \[V\], peak to peak, and below 0 by what is missing.
    ///
    /// Twice the threshold up to which at most that share of the ones is lost.
    #[must_use]
    pub fn height_v(&self, ber: f64, at_ui: f64) -> f64 {
        let reach = self.reach_v();
        2.0 * bisect(-reach, reach, VOLTAGE_STEP, |threshold| self.ones_lost(at_ui, threshold) <= ber)
    }

    /// The bathtub over sampling times, threshold in the middle: `points` of them over the UI around the middle.
    #[must_use]
    pub fn bathtub_in_time(&self, points: usize) -> Vec<BathtubPoint> {
        let row = self.row(0.0);
        let at = |number: usize| number as f64 / points.max(2).saturating_sub(1) as f64 - 0.5;
        (0..points.max(2))
            .map(|number| BathtubPoint { at: at(number), ber: self.averaged(&row, at(number)) })
            .collect()
    }

    /// The bathtub over thresholds at a sampling time: `points` of them, to a voltage on both sides \[V\].
    #[must_use]
    pub fn bathtub_in_voltage(&self, at_ui: f64, points: usize, to_v: f64) -> Vec<BathtubPoint> {
        let last = points.max(2) - 1;
        let at = |number: usize| (2.0 * number as f64 / last as f64 - 1.0) * to_v;
        (0..=last).map(|number| BathtubPoint { at: at(number), ber: self.ber(at_ui, at(number)) }).collect()
    }
}

/// The last place where `holds`, given that it holds at `low` and, beyond some place, no more.
fn bisect(mut low: f64, mut high: f64, step: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while high - low > step {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::super::normal::upper_tail;
    use super::super::{Interference, Jitter};
    use super::*;

    const UI: f64 = 1e-12;

    /// A bit of 0.1 V that stays for the whole UI, noise of 0.01 V: a box with fuzzy sides.
    fn boxed(sigma_v: f64, jitter: Jitter) -> StatisticalEye {
        let phase = |step: i32| {
            let inside = step.abs() <= 8;
            Interference {
                main_v: if inside { 0.1 } else { 0.0 },
                cursors_v: if inside { vec![] } else { vec![0.1] },
                sigma_v,
            }
        };
        StatisticalEye::new(&(-10..=10).map(phase).collect::<Vec<_>>(), &jitter, UI)
    }

    #[test]
    fn the_height_is_what_the_noise_leaves() {
        let eye = boxed(0.01, Jitter { deterministic_s: 0.0, random_s: 0.0 });
        // 7.034 standard deviations are 1e-12
        assert!(
            (eye.height_v(1e-12, 0.0) - 2.0 * (0.1 - 0.070_345)).abs() < 2e-5,
            "{}",
            eye.height_v(1e-12, 0.0)
        );
        assert!(eye.height_v(1e-12, 0.0) < eye.height_v(1e-6, 0.0));
        let closed = boxed(0.02, Jitter { deterministic_s: 0.0, random_s: 0.0 });
        assert!((closed.height_v(1e-12, 0.0) - 2.0 * (0.1 - 0.140_69)).abs() < 5e-5);
        assert_eq!(closed.width_ui(1e-12), 0.0);
    }

    #[test]
    fn the_width_is_what_random_jitter_leaves() {
        let eye = |sigma| boxed(0.005, Jitter { deterministic_s: 0.0, random_s: sigma * UI });
        // the sides stand a little beyond half a UI; their distance falls by 2·7.034 standard deviations
        let (narrow, wide) = (eye(0.03).width_ui(1e-12), eye(0.02).width_ui(1e-12));
        assert!((wide - narrow - 0.02 * 7.034).abs() < 0.02, "{wide} {narrow}");
        assert!(eye(0.02).centre_ui().abs() < 1e-9);
    }

    #[test]
    fn bathtubs_are_the_eye_along_their_axes() {
        let eye = boxed(0.02, Jitter { deterministic_s: 0.1 * UI, random_s: 0.01 * UI });
        for point in eye.bathtub_in_time(9) {
            assert_eq!(point.ber, eye.ber(point.at, 0.0));
        }
        let voltage = eye.bathtub_in_voltage(0.0, 5, 0.08);
        assert_eq!(voltage.len(), 5);
        assert_eq!((voltage[0].at, voltage[4].at), (-0.08, 0.08));
        assert_eq!(voltage[1].ber, voltage[3].ber);
        assert!((voltage[2].ber / upper_tail(5.0) - 1.0).abs() < 0.01);
    }
}
