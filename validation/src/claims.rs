//! The claims.

use crate::claim::Outcome;
use crate::spec::Spec;
use crate::watch::Watch;
use crate::{embedded, problem, shipped};
use lanetwin_document::Diagnostic;
use std::sync::LazyLock;

/// A published table and its comparison with predictions.
pub struct Claim {
    /// Its name.
    pub name: &'static str,
    /// What it claims, in a sentence.
    pub about: &'static str,
    /// The bar that has to be met.
    pub bar: &'static str,
    /// Approximate time on one core of an idle machine \[s\].
    pub cpu_seconds: u32,
    /// The experiment and the published values.
    pub(crate) spec: &'static Spec,
}

impl Claim {
    /// The claim that `validation/claims/NAME.yaml` describes.
    ///
    /// # Panics
    /// If there is no such file, or it has errors.
    pub(crate) fn shipped(name: &'static str) -> Self {
        let text = embedded::text(embedded::CLAIMS, name);
        let spec: Spec = serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let spec: &'static Spec = Box::leak(Box::new(spec));
        let Spec { about, bar, cpu_seconds, .. } = spec;
        Self { name, about, bar, cpu_seconds: *cpu_seconds, spec }
    }
    /// Runs the claim; `None` if it was stopped.
    pub(crate) fn run(&self, watch: &mut Watch<'_>) -> Option<Outcome> {
        shipped::run(self.spec, watch)
    }
}

/// The names of the claims, from simple to complex: a channel, single links, switches, machines, media.
const NAMES: [&str; 21] = [
    "eye",
    "link-stability",
    "section-i",
    "link-ceilings",
    "switch-forwarding",
    "pcie-bench",
    "idt-16t4g2",
    "cxl-link",
    "mqsim-xv2",
    "steady-state",
    "h3-nvmeof",
    "nvmeof-points",
    "latency-vs-size",
    "pm1743-retimer",
    "pm1743-random-write",
    "drives",
    "retimer-ab",
    "retimer-ab-pm1743",
    "dram-curves",
    "cmm-h",
    "cmm-h-apps",
];

/// Every claim.
#[must_use]
pub fn claims() -> &'static [Claim] {
    static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| NAMES.map(Claim::shipped).into());
    &CLAIMS
}

/// The claim with this name.
///
/// # Errors
/// VA001, with the names of all claims.
pub fn find(name: &str) -> Result<&'static Claim, Box<Diagnostic>> {
    let found = claims().iter().find(|claim| claim.name == name);
    found.ok_or_else(|| Box::new(problem::unknown_claim(name, &NAMES)))
}
