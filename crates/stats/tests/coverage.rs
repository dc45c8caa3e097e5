//! Does an interval that says 95 % cover the truth about 95 times in a hundred?
//!
//! Seeded, so the counts are always the same; the bounds allow five standard deviations of the binomial count.

use lanetwin_stats::{Confidence, Interval, interval, paired_ratio, steady};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random draws from distributions whose mean, median and percentiles are known.
struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
    /// In (0, 1), never an end.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }
    /// Mean 1.
    fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }
    /// Mean 0, deviation 1 (Box & Muller).
    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }
}

/// How often, in percent of `trials`, the interval of a fresh sample covers `truth`.
fn coverage(trials: u32, truth: f64, mut sample: impl FnMut() -> Option<Interval>) -> f64 {
    let covered =
        (0..trials).filter(|_| sample().expect("the sample is large enough").contains(truth)).count();
    100.0 * covered as f64 / f64::from(trials)
}

fn draws(n: usize, mut one: impl FnMut() -> f64) -> Vec<f64> {
    (0..n).map(|_| one()).collect()
}

#[test]
fn mean_of_normal_repeats() {
    for n in [2, 3, 5, 10, 30] {
        let mut random = Draw::seeded(n as u64);
        let found = coverage(4_000, 7.0, || {
            interval::mean(&draws(n, || 7.0 + 0.3 * random.normal()), Confidence::P95)
        });
        assert!((93.3..=96.7).contains(&found), "{found} % at n = {n}");
    }
}

#[test]
fn mean_at_another_level() {
    let mut random = Draw::seeded(80);
    let level = Confidence::new(0.8).unwrap();
    let found = coverage(4_000, 0.0, || interval::mean(&draws(6, || random.normal()), level));
    assert!((76.8..=83.2).contains(&found), "{found} %");
}

#[test]
fn median_and_percentile_of_a_skewed_distribution_cover_what_they_say() {
    for (n, percent) in [(6, 50.0), (25, 50.0), (100, 90.0), (1_000, 99.0)] {
        let mut random = Draw::seeded(n as u64);
        let truth = -libm::log(1.0 - percent / 100.0);
        let said = interval::percentile(&draws(n, || 1.0), percent, Confidence::P95).unwrap().achieved;
        let found = coverage(4_000, truth, || {
            Some(interval::percentile(&draws(n, || random.exponential()), percent, Confidence::P95)?.interval)
        });
        assert!(said >= 0.95 && (found - 100.0 * said).abs() < 1.75, "{found} % at n = {n}, said {said}");
    }
}

#[test]
fn batch_means_of_a_correlated_series() {
    // first-order autoregression with coefficient 0.8; Student's t on the raw series covers only about half as often
    let mut random = Draw::seeded(11);
    let mut series = |n: usize| {
        let mut level = random.normal() / 0.6;
        draws(n, || {
            level = 0.8 * level + random.normal();
            50.0 + level
        })
    };
    let batched =
        coverage(1_000, 50.0, || Some(steady::batch_means(&series(4_000), 20, Confidence::P95)?.interval));
    assert!((91.0..=98.0).contains(&batched), "{batched} %");
    let raw = coverage(1_000, 50.0, || interval::mean(&series(4_000), Confidence::P95));
    assert!(raw < 60.0, "{raw} %: the series is not correlated enough to prove anything");
}

/// Pairs that share most of their noise; the variant is 5 % more.
fn pairs(random: &mut Draw, n: usize, mut noise: impl FnMut(&mut Draw) -> f64) -> (Vec<f64>, Vec<f64>) {
    (0..n)
        .map(|_| {
            let shared = 10.0 + 2.0 * noise(random);
            (shared + 0.2 * noise(random), 1.05 * (shared + 0.2 * noise(random)))
        })
        .unzip()
}

fn ratio_coverage(n: usize, trials: u32, noise: fn(&mut Draw) -> f64) -> f64 {
    let mut random = Draw::seeded(1_000 + n as u64);
    coverage(trials, 0.05, || {
        let (baseline, variant) = pairs(&mut random, n, noise);
        paired_ratio(&baseline, &variant, Confidence::P95, 9).expect("the pairs are positive").interval()
    })
}

#[test]
fn paired_ratio_of_few_and_many_repeats() {
    for n in [2, 3, 5, 7, 8, 12, 20] {
        let normal = ratio_coverage(n, 400, Draw::normal);
        let skewed = ratio_coverage(n, 400, Draw::exponential);
        // Student below 8 pairs, the expanded bootstrap from there on: a little short of 95 % where noise is skewed
        assert!((91.0..=99.0).contains(&normal), "{normal} % at n = {n}, normal noise");
        assert!((87.5..=99.5).contains(&skewed), "{skewed} % at n = {n}, skewed noise");
    }
}
