//! Quality of measured data, checked before anything is computed from them.
//!
//! The three measures are the initial (frequency-domain) quality metrics of IEEE 370-2020, in per cent, 100 is perfect:
//!
//! | measure | of each frequency, or term | metric |
//! |---|---|---|
//! | passivity | gain = largest singular value of S | 100·(1 − mean of max(0, (gain − 1)/0.1)), from a gain of 1.00001 on |
//! | reciprocity | d = mean of \|S_ij − S_ji\| over i ≠ j | 100·(1 − mean of max(0, (d − 10⁻⁶)/0.1)) |
//! | causality | turns of the curve, from one step to the next | share of the clockwise turns in all turns, the least over all terms |
//!
//! | grade | passivity, reciprocity | causality |
//! |---|---|---|
//! | good | above 99.9 | above 80 |
//! | acceptable | above 99 | above 50 |
//! | inconclusive | above 80 | above 20 |
//! | poor | the rest | the rest |

use crate::complex::magnitude;
use crate::network::Network;
use crate::problem::{Finding, Problem, hertz};
use crate::rate::DataRate;
use serde::Serialize;

/// A gain above which a network is active (IEEE 370-2020).
const GAIN: f64 = 1.00001;
/// A difference above which a network is not reciprocal (IEEE 370-2020).
const DIFFERENCE: f64 = 1e-6;
/// The excess that costs the whole of a frequency (IEEE 370-2020).
const WEIGHT: f64 = 0.1;

/// Grade of a metric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Not to be used.
    Poor,
    /// Needs inspection before use.
    Inconclusive,
    /// Good enough.
    Acceptable,
    /// As it should be.
    Good,
}

/// A metric, and where it is worst.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// The metric \[%\].
    pub percent: f64,
    /// The grade.
    pub grade: Grade,
    /// The frequency of the largest gain or difference \[Hz\].
    pub worst_hz: f64,
    /// The largest gain, or the largest mean difference.
    pub worst: f64,
}

/// The causality metric, and the term that has it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Causality {
    /// The metric of the worst term \[%\].
    pub percent: f64,
    /// The grade.
    pub grade: Grade,
    /// The port at which the worst term comes out, from 0.
    pub to: usize,
    /// The port at which it goes in, from 0.
    pub from: usize,
}

/// Quality of a network's data.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Quality {
    /// Whether the network emits no more power than it receives.
    pub passivity: Measure,
    /// Whether transmission is the same in both directions.
    pub reciprocity: Measure,
    /// Whether the response follows the excitation.
    pub causality: Causality,
}

impl Quality {
    /// Measures a network.
    #[must_use]
    pub fn of(network: &Network) -> Self {
        let gains = (0..network.frequencies().len()).map(|at| gain(network, at));
        let differences = (0..network.frequencies().len()).map(|at| difference(network, at));
        Self {
            passivity: measure(network, gains, GAIN),
            reciprocity: measure(network, differences, DIFFERENCE),
            causality: causality(network),
        }
    }
    /// What has to be said about it: `PH019` if the data are active beyond use, `PH106` to `PH108` below the grade that
    /// is good.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let (p, r, c) = (&self.passivity, &self.reciprocity, &self.causality);
        let percent = |value: f64| format!("{value:.2}");
        let (at, gain) = (hertz(p.worst_hz), format!("{:.5}", p.worst));
        match p.grade {
            Grade::Good => {}
            Grade::Poor => found.push(Problem::Active { at, gain }.found()),
            _ => found.push(Problem::SlightlyActive { metric: percent(p.percent), at, gain }.found()),
        }
        if r.grade < Grade::Good {
            let (metric, difference) = (percent(r.percent), format!("{:.5}", r.worst));
            found.push(Problem::NotReciprocal { metric, at: hertz(r.worst_hz), difference }.found());
        }
        if c.grade < Grade::Good {
            let metric = percent(c.percent);
            found.push(Problem::NotCausal { metric, from: c.from + 1, to: c.to + 1 }.found());
        }
        found
    }
}

/// Whether the data reach far enough for a rate: nothing, `PH103` (below twice the Nyquist frequency), or `PH018`
/// (below the Nyquist frequency itself).
#[must_use]
pub fn check_range(network: &Network, rate: DataRate) -> Option<Finding> {
    let last = *network.frequencies().last()?;
    let nyquist = rate.nyquist_hz();
    // a file whose last frequency is the required one up to rounding is accepted
    let reached = |f: f64| last >= f * (1.0 - 1e-9);
    if !reached(nyquist) {
        return Some(Problem::TooShort { last: hertz(last), nyquist: hertz(nyquist) }.found());
    }
    let wanted = hertz(2.0 * nyquist);
    (!reached(2.0 * nyquist)).then(|| Problem::FewHarmonics { last: hertz(last), wanted }.found())
}

/// Whether something comes through a lane, a two-port from near to far, at every frequency above 0 Hz up to that of
/// Nyquist: nothing, or `PH031`. A transfer of exactly 0 is an infinite loss, which no equaliser and no budget knows;
/// `number` is the lane's, from 1.
///
/// # Panics
/// If the network has another number of ports.
#[must_use]
pub fn check_through(lane: &Network, number: usize, rate: DataRate) -> Option<Finding> {
    assert_eq!(lane.ports(), 2, "a lane is a two-port");
    let wanted = 0.0..=rate.nyquist_hz() * (1.0 + 1e-9);
    let mut frequencies = lane.frequencies().iter().enumerate();
    let silent =
        |(at, f): &(usize, &f64)| **f > 0.0 && wanted.contains(*f) && magnitude(lane.at(*at)[2]) == 0.0;
    let (_, at) = frequencies.find(silent)?;
    Some(Problem::NothingPasses { lane: number, at: hertz(*at) }.found())
}

fn grade(percent: f64, limits: [f64; 3]) -> Grade {
    match limits.map(|limit| percent > limit) {
        [true, _, _] => Grade::Good,
        [_, true, _] => Grade::Acceptable,
        [_, _, true] => Grade::Inconclusive,
        _ => Grade::Poor,
    }
}

fn measure(network: &Network, values: impl Iterator<Item = f64>, allowed: f64) -> Measure {
    let (mut worst, mut worst_hz, mut excess) = (0.0, network.frequencies()[0], 0.0);
    for (value, f) in values.zip(network.frequencies()) {
        if value > worst {
            (worst, worst_hz) = (value, *f);
        }
        if value > allowed {
            excess += (value - allowed) / WEIGHT;
        }
    }
    let count = network.frequencies().len() as f64;
    let percent = (100.0 * (count - excess) / count).max(0.0);
    Measure { percent, grade: grade(percent, [99.9, 99.0, 80.0]), worst_hz, worst }
}

/// The largest singular value, or a bound below 1 that is cheaper.
fn gain(network: &Network, at: usize) -> f64 {
    let matrix = network.matrix(at);
    let bound = matrix.norm_bound();
    if bound <= 1.0 { bound } else { matrix.largest_singular_value() }
}

fn difference(network: &Network, at: usize) -> f64 {
    let (s, ports) = (network.at(at), network.ports());
    if ports == 1 {
        return 0.0;
    }
    let pairs = (0..ports).flat_map(|row| (0..row).map(move |column| (row, column)));
    let sum: f64 = pairs.map(|(r, c)| magnitude(s[r * ports + c] - s[c * ports + r])).sum();
    2.0 * sum / (ports * (ports - 1)) as f64
}

fn causality(network: &Network) -> Causality {
    let ports = network.ports();
    let terms = (0..ports).flat_map(|to| (0..ports).map(move |from| (to, from)));
    let (mut percent, mut worst) = (100.0, (0, 0));
    for (to, from) in terms {
        let share = clockwise(&network.term(to, from));
        if share < percent {
            (percent, worst) = (share, (to, from));
        }
    }
    Causality { percent, grade: grade(percent, [80.0, 50.0, 20.0]), to: worst.0, from: worst.1 }
}

/// The share of clockwise turns in all turns \[%\]; 100 for a curve that does not turn.
fn clockwise(term: &[num_complex::Complex64]) -> f64 {
    let (mut with, mut all) = (0.0, 0.0);
    for three in term.windows(3) {
        let (first, second) = (three[1] - three[0], three[2] - three[1]);
        let turn = second.re * first.im - second.im * first.re;
        with += turn.max(0.0);
        all += turn.abs();
    }
    if all > 0.0 { with / all * 100.0 } else { 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::{ZERO, polar};
    use num_complex::Complex64;

    /// A line of a delay \[s\] and a gain, forward and backward as given.
    fn line(delay: f64, forward: f64, backward: f64) -> Network {
        let frequencies: Vec<f64> = (0..500).map(|k| f64::from(k) * 10e6).collect();
        let through = |f: f64, gain| polar(gain, -core::f64::consts::TAU * f * delay);
        let cells =
            frequencies.iter().flat_map(|f| [ZERO, through(*f, backward), through(*f, forward), ZERO]);
        let cells: Vec<Complex64> = cells.collect();
        Network::new(frequencies, vec![50.0; 2], cells).unwrap()
    }

    fn codes(network: &Network) -> Vec<&'static str> {
        Quality::of(network).findings().into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn a_proper_line_has_nothing_to_be_said_about_it() {
        assert_eq!(codes(&line(1e-9, 0.9, 0.9)), [""; 0]);
        let quality = Quality::of(&line(1e-9, 1.0, 1.0));
        assert_eq!((quality.passivity.percent, quality.causality.percent), (100.0, 100.0));
    }

    #[test]
    fn a_lane_through_which_nothing_passes_is_told_with_the_frequency() {
        let through = |silent: &[usize], rate: DataRate| {
            let line = line(1e-9, 0.9, 0.9);
            let cells = (0..500).flat_map(|at| {
                let cell = line.at(at);
                [cell[0], cell[1], if silent.contains(&at) { ZERO } else { cell[2] }, cell[3]]
            });
            let network = Network::new(line.frequencies().to_vec(), vec![50.0; 2], cells.collect()).unwrap();
            check_through(&network, 3, rate).map(|finding| (finding.code, finding.message))
        };
        let said = "nothing passes through lane 3 at 1.2 GHz: its transfer is 0".to_owned();
        assert_eq!(through(&[120], DataRate::Gen1), Some(("PH031", said)));
        // behind a coupling capacitor, and above the Nyquist frequency of 1.25 GHz
        assert_eq!(through(&[0, 126], DataRate::Gen1), None);
        assert_eq!(through(&[], DataRate::Gen5), None);
    }

    #[test]
    fn each_fault_is_told_apart_from_the_others() {
        // a gain of 1.005 everywhere costs (0.005 − 0.00001)/0.1 = 4.99 %
        let quality = Quality::of(&line(1e-9, 1.005, 1.005));
        assert!((quality.passivity.percent - 95.01).abs() < 1e-9, "{quality:?}");
        assert_eq!(codes(&line(1e-9, 1.005, 1.005)), ["PH106"]);
        assert_eq!(codes(&line(1e-9, 1.5, 1.5)), ["PH019"]);
        // |S21 − S12| = 0.05: mean over both off-diagonal cells 0.05, (0.05 − 1e-6)/0.1 = 49.999 %
        let quality = Quality::of(&line(1e-9, 0.9, 0.85));
        assert!((quality.reciprocity.percent - 50.001).abs() < 1e-9, "{quality:?}");
        assert_eq!(codes(&line(1e-9, 0.9, 0.85)), ["PH107"]);
        // an answer before the question
        assert_eq!(codes(&line(-1e-9, 0.9, 0.9)), ["PH108"]);
    }

    #[test]
    fn data_reach_far_enough_or_not() {
        let net = line(1e-9, 0.9, 0.9); // to 4.99 GHz
        let code = |rate| check_range(&net, rate).map(|finding| finding.code);
        assert_eq!(code(DataRate::Gen1), None);
        assert_eq!(code(DataRate::Gen2), Some("PH103"));
        assert_eq!(code(DataRate::Gen3), Some("PH103"));
        assert_eq!(code(DataRate::Gen4), Some("PH018"));
    }
}
