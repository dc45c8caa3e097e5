//! `actions:` of a workload: commands to its drives at given times, besides its load.

use crate::language::ACTION;
use crate::plan::{ActionPlan, ComponentPlan, Pair};
use crate::problem::Problem;
use crate::resolve::components::Machine;
use crate::values::choice;
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_models::roles::nvme::{Blocks, ScheduledCommand};
use lanetwin_nvme::spec::Nsid;
use lanetwin_nvme::spec::admin::{SanitizeAction, SecureErase};
use lanetwin_ports::{Capability, Value};
use lanetwin_units::{Bytes, Span};

/// Latest time of an action, later than the end of any run.
const LATEST: Span = Span::from_us(3_600_000_000);
/// Maximum number of blocks of Write Zeroes (NVM Command Set 1.0 §3.2.8: 16 bits, counted from 0).
const MOST_BLOCKS: u64 = 1 << 16;
/// Maximum size that a driver can compare at once \[B\]: one page of PRP entries.
const MOST_COMPARED: u64 = 2 << 20;
/// Maximum number of blocks in a range of Dataset Management (32 bits).
const MOST_RANGE: u64 = u32::MAX as u64;

/// The keys that every action has.
const COMMON: [&str; 4] = ["at", "do", "on", "target"];

/// Reads the list. Returns `None` after an error in it, which is reported.
pub(super) fn read(
    fields: &mut Fields<'_>,
    pairs: Option<&[Pair]>,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<Vec<ActionPlan>> {
    if fields.written("actions").is_none() {
        return Some(Vec::new());
    }
    let mut items = fields.list("actions", reports)?;
    let pairs = pairs?;
    let read: Vec<_> = items.iter_mut().map(|item| action(item, (pairs, machine), reports)).collect();
    fields.record_list("actions", items);
    read.into_iter().collect()
}

fn action(
    fields: &mut Fields<'_>,
    (pairs, machine): (&[Pair], &Machine),
    reports: &mut Reports,
) -> Option<ActionPlan> {
    let name = choice(fields, "do", reports)?;
    refuse_others(fields, name, reports);
    let at = match fields.one("at", reports)?.value {
        Value::Time(at) if at <= LATEST => at,
        Value::Time(at) => {
            let [text, least, most] = [at, Span::ZERO, LATEST].map(|t| quantity::written(Value::Time(t)));
            fields.fault("at", Common::OutOfRange { text, least, most }, reports);
            return None;
        }
        other => unreachable!("`at` is declared as a time, read as {other:?}"),
    };
    let pair = pair(fields, pairs, machine, reports)?;
    let drive = machine.plan(pair.target)?;
    if !drive.model.can(Capability::NvmeQueues) {
        let why = format!("`{}` is no NVMe drive with queues of its own", drive.name);
        fields.fault("do", Problem::CannotAct { action: name, why }, reports);
        return None;
    }
    let ask = ask(fields, name, drive, reports)?;
    Some(ActionPlan { at, name, ask, host: pair.on, drive: pair.target })
}

/// The keys of an action besides the common ones.
fn keys(name: &str) -> &'static [&'static str] {
    match name {
        "format" => &["namespace", "secure-erase"],
        "sanitize" => &["method"],
        "flush" => &["namespace"],
        "compare" | "write-zeroes" | "deallocate" => &["namespace", "address", "size"],
        _ => &[],
    }
}

/// Reports keys that this action does not have.
fn refuse_others(fields: &Fields<'_>, name: &'static str, reports: &mut Reports) {
    let known: Vec<&str> = COMMON.iter().chain(keys(name)).copied().collect();
    for key in ACTION.iter().map(|field| field.name).filter(|key| !known.contains(key)) {
        if fields.written(key).is_some() {
            let known = quoted(known.iter().copied());
            fields.fault(key, Common::UnknownKey { key: key.into(), known, near: Near::default() }, reports);
        }
    }
}

/// The host and the drive of an action: by default the first ones of the workload.
fn pair<'p>(
    fields: &mut Fields<'_>,
    pairs: &'p [Pair],
    machine: &Machine,
    reports: &mut Reports,
) -> Option<&'p Pair> {
    let mut left: Vec<&Pair> = pairs.iter().collect();
    for (key, of) in [("on", (|pair| pair.on) as fn(&Pair) -> usize), ("target", |pair| pair.target)] {
        let Some(said) = fields.text(key, reports).filter(|said| !said.value.is_empty()) else { continue };
        left.retain(|pair| machine.label(of(pair)) == said.value);
        if left.is_empty() {
            let mut names: Vec<String> = pairs.iter().map(|pair| machine.label(of(pair))).collect();
            names.dedup();
            let known = quoted(names.iter().map(|name| &**name));
            let near = Near::of(&said.value, names.iter().map(|name| &**name));
            fields.fault(key, Problem::UnknownComponent { name: said.value, known, near }, reports);
            return None;
        }
    }
    left.first().copied()
}

fn ask(
    fields: &mut Fields<'_>,
    name: &'static str,
    drive: &ComponentPlan,
    reports: &mut Reports,
) -> Option<ScheduledCommand> {
    Some(match name {
        "smart-log" => ScheduledCommand::SmartLog,
        "error-log" => ScheduledCommand::ErrorLog,
        "sanitize-log" => ScheduledCommand::SanitizeLog,
        "telemetry-log" => ScheduledCommand::TelemetryLog,
        "format" => {
            let erase = match choice(fields, "secure-erase", reports)? {
                "user-data" => SecureErase::USER_DATA,
                "cryptographic" => SecureErase::CRYPTOGRAPHIC,
                _ => SecureErase::NONE,
            };
            ScheduledCommand::Format(namespace(fields, name, drive, reports)?, erase)
        }
        "sanitize" => ScheduledCommand::Sanitize(match choice(fields, "method", reports)? {
            "overwrite" => SanitizeAction::OVERWRITE,
            "crypto-erase" => SanitizeAction::CRYPTO_ERASE,
            _ => SanitizeAction::BLOCK_ERASE,
        }),
        "flush" => ScheduledCommand::Flush(namespace(fields, name, drive, reports)?),
        "compare" => ScheduledCommand::Compare(blocks(fields, name, drive, reports)?),
        "write-zeroes" => ScheduledCommand::WriteZeroes(blocks(fields, name, drive, reports)?),
        _ => ScheduledCommand::Deallocate(blocks(fields, name, drive, reports)?),
    })
}

/// The namespace; Format may apply to all of them.
fn namespace(
    fields: &mut Fields<'_>,
    name: &'static str,
    drive: &ComponentPlan,
    reports: &mut Reports,
) -> Option<Nsid> {
    let said = fields.text("namespace", reports)?.value;
    let most = drive.params.count("namespaces");
    match said.parse::<u32>() {
        _ if said == "all" && name == "format" => Some(Nsid::ALL),
        Ok(number @ 1..) if u64::from(number) <= most => Some(Nsid(number)),
        _ => {
            let why = match most {
                1 => format!("there is no namespace `{said}`: `{}` has one, number 1", drive.name),
                _ => format!("there is no namespace `{said}`: those of `{}` are 1 to {most}", drive.name),
            };
            fields.fault("namespace", Problem::CannotAct { action: name, why }, reports);
            None
        }
    }
}

/// A range of whole logical blocks, within the limit of the command. Whether they exist is checked by the drive.
fn blocks(
    fields: &mut Fields<'_>,
    name: &'static str,
    drive: &ComponentPlan,
    reports: &mut Reports,
) -> Option<Blocks> {
    let nsid = namespace(fields, name, drive, reports)?;
    let mut size = |key: &str| match fields.one(key, reports)?.value {
        Value::Size(Bytes(bytes)) => Some(bytes),
        other => unreachable!("`{key}` is declared as a size, read as {other:?}"),
    };
    let (first, bytes) = (size("address")?, size("size")?);
    let block = if drive.params.choice("block") == "512B" { 512 } else { 4096 };
    let most = match name {
        "compare" => MOST_COMPARED,
        "write-zeroes" => MOST_BLOCKS * block,
        _ => MOST_RANGE * block,
    };
    let written = |bytes| quantity::written(Value::Size(Bytes(bytes)));
    let why = match (first, bytes) {
        (first, _) if !first.is_multiple_of(block) => {
            Some(("address", format!("{} is no multiple of a logical block of {block} B", written(first))))
        }
        (_, bytes) if bytes == 0 || !bytes.is_multiple_of(block) => {
            Some(("size", format!("{} is no whole number of logical blocks of {block} B", written(bytes))))
        }
        (_, bytes) if bytes > most => {
            Some(("size", format!("{} is more than one command can name, {}", written(bytes), written(most))))
        }
        _ => None,
    };
    if let Some((key, why)) = why {
        fields.fault(key, Problem::CannotAct { action: name, why }, reports);
        return None;
    }
    Some(Blocks { nsid, first, bytes })
}
