//! Loss of a segment, and its margin to the budget.

use super::{Chain, Item, Share};
use crate::element::{Corner, Library};
use crate::problem::{Finding, Problem, hertz};
use crate::rate::DataRate;
use serde::Serialize;

/// Whether a loss is within its budget.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// More than the budget.
    Exceeds,
    /// Within the budget, but not with the reserve.
    Tight,
    /// Within the budget, with the reserve.
    Fits,
}

/// A share of the budget, and the loss of the items in it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ShareMargin {
    /// The share.
    pub share: Share,
    /// Loss of its items \[dB\].
    pub loss_db: f64,
    /// Maximum loss of its items \[dB\]; `None` if no split is known.
    pub budget_db: Option<f64>,
}

/// A segment at a rate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Margin {
    /// The rate.
    pub rate: DataRate,
    /// Its number, from 0.
    pub segment: usize,
    /// The first item.
    pub from: String,
    /// The last item.
    pub to: String,
    /// The loss of each item, in order \[dB\].
    pub losses: Vec<(String, f64)>,
    /// Their sum \[dB\].
    pub loss_db: f64,
    /// The budget, die to die \[dB\].
    pub budget_db: f64,
    /// Margin \[dB\]; negative if the budget is exceeded.
    pub margin_db: f64,
    /// Reserve of the budget \[dB\].
    pub reserve_db: f64,
    /// Whether it fits.
    pub verdict: Verdict,
    /// The split, of a segment that has items in shares.
    pub shares: Vec<ShareMargin>,
}

impl Chain {
    /// The margin of each segment at a rate.
    ///
    /// # Errors
    /// `PH028` for a rate without a budget, `PH018` for data that do not reach its Nyquist frequency, else as for the
    /// elements.
    pub fn margins(&self, library: &Library, corner: Corner, rate: DataRate) -> Result<Vec<Margin>, Finding> {
        let segments = self.segments();
        segments.iter().enumerate().map(|(at, segment)| margin(at, segment, library, corner, rate)).collect()
    }
}

fn margin(
    index: usize,
    segment: &[Item],
    library: &Library,
    corner: Corner,
    rate: DataRate,
) -> Result<Margin, Finding> {
    let budget = library.budget(rate)?;
    let nyquist = rate.nyquist_hz();
    let mut losses = Vec::new();
    for (item, loss) in segment.iter().zip(Chain::losses(segment, library, corner, nyquist)?) {
        let short =
            || Problem::TooShort { last: format!("the end of `{}`", item.name), nyquist: hertz(nyquist) };
        losses.push((item.name.clone(), loss.ok_or_else(|| short().found())?));
    }
    let loss_db: f64 = losses.iter().map(|(_, loss)| loss).sum();
    let budget_db = budget.total_db();
    let reserve_db = budget_db * library.reserve();
    let margin_db = budget_db - loss_db;
    let shares = Share::ALL.into_iter().filter(|share| segment.iter().any(|item| item.share == Some(*share)));
    let shares = shares.map(|share| {
        let of = segment.iter().zip(&losses).filter(|(item, _)| item.share == Some(share));
        ShareMargin { share, loss_db: of.map(|(_, (_, loss))| loss).sum(), budget_db: budget.share_db(share) }
    });
    let verdict = match margin_db {
        left if left < 0.0 => Verdict::Exceeds,
        left if left < reserve_db => Verdict::Tight,
        _ => Verdict::Fits,
    };
    Ok(Margin {
        rate,
        segment: index,
        from: segment[0].name.clone(),
        to: segment[segment.len() - 1].name.clone(),
        shares: shares.collect(),
        losses,
        loss_db,
        budget_db,
        margin_db,
        reserve_db,
        verdict,
    })
}
