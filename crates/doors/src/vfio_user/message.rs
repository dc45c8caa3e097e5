//! A message, and protocol errors.

use super::wire::Header;
use std::os::fd::OwnedFd;

/// The peer violates the protocol; the connection cannot be used any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("what came is no message of vfio-user")]
pub struct Broken;

/// A message that is whole.
#[derive(Debug)]
pub struct Message {
    /// Its header.
    pub header: Header,
    /// Its body.
    pub body: Vec<u8>,
    /// Files that came with it.
    pub files: Vec<OwnedFd>,
}
