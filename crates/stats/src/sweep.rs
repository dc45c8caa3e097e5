//! Analysis of the points of a sweep: the Pareto front, the cheapest point that is good enough, and the effect of each
//! parameter.

use lanetwin_units::Better;
use serde::{Deserialize, Serialize};

/// Largest number of parameter values that form a group each; beyond it, neighbouring values are grouped by rank.
const MOST_LEVELS: usize = 16;
/// Least number of points in a group of ranks.
const LEAST_IN_GROUP: usize = 5;

/// The values of a metric at all points; `None` for a point without the metric.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Column {
    /// Which direction is better.
    pub better: Better,
    /// Its values, in the order of the points.
    pub values: Vec<Option<f64>>,
}

impl Column {
    /// The cost of each point: lower is better.
    #[must_use]
    pub const fn of_costs(values: Vec<Option<f64>>) -> Self {
        Self { better: Better::Lower, values }
    }

    /// Each value relative to the best: 1 is the best, 0.5 half as good. `None` for values that are not above 0, and
    /// for metrics without a better direction.
    #[must_use]
    pub fn shares(&self) -> Vec<Option<f64>> {
        let known = self.values.iter().flatten().copied().filter(|value| *value > 0.0);
        let best = match self.better {
            Better::Higher => {
                known.fold(None, |best: Option<f64>, value| Some(best.map_or(value, |b| b.max(value))))
            }
            Better::Lower => {
                known.fold(None, |best: Option<f64>, value| Some(best.map_or(value, |b| b.min(value))))
            }
            Better::Neither => None,
        };
        let share = |value: f64| match (best, self.better) {
            (Some(best), Better::Lower) if value > 0.0 => Some(best / value),
            (Some(best), Better::Higher) => Some(value / best),
            _ => None,
        };
        self.values.iter().map(|value| value.and_then(share)).collect()
    }
}

/// Which points are on the Pareto front of these metrics: no other point is at least as good in all of them and better
/// in one. Points that lack a metric are not on it; a metric without a better direction does not count.
#[must_use]
pub fn pareto(columns: &[Column]) -> Vec<bool> {
    let columns: Vec<&Column> = columns.iter().filter(|column| column.better != Better::Neither).collect();
    let all = columns.first().map_or(0, |column| column.values.len());
    let less_is_better = |column: &Column, point: usize| {
        let sign = if column.better == Better::Lower { 1.0 } else { -1.0 };
        column.values[point].filter(|value| value.is_finite()).map(|value| value * sign)
    };
    let point = |nth: usize| {
        let values: Option<Vec<f64>> = columns.iter().map(|column| less_is_better(column, nth)).collect();
        values.map(|values| (nth, values))
    };
    let mut points: Vec<(usize, Vec<f64>)> = (0..all).filter_map(point).collect();
    // in this order a point can only be dominated by earlier ones
    points.sort_by(|(_, a), (_, b)| {
        a.iter()
            .zip(b)
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut front: Vec<(usize, Vec<f64>)> = Vec::new();
    for (nth, values) in points {
        let beats = |other: &[f64]| other.iter().zip(&values).all(|(a, b)| a <= b) && other != values;
        if !front.iter().any(|(_, other)| beats(other)) {
            front.push((nth, values));
        }
    }
    let mut on_front = vec![false; all];
    front.iter().for_each(|(nth, _)| on_front[*nth] = true);
    on_front
}

/// The cheapest point that is good enough.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Choice {
    /// Each point relative to the best, in the metric in which it is worst: 1 is the best in all.
    pub shares: Vec<Option<f64>>,
    /// Whether each point is good enough.
    pub enough: Vec<bool>,
    /// The cheapest point that is good enough; of several, the best. `None` if none is.
    pub chosen: Option<usize>,
}

/// Finds the cheapest point that reaches `at_least` this share of the best in every metric.
#[must_use]
pub fn cheapest(columns: &[Column], costs: &[Option<f64>], at_least: f64) -> Choice {
    let each: Vec<Vec<Option<f64>>> = columns.iter().map(Column::shares).collect();
    let worst = |point: usize| {
        let shares: Option<Vec<f64>> = each.iter().map(|shares| shares[point]).collect();
        shares
            .filter(|shares| !shares.is_empty())
            .map(|shares| shares.into_iter().fold(f64::INFINITY, f64::min))
    };
    let shares: Vec<Option<f64>> = (0..costs.len()).map(worst).collect();
    let enough: Vec<bool> = shares.iter().map(|share| share.is_some_and(|share| share >= at_least)).collect();
    let key = |point: &usize| (costs[*point].unwrap_or(f64::INFINITY), -shares[*point].unwrap_or(0.0));
    let good = (0..costs.len()).filter(|point| enough[*point] && costs[*point].is_some());
    let chosen = good.min_by(|a, b| {
        let ((cost, share), (other, others)) = (key(a), key(b));
        cost.total_cmp(&other).then(share.total_cmp(&others))
    });
    Choice { shares, enough, chosen }
}

/// The effect of one parameter on one metric.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Effect {
    /// The share of the metric's variance over the points that the parameter explains by itself, 0 to 1: the
    /// first-order sensitivity index (A. Saltelli et al., "Global Sensitivity Analysis: The Primer", Wiley, 2008,
    /// chapter 4).
    pub explained: f64,
    /// Least of the means over points with the same parameter value.
    pub low: f64,
    /// Largest of these means.
    pub high: f64,
}

/// The effect of a parameter on a metric, given both at each point: `levels` are the ranks of the parameter values.
/// Returns `None` if fewer than two points, or fewer than two parameter values, are known.
#[must_use]
pub fn effect(levels: &[u32], values: &[Option<f64>]) -> Option<Effect> {
    let known: Vec<(u32, f64)> = levels.iter().zip(values).filter_map(|(l, v)| Some((*l, (*v)?))).collect();
    let groups = groups(&known);
    if groups.len() < 2 {
        return None;
    }
    let count = known.len() as f64;
    let mean = known.iter().map(|(_, value)| value).sum::<f64>() / count;
    let square = |x: f64| x * x;
    let total: f64 = known.iter().map(|(_, value)| square(value - mean)).sum();
    let means: Vec<(f64, f64)> = groups
        .iter()
        .map(|group| (group.iter().sum::<f64>() / group.len() as f64, group.len() as f64))
        .collect();
    let between: f64 = means.iter().map(|(of, size)| size * square(of - mean)).sum();
    let explained = if total > 0.0 { (between / total).clamp(0.0, 1.0) } else { 0.0 };
    let low = means.iter().map(|(of, _)| *of).fold(f64::INFINITY, f64::min);
    let high = means.iter().map(|(of, _)| *of).fold(f64::NEG_INFINITY, f64::max);
    Some(Effect { explained, low, high })
}

/// The values of points with the same level, in the order of levels. If there are too many levels, neighbouring ones
/// are grouped.
fn groups(known: &[(u32, f64)]) -> Vec<Vec<f64>> {
    let mut sorted = known.to_vec();
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let by_level: Vec<Vec<f64>> = sorted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| same.iter().map(|(_, value)| *value).collect())
        .collect();
    let repeats = known.len() >= by_level.len() * 2;
    if by_level.len() <= MOST_LEVELS && repeats || by_level.len() < 2 {
        return by_level;
    }
    let wanted = (known.len() / LEAST_IN_GROUP).clamp(2, MOST_LEVELS);
    let size = known.len().div_ceil(wanted);
    let mut groups: Vec<Vec<f64>> = vec![Vec::new()];
    for level in by_level {
        let last = groups.last_mut().expect("there is always one");
        match last.len() >= size {
            true => groups.push(level),
            false => last.extend(level),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(better: Better, values: &[f64]) -> Column {
        Column { better, values: values.iter().map(|value| Some(*value)).collect() }
    }

    #[test]
    fn the_front_is_what_nobody_beats() {
        let speed = column(Better::Higher, &[10.0, 20.0, 20.0, 5.0, 30.0]);
        let latency = column(Better::Lower, &[1.0, 2.0, 3.0, 2.0, 9.0]);
        assert_eq!(pareto(&[speed, latency]), [true, true, false, false, true]);
    }

    #[test]
    fn equal_points_are_both_on_the_front_and_unknown_ones_are_not() {
        let mut speed = column(Better::Higher, &[10.0, 10.0, 99.0]);
        speed.values[2] = None;
        assert_eq!(pareto(&[speed, column(Better::Lower, &[1.0, 1.0, 0.0])]), [true, true, false]);
    }

    proptest! {
        #[test]
        fn a_point_is_on_the_front_exactly_if_no_other_beats_it(
            points in prop::collection::vec((0..6_u8, 0..6_u8, 0..6_u8), 1..40),
        ) {
            let of = |better, pick: fn(&(u8, u8, u8)) -> u8| {
                column(better, &points.iter().map(|point| f64::from(pick(point))).collect::<Vec<_>>())
            };
            let front = pareto(&[of(Better::Lower, |p| p.0), of(Better::Higher, |p| p.1), of(Better::Lower, |p| p.2)]);
            for (nth, a) in points.iter().enumerate() {
                let beats = |b: &(u8, u8, u8)| b != a && b.0 <= a.0 && b.1 >= a.1 && b.2 <= a.2;
                prop_assert_eq!(front[nth], !points.iter().any(beats));
            }
        }
    }

    #[test]
    fn the_cheapest_is_good_enough_in_every_metric() {
        let read = column(Better::Higher, &[50.0, 96.0, 100.0, 99.0]);
        let latency = column(Better::Lower, &[1.0, 1.01, 1.0, 2.0]);
        let costs = [Some(1.0), Some(4.0), Some(8.0), Some(2.0)];
        let found = cheapest(&[read.clone(), latency], &costs, 0.95);
        assert_eq!(found.chosen, Some(1));
        assert_eq!(found.enough, [false, true, true, false]);
        assert_eq!(cheapest(&[read], &costs, 0.95).chosen, Some(3));
    }

    #[test]
    fn of_several_that_cost_the_same_it_is_the_best_and_there_may_be_none() {
        let read = column(Better::Higher, &[96.0, 100.0, 10.0]);
        let costs = [Some(4.0), Some(4.0), Some(1.0)];
        assert_eq!(cheapest(std::slice::from_ref(&read), &costs, 0.95).chosen, Some(1));
        assert_eq!(cheapest(&[read], &[None, None, None], 0.95).chosen, None);
        assert_eq!(cheapest(&[], &costs, 0.95).chosen, None);
    }

    /// In y = 10 a + b the variance of a full grid is 100 var(a) + var(b).
    #[test]
    fn what_a_parameter_explains_is_its_part_of_the_variance() {
        let grid: Vec<(u32, u32)> = (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).collect();
        let values: Vec<Option<f64>> = grid.iter().map(|(a, b)| Some(f64::from(10 * a + b))).collect();
        let of = |levels: Vec<u32>| effect(&levels, &values).expect("an effect");
        let (a, b) = (of(grid.iter().map(|p| p.0).collect()), of(grid.iter().map(|p| p.1).collect()));
        assert!((a.explained - 100.0 / 101.0).abs() < 1e-12, "{a:?}");
        assert!((b.explained - 1.0 / 101.0).abs() < 1e-12, "{b:?}");
        assert_eq!((a.low, a.high), (1.5, 31.5));
    }

    #[test]
    fn values_that_are_all_different_are_put_together() {
        let levels: Vec<u32> = (0..200).collect();
        let rising: Vec<Option<f64>> = levels.iter().map(|level| Some(f64::from(*level))).collect();
        let noise: Vec<Option<f64>> =
            levels.iter().map(|level| Some(f64::from(level * 7919 % 211))).collect();
        assert!(effect(&levels, &rising).expect("an effect").explained > 0.98);
        assert!(effect(&levels, &noise).expect("an effect").explained < 0.2);
        assert_eq!(effect(&[0, 0], &[Some(1.0), Some(2.0)]), None);
    }
}
