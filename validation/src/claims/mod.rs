//! The claims.

pub mod cmm_h;
pub mod cxl_link;
pub mod dram_curves;
pub mod eye;
pub mod idt_16t4g2;
pub mod latency_vs_size;
pub mod link_ceilings;
pub mod link_stability;
pub mod mqsim_xv2;
pub mod pcie_bench;
pub mod pm1743_retimer;
pub mod retimer_ab;
pub mod section_i;
pub mod steady_state;
pub mod switch_forwarding;

use crate::problem;
use crate::report::{Effect, FreeParameter, Role};
use crate::watch::Watch;
use lanetwin_document::Diagnostic;
use lanetwin_stats::results::Digest;

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
    /// Runs it; none if it was stopped.
    pub(crate) run: fn(&mut Watch<'_>) -> Option<Outcome>,
}

/// What a claim has found.
pub(crate) struct Outcome {
    pub(crate) cells: Vec<Cell>,
    pub(crate) free_parameters: Vec<FreeParameter>,
    /// Whether the bar is met, given that the claim predicts at all.
    pub(crate) met: bool,
    pub(crate) text: String,
    /// What moving an assumption does, where that was tried.
    pub(crate) effects: Vec<Effect>,
}

/// A row before its errors are known.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) case: String,
    pub(crate) quantity: String,
    pub(crate) unit: &'static str,
    pub(crate) published: f64,
    pub(crate) predicted: f64,
    /// The ends of the model's 95 % interval.
    pub(crate) interval: (f64, f64),
    pub(crate) role: Role,
    /// What the closed form says.
    pub(crate) baseline: Option<f64>,
    pub(crate) source: &'static str,
    pub(crate) digest: Digest,
}

/// Every claim, in the order of their depth: a channel, a link alone, links of all kinds, switches, machines, media.
#[must_use]
pub fn claims() -> &'static [Claim] {
    const CLAIMS: &[Claim] = &[
        eye::CLAIM,
        link_stability::CLAIM,
        section_i::CLAIM,
        link_ceilings::CLAIM,
        switch_forwarding::CLAIM,
        pcie_bench::CLAIM,
        idt_16t4g2::CLAIM,
        cxl_link::CLAIM,
        mqsim_xv2::CLAIM,
        steady_state::CLAIM,
        latency_vs_size::CLAIM,
        pm1743_retimer::CLAIM,
        pm1743_retimer::RANDOM_WRITES,
        retimer_ab::CLAIM,
        retimer_ab::ON_PM1743,
        dram_curves::CLAIM,
        cmm_h::CLAIM,
        cmm_h::APPS,
    ];
    CLAIMS
}

/// The claim with this name.
///
/// # Errors
/// VA001, naming every claim there is.
pub fn find(name: &str) -> Result<&'static Claim, Box<Diagnostic>> {
    let known: Vec<&str> = claims().iter().map(|claim| claim.name).collect();
    claims()
        .iter()
        .find(|claim| claim.name == name)
        .ok_or_else(|| Box::new(problem::unknown_claim(name, &known)))
}
