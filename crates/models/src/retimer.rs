//! `retimer`: receives the bits of a link and retransmits them. The links implement its effect; this model has its
//! parameters.
//!
//! ```text
//!   segment ══► receiver ─ elasticity buffer ─ transmitter ══► segment      `latency`, each way
//! ```
//!
//! It is part of a link (`via:`), which can have at most two, and divides it into segments. Each direction takes
//! `latency`, or that of the link's generation. It interprets ordered sets but no packets: TLPs, ACKs and credits
//! pass through it, and a round trip is longer by twice its latency.
//!
//! Not here: the eye at its receivers (`lanetwin link eye`), its part in training, and L0s, which no link with a
//! retimer has.

use lanetwin_pcie::spec::extension::{Extension, ExtensionKind};
use lanetwin_ports::{Build, Dimension, LATENCY, Model, Param, Params, Way};
use lanetwin_units::{Generation, Span};

/// The declaration.
pub static MODEL: Model = Model {
    name: "retimer",
    about: "A retimer: stands in a link, receives its bits and sends them anew.",
    ports: &[],
    params: &[PARAMS],
    latency_parameter: |params, way| match way {
        Way::Along(generation) => latency_parameter(params, generation),
        Way::Between(..) => LATENCY,
    },
    build: Build::Extension(extension),
    ..Model::DEFAULT
};

/// The latencies of generations, in their order.
const LATENCIES: [&str; 6] =
    ["latency.gen1", "latency.gen2", "latency.gen3", "latency.gen4", "latency.gen5", "latency.gen6"];

/// `assumed`: what a vendor calls low latency; 256 bits are more than a packet of 4 KiB on one lane needs with SRIS.
const PARAMS: &[Param] = &[
    Param {
        name: "gen",
        dimension: Dimension::Count { least: 1, most: 6 },
        default: Some("5"),
        about: "the highest generation of links that it can stand in",
    },
    Param {
        name: "lanes",
        dimension: Dimension::Count { least: 1, most: 32 },
        default: Some("16"),
        about: "the most lanes that a link through it can have",
    },
    Param {
        name: "latency",
        dimension: Dimension::Time,
        default: Some("10ns"),
        about: "how long a bit takes through it, each way",
    },
    latency("latency.gen1", "`latency` at Gen1; 0 is as `latency`"),
    latency("latency.gen2", "`latency` at Gen2; 0 is as `latency`"),
    latency("latency.gen3", "`latency` at Gen3; 0 is as `latency`"),
    latency("latency.gen4", "`latency` at Gen4; 0 is as `latency`"),
    latency("latency.gen5", "`latency` at Gen5; 0 is as `latency`"),
    latency("latency.gen6", "`latency` at Gen6; 0 is as `latency`"),
    Param {
        name: "elasticity",
        dimension: Dimension::Count { least: 0, most: 65_536 },
        default: Some("256"),
        about: "how many bits a lane the clocks of its two sides may drift apart before a SKP ordered set makes up for it",
    },
];

const fn latency(name: &'static str, about: &'static str) -> Param {
    Param { name, dimension: Dimension::Time, default: Some("0ns"), about }
}

/// The latency parameter for a generation: its own, or `latency` if it has none.
fn latency_parameter(params: &Params, generation: Generation) -> &'static str {
    let own = LATENCIES[usize::from(generation.number()) - 1];
    if params.time(own) > Span::ZERO { own } else { LATENCY }
}

fn extension(params: &Params, generation: Generation) -> Extension {
    Extension {
        latency: params.time(latency_parameter(params, generation)),
        kind: ExtensionKind::Retimer { elasticity: params.count("elasticity") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::Value;

    #[test]
    fn a_generation_without_a_latency_of_its_own_has_the_common_one() {
        let params = Params(
            LATENCIES
                .into_iter()
                .chain(["latency"])
                .zip([0, 0, 7, 0, 5, 3, 9])
                .map(|(name, ns)| (name, Value::Time(Span::from_ns(ns))))
                .chain([("elasticity", Value::Count(64))])
                .collect(),
        );
        let latency = |generation| extension(&params, generation).latency.as_ps() / 1_000;
        assert_eq!(Generation::ALL.map(latency), [9, 9, 7, 9, 5]);
        assert_eq!(latency_parameter(&params, Generation::Gen4), "latency");
        assert_eq!(latency(Generation::Gen6), 3);
        assert_eq!(extension(&params, Generation::Gen5).kind, ExtensionKind::Retimer { elasticity: 64 });
    }
}
