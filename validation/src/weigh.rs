//! Predictions of a claim's rows with changed numbers, for the sensitivity analysis; calibrated times are fitted again.
//!
//! A kind of run is one workload of one variant, or one case of it if a row is about one case. A calibrated time that
//! is itself moved is not fitted again.

use crate::claim::Role;
use crate::experiment;
use crate::sensitivity::{self, Asked, Effort, Kinds, Number, Predict};
use crate::spec::{By, Fit, Shipped, Spec, Tabled, Weighing};
use crate::table::Published;
use lanetwin_plan::Plan;
use lanetwin_stats::results::{Digest, Results};
use lanetwin_world::Options;

/// A kind of run: a workload of a variant of a scenario, or a case of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kind {
    table: usize,
    variant: &'static str,
    workload: &'static str,
    label: Option<&'static str>,
}

/// A setting, and the only variant that it applies to, if there is one.
type Setting = (Option<String>, String);

/// Predicts the rows of a claim that take part in its sensitivity analysis.
pub(crate) struct Predictor {
    spec: &'static Spec,
    weighing: &'static Weighing,
    tables: &'static [Shipped],
    kinds: Vec<Kind>,
    rows: Vec<&'static Published>,
    /// The row of each fit.
    fitted: Vec<&'static Published>,
    /// The values of these rows without changes, by effort.
    targets: [Vec<f64>; 2],
}

impl Predictor {
    pub(crate) fn new(spec: &'static Spec, weighing: &'static Weighing, tables: &'static [Shipped]) -> Self {
        let all = || tables.iter().flat_map(|table| &table.rows);
        let is_chosen = all().any(|row| !row.weighed.is_empty());
        let is_weighed =
            |row: &&Published| row.role == Role::Predicted && (!is_chosen || row.weighed == "yes");
        let rows: Vec<&Published> = all().filter(is_weighed).collect();
        let of_fit = |fit: &Fit| all().find(|row| row.case == fit.row).unwrap_or_else(|| panic!("{fit:?}"));
        let fitted: Vec<&Published> = weighing.fits.iter().map(of_fit).collect();
        let mut found =
            Self { spec, weighing, tables, kinds: Vec::new(), rows, fitted, targets: Default::default() };
        let of_rows = found.rows.iter().chain(&found.fitted).flat_map(|row| found.of(row));
        for kind in of_rows.collect::<Vec<_>>() {
            if !found.kinds.contains(&kind) {
                found.kinds.push(kind);
            }
        }
        found
    }

    /// Computes the targets of the fits: the values of their rows without changes.
    pub(crate) fn calibrate(&mut self) {
        let target = |effort, row: &&'static Published| {
            self.row(row, effort, &[], &mut self.none()).expect("what is as it is can be run")
        };
        self.targets = [Effort::Full, Effort::Long]
            .map(|effort| self.fitted.iter().map(|row| target(effort, row)).collect());
    }

    pub(crate) fn bars(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row.bar_pct.unwrap_or(self.weighing.bar_pct)).collect()
    }
    pub(crate) fn has(&self, row: &Published) -> bool {
        self.rows.iter().any(|weighed| std::ptr::eq(*weighed, row))
    }

    /// Every unconfirmed number of the first variant of the first scenario.
    pub(crate) fn numbers(&self) -> Vec<Number> {
        let Weighing { ranges, chosen, .. } = self.weighing;
        sensitivity::numbers(&self.tables[0].plan(), ranges, chosen)
    }

    /// The kinds of runs from which a row is computed.
    fn of(&self, row: &'static Published) -> Vec<Kind> {
        let is_there = |table: &Shipped| table.rows.iter().any(|other| std::ptr::eq(other, row));
        let table = self.tables.iter().position(is_there).expect("a row is of a table");
        let kind = |variant| Kind { table, variant, workload: &row.workload, label: row.only_case() };
        row.variants().map(kind).collect()
    }
    fn place(&self, kind: Kind) -> usize {
        self.kinds.iter().position(|other| *other == kind).expect("kinds are those of the rows")
    }
    fn none(&self) -> Vec<Option<Results>> {
        self.kinds.iter().map(|_| None).collect()
    }

    /// The plan of only one kind of run; `None` if the settings make no valid machine.
    fn plan(&self, kind: Kind, length: &[String], sets: &[Setting]) -> Option<Plan> {
        let Kind { table, variant, workload, label } = kind;
        let meant = sets.iter().filter(|(only, _)| only.as_deref().is_none_or(|only| only == variant));
        // settings of other workloads are left out, as the variant may not have these
        let own = format!("workloads.{workload}.");
        let length = length.iter().filter(|set| !set.starts_with("workloads.") || set.starts_with(&own));
        let all: Vec<String> = meant.map(|(_, set)| set).chain(length).cloned().collect();
        self.tables[table].of(variant, (workload, label), &all)
    }

    fn length(&self, kind: Kind, effort: Effort) -> &'static [String] {
        let Tabled { full, long, .. } = &self.spec.tables[kind.table];
        if effort == Effort::Full { full } else { long }
    }

    /// The value of a row. Runs are kept in `known` and not repeated. `None` if the settings make no valid machine.
    fn row(
        &self,
        row: &'static Published,
        effort: Effort,
        sets: &[Setting],
        known: &mut [Option<Results>],
    ) -> Option<f64> {
        let mut together: Option<Results> = None;
        for kind in self.of(row) {
            let place = self.place(kind);
            if known[place].is_none() {
                let plan = self.plan(kind, self.length(kind, effort), sets)?;
                known[place] = Some(experiment::results(&plan, &Options::default()));
            }
            let results = known[place].clone()?;
            match &mut together {
                Some(all) => all.rows.extend(results.rows),
                none => *none = Some(results),
            }
        }
        row.found(&together?).map(|found| found.value)
    }

    /// The settings, with the calibrated times fitted again; `None` if they make no valid machine.
    fn refitted(&self, sets: &[Setting], effort: Effort) -> Option<Vec<Setting>> {
        let mut all = sets.to_vec();
        for (at, (fit, row)) in self.weighing.fits.iter().zip(&self.fitted).enumerate() {
            let is_moved = |path: &String| sets.iter().any(|(_, set)| set.starts_with(&format!("{path}=")));
            if fit.set.iter().any(is_moved) {
                continue;
            }
            let (value, target) =
                (self.row(row, effort, &all, &mut self.none())?, self.targets[effort as usize][at]);
            if value != target {
                let plan = self.plan(self.of(row)[0], &[], &all)?;
                all.extend(
                    fit.set.iter().map(|path| (fit.only.clone(), fit.anew(&plan, path, value, target))),
                );
            }
        }
        Some(all)
    }
}

impl Fit {
    /// The setting of one time that brings its row from `value` back to `target`, with the other times of the fit.
    fn anew(&self, plan: &Plan, path: &str, value: f64, target: f64) -> String {
        let component = |component: &&lanetwin_plan::ComponentPlan| {
            path.strip_prefix("machine.")
                .is_some_and(|path| path.starts_with(&format!("{}.", component.name)))
        };
        let machine = plan.variants[0].machine.iter().filter(component);
        let component =
            machine.max_by_key(|component| component.name.len()).expect("a path into the machine");
        let name = &path["machine.".len() + component.name.len() + 1..];
        let ps = component.params.time(name).as_ps() as f64;
        let anew = match self.by {
            By::Difference => ps - (value - target) * 1e3 / self.set.len() as f64,
            By::Share => ps * value / target,
        };
        format!("{path}={}ps", anew.max(0.0).round() as u64)
    }
}

impl Predict for Predictor {
    fn kinds(&self) -> usize {
        self.kinds.len()
    }
    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest> {
        let kind = self.kinds[kind];
        let sets: Vec<Setting> = sets.iter().map(|set| (None, set.clone())).collect();
        let plan = self.plan(kind, &self.spec.tables[kind.table].trace, &sets)?;
        experiment::results(&plan, &Options::default()).digest
    }
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let given: Vec<Setting> = asked.sets.iter().map(|set| (None, set.clone())).collect();
        let is_touched = |row: &&'static Published, touched: Kinds| {
            self.of(row).into_iter().any(|kind| touched.has(self.place(kind)))
        };
        let fits = !asked.is_as_it_is() && self.fitted.iter().any(|row| is_touched(row, asked.touched));
        let sets = if fits { self.refitted(&given, asked.effort)? } else { given.clone() };
        let touched = if sets.len() > given.len() { Kinds::first(self.kinds.len()) } else { asked.touched };
        let mut known = self.none();
        let row = |(row, wanted): (&&'static Published, &bool)| {
            if !wanted || !is_touched(row, touched) {
                return Some(None);
            }
            self.row(row, asked.effort, &sets, &mut known).map(Some)
        };
        self.rows.iter().zip(asked.wanted).map(row).collect()
    }
}
