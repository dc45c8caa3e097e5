//! The distribution of the disturbance by direct convolution: every cursor shifts half of it up and half of it down.
//!
//! All terms are positive, so that a tail of 1e-30 is as exact, relatively, as the middle. Three things keep the bins
//! from showing; each is a matter of per cent in a tail if it is left out:
//!
//! 1. A bin is the probability between its edges, not a sample of a density, and tails are told at edges.
//! 2. A shift that is not a whole number of bins is split over two. That adds a variance of f(1 − f) bins², which is
//!    taken out of the noise from the start.
//! 3. Cursors far below the noise are not shifted at all but counted as noise. How many is decided by what that does to
//!    the tail, about (c_k·z/σ)⁴/12 each at z standard deviations.
//!
//! What remains are the third moments of the split shifts: some per cent at 1e-12, a factor of 1.3 at 1e-30, beside the
//! saddle point.

use super::interference::Interference;
use super::normal;

/// Bins of a standard deviation of the noise.
const BINS_PER_SIGMA: f64 = 8.0;
/// The noise is followed to this many standard deviations; the tails of 1e-40 that are told need 13, and their slope 5
/// more.
const REACH: f64 = 18.0;
/// The depth at which the effect of small cursors is estimated, in standard deviations, and its maximum there.
const WEIGHED_AT: f64 = 8.0;
const CHANGED_BY: f64 = 0.02;
/// The share of the noise's variance that split shifts may take.
const MOST_TAKEN: f64 = 0.3;
/// Noise below this share of the sum of the cursors counts as this much: it would be lost in so wide a distribution.
const LEAST_NOISE: f64 = 1e-3;

/// The distribution of X = Σ ±c_k + N(0, σ²); it is symmetric about 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    bin_v: f64,
    /// P(X > edge) at the edges (n − ½)·bin, from the middle outwards: n = 1, 2 …
    tails: Vec<f64>,
}

impl Distribution {
    /// Convolves noise and cursors.
    ///
    /// # Panics
    ///
    /// If the noise is not above 0: without it there is no distribution to put into bins.
    #[must_use]
    pub fn of(disturbance: &Interference) -> Self {
        assert!(disturbance.sigma_v > 0.0, "an eye needs noise, not {} V", disturbance.sigma_v);
        let widest = disturbance.main_v - disturbance.peak_distortion_v();
        let sigma = disturbance.sigma_v.max(LEAST_NOISE * widest);
        let (large, variance) = without_small(&disturbance.cursors_v, sigma);
        let plan = Shifts::plan(&large, variance);
        let masses = convolve(&plan);
        Self { bin_v: plan.bin_v, tails: sum_from_outside(&masses) }
    }

    /// P(X > `x`) \[V\]; 0 further out than the noise is followed.
    #[must_use]
    pub fn tail(&self, x: f64) -> f64 {
        if x < 0.0 {
            return 1.0 - self.tail(-x);
        }
        // in units of bins from the innermost edge; between the two innermost edges the distribution is flat
        let place = x / self.bin_v - 0.5;
        if place < 0.0 {
            let inner = self.tails[0];
            return 0.5 + (inner - 0.5) * (place + 0.5) * 2.0;
        }
        let index = place as usize;
        match (self.tails.get(index), self.tails.get(index + 1)) {
            (Some(&near), Some(&far)) if far > 0.0 => {
                let share = place - index as f64;
                near * libm::exp(share * libm::log(far / near))
            }
            _ => 0.0,
        }
    }

    /// The farthest voltage that has a probability \[V\].
    #[must_use]
    pub fn reach_v(&self) -> f64 {
        self.tails.len() as f64 * self.bin_v
    }
}

/// The cursors that are convolved, smallest first, and the variance of noise and of all other cursors \[V²\].
fn without_small(cursors: &[f64], sigma: f64) -> (Vec<f64>, f64) {
    let weight = WEIGHED_AT / sigma;
    // the fourth powers of a loud few would be summed in vain: start from the size at which one alone is too much
    let mut limit = libm::pow(12.0 * CHANGED_BY, 0.25) / weight;
    let share = |cursor: f64| {
        let scaled = cursor * weight;
        scaled * scaled * scaled * scaled / 12.0
    };
    loop {
        let small = |cursor: &&f64| cursor.abs() < limit;
        let changed: f64 = cursors.iter().filter(small).map(|&cursor| share(cursor)).sum();
        if changed <= CHANGED_BY {
            break;
        }
        limit *= 0.8;
    }
    let mut variance = sigma * sigma;
    let mut large = Vec::new();
    for cursor in cursors {
        if cursor.abs() < limit { variance += cursor * cursor } else { large.push(cursor.abs()) }
    }
    large.sort_by(f64::total_cmp);
    (large, variance)
}

/// Whole bins and the share of one more.
type Shift = (usize, f64);

/// Shifts of the cursors in bins.
struct Shifts {
    bin_v: f64,
    /// The noise to start from \[V\].
    sigma_v: f64,
    shifts: Vec<Shift>,
}

impl Shifts {
    fn plan(cursors: &[f64], variance: f64) -> Self {
        let mut bin_v = libm::sqrt(variance) / BINS_PER_SIGMA;
        loop {
            let split = |&cursor: &f64| {
                let whole = (cursor / bin_v).floor();
                (whole as usize, cursor / bin_v - whole)
            };
            let shifts: Vec<Shift> = cursors.iter().map(split).collect();
            let taken = shifts.iter().map(|(_, share)| share * (1.0 - share)).sum::<f64>() * bin_v * bin_v;
            if taken <= MOST_TAKEN * variance {
                return Self { bin_v, sigma_v: libm::sqrt(variance - taken), shifts };
            }
            // a quarter of the variance for half the bin
            bin_v *= 0.5;
        }
    }
}

/// The probability of each bin from the middle outwards. Only the upper half is convolved: the distribution is
/// symmetric, so values below the middle that a shift needs mirror those above.
fn convolve(plan: &Shifts) -> Vec<f64> {
    let noise_bins = (REACH * plan.sigma_v / plan.bin_v).ceil() as usize;
    let total: usize = noise_bins + plan.shifts.iter().map(|(whole, _)| whole + 1).sum::<usize>();
    // room for the widest shift on both sides, so that no access is out of range
    let middle = plan.shifts.iter().map(|(whole, _)| whole + 1).max().unwrap_or(0);
    let mut now = vec![0.0; middle + total + 1 + middle];
    let mut next = now.clone();
    spread_noise(plan, &mut now[middle..=middle + noise_bins]);
    let mut reach = noise_bins;
    for &(whole, share) in &plan.shifts {
        for bin in 1..=whole + 1 {
            now[middle - bin] = now[middle + bin];
        }
        reach += whole + 1;
        let count = reach + 1;
        let window = |from: usize| &now[from..from + count];
        let (near, far) = (0.5 * (1.0 - share), 0.5 * share);
        let (down, up) = (window(middle + whole), window(middle - whole));
        let (down_far, up_far) = (window(middle + whole + 1), window(middle - whole - 1));
        let out = &mut next[middle..middle + count];
        for index in 0..count {
            out[index] = near * (down[index] + up[index]) + far * (down_far[index] + up_far[index]);
        }
        core::mem::swap(&mut now, &mut next);
    }
    now.truncate(middle + reach + 1);
    now.split_off(middle)
}

/// Fills bins with the noise, from the middle outwards; the middle bin reaches as far to either side.
fn spread_noise(plan: &Shifts, bins: &mut [f64]) {
    let edge = |bin: usize| normal::upper_tail((bin as f64 + 0.5) * plan.bin_v / plan.sigma_v);
    let mut inner = edge(0);
    bins[0] = 1.0 - 2.0 * inner;
    for (bin, mass) in bins.iter_mut().enumerate().skip(1) {
        let outer = edge(bin);
        *mass = inner - outer;
        inner = outer;
    }
}

/// Tails at the outer edge of the middle bin and of each next one.
fn sum_from_outside(masses: &[f64]) -> Vec<f64> {
    let mut tails = vec![0.0; masses.len()];
    let mut sum = 0.0;
    for bin in (1..masses.len()).rev() {
        sum += masses[bin];
        tails[bin - 1] = sum;
    }
    tails
}

#[cfg(test)]
mod tests {
    use super::super::saddle::tail_by_saddle_point;
    use super::*;

    fn noisy(cursors_v: Vec<f64>, sigma_v: f64) -> Interference {
        Interference { main_v: 0.0, cursors_v, sigma_v }
    }

    /// The exact tail, over all combinations of signs.
    fn enumerated(of: &Interference, x: f64) -> f64 {
        let count = of.cursors_v.len();
        let tail = |signs: u32| {
            let sum: f64 =
                of.cursors_v.iter().enumerate().map(|(k, c)| if signs >> k & 1 == 1 { *c } else { -c }).sum();
            normal::upper_tail((x - sum) / of.sigma_v)
        };
        (0..1_u32 << count).map(tail).sum::<f64>() / f64::from(1_u32 << count)
    }

    #[test]
    fn noise_alone_is_the_normal_tail_at_any_depth() {
        let found = Distribution::of(&noisy(vec![], 1.5e-3));
        for z in [0.0, 0.3, 1.0, 3.0, 7.0, 10.0, 12.5] {
            let (tail, exact) = (found.tail(1.5e-3 * z), normal::upper_tail(z));
            assert!((tail / exact - 1.0).abs() < 0.01, "{z}: {tail} {exact}");
        }
    }

    #[test]
    fn twelve_cursors_are_all_4096_combinations() {
        let cursors: Vec<f64> = (1..=12).map(|k| 0.0061 / f64::from(k)).collect();
        for sigma in [0.4e-3, 1.0e-3, 3.0e-3] {
            let of = noisy(cursors.clone(), sigma);
            let found = Distribution::of(&of);
            for x in [0.0, 2e-3, 0.01, 0.015, 0.02, 0.025] {
                let exact = enumerated(&of, x);
                if exact > 1e-38 {
                    let tail = found.tail(x);
                    assert!((tail / exact - 1.0).abs() < 0.03, "σ {sigma} x {x}: {tail} {exact}");
                }
            }
        }
    }

    #[test]
    fn many_small_cursors_agree_with_the_saddle_point() {
        let cursors: Vec<f64> = (1..900).map(|k| 0.004 / f64::from(k) + 0.00001 * f64::from(k % 7)).collect();
        let of = noisy(cursors, 1.0e-3);
        let found = Distribution::of(&of);
        for x in [2e-3, 8e-3, 0.012, 0.016] {
            let (tail, saddle) = (found.tail(x), tail_by_saddle_point(&of, x));
            assert!((tail / saddle - 1.0).abs() < 0.1, "{x}: {tail} {saddle}");
        }
    }

    #[test]
    fn the_sign_of_a_cursor_does_not_count_and_tails_mirror() {
        let (plus, minus) = (noisy(vec![0.003, 0.001], 1e-3), noisy(vec![-0.003, 0.001], 1e-3));
        assert_eq!(Distribution::of(&plus), Distribution::of(&minus));
        let found = Distribution::of(&plus);
        assert!((found.tail(-0.002) + found.tail(0.002) - 1.0).abs() < 1e-12);
        assert!((found.tail(0.0) - 0.5).abs() < 1e-12);
    }
}
