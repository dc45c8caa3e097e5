//! `switch`: a PCIe switch. The links implement its behaviour; this model has its parameters.
//!
//! ```text
//!  link ═► ingress buffer ─ latency ─┬─► [core ─► output buffer] ─► arbitration ═► link
//!          (credits of the port)     └ of the pair of widths (in, out), or `latency`
//! ```
//!
//! The port that leads to the host is found in the links of the machine. A port advertises the size of the switch's
//! ingress buffer behind it, also for completions: a switch cannot refuse TLPs for which it has given credit, and
//! infinite completion credits are for endpoints and root complexes (PCI Express Base, section 2.6.1).
//!
//! Not here: departure times of TLPs (docs/link-model.md), topology, non-transparent ports, multicast, access
//! control.

use lanetwin_pcie::link::{Arbitration, Core, Forwarding, OutputBuffer, SWITCH_PORTS_MAX, SwitchSpec};
use lanetwin_ports::{
    Build, Condition, Dimension, LATENCY, Model, PCIE_PORT, Param, Params, PortInfo, Protocol, Setting, Way,
};
use lanetwin_units::{Span, Width};

/// The declaration.
pub static MODEL: Model = Model {
    name: "switch",
    about: "A PCIe switch: forwards TLPs between its ports, one of which leads to a host.",
    ports: &[PortInfo {
        name: "port",
        speaks: Protocol::Pcie,
        about: "the ports, upstream or downstream as they are linked",
        many: true,
    }],
    params: &[&PORT, PARAMS, &PAIRS],
    conditions: CONDITIONS,
    latency_parameter: |params, way| match way {
        Way::Between(from, to) => latency_parameter(params, from, to),
        Way::Along(_) => LATENCY,
    },
    build: Build::Switch(spec),
    ..Model::DEFAULT
};

/// Parameters of a core have no effect without one; a shared memory has no output buffers.
const CONDITIONS: &[Condition] = &[
    Condition { of: &["speed-up", "output."], on: "core", must_be: Setting::Not("none") },
    Condition { of: &["output."], on: "core", must_be: Setting::Not("shared-memory") },
];

/// Payload of a data credit \[B\] (PCI Express Base, section 2.6.1).
const CREDIT_BYTES: u64 = 16;

/// A port of a switch advertises a finite buffer of every class.
///
/// `assumed`: buffers of 8 KiB of posted and of completion data, and 64 TLPs of each class.
const PORT: [Param; PCIE_PORT.len()] = Param::with_defaults(
    PCIE_PORT,
    &[
        ("port.posted-header-credits", "64"),
        ("port.posted-data-credits", "512"),
        ("port.non-posted-header-credits", "64"),
        ("port.non-posted-data-credits", "64"),
        ("port.completion-header-credits", "64"),
        ("port.completion-data-credits", "512"),
    ],
);

const PARAMS: &[Param] = &[
    Param {
        name: "ports",
        dimension: Dimension::Count { least: 2, most: SWITCH_PORTS_MAX as u64 },
        default: Some("4"),
        about: "how many ports there are, upstream and downstream",
    },
    Param {
        name: "lanes",
        dimension: Dimension::Count { least: 0, most: 1024 },
        default: Some("0"),
        about: "the most lanes that its links may have together; 0 is no limit",
    },
    Param {
        name: "forwarding",
        dimension: Dimension::Choice(&["cut-through", "store-and-forward"]),
        default: Some("cut-through"),
        about: "whether a TLP may be forwarded when its header is in, or when all of it is",
    },
    Param {
        name: "core",
        dimension: Dimension::Choice(&["none", "crossbar", "shared-bus", "shared-memory"]),
        default: Some("none"),
        about: "what moves TLPs from the ingress buffers to the outputs; `none` has no limit of its own",
    },
    Param {
        name: "speed-up",
        dimension: Dimension::Count { least: 1, most: 64 },
        default: Some("2"),
        about: "the rate of the core as a multiple: of the output's link (crossbar) or of the fastest link (shared)",
    },
    Param {
        name: "output.tlps",
        dimension: Dimension::Count { least: 1, most: 4096 },
        default: Some("32"),
        about: "how many TLPs of each class the buffer at an output holds, behind a crossbar or a shared bus",
    },
    Param {
        name: "output.data",
        dimension: Dimension::Size,
        default: Some("8KiB"),
        about: "how much payload of each class the buffer at an output holds, behind a crossbar or a shared bus",
    },
    Param {
        name: "arbitration",
        dimension: Dimension::Choice(&["round-robin", "weighted"]),
        default: Some("round-robin"),
        about: "whose turn it is at an output: every input's, or as often as the `weight` of the link it came in through",
    },
    Param {
        name: LATENCY,
        dimension: Dimension::Time,
        default: Some("120ns"),
        about: "from a TLP being in (its header, its last byte if stored) to its being eligible at the output",
    },
];

/// The latency of every pair of widths, in and out.
const PAIRS: [Param; 25] = {
    macro_rules! pairs {
        ($($from:literal: $($to:literal)*;)*) => {
            [$($(Param {
                name: concat!("latency.", $from, "-", $to),
                dimension: Dimension::Time,
                default: Some("0ns"),
                about: concat!("`latency` from a link of ", $from, " to one of ", $to, "; 0 is as `latency`"),
            },)*)*]
        };
    }
    pairs! {
        "x1": "x1" "x2" "x4" "x8" "x16";
        "x2": "x1" "x2" "x4" "x8" "x16";
        "x4": "x1" "x2" "x4" "x8" "x16";
        "x8": "x1" "x2" "x4" "x8" "x16";
        "x16": "x1" "x2" "x4" "x8" "x16";
    }
};

/// The widths that pairs are made of.
const WIDTHS: [Width; 5] = [Width::X1, Width::X2, Width::X4, Width::X8, Width::X16];

/// The latency from a link of one width to one of another, if the pair has one of its own; x12 and x32 count as the
/// next narrower width.
fn pair_latency(params: &Params, from: Width, to: Width) -> Option<Span> {
    let latency = params.time(pair_name(from, to));
    (latency > Span::ZERO).then_some(latency)
}

/// The latency parameter between links of two widths: `latency.x4-x4`, or `latency` if the pair has none.
fn latency_parameter(params: &Params, from: Width, to: Width) -> &'static str {
    pair_latency(params, from, to).map_or(LATENCY, |_| pair_name(from, to))
}

fn pair_name(from: Width, to: Width) -> &'static str {
    let place = |width| WIDTHS.iter().rposition(|narrower| *narrower <= width).unwrap_or(0);
    PAIRS[place(from) * WIDTHS.len() + place(to)].name
}

fn spec(params: &Params) -> SwitchSpec {
    let count = |name| u32::try_from(params.count(name)).expect("declared as at most 4096");
    let speed_up = count("speed-up");
    let data = u32::try_from(params.size("output.data").0 / CREDIT_BYTES).unwrap_or(u32::MAX);
    let output = OutputBuffer { tlps: count("output.tlps"), data };
    SwitchSpec {
        latency: params.time("latency"),
        forwarding: match params.choice("forwarding") {
            "store-and-forward" => Forwarding::StoreAndForward,
            _ => Forwarding::CutThrough,
        },
        arbitration: match params.choice("arbitration") {
            "weighted" => Arbitration::Weighted,
            _ => Arbitration::RoundRobin,
        },
        core: match params.choice("core") {
            "crossbar" => Some(Core::Crossbar { speed_up, output }),
            "shared-bus" => Some(Core::SharedBus { speed_up, output }),
            "shared-memory" => Some(Core::SharedMemory { speed_up }),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::Value;

    #[test]
    fn a_pair_without_a_latency_of_its_own_has_the_common_one_and_odd_widths_count_as_narrower_ones() {
        let mut params = Params(PAIRS.iter().map(|param| (param.name, Value::Time(Span::ZERO))).collect());
        assert_eq!(params.0.len(), WIDTHS.len() * WIDTHS.len(), "every pair is named once");
        assert!(PAIRS.iter().all(|param| lanetwin_ports::is_latency_between_widths(param.name)));
        assert!(![LATENCY, "latency.gen4"].into_iter().any(lanetwin_ports::is_latency_between_widths));
        params.0.insert("latency.x8-x16", Value::Time(Span::from_ns(70)));
        let of = |from, to| pair_latency(&params, from, to);
        let own = Some(Span::from_ns(70));
        assert_eq!([of(Width::X8, Width::X16), of(Width::X12, Width::X32)], [own, own]);
        assert_eq!(
            [of(Width::X16, Width::X8), of(Width::X8, Width::X8), of(Width::X1, Width::X2)],
            [None; 3]
        );
        let parameter = |from, to| latency_parameter(&params, from, to);
        assert_eq!(parameter(Width::X12, Width::X32), "latency.x8-x16");
        assert_eq!(parameter(Width::X16, Width::X8), "latency");
    }
}
