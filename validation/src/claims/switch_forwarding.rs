//! `switch-forwarding`: how long a packet is in a switch that cuts through or stores and forwards, alone and as the
//! last of several that come at once.
//!
//! The closed forms are those of a textbook: [`alone_ns`] and [`last_ns`] have their own constants and call no function
//! of the simulator. They say why a latency is valid for the port widths that it was measured at, and for an idle
//! switch, and for nothing else.

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Outcome};
use crate::declaration::{Claim, Run};
use crate::incast::{Incast, simulate};
use crate::watch::Watch;
use lanetwin_pcie::link::{Core, Forwarding, OutputBuffer};
use lanetwin_units::{Generation, Span, Width};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "switch-forwarding",
    about: "From the first bit that enters a switch to the last that leaves it, 64 B to 4 KiB, x1 to x16: one packet, and the last of four.",
    cpu_seconds: 1,
    bar: "every row within 0.1 % of independent arithmetic",
    run: Run::Own(run),
};

const SOURCE: &str =
    "closed form: rate and coding of the generation, framing 8 B, header 4 DW, latency of the switch";
const BAR_PCT: f64 = 0.1;
const LATENCY: Span = Span::from_ns(120);
const SOURCES: u16 = 4;
const PAYLOADS: [u16; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// In and out.
const WIDTHS: [(Width, Width); 9] = [
    (Width::X1, Width::X1),
    (Width::X2, Width::X2),
    (Width::X4, Width::X4),
    (Width::X8, Width::X8),
    (Width::X16, Width::X16),
    (Width::X4, Width::X8),
    (Width::X8, Width::X4),
    (Width::X1, Width::X16),
    (Width::X16, Width::X1),
];
const GENERATION: Generation = Generation::Gen4;
/// A core that is fast enough moves nothing: each of them is set beside the same arithmetic.
const CORES: [(&str, Option<Core>); 4] = [
    ("", None),
    (", crossbar ×4", Some(Core::Crossbar { speed_up: 4, output: OUTPUT })),
    (", shared bus ×8", Some(Core::SharedBus { speed_up: 8, output: OUTPUT })),
    (", shared memory ×8", Some(Core::SharedMemory { speed_up: 8 })),
];
const OUTPUT: OutputBuffer = OutputBuffer { tlps: 16, data: 16 * 256 };

/// From the first bit into the switch to the last bit out of it, for one packet in an idle switch of Gen4 links \[ns\].
#[must_use]
pub fn alone_ns(latency_ns: f64, payload: f64, lanes: (f64, f64), cut_through: bool) -> f64 {
    let (arriving, leaving) = (wire_ns(payload, lanes.0), wire_ns(payload, lanes.1));
    let header = (24.0 * byte_ns() / lanes.0).min(arriving);
    // A faster output must not run dry: the last byte cannot leave before it is in.
    let seen = if cut_through { header.max(arriving - leaving) } else { arriving };
    latency_ns + seen + leaving
}

/// The same for the last of `n` packets that come in through `n` ports at once and leave through one.
#[must_use]
pub fn last_ns(latency_ns: f64, payload: f64, lanes: (f64, f64), cut_through: bool, n: f64) -> f64 {
    alone_ns(latency_ns, payload, lanes, cut_through) + (n - 1.0) * wire_ns(payload, lanes.1)
}

fn wire_ns(payload: f64, lanes: f64) -> f64 {
    (payload + 16.0 + 8.0) * byte_ns() / lanes
}

/// A byte on one lane at 16 GT/s and 128b/130b.
fn byte_ns() -> f64 {
    8.0 / 16.0 * 130.0 / 128.0
}

fn cell(incast: &Incast, core: &str) -> Cell {
    let (last, digest) = simulate(incast);
    let (from, to) = incast.widths;
    let (sources, payload) = (incast.sources, incast.payload);
    let cut_through = incast.forwarding == Forwarding::CutThrough;
    let lanes = (from.lanes() as f64, to.lanes() as f64);
    let latency_ns = incast.latency.as_ps() as f64 / 1e3;
    let published = last_ns(latency_ns, payload.into(), lanes, cut_through, sources.into());
    // The links have no flight, and a packet that waits for nobody enters the switch at the instant at which it is
    // eligible.
    let predicted = last.as_ps() as f64 / 1e3;
    let how = if cut_through { "cut-through" } else { "store-and-forward" };
    let which = if sources == 1 { "one packet".to_owned() } else { format!("last of {sources}") };
    Cell {
        case: format!("{from} to {to}, {payload} B, {how}, {which}{core}"),
        quantity: "first bit in to last bit out".into(),
        unit: "ns",
        published,
        predicted,
        interval: (predicted, predicted),
        role: Role::Predicted,
        baseline: None,
        source: SOURCE,
        digest,
    }
}

/// Every width and size without a core; with one, the pairs and sizes in which it could matter most.
fn volleys() -> Vec<(Incast, &'static str)> {
    let mut all = Vec::new();
    for (name, core) in CORES {
        let is_probe = |widths: (Width, Width)| widths.0 != widths.1 || widths.0 == Width::X4;
        for widths in WIDTHS.into_iter().filter(|&widths| core.is_none() || is_probe(widths)) {
            for payload in
                PAYLOADS.into_iter().filter(|payload| core.is_none() || [64, 512, 4096].contains(payload))
            {
                for forwarding in [Forwarding::CutThrough, Forwarding::StoreAndForward] {
                    for sources in [1, SOURCES] {
                        let generation = GENERATION;
                        let incast = Incast {
                            sources,
                            payload,
                            generation,
                            widths,
                            latency: LATENCY,
                            forwarding,
                            core,
                        };
                        all.push((incast, name));
                    }
                }
            }
        }
    }
    all
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let volleys = volleys();
    let total = volleys.len();
    let mut cells = Vec::with_capacity(total);
    for (incast, core) in volleys {
        cells.push(cell(&incast, core));
        watch.step(total)?;
    }
    let worst = accuracy::worst(cells.iter().map(|cell| accuracy::error_pct(cell.predicted, cell.published)));
    let text = format!(
        "No free parameter. The largest error is {worst:.3} %. With x4 ports a packet of 4 KiB takes {:.0} ns through an idle switch \
         that cuts through, {:.0} ns through one that stores and forwards, and the last of four that come at once takes {:.0} ns and {:.0} ns.",
        alone_ns(120.0, 4096.0, (4.0, 4.0), true),
        alone_ns(120.0, 4096.0, (4.0, 4.0), false),
        last_ns(120.0, 4096.0, (4.0, 4.0), true, 4.0),
        last_ns(120.0, 4096.0, (4.0, 4.0), false, 4.0),
    );
    Some(Outcome { cells, free_parameters: Vec::new(), met: worst <= BAR_PCT, text, effects: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, Gen4 x4, 232 B of payload: 256 B on the wire take 32.5 ns, a header of 24 B 3.046875 ns.
    #[test]
    fn the_forms_by_hand() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(alone_ns(100.0, 232.0, (4.0, 4.0), false), 100.0 + 32.5 + 32.5);
        close(alone_ns(100.0, 232.0, (4.0, 4.0), true), 100.0 + 3.046875 + 32.5);
        close(alone_ns(100.0, 232.0, (4.0, 16.0), true), 100.0 + 32.5);
        close(last_ns(100.0, 232.0, (4.0, 4.0), true, 4.0), 100.0 + 3.046875 + 4.0 * 32.5);
    }
}
