//! `steady-state`: what random writes cost a drive that is full, against the analysis of greedy garbage collection
//! (GC).
//!
//! Drives of different over-provisioning are written from end to end, then at random until the write amplification no
//! longer changes. [`mean_field`] is the published analysis for blocks of a finite size, [`fluid`] its limit for large
//! blocks, which anybody can evaluate. Both stand here with their own arithmetic and call no function of the simulator.
//! The last rows set a drive whose steady state was drawn beside the one that lived through it.

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Claim, Outcome};
use crate::watch::Watch;
use lanetwin_kernel::{hash_name, mix};
use lanetwin_media::config::{
    Bus, Energy, Ftl, Geometry, Initial, MappingTable, Medium, Nand, Program, Rules, Timing, UNIT, Victim,
    Watermarks, WearLevelling, WriteBuffer,
};
use lanetwin_media::{Counters, Done, Drive, DriveConfig, Kind, Request};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Bytes, Instant, Span};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "steady-state",
    about: "Write amplification of uniform random writes, over-provisioning of 7 % to 40 %; a steady state that is drawn, and one that is lived through.",
    cpu_seconds: 8,
    bar: "every row within 2 % of the published analysis; drawn within 2 % of lived through",
    run,
};

const ANALYSIS: &str = "Van Houdt, A mean field model for a class of garbage collection algorithms in flash-based solid state drives, SIGMETRICS 2013 (greedy); Desnoyers, Analytic models of SSD write performance, ACM TOS 2014";
const BRUTE_FORCE: &str = "the same drive, written from end to end and then four times over at random";
const BAR_PCT: f64 = 2.0;
const BAR_DRAWN_PCT: f64 = 2.0;
const OVER_PROVISIONING: [f64; 6] = [0.07, 0.10, 0.15, 0.20, 0.28, 0.40];

/// Dies, blocks of a die, units of 4 KiB of a block.
const DIES: u32 = 2;
const BLOCKS: u32 = 256;
const BLOCK: u32 = 120;
/// Blocks of a die that GC keeps free, and blocks that are open.
const FREE: u32 = 3;
const OPEN: u32 = 2;
/// The drive is written over so often before anything is counted.
const FILLS: u64 = 3;

/// Write amplification for large blocks, by the share of valid units: 1 / (1 − a) with (1 − a) / −ln a = share.
#[must_use]
pub fn fluid(share: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..200 {
        let a: f64 = f64::midpoint(low, high);
        if (1.0 - a) / -a.ln() < share { low = a } else { high = a }
    }
    1.0 / (1.0 - low)
}

/// Write amplification for blocks of `block` units, by the mean share of valid units in full blocks.
///
/// In the steady state j · f(j) is the same for all levels j above the lowest one. For a lowest level k, of which
/// a part x of the flow goes on to k − 1, the share follows; k and x are searched for.
#[must_use]
pub fn mean_field(block: u32, share: f64) -> f64 {
    let b = f64::from(block);
    let state = |victims: f64| {
        // victims hold k − x units in the mean: k and the part x that is taken just below k
        let (k, x) = (victims.ceil().max(1.0), victims.ceil().max(1.0) - victims);
        let levels = (k as u32 + 1..=block).map(|j| 1.0 / f64::from(j)).sum::<f64>() + x / k;
        let units = b - k + x;
        units / levels / b
    };
    let (mut low, mut high) = (0.0, b - 1e-6);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if state(middle) < share { low = middle } else { high = middle }
    }
    b / (b - low)
}

/// The share of valid units in full blocks: of each die some blocks are free, of those that are open half is written,
/// and half of a victim has been moved.
fn share(units: u64) -> f64 {
    let full = f64::from(BLOCKS - FREE) - f64::from(OPEN + 1) / 2.0;
    units as f64 / f64::from(DIES) / (full * f64::from(BLOCK))
}

fn config(over_provisioning: f64, initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: DIES,
        chips: 1,
        dies: 1,
        planes: 1,
        blocks: BLOCKS,
        pages: BLOCK / 4,
        page: Bytes(4 * UNIT),
        spare: Bytes(1024),
    };
    let timing = Timing { program: Program::ByPage([Span::from_us(100); 4]), ..Timing::TLC };
    let nand = Nand { geometry, timing, bus: Bus::of(1600), read_burst: 16, rules: Rules::Dies };
    let ftl = Ftl {
        initial,
        victim: Victim::Greedy,
        hot_cold: true,
        watermarks: Watermarks { low: FREE, urgent: 2 },
        wear: WearLevelling { dynamic: true, lag: None },
        endurance: 3_000,
        streams: 1,
        partitions: Vec::new(),
        mapping: MappingTable::Dram(Span::ZERO),
        slc: None,
        read_ahead: None,
    };
    let capacity = geometry.capacity().0 as f64 / (1.0 + over_provisioning);
    DriveConfig {
        capacity: Bytes(capacity as u64 / UNIT * UNIT),
        medium: Medium::Nand(Box::new(nand), Box::new(ftl)),
        buffer: WriteBuffer {
            capacity: Bytes(64 * UNIT),
            power_loss_protected: true,
            volatile_cache: false,
            latency: Span::from_us(1),
        },
        encryption: None,
        energy: Energy::TLC,
    }
}

/// A drive under random writes, one at a time.
struct Life {
    drive: Drive,
    units: u64,
    now: Instant,
    writes: u64,
    digest: u64,
}

impl Life {
    fn new(over_provisioning: f64, initial: Initial) -> Self {
        let config = config(over_provisioning, initial);
        let drive = Drive::new(&config, 1).expect("the configuration has no mistakes");
        Self {
            drive,
            units: config.units(),
            now: Instant::ZERO,
            writes: 0,
            digest: hash_name("steady-state"),
        }
    }

    /// Writes the drive over so many times; the write amplification meanwhile.
    fn fill(&mut self, times: u64) -> f64 {
        let before = self.drive.counters();
        let mut done: Vec<Done> = Vec::new();
        for _ in 0..times * self.units {
            self.writes += 1;
            let place = ((u128::from(mix(self.writes)) * u128::from(self.units)) >> 64) as u64;
            let first = place * UNIT;
            self.drive.submit(
                self.now,
                Request { token: 0, kind: Kind::Write, first, bytes: UNIT, tenant: 0, part_of: None },
            );
            while done.is_empty() {
                self.now = self.drive.next_event().expect("the write is under way");
                self.drive.advance(self.now, &mut done);
            }
            done.clear();
            self.digest = mix(self.digest ^ self.now.as_ps());
        }
        amplification(&before, &self.drive.counters())
    }
}

fn amplification(before: &Counters, after: &Counters) -> f64 {
    let host = after.host_units_programmed - before.host_units_programmed;
    let moved = after.gc_units_moved - before.gc_units_moved;
    let padding = after.padding_units - before.padding_units;
    (host + moved + padding) as f64 / host as f64
}

fn cell(
    case: String,
    against: (f64, &'static str),
    baseline: Option<f64>,
    predicted: f64,
    digest: u64,
) -> Cell {
    Cell {
        case,
        quantity: "write amplification".into(),
        unit: "1",
        published: against.0,
        predicted,
        interval: (predicted, predicted),
        role: Role::Predicted,
        baseline,
        source: against.1,
        digest: Digest(digest),
    }
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let total = 2 * OVER_PROVISIONING.len();
    let (mut analysed, mut drawn) = (Vec::new(), Vec::new());
    for op in OVER_PROVISIONING {
        let percent = format!("over-provisioning {:.0} %", op * 100.0);
        let mut life = Life::new(op, Initial::Sequential);
        life.fill(FILLS);
        let lived = life.fill(1);
        let analysis = mean_field(BLOCK, share(life.units));
        let baseline = Some(fluid(1.0 / (1.0 + op)));
        analysed.push(cell(percent.clone(), (analysis, ANALYSIS), baseline, lived, life.digest));
        watch.step(total)?;
        let mut life = Life::new(op, Initial::SteadyState);
        let shortcut = life.fill(1);
        drawn.push(cell(format!("{percent}, drawn"), (lived, BRUTE_FORCE), None, shortcut, life.digest));
        watch.step(total)?;
    }
    let worst = |cells: &[Cell]| {
        accuracy::worst(cells.iter().map(|cell| accuracy::error_pct(cell.predicted, cell.published)))
    };
    let (off, short) = (worst(&analysed), worst(&drawn));
    let text = format!(
        "No free parameter. The largest error is {off:.2} % of the analysis, and {short:.2} % between drawn and lived through."
    );
    analysed.append(&mut drawn);
    let met = off <= BAR_PCT && short <= BAR_DRAWN_PCT;
    Some(Outcome { cells: analysed, free_parameters: Vec::new(), met, text, effects: Vec::new() })
}
