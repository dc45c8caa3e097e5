//! Collects all mistakes in a configuration, not just the first.

/// A mistake in a configuration.
pub(crate) trait Mistake {
    /// From the field, as a path, the problem and the remedy.
    fn new(field: &'static str, problem: String, remedy: String) -> Self;
}

/// Collects mistakes.
pub(crate) struct Mistakes<T>(pub(crate) Vec<T>);

impl<T: Mistake> Mistakes<T> {
    /// No mistakes so far.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }
    /// Adds a mistake unless `good`.
    pub(crate) fn unless(
        &mut self,
        good: bool,
        field: &'static str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if !good {
            self.0.push(T::new(field, problem.into(), remedy.into()));
        }
    }
    /// Adds a mistake unless the value is from `low` to `high`.
    pub(crate) fn within(&mut self, field: &'static str, value: u64, low: u64, high: u64) {
        let good = (low..=high).contains(&value);
        self.unless(good, field, format!("{value} is out of range"), format!("{low} to {high}"));
    }
    /// Adds a mistake unless the value is from 0 to 1.
    pub(crate) fn share(&mut self, field: &'static str, share: f64) {
        self.unless((0.0..=1.0).contains(&share), field, format!("{share} is no share"), "0 to 1");
    }
}
