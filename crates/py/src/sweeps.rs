//! Functions for sweeps and searches: the design of a sweep, the plan of a point, the goals of a search, and the
//! analysis of points.
//!
//! Not here: when and where points are run, and where results are kept (Python).

use crate::core_api::{Answer, json, parse, plan_of, refused};
use lanetwin_plan::search::{self, search};
use lanetwin_plan::sweep::{Asked, design};
use lanetwin_stats::sweep::{Column, cheapest, effect, pareto};
use serde::Deserialize;
use std::path::Path;

/// The design of a sweep of the scenario at `path`: `{"axes": […], "groups": […], "points": […], "sampled": …,
/// "cheapest": …}`.
///
/// `asked`: `{"sets": […], "vary": […], "zip": […], "sample": n | null, "search": …}`.
pub fn sweep_design(path: &str, asked: &str) -> Answer {
    let asked: Asked = parse(asked, "what is swept")?;
    match design(Path::new(path), &asked) {
        Ok(design) => json(&design),
        Err(diagnostics) => Err(refused(&diagnostics)),
    }
}

/// The goals of a search in the scenario at `path`: `{"objectives": […], "limits": […], "trials": …, "seed": …,
/// "prices": {…}}`.
///
/// `asked`: `{"sets": […], "maximize": […], "minimize": […], "require": […], "trials": n | null, "seed": n | null}`.
pub fn search_goals(path: &str, asked: &str) -> Answer {
    let asked: search::Asked = parse(asked, "what is searched for")?;
    match search(Path::new(path), &asked) {
        Ok(search) => json(&search),
        Err(diagnostics) => Err(refused(&diagnostics)),
    }
}

/// The points of a sweep, and the analysis that is requested of them.
#[derive(Deserialize)]
struct Analysed {
    /// The metrics, with their values at each point.
    columns: Vec<Column>,
    /// For each axis, the position of its value at each point.
    factors: Vec<Vec<u32>>,
    /// The metrics of the Pareto front; costs are added to them if there are any.
    objectives: Vec<usize>,
    /// The cost of each point.
    costs: Vec<Option<f64>>,
    /// The metrics that have to reach a share of their best value.
    required: Vec<usize>,
    /// That share.
    at_least: f64,
}

/// The analysis of the points of a sweep: `{"front": […], "choice": {…}, "effects": [[… | null, …], …]}`, with the
/// effect of each axis on each metric.
pub fn sweep_analysis(text: &str) -> Answer {
    let asked: Analysed = parse(text, "the points of the sweep")?;
    let pick = |places: &[usize]| -> Vec<Column> {
        places.iter().filter_map(|place| asked.columns.get(*place).cloned()).collect()
    };
    let mut objectives = pick(&asked.objectives);
    if asked.costs.iter().any(Option::is_some) {
        objectives.push(Column::of_costs(asked.costs.clone()));
    }
    let effects: Vec<Vec<_>> = asked
        .factors
        .iter()
        .map(|levels| asked.columns.iter().map(|column| effect(levels, &column.values)).collect())
        .collect();
    let choice = cheapest(&pick(&asked.required), &asked.costs, asked.at_least);
    json(&serde_json::json!({ "front": pareto(&objectives), "choice": choice, "effects": effects }))
}

/// The complete plan of the scenario at `path` with the changes `sets`: everything on which a result depends, besides
/// the seed and the program.
pub fn planned(path: &str, sets: &[String], outside: bool) -> Answer {
    let plan = plan_of(path, sets, outside).map_err(|d| refused(&d))?;
    json(&plan.document())
}
