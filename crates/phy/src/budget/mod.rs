//! The loss budget: loss of a chain of elements, margins, and what-if questions.
//!
//! ```text
//!   Chain ── cut at its retimers ──► segments ──► margins against the budget of each rate
//!     │
//!     ├── with(Change) ──► another chain         a retimer, a material, a shorter cable
//!     └── placements   ──► where one or two retimers leave the largest margin
//! ```
//!
//! The loss of an element is its own, between terminations that match it: that is what budgets add up. Reflections
//! between elements are in [`Chain::segment_network`], which has every piece and its bounces; a table has both. What an
//! eye is computed from, with redrivers and neighbours, is [`Chain::channel`] and [`Chain::coupled`].
//!
//! Not here: whether the eye is open. Two channels of the same loss can differ in that.

mod chain;
mod margin;
mod path;
mod placement;
mod shares;

use crate::problem::Finding;
use crate::rate::DataRate;

pub use chain::{Chain, Change, Item, Used};
pub use margin::{Margin, ShareMargin, Verdict};
pub use path::{Coupling, End};
pub use placement::Placement;
pub use shares::{Budget, Share};

/// The margins of a chain at each of some rates.
///
/// # Errors
/// As [`Chain::margins`].
pub fn table(
    chain: &Chain,
    library: &crate::element::Library,
    corner: crate::element::Corner,
    rates: &[DataRate],
) -> Result<Vec<Margin>, Finding> {
    let mut rows = Vec::new();
    for rate in rates {
        rows.extend(chain.margins(library, corner, *rate)?);
    }
    Ok(rows)
}
