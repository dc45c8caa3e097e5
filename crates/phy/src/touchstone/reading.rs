//! Result of reading a file.

use crate::network::Network;
use crate::problem::Finding;

/// A file that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// The network that it describes.
    pub network: Network,
    /// Warnings about its interpretation.
    pub warnings: Vec<Finding>,
}
