//! Values with a form of their own: lists of shares, distributions of random addresses, limits of a steady state.

use super::super::distribution::{Distribution, PARETO_H, ZIPF_THETA, Zone};
use super::super::lines::{Line, shown};
use super::super::number::{self, WHOLE};
use super::super::problem::Problem;
use super::super::value::{Reader, float};
use std::collections::BTreeSet;

/// Maximum number of zones (`thread_options.h`).
const MOST_ZONES: usize = 256;
/// Upper limit of CPU numbers (`CPU_SETSIZE` of the C library).
const MOST_CPUS: u32 = 1024;

/// `steadystate`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SteadyState {
    /// Whether it tracks I/Os per second; otherwise bytes.
    pub iops: bool,
    /// Whether it limits the slope; otherwise the largest deviation from the mean.
    pub slope: bool,
    /// The upper limit.
    pub limit: f64,
    /// Whether the limit is in percent of the mean; otherwise in I/Os or bytes per second.
    pub percent: bool,
}

/// Reads a list `a/b:c/d:e` of sizes, each with the value after the slash; `None` where that is left out. Sizes are
/// numbers with units; the values are, too, if `absolute`, and otherwise percentages.
pub(super) fn shares(
    text: &str,
    name: &'static str,
    absolute: bool,
    most: usize,
    line: &Line,
    reader: &mut Reader<'_>,
) -> Option<Vec<(u64, Option<u64>)>> {
    let mut list = Vec::new();
    for entry in text.split(':').take_while(|entry| !entry.is_empty()) {
        let (one, other) = entry.split_once('/').map_or((entry, None), |(one, other)| (one, Some(other)));
        let base = reader.base;
        let behind = match other {
            None => Some(None),
            Some(other) if absolute => number::size(other, base).map(|read| Some(read.value)),
            // as C's `atoi`: without digits it is 0, and 0 means the remaining share
            Some(other) => {
                let digits: String = other.trim().chars().take_while(char::is_ascii_digit).collect();
                let percent: u64 = digits.parse().unwrap_or(0);
                Some((percent > 0).then_some(percent.min(WHOLE)))
            }
        };
        let (Some(one), Some(behind)) = (number::size(one, base), behind) else {
            let form = "pairs such as `4k/60:64k/40`";
            reader.report(&Problem::BadForm { name, text: shown(entry), form }, &line.at);
            return None;
        };
        if list.len() == most {
            let text = format!("a list of more than {most}");
            let (least, most) = ("a list of 1".to_owned(), format!("a list of {most}"));
            reader.report(&Problem::OutOfRange { name, text, least, most }, &line.at);
            return None;
        }
        list.push((one.value, behind));
    }
    Some(list)
}

/// Reads a list of CPUs and ranges of CPUs, `1,5,8-15`: ascending, without duplicates. The list ends at an empty item.
///
/// fio reads `a` and `0x1` as CPU 0, and does not start without any CPU; both are rejected here.
pub(super) fn cpus(text: &str, name: &'static str, line: &Line, reader: &mut Reader<'_>) -> Option<Vec<u32>> {
    let number = |text: &str| text.trim().parse().ok().filter(|cpu| *cpu < MOST_CPUS);
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(number(from)?..=number(to)?)
    };
    let parts = text.split(',').map(str::trim).take_while(|part| !part.is_empty());
    let ranges: Option<Vec<_>> = parts.map(range).collect();
    let all: BTreeSet<u32> = ranges.into_iter().flatten().flatten().collect();
    if all.is_empty() {
        let form = "CPUs and ranges of them, from 0 to 1023, such as `1,5,8-15`";
        reader.report(&Problem::BadForm { name, text: shown(text), form }, &line.at);
        return None;
    }
    Some(all.into_iter().collect())
}

pub(super) fn distribution(
    word: &'static str,
    rest: Option<&str>,
    line: &Line,
    reader: &mut Reader<'_>,
) -> Option<Distribution> {
    let name = "random_distribution";
    if word == "random" {
        return Some(Distribution::Random);
    }
    if word.starts_with("zoned") {
        return zones(word == "zoned_abs", rest.unwrap_or_default(), line, reader);
    }
    let (number, center) = match rest.map(|rest| rest.split_once(':').unwrap_or((rest, ""))) {
        None => (None, None),
        Some((number, "")) => (Some(float(number)), None),
        Some((number, center)) => (Some(float(number)), Some(float(center))),
    };
    let form =
        "`zipf:1.2`, `pareto:0.3`, `normal:20`, each perhaps with a centre from 0 to 1 behind another colon";
    let bad = || Problem::BadForm { name, text: shown(rest.unwrap_or_default()), form };
    if number == Some(None) || center.is_some_and(|center| !center.is_some_and(|c| (0.0..=1.0).contains(&c)))
    {
        reader.report(&bad(), &line.at);
        return None;
    }
    let (number, center) = (number.flatten(), center.flatten());
    let (value, least, most, fits) = match word {
        "zipf" => {
            let theta = number.unwrap_or(ZIPF_THETA);
            (theta, "0", "10, but not 1", theta != 1.0 && (0.0..=10.0).contains(&theta))
        }
        "pareto" => {
            let h = number.unwrap_or(PARETO_H);
            (h, "above 0", "below 1", h > 0.0 && h < 1.0)
        }
        _ => {
            let deviation = number.unwrap_or(0.0);
            (deviation, "0", "below 100", (0.0..100.0).contains(&deviation))
        }
    };
    if !fits {
        let (text, least, most) = (value.to_string(), least.to_owned(), most.to_owned());
        reader.report(&Problem::OutOfRange { name, text, least, most }, &line.at);
        return None;
    }
    Some(match word {
        "zipf" => Distribution::Zipf { theta: value, center },
        "pareto" => Distribution::Pareto { h: value, center },
        _ => Distribution::Normal { deviation: value, center },
    })
}

fn zones(absolute: bool, text: &str, line: &Line, reader: &mut Reader<'_>) -> Option<Distribution> {
    let name = "random_distribution";
    let list = shares(text, name, absolute, MOST_ZONES, line, reader)?;
    let access: u64 = list.iter().map(|(access, _)| *access).fold(0, u64::saturating_add);
    if access != WHOLE {
        reader.report(&Problem::Shares { name, sum: access }, &line.at);
        return None;
    }
    let given: u64 = list.iter().filter_map(|(_, size)| *size).fold(0, u64::saturating_add);
    let missing = list.iter().filter(|(_, size)| size.is_none()).count() as u64;
    if !absolute && given > WHOLE {
        reader.report(&Problem::Shares { name, sum: given }, &line.at);
        return None;
    }
    let rest = WHOLE.saturating_sub(given).checked_div(missing).unwrap_or(0);
    let zone =
        |(access, size): (u64, Option<u64>)| Zone { access: access as u32, size: size.unwrap_or(rest) };
    let zones = list.into_iter().map(zone).collect();
    Some(if absolute { Distribution::ZonedAbs(zones) } else { Distribution::Zoned(zones) })
}

pub(super) fn steady_state(
    word: &'static str,
    rest: Option<&str>,
    line: &Line,
    reader: &mut Reader<'_>,
) -> Option<SteadyState> {
    let iops = word.starts_with("iops");
    let text = rest.unwrap_or_default();
    let percent = text.contains('%');
    let limit = if iops || percent {
        float(text.split('%').next().unwrap_or_default())
    } else {
        number::size(text, reader.base).map(|read| read.value as f64)
    };
    let Some(limit) = limit else {
        let form = "the limit behind the word, such as `iops:10%` or `bw_slope:1m`";
        reader.report(&Problem::BadForm { name: "steadystate", text: shown(text), form }, &line.at);
        return None;
    };
    Some(SteadyState { iops, slope: word.ends_with("slope"), limit, percent })
}
