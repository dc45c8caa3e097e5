//! Published numbers, and the comparison of predictions with them.
//!
//! ```text
//!   published table ──► cells: input | calibrated | predicted ─┐
//!   simulation, from parts and scenarios alone ────────────────┼─► rows with errors ─► summary: is the bar met?
//!   closed form, as the baseline ──────────────────────────────┘
//! ```
//!
//! A [`Claim`] compares a published table with the results of lanetwin. Each of its rows has a [`Role`]: the model was
//! given the number, was fitted to it, or predicts it. Errors are averaged over predicted rows only; a claim needs more
//! predicted rows than free parameters to be called a prediction. docs/validation.md explains how to read the table.
//!
//! Not here: the parameters of parts, including fitted ones (`parts/`); the meaning of a scenario (the plan crate).
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

/// Runs the claims with these names; without names, all claims, the shortest first. `progress` is called after each
/// step; if it breaks, the run ends, and the report has what is known by then.
///
/// # Errors
/// VA001, with the names of all claims, if one of the names is not a claim.
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
        // a claim that is stopped during its sensitivity analysis still has an outcome
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
