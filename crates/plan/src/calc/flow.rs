//! Closed forms of data in flight: credits, and Little's law.

use super::form::{
    ADDRESS, Form, GEN, MPS, Row, WIDTH, address, argument, coded, generation, payload, row, width,
};
use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::problem::Problem;
use lanetwin_pcie::spec::{Format, TlpKind};
use lanetwin_ports::{Dimension, Params};

pub(super) static CREDITS: Form = Form {
    name: "credits",
    about: "How many posted credits a receiver must advertise for a writer never to wait.",
    formula: "TLPs in flight = round trip · rate / wire bytes of a TLP, rounded up; a data credit is 16 B",
    arguments: &[
        GEN,
        WIDTH,
        MPS,
        ADDRESS,
        argument(
            "rtt",
            Dimension::Time,
            None,
            "from a TLP's start to its credit being back: wire, flight, buffer, UpdateFC",
        ),
    ],
    evaluate: |values| {
        let (generation, width, mps) = (generation(values), width(values), payload(values, "mps"));
        let wire = Format::new(TlpKind::MWr, address(values)).wire_bytes(generation, mps.dwords());
        let bytes = values.time("rtt").as_ps() as f64 * 1e-12 * coded(generation, width);
        let packets = (bytes / f64::from(wire)).ceil().max(1.0);
        let data = f64::from(mps.bytes().div_ceil(16));
        vec![
            row("in flight", bytes, "B", "round trip times rate".into()),
            row("header credits", packets, "PH", format!("TLPs of {wire} B on the wire, rounded up")),
            row("data credits", packets * data, "PD", format!("{data} for each TLP of {} B", mps.bytes())),
        ]
    },
};

const fn optional(name: &'static str, dimension: Dimension, about: &'static str) -> Field {
    Field { name, holds: Holds::One(dimension), default: None, required: false, about }
}

pub(super) static LITTLES_LAW: Form = Form {
    name: "littles-law",
    about: "Of throughput, latency and transfers in flight, the one that follows from the other two.",
    formula: "in flight = rate / size · latency",
    arguments: &[
        argument("size", Dimension::Size, None, "the bytes of a transfer"),
        optional("rate", Dimension::Rate, "the throughput"),
        optional("latency", Dimension::Time, "the time that a transfer is in flight"),
        optional("outstanding", Dimension::Count { least: 1, most: 1 << 32 }, "the transfers in flight"),
    ],
    evaluate,
};

/// Checks the arguments of Little's law beyond their form: two of three are needed, and neither may be zero.
pub(super) fn check(values: &Params) -> Option<Problem> {
    let given = |key: &&str| values.0.contains_key(key);
    let absent = ["rate", "latency", "outstanding"].into_iter().filter(|key| !given(key)).count();
    if absent == 0 {
        return Some(Problem::Exclusive { one: "outstanding", other: "rate and latency" });
    }
    if absent > 1 {
        let about = "two of `rate`, `latency` and `outstanding`".into();
        return Some(Problem::Missing { key: "rate".into(), about });
    }
    let zero = values.size("size").0 == 0
        || (given(&"rate") && values.rate("rate") == 0)
        || (given(&"latency") && values.time("latency").as_ps() == 0);
    let (text, least, most) = ("0".into(), "more than 0".into(), "any".into());
    zero.then_some(Problem::OutOfRange { text, least, most })
}

fn evaluate(values: &Params) -> Vec<Row> {
    let size = values.size("size").0 as f64;
    let rate = || values.rate("rate") as f64;
    let latency = || values.time("latency").as_ps() as f64 * 1e-12;
    let in_flight = || values.count("outstanding") as f64;
    let given = |key: &str| values.0.contains_key(key);
    if !given("outstanding") {
        let count = rate() / size * latency();
        return vec![row("in flight", count, "transfers", "rate / size · latency".into())];
    }
    if !given("rate") {
        let each = in_flight() / latency();
        return vec![
            row("transfers", each / 1e6, "M/s", "in flight / latency".into()),
            row("throughput", each * size / 1e9, "GB/s", "transfers · size".into()),
            row("throughput", each * size * 8.0 / 1e9, "Gb/s", "the same in bits".into()),
        ];
    }
    vec![row("latency", in_flight() * size / rate() * 1e9, "ns", "in flight · size / rate".into())]
}
