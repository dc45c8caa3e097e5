//! The links of a channel's variants, ready to be powered on.

use super::chosen::only;
use super::findings::diagnostic;
use super::link::{LinkRequest, link};
use crate::channel::{Answers, Benches, Channel, RateEyes, ReceiverEye, receivers};
use lanetwin_document::problem::Diagnostic;
use lanetwin_pcie::logic::ltssm::link::LinkConfig;
use lanetwin_probe::Problem;
use lanetwin_units::{Span, Width};
use serde::{Deserialize, Serialize};

/// Time that a link has to come up after power on \[ps\].
pub(super) const TO_COME_UP: Span = Span::from_us(2_000_000);

/// Settings for the links of a channel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The variants; empty for all.
    pub variants: Vec<String>,
    /// The lanes.
    pub width: u64,
    /// The share of the time that TLPs are on the wire during the dwell, 0 to 1.
    pub utilisation: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for Options {
    /// All variants with four lanes, as drives have, and no traffic.
    fn default() -> Self {
        Self { variants: Vec::new(), width: 4, utilisation: 0.0, seed: 1 }
    }
}

/// The margin of a receiver, for reports.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Margin {
    /// The variant.
    pub variant: String,
    /// The rate.
    pub rate: &'static str,
    /// Index of the segment.
    pub segment: usize,
    /// Its first and its last element.
    pub between: (String, String),
    /// Height at the bit error ratio of the mask \[V\].
    pub height_v: f64,
    /// The mask's \[V\].
    pub mask_height_v: f64,
    /// Width \[UI\].
    pub width_ui: f64,
    /// Whether it meets the mask, whether it operates, and the bit error ratio at the sampling point.
    #[serde(flatten)]
    pub answers: Answers,
}

/// The answers for all receivers of a variant together, at its own rate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VariantAnswers {
    /// The variant.
    pub variant: String,
    /// Each answer is that of the worst receiver.
    #[serde(flatten)]
    pub answers: Answers,
}

/// A variant ready to be powered on.
pub(crate) struct Ready {
    pub name: String,
    pub answers: Option<VariantAnswers>,
    pub config: LinkConfig,
    pub margins: Vec<Margin>,
}

/// The links of a channel's variants.
pub(crate) fn links(channel: &Channel, options: &Options) -> Result<Vec<Ready>, Vec<Diagnostic>> {
    let chosen = only(channel.clone(), &options.variants);
    let mut found = chosen.as_ref().err().cloned().unwrap_or_default();
    let width = Width::from_lanes(options.width);
    if width.is_none() || !(0.0..=1.0).contains(&options.utilisation) {
        found.push(diagnostic(
            &Problem::Link { lanes: options.width, utilisation: options.utilisation }.at("--width"),
        ));
    }
    let (Some(width), Ok(channel), true) = (width, chosen, found.is_empty()) else { return Err(found) };
    let wanted = LinkRequest { width, utilisation: options.utilisation, seed: options.seed };
    let benches = Benches::of(&channel)?;
    let mut ready = Vec::new();
    for variant in &channel.variants {
        let eyes = receivers(&channel, variant, &benches)?;
        let config = link(&variant.name, variant.rate, &eyes, wanted);
        let name = variant.name.clone();
        ready.push(Ready { answers: answers(&name, &eyes), margins: margins(&name, &eyes), name, config });
    }
    Ok(ready)
}

/// The answers at the highest rate.
fn answers(variant: &str, eyes: &[RateEyes]) -> Option<VariantAnswers> {
    let answers = Answers::of_all(eyes.last()?.segments.iter().map(|eye| eye.answers))?;
    Some(VariantAnswers { variant: variant.to_owned(), answers })
}

fn margins(variant: &str, eyes: &[RateEyes]) -> Vec<Margin> {
    let of_rate = |rate: &RateEyes| {
        let of_segment = |(segment, eye): (usize, &ReceiverEye)| Margin {
            variant: variant.to_owned(),
            rate: rate.rate.name(),
            segment,
            between: eye.between.clone(),
            height_v: eye.height_v,
            mask_height_v: eye.mask_height_v,
            width_ui: eye.width_ui,
            answers: eye.answers,
        };
        rate.segments.iter().enumerate().map(of_segment).collect::<Vec<_>>()
    };
    eyes.iter().flat_map(of_rate).collect()
}
