//! Conversion of a network to S-parameters with given reference resistances.
//!
//! A linear network of n ports is n equations `V·v + I·i = 0` between the voltages and currents of its ports. Z-, Y-,
//! H- and G-parameters are such equations as they stand. With v = √R·(a + b) and i = (a − b)/√R, they become an
//! equation between incoming waves a and outgoing waves b, whose solution is S. One conversion serves all.

use crate::complex::{ONE, ZERO};
use crate::matrix::Matrix;
use crate::network::{Network, is_resistance};
use crate::problem::{Finding, Problem};
use num_complex::Complex64;

/// The equations `voltage·v + current·i = 0` of a network.
pub(crate) struct Waves {
    pub(crate) voltage: Matrix,
    pub(crate) current: Matrix,
}

impl Waves {
    /// S for these reference resistances \[Ω\]; `None` if the equations have no unique solution.
    pub(crate) fn scattering(&self, reference: &[f64]) -> Option<Matrix> {
        let roots: Vec<Complex64> = reference.iter().map(|r| Complex64::new(r.sqrt(), 0.0)).collect();
        let inverse: Vec<Complex64> = roots.iter().map(|root| ONE / root).collect();
        let voltage = self.voltage.times(&Matrix::diagonal(&roots));
        let current = self.current.times(&Matrix::diagonal(&inverse));
        // (V√R − I/√R)·b = −(V√R + I/√R)·a
        voltage.minus(&current).solve(Matrix::zero(reference.len()).minus(&voltage.plus(&current)))
    }
}

/// S-parameters with new reference resistances: with Γ = (R' − R)/(R' + R) and A = 2√(R·R')/(R' + R),
/// S' = A⁻¹·(S − Γ)·(1 − Γ·S)⁻¹·A. None if a matrix is singular.
pub(crate) fn scattering(s: &Matrix, old: &[f64], new: &[f64]) -> Option<Matrix> {
    let ports = old.len();
    let pairs = || old.iter().zip(new);
    let gamma: Vec<Complex64> = pairs().map(|(r, n)| Complex64::new((n - r) / (n + r), 0.0)).collect();
    let scale: Vec<f64> = pairs().map(|(r, n)| 2.0 * (r * n).sqrt() / (n + r)).collect();
    let gamma = Matrix::diagonal(&gamma);
    let left = s.minus(&gamma);
    let right = Matrix::identity(ports).minus(&gamma.times(s));
    // X·right = left, solved as rightᴴ·Xᴴ = leftᴴ
    let solved = right.transposed_conjugate().solve(left.transposed_conjugate())?.transposed_conjugate();
    let mut made = Matrix::zero(ports);
    for row in 0..ports {
        for column in 0..ports {
            made[(row, column)] = solved[(row, column)] * (scale[column] / scale[row]);
        }
    }
    Some(made)
}

impl Network {
    /// The same network for other reference resistances \[Ω\], one for each port: what it would have been measured as.
    ///
    /// # Errors
    /// `PH012` for a resistance that cannot be, or not one for each port; `PH013` for data that no network has.
    pub fn renormalised(&self, reference: &[f64]) -> Result<Self, Finding> {
        if reference.len() != self.ports() {
            let text = format!("a list of {} resistances for {} ports", reference.len(), self.ports());
            return Err(Problem::Reference { text }.found());
        }
        if let Some(bad) = reference.iter().find(|r| !is_resistance(**r)) {
            return Err(Problem::Reference { text: format!("{bad} Ω") }.found());
        }
        if reference == self.reference() {
            return Ok(self.clone());
        }
        let mut cells = Vec::with_capacity(self.cells().len());
        for index in 0..self.frequencies().len() {
            let made = scattering(&self.matrix(index), self.reference(), reference)
                .ok_or_else(|| Problem::NoScattering { why: "a matrix is singular" }.found())?;
            cells.extend_from_slice(made.cells());
        }
        Self::new(self.frequencies().to_vec(), reference.to_vec(), cells)
    }
    /// The voltage at a load, over half the voltage of the source, from port 1 to port 2 of a two-port: twice
    /// R_L/(A·R_L + B + C·R_S·R_L + D·R_S). It is S21 where both resistances are the reference.
    ///
    /// # Errors
    /// `PH017` if the network has not two ports, else as [`Network::renormalised`].
    pub fn voltage_transfer(&self, source_ohm: f64, load_ohm: f64) -> Result<Vec<Complex64>, Finding> {
        if self.ports() != 2 {
            return Err(Problem::PortsDiffer { left: self.ports(), right: 2 }.found());
        }
        let between = self.renormalised(&[source_ohm, load_ohm])?;
        let scale = (load_ohm / source_ohm).sqrt();
        Ok(between.term(1, 0).into_iter().map(|s| s * scale).collect())
    }
}

/// The equations of Z-parameters: v − Z·i = 0.
pub(crate) fn of_impedance(z: &Matrix, ports: usize) -> Waves {
    Waves { voltage: Matrix::identity(ports), current: Matrix::zero(ports).minus(z) }
}

/// The equations of Y-parameters: i − Y·v = 0.
pub(crate) fn of_admittance(y: &Matrix, ports: usize) -> Waves {
    Waves { voltage: Matrix::zero(ports).minus(y), current: Matrix::identity(ports) }
}

/// The equations of H-parameters: (v1, i2) = H·(i1, v2).
pub(crate) fn of_hybrid(h: &Matrix) -> Waves {
    let voltage = Matrix::from_rows(2, &[ONE, -h[(0, 1)], ZERO, -h[(1, 1)]]);
    let current = Matrix::from_rows(2, &[-h[(0, 0)], ZERO, -h[(1, 0)], ONE]);
    Waves { voltage, current }
}

/// The equations of G-parameters: (i1, v2) = G·(v1, i2).
pub(crate) fn of_inverse_hybrid(g: &Matrix) -> Waves {
    let voltage = Matrix::from_rows(2, &[-g[(0, 0)], ZERO, -g[(1, 0)], ONE]);
    let current = Matrix::from_rows(2, &[ONE, -g[(0, 1)], ZERO, -g[(1, 1)]]);
    Waves { voltage, current }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::magnitude;

    fn c(re: f64, im: f64) -> Complex64 {
        Complex64::new(re, im)
    }

    /// A series resistor of 100 Ω between two ports: S11 = Z/(Z + 2R), S21 = 2R/(Z + 2R), both 1/2 at 50 Ω.
    #[test]
    fn a_series_resistor_is_half_and_half_at_50_ohm() {
        let y = Matrix::from_rows(2, &[c(0.01, 0.0), c(-0.01, 0.0), c(-0.01, 0.0), c(0.01, 0.0)]);
        let s = of_admittance(&y, 2).scattering(&[50.0, 50.0]).unwrap();
        for cell in s.cells() {
            assert!(magnitude(cell - c(0.5, 0.0)) < 1e-15);
        }
        // at 100 Ω: Z/(Z + 2R) = 1/3, 2R/(Z + 2R) = 2/3
        let net = Network::new(vec![1.0], vec![50.0; 2], s.cells().to_vec()).unwrap();
        let s = net.renormalised(&[100.0, 100.0]).unwrap();
        assert!(magnitude(s.at(0)[0] - c(1.0 / 3.0, 0.0)) < 1e-15);
        assert!(magnitude(s.at(0)[1] - c(2.0 / 3.0, 0.0)) < 1e-15);
    }

    /// From 25 Ω through 100 Ω into 75 Ω: the load has 75/200 of the source, and twice that is the transfer.
    #[test]
    fn voltages_divide_as_in_a_circuit() {
        let net = Network::new(vec![1.0], vec![50.0; 2], vec![c(0.5, 0.0); 4]).unwrap();
        let h = net.voltage_transfer(25.0, 75.0).unwrap();
        assert!(magnitude(h[0] - c(0.75, 0.0)) < 1e-15);
    }

    #[test]
    fn all_four_descriptions_of_one_network_give_the_same_waves() {
        // a tee of resistors 10, 20 and shunt 30: Z = [[40, 30], [30, 50]]
        let z = Matrix::from_rows(2, &[c(40.0, 0.0), c(30.0, 0.0), c(30.0, 0.0), c(50.0, 0.0)]);
        let y = z.clone().solve(Matrix::identity(2)).unwrap();
        // H = [[|Z|/z22, z12/z22], [−z21/z22, 1/z22]], G = H⁻¹; |Z| = 1100
        let h = Matrix::from_rows(2, &[c(22.0, 0.0), c(0.6, 0.0), c(-0.6, 0.0), c(0.02, 0.0)]);
        let g = h.clone().solve(Matrix::identity(2)).unwrap();
        let reference = [50.0, 75.0];
        let from = |waves: Waves| waves.scattering(&reference).unwrap();
        let expected = from(of_impedance(&z, 2));
        for other in [of_admittance(&y, 2), of_hybrid(&h), of_inverse_hybrid(&g)].map(from) {
            let difference = other.minus(&expected);
            assert!(difference.cells().iter().all(|d| magnitude(*d) < 1e-14), "{other:?}");
        }
    }
}
