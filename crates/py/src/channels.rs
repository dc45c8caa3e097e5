//! Functions for channels, for the commands `lanetwin link` other than `train` and `cycle`. JSON text in, JSON text
//! out.
//!
//! Not here: the computation (`lanetwin-link-lab`); training and stability cycles of links (`cycles`).

use crate::core_api::{Answer, Failure, Monitor, json, parse, refused};
use lanetwin_link_lab::{channel, stability};
use serde::Deserialize;
use std::ops::ControlFlow;
use std::path::Path;

/// The JSON Schema of the description of a channel.
pub fn schema() -> Answer {
    Ok(lanetwin_plan::link_schema())
}

/// Checks a channel, and keeps these of its variants, or all if none is named.
fn checked(path: &str, sets: &[String], variants: &[String]) -> Result<channel::Channel, Failure> {
    let channel = channel::check_path(Path::new(path), sets).map_err(|d| refused(&d))?;
    stability::only(channel, variants).map_err(|d| refused(&d))
}

/// The margins of a channel against its loss budget.
pub fn budget(path: &str, sets: &[String], variants: &[String]) -> Answer {
    let channel = checked(path, sets, variants)?;
    json(&channel::budget(&channel).map_err(|d| refused(&d))?)
}

/// The eyes of a channel.
pub fn eye(path: &str, sets: &[String], variants: &[String], monitor: &Monitor) -> Answer {
    let channel = checked(path, sets, variants)?;
    let mut watch = |progress: &channel::Progress<'_>| {
        if let Ok(line) = serde_json::to_string(progress) {
            monitor.report(line);
        }
        if monitor.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    json(&channel::eye(&channel, &mut watch).map_err(|d| refused(&d))?)
}

/// Where retimers can be placed in a channel. `options`: `{"sets": […], "variants": […], "retimers": n, "part": "…",
/// "after": […]}`.
pub fn place(path: &str, options: &str) -> Answer {
    #[derive(Deserialize)]
    struct Asked {
        sets: Vec<String>,
        variants: Vec<String>,
        retimers: usize,
        part: String,
        after: Vec<String>,
    }
    let Asked { sets, variants, retimers, part, after } = parse(options, "the options")?;
    let channel = checked(path, &sets, &variants)?;
    let wish = channel::PlacementRequest { retimers, part, after };
    json(&channel::place(&channel, &wish).map_err(|d| refused(&d))?)
}

/// The properties of a Touchstone file.
pub fn touchstone(path: &str, rate: &str, ports: &[usize]) -> Answer {
    json(&channel::inspect(Path::new(path), rate, ports).map_err(|d| refused(&d))?)
}

/// A Touchstone file, rewritten in a form that every tool reads.
pub fn rewritten(path: &str) -> Answer {
    channel::rewritten(Path::new(path)).map_err(|d| refused(&d))
}

/// The elements that a channel can be made of.
pub fn elements(rate: &str, library: Option<&str>) -> Answer {
    json(&channel::elements(rate, library.map(Path::new)).map_err(|d| refused(&d))?)
}

/// The templates a channel's description can be started from.
pub fn templates() -> Answer {
    let list: Vec<_> = channel::templates()
        .iter()
        .map(|(name, text)| serde_json::json!({ "name": name, "text": text }))
        .collect();
    json(&list)
}
