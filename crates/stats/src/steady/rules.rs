//! When a drive counts as steady, by the SNIA Performance Test Specification and by fio, whose rules differ.
//!
//! | | SNIA PTS 2.0.1 | fio `steadystate` |
//! |---|---|---|
//! | looks at | the last five rounds | the last `ss_dur` seconds |
//! | range | largest − least ≤ 20 % of the mean | – |
//! | deviation | – | largest distance from the mean < limit (`iops`, `bw`) |
//! | slope | of the best line: what it rises over the window ≤ 10 % of the mean | of the best line, each second < limit (`iops_slope`, `bw_slope`) |

/// Rounds in the window of the SNIA rule.
pub const SNIA_ROUNDS: usize = 5;

/// The SNIA rule's limits, as shares of the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SniaRule {
    /// The largest range.
    pub range: f64,
    /// The largest rise of the best line over the window.
    pub slope: f64,
}

impl Default for SniaRule {
    /// 20 % and 10 % (SSS PTS 2.0.1, "steady state").
    fn default() -> Self {
        Self { range: 0.2, slope: 0.1 }
    }
}

/// The result of the SNIA rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SniaFound {
    /// Whether it is steady.
    pub attained: bool,
    /// Number of rounds up to the end of that window, or of all rounds.
    pub rounds: usize,
    /// The mean of the window.
    pub mean: f64,
    /// Its range, as a share of the mean.
    pub range: f64,
    /// The absolute rise of the best line over it, as a share of the mean.
    pub slope: f64,
}

/// Whether a fio rule limits the slope or the deviation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// The largest distance from the mean.
    Deviation,
    /// The slope of the best line, for each second.
    Slope,
}

/// A rule of fio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FioRule {
    /// The quantity that it limits.
    pub measure: Measure,
    /// The quantity has to stay below this.
    pub limit: f64,
    /// Whether the limit is in percent of the mean.
    pub percent: bool,
    /// Observations in the window; at least two.
    pub window: usize,
}

/// The result of a fio rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FioFound {
    /// Whether it is steady.
    pub attained: bool,
    /// Index after the last observation of the window.
    pub end: usize,
    /// The deviation or the slope, in the unit of the observations.
    pub value: f64,
    /// The value in the unit of the limit: in percent of the mean, or unchanged.
    pub criterion: f64,
}

fn mean(window: &[f64]) -> f64 {
    window.iter().sum::<f64>() / window.len() as f64
}

/// The slope of the best line through observations at 0, 1, 2, …
fn slope(window: &[f64]) -> f64 {
    let n = window.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, mean(window));
    let places = || (0..window.len()).map(|place| place as f64 - middle);
    let products: f64 = places().zip(window).map(|(x, y)| x * (y - mean)).sum();
    products / places().map(|x| x * x).sum::<f64>()
}

/// Checks every window of five rounds, the earliest first, until one is steady. Returns `None` if there are fewer
/// rounds, or if no window has a positive mean.
#[must_use]
pub fn snia_rule(rounds: &[f64], rule: SniaRule) -> Option<SniaFound> {
    let mut last = None;
    for end in SNIA_ROUNDS..=rounds.len() {
        let window = &rounds[end - SNIA_ROUNDS..end];
        let mean = mean(window);
        if mean.is_nan() || mean <= 0.0 {
            continue;
        }
        let most = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = window.iter().copied().fold(f64::INFINITY, f64::min);
        let range = (most - least) / mean;
        let slope = (slope(window) * (SNIA_ROUNDS - 1) as f64 / mean).abs();
        let attained = range <= rule.range && slope <= rule.slope;
        last = Some(SniaFound { attained, rounds: end, mean, range, slope });
        if attained {
            return last;
        }
    }
    last
}

/// Checks every window, the earliest first, until one is steady (`steadystate.c`). Returns `None` if there are fewer
/// observations than the window has, or if the window is shorter than two.
#[must_use]
pub fn fio_rule(observations: &[f64], rule: FioRule) -> Option<FioFound> {
    if rule.window < 2 {
        return None;
    }
    let mut last = None;
    for (nth, window) in observations.windows(rule.window).enumerate() {
        let mean = mean(window);
        let value = match rule.measure {
            Measure::Slope => slope(window),
            Measure::Deviation => window.iter().map(|y| (y - mean).abs()).fold(0.0, f64::max),
        };
        let criterion = if rule.percent { 100.0 * value / mean } else { value };
        let attained = criterion.abs() < rule.limit;
        last = Some(FioFound { attained, end: nth + rule.window, value, criterion });
        if attained {
            return last;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a mean of 100, a range of 20 to the last bit, a slope of 4 a round.
    #[test]
    fn the_snia_rule_takes_its_limits_in() {
        let snia = |rounds: &[f64]| snia_rule(rounds, SniaRule::default());
        let edge = snia(&[110.0, 100.0, 90.0, 100.0, 100.0]).expect("five rounds");
        assert!(edge.attained && (edge.range - 0.2).abs() < 1e-12 && (edge.slope - 0.08).abs() < 1e-12);
        assert!(!snia(&[111.0, 100.0, 89.0, 100.0, 100.0]).expect("five rounds").attained);
        // a range of 12 %, but it rises by all of it
        let rising = snia(&[94.0, 97.0, 100.0, 103.0, 106.0]).expect("five rounds");
        assert!(!rising.attained && (rising.slope - 0.12).abs() < 1e-12);
        assert_eq!(snia(&[1.0; 4]), None);
        assert_eq!(snia(&[0.0; 9]), None);
    }

    #[test]
    fn the_snia_rule_ends_with_the_first_five_that_are_steady() {
        let mut rounds = vec![500.0, 300.0, 200.0];
        rounds.extend([100.0; 9]);
        let found = snia_rule(&rounds, SniaRule::default()).expect("rounds");
        assert_eq!((found.attained, found.rounds, found.mean), (true, 8, 100.0));
        let never = snia_rule(&rounds[..7], SniaRule::default()).expect("rounds");
        assert_eq!((never.attained, never.rounds), (false, 7));
    }

    #[test]
    fn the_rules_of_fio_look_at_deviation_or_slope() {
        let falling: Vec<f64> = (0..20).map(|n| 1000.0 - 10.0 * f64::from(n)).collect();
        let rule = FioRule { measure: Measure::Slope, limit: 5.0, percent: false, window: 10 };
        let found = fio_rule(&falling, rule).expect("a window");
        assert!(!found.attained && (found.value + 10.0).abs() < 1e-9 && found.end == 20);
        let found = fio_rule(&falling, FioRule { limit: 11.0, ..rule }).expect("a window");
        assert_eq!((found.attained, found.end), (true, 10));
        let percent = FioRule { measure: Measure::Deviation, limit: 5.0, percent: true, window: 10 };
        let found = fio_rule(&falling, percent).expect("a window");
        // 45 of 955
        assert!(found.attained && (found.criterion - 100.0 * 45.0 / 955.0).abs() < 1e-9, "{found:?}");
        // a limit is not reached by what equals it
        let flat = FioRule { measure: Measure::Deviation, limit: 0.0, percent: false, window: 2 };
        assert!(!fio_rule(&[1.0, 1.0, 1.0], flat).expect("a window").attained);
        assert_eq!(fio_rule(&[1.0], flat), None);
    }
}
