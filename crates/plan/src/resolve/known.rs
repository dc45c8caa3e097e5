//! Data that is known besides the scenario.

use super::channels::Channels;
use crate::catalogue::Catalogue;
use crate::files::Configurations;

/// Parts, and the contents of the files that the scenario names.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub catalogue: &'a Catalogue,
    pub configurations: &'a Configurations,
    pub channels: &'a Channels,
    /// The seed of runs, and of links that train.
    pub seed: u64,
}
