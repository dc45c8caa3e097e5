//! Sweeps and searches at the door: what one goes through, what a point of it is, what it looks for, and what its
//! points say together.
//!
//! Not here: which point is run when and where, and where results are kept (Python).

use crate::core_api::{Answer, json, parse, plan_of, refused};
use lanetwin_plan::search::{self, search};
use lanetwin_plan::sweep::{Asked, design};
use lanetwin_stats::sweep::{Column, cheapest, effect, pareto};
use serde::Deserialize;
use std::path::Path;

/// What the scenario at `path` sweeps: `{"axes": […], "groups": […], "points": […], "sampled": …, "cheapest": …}`.
///
/// `asked`: `{"sets": […], "vary": […], "zip": […], "sample": n | null, "search": …}`.
pub fn sweep_design(path: &str, asked: &str) -> Answer {
    let asked: Asked = parse(asked, "what is swept")?;
    match design(Path::new(path), &asked) {
        Ok(design) => json(&design),
        Err(diagnostics) => Err(refused(&diagnostics)),
    }
}

/// What a search of the scenario at `path` looks for: `{"objectives": […], "limits": […], "trials": …, "seed": …,
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

/// What is asked of the points of a sweep.
#[derive(Deserialize)]
struct Analysed {
    /// The metrics.
    columns: Vec<Column>,
    /// The place of the value of each axis, at each point.
    factors: Vec<Vec<u32>>,
    /// Which metrics a point of the Pareto front is judged by; a cost counts as one if there is one.
    objectives: Vec<usize>,
    /// What each point costs.
    costs: Vec<Option<f64>>,
    /// Which metrics have to reach a share of their best.
    required: Vec<usize>,
    /// That share.
    at_least: f64,
}

/// What the points of a sweep say together: `{"front": […], "choice": {…}, "effects": [[… | null, …], …]}`, with the
/// effects of each factor on each column.
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

/// The complete plan of the scenario at `path` with the changes `sets`: what a result depends on, beside the seed and
/// the program.
pub fn planned(path: &str, sets: &[String], outside: bool) -> Answer {
    let plan = plan_of(path, sets, outside).map_err(|d| refused(&d))?;
    json(&plan.document())
}
