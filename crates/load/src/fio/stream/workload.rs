//! One clone of a job on a file: the part of the file that it uses, its number of I/Os, and whether it can run.

use super::super::iolog::{Entry, Log};
use super::super::job::Job;
use super::super::number::WHOLE;
use super::super::settings::Room;
use std::fmt;
use std::sync::Arc;

/// One clone of a job on one file.
#[derive(Clone, Debug)]
pub struct JobWorkload {
    /// The job.
    pub job: Arc<Job>,
    /// Index of the clone, from 0.
    pub clone: u32,
    /// The size of the file or device \[B\].
    pub capacity: u64,
    /// The log that it replays, if any.
    pub log: Option<Arc<Log>>,
}

/// Why a workload cannot run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadJob {
    /// It starts after the end, or ends there.
    Beyond {
        /// Its end \[B\].
        end: u64,
    },
    /// No block fits.
    TooSmall,
    /// A log has I/Os after the end.
    LogBeyond {
        /// The end of those \[B\].
        end: u64,
    },
    /// It has neither reads nor writes.
    Nothing,
}

impl fmt::Display for BadJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beyond { end } => write!(f, "it would use the device up to byte {end}"),
            Self::TooSmall => f.write_str("what it uses of the device is smaller than a block"),
            Self::LogBeyond { end } => write!(f, "its log uses the device up to byte {end}"),
            Self::Nothing => f.write_str("it has neither reads nor writes"),
        }
    }
}
impl std::error::Error for BadJob {}

/// The part of a file that a job uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Its first byte.
    pub start: u64,
    /// Its size \[B\].
    pub bytes: u64,
}

impl JobWorkload {
    /// The part of the file that the clone uses (`filesetup.c`, `get_start_offset` and `setup_files`).
    #[must_use]
    pub fn extent(&self) -> Extent {
        let s = &self.job.settings;
        let (block, of_file) = (self.job.least_block(), |percent: u64| {
            (u128::from(self.capacity) * u128::from(percent) / 100) as u64
        });
        let up = |bytes: u64| {
            let align = if s.offset_align > 0 { s.offset_align } else { block };
            bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX)
        };
        let (step, aligned) = match s.offset_increment {
            Room::Percent(percent) => (of_file(percent), percent > 0),
            Room::Bytes(bytes) => (bytes, false),
            Room::Unset => (0, false),
        };
        let step = step.saturating_mul(self.clone.into());
        let start = match s.offset {
            Room::Percent(percent) if percent > 0 => up(of_file(percent).saturating_add(step)),
            Room::Bytes(bytes) if !aligned => bytes.saturating_add(step),
            Room::Bytes(bytes) => up(bytes.saturating_add(step)),
            _ if aligned => up(step),
            _ => step,
        };
        let file = if s.filesize > 0 { s.filesize } else { self.capacity };
        let rest = file.saturating_sub(start);
        let bytes = match s.size {
            _ if s.filesize > 0 => rest,
            Room::Bytes(bytes) if bytes > 0 => bytes,
            Room::Percent(percent) if percent != WHOLE && percent > 0 => {
                let part = of_file(percent).min(rest);
                part - part % block
            }
            _ => rest,
        };
        Extent { start, bytes }
    }
    /// Checks whether it can run.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadJob> {
        if let Some(log) = &self.log {
            let ends = log.entries.iter().map(|entry| self.placed(entry).saturating_add(entry.bytes.into()));
            let end = ends.max().unwrap_or(0);
            return if end > self.capacity { Err(BadJob::LogBeyond { end }) } else { Ok(()) };
        }
        let Extent { start, bytes } = self.extent();
        let end = start.saturating_add(bytes);
        let rw = self.job.settings.rw;
        let blocks = self.job.blocks();
        let used = [(rw.reads, blocks[0].0), (rw.writes, blocks[1].0)];
        let least = used.iter().filter(|(used, _)| *used).map(|(_, block)| *block).max();
        match least {
            None => Err(BadJob::Nothing),
            Some(_) if end > self.capacity => Err(BadJob::Beyond { end }),
            Some(least) if bytes < least => Err(BadJob::TooSmall),
            Some(_) => Ok(()),
        }
    }
    /// Number of I/Os before it ends; `None` if it ends by time.
    #[must_use]
    pub fn operations(&self) -> Option<u64> {
        let s = &self.job.settings;
        if let Some(log) = &self.log {
            return Some(log.entries.len() as u64);
        }
        if s.time_based {
            return None;
        }
        let Extent { bytes, .. } = self.extent();
        let all = match s.io_size {
            Room::Bytes(bytes) if bytes > 0 => bytes,
            Room::Percent(percent) if percent > 0 => (u128::from(bytes) * u128::from(percent) / 100) as u64,
            _ => bytes,
        };
        let all = all.saturating_mul(u64::from(s.loops.max(1)));
        let blocks = self.job.blocks();
        let [reads, writes] = [blocks[0], blocks[1]].map(|(least, most)| u64::midpoint(least, most).max(1));
        let share = f64::from(s.rwmixread) / WHOLE as f64;
        let mean = match (s.rw.reads, s.rw.writes) {
            (true, true) => reads as f64 * share + writes as f64 * (1.0 - share),
            (false, _) => writes as f64,
            _ => reads as f64,
        };
        let by_bytes = ((all as f64 / mean.max(1.0)) as u64).max(1);
        Some(if s.number_ios > 0 { s.number_ios.min(by_bytes) } else { by_bytes })
    }
    /// The address of an I/O of its log.
    #[must_use]
    pub fn placed(&self, entry: &Entry) -> u64 {
        let s = &self.job.settings;
        let offset = entry.offset / s.replay_scale.max(1);
        if s.replay_align > 0 { offset & !(s.replay_align - 1) } else { offset }
    }
}
