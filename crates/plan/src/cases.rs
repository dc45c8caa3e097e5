//! Transfers of given sizes, at a queue depth or a rate: one case for each size and each depth or rate.

use crate::kind::MOST_CASES;
use crate::plan::{Arrivals, Axis, Case, Load, Offered};
use crate::problem::Problem;
use crate::values::{choice, list};
use crate::words::{Holds, one_of};
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::Bytes;

/// The key `pattern`.
pub(crate) const PATTERN: Holds = one_of(&["random", "sequential"]);
/// The key `arrivals`.
pub(crate) const ARRIVALS: Holds = one_of(&["poisson", "fixed"]);
/// Longest mean gap between requests; a longer one is taken for a wrong unit.
const LONGEST_GAP_SECONDS: u64 = 60;

/// The sizes of the transfers: at least 1 byte, at most what a message can carry.
pub(crate) fn sizes(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Bytes>> {
    let list = list(fields, "size", reports)?;
    let path = fields.at("size");
    let mut sizes = Vec::new();
    for said in &list {
        let Value::Size(Bytes(bytes)) = said.value else { unreachable!("`size` is declared as a size") };
        if bytes == 0 {
            reports.add(Problem::EmptyTransfer, said.spot, &path);
        } else if bytes > u64::from(u32::MAX) {
            let text = quantity::written(said.value);
            reports.add(
                Common::OutOfRange { text, least: "1B".into(), most: "4294967295B".into() },
                said.spot,
                &path,
            );
        } else {
            sizes.push(Bytes(bytes));
        }
    }
    (sizes.len() == list.len()).then_some(sizes)
}

/// What is offered: a rate, or a number in flight (under `key`).
pub(crate) fn offered(
    fields: &mut Fields<'_>,
    key: &'static str,
    reports: &mut Reports,
) -> Option<Vec<Offered>> {
    if fields.written("rate").is_none() {
        let list = list(fields, key, reports)?;
        let in_flight = |said: &Said<Value>| match said.value {
            Value::Count(count) => {
                Offered::Outstanding(u32::try_from(count).expect("declared as at most 65 536"))
            }
            other => unreachable!("`{key}` is declared as counts, read as {other:?}"),
        };
        return Some(list.iter().map(in_flight).collect());
    }
    if fields.written(key).is_some() {
        fields.fault("rate", Common::Exclusive { one: key, other: "rate" }, reports);
    }
    let rates = list(fields, "rate", reports);
    let arrivals = choice(fields, "arrivals", reports)?;
    let arrivals = if arrivals == "fixed" { Arrivals::Fixed } else { Arrivals::Poisson };
    let mut offered = Vec::new();
    for said in &rates? {
        match said.value {
            Value::Rate(0) => {
                let (least, most) = ("1B/s".into(), "any".into());
                let problem = Common::OutOfRange { text: "0B/s".into(), least, most };
                reports.add(problem, said.spot, &fields.at("rate"));
                return None;
            }
            Value::Rate(bytes_per_second) => offered.push(Offered::Rate { bytes_per_second, arrivals }),
            other => unreachable!("`rate` is declared as rates, read as {other:?}"),
        }
    }
    Some(offered)
}

pub(crate) fn fits(
    fields: &Fields<'_>,
    sizes: &[Bytes],
    key: &'static str,
    room: Bytes,
    reports: &mut Reports,
) {
    let Some(largest) = sizes.iter().max().filter(|size| **size > room) else { return };
    let written = |size| quantity::written(Value::Size(size));
    let problem = Problem::WindowTooSmall { size: written(*largest), window: written(room), key };
    fields.fault(key, problem, reports);
}

/// Reports rates at which hardly any request would ever be sent.
pub(crate) fn is_brisk(fields: &Fields<'_>, sizes: &[Bytes], offered: &[Offered], reports: &mut Reports) {
    let Some(Bytes(largest)) = sizes.iter().max().copied() else { return };
    let least = largest.div_ceil(LONGEST_GAP_SECONDS);
    let rate = |offered: &Offered| match *offered {
        Offered::Rate { bytes_per_second, .. } => Some(bytes_per_second),
        Offered::Outstanding(_) => None,
    };
    if let Some(slowest) = offered.iter().filter_map(rate).min().filter(|rate| *rate < least) {
        let written = |rate| quantity::written(Value::Rate(rate));
        let problem =
            Common::OutOfRange { text: written(slowest), least: written(least), most: "any".into() };
        fields.fault("rate", problem, reports);
    }
}

/// Every size combined with every offered depth or rate.
pub(crate) fn spread(
    fields: &Fields<'_>,
    closed: &'static str,
    sizes: &[Bytes],
    offered: &[Offered],
    reports: &mut Reports,
    load: impl Fn(Bytes, Offered) -> Load,
) -> Option<Vec<Case>> {
    let count = sizes.len().saturating_mul(offered.len());
    if count > MOST_CASES {
        fields.fault("size", Problem::TooMuch { cases: count, most: MOST_CASES }, reports);
        return None;
    }
    // a rate is given in the unit of the throughput of such a load
    let (unit, bytes) = if closed == "outstanding" { ("Gb/s", 125e6) } else { ("MB/s", 1e6) };
    let in_unit = |bytes_per_second: u64| bytes_per_second as f64 / bytes;
    let axis = |name, value, unit| Some(Axis { name, value, unit, curve: String::new() });
    let axis = |size: Bytes, offered_here: Offered| match (sizes.len(), offered_here) {
        // the sizes are the axis; if depth or rate varies, too, the cases are a family of curves
        (2.., _) => axis("size", size.0 as f64, "B"),
        _ if offered.len() == 1 => None,
        (_, Offered::Outstanding(count)) => axis(closed, f64::from(count), ""),
        (_, Offered::Rate { bytes_per_second, .. }) => axis("rate", in_unit(bytes_per_second), unit),
    };
    let label = |size: Bytes, offered_here: Offered| {
        let size = quantity::label(Value::Size(size));
        match offered_here {
            _ if offered.len() == 1 => size,
            Offered::Outstanding(count) => format!("{size}, {count} in flight"),
            Offered::Rate { bytes_per_second, .. } => {
                format!("{size}, {} {unit} offered", in_unit(bytes_per_second))
            }
        }
    };
    let case = |size, offered| Case {
        label: label(size, offered),
        axis: axis(size, offered),
        load: load(size, offered),
    };
    Some(
        sizes
            .iter()
            .flat_map(|size| offered.iter().map(move |offered| (*size, *offered)))
            .map(|(s, o)| case(s, o))
            .collect(),
    )
}
