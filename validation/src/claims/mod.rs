//! The claims.

pub mod cmm_h;
pub mod cxl_link;
pub mod dram_curves;
pub mod drives;
pub mod eye;
pub mod h3_nvmeof;
pub mod idt_16t4g2;
pub mod latency_vs_size;
pub mod link_ceilings;
pub mod link_stability;
pub mod mqsim_xv2;
pub mod nvmeof_points;
pub mod pcie_bench;
pub mod pm1743_retimer;
pub mod retimer_ab;
pub mod section_i;
pub mod steady_state;
pub mod switch_forwarding;

pub use crate::claim::Claim;
use crate::problem;
use lanetwin_document::Diagnostic;

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
        h3_nvmeof::CLAIM,
        nvmeof_points::CLAIM,
        latency_vs_size::CLAIM,
        pm1743_retimer::CLAIM,
        pm1743_retimer::RANDOM_WRITES,
        drives::CLAIM,
        retimer_ab::CLAIM,
        retimer_ab::on_pm1743::CLAIM,
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
