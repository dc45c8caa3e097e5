//! What is run on the module: every case of the claim, before anything is compared.

use super::machine::Case;
use super::table::{MIXES, Ratio};

pub(super) const PEAK_BAR_PCT: f64 = 2.0;
pub(super) const TAIL_BAR_PCT: f64 = 10.0;
pub(super) const READS_BAR_PCT: f64 = 4.0;
pub(super) const MIXES_BAR_PCT: f64 = 5.3;
/// The host of a latency: one core, its caches a twenty-fourth of the real ones, 4 KiB pages.
pub(super) const WALKER: &str = ", cores: 1, l2.size: 0B, llc.ways: 16, dram: simple, tlb.entries: 2048";
pub(super) const WALKER_LLC_KIB: u64 = 4096;
/// The working set of a latency, calibrated to the mean: with these caches it decides how many walks reach memory.
pub(super) const WALKED: &str = "480MiB";
/// Loads that are taken before any is counted: the caches of [`WALKER`] have 65 536 lines.
pub(super) const SETTLED: u64 = 250_000;
/// The time between look-ups of the module, calibrated to the 2:1 cell of each mix with writes \[ps\].
pub(super) const INTERVALS: [u64; 3] = [3845, 4680, 3995];
/// Cores of a socket; figure 2 was measured with 32.
pub(super) const CORES: u64 = 64;
pub(super) const FEW: u64 = 32;
/// Lines that are measured.
pub(super) const LINES: u64 = 120_000;
/// Of a cell of table 4, after as many that are not counted: threads begin anywhere in their buffers, too few of them
/// in the slower memory, and it takes some twenty turns of the interleave until their places are those of a long run.
/// Seven times as many lines change no cell by more than chance.
pub(super) const TABLE_LINES: u64 = 600_000;
pub(super) const TABLE_REPEATS: u32 = 3;

pub(super) fn placement(ratio: &Ratio) -> String {
    match (ratio.dram, ratio.cmmh) {
        (_, 0) => "dram".into(),
        (dram, cmmh) => format!("{{weighted: {{dram: {dram}, cmmh: {cmmh}}}}}"),
    }
}

/// A cell of table 4.
pub(super) fn cell_of_table(ratio: &Ratio, mix: usize) -> Case {
    let case = Case::streams(MIXES[mix].0, &placement(ratio), (CORES, TABLE_LINES));
    match mix {
        0 => case,
        _ => case.with(format!("machine.cmmh.controller.lookup.interval={}ps", INTERVALS[mix - 1])),
    }
}

/// The same in several long runs.
pub(super) fn settled_cell_of_table(ratio: &Ratio, mix: usize) -> Case {
    cell_of_table(ratio, mix)
        .with(format!("run.warm-up={TABLE_LINES}"))
        .with(format!("run.repeats={TABLE_REPEATS}"))
}

pub(super) fn peak() -> Case {
    Case::streams("all-reads", "cmmh", (FEW, LINES))
}

pub(super) fn latency(working_set: &str) -> Case {
    let memory =
        format!("pattern: chase, working-set: {working_set}, placement: cmmh, cache: as-is, lines: 200000");
    // whatever the host's page table takes is in the module's cache, too: the paper's numbers are those of hits
    let cached = ["initial=warm", "initial.size=1GiB", "initial.dirty=0%"];
    let mut set: Vec<String> = cached.iter().map(|set| format!("machine.cmmh.controller.{set}")).collect();
    set.push(format!("run.warm-up={SETTLED}"));
    Case { host: format!("{WALKER}, llc.size: {WALKER_LLC_KIB}KiB"), memory, set }
}

/// Far more than the cache holds; a round of it leaves nothing that the next could find.
pub(super) fn large() -> Case {
    let memory = format!(
        "mix: all-reads, threads: {FEW}, working-set: 104GB, placement: cmmh, cache: cold, lines: {LINES}"
    );
    Case { host: String::new(), memory, set: Vec::new() }
}
