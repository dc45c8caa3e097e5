//! Refresh schedule: the ranks take turns, with all banks or one of every bank group.
//!
//! **Refreshes have no exact period.** JEDEC requires an average interval: single refreshes may be advanced or
//! postponed by up to eight intervals with DDR4 (JESD79-4, 4.26), and controllers use that. Here each refresh comes
//! at a uniformly random time in its rank's own share of the interval (assumed). With an exact period, dependent
//! loads would fall into step with it: a load that waits for a refresh continues when that ends, and the loads after
//! it then meet the next refresh at the same phase whatever the latency is, so that only part of a longer latency
//! would show.

use super::clock::NEVER;
use super::config::{Config, Refresh};
use super::spec::Timings;
use lanetwin_units::mix;

/// Offset of the n-th refresh of a rank in its share of the interval, in clocks below `share`.
#[must_use]
pub fn lateness(bus: u32, rank: u32, n: u64, share: u64) -> u64 {
    let place = u64::from(bus) << 8 | u64::from(rank);
    ((u128::from(mix(mix(place) ^ n)) * u128::from(share)) >> 64) as u64
}

/// The refreshes of a rank.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Clock at which its share of the interval for the next refresh begins.
    share: u64,
    /// Clock at which the next step is possible.
    at: u64,
    /// Number of the refresh: for same-bank refresh, the bank of every group.
    number: u32,
    /// The banks that are kept free for it; 0 before it is due.
    banks: u64,
}

/// The refreshes of a data bus.
#[derive(Clone, Debug)]
pub(super) struct Refresher {
    rounds: Vec<Round>,
    bus: u32,
    interval: u64,
    /// A rank's own share of the interval.
    share: u64,
    pub same_bank: bool,
    /// Banks that are kept free for refreshes.
    pub blocked: u64,
    /// Clock at which the next step is possible.
    pub at: u64,
    banks_of_group: u32,
    groups: u32,
}

impl Refresher {
    pub fn new(config: &Config, t: &Timings, bus: u32) -> Self {
        let g = &config.geometry;
        let (interval, same_bank) = match config.refresh {
            Refresh::None => (NEVER, false),
            Refresh::AllBank => (t.refi, false),
            Refresh::SameBank => (t.refi_sb, true),
        };
        // ranks and buses are refreshed one after another, since a simultaneous refresh would stop everything at once
        let all = u64::from(g.ranks) * u64::from(g.buses(config.speed));
        // a single rank keeps half of the interval between two refreshes
        let share = interval / all.max(2);
        let round = |rank: u32| {
            let place = u64::from(bus) * u64::from(g.ranks) + u64::from(rank);
            let first = (u128::from(interval) * u128::from(place) / u128::from(all)) as u64;
            let (first, at) = match interval {
                NEVER => (NEVER, NEVER),
                _ => (first, first + lateness(bus, rank, 0, share)),
            };
            Round { share: first, at, number: 0, banks: 0 }
        };
        let rounds: Vec<_> = (0..g.ranks).map(round).collect();
        let at = rounds.iter().map(|round| round.at).min().unwrap_or(NEVER);
        Self {
            rounds,
            bus,
            interval,
            share,
            same_bank,
            blocked: 0,
            at,
            banks_of_group: g.banks(config.speed),
            groups: g.groups(config.speed),
        }
    }

    /// A rank for which a step is possible.
    pub fn due(&self, now: u64) -> Option<usize> {
        self.rounds.iter().position(|round| round.at <= now)
    }

    /// Starts to keep the banks free that are to be refreshed. Returns them.
    pub fn begin(&mut self, rank: usize) -> u64 {
        let (banks, groups) = (self.banks_of_group, self.groups);
        let round = &mut self.rounds[rank];
        if round.banks == 0 {
            let shift = rank as u32 * banks * groups;
            round.banks = if self.same_bank {
                (0..groups).map(|group| 1 << (shift + group * banks + round.number % banks)).sum()
            } else {
                (u64::MAX >> (64 - banks * groups)) << shift
            };
            self.blocked |= round.banks;
        }
        round.banks
    }

    /// Notes that no step is possible before `at`.
    pub fn wait(&mut self, rank: usize, at: u64) {
        self.rounds[rank].at = at;
        self.settle();
    }

    /// Ends the refresh of a rank.
    pub fn end(&mut self, rank: usize) {
        let round = &mut self.rounds[rank];
        self.blocked &= !round.banks;
        let (number, share) = (round.number.wrapping_add(1), round.share.saturating_add(self.interval));
        let at = share.saturating_add(lateness(self.bus, rank as u32, number.into(), self.share));
        *round = Round { share, at, number, banks: 0 };
        self.settle();
    }

    fn settle(&mut self) {
        self.at = self.rounds.iter().map(|round| round.at).min().unwrap_or(NEVER);
    }
}
