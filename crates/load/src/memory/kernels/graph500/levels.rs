//! The vertices that a search is expected to find in each level, from the probabilities of the generator alone.
//!
//! **Kinds.** Vertices whose labels (before they are renamed) have the same number of ones are of one kind: the
//! generator treats them in the same way. With n_k vertices of k ones, M edges and 2M entries, the number of entries
//! from one vertex of kind j to all of kind k is Poisson distributed with the mean
//!
//! ```text
//!  Λ(j→k) = 2 M (A+B)^(s−j) (B+D)^j · P(k | j)      P(k | j): ones of s−j draws of B/(A+B) and j draws of D/(B+D)
//! ```
//!
//! to within 1/M: entries of different pairs of vertices are independent (edges are drawn independently of one
//! another).
//!
//! **Levels.** Let F(k) be the number of vertices of kind k in a level, and U(k) the share of kind k that has not been
//! found up to this level. A vertex of kind k has R(k) = Σ_j F(j) Λ(j→k) / n_k entries to the level on average, so it
//! is found with the probability 1 − e^−R(k), and the next level has n_k U(k) (1 − e^−R(k)) vertices. This is exact for
//! many vertices, since the entries of a vertex to a level are independent of those to levels before it. Where there
//! are few vertices it is not: the kinds of the root and of its neighbours are drawn instead. That later levels have
//! their mean sizes is the error of this model.

use super::kronecker::{A, B, D};
use super::spec::Graph500;
use lanetwin_kernel::Stream;

/// The search ends at a level with fewer vertices than this on average.
const LEAST: f64 = 0.5;
/// Maximum number of levels. Searches have fewer: the diameter of these graphs is below ten.
const MOST: usize = 64;

/// A level of the search; the root is level 0.
pub(super) type Level = usize;

/// All levels of a search.
#[derive(Debug)]
pub(super) struct Levels {
    /// Number of bits of a label.
    pub(super) scale: u32,
    /// Number of vertices of each kind.
    pub(super) vertices: Vec<f64>,
    /// Λ of the module, by the kind of the vertex and of its neighbour.
    entries: Vec<Vec<f64>>,
    /// Number of vertices of each level, by kind.
    pub(super) found: Vec<Vec<f64>>,
    /// For each level, the share of each kind that was not found in levels before it.
    left: Vec<Vec<f64>>,
}

/// The mean numbers of entries of a vertex of a level, by kind of neighbour.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    /// To vertices of the level before; a vertex has at least one of these.
    pub(super) back: Vec<f64>,
    /// To vertices of the same level.
    pub(super) same: Vec<f64>,
    /// To vertices that are not found up to this level.
    pub(super) onward: Vec<f64>,
}

impl Levels {
    pub(super) fn new(graph: &Graph500, seed: u64) -> Self {
        let scale = graph.scale;
        let kinds = 0..=scale;
        let vertices: Vec<f64> = kinds.clone().map(|ones| choose(scale, ones)).collect();
        let degree = |ones: u32| {
            2.0 * graph.edges() as f64
                * libm::pow(A + B, f64::from(scale - ones))
                * libm::pow(B + D, f64::from(ones))
        };
        let row = |ones: u32| -> Vec<f64> {
            neighbour_ones(scale, ones).iter().map(|share| share * degree(ones)).collect()
        };
        let entries: Vec<Vec<f64>> = kinds.map(row).collect();
        let mut levels = Self { scale, vertices, entries, found: Vec::new(), left: Vec::new() };
        levels.begin(&mut Stream::new(seed, "graph500", "levels"));
        while levels.found.len() < MOST {
            let next = levels.next();
            if next.iter().sum::<f64>() < LEAST {
                break;
            }
            levels.push(next);
        }
        levels
    }
    /// Draws the root, which has at least one neighbour, and its neighbours.
    fn begin(&mut self, stream: &mut Stream) {
        let all: f64 = self.vertices.iter().sum();
        let (kind, degree) = loop {
            let kind = pick(&self.vertices, stream.unit() * all);
            let degree = poisson(self.degree(kind), stream);
            if degree > 0 {
                break (kind, degree);
            }
        };
        let kinds = self.vertices.len();
        let mut root = vec![0.0; kinds];
        root[kind] = 1.0;
        self.left.push(vec![1.0; kinds]);
        self.found.push(root);
        let mut first = vec![0.0; kinds];
        for _ in 0..degree {
            let neighbour = pick(&self.entries[kind], stream.unit() * self.degree(kind));
            // not more than exist
            first[neighbour] = f64::min(first[neighbour] + 1.0, self.vertices[neighbour]);
        }
        self.push(first);
    }
    fn push(&mut self, next: Vec<f64>) {
        let last = self.left.len() - 1;
        let left = self.left[last].iter().zip(&self.found[last]).zip(&self.vertices);
        self.left.push(left.map(|((left, found), all)| f64::max(left - found / all, 0.0)).collect());
        self.found.push(next);
    }
    /// The mean number of entries from a vertex of each kind to a level.
    fn rates(&self, level: Level) -> Vec<f64> {
        (0..self.vertices.len()).map(|kind| self.to_level(kind, level).iter().sum()).collect()
    }
    /// The mean number of entries from a vertex of this kind to a level, by the kind of neighbour.
    fn to_level(&self, kind: usize, level: Level) -> Vec<f64> {
        let found = self.found[level].iter().zip(&self.vertices).map(|(found, all)| found / all);
        self.entries[kind].iter().zip(found).map(|(entries, share)| entries * share).collect()
    }
    fn next(&self) -> Vec<f64> {
        let last = self.found.len() - 1;
        let rates = self.rates(last);
        let kinds = self.vertices.iter().zip(&self.left[last]).zip(&self.found[last]).zip(rates);
        kinds
            .map(|(((all, left), found), rate)| (all * left - found).max(0.0) * -libm::expm1(-rate))
            .collect()
    }
    fn degree(&self, kind: usize) -> f64 {
        self.entries[kind].iter().sum()
    }
    /// The mean numbers of entries of a vertex of this kind in a level.
    pub(super) fn entries(&self, level: Level, kind: usize) -> Entries {
        let none = || vec![0.0; self.vertices.len()];
        let back = if level == 0 { none() } else { self.to_level(kind, level - 1) };
        let same = self.to_level(kind, level);
        let left = self.left[level].iter().zip(&self.found[level]).zip(&self.vertices);
        let onward = left.zip(&self.entries[kind]);
        let onward =
            onward.map(|(((left, found), all), entries)| entries * f64::max(left - found / all, 0.0));
        Entries { back, same, onward: onward.collect() }
    }
    /// The mean number of entries to a level from a vertex of each kind that is not found yet.
    pub(super) fn pull(&self, level: Level) -> Vec<f64> {
        self.rates(level)
    }
}

impl Entries {
    /// The mean number of entries of a vertex that was found: it has at least one entry back or, if it is the root, at
    /// least one entry.
    pub(super) fn mean(&self) -> f64 {
        let back: f64 = self.back.iter().sum();
        let others: f64 = self.same.iter().chain(&self.onward).sum();
        if back == 0.0 { others / -libm::expm1(-others) } else { others + back / -libm::expm1(-back) }
    }
}

/// The binomial coefficient: the number of ways to choose `some` of `of`.
fn choose(of: u32, some: u32) -> f64 {
    (0..some).fold(1.0, |ways, index| ways * f64::from(of - index) / f64::from(index + 1)).round()
}

/// The probabilities that a neighbour of a vertex with `ones` ones has 0, 1, … ones.
fn neighbour_ones(scale: u32, ones: u32) -> Vec<f64> {
    let mut shares = vec![1.0];
    for bit in 0..scale {
        let one = if bit < ones { D / (B + D) } else { B / (A + B) };
        shares.push(0.0);
        for count in (0..shares.len()).rev() {
            let fewer = if count == 0 { 0.0 } else { shares[count - 1] };
            shares[count] = shares[count] * (1.0 - one) + fewer * one;
        }
    }
    shares
}

/// The first index whose running sum exceeds `at`.
pub(super) fn pick(weights: &[f64], at: f64) -> usize {
    let mut sum = 0.0;
    let place = weights.iter().position(|weight| {
        sum += weight;
        at < sum
    });
    place.or_else(|| weights.iter().rposition(|weight| *weight > 0.0)).unwrap_or(0)
}

/// A draw from the Poisson distribution: by products of uniform draws for small means, by the normal distribution from
/// 500 on, where the quantiles of the two differ by less than 1 %.
pub(super) fn poisson(mean: f64, stream: &mut Stream) -> u64 {
    if mean >= 500.0 {
        let radius = (-2.0 * libm::log(stream.unit())).sqrt();
        let normal = radius * libm::cos(std::f64::consts::TAU * stream.unit());
        return libm::round(f64::max(mean + mean.sqrt() * normal, 0.0)) as u64;
    }
    let limit = libm::exp(-mean);
    let (mut count, mut product) = (0, stream.unit());
    while product > limit {
        count += 1;
        product *= stream.unit();
    }
    count
}

/// A draw from the Poisson distribution, given that it is not 0.
pub(super) fn poisson_from_one(mean: f64, stream: &mut Stream) -> u64 {
    if mean <= 0.0 {
        return 1;
    }
    if mean > 20.0 {
        return poisson(mean, stream).max(1);
    }
    // the time of the first event of a Poisson process with at least one event, then the number of others
    let first = -libm::log1p(stream.unit() * libm::expm1(-mean)) / mean;
    1 + poisson(mean * (1.0 - first).max(0.0), stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_all_vertices_and_all_entries() {
        let graph = Graph500::of_scale(20);
        let levels = Levels::new(&graph, 1);
        assert!((levels.vertices.iter().sum::<f64>() - graph.vertices() as f64).abs() < 1e-3);
        let entries: f64 =
            levels.vertices.iter().zip(&levels.entries).map(|(n, row)| n * row.iter().sum::<f64>()).sum();
        assert!((entries / (2.0 * graph.edges() as f64) - 1.0).abs() < 1e-9);
        // between two kinds there are as many entries in one direction as in the other
        for (j, k) in [(0, 5), (3, 11), (10, 12)] {
            let there = levels.vertices[j] * levels.entries[j][k];
            let back = levels.vertices[k] * levels.entries[k][j];
            assert!((there / back - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn no_kind_is_found_more_often_than_it_is_there() {
        let levels = Levels::new(&Graph500::of_scale(29), 3);
        for kind in 0..=29 {
            let found: f64 = levels.found.iter().map(|level| level[kind]).sum();
            assert!(found <= levels.vertices[kind] * (1.0 + 1e-9), "{kind}");
        }
    }

    #[test]
    fn draws_have_their_means() {
        let mut stream = Stream::new(1, "test", "poisson");
        for mean in [0.01, 0.7, 15.0, 100.0, 700.0] {
            let draws = 20_000;
            let sum: u64 = (0..draws).map(|_| poisson(mean, &mut stream)).sum();
            assert!(
                (sum as f64 / f64::from(draws) - mean).abs() < 4.0 * (mean / f64::from(draws)).sqrt(),
                "{mean}"
            );
            let sum: u64 = (0..draws).map(|_| poisson_from_one(mean, &mut stream)).sum();
            let expected = mean / -libm::expm1(-mean);
            assert!(
                (sum as f64 / f64::from(draws) - expected).abs()
                    < 4.0 * (mean / f64::from(draws)).sqrt() + 0.003
            );
        }
    }
}
