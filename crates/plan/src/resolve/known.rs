//! What is known beside the scenario.

use super::channels::Channels;
use crate::catalogue::Catalogue;
use crate::files::Configurations;

/// Parts, and what the files say that the scenario names.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub catalogue: &'a Catalogue,
    pub configurations: &'a Configurations,
    pub channels: &'a Channels,
    /// Where the randomness of runs begins, and that of links which train.
    pub seed: u64,
}
