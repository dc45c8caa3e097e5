//! What a claim is.

use crate::claim::Outcome;
use crate::spec::Spec;
use crate::watch::Watch;
use crate::{embedded, shipped};

/// A published table and what we say to it.
pub struct Claim {
    /// Its name.
    pub name: &'static str,
    /// What it claims, in a sentence.
    pub about: &'static str,
    /// What has to hold.
    pub bar: &'static str,
    /// What running it takes on one core, roughly, when nobody else wants the machine \[s\].
    pub cpu_seconds: u32,
    /// What is asked, and what was published.
    pub(crate) spec: &'static Spec,
}

impl Claim {
    /// The claim that `validation/claims/NAME.yaml` describes.
    ///
    /// # Panics
    /// If there is no such file, or it is not right.
    pub(crate) fn shipped(name: &'static str) -> Self {
        let text = embedded::text(embedded::CLAIMS, name);
        let spec: Spec = serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let spec: &'static Spec = Box::leak(Box::new(spec));
        let Spec { about, bar, cpu_seconds, .. } = spec;
        Self { name, about, bar, cpu_seconds: *cpu_seconds, spec }
    }
    /// Runs it; none if it was stopped.
    pub(crate) fn run(&self, watch: &mut Watch<'_>) -> Option<Outcome> {
        shipped::run(self.spec, watch)
    }
}
