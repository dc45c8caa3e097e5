//! Reports of components: the use of their finite supplies, their counters and their levels.
//!
//! A component reports totals since the start of the run. Readers take two reports and compute each metric over the
//! time in between: [`Reading::since`].
//!
//! ```
//! use lanetwin_kernel::{Metric, Report};
//! use lanetwin_units::{Better, Span};
//!
//! const SERVED: Metric = Metric::new("served", "k/s", Better::Higher);
//! let told = |served: u64| {
//!     let mut report = Report::default();
//!     report.rate(SERVED, served, 1e3);
//!     report
//! };
//! let (before, after) = (told(500), told(2_500));
//! let rate = after.metrics[0].reading.since(before.reading(&SERVED), Span::from_us(1_000_000));
//! assert_eq!(rate, Some(2.0));
//! ```

use lanetwin_units::{Better, Span};
use std::borrow::Cow;

const PS_PER_SECOND: f64 = 1e12;

/// The use of a finite supply so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supply {
    /// The integral over time, from the start of the run, of the number in use \[number · ps\].
    pub in_use_ps: u128,
    /// Size of the supply; at least one.
    pub supply: u64,
    /// What being in use means.
    pub kind: SupplyKind,
}

/// What being in use means for a supply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SupplyKind {
    /// It works, for a time that does not depend on others: engines, cores, walkers.
    Server,
    /// It works, but not whenever there is work, as its own rules hold it up: buses of a memory, which is refreshed,
    /// has rows to open and turns between reads and writes.
    HeldUp {
        /// The integral over time of the number that were held up although there was work \[number · ps\].
        lost_ps: u128,
    },
    /// It is held while others work, the longer the slower they are: tags, places in a queue.
    Held {
        /// The integral over time of the number of waiters \[number · ps\].
        waiting_ps: u128,
    },
}

/// A metric of a component; the component declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Its name (`row hits`), unique within the component.
    pub name: Cow<'static, str>,
    /// Its unit (`MB/s`); empty for a number.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// Group of the metric. The metrics of a group are shown only if one of them was not zero in some repeat.
    pub group: Option<&'static str>,
    /// Whether it is only returned on request by name, and is not a row.
    pub is_aside: bool,
    /// What a user can do about it if it is not zero: a warning of the run.
    pub remedy: Option<&'static str>,
}

impl Metric {
    /// A metric that is always shown.
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str, better: Better) -> Self {
        Self { name: Cow::Borrowed(name), unit, better, group: None, is_aside: false, remedy: None }
    }
    /// The same, shown only if a metric of this group was not zero in some repeat. If it is missing from a report, it
    /// was zero.
    #[must_use]
    pub const fn if_any(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }
    /// The same, a symptom: if it is not zero, a run warns, and says this remedy.
    #[must_use]
    pub const fn remedied_by(mut self, remedy: &'static str) -> Self {
        self.remedy = Some(remedy);
        self
    }
    /// The same, returned only on request by name.
    #[must_use]
    pub const fn aside(mut self) -> Self {
        self.is_aside = true;
        self
    }
}

/// A function of the increases of some totals over a time \[s\]; `None` if there is no value.
pub type Derivation = Box<dyn Fn(&[u64], f64) -> Option<f64>>;

/// The reading of a metric. Totals are since the start of the run, and never decrease.
pub enum Reading {
    /// A value at the time of the report.
    Level(f64),
    /// A total; the metric is its increase.
    Count(u64),
    /// A total; the metric is its increase per second, in units of `per`.
    Rate {
        /// The total.
        total: u64,
        /// Amount of the total that is one unit of the metric.
        per: f64,
    },
    /// Two totals; the metric is `times` the increase of `part` over that of `whole`. It has no value if `whole` does
    /// not increase.
    Ratio {
        /// The numerator.
        part: u64,
        /// The denominator.
        whole: u64,
        /// The factor: 100 for percents.
        times: f64,
    },
    /// Another function of totals.
    Derived {
        /// The totals.
        totals: Vec<u64>,
        /// The function of their increases.
        value: Derivation,
    },
}

impl Reading {
    /// The value of the metric between an earlier report and this one; a metric that was missing then counts as zero.
    /// Returns `None` if there is no value for that time.
    #[must_use]
    pub fn since(&self, before: Option<&Self>, elapsed: Span) -> Option<f64> {
        let seconds = elapsed.as_ps() as f64 / PS_PER_SECOND;
        let added: Vec<u64> = match before {
            None => self.totals(),
            Some(before) => self.totals().iter().zip(before.totals()).map(|(a, b)| a - b).collect(),
        };
        match self {
            Self::Level(value) => Some(*value),
            Self::Count(_) => Some(added[0] as f64),
            Self::Rate { per, .. } => Some(added[0] as f64 / seconds / per),
            Self::Ratio { times, .. } => (added[1] > 0).then(|| times * (added[0] as f64 / added[1] as f64)),
            Self::Derived { value, .. } => value(&added, seconds),
        }
    }
    fn totals(&self) -> Vec<u64> {
        match self {
            Self::Level(_) => Vec::new(),
            Self::Count(total) | Self::Rate { total, .. } => vec![*total],
            Self::Ratio { part, whole, .. } => vec![*part, *whole],
            Self::Derived { totals, .. } => totals.clone(),
        }
    }
}

/// A metric and its reading.
pub struct ReportEntry {
    /// The metric.
    pub metric: Metric,
    /// Its reading.
    pub reading: Reading,
}

/// A condition of a component that affects its speed and has to be in balance during a run; two reports show whether it
/// was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A share, as two totals: hits of a cache over its look-ups.
    Share {
        /// The part.
        part: u64,
        /// The whole.
        whole: u64,
    },
    /// A reserve that only shrinks, and that affects nothing until it is used up: erased flash before garbage
    /// collection starts.
    Reserve {
        /// Amount left.
        left: u64,
    },
}

/// The report of a component at one time.
#[derive(Default)]
pub struct Report {
    /// The use of all its finite supplies. A supply that is held while another one is waited for comes after that one.
    pub supplies: Vec<(String, Supply)>,
    /// Its metrics.
    pub metrics: Vec<ReportEntry>,
    /// Number of cached pages by recent use: 0, 1, 2 to 3, 4 to 7, …; empty if the component caches no pages.
    pub temperatures: Vec<u64>,
    /// Conditions that have to be in balance for the component to be steady, by name (`write buffer`).
    pub states: Vec<(&'static str, State)>,
    /// Name of the device on whose behalf it reports, if that is not the component itself: the component that joins the
    /// paths to a drive reports for the drive.
    pub on_behalf_of: Option<String>,
}

impl Report {
    /// Adds the use of a finite supply so far.
    pub fn supply(&mut self, name: impl Into<String>, supply: Supply) {
        self.supplies.push((name.into(), supply));
    }
    /// Adds a present value.
    pub fn level(&mut self, metric: Metric, value: f64) {
        self.tell(metric, Reading::Level(value));
    }
    /// Adds a total as a count.
    pub fn count(&mut self, metric: Metric, total: u64) {
        self.tell(metric, Reading::Count(total));
    }
    /// Adds a total as a rate, in units of `per` a second.
    pub fn rate(&mut self, metric: Metric, total: u64, per: f64) {
        self.tell(metric, Reading::Rate { total, per });
    }
    /// Adds two totals as a ratio: `times` the first for each of the second.
    pub fn ratio(&mut self, metric: Metric, [part, whole]: [u64; 2], times: f64) {
        self.tell(metric, Reading::Ratio { part, whole, times });
    }
    /// Adds a function of the increases of some totals, and of the time over which they increased.
    pub fn derived(
        &mut self,
        metric: Metric,
        totals: &[u64],
        value: impl Fn(&[u64], f64) -> Option<f64> + 'static,
    ) {
        self.tell(metric, Reading::Derived { totals: totals.to_vec(), value: Box::new(value) });
    }
    /// Adds a condition that has to be in balance for the component to be steady.
    pub fn state(&mut self, name: &'static str, state: State) {
        self.states.push((name, state));
    }
    fn tell(&mut self, metric: Metric, reading: Reading) {
        debug_assert!(self.reading(&metric).is_none(), "{} is told twice", metric.name);
        self.metrics.push(ReportEntry { metric, reading });
    }
    /// The reading of a metric.
    #[must_use]
    pub fn reading(&self, metric: &Metric) -> Option<&Reading> {
        self.metrics.iter().find(|told| told.metric.name == metric.name).map(|told| &told.reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HITS: Metric = Metric::new("hits", "%", Better::Higher);

    fn report(hits: [u64; 2]) -> Report {
        let mut report = Report::default();
        report.ratio(HITS, hits, 100.0);
        report
    }

    #[test]
    fn a_ratio_is_of_what_was_added() {
        let (before, after) = (report([10, 100]), report([70, 200]));
        let since = |before| after.metrics[0].reading.since(before, Span::from_us(1));
        assert_eq!(since(before.reading(&HITS)), Some(60.0));
        assert_eq!(since(None), Some(35.0));
        assert_eq!(after.metrics[0].reading.since(after.reading(&HITS), Span::from_us(1)), None);
    }

    #[test]
    fn what_is_derived_is_derived_of_increases_and_seconds() {
        let power = Metric::new("power", "W", Better::Lower);
        let told = |nanojoules| {
            let mut report = Report::default();
            report.derived(power.clone(), &[nanojoules], |added, seconds| {
                Some(added[0] as f64 / 1e9 / seconds + 2.0)
            });
            report
        };
        let (before, after) = (told(1_000), told(4_000));
        let watts = after.metrics[0].reading.since(before.reading(&power), Span::from_us(1));
        assert_eq!(watts, Some(3e-6 / 1e-6 + 2.0));
    }

    #[test]
    fn levels_and_counts_are_what_they_are() {
        assert_eq!(Reading::Level(3.0).since(Some(&Reading::Level(2.0)), Span::from_us(1)), Some(3.0));
        assert_eq!(Reading::Count(7).since(Some(&Reading::Count(2)), Span::from_us(1)), Some(5.0));
    }
}
