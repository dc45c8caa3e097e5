//! The claims.

pub use crate::declaration::Claim;
use crate::problem;
use lanetwin_document::Diagnostic;
use std::sync::LazyLock;

/// Their names, in the order of their depth: a channel, a link alone, links of all kinds, switches, machines, media.
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
/// VA001, naming every claim there is.
pub fn find(name: &str) -> Result<&'static Claim, Box<Diagnostic>> {
    let found = claims().iter().find(|claim| claim.name == name);
    found.ok_or_else(|| Box::new(problem::unknown_claim(name, &NAMES)))
}
