//! Something that passes data on at a rate of its own: the medium of a target.

use lanetwin_units::{LinkRate, Ticks};

/// One after the other, each as long as its bytes take.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// `None` if there is no limit.
    rate: Option<LinkRate>,
    free: Ticks,
}

impl Pace {
    /// Nothing has passed yet.
    #[must_use]
    pub const fn new(rate: Option<LinkRate>) -> Self {
        Self { rate, free: Ticks(0) }
    }
    /// Passes `bytes` that arrive at `at`, after earlier ones. Returns when the last of them has passed.
    pub fn pass(&mut self, at: Ticks, bytes: u64) -> Ticks {
        let Some(rate) = self.rate else { return at };
        self.free = at.max(self.free) + rate.ticks_for(bytes);
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_too_early_waits() {
        let mut pace = Pace::new(Some(LinkRate::bytes_per_second(1_000_000_000)));
        let ns = |ns: u64| Ticks(ns * 1_024_000);
        assert_eq!(
            [pace.pass(ns(5), 10), pace.pass(ns(6), 10), pace.pass(ns(40), 1)],
            [ns(15), ns(25), ns(41)]
        );
        assert_eq!(Pace::new(None).pass(ns(7), 1 << 40), ns(7));
    }
}
