//! The inverse Fourier transform of a half spectrum to a real signal, of a length that is a power of two.
//!
//! It exists for one reason: published libraries compute the roots of unity with the platform's sine and cosine, whose
//! last bit differs between machines and, on one machine, between instruction sets. Here they come from `libm`. Tests
//! compare it with rustfft. The algorithm is Stockham's self-sorting radix 4 (Van Loan, Computational Frameworks for
//! the FFT, 1992, section 1.7), decimation in frequency.

use num_complex::Complex64;

/// The roots of unity for one length.
#[derive(Clone, Debug)]
pub struct Inverse {
    /// exp(2πi·k/half), half = length / 2.
    roots: Vec<Complex64>,
    /// exp(2πi·k/length), for k below half.
    twist: Vec<Complex64>,
}

/// Working memory of a transform, which can be reused.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    even: Vec<Complex64>,
    odd: Vec<Complex64>,
}

fn roots(count: usize, of: usize) -> Vec<Complex64> {
    let angle = |k: usize| core::f64::consts::TAU * k as f64 / of as f64;
    (0..count).map(|k| Complex64::new(libm::cos(angle(k)), libm::sin(angle(k)))).collect()
}

/// i·z.
fn quarter_turn(z: Complex64) -> Complex64 {
    Complex64::new(-z.im, z.re)
}

impl Inverse {
    /// Transforms to signals of `length` samples.
    ///
    /// # Panics
    ///
    /// If the length is not a power of two of at least 4.
    pub fn new(length: usize) -> Self {
        assert!(length.is_power_of_two() && length >= 4, "{length} is not a power of two of at least 4");
        Self { roots: roots(length / 2, length / 2), twist: roots(length / 2, length) }
    }

    /// Samples of the signal.
    pub const fn length(&self) -> usize {
        2 * self.twist.len()
    }

    /// `signal[m] = 1/n Σ_k X[k]·exp(2πi·k·m/n)`, where X over 0 ..= n/2 is given and the rest is its mirror image.
    ///
    /// A spectrum that stops earlier is 0 from there on. The imaginary parts at 0 and n/2 do not count.
    pub fn real(&self, spectrum: &[Complex64], scratch: &mut Scratch, signal: &mut Vec<f64>) {
        let half = self.twist.len();
        let zero = Complex64::new(0.0, 0.0);
        let at = |k: usize| spectrum.get(k).copied().unwrap_or(zero);
        let edge = |k: usize| Complex64::new(at(k).re, 0.0);
        scratch.even.clear();
        // even samples are the real part of a transform of half the length, odd ones its imaginary part
        scratch.even.extend((0..half).map(|k| {
            let (low, high) = if k == 0 { (edge(0), edge(half)) } else { (at(k), at(half - k).conj()) };
            (low + high) + quarter_turn(self.twist[k] * (low - high))
        }));
        scratch.odd.clear();
        scratch.odd.resize(half, zero);
        self.complex(scratch);
        let scale = 1.0 / self.length() as f64;
        signal.clear();
        signal.extend(scratch.even.iter().flat_map(|z| [z.re * scale, z.im * scale]));
    }

    /// Transforms `scratch.even` in place, without scale.
    fn complex(&self, scratch: &mut Scratch) {
        let (mut count, mut stride) = (self.roots.len(), 1);
        while count >= 4 {
            self.radix_4(count, stride, &scratch.even, &mut scratch.odd);
            core::mem::swap(&mut scratch.even, &mut scratch.odd);
            count /= 4;
            stride *= 4;
        }
        if count == 2 {
            let (low, high) = scratch.even.split_at(stride);
            let (sums, differences) = scratch.odd.split_at_mut(stride);
            for q in 0..stride {
                sums[q] = low[q] + high[q];
                differences[q] = low[q] - high[q];
            }
            core::mem::swap(&mut scratch.even, &mut scratch.odd);
        }
    }

    fn radix_4(&self, count: usize, stride: usize, from: &[Complex64], to: &mut [Complex64]) {
        let quarter = count / 4;
        let part = |number: usize, p: usize| {
            let start = stride * (p + number * quarter);
            &from[start..start + stride]
        };
        for (p, out) in to.chunks_exact_mut(4 * stride).enumerate() {
            let w1 = self.roots[p * stride];
            let (w2, w3) = (self.roots[2 * p * stride], self.roots[3 * p * stride]);
            let (a, b, c, d) = (part(0, p), part(1, p), part(2, p), part(3, p));
            let (out0, rest) = out.split_at_mut(stride);
            let (out1, rest) = rest.split_at_mut(stride);
            let (out2, out3) = rest.split_at_mut(stride);
            for q in 0..stride {
                let (sum_ac, difference_ac) = (a[q] + c[q], a[q] - c[q]);
                let (sum_bd, turned_bd) = (b[q] + d[q], quarter_turn(b[q] - d[q]));
                out0[q] = sum_ac + sum_bd;
                out1[q] = w1 * (difference_ac + turned_bd);
                out2[q] = w2 * (sum_ac - sum_bd);
                out3[q] = w3 * (difference_ac - turned_bd);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustfft::FftPlannerScalar;

    fn noise(count: usize) -> Vec<Complex64> {
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..count).map(|_| Complex64::new(draw(), draw())).collect()
    }

    fn ours(length: usize, spectrum: &[Complex64]) -> Vec<f64> {
        let (mut scratch, mut signal) = (Scratch::default(), Vec::new());
        Inverse::new(length).real(spectrum, &mut scratch, &mut signal);
        signal
    }

    #[test]
    fn every_length_agrees_with_rustfft() {
        for length in (2..=15).map(|power| 1 << power) {
            let half = length / 2;
            let mut spectrum = noise(half + 1);
            spectrum[0].im = 0.0;
            spectrum[half].im = 0.0;
            let mut full: Vec<Complex64> = spectrum.clone();
            full.extend((1..half).rev().map(|k| spectrum[k].conj()));
            FftPlannerScalar::new().plan_fft_inverse(length).process(&mut full);
            let scale = (length as f64).sqrt();
            for (found, right) in ours(length, &spectrum).iter().zip(&full) {
                assert!((found * length as f64 - right.re).abs() < 1e-14 * scale * 20.0, "length {length}");
            }
        }
    }

    #[test]
    fn a_spectrum_that_stops_early_is_zero_from_there() {
        let short = noise(9);
        let mut long = short.clone();
        long.resize(33, Complex64::new(0.0, 0.0));
        assert_eq!(ours(64, &short), ours(64, &long));
    }

    #[test]
    fn a_flat_spectrum_is_one_sample() {
        let signal = ours(16, &[Complex64::new(1.0, 0.0); 9]);
        assert!((signal[0] - 1.0).abs() < 1e-15 && signal[1..].iter().all(|x| x.abs() < 1e-15), "{signal:?}");
    }
}
