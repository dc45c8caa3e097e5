//! Observation of a run: digest, taps, and the last messages before a panic.

use lanetwin_units::Instant;

/// What a kernel records of the messages that it delivers.
#[derive(Clone, Copy, Debug)]
pub struct Observe {
    /// Whether messages enter the digest.
    pub digest: bool,
    /// Number of last messages that are kept for a capsule.
    pub recent: usize,
}

impl Default for Observe {
    fn default() -> Self {
        // Few enough that recording them does not displace useful data from the first-level cache.
        Self { digest: true, recent: 64 }
    }
}

/// Sees every message at the time of its delivery.
pub trait Tap<M> {
    /// `from` and `to` are the paths of the channel's ends.
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &M);
}

/// The last messages that were delivered, in a ring buffer.
#[derive(Clone, Debug)]
pub struct Recent<M> {
    kept: Vec<(Instant, u32, M)>,
    most: usize,
    /// Index of the oldest entry, or length of the ring while it is being filled.
    oldest: usize,
}

impl<M: Copy> Recent<M> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::with_capacity(most), most, oldest: 0 }
    }
    #[inline]
    pub(crate) fn keep(&mut self, at: Instant, channel: u32, message: M) {
        if let Some(oldest) = self.kept.get_mut(self.oldest) {
            *oldest = (at, channel, message);
            self.oldest += 1;
        } else {
            self.begin_again(at, channel, message);
        }
    }
    /// Writes at the end of the ring: appends while there is room, otherwise starts over at the first entry.
    #[inline(never)]
    fn begin_again(&mut self, at: Instant, channel: u32, message: M) {
        if self.kept.len() < self.most {
            self.kept.push((at, channel, message));
            self.oldest = self.kept.len();
        } else if let Some(first) = self.kept.first_mut() {
            *first = (at, channel, message);
            self.oldest = 1;
        }
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Instant, u32, M)> {
        let (newer, older) = self.kept.split_at(self.oldest);
        older.iter().chain(newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_kept_in_order() {
        for (most, expected) in
            [(0, vec![]), (1, vec![6]), (3, vec![4, 5, 6]), (10, vec![0, 1, 2, 3, 4, 5, 6])]
        {
            let mut recent = Recent::new(most);
            (0..7).for_each(|i| recent.keep(Instant::from_ps(i), 0, i));
            assert_eq!(recent.iter().map(|kept| kept.2).collect::<Vec<_>>(), expected);
        }
    }
}
