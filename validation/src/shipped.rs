//! Runs a claim that consists of a built-in document and a table of published values. `lanetwin run` on the scenario,
//! or `lanetwin link` on the channel, shows the same numbers, to the last digit.

use crate::claim::{FreeParameter, Outcome, Role};
use crate::experiment::{free_parameters, results};
use crate::spec::{Ask, Shipped, Spec, Tabled};
use crate::table::{self, Compared};
use crate::watch::Watch;
use crate::weigh::Predictor;
use crate::{bare, link, sensitivity};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;
use std::collections::BTreeSet;

/// Runs the claim; `None` if it was stopped.
pub(crate) fn run(spec: &'static Spec, watch: &mut Watch<'_>) -> Option<Outcome> {
    let tables: &'static [Shipped] = spec.tables.iter().map(Tabled::shipped).collect::<Vec<_>>().leak();
    let predictor = spec.sensitivity.as_ref().map(|weighing| Predictor::new(spec, weighing, tables));
    let numbers = predictor.as_ref().map(Predictor::numbers);
    let is_eye = spec.tables.iter().any(|table| table.ask == Ask::Eye);
    let moves = if is_eye { link::moves(&spec.moved) } else { 0 };
    let analysis = numbers.as_ref().map_or(0, |numbers| sensitivity::steps(numbers.len()));
    let steps = tables.len() + analysis + moves;
    let (mut cells, mut rows, mut free) = (Vec::new(), Vec::new(), BTreeSet::new());
    for table in tables {
        let (results, assumed) = answered(table);
        free.extend(assumed);
        cells.extend(table::cells(&results, &table.rows, &spec.source));
        rows.extend(table::compared(&results, &table.rows));
        watch.step(steps)?;
    }
    let mut free: Vec<FreeParameter> =
        if spec.counted.is_empty() { free.into_iter().collect() } else { Vec::new() };
    let (mut effects, mut weighed) = (Vec::new(), String::new());
    if let (Some(mut predictor), Some(numbers)) = (predictor, numbers) {
        predictor.calibrate();
        let found = sensitivity::analyse(&numbers, &predictor.bars(), &predictor, watch);
        let predicted = tables.iter().flat_map(|table| &table.rows).filter(|row| row.role == Role::Predicted);
        let were: Vec<bool> = predicted.map(|row| predictor.has(row)).collect();
        (effects, weighed) = (found.effects_among(&were), found.told());
        free = found.free;
    }
    let mut verdicts = Vec::new();
    if is_eye {
        let (turned, found) = link::moved(tables, &spec.moved, &mut || watch.step(steps))?;
        verdicts
            .push((turned.is_empty(), format!("{} of {moves} ends of ranges turn a verdict", turned.len())));
        free.extend(turned);
        effects = found;
    }
    for number in spec.counted.iter().chain(&spec.fitted) {
        if !free.iter().any(|known| (&known.part, &known.name) == (&number.part, &number.name)) {
            free.push(number.clone());
        }
    }
    verdicts.extend(spec.judge.iter().map(|judge| judge.verdict(&rows, &free)));
    let met = verdicts.iter().all(|(met, _)| *met);
    Some(Outcome { cells, free_parameters: free, met, text: told(spec, &verdicts, &rows, &weighed), effects })
}

/// The results of a document, and its assumed and calibrated numbers.
fn answered(table: &Shipped) -> (Results, Vec<FreeParameter>) {
    match table.ask {
        Ask::Run => {
            let plan = table.plan();
            (results(&plan, &Options::default()), free_parameters(&plan).collect())
        }
        Ask::Eye => (link::eyes(table), Vec::new()),
        Ask::Cycle(tests) => link::cycles(table, tests),
        bare => (bare::results(bare), Vec::new()),
    }
}

/// The findings in sentences: the conditions, the rows that miss their own bar, the claim's note, and the result of the
/// sensitivity analysis.
fn told(spec: &Spec, verdicts: &[(bool, String)], rows: &[Compared<'_>], weighed: &str) -> String {
    let bars: Vec<&str> = verdicts.iter().map(|(_, told)| &**told).collect();
    let missed: Vec<String> = rows.iter().filter(|row| !row.is_met()).map(Compared::told).collect();
    let missed = if missed.is_empty() { String::new() } else { format!("Missed: {}.", missed.join("; ")) };
    let sentences =
        [format!("{}.", bars.join("; ")), missed, spec.note.trim().to_owned(), weighed.to_owned()];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
