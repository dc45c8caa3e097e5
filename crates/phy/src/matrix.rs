//! Square complex matrices of a few rows: products, solutions, the largest singular value.
//!
//! Not here: anything for large matrices. A network has 2 to 32 ports; every loop runs in a fixed order, so that sums
//! are the same on every machine.

use crate::complex::{ONE, ZERO, magnitude};
use core::ops::{Index, IndexMut};
use num_complex::Complex64;

/// A square matrix, row by row.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Matrix {
    size: usize,
    cells: Vec<Complex64>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = Complex64;
    fn index(&self, (row, column): (usize, usize)) -> &Complex64 {
        &self.cells[row * self.size + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut Complex64 {
        &mut self.cells[row * self.size + column]
    }
}

impl Matrix {
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, cells: vec![ZERO; size * size] }
    }
    pub(crate) fn identity(size: usize) -> Self {
        Self::diagonal(&vec![ONE; size])
    }
    pub(crate) fn diagonal(values: &[Complex64]) -> Self {
        let mut made = Self::zero(values.len());
        for (at, value) in values.iter().enumerate() {
            made[(at, at)] = *value;
        }
        made
    }
    /// From cells row by row; panics if they are not `size`².
    pub(crate) fn from_rows(size: usize, cells: &[Complex64]) -> Self {
        assert_eq!(cells.len(), size * size, "a square matrix");
        Self { size, cells: cells.to_vec() }
    }
    pub(crate) fn cells(&self) -> &[Complex64] {
        &self.cells
    }
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut made = Self::zero(self.size);
        for row in 0..self.size {
            for column in 0..self.size {
                made[(row, column)] =
                    (0..self.size).fold(ZERO, |sum, k| sum + self[(row, k)] * other[(k, column)]);
            }
        }
        made
    }
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let cells = self.cells.iter().zip(&other.cells).map(|(a, b)| a + b).collect();
        Self { size: self.size, cells }
    }
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let cells = self.cells.iter().zip(&other.cells).map(|(a, b)| a - b).collect();
        Self { size: self.size, cells }
    }
    /// The rows and columns of `rows` and `columns`: a square part.
    pub(crate) fn part(&self, rows: &[usize], columns: &[usize]) -> Self {
        let cells = rows.iter().flat_map(|&r| columns.iter().map(move |&c| self[(r, c)])).collect();
        Self { size: rows.len(), cells }
    }
    pub(crate) fn transposed_conjugate(&self) -> Self {
        let mut made = Self::zero(self.size);
        for row in 0..self.size {
            for column in 0..self.size {
                made[(row, column)] = self[(column, row)].conj();
            }
        }
        made
    }
    /// Solves `self`·X = `right` by elimination with the largest pivot; `None` if the matrix is singular.
    pub(crate) fn solve(mut self, mut right: Self) -> Option<Self> {
        for column in 0..self.size {
            let pivot = (column..self.size).max_by(|&a, &b| {
                self[(a, column)].norm_sqr().total_cmp(&self[(b, column)].norm_sqr()).then(b.cmp(&a))
            })?;
            let largest = self[(pivot, column)];
            if largest.norm_sqr().is_nan() || largest.norm_sqr() <= f64::MIN_POSITIVE {
                return None;
            }
            self.exchange(column, pivot);
            right.exchange(column, pivot);
            for row in (0..self.size).filter(|&row| row != column) {
                let factor = self[(row, column)] / self[(column, column)];
                self.subtract(row, column, factor);
                right.subtract(row, column, factor);
            }
        }
        for row in 0..self.size {
            let pivot = self[(row, row)];
            for column in 0..self.size {
                right[(row, column)] /= pivot;
            }
        }
        Some(right)
    }
    fn exchange(&mut self, one: usize, other: usize) {
        for column in 0..self.size {
            self.cells.swap(one * self.size + column, other * self.size + column);
        }
    }
    /// Subtracts `factor` times row `other` from `row`.
    fn subtract(&mut self, row: usize, other: usize, factor: Complex64) {
        for column in 0..self.size {
            let less = factor * self[(other, column)];
            self[(row, column)] -= less;
        }
    }
    /// Upper bound of the largest singular value: √(largest row sum · largest column sum).
    pub(crate) fn norm_bound(&self) -> f64 {
        let sum = |pick: &dyn Fn(usize, usize) -> Complex64, at: usize| {
            (0..self.size).map(|k| magnitude(pick(at, k))).sum::<f64>()
        };
        let largest = |pick: &dyn Fn(usize, usize) -> Complex64| {
            (0..self.size).map(|at| sum(pick, at)).fold(0.0, f64::max)
        };
        (largest(&|r, c| self[(r, c)]) * largest(&|c, r| self[(r, c)])).sqrt()
    }
    /// The largest singular value: the root of the largest eigenvalue of SᴴS, by Jacobi's rotations.
    pub(crate) fn largest_singular_value(&self) -> f64 {
        let mut square = self.transposed_conjugate().times(self);
        for _ in 0..30 {
            if square.off_diagonal() <= 1e-28 * square.trace() {
                break;
            }
            for p in 0..self.size {
                for q in p + 1..self.size {
                    square.rotate(p, q);
                }
            }
        }
        (0..self.size).map(|at| square[(at, at)].re).fold(0.0, f64::max).sqrt()
    }
    fn off_diagonal(&self) -> f64 {
        let pairs = (0..self.size).flat_map(|r| (0..r).map(move |c| (r, c)));
        pairs.map(|at| self[at].norm_sqr()).sum()
    }
    fn trace(&self) -> f64 {
        let trace: f64 = (0..self.size).map(|at| self[(at, at)].re).sum();
        trace * trace
    }
    /// Rotates a Hermitian matrix so that its cell (p, q) becomes 0.
    fn rotate(&mut self, p: usize, q: usize) {
        let cell = self[(p, q)];
        let size = magnitude(cell);
        if size <= f64::MIN_POSITIVE {
            return;
        }
        let (a, d) = (self[(p, p)].re, self[(q, q)].re);
        let theta = (d - a) / (2.0 * size);
        let sign = if theta < 0.0 { -1.0 } else { 1.0 };
        let tangent = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
        let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
        let sine = (cell / size) * (tangent * cosine);
        for k in 0..self.size {
            let (at_p, at_q) = (self[(k, p)], self[(k, q)]);
            self[(k, p)] = at_p * cosine - at_q * sine.conj();
            self[(k, q)] = at_p * sine + at_q * cosine;
        }
        for k in 0..self.size {
            let (at_p, at_q) = (self[(p, k)], self[(q, k)]);
            self[(p, k)] = at_p * cosine - at_q * sine;
            self[(q, k)] = at_p * sine.conj() + at_q * cosine;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_matrix(size: usize) -> impl Strategy<Value = Matrix> {
        prop::collection::vec((-1.0..1.0, -1.0..1.0), size * size).prop_map(move |cells| {
            let cells: Vec<_> = cells.into_iter().map(|(re, im)| Complex64::new(re, im)).collect();
            Matrix::from_rows(size, &cells)
        })
    }

    proptest! {
        #[test]
        fn a_solution_solves(a in any_matrix(4), b in any_matrix(4)) {
            if let Some(x) = a.clone().solve(b.clone()) {
                let scale: f64 = x.cells.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
                let left = a.times(&x).minus(&b);
                prop_assert!(left.cells.iter().all(|z| magnitude(*z) <= 1e-12 * (1.0 + scale)));
            }
        }

        #[test]
        fn no_vector_grows_by_more_than_the_largest_singular_value(
            m in any_matrix(4),
            v in prop::collection::vec((-1.0..1.0, -1.0..1.0), 4),
        ) {
            let sigma = m.largest_singular_value();
            let v: Vec<Complex64> = v.into_iter().map(|(re, im)| Complex64::new(re, im)).collect();
            let size = |v: &[Complex64]| v.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            let mapped: Vec<Complex64> =
                (0..4).map(|r| (0..4).fold(ZERO, |sum, c| sum + m[(r, c)] * v[c])).collect();
            prop_assert!(size(&mapped) <= sigma * size(&v) * (1.0 + 1e-12));
            prop_assert!(sigma <= m.norm_bound() * (1.0 + 1e-12));
        }
    }

    #[test]
    fn the_largest_singular_value_is_reached() {
        // |1+j| = √2 on the diagonal; [[0, 2], [0, 0]] has the singular values 2 and 0
        let c = |re, im| Complex64::new(re, im);
        let m = Matrix::from_rows(2, &[c(0.0, 0.0), c(2.0, 0.0), ZERO, ZERO]);
        assert!((m.largest_singular_value() - 2.0).abs() < 1e-14);
        let m = Matrix::diagonal(&[c(1.0, 1.0), c(0.5, 0.0), c(0.0, 0.1)]);
        assert!((m.largest_singular_value() - 2f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn a_singular_matrix_has_no_solution() {
        assert_eq!(Matrix::zero(2).solve(Matrix::identity(2)), None);
    }
}
