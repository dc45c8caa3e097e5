//! A job file as understood: its jobs in the order of the file, each with everything that its options and those of the
//! global sections above it say.

use super::settings::{Room, Settings};
use lanetwin_units::greatest_common_divisor;
use serde::Serialize;

/// A job file.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    /// What findings call it.
    pub file: String,
    /// The options of its global sections, as given, in the order of the file.
    pub globals: Vec<Given>,
    /// Its jobs; at least one.
    pub jobs: Vec<Job>,
}

/// An option as it is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Given {
    /// Its name, whatever alias was written.
    pub name: String,
    /// Its value with everything replaced; none for a plain yes.
    pub value: Option<String>,
    /// Every number that was read from it, as fio's own trace (`--debug=parse`) shows them: bytes, microseconds, a
    /// plain number, or for a percentage its complement.
    pub numbers: Vec<u64>,
    /// What is made of it.
    pub effect: Effect,
}

/// What is made of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It changes what is asked for, when, or how it is told.
    Modelled,
    /// It has no bearing on a simulation: names, logs, seeds, memory.
    Neutral,
    /// It would change something on a real machine, and does not here.
    NotModelled,
}

/// A job: a section that is not global.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// The name of its section; several may have the same.
    pub section: String,
    /// The line of its section.
    pub line: u32,
    /// Its number in the file, from 0.
    pub number: usize,
    /// Its own options as given.
    pub given: Vec<Given>,
    /// What they and those of the global sections say, put right as fio does before it starts.
    pub settings: Settings,
    /// Jobs of one phase run together; a phase begins when the one before has ended (`stonewall`).
    pub phase: u32,
    /// Jobs of one group are told together if they say so (`group_reporting`).
    pub group: u32,
    /// The options that would change something on a real machine, and do not here; those of global sections, too.
    pub not_modelled: Vec<String>,
}

/// A job file as it is shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShownFile {
    file: String,
    globals: Vec<Given>,
    jobs: Vec<ShownJob>,
}

/// A job as it is shown: what its options mean, in the units of the field.
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
    /// As it is shown.
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
    /// What it is called in results.
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
    /// The least block of all \[B\]: what sizes and offsets are aligned to.
    #[must_use]
    pub fn least_block(&self) -> u64 {
        self.blocks().iter().map(|(least, _)| *least).min().unwrap_or(1).max(1)
    }
    /// What random addresses are multiples of \[B\], for reads, writes and trims.
    #[must_use]
    pub fn alignment(&self) -> [u64; 3] {
        let blocks = self.blocks();
        [0, 1, 2].map(|place| match self.settings.blockalign[place] {
            align if align > 0 && self.settings.rw.random => align,
            _ => blocks[place].0,
        })
    }
    /// What sizes and random addresses are multiples of \[B\], for reads, writes and trims.
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
    /// Whether its requests follow one another.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        !self.settings.rw.random
    }
    /// Whether each block is taken once before any is taken again.
    #[must_use]
    pub fn has_map(&self) -> bool {
        let aligned = self.alignment() == self.blocks().map(|(least, _)| least);
        let even = matches!(self.settings.random_distribution, super::Distribution::Random);
        self.settings.rw.random && !self.settings.norandommap && aligned && even
    }
}
