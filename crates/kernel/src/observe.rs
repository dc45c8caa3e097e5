//! Watching a run: digest, taps, and the last messages before a panic.

use lanetwin_units::Instant;
use std::collections::VecDeque;

/// What a kernel keeps of the messages that it delivers.
#[derive(Clone, Copy, Debug)]
pub struct Observe {
    /// Whether messages enter the digest.
    pub digest: bool,
    /// How many of the last messages are kept for a capsule.
    pub recent: usize,
}

impl Default for Observe {
    fn default() -> Self {
        Self { digest: true, recent: 1000 }
    }
}

/// Sees every message at the time of its delivery.
pub trait Tap<M> {
    /// `from` and `to` are the paths of the channel's ends.
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &M);
}

/// The last messages that were delivered.
#[derive(Clone, Debug)]
pub struct Recent<M> {
    kept: VecDeque<(Instant, u32, M)>,
    most: usize,
}

impl<M: Copy> Recent<M> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: VecDeque::with_capacity(most), most }
    }
    #[inline]
    pub(crate) fn keep(&mut self, at: Instant, channel: u32, message: M) {
        if self.most == 0 {
            return;
        }
        if self.kept.len() == self.most {
            self.kept.pop_front();
        }
        self.kept.push_back((at, channel, message));
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Instant, u32, M)> {
        self.kept.iter()
    }
}
