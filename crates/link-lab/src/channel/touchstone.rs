//! Analysis of a Touchstone file: its port pairing, the quality of its data, its losses.

use super::problem::{Physical, Problem};
use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Diagnostic, Reports};
use lanetwin_phy::network::{Lane, Network, Pair, Pairing};
use lanetwin_phy::quality::{Quality, check_range, check_through};
use lanetwin_phy::{DataRate, Finding, Severity, touchstone};
use serde::Serialize;
use std::path::Path;

/// Number of points of a curve.
const POINTS: usize = 160;

/// The analysis of a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// `link-touchstone`.
    pub kind: &'static str,
    /// The file.
    pub path: String,
    /// The rate for which it was made.
    pub rate: DataRate,
    /// Number of ports.
    pub ports: usize,
    /// Number of frequencies.
    pub points: usize,
    /// The first frequency \[Hz\].
    pub first_hz: f64,
    /// The last frequency \[Hz\].
    pub last_hz: f64,
    /// The reference resistance of each port \[Ω\].
    pub reference_ohm: Vec<f64>,
    /// Passivity, reciprocity, causality.
    pub quality: Quality,
    /// The lanes; empty if no pairing was found.
    pub lanes: Vec<LaneReport>,
    /// Whether the data are valid for the rate.
    pub usable: bool,
    /// All errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// A lane.
#[derive(Clone, Debug, Serialize)]
pub struct LaneReport {
    /// Ports, from 1: P near, N near, P far, N far; only two in a file that is differential already.
    pub ports: Vec<usize>,
    /// Differential loss at the Nyquist frequencies of Gen3, Gen4 and Gen5, as far as there are data: \[GHz\], \[dB\].
    pub losses_db: Vec<(f64, f64)>,
    /// The same over frequency.
    pub curve: Vec<(f64, f64)>,
}

/// Rewrites a file as version 1 in Hz with real and imaginary parts, or as version 2 if its ports differ in reference;
/// other tools can read these without guessing.
///
/// # Errors
/// If the file cannot be read.
pub fn rewritten(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let spot = add_source(&mut Vec::new(), name.clone());
    match touchstone::read_file(path) {
        Ok(reading) => Ok(touchstone::write(&reading.network)),
        Err(found) => {
            let mut reports = Reports::default();
            tell(found, spot, &mut reports);
            Err(reports.into_diagnostics(&[name]))
        }
    }
}

/// Analyses a file for a rate; `ports` pairs its ports, four per lane from 1, if the pairing cannot be found.
///
/// # Errors
/// If the file cannot be read, or the rate or the pairing is invalid.
pub fn inspect(path: &Path, rate: &str, ports: &[usize]) -> Result<FileReport, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let mut sources = Vec::new();
    let spot = add_source(&mut sources, name.clone());
    let refuse = |found: Vec<Finding>| {
        let mut reports = Reports::default();
        tell(found, spot, &mut reports);
        reports.into_diagnostics(std::slice::from_ref(&name))
    };
    let Some(rate) = super::document::rate_of(rate) else {
        return Err(usage(Problem::Rate { text: rate.into() }));
    };
    let stated = stated(ports)?;
    let reading = touchstone::read_file(path).map_err(refuse)?;
    let network = &reading.network;
    let quality = Quality::of(network);
    let mut found = reading.warnings.clone();
    found.extend(check_range(network, rate).into_iter().chain(quality.findings()));
    let lanes = match lanes(network, stated, rate) {
        Ok((lanes, said)) => {
            found.extend(said);
            lanes
        }
        Err(finding) => {
            found.push(finding);
            Vec::new()
        }
    };
    let usable = found.iter().all(|finding| finding.severity == Severity::Warning);
    let frequencies = network.frequencies();
    Ok(FileReport {
        kind: "link-touchstone",
        rate,
        ports: network.ports(),
        points: frequencies.len(),
        first_hz: frequencies[0],
        last_hz: frequencies[frequencies.len() - 1],
        reference_ohm: network.reference().to_vec(),
        quality,
        lanes,
        usable,
        diagnostics: refuse(found),
        path: name.clone(),
    })
}

fn tell(found: Vec<Finding>, spot: Spot, reports: &mut Reports) {
    for finding in found {
        let spot = Spot { line: finding.line, column: finding.column, ..spot };
        reports.add(Physical(finding), spot, "");
    }
}

/// An error in the request, not in the file.
fn usage(problem: Problem) -> Vec<Diagnostic> {
    let mut reports = Reports::default();
    reports.add(problem, Spot::default(), "");
    reports.into_diagnostics(&[])
}

fn stated(ports: &[usize]) -> Result<Option<Pairing>, Vec<Diagnostic>> {
    if ports.is_empty() {
        return Ok(None);
    }
    let said: Vec<String> = ports.iter().map(usize::to_string).collect();
    if !ports.len().is_multiple_of(4) || ports.contains(&0) {
        return Err(usage(Problem::Ports { text: format!("[{}]", said.join(", ")) }));
    }
    let pair = |p: usize, n: usize| Pair { p: p - 1, n: n - 1 };
    let lane = |four: &[usize]| Lane { near: pair(four[0], four[1]), far: pair(four[2], four[3]) };
    let made = Pairing::new(ports.chunks_exact(4).map(lane).collect());
    made.map(Some).map_err(|finding| {
        let mut reports = Reports::default();
        tell(vec![finding], Spot::default(), &mut reports);
        reports.into_diagnostics(&[])
    })
}

fn lanes(
    network: &Network,
    stated: Option<Pairing>,
    rate: DataRate,
) -> Result<(Vec<LaneReport>, Vec<Finding>), Finding> {
    if network.ports() == 2 && stated.is_none() {
        let found = check_through(network, 1, rate).into_iter().collect();
        return Ok((vec![lane(network, (1, 0), vec![1, 2])], found));
    }
    let (pairing, mut said) = match stated {
        Some(pairing) => (pairing, Vec::new()),
        None => Pairing::detect(network)?,
    };
    let differential = network.differential(&pairing)?;
    let count = pairing.lanes().len();
    for at in 0..count {
        said.extend(check_through(&differential.picked(&[at, count + at])?, at + 1, rate));
    }
    let report = |(at, one): (usize, &Lane)| {
        let ports = [one.near.p, one.near.n, one.far.p, one.far.n].map(|port| port + 1).to_vec();
        lane(&differential, (count + at, at), ports)
    };
    Ok((pairing.lanes().iter().enumerate().map(report).collect(), said))
}

fn lane(network: &Network, (to, from): (usize, usize), ports: Vec<usize>) -> LaneReport {
    // without transmission the loss in decibels is undefined
    let at = |hertz: f64| {
        let loss = network.loss_db(to, from, hertz).filter(|loss| loss.is_finite())?;
        Some((hertz / 1e9, loss))
    };
    let last = network.frequencies()[network.frequencies().len() - 1];
    let places = (1..=POINTS).map(|point| last * point as f64 / POINTS as f64);
    LaneReport {
        ports,
        losses_db: [4e9, 8e9, 16e9].into_iter().filter_map(at).collect(),
        curve: places.filter_map(at).collect(),
    }
}
