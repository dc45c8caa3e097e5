//! What a front needs of the controllers for which it carries things out, whatever is behind them.

use crate::drive::Ssd;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{Segment, Token};
use lanetwin_units::Instant;

/// Controllers of NVM Express, as a front sees them that carries out what they ask of their host.
pub trait Controllers {
    /// The command that a token belongs to; none if its controller was reset since.
    fn command(&self, token: Token) -> Option<CommandInfo>;
    /// The pieces of host memory of an effect that is not yet reported, in order.
    fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_;
    /// The bytes of a store effect that is not yet reported.
    fn content(&self, token: Token) -> &[u8];
    /// The bytes of a fetch have come.
    fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8]);
    /// A transfer is done.
    fn transferred(&mut self, now: Instant, token: Token);
    /// What the controller has made is at the host.
    fn stored(&mut self, now: Instant, token: Token);
    /// An effect could not be carried out.
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
