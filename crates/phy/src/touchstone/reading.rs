//! What a file says.

use crate::network::Network;
use crate::problem::Finding;

/// A file that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// What it describes.
    pub network: Network,
    /// What is worth knowing about how it was read.
    pub warnings: Vec<Finding>,
}
