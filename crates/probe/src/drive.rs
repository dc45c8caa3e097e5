//! Stability cycles on request, on this machine or on a simulated one; and restoring after a run that was killed.

mod request;

pub use request::Request;

use crate::cycle::{Bench, CyclePlan, LaneMargin, LinkState, Power, Series, Stop, Test, Watcher, rate};
use crate::fake::{Behaviour, Fake};
use crate::function::Function;
use crate::host::{Address, Attribute, Host, HostError};
use crate::journal::{self, Entry, Journal};
use crate::linux::{self, Consent, Facts, Linux};
use crate::problem::{Finding, Problem};
use crate::registers::{LINK_CAPABILITIES, LINK_STATUS};
use crate::session::{Session, Written, put_back};
use lanetwin_textfile::Limit;
use lanetwin_units::Span;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The writes of each test, for display.
pub type Plan = Vec<(Test, Vec<Written>)>;

/// The answer to a request.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// `link-cycles`.
    pub kind: &'static str,
    /// The name of the channel or of the device.
    pub name: String,
    /// The user's question, if given.
    pub about: String,
    /// The results of each link.
    pub series: Vec<Series>,
    /// The statistical power of series of these lengths.
    pub power: Vec<Power>,
    /// The writes that would be made, if none were made.
    pub plan: Option<Plan>,
    /// Whether the request was completed.
    pub complete: bool,
    /// Reasons for a refusal, or limits of the results.
    pub findings: Vec<Finding>,
}

impl Report {
    /// An empty report with this name.
    #[must_use]
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            kind: "link-cycles",
            name: name.into(),
            about: about.into(),
            series: Vec::new(),
            power: Vec::new(),
            plan: None,
            complete: true,
            findings: Vec::new(),
        }
    }
    /// Adds the statistical power of the series in it.
    pub fn add_power(&mut self) {
        let lengths = self.series.iter().flat_map(|series| series.tests.iter().map(|test| test.wanted));
        let mut lengths: Vec<u64> = lengths.collect();
        lengths.sort_unstable();
        lengths.dedup();
        self.power = lengths.into_iter().map(Power::of).collect();
    }
}

/// Cycles the link above a device. Returns the results, and false if `watch` stopped the run.
///
/// # Errors
/// Reasons for a refusal; the machine is unchanged.
pub fn cycle(
    host: &mut dyn Host,
    name: &str,
    (port, device): (Address, Address),
    wish: &CyclePlan,
    journal: Option<Journal>,
    prepare: &mut dyn FnMut(&mut Session<'_>) -> Result<(), Finding>,
    watch: &mut Watcher<'_>,
) -> Result<(Series, bool), Vec<Finding>> {
    let find =
        |host: &mut dyn Host, at| Function::find(host, at).map_err(|error| vec![no_access(at, &error)]);
    let functions = (find(host, port)?, find(host, device)?);
    cycle_known(host, name, functions, wish, journal, prepare, watch)
}

/// As [`cycle`], with ends that were read before, so that the device need not respond at first.
///
/// # Errors
/// As [`cycle`].
pub fn cycle_known(
    host: &mut dyn Host,
    name: &str,
    (above, below): (Function, Function),
    wish: &CyclePlan,
    journal: Option<Journal>,
    prepare: &mut dyn FnMut(&mut Session<'_>) -> Result<(), Finding>,
    watch: &mut Watcher<'_>,
) -> Result<(Series, bool), Vec<Finding>> {
    let host_name = host.name();
    let (port, device) = (above.address, below.address);
    let mut session = Session::new(host, port, device, journal);
    let mut series = Series {
        name: name.to_owned(),
        host: host_name,
        port: describe(&above),
        device: describe(&below),
        link: None,
        tests: Vec::new(),
        lanes: Vec::new(),
        no_lanes: None,
        not_restored: Vec::new(),
    };
    let prepared = prepare(&mut session).map_err(|found| vec![found]);
    let outcome = prepared.and_then(|()| on_the_bench(&mut session, above, below, wish, watch));
    series.not_restored = session.restore();
    drop(session);
    let Done { tests, link, lanes, complete } = outcome?;
    series.tests = tests;
    series.link = Some(link);
    match lanes {
        Some(Ok(lanes)) => series.lanes = lanes,
        Some(Err(why)) => series.no_lanes = Some(why),
        None => {}
    }
    Ok((series, complete))
}

/// The results of a link.
struct Done {
    tests: Vec<crate::cycle::TestReport>,
    link: LinkState,
    lanes: Option<Result<Vec<LaneMargin>, String>>,
    complete: bool,
}

fn on_the_bench(
    session: &mut Session<'_>,
    port: Function,
    device: Function,
    wish: &CyclePlan,
    watch: &mut Watcher<'_>,
) -> Result<Done, Vec<Finding>> {
    let at = device.address;
    let refused = |stop: Stop| match stop {
        Stop::NotPerformed(said) => vec![Problem::NoPort { said }.at(at)],
        Stop::Failed(_, said) | Stop::Refused(said) => vec![Problem::NoAccess { said }.at(at)],
    };
    let mut bench = Bench::new(session, port, device).map_err(refused)?;
    let (tests, complete) = bench.run(wish, watch).map_err(refused)?;
    let lanes = (wish.margins && complete).then(|| {
        bench.margins().map_err(|stop| match stop {
            Stop::NotPerformed(said) | Stop::Failed(_, said) | Stop::Refused(said) => said,
        })
    });
    Ok(Done { tests, link: bench.reference, lanes, complete })
}

fn describe(function: &Function) -> String {
    format!("{} [{:04x}:{:04x}]", function.address, function.vendor, function.device)
}

fn no_access(at: Address, error: &HostError) -> Finding {
    match error {
        HostError::Gone(gone) => Problem::Absent.at(gone),
        error => Problem::NoAccess { said: error.to_string() }.at(at),
    }
}

/// The writes that one cycle of each test would make, found by running it on a simulated machine with these
/// configuration spaces.
#[must_use]
pub fn plan(spaces: BTreeMap<Address, Vec<u8>>, ends: (Address, Address), wish: &CyclePlan) -> Plan {
    let mut plans = Vec::new();
    for &test in &wish.tests {
        let mut machine = Fake::new(spaces.clone(), Behaviour::Obliging);
        let functions = (Function::find(&mut machine, ends.0), Function::find(&mut machine, ends.1));
        let (Ok(port), Ok(device)) = functions else { continue };
        let mut session = Session::new(&mut machine, ends.0, ends.1, None);
        session.log();
        let one =
            CyclePlan { tests: vec![test], count: 1, power_count: 1, dwell: Span::ZERO, ..wish.clone() };
        if let Ok(mut bench) = Bench::new(&mut session, port, device) {
            // a test that is impossible on this link makes fewer writes; the real run reports why
            let _ = bench.run(&one, &mut |_| core::ops::ControlFlow::Continue(()));
        }
        plans.push((test, session.written().to_vec()));
    }
    plans
}

/// Cycles the link of a device of this machine; if the user has not confirmed the device, only lists the writes.
///
/// # Errors
/// Every reason for a refusal.
pub fn real(
    linux: &mut Linux,
    device: &str,
    request: &Request,
    watch: &mut Watcher<'_>,
) -> Result<Report, Vec<Finding>> {
    let wish = request.wish()?;
    let at: Address =
        device.parse().map_err(|_| vec![Problem::Address { text: device.into() }.at("--device")])?;
    let below = whole_function(linux, at)?;
    let facts = Facts::of(linux, &below);
    let consent = Consent {
        device: request.i_know.as_deref().and_then(|text| text.parse().ok()),
        serial: request.serial.clone(),
        max_celsius: request.max_celsius,
    };
    let mut findings = linux::refusals(&below, &facts, &consent);
    if request.tests.iter().any(|name| name == Test::PowerCycle.name()) && request.hook.is_none() {
        findings.push(Problem::NoHook.at("--test power-cycle"));
    }
    let path = request.journal.clone().unwrap_or_else(|| default_journal(linux.root(), at));
    if path.exists() {
        findings.push(Problem::Journal { path: path.display().to_string() }.at(at));
    }
    let unconfirmed = linux::confirmation(at, &facts, &consent);
    let mut report = Report::new(at.to_string(), "");
    if request.i_know.is_none() {
        if let Some(port) = facts.port {
            report.plan = Some(plan(snapshot(linux, &[port, at])?, (port, at), &wish));
            warn(linux, &mut report, port, &below);
        }
        report.complete = findings.is_empty();
        report.findings.extend(findings);
        report.findings.extend(unconfirmed);
        return Ok(report);
    }
    findings.extend(unconfirmed);
    let Some(port) = facts.port.filter(|_| findings.is_empty()) else { return Err(findings) };
    warn(linux, &mut report, port, &below);
    let created = Journal::create(&path, &linux.name(), port, at);
    let journal = created.map_err(|error| {
        vec![Problem::BadJournal { said: format!("{}: {error}", path.display()) }.at("--journal")]
    })?;
    let attributes = linux.attributes(at);
    linux.allow_writes();
    let root = linux.root().to_owned();
    let driver = facts.driver.clone().unwrap_or_default();
    let mut prepare = |session: &mut Session<'_>| take_over(session, &root, at, &attributes, &driver);
    let (series, complete) =
        cycle(linux, &at.to_string(), (port, at), &wish, Some(journal), &mut prepare, watch)?;
    for left in &series.not_restored {
        let (what, now) = (left.saved.name.clone(), left.now.clone());
        report.findings.push(Problem::NotRestored { what, now }.at(left.saved.address));
    }
    report.series.push(series);
    report.complete = complete;
    report.add_power();
    Ok(report)
}

/// The function at an address, if more than the first 64 B of its configuration space can be read.
fn whole_function(linux: &mut Linux, at: Address) -> Result<Function, Vec<Finding>> {
    let function = Function::find(linux, at).map_err(|error| vec![no_access(at, &error)])?;
    if linux.size(at).is_ok_and(|size| size <= 64) {
        let said = "only its first 64 bytes can be read".into();
        return Err(vec![Problem::NoAccess { said }.at(at)]);
    }
    Ok(function)
}

/// Records the attributes of a device in the journal, keeps it awake and unbinds its driver.
fn take_over(
    session: &mut Session<'_>,
    root: &Path,
    at: Address,
    attributes: &[Attribute],
    driver: &str,
) -> Result<(), Finding> {
    for attribute in attributes {
        session.keep_attribute(attribute.clone()).map_err(|error| no_access(at, &error))?;
    }
    let linux = Linux::at(root);
    linux.keep_awake(at);
    let holds = |error: HostError| Problem::Driver { driver: driver.into(), said: error.to_string() }.at(at);
    linux.unbind(at).map_err(holds)
}

fn warn(linux: &mut Linux, report: &mut Report, port: Address, device: &Function) {
    let kernel = linux.kernel();
    if let Ok(above) = Function::find(linux, port) {
        report.findings.extend(linux::warnings(linux, &kernel, &above, device));
        report.findings.extend(degraded(linux, &above, device));
    }
}

/// A warning if the link runs below the capabilities of both ends.
fn degraded(host: &mut dyn Host, port: &Function, device: &Function) -> Option<Finding> {
    let status = port.read(host, LINK_STATUS).ok()??;
    let [above, below] = [port, device].map(|end| end.read(host, LINK_CAPABILITIES).ok().flatten());
    let (above, below) = (above?, below?);
    let speed = above.max_speed().min(below.max_speed());
    let width = above.max_width().min(below.max_width());
    let less = status.speed() < speed || status.width() < width;
    let (found, best) =
        (format!("{} x{}", rate(status.speed()), status.width()), format!("{} x{width}", rate(speed)));
    less.then(|| Problem::Degraded { found, best }.at(port.address))
}

/// The configuration spaces of functions.
fn snapshot(host: &mut dyn Host, of: &[Address]) -> Result<BTreeMap<Address, Vec<u8>>, Vec<Finding>> {
    let mut spaces = BTreeMap::new();
    for &at in of {
        let mut read = || {
            let size = host.size(at)?;
            let mut space = Vec::new();
            for offset in (0..size).step_by(4) {
                space.extend(host.read(at, offset, crate::Width::Dword)?.to_le_bytes());
            }
            Ok(space)
        };
        spaces.insert(at, read().map_err(|error| vec![no_access(at, &error)])?);
    }
    Ok(spaces)
}

/// The default path of a device's journal.
fn default_journal(root: &Path, device: Address) -> PathBuf {
    root.join("var/lib/lanetwin").join(format!("cycle-{device}.journal"))
}

/// Cycles a link of a simulated machine.
///
/// # Errors
/// As [`Request::wish`], [`dumped`] and [`cycle`].
pub fn fake(
    text: &str,
    behaviour: Behaviour,
    device: Option<&str>,
    request: &Request,
    watch: &mut Watcher<'_>,
) -> Result<Report, Vec<Finding>> {
    let wish = request.wish()?;
    let (spaces, ends) = dumped(text, device)?;
    let mut machine = Fake::new(spaces, behaviour);
    let name = ends.1.to_string();
    let (series, complete) = cycle(&mut machine, &name, ends, &wish, None, &mut |_| Ok(()), watch)?;
    let mut report = Report::new(name, "");
    report.series.push(series);
    report.complete = complete;
    report.add_power();
    Ok(report)
}

/// The configuration spaces of a dump, and the two ends of a link in it: the link above `device`, or the first one if
/// no device is given.
///
/// # Errors
/// `LC001`, `LC002`, `LC005`, `LC015`, `LC016`.
#[expect(clippy::type_complexity, reason = "the spaces of a machine and the two ends of a link in it")]
pub fn dumped(
    text: &str,
    device: Option<&str>,
) -> Result<(BTreeMap<Address, Vec<u8>>, (Address, Address)), Vec<Finding>> {
    let spaces = crate::fake::dump::read(text)
        .map_err(|error| vec![Problem::Dump { said: error.to_string() }.at("--fake")])?;
    let machine = Fake::new(spaces.clone(), Behaviour::Inert);
    let named: Option<Address> = match device {
        Some(text) => {
            Some(text.parse().map_err(|_| vec![Problem::Address { text: text.into() }.at("--device")])?)
        }
        None => machine
            .functions()
            .find(|one| !one.bridge && machine.port_above(one.address).is_some())
            .map(|one| one.address),
    };
    let Some(at) = named else {
        let said = "the dump has no endpoint with a port above it".into();
        return Err(vec![Problem::NoPort { said }.at("--fake")]);
    };
    let Some(function) = machine.functions().find(|function| function.address == at) else {
        return Err(vec![Problem::Absent.at(at)]);
    };
    if function.bridge {
        return Err(vec![Problem::Bridge.at(at)]);
    }
    let Some(port) = machine.port_above(at) else {
        return Err(vec![
            Problem::NoPort { said: "the dump has no bridge whose secondary bus is its".into() }.at(at),
        ]);
    };
    Ok((spaces, (port, at)))
}

/// The result of restoring.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Restored {
    /// `link-restore`.
    pub kind: &'static str,
    /// The journal.
    pub journal: String,
    /// The device.
    pub device: Address,
    /// Number of registers in the journal.
    pub registers: usize,
    /// Number of attributes in the journal.
    pub attributes: usize,
    /// What could not be restored; the journal is kept in that case.
    pub findings: Vec<Finding>,
}

/// Restores the state before a killed run from its journal, and removes the journal if everything is restored.
///
/// # Errors
/// `LC018` if the journal cannot be used.
pub fn restore(linux: &mut Linux, path: &Path) -> Result<Restored, Vec<Finding>> {
    let bad = |said: String| vec![Problem::BadJournal { said }.at(path.display())];
    let text = lanetwin_textfile::read_text(path, Limit::Data).map_err(|error| bad(error.to_string()))?;
    let (opening, entries) = journal::read(&text).map_err(|error| bad(error.to_string()))?;
    let (mut saved, mut attributes) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Entry::Register(register) => saved.push(register),
            Entry::Attribute(attribute) => attributes.push(attribute),
        }
    }
    linux.allow_writes();
    if Function::find(linux, opening.device).is_err() {
        // brings back a device that the kernel has removed; if that fails, the registers below cannot be restored
        let _ = linux.rescan(opening.device);
    }
    let left = put_back(linux, (opening.port, opening.device), &saved, &attributes);
    let findings: Vec<Finding> = left
        .into_iter()
        .map(|left| Problem::NotRestored { what: left.saved.name, now: left.now }.at(left.saved.address))
        .collect();
    if findings.is_empty() {
        std::fs::remove_file(path).map_err(|error| bad(error.to_string()))?;
    }
    Ok(Restored {
        kind: "link-restore",
        journal: path.display().to_string(),
        device: opening.device,
        registers: saved.len(),
        attributes: attributes.len(),
        findings,
    })
}
