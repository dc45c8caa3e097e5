//! A snapshot as a [`Host`]: bytes that were not recorded read as all ones, and writes are refused.

use super::snapshot::Snapshot;
use crate::host::{Address, Host, HostError, Width};
use lanetwin_units::{Instant, Span};

/// A [`Host`] that reads from a snapshot.
#[derive(Debug)]
pub(super) struct Recorded<'s>(pub &'s Snapshot);

impl Host for Recorded<'_> {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        let space = self.0.spaces.get(&at).ok_or(HostError::Gone(at))?;
        let (start, count) = (usize::from(offset), usize::from(width.bytes()));
        Ok(space.get(start..start + count).map_or(width.ones(), |bytes| {
            bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
        }))
    }
    fn write(&mut self, at: Address, _: u16, _: Width, _: u32) -> Result<(), HostError> {
        Err(HostError::Refused { what: at.to_string(), said: "a recording cannot be written".into() })
    }
    fn size(&mut self, at: Address) -> Result<u16, HostError> {
        let space = self.0.spaces.get(&at).ok_or(HostError::Gone(at))?;
        Ok(u16::try_from(space.len()).unwrap_or(4096))
    }
    fn now(&self) -> Instant {
        Instant::ZERO
    }
    fn wait(&mut self, _: Span) {}
    fn name(&self) -> String {
        "recorded".into()
    }
}
