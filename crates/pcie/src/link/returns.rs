//! What comes back to a transmitter, credits and room in its replay buffer, in the order of time.

use super::ring::Ring;
use super::sentinels::NEVER;

/// `n` returns of something, at `t`, `t + p`, … \[ticks\], each worth `weight`.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Returns {
    pub t: u64,
    pub p: u64,
    pub n: u32,
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
        self.0.front().map_or(NEVER, |r| r.t)
    }
    #[inline]
    pub fn push(&mut self, new: Returns) {
        if let Some(back) = self.0.back_mut() {
            debug_assert!(
                new.t >= back.t + u64::from(back.n - 1) * back.p,
                "a ring of returns is in the order of time"
            );
            let continues = new.weight == back.weight
                && (new.n == 1 || back.n == 1 || new.p == back.p)
                && (back.n == 1 || new.t == back.t + u64::from(back.n) * back.p)
                && (new.n == 1 || back.n > 1 || new.t == back.t + new.p);
            if continues {
                if back.n == 1 {
                    back.p = new.t - back.t;
                }
                back.n += new.n;
                return;
            }
        }
        self.0.push(new);
    }
    /// The time of the last return that is known.
    #[inline]
    pub fn last(&self) -> Option<u64> {
        self.0.back().map(|r| r.t + u64::from(r.n - 1) * r.p)
    }
    /// The run of returns that comes next.
    #[inline]
    pub fn front(&self) -> Option<&Returns> {
        self.0.front()
    }
    /// Takes the next `n` returns, all of the front run, without looking at the time.
    #[inline]
    pub fn take_front(&mut self, n: u32) {
        if let Some(front) = self.0.front_mut() {
            debug_assert!(n <= front.n, "only the front run is taken");
            if n == front.n {
                self.0.pop();
            } else {
                front.t += u64::from(n) * front.p;
                front.n -= n;
            }
        }
    }
    /// What is due at `t`, left where it is: how many, and their weight together.
    pub fn due(&self, t: u64) -> (i64, i64) {
        let due = self.0.iter().take_while(|r| r.t <= t).map(|r| {
            let n = (t - r.t).checked_div(r.p).map_or(r.n, |past| (past + 1).min(u64::from(r.n)) as u32);
            (i64::from(n), i64::from(n) * i64::from(r.weight))
        });
        due.fold((0, 0), |(n, w), (count, weight)| (n + count, w + weight))
    }
    /// Takes out what is due at `t`: how many, and their weight together.
    #[inline]
    pub fn take_due(&mut self, t: u64) -> (i64, i64) {
        let (mut count, mut weight) = (0, 0);
        while let Some(front) = self.0.front_mut() {
            if front.t > t {
                break;
            }
            let due = if front.n == 1 || front.p == 0 {
                front.n
            } else {
                (((t - front.t) / front.p) + 1).min(u64::from(front.n)) as u32
            };
            count += i64::from(due);
            weight += i64::from(due) * i64::from(front.weight);
            if due < front.n {
                front.t += u64::from(due) * front.p;
                front.n -= due;
                break;
            }
            self.0.pop();
        }
        (count, weight)
    }
    /// What is on its way: how many, and their weight together.
    pub fn pending(&self) -> (u64, u64) {
        self.0.iter().fold((0, 0), |(n, w), r| (n + u64::from(r.n), w + u64::from(r.n) * u64::from(r.weight)))
    }
}
