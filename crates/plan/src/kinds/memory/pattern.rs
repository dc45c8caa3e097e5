//! `pattern:` – the access pattern of threads, without sizes and placements.

use crate::values::choice;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_load::memory::{ChaseOrder, TrafficOrder};

/// The access pattern of threads, without sizes and placements.
#[derive(Clone, Copy)]
pub(super) enum Pattern {
    Chase(ChaseOrder),
    /// Streams, with or without a thread that chases pointers.
    Traffic(TrafficOrder, bool),
}

/// Reads it; some other keys are valid only with certain patterns.
pub(super) fn read(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Pattern> {
    let chaser = choice(fields, "chaser", reports).map(|word| word == "on");
    let order = match choice(fields, "pattern", reports)? {
        "sequential" => return Some(Pattern::Traffic(TrafficOrder::Sequential, chaser?)),
        "random" => return Some(Pattern::Traffic(TrafficOrder::Random, chaser?)),
        "chase-stride" => ChaseOrder::Stride,
        "chase-page-by-page" => ChaseOrder::PageByPage,
        "chase-across-pages" => ChaseOrder::AcrossPages,
        _ => ChaseOrder::Random,
    };
    // a single thread that chases pointers has no mix, delay or companions
    for key in ["mix", "threads", "delay", "chaser"] {
        let written = fields.written(key).filter(|node| node.origin != Origin::Default);
        if written.is_some() && !says_nothing(fields, key) {
            fields.fault(key, Common::Exclusive { one: "pattern: chase", other: key }, reports);
        }
    }
    Some(Pattern::Chase(order))
}

/// Whether the value of a key equals what a chase always has, as in a complete plan.
fn says_nothing(fields: &Fields<'_>, key: &str) -> bool {
    let text = fields.written(key).and_then(Node::text).unwrap_or_default();
    matches!(
        (key, text),
        ("mix", "all-reads") | ("threads", "1") | ("delay", "0" | "0ps" | "0ns") | ("chaser", "off")
    )
}
