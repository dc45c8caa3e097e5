//! Credits of the two classes of a direction: those that its transmitter has, and those of the other direction that it
//! has to return.

use super::super::half::{INFINITE, Returning};
use super::super::packer::Class;
use super::super::ring::NEVER;
use super::super::ring::Ring;
use crate::spec::flit_256::CREDIT_COUNTS;

/// Credits of a transmitter.
pub struct Credits {
    hand: [u32; 2],
    /// When the credits of a class ran out \[ticks\].
    exhausted: [u64; 2],
    /// Credits on their way to the transmitter.
    returning: Ring<Returning>,
    /// Sum over the classes of the time in which a message waited for a credit \[ticks\].
    pub stalled_ticks: u64,
}

impl Credits {
    /// All credits at the transmitter, by class; 0 is infinite.
    pub fn new(credits: [u32; 2]) -> Self {
        let hand = credits.map(|n| if n == 0 { INFINITE } else { n });
        Self { hand, exhausted: [0; 2], returning: Ring::default(), stalled_ticks: 0 }
    }
    /// Credits that the transmitter has, by class.
    pub const fn hand(&self) -> [u32; 2] {
        self.hand
    }
    /// Number of credits of a class that are on their way.
    pub fn returning(&self, class: Class) -> u32 {
        self.returning.iter().map(|credit| credit.credits[class.index()]).sum()
    }
    /// When the next known credit of a class arrives \[ticks\].
    pub fn next(&self, class: Class) -> u64 {
        let credit = self.returning.iter().find(|credit| credit.credits[class.index()] > 0);
        credit.map_or(NEVER, |credit| credit.at)
    }
    /// Adds credits that are on their way.
    pub fn expect_credits(&mut self, returning: Returning) {
        self.returning.insert(returning, 0);
    }
    /// Adds the credits that have arrived to those of the transmitter. The first message of each class has waited since
    /// `heads`.
    pub fn take(&mut self, now: u64, heads: [u64; 2]) {
        while self.returning.at() <= now {
            let Some(Returning { at, credits }) = self.returning.pop() else { return };
            for (i, credits) in credits.into_iter().enumerate() {
                if credits > 0 && self.hand[i] == 0 && heads[i] != NEVER {
                    self.stalled_ticks += at.saturating_sub(heads[i].max(self.exhausted[i]));
                }
                // A class without flow control never receives credits.
                self.hand[i] += credits;
            }
        }
    }
    /// Takes credits for the messages of each class that leave at `now`.
    pub fn spend(&mut self, messages: [u8; 2], now: u64) {
        for (i, messages) in messages.into_iter().enumerate() {
            if messages > 0 && self.hand[i] != INFINITE {
                self.hand[i] -= u32::from(messages);
                if self.hand[i] == 0 {
                    self.exhausted[i] = now;
                }
            }
        }
    }
}

/// Credits of the other direction that are to be returned: when each becomes free \[ticks\], by class.
#[derive(Default)]
pub struct Owed([Ring<u64>; 2]);

impl Owed {
    /// Number of credits of a class.
    pub const fn len(&self, class: Class) -> usize {
        self.0[class.index()].len()
    }
    /// Adds a credit that is free from `at` on.
    pub fn add(&mut self, class: Class, at: u64) {
        self.0[class.index()].insert(at, 0);
    }
    /// When the first credit became or becomes free \[ticks\].
    pub const fn first(&self) -> u64 {
        let [none, data] = &self.0;
        if none.at() < data.at() { none.at() } else { data.at() }
    }
    /// Takes the credits that a flit returns at `now`: for each class, as many as its field can encode.
    pub fn give_back(&mut self, now: u64) -> [u32; 2] {
        self.0.each_mut().map(|to_return| {
            let free = |n: u32| to_return.at_of(n as usize - 1) <= now;
            let given = CREDIT_COUNTS.into_iter().rev().find(|n| free(*n)).unwrap_or(0);
            to_return.drop_first(given as usize);
            given
        })
    }
}
