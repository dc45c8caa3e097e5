//! Counters of a flash drive.

use super::Flash;
use super::blocks::{Block, State};
use crate::counters::Counters;
use crate::power::Work;

impl Flash {
    /// Counters up to `now`.
    pub fn counters(&self, now: u64) -> Counters {
        let mut counters = self.counters;
        let tally = self.machine.tally();
        counters.read_commands = tally.read_commands;
        counters.page_reads = tally.page_reads;
        counters.suspensions = tally.suspensions;
        let (channels, dies) = self.machine.busy(now);
        counters.channel_busy_ps = channels.sum();
        counters.die_busy_ps = dies.sum();
        if let Some(translation) = &self.translation {
            (counters.mapping_hits, counters.mapping_misses) = (translation.hits, translation.misses);
        }
        let erases = || self.blocks.all.iter().map(|block| block.erases);
        counters.wear_min = erases().min().unwrap_or(0);
        counters.wear_max = erases().max().unwrap_or(0);
        counters.wear_mean = erases().map(u64::from).sum::<u64>() as f64 / self.blocks.all.len() as f64;
        counters.life_used = counters.wear_mean / f64::from(self.ftl.endurance);
        counters
    }

    /// Work that costs energy, without the host's bytes, which the owner counts.
    pub fn work(&self) -> Work {
        Work {
            page_reads: self.machine.tally().page_reads,
            page_programs: self.counters.page_programs - self.slc_programs,
            slc_programs: self.slc_programs,
            block_erases: self.counters.block_erases,
            bus_bytes: self.counters.bus_bytes,
            host_bytes: 0,
        }
    }

    /// Busy time of each channel and each server up to `now` \[ps\].
    pub fn busy(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let (channels, dies) = self.machine.busy(now);
        (channels.collect(), dies.collect())
    }

    /// Valid units of each closed block, for comparisons of states.
    pub fn occupancy(&self) -> Vec<u32> {
        let closed = |block: &&Block| block.state == State::Closed && !block.slc;
        self.blocks.all.iter().filter(closed).map(|block| block.valid).collect()
    }
}
