//! Runs of consecutive pages, for prefetching.

use super::config::Prefetch;
use core::ops::Range;

/// Tracks a number of runs at once.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    config: Prefetch,
    runs: Vec<Run>,
    /// Index of the run that is replaced next.
    oldest: usize,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    last: u32,
    length: u32,
    /// End of the pages requested ahead.
    ahead: u32,
}

impl Streams {
    pub(super) fn new(config: Prefetch) -> Self {
        Self { config, runs: Vec::new(), oldest: 0, last: u32::MAX }
    }
    /// Notes a use of a page. Returns the pages to fetch, which may lie beyond the device.
    pub(super) fn observe(&mut self, page: u32) -> Range<u32> {
        if page == self.last {
            return 0..0;
        }
        self.last = page;
        let Prefetch { streams, trigger, degree } = self.config;
        if let Some(run) = self.runs.iter_mut().find(|run| page.wrapping_sub(run.last) <= 1) {
            if run.last == page {
                return 0..0;
            }
            *run = Run { last: page, length: run.length.saturating_add(1), ..*run };
            if run.length < trigger {
                return 0..0;
            }
            let from = run.ahead.max(page + 1);
            run.ahead = page.saturating_add(degree).saturating_add(1).max(from);
            return from..run.ahead;
        }
        // with a trigger of one every page starts prefetching
        let end = if trigger == 1 { page.saturating_add(degree).saturating_add(1) } else { page + 1 };
        let run = Run { last: page, length: 1, ahead: end };
        if self.runs.len() < streams as usize {
            self.runs.push(run);
        } else {
            self.runs[self.oldest] = run;
            self.oldest = (self.oldest + 1) % self.runs.len();
        }
        if trigger == 1 { page + 1..end } else { 0..0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_believed_after_its_trigger_and_asked_for_once() {
        let mut streams = Streams::new(Prefetch { streams: 2, trigger: 3, degree: 2 });
        // two interleaved runs and a page that belongs to none of them
        let asked: Vec<_> = [10, 50, 11, 11, 51, 12, 13, 52, 14].map(|page| streams.observe(page)).into();
        let none = 0..0;
        let wanted =
            [none.clone(), none.clone(), none.clone(), none.clone(), none, 13..15, 15..16, 53..55, 16..17];
        assert_eq!(asked, wanted);
        // a third run takes the place of the oldest
        assert_eq!([99, 53, 15].map(|page| streams.observe(page)), [0..0, 55..56, 0..0]);
        let mut eager = Streams::new(Prefetch { streams: 1, trigger: 1, degree: 1 });
        assert_eq!([7, 8, 3].map(|page| eager.observe(page)), [8..9, 9..10, 4..5]);
    }
}
