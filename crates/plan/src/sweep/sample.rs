//! Points drawn as a Latin hypercube: each of *n* equal parts of every axis has one point.
//!
//! Source: M. D. McKay, R. J. Beckman, W. J. Conover, "A Comparison of Three Methods for Selecting Values of Input
//! Variables in the Analysis of Output from a Computer Code", Technometrics 21 (2), 1979.

use super::axis::{Axis, Level};
use lanetwin_kernel::Stream;
use std::collections::BTreeMap;

/// Draws `points` points and gives the axes, which change together in `groups`, the values drawn. Returns each point as
/// the indices of its values.
pub(super) fn draw(axes: &mut [Axis], groups: &[Vec<usize>], points: u64, seed: u64) -> Vec<Vec<u32>> {
    let mut drawn = vec![vec![0; axes.len()]; points as usize];
    for group in groups {
        let first = &axes[group[0]];
        let shares = strata(points, &mut Stream::new(seed, &first.paths.join(","), "latin hypercube"));
        for axis in group {
            let places = places(&mut axes[*axis], &shares);
            for (point, place) in drawn.iter_mut().zip(places) {
                point[*axis] = place;
            }
        }
    }
    for axis in axes.iter_mut().filter(|axis| axis.range.is_some()) {
        axis.measure();
    }
    drawn
}

/// A share of the way, 0 to 1, in each of `points` equal parts, in random order.
fn strata(points: u64, stream: &mut Stream) -> Vec<f64> {
    let mut order: Vec<u64> = (0..points).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, stream.below(place as u64 + 1) as usize);
    }
    order.iter().map(|part| (*part as f64 + 1.0 - stream.unit()) / points as f64).collect()
}

/// The index of an axis's value at each of these shares; for a range, the values are added to the axis.
fn places(axis: &mut Axis, shares: &[f64]) -> Vec<u32> {
    let Some(range) = axis.range.clone() else {
        let all = axis.values.len();
        return shares.iter().map(|share| ((share * all as f64) as usize).min(all - 1) as u32).collect();
    };
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    let mut place = |text: String| {
        let next = known.len() as u32;
        *known.entry(text.clone()).or_insert_with(|| {
            axis.values.push(Level { set: text.clone(), text, number: None, cost: None });
            next
        })
    };
    shares.iter().map(|share| place(range.drawn(*share))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_one_point() {
        let shares = strata(50, &mut Stream::new(1, "a", "b"));
        let mut parts: Vec<u64> = shares.iter().map(|share| (share * 50.0) as u64).collect();
        assert_ne!(parts, (0..50).collect::<Vec<_>>());
        parts.sort_unstable();
        assert_eq!(parts, (0..50).collect::<Vec<_>>());
    }
}
