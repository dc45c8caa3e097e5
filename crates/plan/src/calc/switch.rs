//! Latency of a packet in a switch, and oversubscription of its ports.

use super::form::{ADDRESS, Form, GEN, WIDTHS, address, argument, coded, generation, row, width_of};
use super::link::nanoseconds;
use lanetwin_pcie::spec::{Dwords, Format, TlpKind};
use lanetwin_ports::Dimension;
use lanetwin_units::LinkRate;

/// Bytes of a TLP that cut-through forwarding needs before it starts \[B\]: framing and a header of 4 DW.
const SEEN_BYTES: u64 = 24;

pub(super) static SWITCH: Form = Form {
    name: "switch",
    about: "How long a packet takes through an idle switch, and the last of several that come through as many ports at once.",
    formula: "cut-through = latency + max(header in, packet in − packet out); store-and-forward = latency + packet in; last = first + (ports − 1) · packet out",
    arguments: &[
        GEN,
        argument(
            "in",
            Dimension::Choice(WIDTHS),
            None,
            "the lanes of the port that the packet comes in through",
        ),
        argument("out", Dimension::Choice(WIDTHS), None, "the lanes of the port that it leaves through"),
        argument(
            "latency",
            Dimension::Time,
            None,
            "from the header (or the whole packet) being in to its being able to leave",
        ),
        argument(
            "size",
            Dimension::Size,
            Some("256B"),
            "the payload; at most 4KiB, rounded up to whole dwords",
        ),
        argument(
            "ports",
            Dimension::Count { least: 1, most: 42 },
            Some("4"),
            "how many ports bring a packet at once",
        ),
        ADDRESS,
    ],
    evaluate: |values| {
        let generation = generation(values);
        let (from, to) = (width_of(values, "in"), width_of(values, "out"));
        let dwords = values.size("size").0.min(4_096).div_ceil(4);
        let dwords = Dwords(u16::try_from(dwords).expect("at most 1024"));
        let bytes = u64::from(Format::new(TlpKind::MWr, address(values)).wire_bytes(generation, dwords));
        let time = |width, bytes| nanoseconds(LinkRate::pcie(generation, width).ticks_for(bytes));
        let (arriving, leaving) = (time(from, bytes), time(to, bytes));
        let header = time(from, SEEN_BYTES.min(bytes));
        let latency = values.time("latency").as_ps() as f64 / 1e3;
        let ports = values.count("ports") as f64;
        let cut = latency + header.max(arriving - leaving);
        let stored = latency + arriving;
        let wait = (ports - 1.0) * leaving;
        let share = coded(generation, to) / ports / 1e9;
        let first = "first bit in to first bit out, idle switch";
        let last = format!("last bit out of the last of {ports} packets that come at once");
        vec![
            row("packet in", arriving, "ns", format!("{bytes} B at {generation} {from}")),
            row("packet out", leaving, "ns", format!("{bytes} B at {generation} {to}")),
            row("cut-through", cut, "ns", first.into()),
            row("store-and-forward", stored, "ns", first.into()),
            row("cut-through, last", cut + leaving + wait, "ns", last.clone()),
            row("store-and-forward, last", stored + leaving + wait, "ns", last),
            row("share of the output", share, "GB/s", format!("after coding, {ports} ports taking turns")),
        ]
    },
};
