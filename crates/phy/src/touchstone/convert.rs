//! Conversion of records to a network: complex numbers, the order of cells, other parameters, modes.

use super::keywords::Shape;
use super::options::{Format, Parameter};
use super::reader::Reader;
use crate::complex::{polar, ratio};
use crate::matrix::Matrix;
use crate::network::{
    Network, Waves, is_resistance, of_admittance, of_hybrid, of_impedance, of_inverse_hybrid, single_ended,
};
use crate::problem::{Finding, Problem};
use num_complex::Complex64;

impl Reader {
    /// The network that the records describe. The reader has checked that they are complete and ascending.
    pub(super) fn network(&self) -> Result<Network, Finding> {
        let ports = self.header.ports.unwrap_or_default();
        let reference = reference(self, ports)?;
        let order = order(self, ports);
        let modes = if self.header.modes.is_empty() { None } else { Some(modes(self, ports)?) };
        let count = self.starts.len();
        let mut frequencies = Vec::with_capacity(count);
        let mut cells = Vec::with_capacity(count * ports * ports);
        let mut row = vec![crate::complex::ZERO; ports * ports];
        for (record, place) in self.numbers.chunks_exact(self.record).zip(&self.starts) {
            frequencies.push(hertz(record[0], self.options.unit_hz));
            for (cell, &from) in row.iter_mut().zip(&order) {
                *cell = number(record[1 + 2 * from], record[2 + 2 * from], self.options.format);
            }
            let made = match &modes {
                Some(modes) => single_ended(&row, modes),
                None => scattering(self, &row, &reference)
                    .ok_or_else(|| Problem::NoScattering { why: "a matrix is singular" }.at(place.line, 0))?,
            };
            if let Some(bad) = made.iter().find(|z| !z.re.is_finite() || !z.im.is_finite()) {
                return Err(Problem::NotFinite { word: bad.to_string() }.at(place.line, 0));
            }
            cells.extend(made);
        }
        Network::new(frequencies, reference, cells)
    }
}

/// In Hz; a frequency that is a whole number of Hz but for the rounding of the unit is that number.
fn hertz(value: f64, unit: f64) -> f64 {
    let hertz = value * unit;
    let whole = hertz.round();
    if unit > 1.0 && (hertz - whole).abs() <= 1e-12 * hertz { whole } else { hertz }
}

fn number(first: f64, second: f64, format: Format) -> Complex64 {
    match format {
        Format::Ri => Complex64::new(first, second),
        Format::Ma => polar(first, second.to_radians()),
        Format::Db => polar(ratio(first), second.to_radians()),
    }
}

fn reference(reader: &Reader, ports: usize) -> Result<Vec<f64>, Finding> {
    let given =
        if reader.header.reference.is_empty() { &reader.options.reference } else { &reader.header.reference };
    if let Some(bad) = given.iter().find(|ohm| !is_resistance(**ohm)) {
        return Err(Problem::Reference { text: format!("{bad} Ω") }.found());
    }
    match given.len() {
        1 => Ok(vec![given[0]; ports]),
        count if count == ports => Ok(given.clone()),
        count => {
            let text = format!("a list of {count} resistances for {ports} ports");
            Err(Problem::Reference { text }.found())
        }
    }
}

/// Position in a record of each cell of the matrix, row by row.
fn order(reader: &Reader, ports: usize) -> Vec<usize> {
    let header = &reader.header;
    let cells = (0..ports).flat_map(|row| (0..ports).map(move |column| (row, column)));
    let place = |(row, column): (usize, usize)| match header.shape {
        // version 1 writes two ports as 11, 21, 12, 22
        Shape::Full if ports == 2 && !header.twelve_first.unwrap_or(false) => column * 2 + row,
        Shape::Full => row * ports + column,
        Shape::Lower => {
            let (high, low) = (row.max(column), row.min(column));
            high * (high + 1) / 2 + low
        }
        Shape::Upper => {
            let (high, low) = (row.max(column), row.min(column));
            // rows above have ports, ports − 1 … cells
            low * ports - low * (low + 1) / 2 + high
        }
    };
    cells.map(place).collect()
}

fn modes(reader: &Reader, ports: usize) -> Result<Vec<crate::network::Mode>, Finding> {
    if reader.options.parameter != Parameter::S {
        return Err(Problem::NoScattering { why: "mixed modes are read as S-parameters only" }.found());
    }
    let wanted = "D, C or S with the numbers of their ports, each port once";
    let modes = reader.header.modes(ports);
    modes.ok_or_else(|| Problem::KeywordValue { keyword: "Mixed-Mode Order", wanted }.found())
}

/// Converts parameters of any kind to S; version 1 normalises them to the reference.
fn scattering(reader: &Reader, cells: &[Complex64], reference: &[f64]) -> Option<Vec<Complex64>> {
    let ports = reference.len();
    let parameter = reader.options.parameter;
    if parameter == Parameter::S {
        return Some(cells.to_vec());
    }
    let mut matrix = Matrix::from_rows(ports, cells);
    if !reader.header.version_2 {
        for row in 0..ports {
            for column in 0..ports {
                matrix[(row, column)] *= unit(parameter, (row, column), reference);
            }
        }
    }
    let waves: Waves = match parameter {
        Parameter::S => return None,
        Parameter::Z => of_impedance(&matrix, ports),
        Parameter::Y => of_admittance(&matrix, ports),
        Parameter::H | Parameter::G if ports != 2 => return None,
        Parameter::H => of_hybrid(&matrix),
        Parameter::G => of_inverse_hybrid(&matrix),
    };
    waves.scattering(reference).map(|made| made.cells().to_vec())
}

/// Factor that denormalises a cell.
fn unit(parameter: Parameter, (row, column): (usize, usize), reference: &[f64]) -> f64 {
    let ohm = (reference[row] * reference[column]).sqrt();
    match (parameter, row, column) {
        (Parameter::Z, ..) | (Parameter::H, 0, 0) | (Parameter::G, 1, 1) => ohm,
        (Parameter::Y, ..) | (Parameter::H, 1, 1) | (Parameter::G, 0, 0) => 1.0 / ohm,
        _ => 1.0,
    }
}
