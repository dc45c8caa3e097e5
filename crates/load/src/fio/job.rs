//! A job file as understood: its jobs in the order of the file, each with everything that its options and those of the global sections above
//! it say.

use super::settings::Settings;

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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// Its name, whatever alias was written.
    pub name: String,
    /// Its value with everything replaced; none for a plain yes.
    pub value: Option<String>,
    /// Every number that was read from it, as fio's own trace (`--debug=parse`) shows them: bytes, microseconds, a plain number, or for a
    /// percentage its complement.
    pub numbers: Vec<u64>,
    /// What is made of it.
    pub effect: Effect,
}

/// What is made of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

impl Job {
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
    /// Whether each block is taken once before any is taken again.
    #[must_use]
    pub fn has_map(&self) -> bool {
        let aligned = self.alignment() == self.blocks().map(|(least, _)| least);
        let even = matches!(self.settings.random_distribution, super::Distribution::Random);
        self.settings.rw.random && !self.settings.norandommap && aligned && even
    }
}
