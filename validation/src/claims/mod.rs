//! The claims.

pub mod cmm_h;
pub mod cxl_link;
pub mod dram_curves;
pub mod eye;
pub mod latency_vs_size;
pub mod link_ceilings;
pub mod link_stability;
pub mod section_i;
pub mod switch_forwarding;

pub use crate::declaration::Claim;
use crate::problem;
use lanetwin_document::Diagnostic;
use std::sync::LazyLock;

/// Every claim, in the order of their depth: a channel, a link alone, links of all kinds, switches, machines, media.
#[must_use]
pub fn claims() -> &'static [Claim] {
    static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
        vec![
            eye::CLAIM,
            link_stability::CLAIM,
            section_i::CLAIM,
            link_ceilings::CLAIM,
            switch_forwarding::CLAIM,
            Claim::shipped("pcie-bench"),
            Claim::shipped("idt-16t4g2"),
            cxl_link::CLAIM,
            Claim::shipped("mqsim-xv2"),
            Claim::shipped("steady-state"),
            Claim::shipped("h3-nvmeof"),
            Claim::shipped("nvmeof-points"),
            latency_vs_size::CLAIM,
            Claim::shipped("pm1743-retimer"),
            Claim::shipped("pm1743-random-write"),
            Claim::shipped("drives"),
            Claim::shipped("retimer-ab"),
            Claim::shipped("retimer-ab-pm1743"),
            dram_curves::CLAIM,
            cmm_h::CLAIM,
            Claim::shipped("cmm-h-apps"),
        ]
    });
    &CLAIMS
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
