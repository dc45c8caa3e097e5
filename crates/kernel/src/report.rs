//! What components say of themselves: what they have used of their finite supplies, what they have counted, how things
//! stand.
//!
//! A component tells totals since the start of the run. Who reads takes two reports, and has of each metric what came
//! of it in between: [`Reading::since`].
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

/// What has been used so far of something of which a component has only so many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supply {
    /// The integral over time, from the start of the run, of how many were in use \[number · ps\].
    pub in_use_ps: u128,
    /// How many there are; at least one.
    pub supply: u64,
    /// What their being in use means.
    pub kind: SupplyKind,
}

/// What it means that something is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SupplyKind {
    /// It works: for a time that is its own, whatever others do. Engines, cores, walkers.
    Server,
    /// It is held while others work, and so is in use the longer the slower they are. Tags, places in a queue.
    Held {
        /// The integral over time of how many waited for one \[number · ps\].
        waiting_ps: u128,
    },
}

/// A metric of a component, declared where it is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Its name (`row hits`), unique among those of the component.
    pub name: Cow<'static, str>,
    /// Its unit (`MB/s`); empty for a number.
    pub unit: &'static str,
    /// Which way is the good one.
    pub better: Better,
    /// The group of metrics that it belongs to, of those that are worth telling only where one of the group was
    /// something else than zero in some repeat.
    pub group: Option<&'static str>,
    /// Whether it is there for whoever asks for it by name, and is no row of its own.
    pub is_aside: bool,
}

impl Metric {
    /// A metric that is always told.
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str, better: Better) -> Self {
        Self { name: Cow::Borrowed(name), unit, better, group: None, is_aside: false }
    }
    /// The same, told only where a metric of this group was something else than zero in some repeat. Where nothing is
    /// said of it, it was zero.
    #[must_use]
    pub const fn if_any(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }
    /// The same, told to those alone who ask for it by name.
    #[must_use]
    pub const fn aside(mut self) -> Self {
        self.is_aside = true;
        self
    }
}

/// What comes of the increases of some totals in a time \[s\]; none if nothing can be said.
pub type Derivation = Box<dyn Fn(&[u64], f64) -> Option<f64>>;

/// How a metric stands. Totals are since the start of the run, and never decrease.
pub enum Reading {
    /// A value at the time of the report.
    Level(f64),
    /// A total: what counts is how much was added.
    Count(u64),
    /// A total: what counts is how much was added in a second, in units of `per`.
    Rate {
        /// The total.
        total: u64,
        /// How much of it is one unit of the metric.
        per: f64,
    },
    /// Two totals: what counts is `times` what was added to one for each that was added to the other; nothing, if none
    /// was.
    Ratio {
        /// The one.
        part: u64,
        /// The other.
        whole: u64,
        /// The factor: 100 for percents.
        times: f64,
    },
    /// Something else that comes of totals.
    Derived {
        /// The totals.
        totals: Vec<u64>,
        /// What comes of what was added to them.
        value: Derivation,
    },
}

impl Reading {
    /// The value of the metric in the time between an earlier report and this one; what was not told then was zero.
    /// None if nothing can be said of that time.
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

/// A metric, how it stands, and of what, if that is not the component itself.
pub struct ReportEntry {
    /// The metric.
    pub metric: Metric,
    /// How it stands.
    pub reading: Reading,
}

/// Something in a component that decides how fast it is, and that a run has to leave in balance: of two reports who
/// reads learns whether it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A part of a whole, both totals: the hits of a cache, of its look-ups.
    Share {
        /// The part.
        part: u64,
        /// The whole.
        whole: u64,
    },
    /// Something that is only used up, and that nothing depends on as long as there is some: erased flash before there
    /// is garbage collection.
    Reserve {
        /// How much is left.
        left: u64,
    },
}

/// What a component says of itself at one time.
#[derive(Default)]
pub struct Report {
    /// What was used of everything that it has a finite supply of. What is held while another supply is waited for
    /// comes after that one.
    pub supplies: Vec<(String, Supply)>,
    /// Its metrics.
    pub metrics: Vec<ReportEntry>,
    /// How many of its cached pages have been used how often of late: 0, 1, 2 to 3, 4 to 7, …; empty if it caches none.
    pub temperatures: Vec<u64>,
    /// What has to be in balance for the component to be steady, by its name (`write buffer`).
    pub states: Vec<(&'static str, State)>,
    /// What the metrics are told of, if not of the component itself: what joins the paths to a drive tells of the
    /// drive.
    pub on_behalf_of: Option<String>,
}

impl Report {
    /// What was used so far of something that there are only so many of.
    pub fn supply(&mut self, name: impl Into<String>, supply: Supply) {
        self.supplies.push((name.into(), supply));
    }
    /// A value as it is now.
    pub fn level(&mut self, metric: Metric, value: f64) {
        self.tell(metric, Reading::Level(value));
    }
    /// How often something has happened so far.
    pub fn count(&mut self, metric: Metric, total: u64) {
        self.tell(metric, Reading::Count(total));
    }
    /// How much there was of something so far: told as a rate, in so many a second.
    pub fn rate(&mut self, metric: Metric, total: u64, per: f64) {
        self.tell(metric, Reading::Rate { total, per });
    }
    /// How much there was so far of one thing (first) and another: told as `times` the first for each of the other.
    pub fn ratio(&mut self, metric: Metric, [part, whole]: [u64; 2], times: f64) {
        self.tell(metric, Reading::Ratio { part, whole, times });
    }
    /// What is to be computed of what was added to some totals, and of the time in which it was.
    pub fn derived(
        &mut self,
        metric: Metric,
        totals: &[u64],
        value: impl Fn(&[u64], f64) -> Option<f64> + 'static,
    ) {
        self.tell(metric, Reading::Derived { totals: totals.to_vec(), value: Box::new(value) });
    }
    /// How something stands that has to be in balance for the component to be steady.
    pub fn state(&mut self, name: &'static str, state: State) {
        self.states.push((name, state));
    }
    fn tell(&mut self, metric: Metric, reading: Reading) {
        debug_assert!(self.reading(&metric).is_none(), "{} is told twice", metric.name);
        self.metrics.push(ReportEntry { metric, reading });
    }
    /// How a metric stands.
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
