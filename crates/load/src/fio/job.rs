//! A parsed job file: its jobs in the order of the file, each with its own options and those of the global sections
//! above it.

use super::settings::{Room, Settings};
use lanetwin_units::greatest_common_divisor;
use serde::Serialize;

/// A job file.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    /// Its name in findings.
    pub file: String,
    /// The options of its global sections, as given, in the order of the file.
    pub globals: Vec<Given>,
    /// Its jobs; at least one.
    pub jobs: Vec<Job>,
}

/// An option as it is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Given {
    /// Its name, also if an alias was written.
    pub name: String,
    /// Its value after all replacements; `None` for an option without a value.
    pub value: Option<String>,
    /// All numbers read from it, in the form of fio's own trace (`--debug=parse`): bytes, microseconds, a plain number,
    /// or for a percentage its complement.
    pub numbers: Vec<u64>,
    /// Its effect on a simulation.
    pub effect: Effect,
}

/// The effect of an option on a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It changes the I/Os, their times, or the results.
    Modelled,
    /// It has no effect on a simulation: names, logs, seeds, memory.
    Neutral,
    /// It would have an effect on a real machine, but has none here.
    NotModelled,
}

/// A job: a section that is not global.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// The name of its section; several may have the same.
    pub section: String,
    /// The line of its section.
    pub line: u32,
    /// Its index in the file, from 0.
    pub number: usize,
    /// Its own options as given.
    pub given: Vec<Given>,
    /// The settings from its options and those of the global sections, corrected as fio does before it starts.
    pub settings: Settings,
    /// Jobs of one phase run together; a phase begins when the one before has ended (`stonewall`).
    pub phase: u32,
    /// Jobs of one group share their results if they set `group_reporting`.
    pub group: u32,
    /// Its options, including global ones, that would have an effect on a real machine, but have none here.
    pub not_modelled: Vec<String>,
}

/// A job file for display.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShownFile {
    file: String,
    globals: Vec<Given>,
    jobs: Vec<ShownJob>,
}

/// A job for display: the meaning of its options, in common units.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct ShownJob {
    name: String,
    section: String,
    line: u32,
    phase: u32,
    group: u32,
    rw: &'static str,
    reads: String,
    writes: String,
    iodepth: u32,
    numjobs: u32,
    size: String,
    spread: String,
    runtime: String,
    options: Vec<Given>,
    not_modelled: Vec<String>,
}

impl JobFile {
    /// The file for display.
    #[must_use]
    pub fn shown(&self) -> ShownFile {
        let jobs = self.jobs.iter().map(Job::shown).collect();
        ShownFile { file: self.file.clone(), globals: self.globals.clone(), jobs }
    }
}

impl Job {
    fn shown(&self) -> ShownJob {
        let s = &self.settings;
        let blocks = |place: usize, used: bool| match self.blocks()[place] {
            _ if !used => "–".to_owned(),
            (least, most) if least == most => format!("{least} B"),
            (least, most) => format!("{least} to {most} B"),
        };
        ShownJob {
            name: self.name().to_owned(),
            section: self.section.clone(),
            line: self.line,
            phase: self.phase,
            group: self.group,
            rw: s.rw.word,
            reads: blocks(0, s.rw.reads),
            writes: blocks(1, s.rw.writes),
            iodepth: s.iodepth,
            numjobs: s.numjobs,
            size: match s.size {
                Room::Unset => "all".to_owned(),
                Room::Bytes(bytes) => format!("{bytes} B"),
                Room::Percent(percent) => format!("{percent} %"),
            },
            spread: if s.rw.random { s.random_distribution.name().to_owned() } else { "–".to_owned() },
            runtime: match s.runtime_us {
                0 => "–".to_owned(),
                us => format!("{} s", us as f64 * 1e-6),
            },
            options: self.given.clone(),
            not_modelled: self.not_modelled.clone(),
        }
    }
    /// Its name in results.
    #[must_use]
    pub fn name(&self) -> &str {
        self.settings.name.as_deref().unwrap_or(&self.section)
    }
    /// The least and the largest block of reads, writes and trims \[B\].
    #[must_use]
    pub fn blocks(&self) -> [(u64, u64); 3] {
        let Settings { bs, bs_range, .. } = &self.settings;
        let block = |place: usize| {
            let (least, most) = bs_range[place];
            (if least == 0 { bs[place] } else { least }, if most == 0 { bs[place] } else { most })
        };
        [block(0), block(1), block(2)]
    }
    /// The smallest block \[B\]; sizes and offsets are aligned to it.
    #[must_use]
    pub fn least_block(&self) -> u64 {
        self.blocks().iter().map(|(least, _)| *least).min().unwrap_or(1).max(1)
    }
    /// Alignment of random addresses \[B\], for reads, writes and trims.
    #[must_use]
    pub fn alignment(&self) -> [u64; 3] {
        let blocks = self.blocks();
        [0, 1, 2].map(|place| match self.settings.blockalign[place] {
            align if align > 0 && self.settings.rw.random => align,
            _ => blocks[place].0,
        })
    }
    /// Granularity of sizes and random addresses \[B\], for reads, writes and trims.
    #[must_use]
    pub fn granularity(&self) -> [u64; 3] {
        let (blocks, alignment) = (self.blocks(), self.alignment());
        [0, 1, 2].map(|place| {
            let split = self.settings.bssplit[place].iter().map(|(size, _)| *size);
            let (least, most) = blocks[place];
            let is_any = self.settings.bs_unaligned && least != most && split.len() == 0;
            let sizes = split.chain([least, if is_any { 1 } else { least }]);
            sizes.fold(alignment[place], greatest_common_divisor)
        })
    }
    /// Whether its requests are sequential.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        !self.settings.rw.random
    }
    /// Whether every block is used once before any is used again.
    #[must_use]
    pub fn has_map(&self) -> bool {
        let aligned = self.alignment() == self.blocks().map(|(least, _)| least);
        let even = matches!(self.settings.random_distribution, super::Distribution::Random);
        self.settings.rw.random && !self.settings.norandommap && aligned && even
    }
}
