//! What links carry between their outages.

use lanetwin_pcie::link::Stretch;
use lanetwin_ports::LinkReport;

/// What a link carried in its busier direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Carried {
    /// The link.
    pub link: String,
    /// Up to each outage.
    pub stretches: Vec<Stretch>,
    /// Up to the end of the measurement, in data credits.
    pub data_units: u64,
}

/// What every link carried that was down, given both directions of each link.
pub(super) fn carried(after: &[LinkReport]) -> Vec<Carried> {
    let busier = after.chunks(2).filter_map(|both| both.iter().max_by_key(|way| way.activity.data_units));
    let went_down = busier.filter(|way| !way.stretches.is_empty());
    went_down
        .map(|way| Carried {
            link: way.link.clone(),
            stretches: way.stretches.clone(),
            data_units: way.activity.data_units,
        })
        .collect()
}
