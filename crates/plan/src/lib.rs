//! From what a user writes to what is simulated: the document, checked, becomes a complete [`Plan`].
//!
//! ```text
//!  scenario.yaml ─┐
//!  parts/*.yaml  ─┼─ check ─► Plan: machine, links, workloads of every variant; every default filled in
//!  --set a.b=c   ─┘      └──► Diagnostics: all of them, with code, place and remedy
//! ```
//!
//! The language's words are declared once, in the `language` module, a component's parameters by its model, and what a
//! workload asks for by its kind (the `kinds` module: one file, one kind); checking, defaults and the [JSON
//! Schema](schema) all come from there. Parts are data ([`Catalogue`]). The closed forms that a simulation is held
//! against are in [`calc`].
//!
//! Not here: how a text becomes a tree (the document crate), any device (the models crate), any protocol rule (the
//! protocol crates), the numbers of real parts (`parts/`), and what happens when a plan is run (the world crate).
//!
//! ```
//! let found = lanetwin_plan::check_text("about: Nothing yet.\nmachine: {}\nworkloads: {}\n");
//! assert_eq!(found.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), ["SC034"]);
//! ```

pub mod assumptions;
pub mod calc;
mod cases;
mod catalogue;
mod embedded;
mod files;
pub mod hierarchy;
mod kind;
mod kinds;
mod language;
mod plan;
mod problem;
mod resolve;
mod schema;
pub mod search;
pub mod sweep;
mod templates;
mod values;
mod words;

pub use catalogue::{Assembly, Catalogue, Grade, Identity, Ids, Number, Part};
pub use files::Files;
pub use plan::{
    Absence, ActionPlan, AllowedCores, Arrivals, AssociationPlan, Axis, BlockCase, Blocks, Budget, CablePlan,
    Cache, Case, ChannelPlan, Compare, ComponentPlan, ConnectionPlan, CxlLinkPlan, CxlRole, Decoding, Demand,
    DeviceCache, Digests, DmaCase, DmaOperation, Down, Driven, End, FioCase, FioJob, HintsCase, IometerCase,
    IometerFile, IometerWorker, Join, KernelCase, LeftOut, LinkPlan, Load, MemoryCase, MemoryNode,
    MemoryProgram, Network, Offered, Pair, Pattern, PeerPath, Peers, Plan, PortOffer, PortPlan, Programs,
    ProgramsPlan, PtsPlan, RecordedCase, RemotePlan, Run, RunLength, SteadyRule, SubsystemPlan, Thread,
    Timing, Tracked, TrafficCase, TransportPlan, Until, Variant, Via, WarmUp, Wires, WorkloadPlan,
};
pub use resolve::Checked;
pub use schema::{link_schema, schema};
pub use templates::{Template, template, templates};

use lanetwin_document::problem::Reports;
use lanetwin_document::{Diagnostic, unreadable};
use lanetwin_textfile::{Limit, read_text};
use std::path::Path;

/// Checks the text of a scenario against the parts that come with the program: everything that is wrong with it.
///
/// Total: any text is answered, none panics.
#[must_use]
pub fn check_text(text: &str) -> Vec<Diagnostic> {
    check(Path::new("scenario.yaml"), text, &[], &Catalogue::built_in()).diagnostics
}

/// Checks the text of a scenario as if it had been read from `path`, with the parts of `catalogue` and the changes
/// `sets`, each `path=value`. No file is read: see [`check_with`].
#[must_use]
pub fn check(path: &Path, text: &str, sets: &[String], catalogue: &Catalogue) -> Checked {
    check_with(path, text, sets, catalogue, &Files::none())
}

/// As [`check`], with the files that the scenario names.
#[must_use]
pub fn check_with(path: &Path, text: &str, sets: &[String], catalogue: &Catalogue, files: &Files) -> Checked {
    let scenario = resolve::Text { path: &path.display().to_string(), text, sets, files };
    resolve::check(&scenario, catalogue, Vec::new(), Reports::default())
}

/// Reads and checks the scenario at `path`, with the files that it names, the parts beside it and those of
/// `LANETWIN_PARTS`.
///
/// # Errors
/// Everything that is wrong, if anything is; warnings alone are not an error (they are in [`Plan::warnings`]).
pub fn check_path(path: &Path, sets: &[String]) -> Result<Plan, Vec<Diagnostic>> {
    check_path_with(path, sets, &Files::beside(path))
}

/// As [`check_path`], with these files, such as [`Files::beside`] the scenario [`Files::anywhere`].
///
/// # Errors
/// As [`check_path`].
pub fn check_path_with(path: &Path, sets: &[String], files: &Files) -> Result<Plan, Vec<Diagnostic>> {
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let text = match read_text(path, Limit::Document) {
        Ok(text) => text,
        Err(error) => return Err(unreadable(path, &error.to_string())),
    };
    let catalogue = Catalogue::read(Some(path), &mut sources, &mut reports);
    let scenario = resolve::Text { path: &path.display().to_string(), text: &text, sets, files };
    let checked = resolve::check(&scenario, &catalogue, sources, reports);
    checked.plan.ok_or(checked.diagnostics)
}
