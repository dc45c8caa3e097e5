//! How a claim is described that is a shipped scenario and a table: `validation/claims/NAME.yaml`.

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
    /// What has to hold, in a sentence.
    pub(crate) bar: String,
    /// What running it takes on one core, roughly \[s\].
    pub(crate) cpu_seconds: u32,
    /// Scenarios, each with its table.
    pub(crate) tables: Vec<Tabled>,
    /// What has to hold.
    pub(crate) judge: Vec<Judge>,
    /// Of channels, whose numbers are moved: changes of their description that are tried, too.
    #[serde(default)]
    pub(crate) moved: Vec<String>,
    /// Where values were published whose rows do not say so.
    #[serde(default)]
    pub(crate) source: String,
    /// What a reader has to know beside the figures.
    #[serde(default)]
    pub(crate) note: String,
    /// Numbers that count without being moved: each is fitted to a row, or decides it.
    #[serde(default)]
    pub(crate) counted: Vec<FreeParameter>,
    /// Numbers of its scenarios, each fitted to a row, that count beside those of the parts.
    #[serde(default)]
    pub(crate) fitted: Vec<FreeParameter>,
    /// Which numbers are moved, and how; without it and without such as count all that are assumed or calibrated do.
    #[serde(default)]
    pub(crate) sensitivity: Option<Weighing>,
}

/// A scenario and the table of what was published of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Tabled {
    /// Its path below `scenarios/`; that of a channel begins with `link/`.
    #[serde(default)]
    pub(crate) scenario: String,
    /// What is asked of it.
    #[serde(default)]
    pub(crate) ask: Ask,
    /// The name of its table among `validation/claims/*.csv`.
    pub(crate) rows: String,
    /// What makes a run short enough to see only whether a number acts at all.
    #[serde(default)]
    pub(crate) trace: Vec<String>,
    /// What makes it as long as most differences need to be told from chance.
    #[serde(default)]
    pub(crate) full: Vec<String>,
    /// And as long as a tenth of the bar needs.
    #[serde(default)]
    pub(crate) long: Vec<String>,
}

/// What is asked of a document.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum Ask {
    /// What `lanetwin run` shows of a scenario.
    #[default]
    Run,
    /// What `lanetwin link eye` shows of a channel.
    Eye,
    /// What `lanetwin link cycle` shows of its links.
    Cycle(Tests),
    /// Of bare links and no document: payload and framing as an application note reckons.
    ApplicationNote,
    /// The same, with DLLPs and SKP ordered sets.
    Ceilings,
    /// Packets through a bare switch.
    Forwarding,
}

/// Tests of links.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tests {
    /// As `lanetwin link cycle` calls them.
    pub(crate) names: Vec<String>,
    /// Cycles of each, of power a tenth.
    pub(crate) count: u64,
}

/// How numbers are moved.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Weighing {
    /// The bar of rows that have none \[%\].
    pub(crate) bar_pct: f64,
    #[serde(default)]
    pub(crate) ranges: Vec<Range>,
    /// What the scenario sets, and nobody confirms all the same.
    #[serde(default)]
    pub(crate) chosen: Vec<Chosen>,
    /// What is calibrated anew when a number has been moved, in this order.
    #[serde(default)]
    pub(crate) fits: Vec<Fit>,
}

/// Where a number of a part may lie, when half and double are not what is meant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    pub(crate) part: String,
    pub(crate) name: String,
    /// Settings of the component, with a comma between if one alone makes no machine.
    pub(crate) ends: [String; 2],
    /// Why no farther.
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

/// A number that is calibrated to a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Fit {
    /// The paths of times that share what is to be changed.
    pub(crate) set: Vec<String>,
    /// The case of the row.
    pub(crate) row: String,
    /// How it follows from what the row has moved by.
    pub(crate) by: By,
    /// The variant that has it, if others have their own.
    #[serde(default)]
    pub(crate) only: Option<String>,
}

/// How a time follows from what the row that it is calibrated to has moved by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    /// The row is a time, too: what it has moved by is taken off.
    Difference,
    /// The row is a rate: the time is longer by as much as the rate is too high.
    Share,
}

/// A scenario of a claim with its table.
#[derive(Debug)]
pub(crate) struct Shipped {
    pub(crate) scenario: &'static str,
    pub(crate) ask: &'static Ask,
    pub(crate) rows: Vec<Published>,
    /// The variants that can be left out of a plan: all but the one that others are compared with.
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
    /// The plan of nothing but one workload of one variant, or one case of it, with changes; none if they make no
    /// machine.
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
    /// The plan as everybody runs it.
    ///
    /// # Panics
    /// If the scenario has a mistake.
    pub(crate) fn plan(&self) -> Plan {
        let text = embedded::scenario(self.scenario);
        let checked = check_with(Path::new(self.scenario), text, &[], catalogue(), &embedded::files());
        let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        checked.plan.unwrap_or_else(|| panic!("a shipped scenario is right:\n{found}"))
    }
}
