//! The matrix of the benchmark (`makea`): Σ ωᵢ xᵢ xᵢᵀ + (0.1 − λ) I, with ω falling from 1 to 0.1 and xᵢ sparse and
//! random (RNR-94-007 §3.3.3).

use super::super::npb::Generator;
use super::size::Size;

/// The smallest eigenvalue before the shift, and the ratio of ω between the last and the first.
const CONDITION: f64 = 0.1;
/// The element i of xᵢ.
const DIAGONAL: f64 = 0.5;

/// A sparse vector: positions and values, the random ones in the order drawn.
#[derive(Debug)]
struct Sparse {
    of: Vec<(u32, f64)>,
}

/// The vectors xᵢ of a class, one after the other.
fn vectors(size: &Size) -> impl Iterator<Item = Sparse> {
    let mut generator = Generator::new();
    // the original program draws one number before it makes the matrix
    generator.bits();
    let power = size.rows.next_power_of_two().trailing_zeros();
    let (rows, nonzero) = (size.rows, size.nonzero as usize);
    (0..rows as u32).map(move |row| {
        let mut of: Vec<(u32, f64)> = Vec::with_capacity(nonzero + 1);
        while of.len() < nonzero {
            let value = generator.unit();
            let at = generator.below_power(power);
            if at < rows && of.iter().all(|(position, _)| u64::from(*position) != at) {
                of.push((at as u32, value));
            }
        }
        match of.iter_mut().find(|(position, _)| *position == row) {
            Some((_, value)) => *value = DIAGONAL,
            None => of.push((row, DIAGONAL)),
        }
        Sparse { of }
    })
}

/// A matrix by rows, columns ascending.
#[derive(Debug)]
pub(super) struct Matrix {
    /// The start of each row, and the end of the last one.
    pub(super) starts: Vec<u64>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    /// The matrix of a class.
    pub(super) fn new(size: &Size) -> Self {
        Self::build(size, true)
    }
    /// The same without its values.
    pub(super) fn pattern(size: &Size) -> Self {
        Self::build(size, false)
    }
    fn build(size: &Size, with_values: bool) -> Self {
        let vectors: Vec<Sparse> = vectors(size).collect();
        let by_row = by_row(&vectors);
        let ratio = libm::pow(CONDITION, 1.0 / size.rows as f64);
        let weights = std::iter::successors(Some(1.0), |weight| Some(weight * ratio));
        let weights: Vec<f64> = weights.take(vectors.len()).collect();
        let mut matrix = Self { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        let mut terms: Vec<(u32, f64)> = Vec::new();
        for (row, used) in (0_u32..).zip(by_row) {
            terms.clear();
            for (vector, mine) in used {
                let scale = weights[vector as usize] * mine;
                terms.extend(
                    vectors[vector as usize].of.iter().map(|(column, value)| (*column, value * scale)),
                );
                if vector == row {
                    terms.push((row, CONDITION - size.shift));
                }
            }
            // stable, so that the terms of an element are added in the order of the vectors
            terms.sort_by_key(|(column, _)| *column);
            for same in terms.chunk_by(|a, b| a.0 == b.0) {
                matrix.columns.push(same[0].0);
                if with_values {
                    matrix.values.push(same.iter().map(|(_, value)| value).sum());
                }
            }
            matrix.starts.push(matrix.columns.len() as u64);
        }
        matrix.columns.shrink_to_fit();
        matrix
    }
}

/// For each row the vectors with an element in it, ascending, and that element.
fn by_row(vectors: &[Sparse]) -> Vec<Vec<(u32, f64)>> {
    let mut by_row = vec![Vec::new(); vectors.len()];
    for (index, vector) in (0_u32..).zip(vectors) {
        for (position, value) in &vector.of {
            by_row[*position as usize].push((index, *value));
        }
    }
    by_row
}

#[cfg(test)]
mod tests {
    use super::super::super::npb::Class;
    use super::super::size;
    use super::*;

    #[test]
    fn the_matrix_is_symmetric_with_ascending_columns() {
        let matrix = Matrix::new(&size(Class::S));
        let row = |row: usize| matrix.starts[row] as usize..matrix.starts[row + 1] as usize;
        let at = |i: usize, j: u32| {
            let range = row(i);
            let place = matrix.columns[range.clone()].binary_search(&j).ok()?;
            Some(matrix.values[range][place])
        };
        for i in 0..matrix.starts.len() - 1 {
            let columns = &matrix.columns[row(i)];
            assert!(columns.is_sorted_by(|a, b| a < b), "row {i}");
            for j in columns {
                let (here, there) =
                    (at(i, *j).expect("it is there"), at(*j as usize, i as u32).expect("and there"));
                assert!((here - there).abs() < 1e-12, "{i}, {j}");
            }
        }
    }
}
