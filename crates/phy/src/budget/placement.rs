//! Placement of one or two retimers for the largest margin.

use super::{Chain, Change, Margin};
use crate::element::{Corner, Element, Library};
use crate::problem::Finding;
use crate::rate::DataRate;
use serde::Serialize;

/// Maximum number of retimers in a link (PCIe Base: two).
const MOST_RETIMERS: usize = 2;

/// Retimers at some joints of a chain.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Placement {
    /// The items that are followed by a retimer.
    pub after: Vec<String>,
    /// The margin of each segment.
    pub margins: Vec<Margin>,
    /// The smallest of the margins \[dB\].
    pub least_margin_db: f64,
}

impl Chain {
    /// Every way to place up to `retimers` (at most two, those of the chain included) retimers of a part at the joints
    /// of the chain, behind the items that are named in `allowed`, or behind any if none is; none of them included. The
    /// largest least margin comes first; among equals the fewest retimers, then the earliest.
    ///
    /// # Errors
    /// As [`Chain::with`] and [`Chain::margins`].
    pub fn placements(
        &self,
        part: &str,
        retimers: usize,
        allowed: &[&str],
        (library, corner, rate): (&Library, Corner, DataRate),
    ) -> Result<Vec<Placement>, Finding> {
        let has = self.segments().len() - 1;
        let more = retimers.min(MOST_RETIMERS.saturating_sub(has));
        let joints = self.joints(allowed);
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
        if more >= 1 {
            chosen.extend(joints.iter().map(|&at| vec![at]));
        }
        if more >= 2 {
            let pairs =
                joints.iter().flat_map(|&a| joints.iter().filter(move |b| **b > a).map(move |&b| vec![a, b]));
            chosen.extend(pairs);
        }
        let mut found = Vec::new();
        for joints in chosen {
            let mut chain = self.clone();
            let after: Vec<String> = joints.iter().map(|&at| self.items()[at].name.clone()).collect();
            for after in &after {
                let change = Change::Retimer { after: after.clone(), part: part.to_owned() };
                chain = chain.with(&change, library)?;
            }
            let margins = chain.margins(library, corner, rate)?;
            let least_margin_db = margins.iter().map(|margin| margin.margin_db).fold(f64::INFINITY, f64::min);
            found.push(Placement { after, margins, least_margin_db });
        }
        // stable: fewest retimers and earliest joints stay before others
        found.sort_by(|a, b| b.least_margin_db.total_cmp(&a.least_margin_db));
        Ok(found)
    }
    /// The items behind which a retimer can stand: not the last one, not beside a retimer, not between a die and its
    /// ball.
    fn joints(&self, allowed: &[&str]) -> Vec<usize> {
        let items = self.items();
        let stands = |at: usize| {
            let beside = [at, at + 1];
            beside.iter().all(|&at| !matches!(items[at].element, Element::Retimer(_)))
        };
        let named = |at: usize| allowed.is_empty() || allowed.contains(&&*items[at].name);
        (0..items.len() - 1).filter(|&at| named(at) && stands(at)).collect()
    }
}
