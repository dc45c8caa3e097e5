//! Traffic of links between their outages.

use lanetwin_pcie::link::Stretch;
use lanetwin_ports::LinkReport;

/// Traffic of a link in its busier direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Carried {
    /// The link.
    pub link: String,
    /// Traffic up to each outage.
    pub stretches: Vec<Stretch>,
    /// Traffic up to the end of the measurement, in data credits.
    pub data_units: u64,
}

/// Traffic of every link that went down, given both directions of each link.
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
