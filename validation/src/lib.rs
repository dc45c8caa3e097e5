//! Published numbers, and the comparison of predictions with them.
//!
//! ```text
//!   published table ──► cells: input | calibrated | predicted ─┐
//!   simulation, from parts and scenarios alone ────────────────┼─► rows with errors ─► summary: is the bar met?
//!   closed form that anybody can evaluate: the baseline ───────┘
//! ```
//!
//! A [`Claim`] sets a published table beside what lanetwin says. Each of its rows has a [`Role`]: what went in, what
//! was fitted, what is predicted. Errors are averaged over predicted rows only; a claim with as many free parameters as
//! predicted rows is not called predicted. docs/validation.md explains how to read the table.
//!
//! Not here: the parameters of parts, fitted ones included (`parts/`); what a scenario means (the plan crate).
//!
//! ```
//! let report = lanetwin_validation::run(&["section-i"], &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
//! assert!(report.claims[0].met);
//! assert_eq!(lanetwin_validation::run(&["section-1"], &mut |_| unreachable!()).unwrap_err().code, "VA001");
//! ```

pub mod accuracy;
mod bare;
mod claim;
pub mod claims;
mod embedded;
mod experiment;
mod judge;
mod link;
mod problem;
mod report;
mod sensitivity;
mod shipped;
mod spec;
mod table;
mod watch;
mod weigh;
mod work_pool;

pub use claim::{Effect, FreeParameter, Role};
pub use claims::{Claim, claims};
pub use report::{Report, Row, SCHEMA, Summary};
pub use watch::Progress;

use lanetwin_document::Diagnostic;
use std::ops::ControlFlow;
use watch::Watch;

/// Runs the claims with these names, or all of them if there are none, the shortest first. `progress` is told how far
/// it is, and ends the run with what it has by breaking.
///
/// # Errors
/// VA001, naming every claim there is, if one of the names is none of them.
pub fn run(
    names: &[&str],
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Report, Box<Diagnostic>> {
    let chosen = if names.is_empty() {
        let mut all: Vec<&Claim> = claims().iter().collect();
        all.sort_by_key(|claim| claim.cpu_seconds);
        all
    } else {
        names.iter().map(|name| claims::find(name)).collect::<Result<Vec<_>, _>>()?
    };
    let mut report = Report::new();
    for claim in chosen {
        let mut watch = Watch::new(claim.name, progress);
        // one that was stopped late says what it knows
        if let Some(outcome) = claim.run(&mut watch) {
            report.add(claim, outcome);
        }
        if watch.is_stopped() {
            report.complete = false;
            break;
        }
    }
    Ok(report)
}
