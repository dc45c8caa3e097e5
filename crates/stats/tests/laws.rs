//! What must hold of any input.

use lanetwin_stats::results::{Digest, Kind, Results, Row, X};
use lanetwin_stats::verdict::{holm, judge};
use lanetwin_stats::{
    Confidence, Direction, Histogram, Interval, LittlesLaw, Margin, RELATIVE_ERROR, interval, paired_ratio,
    steady,
};
use lanetwin_units::{Instant, Span};
use proptest::collection::vec;
use proptest::prelude::*;

/// Latencies from a picosecond to an hour, every magnitude as likely as the next.
fn latency() -> impl Strategy<Value = u64> {
    (0u32..52, any::<u64>()).prop_map(|(bits, noise)| (1u64 << bits) | (noise & ((1 << bits) - 1)))
}

fn histogram(latencies: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    latencies.iter().for_each(|&ps| histogram.record(Span::from_ps(ps)));
    histogram
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::HigherIsBetter), Just(Direction::LowerIsBetter)]
}

proptest! {
    // an integration test has no source tree in which proptest could keep failing seeds
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_the_histogram_of_the_union(a in vec(latency(), 0..200), b in vec(latency(), 0..200)) {
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        let mut other_way = histogram(&b);
        other_way.merge(&histogram(&a));
        let union = histogram(&[a, b].concat());
        prop_assert_eq!(&merged, &union);
        prop_assert_eq!(&other_way, &union);
        for percent in [0.0, 1.0, 50.0, 99.0, 99.9, 100.0] {
            prop_assert_eq!(merged.percentile(percent), union.percentile(percent));
        }
    }

    #[test]
    fn percentiles_keep_the_stated_error(mut latencies in vec(latency(), 1..300), percent in 0u32..=1000) {
        let found = histogram(&latencies).percentile(f64::from(percent) / 10.0).unwrap().as_ps();
        latencies.sort_unstable();
        let rank = (latencies.len() * percent as usize).div_ceil(1000).max(1);
        let truth = latencies[rank - 1];
        prop_assert!(found >= truth && (found - truth) as f64 <= RELATIVE_ERROR * truth as f64, "{found} for {truth}");
    }

    #[test]
    fn count_sum_and_extremes_are_exact(latencies in vec(latency(), 1..300)) {
        let histogram = histogram(&latencies);
        prop_assert_eq!(histogram.count(), latencies.len() as u64);
        prop_assert_eq!(histogram.sum_ps(), latencies.iter().map(|&ps| u128::from(ps)).sum::<u128>());
        prop_assert_eq!(histogram.min().map(Span::as_ps), latencies.iter().copied().min());
        prop_assert_eq!(histogram.max().map(Span::as_ps), latencies.iter().copied().max());
        prop_assert_eq!(histogram.buckets().map(|bucket| bucket.count).sum::<u64>(), histogram.count());
    }

    #[test]
    fn percentile_intervals_of_histogram_and_sample_agree(latencies in vec(latency(), 6..200)) {
        let exact: Vec<f64> = latencies.iter().map(|&ps| ps as f64).collect();
        let of_sample = interval::median(&exact, Confidence::P95).unwrap();
        let of_histogram = histogram(&latencies).percentile_interval(50.0, Confidence::P95).unwrap();
        prop_assert_eq!(of_sample.achieved, of_histogram.achieved);
        let (inner, outer) = (of_sample.interval, of_histogram.interval);
        prop_assert!(outer.contains(inner.low()) && outer.contains(inner.high()));
        prop_assert!(outer.low() >= inner.low() * (1.0 - RELATIVE_ERROR) - 1.0);
        prop_assert!(outer.high() <= inner.high() * (1.0 + RELATIVE_ERROR));
    }

    #[test]
    fn exchanging_baseline_and_variant_mirrors_the_verdict(
        pairs in vec((1.0..2.0f64, 1.0..2.0f64), 1..9), spread in 0.0..0.2f64, shift in 0.8..1.25f64,
        margin in 0.0..0.2f64, direction in direction(), seed in any::<u64>(),
    ) {
        let (baseline, variant): (Vec<f64>, Vec<f64>) =
            pairs.into_iter().map(|(b, v)| (1.0 + spread * b, shift * (1.0 + spread * v))).unzip();
        let there = paired_ratio(&baseline, &variant, Confidence::P95, seed).unwrap();
        let back = paired_ratio(&variant, &baseline, Confidence::P95, seed).unwrap();
        prop_assert_eq!(there.log_ratio(), -back.log_ratio());
        prop_assert_eq!(there.p_value(), back.p_value());
        let mirrored = back.log_interval().and_then(|range| Interval::new(-range.high(), -range.low()));
        prop_assert_eq!(there.log_interval(), mirrored);
        let margin = Margin::new(margin).unwrap();
        let verdict = judge(there.interval(), margin, direction);
        prop_assert_eq!(verdict, judge(back.interval(), margin, direction).mirrored());
        if there.interval().is_none() {
            prop_assert_eq!(verdict, lanetwin_stats::Verdict::Inconclusive);
        }
    }

    #[test]
    fn the_other_direction_is_the_other_verdict(low in -0.5..0.5f64, width in 0.0..0.5f64, margin in 0.0..0.2f64) {
        let change = Interval::new(low, low + width);
        let margin = Margin::new(margin).unwrap();
        let higher = judge(change, margin, Direction::HigherIsBetter);
        prop_assert_eq!(higher, judge(change, margin, Direction::LowerIsBetter).mirrored());
    }

    #[test]
    fn the_estimate_lies_in_its_interval_and_scale_does_not_matter(
        pairs in vec((1.0..9.0f64, 1.0..9.0f64), 2..12), seed in any::<u64>(),
    ) {
        let (baseline, variant): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let change = paired_ratio(&baseline, &variant, Confidence::P95, seed).unwrap();
        prop_assert!(change.log_interval().unwrap().contains(change.log_ratio()));
        // powers of two scale without rounding, and log ratios only by the rounding of the logarithms
        let doubled: Vec<f64> = variant.iter().map(|value| value * 2.0).collect();
        let twice = paired_ratio(&baseline, &doubled, Confidence::P95, seed).unwrap();
        let (one, two) = (change.log_interval().unwrap(), twice.log_interval().unwrap());
        let ln_2 = core::f64::consts::LN_2;
        for (once, twice) in [(change.log_ratio(), twice.log_ratio()), (one.low(), two.low()), (one.high(), two.high())] {
            prop_assert!((once + ln_2 - twice).abs() < 1e-11, "{once} and ln 2 is not {twice}");
        }
    }

    #[test]
    fn the_same_input_gives_the_same_bits(values in vec(0.1..9.0f64, 5..60), seed in any::<u64>()) {
        let variant: Vec<f64> = values.iter().rev().copied().collect();
        let ratio = || paired_ratio(&values, &variant, Confidence::P95, seed).unwrap();
        prop_assert_eq!(ratio(), ratio());
        prop_assert_eq!(steady::mser5(&values), steady::mser5(&values));
    }

    #[test]
    fn more_confidence_is_never_a_narrower_interval(values in vec(0.1..9.0f64, 8..40)) {
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let inside = |narrow: Interval, wide: Interval| wide.contains(narrow.low()) && wide.contains(narrow.high());
        let at = |confidence| interval::mean(&values, confidence).unwrap();
        prop_assert!(inside(at(Confidence::P95), at(Confidence::P99)));
        let at = |confidence| interval::median(&values, confidence).unwrap().interval;
        prop_assert!(inside(at(Confidence::P95), at(Confidence::P99)));
        let at = |confidence| paired_ratio(&values, &reversed, confidence, 3).unwrap().interval().unwrap();
        prop_assert!(inside(at(Confidence::P95), at(Confidence::P99)));
    }

    #[test]
    fn no_cut_leaves_a_part_of_the_warm_up(
        warm in 0usize..20, level in 50.0..100.0f64, noise in vec(-1.0..1.0f64, 200..300),
    ) {
        let mut run = vec![0.0; warm * 5];
        run.extend(noise.iter().map(|deviation| level + deviation));
        match steady::mser5(&run) {
            Ok(cut) => prop_assert!(cut >= warm * 5 && cut <= run.len() / 2 + 5, "{cut} of {}", warm * 5),
            // noise may happen to be smallest near the end; then no cut is offered at all
            Err(error) => prop_assert!(matches!(error, steady::NotSteady::NeverSettled { .. }), "{error}"),
        }
    }

    #[test]
    fn holm_lies_between_nothing_and_bonferroni(p_values in vec(0.0..=1.0f64, 1..12)) {
        let adjusted = holm(&p_values);
        for (p, adjusted) in p_values.iter().zip(&adjusted) {
            prop_assert!(adjusted >= p && *adjusted <= (p * p_values.len() as f64).min(1.0));
        }
        let mut order: Vec<usize> = (0..p_values.len()).collect();
        order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
        prop_assert!(order.windows(2).all(|pair| adjusted[pair[0]] <= adjusted[pair[1]]));
    }

    #[test]
    fn littles_law_holds_for_any_stays_and_fails_for_any_lie(
        stays in vec((0u64..1_000, 0u64..1_000), 1..40), liar in any::<prop::sample::Index>(), lie in 1u64..1_000,
    ) {
        let verify = |entered_of: &dyn Fn(usize) -> u64| {
            // (time, leaves, who): arrivals first, so that a stay of no length enters before it leaves
            let mut calls: Vec<(u64, bool, usize)> = Vec::new();
            for (who, (entered, length)) in stays.iter().enumerate() {
                calls.extend([(1_000 + entered, false, who), (1_000 + entered + length, true, who)]);
            }
            calls.sort_unstable();
            let mut place = LittlesLaw::new();
            for (time, leaves, who) in calls {
                let now = Instant::from_ps(time);
                if leaves { place.leave(now, Instant::from_ps(entered_of(who))) } else { place.arrive(now) }
            }
            place.verify()
        };
        let truth = |who: usize| 1_000 + stays[who].0;
        let total: u64 = stays.iter().map(|stay| stay.1).sum();
        prop_assert_eq!(verify(&truth), Ok(u128::from(total)));
        let liar = liar.index(stays.len());
        let lied = verify(&|who| truth(who) - if who == liar { lie } else { 0 });
        prop_assert!(lied.is_err());
    }

    #[test]
    fn results_read_back_as_they_were_written(
        rows in vec((any::<String>(), -1e300..1e300f64, any::<Option<u32>>(), vec((0.0..100.0f64, 0.0..1e12f64), 0..4)), 0..5),
        seed in any::<u64>(), digest in any::<u64>(),
    ) {
        let mut results = Results::new(Kind::Emulated, "law", "0.1.0");
        results.seed = Some(seed);
        results.digest = Some(Digest(digest));
        for (case, value, x, percentiles) in rows {
            let x = x.map(|x| X { name: "size".into(), value: f64::from(x), unit: "B".into(), curve: String::new() });
            results.rows.push(Row { case, value, x, percentiles, low: Some(value), ..Row::default() });
        }
        prop_assert_eq!(Results::from_json(&results.to_json(), "law.json"), Ok(results));
    }

    #[test]
    fn a_document_cut_anywhere_is_refused_with_a_place(cut in 0.0..1.0f64) {
        let json = Results::new(Kind::Simulated, "cut", "0.1.0").to_json();
        let short = &json[..(cut * (json.trim_end().len() as f64)) as usize];
        let error = Results::from_json(short, "cut.json").unwrap_err();
        prop_assert_eq!((error.code, error.file.as_str()), ("RS002", "cut.json"));
        prop_assert!(error.line > 0);
    }
}
