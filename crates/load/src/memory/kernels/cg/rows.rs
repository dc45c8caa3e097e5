//! The rows of the matrix without values: stored for small classes, drawn for large ones.

use super::matrix::Matrix;
use super::size::Size;
use lanetwin_kernel::mix;

/// Added to a counter before it is mixed (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014).
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Rows of a matrix.
#[derive(Debug)]
pub(super) enum Rows {
    /// Those of the benchmark.
    Kept {
        /// The start of each row.
        starts: Vec<u64>,
        /// Ascending in each row.
        columns: Vec<u32>,
    },
    /// Rows drawn with the same distribution.
    Drawn(Drawn),
}

/// Draws rows with the distribution of the benchmark's rows.
///
/// Row j has the columns of all xᵢ with an element at j. These are xⱼ, and each other xᵢ with the probability nonzero /
/// rows: their number is Poisson distributed, to within 1/rows. Such an xᵢ contributes i and `nonzero` − 1 more
/// columns, all of them equally likely. Not reproduced: two rows with a common xᵢ share its columns, and the symmetry
/// of the matrix.
#[derive(Debug)]
pub(super) struct Drawn {
    rows: u64,
    nonzero: u64,
    seed: u64,
    /// The probability of at most this many other vectors, times 2⁶⁴.
    at_most: Vec<u64>,
    mean_length: f64,
}

impl Rows {
    pub(super) fn kept(size: &Size) -> Self {
        let Matrix { starts, columns, .. } = Matrix::pattern(size);
        Self::Kept { starts, columns }
    }
    pub(super) fn drawn(size: &Size, seed: u64) -> Self {
        let (rows, nonzero) = (size.rows as f64, size.nonzero as f64);
        let terms = 1.0 + nonzero + nonzero * nonzero;
        // the expected number of different columns among this many terms
        let mean_length = -rows * libm::expm1(terms * libm::log1p(-1.0 / rows));
        let mut at_most = Vec::new();
        let (mut term, mut sum) = (libm::exp(-nonzero), 0.0);
        for count in 1..200 {
            sum += term;
            at_most.push((sum * 2_f64.powi(64)) as u64);
            term *= nonzero / f64::from(count);
        }
        Self::Drawn(Drawn { rows: size.rows, nonzero: size.nonzero, seed, at_most, mean_length })
    }
    /// The expected number of columns of a row.
    pub(super) fn mean_length(&self) -> f64 {
        match self {
            Self::Kept { starts, columns } => columns.len() as f64 / (starts.len() - 1) as f64,
            Self::Drawn(drawn) => drawn.mean_length,
        }
    }
    /// The first element of a row; for a drawn row, its expected position.
    pub(super) fn start(&self, row: u64) -> u64 {
        match self {
            Self::Kept { starts, .. } => starts[row as usize],
            Self::Drawn(drawn) => (row as f64 * drawn.mean_length) as u64,
        }
    }
    /// Replaces `out` by the columns of a row, ascending.
    pub(super) fn columns(&self, row: u64, out: &mut Vec<u32>) {
        out.clear();
        match self {
            Self::Kept { starts, columns } => {
                out.extend_from_slice(
                    &columns[starts[row as usize] as usize..starts[row as usize + 1] as usize],
                );
            }
            Self::Drawn(drawn) => drawn.columns(row, out),
        }
    }
}

impl Drawn {
    fn columns(&self, row: u64, out: &mut Vec<u32>) {
        let mut state = mix(self.seed ^ mix(row));
        let mut bits = || {
            state = state.wrapping_add(GAMMA);
            mix(state)
        };
        let first = bits();
        let others = self.at_most.partition_point(|at_most| *at_most <= first) as u64;
        out.push(row as u32);
        let drawn = self.nonzero + others * self.nonzero;
        out.extend((0..drawn).map(|_| ((u128::from(bits()) * u128::from(self.rows)) >> 64) as u32));
        out.sort_unstable();
        out.dedup();
    }
}
