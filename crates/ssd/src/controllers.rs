//! The controller interface that a front needs, whatever is behind the controllers.

use crate::drive::Ssd;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{Segment, Token};
use lanetwin_units::Instant;

/// NVMe controllers, as seen by a front that carries out their accesses to the host.
pub trait Controllers {
    /// The command that a token belongs to. Returns `None` if its controller has been reset since.
    fn command(&self, token: Token) -> Option<CommandInfo>;
    /// The pieces of host memory of an effect that is not yet reported, in order.
    fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_;
    /// The bytes of a store effect that is not yet reported.
    fn content(&self, token: Token) -> &[u8];
    /// Reports the bytes of a fetch.
    fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8]);
    /// Reports that a transfer is complete.
    fn transferred(&mut self, now: Instant, token: Token);
    /// Reports that the data of a store effect are at the host.
    fn stored(&mut self, now: Instant, token: Token);
    /// Reports that an effect could not be carried out.
    fn failed(&mut self, now: Instant, token: Token);
}

impl Controllers for Ssd {
    #[inline]
    fn command(&self, token: Token) -> Option<CommandInfo> {
        Self::command(self, token)
    }
    #[inline]
    fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_ {
        Self::segments(self, token)
    }
    fn content(&self, token: Token) -> &[u8] {
        Self::content(self, token)
    }
    #[inline]
    fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8]) {
        Self::fetched(self, now, token, bytes);
    }
    #[inline]
    fn transferred(&mut self, now: Instant, token: Token) {
        Self::transferred(self, now, token);
    }
    fn stored(&mut self, now: Instant, token: Token) {
        Self::stored(self, now, token);
    }
    fn failed(&mut self, now: Instant, token: Token) {
        Self::failed(self, now, token);
    }
}
