//! `section-i`: what framing and DLLPs leave of a Gen2 link, as an application note of 2009 computes it.
//!
//! The note adds up both directions: raw payload-carrying rate (2 × 4 Gb/s a lane at 8b/10b) × payload / (payload +
//! overhead), with an overhead of 20 B (framing of 8 B, header of 3 DW) and, in its second figure, of 4 B more: two
//! DLLPs of 8 B for every four TLPs. One point is printed as a number, 64 B on x4: 24.38 Gb/s; the others are its
//! formula.
//!
//! Here two endpoints saturate the link; DLLPs off, or an Ack and an UpdateFC for every four TLPs. Nothing is fitted.

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Outcome};
use crate::declaration::{Claim, Run};
use crate::saturation::{Saturation, plateau};
use crate::watch::Watch;
use lanetwin_pcie::link::{Direction, DllpMode, Dllps, Skp};
use lanetwin_pcie::spec::AddressWidth;
use lanetwin_units::{Generation, LinkRate, Span, Width};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "section-i",
    about: "Payload throughput of a Gen2 link in both directions, by width and payload.",
    cpu_seconds: 1,
    bar: "every row within 0.2 % of the published formula",
    run: Run::Own(run),
};

const SOURCE: &str = "IDT, PES16T4G2 performance application note (June 2009), section I, figures 2 and 4";
const BAR_PCT: f64 = 0.2;

const WIDTHS: [Width; 3] = [Width::X1, Width::X2, Width::X4];
/// The powers of two that the note's figures span \[B\].
const PAYLOADS: [u16; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// The only value that the note prints: payload \[B\], width, both directions \[Gb/s\].
const PRINTED: (u16, Width, f64) = (64, Width::X4, 24.38);

/// One of the note's two figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Figure {
    /// 20 B around each payload.
    Framing,
    /// 4 B more, for DLLPs.
    Dllps,
}

/// The note's formula \[Gb/s\], both directions.
#[must_use]
pub fn formula(width: Width, payload: u16, figure: Figure) -> f64 {
    const PER_LANE: f64 = 2.0 * 5.0 * 0.8;
    let overhead = if figure == Figure::Framing { 20.0 } else { 24.0 };
    let payload = f64::from(payload);
    width.lanes() as f64 * PER_LANE * payload / (payload + overhead)
}

/// The epochs over which DLLPs are gathered; SKPs, which they would travel with, are off.
const EPOCH: Span = Span::from_us(1);

fn direction(width: Width, figure: Figure) -> Direction {
    let bare = Direction::bare(LinkRate::pcie(Generation::Gen2, width));
    match figure {
        Figure::Framing => bare,
        Figure::Dllps => Direction {
            skp: Some(Skp { period: EPOCH.as_ticks().0, duration: 0 }),
            dllps: Dllps { mode: DllpMode::Lump, ack_every: 4, update_every: 4, delay: Span::ZERO },
            ..bare
        },
    }
}

fn cell(width: Width, payload: u16, figure: Figure) -> Cell {
    let blast = Saturation {
        payload,
        addresses: AddressWidth::Bits32,
        direction: direction(width, figure),
        warm_up: EPOCH * 1000,
        measure: EPOCH * 20_000,
    };
    let ([there, back], digest) = plateau(&blast);
    let predicted = (there.bits_per_second() + back.bits_per_second()) / 1e9;
    let suffix = if figure == Figure::Framing { "" } else { ", with DLLPs" };
    Cell {
        case: format!("Gen2 {width}, {payload} B{suffix}"),
        quantity: "payload throughput, both directions".into(),
        unit: "Gb/s",
        published: formula(width, payload, figure),
        predicted,
        interval: (predicted, predicted),
        role: Role::Predicted,
        baseline: None,
        source: SOURCE,
        digest,
    }
}

/// The same simulation beside the printed value, which has four digits.
fn printed(cells: &[Cell]) -> Cell {
    let (payload, width, published) = PRINTED;
    let case = format!("Gen2 {width}, {payload} B");
    let same = cells.iter().find(|cell| cell.case == case).expect("the printed point is among the payloads");
    Cell { case: format!("{case}, as printed"), published, ..same.clone() }
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let figures = [Figure::Framing, Figure::Dllps];
    let total = figures.len() * WIDTHS.len() * PAYLOADS.len();
    let mut cells = Vec::with_capacity(total + 1);
    for (figure, width) in figures.into_iter().flat_map(|figure| WIDTHS.map(|width| (figure, width))) {
        for payload in PAYLOADS {
            cells.push(cell(width, payload, figure));
            watch.step(total)?;
        }
    }
    cells.push(printed(&cells));
    let worst = accuracy::worst(cells.iter().map(|cell| accuracy::error_pct(cell.predicted, cell.published)));
    let text = format!("No free parameter. The largest error is {worst:.3} %.");
    Some(Outcome { cells, free_parameters: Vec::new(), met: worst <= BAR_PCT, text, effects: Vec::new() })
}
