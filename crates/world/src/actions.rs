//! Actions: commands to drives at given times. The drivers get them before the run; their results are collected after
//! it.

use super::world::{World, WorldAction, WorldLoad};
use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::nvme::{Answer, NvmeHost, ScheduledCommand};
use lanetwin_nvme::logic::telemetry::BLOCK;
use lanetwin_nvme::spec::Status;
use lanetwin_nvme::spec::log::{ErrorEntry, SanitizeLog, SanitizeState, SmartLog, TelemetryHeader};
use lanetwin_plan::{ActionPlan, Variant, WorkloadPlan};
use lanetwin_stats::results::{ActionOutcome, LogValue, LoggedError};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Longest time that actions may take after the measurement. The slowest, an overwrite of a large drive, takes hours
/// and is then reported as not completed.
const PATIENCE: Span = Span::from_us(3_600_000_000);
/// Size of an entry of the Error Information log \[B\].
const ENTRY: usize = 64;

/// The result of an action.
#[derive(Clone, PartialEq, Debug)]
pub struct Acted {
    plan: ActionPlan,
    answer: Answer,
}

impl World {
    /// Assigns the actions to drivers: the driver of the first path from a host to a drive issues all commands of
    /// that host to it, in the order of the scenario.
    pub(super) fn find_actions(&mut self, workload: &WorkloadPlan) {
        let mut asked: BTreeMap<ComponentId, usize> = BTreeMap::new();
        for plan in &workload.actions {
            let of = |load: &&WorldLoad| (load.host, load.target) == (plan.host, plan.drive);
            let Some(load) = self.loads.iter().find(of).and_then(|load| load.nvme) else { continue };
            let number = asked.entry(load.driver).or_default();
            self.actions.push(WorldAction { plan: plan.clone(), driver: load.driver, number: *number });
            *number += 1;
        }
    }

    /// Stops the loads and runs until the actions are completed.
    pub(super) fn finish_actions(&mut self) {
        if self.actions.is_empty() {
            return;
        }
        self.stop();
        let deadline = self.kernel.now() + PATIENCE;
        while self.is_acting() {
            match self.kernel.next_event() {
                Some(next) if next <= deadline => self.kernel.run_until(next),
                _ => return,
            }
        }
    }
    fn is_acting(&mut self) -> bool {
        let drivers: Vec<ComponentId> = self.actions.iter().map(|action| action.driver).collect();
        drivers.into_iter().any(|driver| {
            self.kernel.role::<dyn NvmeHost>(driver).is_some_and(|driver| driver.has_scheduled())
        })
    }

    /// The results of all actions.
    pub(super) fn acted(&mut self) -> Vec<Acted> {
        let actions = self.actions.clone();
        let of = |WorldAction { plan, driver, number }| {
            let answer = self.kernel.role::<dyn NvmeHost>(driver)?.answers().get(number)?.clone();
            Some(Acted { plan, answer })
        };
        actions.into_iter().filter_map(of).collect()
    }
}

/// The result of an action as an entry of the results document; the names are those of workload and case.
pub(super) fn outcome(
    Acted { plan, answer }: &Acted,
    variant: &Variant,
    (workload, case): (&str, &str),
    measured: &Range<Instant>,
) -> ActionOutcome {
    const NS: f64 = 1e-3;
    let since = |end: Instant| Some(end.since(answer.submitted?).as_ps() as f64 * NS);
    let over = answer.finished.map_or(answer.ended, |(at, _)| Some(at));
    let during = match over {
        Some(at) if at <= measured.start => "warm-up",
        Some(at) if at <= measured.end => "measurement",
        _ => "afterwards",
    };
    let begun_only =
        matches!(plan.ask, ScheduledCommand::Sanitize(_)) && answer.status == Some(Status::SUCCESS);
    let (status, success) = match answer {
        Answer { lost: true, .. } => ("the path was lost before it ended".into(), false),
        Answer { status: None, submitted: None, .. } => {
            ("not asked: the controller was not ready".into(), false)
        }
        Answer { status: None, .. } => ("not over".into(), false),
        Answer { finished: Some((_, false)), .. } => ("Sanitize Failed".into(), false),
        Answer { finished: None, .. } if begun_only => ("not over".into(), false),
        Answer { status: Some(status), .. } => (words(*status), status.is_success()),
    };
    let (values, errors) = log(plan.ask, &answer.content);
    ActionOutcome {
        variant: variant.name.clone(),
        workload: workload.into(),
        case: case.into(),
        host: variant.machine[plan.host].name.clone(),
        drive: variant.machine[plan.drive].name.clone(),
        action: plan.name.into(),
        at_seconds: plan.at.as_ps() as f64 * 1e-12,
        status,
        status_code: answer.status.map(|status| status.0),
        success,
        latency_ns: answer.ended.and_then(since),
        operation_ns: answer.finished.and_then(|(at, _)| since(at)),
        during: during.into(),
        values,
        errors,
    }
}

/// The name of a status in the specification.
fn words(status: Status) -> String {
    let named = Status::NAMED.iter().find(|named| named.value == u128::from(status.0));
    let doc = named.map(|named| named.doc.trim().trim_end_matches('.').to_owned());
    doc.unwrap_or_else(|| format!("status {:03x}h", status.0))
}

/// The contents of a log.
fn log(ask: ScheduledCommand, content: &[u8]) -> (Vec<LogValue>, Vec<LoggedError>) {
    match ask {
        ScheduledCommand::SmartLog => (
            content.try_into().map(|bytes| smart(&SmartLog::from_bytes(bytes))).unwrap_or_default(),
            Vec::new(),
        ),
        ScheduledCommand::SanitizeLog => (
            content.try_into().map(|bytes| sanitize(&SanitizeLog::from_bytes(bytes))).unwrap_or_default(),
            Vec::new(),
        ),
        ScheduledCommand::TelemetryLog => (telemetry(content), Vec::new()),
        ScheduledCommand::ErrorLog => {
            (Vec::new(), content.as_chunks::<ENTRY>().0.iter().filter_map(error).collect())
        }
        _ => Default::default(),
    }
}

/// The fields of SMART that the model supports: it has no temperature, and runs for less than an hour.
fn smart(log: &SmartLog) -> Vec<LogValue> {
    let number =
        |name: &str, value: f64, unit: &str| LogValue { name: name.into(), value, unit: unit.into() };
    vec![
        number("Critical Warning", f64::from(log.critical_warning().raw()), ""),
        number("Available Spare", f64::from(log.available_spare()), "%"),
        number("Percentage Used", f64::from(log.percentage_used()), "%"),
        number("Data Units Read", log.data_units_read() as f64, "1000 × 512 B"),
        number("Data Units Written", log.data_units_written() as f64, "1000 × 512 B"),
        number("Host Read Commands", log.host_reads() as f64, ""),
        number("Host Write Commands", log.host_writes() as f64, ""),
        number("Controller Busy Time", log.busy_minutes() as f64, "min"),
        number("Power Cycles", log.power_cycles() as f64, ""),
        number("Power On Hours", log.power_on_hours() as f64, "h"),
        number("Unsafe Shutdowns", log.unsafe_shutdowns() as f64, ""),
        number("Media and Data Integrity Errors", log.media_errors() as f64, ""),
        number("Number of Error Information Log Entries", log.error_entries() as f64, ""),
    ]
}

fn sanitize(log: &SanitizeLog) -> Vec<LogValue> {
    let state = match log.status().state() {
        SanitizeState::NEVER => "never sanitized",
        SanitizeState::IN_PROGRESS => "in progress",
        SanitizeState::FAILED => "failed",
        _ => "completed",
    };
    let number =
        |name: &str, value: f64, unit: &str| LogValue { name: name.into(), value, unit: unit.into() };
    vec![
        number("Sanitize Status", f64::from(log.status().state().0), state),
        number("Sanitize Progress", f64::from(log.progress()), "1/65536"),
        number("Global Data Erased", f64::from(u8::from(log.status().erased())), ""),
    ]
}

/// The header of a Telemetry log, and the contents of data areas 1 and 2, by the keys in their text.
fn telemetry(content: &[u8]) -> Vec<LogValue> {
    let Some((header, blocks)) = content.split_first_chunk::<BLOCK>() else { return Vec::new() };
    let header = TelemetryHeader::from_bytes(*header);
    let number = |name: &str, value: f64| LogValue { name: name.into(), value, unit: String::new() };
    let mut values = vec![
        number("Telemetry Host-Initiated Data Generation Number", header.host_generation().into()),
        number("Data Area 1 Last Block", header.last_1().into()),
        number("Data Area 2 Last Block", header.last_2().into()),
        number("Data Area 3 Last Block", header.last_3().into()),
    ];
    let told = &blocks[..blocks.len().min(usize::from(header.last_2()) * BLOCK)];
    let text = String::from_utf8_lossy(told);
    let of_line = |line: &str| {
        let (key, value) = line.split_once(" = ")?;
        Some(number(key, value.parse().ok()?))
    };
    values.extend(text.lines().filter_map(of_line));
    values
}

/// An entry of the Error Information log. Returns `None` for an unused entry.
fn error(bytes: &[u8; ENTRY]) -> Option<LoggedError> {
    const NO_COMMAND: u16 = 0xffff;
    let entry = ErrorEntry::from_bytes(*bytes);
    (entry.count() > 0).then(|| LoggedError {
        count: entry.count(),
        queue: Some(entry.sq_number()).filter(|queue| *queue != NO_COMMAND),
        opcode: entry.opcode(),
        status: words(Status(entry.status().status())),
        namespace: entry.nsid_number(),
        lba: entry.lba(),
    })
}
