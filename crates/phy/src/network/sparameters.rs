//! S-parameters over frequency.

use crate::complex::{decibels, magnitude};
use crate::matrix::Matrix;
use crate::problem::{Finding, Problem};
use num_complex::Complex64;

/// Maximum number of ports of a network.
pub(crate) const MOST_PORTS: usize = 128;

/// S-parameters over frequency.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    pub(super) frequencies: Vec<f64>,
    pub(super) reference: Vec<f64>,
    pub(super) cells: Vec<Complex64>,
}

impl Network {
    /// From frequencies \[Hz\], a reference resistance \[Ω\] for each port, and for each frequency the matrix row by
    /// row.
    ///
    /// # Errors
    /// `PH009`, `PH010`, `PH012`, `PH014`, `PH027`: frequencies that are none or do not ascend, a resistance or a cell
    /// that cannot be, too many ports.
    ///
    /// # Panics
    /// If there are not ports² cells for each frequency.
    pub fn new(frequencies: Vec<f64>, reference: Vec<f64>, cells: Vec<Complex64>) -> Result<Self, Finding> {
        let ports = reference.len();
        assert_eq!(cells.len(), frequencies.len() * ports * ports, "ports² cells for each frequency");
        if frequencies.is_empty() || ports == 0 {
            return Err(Problem::NoData.found());
        }
        if ports > MOST_PORTS {
            return Err(Problem::TooLarge { what: "ports", most: MOST_PORTS }.found());
        }
        if let Some(bad) = reference.iter().find(|z| !is_resistance(**z)) {
            return Err(Problem::Reference { text: format!("{bad} Ω") }.found());
        }
        if let Some(bad) = frequencies.iter().find(|f| !f.is_finite() || **f < 0.0) {
            return Err(Problem::NotFinite { word: bad.to_string() }.found());
        }
        if let Some(pair) = frequencies.windows(2).find(|pair| pair[1] <= pair[0]) {
            let (now, before) = (pair[1].to_string(), pair[0].to_string());
            return Err(Problem::NotAscending { now, before }.found());
        }
        if let Some(bad) = cells.iter().find(|z| !z.re.is_finite() || !z.im.is_finite()) {
            return Err(Problem::NotFinite { word: bad.to_string() }.found());
        }
        Ok(Self { frequencies, reference, cells })
    }
    /// For results of calculations on networks that were checked.
    pub(crate) fn unchecked(frequencies: Vec<f64>, reference: Vec<f64>, cells: Vec<Complex64>) -> Self {
        debug_assert_eq!(cells.len(), frequencies.len() * reference.len() * reference.len());
        Self { frequencies, reference, cells }
    }
    /// The number of ports.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.reference.len()
    }
    /// The frequencies \[Hz\], ascending.
    #[must_use]
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }
    /// The reference resistance of each port \[Ω\].
    #[must_use]
    pub fn reference(&self) -> &[f64] {
        &self.reference
    }
    /// The matrix at a frequency, row by row.
    ///
    /// # Panics
    /// If there is no frequency `index`.
    #[must_use]
    pub fn at(&self, index: usize) -> &[Complex64] {
        let size = self.ports() * self.ports();
        &self.cells[index * size..(index + 1) * size]
    }
    pub(crate) fn matrix(&self, index: usize) -> Matrix {
        Matrix::from_rows(self.ports(), self.at(index))
    }
    pub(crate) fn cells(&self) -> &[Complex64] {
        &self.cells
    }
    /// S(`to`, `from`) over frequency; ports count from 0.
    ///
    /// # Panics
    /// If there is no such port.
    #[must_use]
    pub fn term(&self, to: usize, from: usize) -> Vec<Complex64> {
        let ports = self.ports();
        assert!(to < ports && from < ports, "ports count from 0");
        self.cells.iter().skip(to * ports + from).step_by(ports * ports).copied().collect()
    }
    /// The loss from port `from` to port `to` at a frequency \[dB\], between the nearest samples; none outside the
    /// data.
    #[must_use]
    pub fn loss_db(&self, to: usize, from: usize, hertz: f64) -> Option<f64> {
        let above = self.frequencies.partition_point(|f| *f < hertz);
        let upper = *self.frequencies.get(above)?;
        let ports = self.ports();
        let loss = |at: usize| -decibels(magnitude(self.at(at)[to * ports + from]));
        if upper == hertz {
            return Some(loss(above));
        }
        let below = above.checked_sub(1)?;
        let share = (hertz - self.frequencies[below]) / (upper - self.frequencies[below]);
        Some(loss(below) * (1.0 - share) + loss(above) * share)
    }
    /// The network of some of its ports, in this order: new port k is old port `order[k]`, from 0. Ports that are not
    /// named are terminated with their reference.
    ///
    /// # Errors
    /// `PH016` if a port is named twice or does not exist, or none is named.
    pub fn picked(&self, order: &[usize]) -> Result<Self, Finding> {
        let ports = self.ports();
        let bad = |why: String| Err(Problem::BadPairing { why }.found());
        if let Some(port) = order.iter().find(|port| **port >= ports) {
            return bad(format!("there is no port {}", port + 1));
        }
        if let Some(at) = (0..order.len()).find(|&at| order[..at].contains(&order[at])) {
            return bad(format!("port {} is named twice", order[at] + 1));
        }
        if order.is_empty() {
            return bad("none is named".into());
        }
        let mut cells = Vec::with_capacity(self.frequencies.len() * order.len() * order.len());
        for index in 0..self.frequencies.len() {
            let old = self.at(index);
            for &row in order {
                cells.extend(order.iter().map(|&column| old[row * ports + column]));
            }
        }
        let reference = order.iter().map(|&port| self.reference[port]).collect();
        Ok(Self::unchecked(self.frequencies.clone(), reference, cells))
    }
}

/// Whether a reference resistance is in the permitted range \[Ω\].
pub(crate) fn is_resistance(ohm: f64) -> bool {
    ohm > 0.0 && ohm < 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::ZERO;

    fn line(frequencies: Vec<f64>) -> Network {
        let cells = frequencies.iter().flat_map(|_| [ZERO, Complex64::new(0.1, 0.0), ZERO, ZERO]).collect();
        Network::new(frequencies, vec![50.0; 2], cells).unwrap()
    }

    #[test]
    fn the_loss_is_that_of_the_right_term_and_only_inside_the_data() {
        let net = line(vec![1e9, 2e9]);
        assert!((net.loss_db(0, 1, 1.5e9).unwrap() - 20.0).abs() < 1e-12);
        assert_eq!(net.loss_db(0, 1, 0.5e9), None);
        assert_eq!(net.loss_db(0, 1, 2.5e9), None);
        assert_eq!(net.term(0, 1), [Complex64::new(0.1, 0.0); 2]);
    }

    #[test]
    fn picking_takes_rows_and_columns_along() {
        let swapped = line(vec![1e9]).picked(&[1, 0]).unwrap();
        assert_eq!(swapped.at(0), [ZERO, ZERO, Complex64::new(0.1, 0.0), ZERO]);
        assert_eq!(line(vec![1e9]).picked(&[1]).unwrap().at(0), [ZERO]);
        for order in [&[0, 0][..], &[], &[0, 2]] {
            assert_eq!(line(vec![1e9]).picked(order).unwrap_err().code, "PH016");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let cell = |re| vec![Complex64::new(re, 0.0)];
        let code = |f, z, re| Network::new(vec![f], vec![z], cell(re)).unwrap_err().code;
        assert_eq!(code(-1.0, 50.0, 0.0), "PH014");
        assert_eq!(code(1.0, 0.0, 0.0), "PH012");
        assert_eq!(code(1.0, 50.0, f64::NAN), "PH014");
        assert_eq!(Network::new(vec![], vec![50.0], vec![]).unwrap_err().code, "PH010");
        let twice = Network::new(vec![1.0, 1.0], vec![50.0], vec![ZERO; 2]);
        assert_eq!(twice.unwrap_err().code, "PH009");
    }
}
