//! Throughput of a link, and the time of a packet.

use super::form::{
    ADDRESS, Form, GEN, MPS, WIDTH, address, argument, coded, generation, payload, row, width,
};
use lanetwin_document::declaration::Field;
use lanetwin_pcie::spec::timing::{
    SkpSchedule, ack_coalescing, ack_latency_limit, ack_latency_limit_symbols, replay_timer,
};
use lanetwin_pcie::spec::{Clocking, Dwords, Format, TlpKind};
use lanetwin_ports::{Dimension, Params};
use lanetwin_units::{LinkRate, TICKS_PER_PS, Ticks};

const DLLP: Field = argument(
    "dllp",
    Dimension::Size,
    Some("0B"),
    "bytes of ACK and UpdateFC that a TLP shares the wire with; 4B is IDT's rule of thumb",
);
const SIZE: Field = argument("size", Dimension::Size, None, "the bytes of the transfer");

pub(super) static LINK: Form = Form {
    name: "link",
    about: "What one direction of a link carries: raw, after line coding, after SKP, and as payload.",
    formula: "payload = lanes · rate · coding · (1 − SKP) · MPS / (MPS + overhead + DLLP)",
    arguments: &[
        GEN,
        WIDTH,
        MPS,
        ADDRESS,
        DLLP,
        argument(
            "clocking",
            Dimension::Choice(&["common", "srns", "sris", "off"]),
            Some("common"),
            "the reference clocks, which say how often SKP is sent; off for no SKP",
        ),
    ],
    evaluate: |values| {
        let (generation, width, mps) = (generation(values), width(values), payload(values, "mps"));
        let raw = generation.megatransfers() as f64 * 1e6 * width.lanes() as f64;
        let coded = coded(generation, width);
        let skp = skp_share(values);
        let overhead = Format::new(TlpKind::MWr, address(values)).overhead_bytes(generation);
        let dllp = values.size("dllp").0;
        let mps = f64::from(mps.bytes());
        let share = mps / (mps + f64::from(overhead) + dllp as f64);
        let (bits, per_byte) = generation.bits_per_byte();
        vec![
            row(
                "raw",
                raw / 1e9,
                "Gb/s",
                format!("{} lanes of {} MT/s", width.lanes(), generation.megatransfers()),
            ),
            row("after coding", coded / 1e9, "GB/s", format!("{bits} bits on the wire for {per_byte} B")),
            row("after SKP", coded * (1.0 - skp) / 1e9, "GB/s", format!("SKP takes {:.3} %", skp * 100.0)),
            row(
                "payload",
                coded * (1.0 - skp) * share / 1e9,
                "GB/s",
                format!(
                    "{mps} B of every {} B: {overhead} B of overhead, {dllp} B of DLLP",
                    mps + f64::from(overhead) + dllp as f64
                ),
            ),
            row("payload", coded * (1.0 - skp) * share * 8.0 / 1e9, "Gb/s", "the same in bits".into()),
        ]
    },
};

/// The share of the time on the wire that SKP ordered sets take.
fn skp_share(values: &Params) -> f64 {
    let clocking = match values.choice("clocking") {
        "off" => return 0.0,
        "srns" => Clocking::Srns,
        "sris" => Clocking::Sris,
        _ => Clocking::Common,
    };
    let schedule = SkpSchedule::new(generation(values), clocking);
    schedule.length().0 as f64 / schedule.period().0 as f64
}

pub(super) static TLP_EFFICIENCY: Form = Form {
    name: "tlp-efficiency",
    about: "How much of what writing a transfer puts on the wire is payload.",
    formula: "efficiency = size / (size + ⌈size / MPS⌉ · (overhead + DLLP))",
    arguments: &[SIZE, MPS, ADDRESS, DLLP],
    evaluate: |values| {
        let (size, mps) = (values.size("size").0, u64::from(payload(values, "mps").bytes()));
        let overhead = u64::from(
            Format::new(TlpKind::MWr, address(values)).overhead_bytes(lanetwin_units::Generation::Gen5),
        );
        let dllp = values.size("dllp").0;
        let packets = size.div_ceil(mps).max(1);
        let wire = size as f64 + packets as f64 * (overhead as f64 + dllp as f64);
        vec![
            row("TLPs", packets as f64, "", format!("{size} B in pieces of {mps} B")),
            row("on the wire", wire, "B", format!("{overhead} B of overhead and {dllp} B of DLLP a TLP")),
            row("efficiency", size as f64 / wire, "", "payload by bytes on the wire".into()),
        ]
    },
};

pub(super) static SERIALISATION: Form = Form {
    name: "serialisation",
    about: "How long one TLP takes on the wire.",
    formula: "time = (overhead + payload) · coding / (lanes · rate)",
    arguments: &[
        GEN,
        WIDTH,
        argument("size", Dimension::Size, None, "the payload; at most 4KiB, rounded up to whole dwords"),
        argument(
            "kind",
            Dimension::Choice(&["MWr", "MRd", "CplD", "Msg"]),
            Some("MWr"),
            "the kind of TLP; MRd and Msg carry no payload",
        ),
        ADDRESS,
    ],
    evaluate: |values| {
        let (generation, width) = (generation(values), width(values));
        let kind = match values.choice("kind") {
            "MRd" => TlpKind::MRd,
            "CplD" => TlpKind::CplD,
            "Msg" => TlpKind::Msg,
            _ => TlpKind::MWr,
        };
        let dwords = if kind.has_data() { values.size("size").0.min(4_096).div_ceil(4) } else { 0 };
        let dwords = Dwords(u16::try_from(dwords).expect("at most 1024"));
        let bytes = Format::new(kind, address(values)).wire_bytes(generation, dwords);
        let time = LinkRate::pcie(generation, width).ticks_for(u64::from(bytes));
        vec![
            row(
                "on the wire",
                f64::from(bytes),
                "B",
                format!("{} B of payload and {} B around it", dwords.bytes(), bytes - dwords.bytes()),
            ),
            row("time", nanoseconds(time), "ns", format!("at {generation} {width}, coding included")),
        ]
    },
};

pub(super) static ACK_LIMIT: Form = Form {
    name: "ack-limit",
    about: "How long a receiver may wait before it acknowledges, and what follows from it.",
    formula: "limit = (MPS + 28) · AckFactor / lanes + InternalDelay, in symbol times; replay timer = 3 · limit",
    arguments: &[GEN, WIDTH, MPS],
    evaluate: |values| {
        let (generation, width, mps) = (generation(values), width(values), payload(values, "mps"));
        let symbols = ack_latency_limit_symbols(generation, width, mps);
        let limit = ack_latency_limit(generation, width, mps);
        let timer = replay_timer(generation, width, mps);
        let together = ack_coalescing(generation, width, mps);
        vec![
            row(
                "ACK latency limit",
                symbols as f64,
                "symbol times",
                "the table of the standard, by formula".into(),
            ),
            row("ACK latency limit", nanoseconds(limit), "ns", format!("at {generation}")),
            row(
                "replay timer",
                nanoseconds(timer),
                "ns",
                "three limits (assumed: the rule of Gen1 to Gen3)".into(),
            ),
            row("TLPs for one ACK", together as f64, "", "full writes that fit into the limit".into()),
        ]
    },
};

pub(super) fn nanoseconds(time: Ticks) -> f64 {
    time.0 as f64 / (TICKS_PER_PS * 1_000) as f64
}
