//! Collecting every mistake in a configuration, not just the first.

/// A mistake in a configuration.
pub(crate) trait Mistake {
    /// In which field, as a path; what is wrong with it; what to do.
    fn new(field: &'static str, problem: String, remedy: String) -> Self;
}

/// Collects mistakes.
pub(crate) struct Mistakes<T>(pub(crate) Vec<T>);

impl<T: Mistake> Mistakes<T> {
    /// None so far.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }
    /// One more, unless all is `good`.
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
    /// One more, unless the value is from `low` to `high`.
    pub(crate) fn within(&mut self, field: &'static str, value: u64, low: u64, high: u64) {
        let good = (low..=high).contains(&value);
        self.unless(good, field, format!("{value} is out of range"), format!("{low} to {high}"));
    }
    /// One more, unless the value is a share.
    pub(crate) fn share(&mut self, field: &'static str, share: f64) {
        self.unless((0.0..=1.0).contains(&share), field, format!("{share} is no share"), "0 to 1");
    }
}
