//! Functions for training and stability cycles of links, for `lanetwin link train` and `lanetwin link cycle`. JSON text
//! in, JSON text out.
//!
//! Not here: the simulation and the tests (`lanetwin-link-lab`, `lanetwin-probe`).

use crate::core_api::{Answer, Failure, Monitor, json, parse, refused};
use lanetwin_link_lab::{channel, stability};
use lanetwin_probe::cycle::{Progress, Test};
use lanetwin_probe::drive::{self, Request};
use lanetwin_probe::fake::Behaviour;
use lanetwin_probe::linux::Linux;
use lanetwin_probe::{Finding, Problem};
use lanetwin_textfile::Limit;
use serde::Deserialize;
use std::ops::ControlFlow;
use std::path::Path;

/// A request for stability cycles.
#[derive(Deserialize)]
struct Asked {
    source: Source,
    #[serde(default)]
    request: Request,
    #[serde(default)]
    options: stability::Options,
}

/// Where the link is.
#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Channel {
        channel: String,
        #[serde(default)]
        sets: Vec<String>,
    },
    Dump {
        fake: String,
        device: Option<String>,
        behaviour: Dumped,
    },
    Device {
        device: String,
    },
}

/// How the machine of a dump behaves.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Dumped {
    Inert,
    Obliging,
    Simulated,
}

fn told(found: &[Finding]) -> Failure {
    refused(&stability::diagnostics(found))
}

/// Whether and how the link of a channel trains.
pub fn link_train(path: &str, sets: &[String], options: &str) -> Answer {
    let options: stability::Options = parse(options, "the options")?;
    let channel = channel::check_path(Path::new(path), sets).map_err(|d| refused(&d))?;
    json(&stability::train(&channel, &options).map_err(|d| refused(&d))?)
}

/// Cycles a link.
pub fn link_cycle(asked: &str, monitor: &Monitor) -> Answer {
    let Asked { source, request, options } = parse(asked, "what is asked")?;
    let report = |variant: &str, progress: &Progress| {
        let line = serde_json::json!({
            "done": progress.done, "total": progress.total, "variant": variant,
            "case": progress.case, "failed": progress.failed,
        });
        monitor.report(line.to_string());
        if monitor.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut watch = |progress: &Progress| report("", progress);
    match source {
        Source::Channel { channel, sets } => {
            let channel = channel::check_path(Path::new(&channel), &sets).map_err(|d| refused(&d))?;
            let mut watch = report;
            json(&stability::cycles(&channel, &options, &request, &mut watch).map_err(|d| refused(&d))?)
        }
        Source::Dump { fake, device, behaviour } => {
            let text = lanetwin_textfile::read_text(Path::new(&fake), Limit::Data)
                .map_err(|error| told(&[Problem::Dump { said: error.to_string() }.at(&fake)]))?;
            let device = device.as_deref();
            let memory = match behaviour {
                Dumped::Inert => Behaviour::Inert,
                Dumped::Obliging => Behaviour::Obliging,
                Dumped::Simulated => {
                    let done = stability::cycle_dump(&text, device, &options, &request, &mut watch);
                    return json(&done.map_err(|d| refused(&d))?);
                }
            };
            json(&drive::fake(&text, memory, device, &request, &mut watch).map_err(|found| told(&found))?)
        }
        Source::Device { device } => {
            let mut linux = Linux::new().with_hook(request.hook.clone());
            json(&drive::real(&mut linux, &device, &request, &mut watch).map_err(|found| told(&found))?)
        }
    }
}

/// Restores the state before a killed run from its journal.
pub fn link_restore(journal: &str) -> Answer {
    json(&drive::restore(&mut Linux::new(), Path::new(journal)).map_err(|found| told(&found))?)
}

/// The stability tests.
pub fn link_tests() -> Answer {
    let tests: Vec<_> = Test::ALL
        .iter()
        .map(|test| serde_json::json!({ "name": test.name(), "title": test.title(), "about": test.about() }))
        .collect();
    json(&tests)
}
