//! Errors at both ends of a link since the last read: Advanced Error Reporting, errors of lanes, parity mismatches.

use super::bench::{Bench, Step};
use crate::function::Function;
use crate::host::Counters;
use crate::registers::{
    CORRECTABLE, CorrectableErrors, LANE_ERRORS, PARITY_LOCAL, PARITY_RETIMER_1, PARITY_RETIMER_2, Place,
    UNCORRECTABLE,
};
use lanetwin_wire::values;
use serde::Serialize;
use std::collections::BTreeMap;

/// Errors of one end since the last read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Seen {
    /// Correctable Error Status: the bits that were set.
    pub correctable: u32,
    /// Uncorrectable Error Status: the bits that were set.
    pub uncorrectable: u32,
    /// Lanes with an error.
    pub lanes: u32,
    /// Lanes with a parity mismatch: at this end, at the first and at the second retimer.
    pub parity: [u32; 3],
    /// Increase of the operating system's counters; `None` at the first read, or if there are no counters.
    pub counted: Option<Counters>,
}

impl Seen {
    /// Minimum number of correctable errors: each status bit stands for one or more.
    #[must_use]
    pub fn correctable_errors(&self) -> u64 {
        let counted = self.counted.map_or(0, |counters| counters.correctable);
        counted.max(u64::from(self.correctable.count_ones()))
    }
}

/// Errors of a series at one end: the number of cycles with each error.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Tally {
    /// Cycles with an error of this name.
    pub cycles: BTreeMap<String, u64>,
    /// Errors counted by the operating system in all cycles.
    pub counted: Option<Counters>,
}

impl Tally {
    /// Adds the errors of a cycle.
    pub fn add(&mut self, seen: &Seen) {
        let mut one = |name: String| *self.cycles.entry(name).or_insert(0) += 1;
        for (field, value) in values(CorrectableErrors::from_raw(seen.correctable)) {
            if value != 0 && !field.is_reserved() {
                one(field.name.to_owned());
            }
        }
        if seen.uncorrectable != 0 {
            one("uncorrectable".to_owned());
        }
        for lane in (0..32).filter(|lane| seen.lanes & 1 << lane != 0) {
            one(format!("lane {lane}"));
        }
        for (lanes, who) in seen.parity.iter().zip(["this end", "retimer 1", "retimer 2"]) {
            for lane in (0..32).filter(|lane| lanes & 1 << lane != 0) {
                one(format!("parity, {who}, lane {lane}"));
            }
        }
        if let Some(new) = seen.counted {
            let all = self.counted.get_or_insert_with(Counters::default);
            all.correctable += new.correctable;
            all.nonfatal += new.nonfatal;
            all.fatal += new.fatal;
        }
    }
}

impl Bench<'_, '_> {
    /// Reads and clears the errors of each end since the last read, port first.
    pub(super) fn look_at_errors(&mut self, counted: &mut [Option<Counters>; 2]) -> Step<[Seen; 2]> {
        let ends = [self.port.clone(), self.device.clone()];
        let mut seen = [Seen::default(), Seen::default()];
        for (at, end) in ends.iter().enumerate() {
            let mut take = |register| self.take(end, register);
            seen[at] = Seen {
                correctable: take(CORRECTABLE.place)?,
                uncorrectable: take(UNCORRECTABLE.place)?,
                lanes: take(LANE_ERRORS.place)?,
                parity: [
                    take(PARITY_LOCAL.place)?,
                    take(PARITY_RETIMER_1.place)?,
                    take(PARITY_RETIMER_2.place)?,
                ],
                counted: None,
            };
            let now = self.host().counters(end.address);
            seen[at].counted = match (now, counted[at]) {
                (Some(now), Some(before)) => Some(Counters {
                    correctable: now.correctable.saturating_sub(before.correctable),
                    nonfatal: now.nonfatal.saturating_sub(before.nonfatal),
                    fatal: now.fatal.saturating_sub(before.fatal),
                }),
                _ => None,
            };
            counted[at] = now;
        }
        Ok(seen)
    }

    /// Reads a status register and clears its bits; 0 if the function does not have it, or does not respond.
    fn take(&mut self, of: &Function, place: Place) -> Step<u32> {
        let Some(offset) = of.offset(&place) else { return Ok(0) };
        let Ok(held) = self.host().read(of.address, offset, place.width) else { return Ok(0) };
        if held == place.width.ones() {
            return Ok(0);
        }
        if held & place.clears != 0 {
            self.host().write(of.address, offset, place.width, held & place.clears)?;
        }
        Ok(held & place.clears)
    }
}
