//! Which ports are P and N, near and far: found from the lines that run through at low frequency.
//!
//! | found lines of a four-port | near pair | far pair |
//! |---|---|---|
//! | 1–2, 3–4 | 1, 3 | 2, 4 |
//! | 1–3, 2–4 | 1, 2 | 3, 4 |
//! | 1–4, 2–3 | 1, 2 | 3, 4, and P and N are exchanged |
//!
//! The third row is a board that exchanges P and N. A receiver of PCIe undoes that in Polling; so does the pairing that
//! is found, and says so.

use crate::complex::{ZERO, magnitude};
use crate::network::Network;
use crate::problem::{Finding, Problem};
use num_complex::Complex64;

/// Upper frequency for the detection of lines \[Hz\], at which every usable channel still passes most of a wave.
const LOW_HZ: f64 = 500e6;
/// Minimum transmission of a line, on average over the low frequencies.
const LEAST_THROUGH: f64 = 0.3;

/// The two ports of a differential port; they count from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The positive one.
    pub p: usize,
    /// The negative one.
    pub n: usize,
}

/// A differential line: a pair at each end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The end that transmits.
    pub near: Pair,
    /// The end that receives.
    pub far: Pair,
}

/// The lanes of a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pairing {
    lanes: Vec<Lane>,
}

impl Pairing {
    /// A pairing from explicit lanes.
    ///
    /// # Errors
    /// `PH016` if a port is named twice, or there is no lane.
    pub fn new(lanes: Vec<Lane>) -> Result<Self, Finding> {
        let made = Self { lanes };
        let ports = made.order();
        let bad = |why: String| Err(Problem::BadPairing { why }.found());
        if made.lanes.is_empty() {
            return bad("there is no lane".into());
        }
        match (0..ports.len()).find(|&at| ports[..at].contains(&ports[at])) {
            Some(at) => bad(format!("port {} is named twice", ports[at] + 1)),
            None => Ok(made),
        }
    }
    /// The common numbering of a four-port: 1 and 3 near, 2 and 4 far.
    #[must_use]
    pub fn odd_near() -> Self {
        Self { lanes: vec![Lane { near: Pair { p: 0, n: 2 }, far: Pair { p: 1, n: 3 } }] }
    }
    /// The other common numbering of a four-port: 1 and 2 near, 3 and 4 far.
    #[must_use]
    pub fn low_near() -> Self {
        Self { lanes: vec![Lane { near: Pair { p: 0, n: 1 }, far: Pair { p: 2, n: 3 } }] }
    }
    /// The lanes.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }
    /// Every port: the near pairs of all lanes, P before N, then the far pairs.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let near = self.lanes.iter().flat_map(|lane| [lane.near.p, lane.near.n]);
        near.chain(self.lanes.iter().flat_map(|lane| [lane.far.p, lane.far.n])).collect()
    }
    /// Finds the pairing of a network of 4, 8, 12 … ports, and what has to be said about it: `PH105` for P and N that
    /// are exchanged, `PH112` for lanes that were assumed.
    ///
    /// # Errors
    /// `PH015` if no lines run through the network, as in a file of crosstalk; `PH016` if the ports are no multiple of
    /// 4.
    pub fn detect(network: &Network) -> Result<(Self, Vec<Finding>), Finding> {
        let ports = network.ports();
        if !ports.is_multiple_of(4) {
            let why = format!("{ports} ports do not make whole lanes of 4");
            return Err(Problem::BadPairing { why }.found());
        }
        let lines = lines(network)?;
        let mut found = Vec::new();
        if lines.len() > 2 {
            found.push(Problem::LanesAssumed { lanes: lines.len() / 2 }.found());
        }
        let mut lanes = Vec::new();
        for two in lines.chunks_exact(2) {
            let (lane, crossed) = lane(two[0], two[1]);
            let inverted = is_inverted(network, lane);
            if crossed != inverted {
                found.push(Problem::PolaritySwapped.found());
            }
            let far = if inverted { Pair { p: lane.far.n, n: lane.far.p } } else { lane.far };
            lanes.push(Lane { far, ..lane });
        }
        Ok((Self { lanes }, found))
    }
}

/// The lane of two lines, each from its lower port to its higher one; and whether they cross.
fn lane(one: (usize, usize), other: (usize, usize)) -> (Lane, bool) {
    let near = Pair { p: one.0, n: other.0 };
    let far = Pair { p: one.1, n: other.1 };
    (Lane { near, far }, far.p > far.n)
}

/// The port at the other end of each line, strongest lines first taken; sorted by the lower port.
fn lines(network: &Network) -> Result<Vec<(usize, usize)>, Finding> {
    let ports = network.ports();
    let mut strengths: Vec<(f64, usize, usize)> = (0..ports)
        .flat_map(|from| (from + 1..ports).map(move |to| (from, to)))
        .map(|(from, to)| (low_strength(network, to, from), from, to))
        .collect();
    strengths.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut taken = vec![false; ports];
    let mut lines = Vec::new();
    for (strength, from, to) in strengths {
        if taken[from] || taken[to] {
            continue;
        }
        if strength < LEAST_THROUGH {
            let percent = (strength * 100.0).round();
            let best = format!("the best that is left, from {} to {}, passes {percent} %", from + 1, to + 1);
            return Err(Problem::NoThrough { best }.found());
        }
        (taken[from], taken[to]) = (true, true);
        lines.push((from, to));
    }
    lines.sort_unstable();
    Ok(lines)
}

/// Average transmission between two ports at low frequency.
fn low_strength(network: &Network, to: usize, from: usize) -> f64 {
    let below = network.frequencies().partition_point(|f| *f <= LOW_HZ);
    let samples = below.clamp(1, network.frequencies().len());
    let ports = network.ports();
    let sum: f64 = (0..samples).map(|at| magnitude(network.at(at)[to * ports + from])).sum();
    sum / samples as f64
}

/// Whether a lane gives out at low frequency the opposite of what it takes in: its phase, continued to 0 Hz, is π.
fn is_inverted(network: &Network, lane: Lane) -> bool {
    let through = network.differential_term(lane.far, lane.near);
    let low = network.frequencies().partition_point(|f| *f <= LOW_HZ).clamp(1, through.len());
    let delay = crate::network::resample::delay(network.frequencies(), &through);
    let turned = |at: usize| {
        through[at] * crate::complex::turn(core::f64::consts::TAU * network.frequencies()[at] * delay)
    };
    let sum = (0..low).fold(ZERO, |sum, at| sum + turned(at));
    sum.re < 0.0
}

impl Network {
    /// The differential transfer over frequency from one pair to another: ½(S_pp − S_pn − S_np + S_nn). From the near
    /// pair to the far pair of a lane it is SDD21; between lanes it is crosstalk.
    ///
    /// # Panics
    /// If there is no such port.
    #[must_use]
    pub fn differential_term(&self, to: Pair, from: Pair) -> Vec<Complex64> {
        let ports = self.ports();
        assert!([to.p, to.n, from.p, from.n].iter().all(|port| *port < ports), "ports count from 0");
        let term = |s: &[Complex64], to: usize, from: usize| s[to * ports + from];
        (0..self.frequencies().len())
            .map(|at| {
                let s = self.at(at);
                let same = term(s, to.p, from.p) + term(s, to.n, from.n);
                let cross = term(s, to.p, from.n) + term(s, to.n, from.p);
                (same - cross) * 0.5
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::polar;

    /// Two lines of 1 ns, from `lines[k].0` to `lines[k].1`, the second one's sign as given.
    fn four_port(lines: [(usize, usize); 2], sign: f64) -> Network {
        let frequencies: Vec<f64> = (1..200).map(|k| f64::from(k) * 50e6).collect();
        let mut cells = vec![ZERO; frequencies.len() * 16];
        for (at, f) in frequencies.iter().enumerate() {
            let through = polar(0.9, -core::f64::consts::TAU * f * 1e-9) * sign;
            for (a, b) in lines {
                cells[at * 16 + a * 4 + b] = through;
                cells[at * 16 + b * 4 + a] = through;
            }
        }
        Network::new(frequencies, vec![50.0; 4], cells).unwrap()
    }

    fn detected(lines: [(usize, usize); 2], sign: f64) -> (Vec<usize>, Vec<&'static str>) {
        let (pairing, found) = Pairing::detect(&four_port(lines, sign)).unwrap();
        (pairing.order(), found.iter().map(|finding| finding.code).collect())
    }

    #[test]
    fn the_three_ways_to_number_four_ports_are_told_apart() {
        assert_eq!(detected([(0, 1), (2, 3)], 1.0), (vec![0, 2, 1, 3], vec![]));
        assert_eq!(detected([(0, 2), (1, 3)], 1.0), (vec![0, 1, 2, 3], vec![]));
        assert_eq!(detected([(0, 3), (1, 2)], 1.0), (vec![0, 1, 3, 2], vec!["PH105"]));
    }

    #[test]
    fn a_line_that_inverts_is_found_by_its_phase_at_0_hz() {
        assert_eq!(detected([(0, 1), (2, 3)], -1.0), (vec![0, 2, 3, 1], vec!["PH105"]));
    }

    #[test]
    fn crosstalk_has_no_lines_and_three_ports_no_lanes() {
        let dark = Network::new(vec![1e7], vec![50.0; 4], vec![Complex64::new(0.01, 0.0); 16]).unwrap();
        assert_eq!(Pairing::detect(&dark).unwrap_err().code, "PH015");
        let three = Network::new(vec![1e7], vec![50.0; 3], vec![ZERO; 9]).unwrap();
        assert_eq!(Pairing::detect(&three).unwrap_err().code, "PH016");
    }

    #[test]
    fn a_port_belongs_to_one_lane() {
        let lane = Lane { near: Pair { p: 0, n: 1 }, far: Pair { p: 1, n: 2 } };
        assert_eq!(Pairing::new(vec![lane]).unwrap_err().code, "PH016");
        assert_eq!(Pairing::new(vec![]).unwrap_err().code, "PH016");
    }
}
