//! `down:` of a link: when it is down.

use crate::plan::Down;
use crate::problem::Problem;
use crate::values::{self, out_of_range};
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::{Instant, Span};

/// A link that is down for longer, all in all, is taken for a load that is stuck.
const LONGEST: Span = Span::from_us(60_000_000);
/// No run gets this far; the links count time in 1024ths of a picosecond with 64 bits.
const LATEST: Span = Span::from_us(1_000_000_000);

/// The outages, each after the one before.
pub(super) fn read(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Down>> {
    let mut items = fields.list("down", reports)?;
    let read: Vec<Option<Down>> = items.iter_mut().map(|item| outage(item, reports)).collect();
    let mut all = Span::ZERO;
    let mut end = Instant::ZERO;
    for (item, down) in items.iter().zip(&read) {
        let Some(Down { at, lasts }) = *down else { continue };
        all += lasts;
        if all > LONGEST {
            item.fault("for", out_of_range(lasts, Span::from_ps(1), LONGEST), reports);
        }
        if at < end {
            let problem = Problem::Outages {
                at: written(at.since(Instant::ZERO)),
                until: written(end.since(Instant::ZERO)),
            };
            item.fault("at", problem, reports);
        }
        end = end.max(at + lasts);
    }
    fields.record_list("down", items);
    read.into_iter().collect()
}

fn outage(item: &mut Fields<'_>, reports: &mut Reports) -> Option<Down> {
    let mut time = |key| item.one(key, reports).map(|said| values::time(said.value));
    let (at, lasts) = (time("at"), time("for"));
    let (at, lasts) = (at?, lasts?);
    for (key, time, least, most) in
        [("at", at, Span::ZERO, LATEST), ("for", lasts, Span::from_ps(1), LONGEST)]
    {
        if time < least || time > most {
            item.fault(key, out_of_range(time, least, most), reports);
            return None;
        }
    }
    Some(Down { at: Instant::ZERO + at, lasts })
}

fn written(time: Span) -> String {
    quantity::written(Value::Time(time))
}
