//! Resampling on another grid: between the samples, below the first and above the last.
//!
//! | where | how |
//! |---|---|
//! | on a sample | the sample |
//! | between samples | the bulk delay is taken out, a cubic is laid through four neighbours, the delay is put back |
//! | below the first | without its delay the term is a + b·√f + c·f, as the skin effect and what is left of the delay make it, and real at 0 Hz |
//! | above the last | the magnitude follows the slope in dB of the last quarter of the band, never rising; the delay stays |

use crate::complex::{ZERO, magnitude, phase, turn};
use crate::matrix::Matrix;
use crate::network::{Grid, Network};
use crate::problem::{Finding, Problem, hertz};
use core::f64::consts::{LN_10, TAU};
use num_complex::Complex64;

/// First frequency above which a warning is given \[Hz\].
const LATE_HZ: f64 = 50e6;
/// Phase step of the strongest term between samples above which interpolation is unreliable \[degrees\].
const COARSE_DEGREES: f64 = 90.0;
/// The share of the band whose slope is continued.
const TOP_SHARE: f64 = 0.25;

impl Network {
    /// The same network on a grid from 0 Hz, and what was guessed for it: `PH104` for data that begin late, `PH109` for
    /// samples too far apart. Whether the data reach far enough depends on the rate: see
    /// [`crate::quality::check_range`].
    ///
    /// # Errors
    /// `PH010` if there are fewer than four samples.
    pub fn on_grid(&self, grid: Grid) -> Result<(Self, Vec<Finding>), Finding> {
        if self.frequencies().len() < 4 {
            return Err(Problem::NoData.found());
        }
        let found = self.doubts_on_grid();
        let frequencies = grid.frequencies();
        if frequencies == self.frequencies() {
            return Ok((self.clone(), found));
        }
        let ports = self.ports();
        let mut cells = vec![ZERO; frequencies.len() * ports * ports];
        for cell in 0..ports * ports {
            let term = Term::new(self.frequencies(), self.term(cell / ports, cell % ports));
            term.sample(&frequencies, |at, value| cells[at * ports * ports + cell] = value);
        }
        Ok((Self::unchecked(frequencies, self.reference().to_vec(), cells), found))
    }
    fn doubts_on_grid(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let first = self.frequencies()[0];
        if first > LATE_HZ {
            found.push(Problem::NoDc { first: hertz(first) }.found());
        }
        let turn = self.coarsest_turn();
        if turn > COARSE_DEGREES {
            let step = self.frequencies().windows(2).map(|two| two[1] - two[0]).fold(0.0, f64::max);
            found.push(Problem::CoarseStep { step: hertz(step), turn: format!("{turn:.0}") }.found());
        }
        found
    }
    /// The median turn from sample to sample, of the through term that turns most \[degrees\].
    fn coarsest_turn(&self) -> f64 {
        let ports = self.ports();
        let mut most: f64 = 0.0;
        for to in 0..ports {
            for from in 0..to {
                let term = self.term(to, from);
                let strong = term.iter().take(term.len().min(20)).map(|z| magnitude(*z)).sum::<f64>() / 20.0;
                if strong < 0.3 {
                    continue;
                }
                let mut turns: Vec<f64> =
                    term.windows(2).map(|two| phase(two[1] * two[0].conj()).abs().to_degrees()).collect();
                turns.sort_by(f64::total_cmp);
                most = most.max(turns.get(turns.len() / 2).copied().unwrap_or(0.0));
            }
        }
        most
    }
}

/// The bulk delay of a term \[s\]: its turn from sample to sample, weighted with its energy.
pub(crate) fn delay(frequencies: &[f64], term: &[Complex64]) -> f64 {
    let (mut slope, mut weight) = (0.0, 0.0);
    for (f, z) in frequencies.windows(2).zip(term.windows(2)) {
        let turned = z[1] * z[0].conj();
        let energy = magnitude(turned);
        if energy > 0.0 {
            slope -= phase(turned) / (TAU * (f[1] - f[0])) * energy;
            weight += energy;
        }
    }
    if weight > 0.0 { slope / weight } else { 0.0 }
}

/// One term of a network, without its bulk delay.
struct Term<'a> {
    frequencies: &'a [f64],
    samples: Vec<Complex64>,
    straight: Vec<Complex64>,
    delay: f64,
    /// The curve through the lowest samples.
    low: LowEnd,
    /// How the logarithm of the magnitude goes on above the last sample \[Np/Hz\], never above 0.
    slope: f64,
}

impl<'a> Term<'a> {
    fn new(frequencies: &'a [f64], samples: Vec<Complex64>) -> Self {
        let delay = delay(frequencies, &samples);
        let straight: Vec<Complex64> =
            samples.iter().zip(frequencies).map(|(z, f)| z * turn(TAU * f * delay)).collect();
        let (low, slope) = (LowEnd::new(frequencies, &straight), top_slope(frequencies, &samples));
        Self { frequencies, samples, straight, delay, low, slope }
    }
    fn sample(&self, grid: &[f64], mut put: impl FnMut(usize, Complex64)) {
        let last = self.frequencies.len() - 1;
        let mut above = 0;
        for (at, &f) in grid.iter().enumerate() {
            while above <= last && self.frequencies[above] < f * (1.0 - 1e-12) {
                above += 1;
            }
            let value = if above > last {
                let gain = libm::exp(self.slope * (f - self.frequencies[last]));
                self.bent(self.straight[last] * gain, f)
            } else if (self.frequencies[above] - f).abs() <= f * 1e-12 {
                self.samples[above]
            } else if above == 0 {
                self.bent(self.below(f), f)
            } else {
                self.bent(self.between(above, f), f)
            };
            put(at, value);
        }
    }
    /// Restores the delay.
    fn bent(&self, straight: Complex64, f: f64) -> Complex64 {
        straight * turn(-TAU * f * self.delay)
    }
    fn below(&self, f: f64) -> Complex64 {
        let first = self.frequencies[0];
        // the curve need not go through the first sample; what is missing fades towards 0 Hz
        let missing = self.straight[0] - self.low.at(first);
        self.low.at(f) + missing * (f / first)
    }
    /// Lagrange's cubic through the two samples below and the two above.
    fn between(&self, above: usize, f: f64) -> Complex64 {
        let start = above.saturating_sub(2).min(self.frequencies.len() - 4);
        let nodes = &self.frequencies[start..start + 4];
        let mut sum = ZERO;
        for (k, node) in nodes.iter().enumerate() {
            let others = nodes.iter().enumerate().filter(|(other, _)| *other != k);
            let weight = others.fold(1.0, |product, (_, other)| product * (f - other) / (node - other));
            sum += self.straight[start + k] * weight;
        }
        sum
    }
}

/// a + b·√f + c·f with a real a, the closest to the lowest samples.
struct LowEnd {
    scale: f64,
    real: [f64; 3],
    imaginary: [f64; 2],
}

impl LowEnd {
    fn new(frequencies: &[f64], straight: &[Complex64]) -> Self {
        let reach = frequencies.partition_point(|f| *f <= 10.0 * frequencies[0]).clamp(6, 40);
        let reach = reach.min(frequencies.len());
        let scale = frequencies[reach - 1];
        let samples = || frequencies[..reach].iter().map(|f| f / scale).zip(&straight[..reach]);
        let mut real = least_squares(samples().map(|(x, z)| ([1.0, x.sqrt(), x], z.re)));
        // a passive network does not amplify
        real[0] = real[0].clamp(-1.0, 1.0);
        let imaginary = least_squares(samples().map(|(x, z)| ([x.sqrt(), x], z.im)));
        Self { scale, real, imaginary }
    }
    fn at(&self, f: f64) -> Complex64 {
        let x = f / self.scale;
        let root = x.sqrt();
        let real = self.real[0] + self.real[1] * root + self.real[2] * x;
        Complex64::new(real, self.imaginary[0] * root + self.imaginary[1] * x)
    }
}

/// The factors of the shapes that come closest to the values; 0 for all if the samples do not tell.
fn least_squares<const N: usize>(samples: impl Iterator<Item = ([f64; N], f64)>) -> [f64; N] {
    let (mut left, mut right) = (Matrix::zero(N), Matrix::zero(N));
    for (shapes, value) in samples {
        for row in 0..N {
            for column in 0..N {
                left[(row, column)] += shapes[row] * shapes[column];
            }
            right[(row, 0)] += shapes[row] * value;
        }
    }
    left.solve(right).map_or([0.0; N], |solved| core::array::from_fn(|row| solved[(row, 0)].re))
}

/// The slope of ln|S| in the top of the band \[Np/Hz\].
fn top_slope(frequencies: &[f64], samples: &[Complex64]) -> f64 {
    let last = frequencies[frequencies.len() - 1];
    let from = last - TOP_SHARE * (last - frequencies[0]);
    let first = frequencies.partition_point(|f| *f < from).min(frequencies.len() - 4);
    let floor = libm::exp(-300.0 / 20.0 * LN_10);
    let points = frequencies[first..].iter().zip(&samples[first..]);
    let (_, slope) = straight_line(points.map(|(f, z)| (*f, libm::log(magnitude(*z).max(floor)))));
    slope.min(0.0)
}

/// Level at 0 and slope of the line closest to the points.
fn straight_line(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x, sum.1 + y));
    let (x, y) = (x / count, y / count);
    let (covariance, variance) =
        points.fold((0.0, 0.0), |sum, (px, py)| (sum.0 + (px - x) * (py - y), sum.1 + (px - x) * (px - x)));
    let slope = if variance > 0.0 { covariance / variance } else { 0.0 };
    (y - slope * x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::{decibels, polar};

    /// A matched line of 2 ns with 6 dB of skin loss at 10 GHz, phase and all.
    fn line(f: f64) -> Complex64 {
        let skin = (f / 10e9).sqrt() * 6.0 / 20.0 * LN_10;
        polar(libm::exp(-skin), -skin - TAU * f * 2e-9)
    }

    fn network(frequencies: Vec<f64>) -> Network {
        let cells = frequencies.iter().flat_map(|f| [ZERO, line(*f), line(*f), ZERO]).collect();
        Network::new(frequencies, vec![50.0; 2], cells).unwrap()
    }

    fn worst(net: &Network, range: core::ops::Range<f64>) -> f64 {
        let inside = net.frequencies().iter().zip(net.term(1, 0)).filter(|(f, _)| range.contains(f));
        inside.map(|(f, z)| magnitude(z - line(*f))).fold(0.0, f64::max)
    }

    #[test]
    fn samples_on_the_grid_are_kept_and_others_lie_on_the_curve() {
        let net = network((1..=1000).map(|k| f64::from(k) * 20e6).collect());
        let (fine, found) = net.on_grid(Grid::new(5e6, 20e9).unwrap()).unwrap();
        assert_eq!(found, []);
        assert_eq!(fine.at(40)[2], net.at(9)[2]);
        assert!(worst(&fine, 100e6..20e9) < 2e-5, "{}", worst(&fine, 100e6..20e9));
        assert!(worst(&fine, 0.0..100e6) < 2e-3, "{}", worst(&fine, 0.0..100e6));
    }

    #[test]
    fn below_the_first_sample_the_term_goes_to_its_value_at_0_hz() {
        let net = network((5..=2000).map(|k| f64::from(k) * 10e6).collect());
        let (grid, _) = net.on_grid(Grid::new(10e6, 20e9).unwrap()).unwrap();
        assert!(magnitude(grid.at(0)[2] - 1.0) < 2e-3, "{}", grid.at(0)[2]);
        assert_eq!(grid.at(0)[2].im, 0.0);
        assert!(worst(&grid, 0.0..50e6) < 2e-3, "{}", worst(&grid, 0.0..50e6));
    }

    #[test]
    fn above_the_last_sample_loss_goes_on_and_never_turns_to_gain() {
        let net = network((0..=1000).map(|k| f64::from(k) * 15e6).collect());
        let (grid, _) = net.on_grid(Grid::new(15e6, 30e9).unwrap()).unwrap();
        let db: Vec<f64> = grid.term(1, 0).into_iter().map(|z| decibels(magnitude(z))).collect();
        assert!(db[1001..].windows(2).all(|two| two[1] <= two[0]));
        let (at_30, exact) = (db[2000], decibels(magnitude(line(30e9))));
        assert!((at_30 - exact).abs() < 1.0, "{at_30} {exact}");
    }

    #[test]
    fn what_was_guessed_is_said() {
        let codes = |frequencies: Vec<f64>| {
            let (_, found) = network(frequencies).on_grid(Grid::new(10e6, 20e9).unwrap()).unwrap();
            found.into_iter().map(|finding| finding.code).collect::<Vec<_>>()
        };
        assert_eq!(codes((10..2000).map(|k| f64::from(k) * 10e6).collect()), ["PH104"]);
        // 2 ns turn by 144° in 200 MHz
        assert_eq!(codes((0..100).map(|k| f64::from(k) * 200e6).collect()), ["PH109"]);
    }
}
