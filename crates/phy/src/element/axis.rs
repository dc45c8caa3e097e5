//! A frequency grid, with precomputed values for lines.

use super::{Line, Piece};
use crate::complex::{ONE, ZERO, turn};
use crate::network::{Grid, Network, join_two_ports};
use crate::problem::{Finding, Problem};
use core::f64::consts::{FRAC_2_PI, LN_10, PI, TAU};
use num_complex::Complex64;

/// The delay of a line is stated at this frequency \[Hz\].
const STATED_HZ: f64 = 10e9;
/// Between these, a dielectric disperses \[Hz\]: far outside of what is asked, so that the loss is k2·f to 0.01 % from
/// 100 MHz to 64 GHz.
const DISPERSION_HZ: (f64, f64) = (10e3, 1e15);

/// The frequencies of a channel; building it costs about as much as one line.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    grid: Grid,
    shapes: Vec<Shape>,
}

/// Values that depend on the frequency alone.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Shape {
    frequency: f64,
    root: f64,
    /// Attenuation by a dielectric loss of 1 Np/Hz \[Np\].
    loss: f64,
    /// Phase shift by the same loss \[rad\], in addition to the stated delay.
    phase: f64,
}

impl Axis {
    /// From a grid.
    #[must_use]
    pub fn new(grid: Grid) -> Self {
        let (low, high) = DISPERSION_HZ;
        // the real part of ln((high + jf)/(low + jf)); its imaginary part is the difference of the angles
        let real = |f: f64| 0.5 * libm::log((high * high + f * f) / (low * low + f * f));
        let stated = real(STATED_HZ);
        let shape = |frequency: f64| Shape {
            frequency,
            root: frequency.sqrt(),
            loss: FRAC_2_PI * frequency * (libm::atan(frequency / low) - libm::atan(frequency / high)),
            phase: FRAC_2_PI * frequency * (real(frequency) - stated),
        };
        Self { grid, shapes: grid.frequencies().into_iter().map(shape).collect() }
    }
    /// The grid.
    #[must_use]
    pub const fn grid(&self) -> Grid {
        self.grid
    }
    /// Pieces one after another, between these resistances; of data, what was guessed.
    pub(crate) fn cascade(
        &self,
        pieces: &[Piece],
        reference_ohm: f64,
    ) -> Result<(Network, Vec<Finding>), Finding> {
        let wire = [ZERO, ONE, ONE, ZERO];
        let mut cells: Vec<Complex64> = wire.repeat(self.shapes.len());
        let mut found = Vec::new();
        for piece in &joined(pieces) {
            match piece {
                Piece::Shunt(farad) => self.append(&mut cells, |shape| shunt(*farad, reference_ohm, shape)),
                Piece::Line(line) => {
                    let line = Phasor::new(line, reference_ohm);
                    self.append(&mut cells, |shape| line.at(shape));
                }
                Piece::Stage(stage) => {
                    let curve = stage.curve();
                    for (a, shape) in cells.chunks_exact_mut(4).zip(&self.shapes) {
                        join_two_ports(a, &[ZERO, ZERO, curve.at(shape.frequency), ZERO]);
                    }
                }
                Piece::Network(network) => {
                    let (network, said) = network.on_grid(self.grid)?;
                    found.extend(said);
                    let network = network.renormalised(&[reference_ohm; 2])?;
                    for (a, b) in cells.chunks_exact_mut(4).zip(network.cells().chunks_exact(4)) {
                        join_two_ports(a, b);
                    }
                }
            }
        }
        if cells.iter().any(|z| !z.re.is_finite() || !z.im.is_finite()) {
            let why = "a joint reflects everything from both sides";
            return Err(Problem::NoScattering { why }.found());
        }
        Ok((Network::unchecked(self.grid.frequencies(), vec![reference_ohm; 2], cells), found))
    }
    /// Joins a symmetric two-port (S11, S21) to what is there.
    fn append(&self, cells: &mut [Complex64], two_port: impl Fn(&Shape) -> (Complex64, Complex64)) {
        for (a, shape) in cells.chunks_exact_mut(4).zip(&self.shapes) {
            let (reflected, through) = two_port(shape);
            join_two_ports(a, &[reflected, through, through, reflected]);
        }
    }
}

/// Merges consecutive lines of one impedance into one line.
fn joined(pieces: &[Piece]) -> Vec<Piece> {
    let mut made: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (made.last_mut(), piece) {
            (Some(Piece::Line(last)), Piece::Line(next)) if last.impedance_ohm == next.impedance_ohm => {
                last.law = last.law.plus(next.law);
                last.delay_s += next.delay_s;
            }
            _ => made.push(piece.clone()),
        }
    }
    made
}

/// A capacitance across the line: with y = jωC·Z, S11 = −y/(2 + y), S21 = 2/(2 + y).
fn shunt(farad: f64, reference_ohm: f64, shape: &Shape) -> (Complex64, Complex64) {
    let y = TAU * shape.frequency * farad * reference_ohm;
    let through = Complex64::new(4.0, -2.0 * y) / (4.0 + y * y);
    (through - ONE, through)
}

/// A line, prepared for evaluation at many frequencies.
struct Phasor {
    /// Skin loss \[Np/√Hz\].
    skin: f64,
    /// Dielectric loss \[Np/Hz\].
    dielectric: f64,
    delay: f64,
    gamma: f64,
}

impl Phasor {
    fn new(line: &Line, reference_ohm: f64) -> Self {
        let neper = LN_10 / 20.0;
        Self {
            skin: line.law.skin * neper,
            dielectric: line.law.dielectric * neper,
            delay: line.delay_s,
            gamma: (line.impedance_ohm - reference_ohm) / (line.impedance_ohm + reference_ohm),
        }
    }
    /// With E = e^(−γl) and Γ of the impedances: S11 = Γ(1 − E²)/(1 − Γ²E²), S21 = (1 − Γ²)E/(1 − Γ²E²).
    fn at(&self, shape: &Shape) -> (Complex64, Complex64) {
        let skin = self.skin * shape.root;
        let attenuation = skin + self.dielectric * shape.loss;
        let phase = 2.0 * PI * shape.frequency * self.delay + skin + self.dielectric * shape.phase;
        let through = turn(-phase) * libm::exp(-attenuation);
        if self.gamma == 0.0 {
            return (ZERO, through);
        }
        let square = self.gamma * self.gamma;
        let twice = through * through;
        let bounce = ONE - twice * square;
        let bounce = bounce.conj() * (1.0 / bounce.norm_sqr());
        ((ONE - twice) * bounce * self.gamma, through * bounce * (1.0 - square))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Law;
    use super::*;
    use crate::complex::{decibels, magnitude};
    use crate::quality::Quality;
    use proptest::prelude::*;

    fn axis() -> Axis {
        Axis::new(Grid::new(10e6, 40e9).unwrap())
    }

    fn line(skin_db: f64, dielectric_db: f64, delay_s: f64, impedance_ohm: f64) -> Piece {
        let law = Law { skin: skin_db / 16e9f64.sqrt(), dielectric: dielectric_db / 16e9 };
        Piece::Line(Line { law, delay_s, impedance_ohm })
    }

    fn through(pieces: &[Piece]) -> Vec<Complex64> {
        axis().cascade(pieces, 100.0).unwrap().0.term(1, 0)
    }

    #[test]
    fn a_matched_line_loses_what_its_law_says() {
        let h = through(&[line(5.0, 7.0, 1e-9, 100.0)]);
        for (at, f) in [(10, 0.1), (400, 4.0), (800, 8.0), (1600, 16.0), (3200, 32.0f64)] {
            let law = 5.0 * (f / 16.0).sqrt() + 7.0 * f / 16.0;
            let loss = -decibels(magnitude(h[at]));
            assert!((loss / law - 1.0).abs() < 1e-4, "{f} GHz {loss} {law}");
        }
        assert_eq!(h[0], ONE);
    }

    #[test]
    fn the_stated_delay_is_that_at_10_ghz() {
        let h = through(&[line(0.0, 7.0, 0.02e-9, 100.0)]);
        let phase = -crate::complex::phase(h[1000]);
        assert!((phase / (TAU * 10e9) - 0.02e-9).abs() < 1e-16, "{phase}");
    }

    /// A quarter wave of 50 Ω between 100 Ω is a transformer to 25 Ω: Γ = (25 − 100)/(25 + 100) = −0.6.
    #[test]
    fn a_quarter_wave_transforms_its_load() {
        // 4 GHz: 62.5 ps
        let (net, _) = axis().cascade(&[line(0.0, 0.0, 62.5e-12, 50.0)], 100.0).unwrap();
        assert!(magnitude(net.at(400)[0] + 0.6) < 1e-12, "{}", net.at(400)[0]);
        assert!((net.at(400)[2].norm_sqr() - 0.64).abs() < 1e-12);
    }

    #[test]
    fn a_line_cut_in_two_is_the_same_line() {
        let whole = through(&[line(5.0, 7.0, 1e-9, 85.0)]);
        // a capacitance of nothing between the halves keeps them apart
        let halves = [line(2.5, 3.5, 0.5e-9, 85.0), Piece::Shunt(0.0), line(2.5, 3.5, 0.5e-9, 85.0)];
        for pieces in [&halves[..], &[halves[0].clone(), halves[2].clone()]] {
            let off = through(pieces).iter().zip(&whole).map(|(a, b)| magnitude(a - b)).fold(0.0, f64::max);
            assert!(off < 1e-12, "{off:e}");
        }
    }

    /// |S21|² of a capacitance is 1/(1 + (ωCZ/2)²): half at ωC = 2/Z.
    #[test]
    fn a_capacitance_halves_the_power_where_it_should() {
        let farad = 2.0 / (100.0 * TAU * 16e9);
        let h = through(&[Piece::Shunt(farad)]);
        assert!((h[1600].norm_sqr() - 0.5).abs() < 1e-12);
        assert!(
            (super::super::piece::shunt_loss_db(farad, 100.0, 16e9) - 10.0 * libm::log10(2.0)).abs() < 1e-12
        );
    }

    /// The impulse response, summed up directly at a few times; before the line's shortest delay there is nothing.
    #[test]
    fn nothing_arrives_before_it_was_sent() {
        // band-limited with a Gaussian of 12 GHz, whose own response is 40 dB down at 60 ps
        let h = through(&[line(6.0, 6.0, 1e-9, 100.0)]);
        let step = 10e6;
        let response = |t: f64| {
            let mut sum = 0.0;
            for (k, z) in h.iter().enumerate() {
                let f = k as f64 * step;
                let weight = if k == 0 { 0.5 } else { 1.0 };
                let window = libm::exp(-(f / 12e9) * (f / 12e9));
                sum += weight * window * (z * turn(TAU * f * t)).re;
            }
            2.0 * step * sum
        };
        let peak = (0..400).map(|k| response(0.9e-9 + f64::from(k) * 1e-12)).fold(0.0, f64::max);
        let early = (0..40).map(|k| response(0.5e-9 + f64::from(k) * 10e-12).abs()).fold(0.0, f64::max);
        assert!(early < 2e-3 * peak, "{early:e} of {peak:e}");
        // the same loss without its phase arrives early: the check can fail
        let flat: Vec<Complex64> =
            h.iter().enumerate().map(|(k, z)| turn(-TAU * k as f64 * step * 1e-9) * magnitude(*z)).collect();
        let response = |t: f64| {
            let term = |(k, z): (usize, &Complex64)| {
                let f = k as f64 * step;
                libm::exp(-(f / 12e9) * (f / 12e9)) * (z * turn(TAU * f * t)).re
            };
            2.0 * step * flat.iter().enumerate().map(term).sum::<f64>()
        };
        let early = (0..40).map(|k| response(0.5e-9 + f64::from(k) * 10e-12).abs()).fold(0.0, f64::max);
        assert!(early > 2e-3 * peak, "{early:e} of {peak:e}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_chain_of_pieces_is_passive_reciprocal_and_causal(
            pieces in prop::collection::vec(
                prop_oneof![
                    (0.0..5e-13f64).prop_map(Piece::Shunt),
                    (0.0..9.0f64, 0.0..9.0f64, 1e-11..1e-9f64, 70.0..110.0f64).prop_map(|(s, d, t, z)| line(s, d, t, z)),
                ],
                1..6,
            ),
        ) {
            let axis = Axis::new(Grid::new(10e6, 20e9).unwrap());
            let (net, _) = axis.cascade(&pieces, 100.0).unwrap();
            let quality = Quality::of(&net);
            prop_assert!(quality.passivity.percent == 100.0 && quality.reciprocity.worst < 1e-12, "{:?}", quality);
        }
    }
}
