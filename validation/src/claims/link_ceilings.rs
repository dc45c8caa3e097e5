//! `link-ceilings`: what a saturated link carries when DLLPs and SKP ordered sets take their share.
//!
//! Both directions are busy with writes of full MPS and have credits to spare. The simulation is set beside arithmetic
//! that shares nothing with it: [`ceiling`] has its own constants and calls no function of the simulator.

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Outcome};
use crate::declaration::{Claim, Run};
use crate::saturation::{Saturation, plateau};
use crate::watch::Watch;
use lanetwin_pcie::link::{CLASSES, Credits, Direction, DllpMode, Dllps, Skp};
use lanetwin_pcie::spec::timing::{
    Clocking, SkpSchedule, ack_coalescing, ack_latency_limit, update_fc_coalescing,
};
use lanetwin_pcie::spec::{AddressWidth, Mps};
use lanetwin_units::{Generation, LinkRate, Span, Width};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "link-ceilings",
    about: "Payload throughput of a saturated link, Gen1 to Gen5, x1 to x16, with DLLPs and SKP ordered sets.",
    cpu_seconds: 1,
    bar: "every row within 0.3 % of independent arithmetic",
    run: Run::Own(run),
};

const SOURCE: &str =
    "closed form: rate and coding of the generation, framing 8 B, header 4 DW, ACK latency limit, SKP";
const BAR_PCT: f64 = 0.3;
const WIDTHS: [Width; 5] = [Width::X1, Width::X2, Width::X4, Width::X8, Width::X16];
const PAYLOADS: [u16; 3] = [128, 256, 512];

/// Payload bits per second and direction, by arithmetic alone: generation 1 to 5, lanes, MPS \[B\].
///
/// Each TLP takes its payload, a header of 4 DW and 8 B of framing. As many TLPs as fit into the ACK latency limit
/// share an Ack and an UpdateFC, 8 B each, which the opposite direction pays; with both directions busy, both pay as
/// much. A SKP ordered set takes 4 symbols in 1180 (8b/10b), or 1 block in 370 (128b/130b).
#[must_use]
pub fn ceiling(generation: u8, lanes: u32, mps: u32) -> f64 {
    let (gigatransfers, coding, skp) = match generation {
        1 => (2.5, 0.8, 4.0 / 1180.0),
        2 => (5.0, 0.8, 4.0 / 1180.0),
        3 => (8.0, 128.0 / 130.0, 1.0 / 370.0),
        4 => (16.0, 128.0 / 130.0, 1.0 / 370.0),
        _ => (32.0, 128.0 / 130.0, 1.0 / 370.0),
    };
    let bits_per_second = gigatransfers * 1e9 * coding * f64::from(lanes);
    let tlp = f64::from(mps) + 16.0 + 8.0;
    let dllps_per_tlp = 2.0 / tlps_per_ack(generation, lanes, mps);
    bits_per_second * (1.0 - skp) * f64::from(mps) / (tlp + 8.0 * dllps_per_tlp)
}

/// How many writes of full MPS fit into the ACK latency limit, at least one.
fn tlps_per_ack(generation: u8, lanes: u32, mps: u32) -> f64 {
    let (factor, internal) =
        (ack_factor(lanes, mps), [19.0, 70.0, 115.0][usize::from(generation.min(3)) - 1]);
    let symbols = ((f64::from(mps) + 28.0) * factor / f64::from(lanes)).floor() + internal;
    // A symbol carries a byte; at 128b/130b the limit counts eight bits a symbol, and the sync header takes its part.
    let bytes_per_symbol = if generation < 3 { 1.0 } else { 128.0 / 130.0 };
    let fit = symbols * bytes_per_symbol * f64::from(lanes) / (f64::from(mps) + 24.0);
    fit.floor().max(1.0)
}

/// AckFactor of the standard's table.
fn ack_factor(lanes: u32, mps: u32) -> f64 {
    match (mps <= 256, lanes) {
        (true, ..=4) => 1.4,
        (true, 8) => 2.5,
        (true, _) => 3.0,
        (false, ..=8) => 1.0,
        (false, _) => 2.0,
    }
}

/// More of everything than a round trip on the fastest link needs.
const AMPLE: Credits =
    Credits { header: [Some(2047); CLASSES], data: [Some(32_767); CLASSES], latency: Span::from_ns(60) };

fn direction(generation: Generation, width: Width, mps: Mps) -> Direction {
    let skp = SkpSchedule::new(generation, Clocking::Common);
    let ack = Span::from_ps(ack_latency_limit(generation, width, mps).as_ps_ceil().as_ps());
    Direction {
        propagation: Span::from_ns(1),
        credits: AMPLE,
        replay_buffer: Some(1 << 20),
        ack_latency: ack,
        skp: Some(Skp { period: skp.period().0, duration: skp.length().0 }),
        dllps: Dllps {
            mode: DllpMode::Lump,
            ack_every: ack_coalescing(generation, width, mps) as u32,
            update_every: update_fc_coalescing(generation, width, mps) as u32,
            delay: ack,
        },
        ..Direction::bare(LinkRate::pcie(generation, width))
    }
}

/// Measuring lasts for so many SKPs: one more or less is far below the bar.
const SKPS: u64 = 512;
const SKPS_WARM_UP: u64 = 16;

fn cell(generation: Generation, width: Width, payload: u16) -> Cell {
    let mps = Mps::from_bytes(payload.into()).expect("128, 256 and 512 are sizes of the standard");
    let direction = direction(generation, width, mps);
    let period = SkpSchedule::new(generation, Clocking::Common).period().as_ps_ceil().as_ps();
    let blast = Saturation {
        payload,
        addresses: AddressWidth::Bits64,
        direction,
        warm_up: Span::from_ps(SKPS_WARM_UP * period),
        measure: Span::from_ps(SKPS * period),
    };
    let ([there, back], digest) = plateau(&blast);
    let predicted = f64::midpoint(there.bits_per_second(), back.bits_per_second()) / 1e9;
    Cell {
        case: format!("{generation} {width}, MPS {payload} B"),
        quantity: "payload throughput, per direction".into(),
        unit: "Gb/s",
        published: ceiling(generation.number(), width.lanes() as u32, payload.into()) / 1e9,
        predicted,
        interval: (predicted, predicted),
        role: Role::Predicted,
        baseline: None,
        source: SOURCE,
        digest,
    }
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let total = Generation::ALL.len() * WIDTHS.len() * PAYLOADS.len();
    let mut cells = Vec::with_capacity(total);
    for (generation, width) in Generation::ALL.into_iter().flat_map(|g| WIDTHS.map(|width| (g, width))) {
        for payload in PAYLOADS {
            cells.push(cell(generation, width, payload));
            watch.step(total)?;
        }
    }
    let worst = accuracy::worst(cells.iter().map(|cell| accuracy::error_pct(cell.predicted, cell.published)));
    let text = format!("No free parameter. The largest error is {worst:.3} %.");
    Some(Outcome { cells, free_parameters: Vec::new(), met: worst <= BAR_PCT, text, effects: Vec::new() })
}
