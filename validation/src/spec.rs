//! The description of a claim, `validation/claims/NAME.yaml`: its scenarios, their tables, and its conditions.

use crate::claim::FreeParameter;
use crate::embedded::{self, TABLES};
use crate::experiment::catalogue;
use crate::judge::Judge;
use crate::table::{self, Published};
use lanetwin_plan::{Plan, check_with};
use serde::Deserialize;
use std::path::Path;
use std::sync::OnceLock;

/// The description of a claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Spec {
    /// What it claims, in a sentence.
    pub(crate) about: String,
    /// The bar that has to be met, in a sentence.
    pub(crate) bar: String,
    /// Approximate time on one core \[s\].
    pub(crate) cpu_seconds: u32,
    /// Scenarios, each with its table.
    pub(crate) tables: Vec<Tabled>,
    /// The conditions that have to be met.
    pub(crate) judge: Vec<Judge>,
    /// For claims about eyes: changes of the channel's description that are tried like those of numbers.
    #[serde(default)]
    pub(crate) moved: Vec<String>,
    /// The source of published values for rows that name none.
    #[serde(default)]
    pub(crate) source: String,
    /// A note for readers of the figures.
    #[serde(default)]
    pub(crate) note: String,
    /// Numbers that count without being moved, since each is fitted to a row or decides it. If there are any, they
    /// replace the assumed and calibrated numbers of the plans.
    #[serde(default)]
    pub(crate) counted: Vec<FreeParameter>,
    /// Numbers of its scenarios, each fitted to a row, that count in addition.
    #[serde(default)]
    pub(crate) fitted: Vec<FreeParameter>,
    /// The settings of the sensitivity analysis. Without it, all assumed or calibrated numbers count, or those in
    /// `counted`.
    #[serde(default)]
    pub(crate) sensitivity: Option<Weighing>,
}

/// A scenario and the table of its published values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Tabled {
    /// Its path below `scenarios/`; that of a channel begins with `link/`.
    #[serde(default)]
    pub(crate) scenario: String,
    /// The command whose results are compared.
    #[serde(default)]
    pub(crate) ask: Ask,
    /// The name of its table among `validation/claims/*.csv`.
    pub(crate) rows: String,
    /// Settings for a run that is just long enough to show whether a number changes any event.
    #[serde(default)]
    pub(crate) trace: Vec<String>,
    /// Settings for a run that distinguishes most differences from chance.
    #[serde(default)]
    pub(crate) full: Vec<String>,
    /// Settings for a run that distinguishes a tenth of the bar from chance.
    #[serde(default)]
    pub(crate) long: Vec<String>,
}

/// The source of a claim's results.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum Ask {
    /// `lanetwin run` on a scenario.
    #[default]
    Run,
    /// `lanetwin link eye` on a channel.
    Eye,
    /// `lanetwin link cycle` on a channel.
    Cycle(Tests),
    /// Links without hosts and devices, and without a document: payload throughput as in an application note.
    ApplicationNote,
    /// Such links of every generation and width, with DLLPs and SKP ordered sets.
    Ceilings,
    /// Packets through a switch without hosts and devices.
    Forwarding,
}

/// Tests of links.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tests {
    /// Their names in `lanetwin link cycle`.
    pub(crate) names: Vec<String>,
    /// Cycles of each test; a tenth for power cycles.
    pub(crate) count: u64,
}

/// The settings of a sensitivity analysis.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Weighing {
    /// The bar of rows without one \[%\].
    pub(crate) bar_pct: f64,
    #[serde(default)]
    pub(crate) ranges: Vec<Range>,
    /// Numbers that the scenario sets without confirmation.
    #[serde(default)]
    pub(crate) chosen: Vec<Chosen>,
    /// Recalibrations after a number has been moved, in this order.
    #[serde(default)]
    pub(crate) fits: Vec<Fit>,
}

/// The range of a number of a part, if it is not the general one (half and double).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    pub(crate) part: String,
    pub(crate) name: String,
    /// The settings of its component at each end; several, separated by commas, if one alone makes no valid machine.
    pub(crate) ends: [String; 2],
    /// Why the range is not wider.
    #[allow(dead_code, reason = "readers of the claim find it there; a test asks that it is given")]
    pub(crate) reason: String,
}

/// A number of a component that the scenario sets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Chosen {
    pub(crate) component: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) calibrated_to: Option<String>,
}

/// A time that is calibrated to a row, and is recalibrated when another number is moved.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Fit {
    /// The paths of the times that are changed together.
    pub(crate) set: Vec<String>,
    /// The case of the row.
    pub(crate) row: String,
    /// How it follows from the change of the row.
    pub(crate) by: By,
    /// The only variant whose time is changed, if other variants have their own.
    #[serde(default)]
    pub(crate) only: Option<String>,
}

/// How a time is recalibrated from the change of its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    /// The row is a time, too: its change is subtracted from the time.
    Difference,
    /// The row is a rate: the time is multiplied by the rate divided by its target.
    Share,
}

/// A scenario of a claim with its table.
#[derive(Debug)]
pub(crate) struct Shipped {
    pub(crate) scenario: &'static str,
    pub(crate) ask: &'static Ask,
    pub(crate) rows: Vec<Published>,
    /// The variants that can be left out of a plan: all but the baseline. Filled in at first use.
    variants: OnceLock<Vec<String>>,
}

impl Tabled {
    pub(crate) fn shipped(&'static self) -> Shipped {
        Shipped {
            scenario: &self.scenario,
            ask: &self.ask,
            rows: table::published(embedded::text(TABLES, &self.rows)),
            variants: OnceLock::new(),
        }
    }
}

impl Shipped {
    /// The plan of only one workload of one variant, or of only one case of it, with the changes `sets`; `None` if they
    /// make no valid machine.
    pub(crate) fn of(
        &self,
        variant: &str,
        (workload, label): (&str, Option<&str>),
        sets: &[String],
    ) -> Option<Plan> {
        let others = self.variants.get_or_init(|| self.others()).iter().filter(|other| *other != variant);
        let without = others.map(|other| format!("variants.{other}=null"));
        let sets: Vec<String> = without.chain(sets.iter().cloned()).collect();
        let text = embedded::scenario(self.scenario);
        let mut plan =
            check_with(Path::new(self.scenario), text, &sets, catalogue(), &embedded::files()).plan?;
        plan.variants.retain(|one| one.name == variant);
        plan.variants[0].workloads.retain(|one| one.name == workload);
        let cases = plan.variants[0].workloads.iter_mut().map(|one| &mut one.cases);
        cases.for_each(|cases| cases.retain(|case| label.is_none_or(|label| case.label == label)));
        plan.compare.baseline = 0;
        Some(plan)
    }
    fn others(&self) -> Vec<String> {
        let plan = self.plan();
        let is_other = |place: &usize| *place != plan.compare.baseline;
        (0..plan.variants.len()).filter(is_other).map(|place| plan.variants[place].name.clone()).collect()
    }
    /// The plan as users run it.
    ///
    /// # Panics
    /// If the scenario has errors.
    pub(crate) fn plan(&self) -> Plan {
        let text = embedded::scenario(self.scenario);
        let checked = check_with(Path::new(self.scenario), text, &[], catalogue(), &embedded::files());
        let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        checked.plan.unwrap_or_else(|| panic!("a shipped scenario is right:\n{found}"))
    }
}
