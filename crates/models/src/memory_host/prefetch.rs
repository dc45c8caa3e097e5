//! A prefetcher: it observes a core's misses and predicts the next lines.
//!
//! Like Intel's second-level streamer (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Data Prefetch
//! to the L2 and Last Level Cache") it keeps a stream for each of the pages of 4 KiB touched last, finds out whether it
//! ascends or descends, and never leaves the page.

use super::params::{Prefetch, Rules};

/// Number of pages tracked (the manual: one forward or backward stream per page, 32 pages).
const PAGES: usize = 32;
/// Steps in one direction after which a stream is one.
const TRAINED: u8 = 2;
/// Lines of a page.
const LINES: u64 = 64;

/// A core's prefetcher.
#[derive(Debug)]
pub(super) struct Prefetcher {
    kind: Prefetch,
    depth: u64,
    pages: [u64; PAGES],
    streams: [Stream; PAGES],
    /// Index of the entry to replace next.
    oldest: usize,
    /// Index of the entry found last, where a search begins.
    recent: usize,
}

#[derive(Clone, Copy, Default, Debug)]
struct Stream {
    last: u8,
    /// Steps in this direction, and which it is.
    run: u8,
    down: bool,
    /// Lines of the page that have been requested.
    asked: u64,
}

/// Advice of a prefetcher on a touch.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Advice {
    /// Whether the line has been prefetched, or is being prefetched.
    pub(super) prefetched: bool,
    /// The lines to request, all in the page: one bit each.
    pub(super) ask: u64,
    /// Whether to request them in descending order.
    pub(super) down: bool,
}

impl Prefetcher {
    pub(super) fn new(rules: &Rules) -> Self {
        let depth = if rules.prefetch == Prefetch::NextLine { 1 } else { u64::from(rules.depth) };
        Self {
            kind: rules.prefetch,
            depth,
            pages: [u64::MAX; PAGES],
            streams: [Stream::default(); PAGES],
            oldest: 0,
            recent: 0,
        }
    }
    pub(super) fn is_off(&self) -> bool {
        self.kind == Prefetch::Off
    }
    fn find(&self, page: u64) -> Option<usize> {
        if self.pages[self.recent] == page {
            return Some(self.recent);
        }
        self.pages.iter().position(|known| *known == page)
    }
    /// Takes note of a touch that the first level did not have.
    #[inline]
    pub(super) fn touch(&mut self, line: u64) -> Advice {
        let (page, place) = (line / LINES, (line % LINES) as u8);
        let Some(at) = self.find(page) else {
            let at = self.oldest;
            self.oldest = (at + 1) % PAGES;
            self.pages[at] = page;
            self.streams[at] = Stream { last: place, ..Stream::default() };
            self.recent = at;
            return match self.kind {
                Prefetch::NextLine => self.advise(at, place),
                _ => Advice::default(),
            };
        };
        self.recent = at;
        let stream = &mut self.streams[at];
        let down = place < stream.last;
        if place.abs_diff(stream.last) <= 2 && (down == stream.down || stream.run == 0) {
            stream.run = (stream.run + 1).min(TRAINED);
        } else if place != stream.last {
            stream.run = 0;
        }
        stream.down = down;
        stream.last = place;
        self.advise(at, place)
    }
    fn advise(&self, at: usize, place: u8) -> Advice {
        let stream = &self.streams[at];
        let prefetched = stream.asked & 1 << place != 0;
        let trained = stream.run >= TRAINED;
        let ahead = match self.kind {
            Prefetch::Off => 0,
            Prefetch::NextLine => span(place, 1, false),
            Prefetch::Stream if trained => span(place, self.depth, stream.down),
            Prefetch::Stream => 0,
        };
        Advice { prefetched, ask: ahead & !stream.asked, down: stream.down && self.kind == Prefetch::Stream }
    }
    /// Notes that a line is being requested, or is already cached.
    pub(super) fn asked(&mut self, line: u64) {
        if let Some(at) = self.find(line / LINES) {
            self.streams[at].asked |= 1 << (line % LINES);
        }
    }
}

/// The `depth` lines of a page next to `place`, one bit each.
fn span(place: u8, depth: u64, down: bool) -> u64 {
    let ones = u64::MAX >> (LINES - depth.clamp(1, LINES));
    if down {
        // the lines below, at most `depth` of them
        let below = (1_u64 << place) - 1;
        let first = u64::from(place).saturating_sub(depth);
        below & !((1_u64 << first) - 1)
    } else {
        ones.checked_shl(u32::from(place) + 1).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefetcher(kind: Prefetch) -> Prefetcher {
        Prefetcher {
            kind,
            depth: 4,
            pages: [u64::MAX; PAGES],
            streams: [Stream::default(); PAGES],
            oldest: 0,
            recent: 0,
        }
    }
    fn advice(kind: Prefetch, lines: &[u64]) -> Vec<u64> {
        let mut prefetcher = prefetcher(kind);
        let mut asked = Vec::new();
        for &line in lines {
            let mut ask = prefetcher.touch(line).ask;
            while ask != 0 {
                let place = u64::from(ask.trailing_zeros());
                ask &= ask - 1;
                asked.push(line / 64 * 64 + place);
                prefetcher.asked(line / 64 * 64 + place);
            }
        }
        asked
    }

    #[test]
    fn a_stream_is_followed_within_its_page() {
        assert_eq!(advice(Prefetch::Stream, &[640, 641, 642]), [643, 644, 645, 646]);
        assert_eq!(advice(Prefetch::Stream, &[640, 641, 642, 643]), [643, 644, 645, 646, 647]);
        assert_eq!(
            advice(Prefetch::Stream, &[645, 644, 643]),
            [640, 641, 642].into_iter().collect::<Vec<_>>()
        );
        assert_eq!(advice(Prefetch::Stream, &[700, 701, 702]), [703]);
        assert!(advice(Prefetch::Stream, &[702, 703, 704]).is_empty());
        assert!(advice(Prefetch::Stream, &[640, 670, 650, 641]).is_empty());
    }

    #[test]
    fn the_next_line_is_the_next_line() {
        assert_eq!(advice(Prefetch::NextLine, &[640, 700, 63]), [641, 701]);
        assert!(advice(Prefetch::Off, &[640, 641, 642, 643]).is_empty());
    }

    #[test]
    fn what_was_asked_for_is_known_while_its_page_is() {
        let mut prefetcher = prefetcher(Prefetch::Stream);
        (0..3).for_each(|line| assert!(!prefetcher.touch(line).prefetched));
        prefetcher.asked(3);
        assert!(prefetcher.touch(3).prefetched);
        assert!(!prefetcher.touch(4).prefetched);
        (1..=PAGES as u64).for_each(|page| assert!(!prefetcher.touch(page * 64).prefetched));
        assert!(!prefetcher.touch(3).prefetched);
    }
}
