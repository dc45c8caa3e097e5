//! The loss budget of a channel and the possible places of retimers, as documents.

use super::description::{Channel, Variant};
use super::problem::{Physical, Problem};
use lanetwin_document::problem::Diagnostic;
use lanetwin_phy::budget::{Item, Margin, Share, Used, Verdict};
use lanetwin_phy::element::{Axis, Corner, Element, Number};
use lanetwin_phy::network::Grid;
use lanetwin_phy::{DataRate, Finding, decibels};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of points of a curve.
const POINTS: usize = 160;
/// Frequency step \[Hz\].
const STEP_HZ: f64 = 10e6;
/// Upper limit of reported losses \[dB\]: far more than any receiver tolerates, and still a finite number.
const MOST_DB: f64 = 1000.0;
/// Resistance of transmitter and receiver, differential \[Ω\].
pub(super) const TERMINATION_OHM: f64 = 100.0;

/// The loss of a channel beside its budget.
#[derive(Clone, Debug, Serialize)]
pub struct Budget {
    /// `link-budget`.
    pub kind: &'static str,
    /// The name of the file.
    pub name: String,
    /// The description's question.
    pub about: String,
    /// The file.
    pub path: String,
    /// Each variant.
    pub variants: Vec<BudgetVariant>,
    /// Every number of elements that a variant relies on.
    pub numbers: Vec<Used>,
    /// Warnings: what may not be as the author meant it.
    pub warnings: Vec<Diagnostic>,
}

/// A variant of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetVariant {
    /// Its name.
    pub name: String,
    /// The rate: `gen5`.
    pub rate: DataRate,
    /// Half the symbol rate \[Hz\].
    pub nyquist_hz: f64,
    /// Corner of production, temperature and humidity.
    pub corner: Corner,
    /// The worst of the segments.
    pub verdict: Verdict,
    /// The budget and its shares, each with kind, source and confidence.
    pub budget: BTreeMap<String, Number>,
    /// The segments, each from a transmitter to a receiver.
    pub segments: Vec<BudgetSegment>,
}

/// A segment, from a transmitter to a receiver.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetSegment {
    /// Loss by element, budget, margin, shares.
    #[serde(flatten)]
    pub margin: Margin,
    /// Least loss over production, temperature and humidity \[dB\].
    pub low_db: f64,
    /// Largest loss \[dB\].
    pub high_db: f64,
    /// Loss with every reflection at the Nyquist frequency, between 100 Ω \[dB\].
    pub through_db: f64,
    /// The same over frequency: pairs of \[GHz\] and \[dB\].
    pub curve: Vec<(f64, f64)>,
}

/// The loss of a channel beside its budget, for each variant.
///
/// # Errors
/// If the library has no budget for a rate, or data do not reach it.
pub fn budget(channel: &Channel) -> Result<Budget, Vec<Diagnostic>> {
    let mut variants = Vec::new();
    let mut numbers: Vec<Used> = Vec::new();
    for variant in &channel.variants {
        let refused = |finding: Finding| channel.refused_in(variant, Physical(finding));
        variants.push(of_variant(channel, variant).map_err(refused)?);
        for used in variant.chain.numbers(&channel.library).map_err(refused)? {
            if !numbers.contains(&used) {
                numbers.push(used);
            }
        }
    }
    Ok(Budget {
        kind: "link-budget",
        name: channel.name.clone(),
        about: channel.about.clone(),
        path: channel.path.clone(),
        variants,
        numbers,
        warnings: warnings(channel),
    })
}

/// Findings about the document, and a warning that a budget says less with a redriver, once, for the first variant that
/// has one.
fn warnings(channel: &Channel) -> Vec<Diagnostic> {
    let amplified = channel.variants.iter().find_map(|variant| {
        let redriver = |item: &&Item| matches!(item.element, Element::Redriver(_));
        Some((variant, variant.chain.items().iter().find(redriver)?))
    });
    let mut warnings = channel.warnings.clone();
    if let Some((variant, item)) = amplified {
        warnings.extend(channel.refused_in(variant, Problem::Amplified { name: item.name.clone() }));
    }
    warnings
}

fn of_variant(channel: &Channel, variant: &Variant) -> Result<BudgetVariant, Finding> {
    let (library, chain, rate) = (&channel.library, &variant.chain, variant.rate);
    let margins = |corner| chain.margins(library, corner, rate);
    let (low, nominal, high) = (margins(Corner::Low)?, margins(variant.corner)?, margins(Corner::High)?);
    let axis = Axis::new(Grid::new(STEP_HZ, rate.baud())?);
    let mut segments = Vec::new();
    for (at, margin) in nominal.into_iter().enumerate() {
        let transfer = chain.transfer(at, library, variant.corner, &axis, TERMINATION_OHM)?;
        let loss = |hertz: f64| {
            let index = (hertz / STEP_HZ).round() as usize;
            (-decibels(transfer.h[index.min(transfer.h.len() - 1)].norm_sqr().sqrt())).min(MOST_DB)
        };
        let places = (1..=POINTS).map(|point| rate.baud() * point as f64 / POINTS as f64);
        segments.push(BudgetSegment {
            margin,
            low_db: low[at].loss_db,
            high_db: high[at].loss_db,
            through_db: loss(rate.nyquist_hz()),
            curve: places.map(|hertz| (hertz / 1e9, loss(hertz))).collect(),
        });
    }
    let verdict = segments.iter().map(|segment| segment.margin.verdict).min().unwrap_or(Verdict::Exceeds);
    Ok(BudgetVariant {
        name: variant.name.clone(),
        rate,
        nyquist_hz: rate.nyquist_hz(),
        corner: variant.corner,
        verdict,
        budget: library.budget(rate)?.numbers().clone(),
        segments,
    })
}

/// The request for places of retimers.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacementRequest {
    /// Maximum number of retimers: one or two.
    pub retimers: usize,
    /// The retimer, by its name in the library.
    pub part: String,
    /// Elements after which a retimer may be placed; empty for any.
    pub after: Vec<String>,
}

/// Possible places of retimers.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    /// `link-place`.
    pub kind: &'static str,
    /// The name of the file.
    pub name: String,
    /// The description's question.
    pub about: String,
    /// The retimer.
    pub part: String,
    /// Each variant.
    pub variants: Vec<PlaceVariant>,
    /// Warnings: what may not be as the author meant it.
    pub warnings: Vec<Diagnostic>,
}

/// A variant of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceVariant {
    /// Its name.
    pub name: String,
    /// The rate.
    pub rate: DataRate,
    /// Every placement, sorted by its least margin, the largest first.
    pub placements: Vec<Placed>,
}

/// A placement.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    /// The elements that are followed by a retimer; empty without retimers.
    pub after: Vec<String>,
    /// The smallest margin of the segments \[dB\].
    pub least_margin_db: f64,
    /// The worst of the segments.
    pub verdict: Verdict,
    /// The margin of each segment \[dB\].
    pub margins_db: Vec<f64>,
}

/// The possible places of retimers in each variant.
///
/// # Errors
/// As [`budget`]; if the library has no such retimer, or the chain no such element.
pub fn place(channel: &Channel, wish: &PlacementRequest) -> Result<Place, Vec<Diagnostic>> {
    let mut variants = Vec::new();
    for variant in &channel.variants {
        let refused = |finding: Finding| channel.refused_in(variant, Physical(finding));
        let items = variant.chain.items();
        let known = |name: &&String| items.iter().any(|item| item.name == **name);
        if let Some(name) = wish.after.iter().find(|name| !known(name)) {
            let names = || items.iter().map(|item| &*item.name);
            let near = lanetwin_document::spelling::Near::of(name, names());
            let known = lanetwin_document::problem::quoted(names());
            return Err(channel.refused_in(variant, Problem::UnknownItem { name: name.clone(), known, near }));
        }
        let allowed: Vec<&str> = wish.after.iter().map(String::as_str).collect();
        let question = (&channel.library, variant.corner, variant.rate);
        let found = variant.chain.placements(&wish.part, wish.retimers, &allowed, question);
        let placed = found.map_err(refused)?.into_iter().map(|way| Placed {
            verdict: way.margins.iter().map(|margin| margin.verdict).min().unwrap_or(Verdict::Exceeds),
            margins_db: way.margins.iter().map(|margin| margin.margin_db).collect(),
            after: way.after,
            least_margin_db: way.least_margin_db,
        });
        variants.push(PlaceVariant {
            name: variant.name.clone(),
            rate: variant.rate,
            placements: placed.collect(),
        });
    }
    Ok(Place {
        kind: "link-place",
        name: channel.name.clone(),
        about: channel.about.clone(),
        part: wish.part.clone(),
        variants,
        warnings: warnings(channel),
    })
}

/// The share of a budget \[dB\]; `None` if it is unknown.
pub(super) fn share_db(channel: &Channel, rate: DataRate, share: Share) -> Option<f64> {
    channel.library.budget(rate).ok()?.share_db(share)
}
