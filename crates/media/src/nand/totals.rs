//! Busy times and counters of the machine, and the work that is in progress.

use super::due::Step;
use super::machine::{Machine, Server, State, Tally};
use super::op::NONE;
use crate::timers::NEVER;

impl Machine {
    /// Busy time of each channel and of each server up to `now` \[ps\].
    pub fn busy(&self, now: u64) -> (impl Iterator<Item = u64> + '_, impl Iterator<Item = u64> + '_) {
        let servers = self.servers.iter().map(move |server| {
            server.busy + if server.busy_since == NEVER { 0 } else { now - server.busy_since }
        });
        // a command is charged when it starts
        (self.channels.iter().map(move |channel| channel.busy - channel.until.saturating_sub(now)), servers)
    }

    /// Array time after `now` of the programs and erases in progress, summed over the servers \[ps\].
    pub fn left(&self, now: u64) -> u64 {
        let array = |id: u32| if id == NONE { 0 } else { self.slots[id as usize].op.array };
        let left = |(number, server): (usize, &Server)| {
            let ends = || self.due.of(Step::End, self.channels.len() + number).saturating_sub(now);
            let working = if server.state == State::Writing { ends() } else { 0 };
            working + server.suspended.1 + array(server.loaded.0) + array(server.loading.0)
        };
        self.servers.iter().enumerate().map(left).sum()
    }

    /// Counters.
    pub fn tally(&self) -> Tally {
        self.tally
    }
}
