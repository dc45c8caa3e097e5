//! Rates and widths in a scenario.

use lanetwin_document::quantity;
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::{Generation, Width};

/// CXL needs at least 8 GT/s (Compute Express Link 2.0, section 6.1).
pub(super) const LEAST_OF_CXL: Generation = Generation::Gen3;

/// `x4`
pub(super) fn width_of(text: &str) -> Option<Width> {
    let lanes = text.strip_prefix('x').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Width::from_lanes(lanes.parse().ok()?)
}

/// `5`, `gen5`, `Gen5`, or the rate of a lane: `32GT/s`. Only links of CXL can have Gen6.
pub(super) fn generation_of(text: &str) -> Option<Generation> {
    let rate = |generation: &Generation| {
        let megatransfers = generation.megatransfers();
        let half = if megatransfers.is_multiple_of(1_000) { "" } else { ".5" };
        format!("{}{half}GT/s", megatransfers / 1_000) == text
    };
    let number = text.strip_prefix("gen").or_else(|| text.strip_prefix("Gen")).unwrap_or(text);
    let most = Generation::Gen6.number().into();
    match quantity::read(Dimension::Count { least: 1, most }, number) {
        Ok((Value::Count(number), _)) => Generation::of_lanes(number),
        _ => (1..=most).filter_map(Generation::of_lanes).find(rate),
    }
}
