//! A message, and what is none.

use super::wire::Header;
use std::os::fd::OwnedFd;

/// What comes does not keep to the protocol; the connection is of no use any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("what came is no message of vfio-user")]
pub struct Broken;

/// A message that is whole.
#[derive(Debug)]
pub struct Message {
    /// What it begins with.
    pub header: Header,
    /// What follows.
    pub body: Vec<u8>,
    /// Files that came with it.
    pub files: Vec<OwnedFd>,
}
