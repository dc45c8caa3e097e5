//! Returns of credits and of replay buffer room to a transmitter, in the order of time.

use super::ring::Ring;
use super::sentinels::NEVER;

/// `count` returns, the first at `at`, the others `spacing` apart \[ticks\], each of `weight` units.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Returns {
    pub at: u64,
    pub spacing: u64,
    pub count: u32,
    pub weight: u32,
}

/// Returns in the order of their times.
#[derive(Clone, Debug)]
pub(super) struct ReturnRing(Ring<Returns>);

impl ReturnRing {
    pub fn new() -> Self {
        Self(Ring::new())
    }
    #[inline]
    pub fn next(&self) -> u64 {
        self.0.front().map_or(NEVER, |r| r.at)
    }
    #[inline]
    pub fn push(&mut self, new: Returns) {
        if let Some(back) = self.0.back_mut() {
            debug_assert!(
                new.at >= back.at + u64::from(back.count - 1) * back.spacing,
                "a ring of returns is in the order of time"
            );
            let continues = new.weight == back.weight
                && (new.count == 1 || back.count == 1 || new.spacing == back.spacing)
                && (back.count == 1 || new.at == back.at + u64::from(back.count) * back.spacing)
                && (new.count == 1 || back.count > 1 || new.at == back.at + new.spacing);
            if continues {
                if back.count == 1 {
                    back.spacing = new.at - back.at;
                }
                back.count += new.count;
                return;
            }
        }
        self.0.push(new);
    }
    /// The time of the last known return.
    #[inline]
    pub fn last(&self) -> Option<u64> {
        self.0.back().map(|r| r.at + u64::from(r.count - 1) * r.spacing)
    }
    /// The next run of returns.
    #[inline]
    pub fn front(&self) -> Option<&Returns> {
        self.0.front()
    }
    /// Takes the next `n` returns, all of the first run, whatever their times.
    #[inline]
    pub fn take_front(&mut self, n: u32) {
        if let Some(front) = self.0.front_mut() {
            debug_assert!(n <= front.count, "only the front run is taken");
            if n == front.count {
                self.0.pop();
            } else {
                front.at += u64::from(n) * front.spacing;
                front.count -= n;
            }
        }
    }
    /// Returns due at `t`, without taking them: their number, and their total weight.
    pub fn due(&self, t: u64) -> (i64, i64) {
        let due = self.0.iter().take_while(|r| r.at <= t).map(|r| {
            let n = (t - r.at)
                .checked_div(r.spacing)
                .map_or(r.count, |past| (past + 1).min(u64::from(r.count)) as u32);
            (i64::from(n), i64::from(n) * i64::from(r.weight))
        });
        due.fold((0, 0), |(n, w), (count, weight)| (n + count, w + weight))
    }
    /// Takes the returns due at `t`: their number, and their total weight.
    #[inline]
    pub fn take_due(&mut self, t: u64) -> (i64, i64) {
        let (mut count, mut weight) = (0, 0);
        while let Some(front) = self.0.front_mut() {
            if front.at > t {
                break;
            }
            let due = if front.count == 1 || front.spacing == 0 {
                front.count
            } else {
                (((t - front.at) / front.spacing) + 1).min(u64::from(front.count)) as u32
            };
            count += i64::from(due);
            weight += i64::from(due) * i64::from(front.weight);
            if due < front.count {
                front.at += u64::from(due) * front.spacing;
                front.count -= due;
                break;
            }
            self.0.pop();
        }
        (count, weight)
    }
    /// All pending returns: their number, and their total weight.
    pub fn pending(&self) -> (u64, u64) {
        self.0
            .iter()
            .fold((0, 0), |(n, w), r| (n + u64::from(r.count), w + u64::from(r.count) * u64::from(r.weight)))
    }
}
