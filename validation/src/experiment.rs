//! Common functions of claims: running a plan, its free parameters, and rows of experiments without a plan.

use crate::claim::FreeParameter;
use lanetwin_kernel::mix;
use lanetwin_plan::{Catalogue, Plan};
use lanetwin_stats::results::{Digest, Kind, Results, Row};
use lanetwin_units::NumberKind;
use lanetwin_world::{self as world, Options, Progress, Watcher};
use std::sync::LazyLock;

/// The built-in parts. They are read only once, since a claim makes hundreds of plans, and reading all parts takes as
/// long as a short run.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::built_in);
    &CATALOGUE
}

/// Runs the plan of a claim.
///
/// # Panics
/// If one of its worlds panics.
pub(crate) fn results(plan: &Plan, options: &Options) -> Results {
    match world::run(plan, options, &Nobody) {
        Ok(results) => results,
        Err(crash) => panic!("the world of a claim breaks: {crash:?}"),
    }
}

/// The assumed and calibrated numbers of a plan.
pub(crate) fn free_parameters(plan: &Plan) -> impl Iterator<Item = FreeParameter> + use<> {
    plan.assumptions().into_iter().map(|assumption| FreeParameter {
        part: assumption.part,
        name: assumption.parameter,
        value: assumption.value,
        calibrated_to: (assumption.kind == NumberKind::Calibrated).then_some(assumption.note),
    })
}

/// A row of an experiment without a scenario: variant, workload, case, metric, unit.
pub(crate) fn row(names: [&str; 5], value: f64) -> Row {
    let [variant, workload, case, metric, unit] = names.map(Into::into);
    Row { variant, workload, case, metric, unit, value, n: 1, ..Row::default() }
}

/// Results with these rows.
pub(crate) fn of_rows(name: &str, rows: Vec<Row>) -> Results {
    let mut results = Results::new(Kind::Simulated, name, env!("CARGO_PKG_VERSION"));
    results.digest = Some(Digest(rows.iter().fold(0, |hash, row| mix(hash ^ row.value.to_bits()))));
    results.rows = rows;
    results
}

struct Nobody;
impl Watcher for Nobody {
    fn progress(&self, _: &Progress) {}
    fn is_cancelled(&self) -> bool {
        false
    }
}
