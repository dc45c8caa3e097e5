//! `takeover:` of a workload on several hosts.

use crate::plan::Pair;
use crate::problem::Problem;
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_ports::Value;
use lanetwin_units::Span;
use std::collections::BTreeSet;

/// Time after which another host takes over for one that has lost its drive. Returns `None` if that is impossible,
/// which is reported.
#[expect(clippy::option_option, reason = "what is wrong is not what is not there")]
pub(super) fn read(
    fields: &mut Fields<'_>,
    pairs: Option<&[Pair]>,
    reports: &mut Reports,
) -> Option<Option<Span>> {
    if fields.written("takeover").is_none() {
        return Some(None);
    }
    let Value::Time(after) = fields.one("takeover", reports)?.value else {
        unreachable!("`takeover` is declared as a time")
    };
    let pairs = pairs?;
    let hosts_of = |drive: usize| {
        let own = pairs.iter().filter(|pair| pair.target == drive);
        own.map(|pair| pair.on).collect::<BTreeSet<_>>().len()
    };
    if pairs.iter().any(|pair| hosts_of(pair.target) < 2) {
        fields.fault("takeover", Problem::NoTakeover, reports);
        return None;
    }
    Some(Some(after))
}
