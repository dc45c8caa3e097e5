//! What an `.icf` file says, as types.
//!
//! Sources: the sections are those that `PageSetup`, `PageDisplay`, `AccessSpecList`, `Manager` and `Worker` of
//! Iometer's sources save and load (`SaveConfig`, `LoadConfig`), and that its user's guide describes.

use super::version::{Dialect, Version};
use super::words::{Assignment, Protocol, Record, Step, TestType, UpdateType};
use lanetwin_units::Span;
use serde::Serialize;

/// Iometer's unit of disk positions where the disk does not say otherwise \[B\].
pub const SECTOR: u32 = 512;
/// The name of the specification that every Iometer has and no file writes down: it does nothing.
pub const IDLE: &str = "Idle";

/// A configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Config {
    /// The version that wrote it, or is to read it.
    pub version: Version,
    /// `'TEST SETUP`, if the file has it.
    pub setup: Option<TestSetup>,
    /// `'RESULTS DISPLAY`, if the file has it.
    pub display: Option<Display>,
    /// `'ACCESS SPECIFICATIONS`; a file with nothing else is a library of them.
    pub specs: Vec<AccessSpec>,
    /// `'MANAGER LIST`.
    pub managers: Vec<Manager>,
}

/// What is run, for how long, and what is varied.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TestSetup {
    /// Free text.
    pub description: String,
    /// For how long results are recorded.
    pub run_time: RunTime,
    /// How long the load runs before anything is recorded \[s\].
    pub ramp_up_s: u32,
    /// How many disk workers a new manager is given.
    pub disk_workers: Spawn,
    /// How many network workers a new manager is given.
    pub network_workers: Spawn,
    /// What is recorded.
    pub record: Record,
    /// How the number of workers is varied.
    pub worker_cycling: Cycling,
    /// How the number of targets is varied.
    pub disk_cycling: Cycling,
    /// How the number of outstanding I/Os is varied.
    pub queue_cycling: QueueCycling,
    /// Which of the three is varied.
    pub test_type: TestType,
}

/// For how long results are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct RunTime {
    /// Hours.
    pub hours: u32,
    /// Minutes.
    pub minutes: u32,
    /// Seconds.
    pub seconds: u32,
}

impl RunTime {
    /// The most of each: what stays below 49 days, the longest time that Iometer's 32-bit milliseconds hold.
    pub const MOST: u32 = 999;

    /// As one time; none if it is zero: until somebody stops it.
    #[must_use]
    pub fn span(self) -> Option<Span> {
        let seconds = u64::from(self.hours) * 3600 + u64::from(self.minutes) * 60 + u64::from(self.seconds);
        (seconds > 0).then(|| Span::from_us(seconds * 1_000_000))
    }
}

/// How many workers a new manager is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spawn {
    /// One for each processor: `NUMBER_OF_CPUS`.
    Cpus,
    /// So many.
    Count(u32),
}

/// How a number grows from test to test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Cycling {
    /// Its first value.
    pub start: u32,
    /// By how much, or by which factor.
    pub step: u32,
    /// Which of the two.
    pub kind: Step,
}

/// How the number of outstanding I/Os grows from test to test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct QueueCycling {
    /// Its first value.
    pub start: u32,
    /// Its last value.
    pub end: u32,
    /// By how much, or by which factor.
    pub step: u32,
    /// Which of the two.
    pub kind: Step,
}

impl Default for TestSetup {
    /// What Iometer starts with (`PageSetup.cpp`, `OnInitDialog`).
    fn default() -> Self {
        let once = Cycling { start: 1, step: 1, kind: Step::Linear };
        Self {
            description: String::new(),
            run_time: RunTime::default(),
            ramp_up_s: 0,
            disk_workers: Spawn::Cpus,
            network_workers: Spawn::Count(0),
            record: Record::All,
            worker_cycling: once,
            disk_cycling: once,
            queue_cycling: QueueCycling { start: 1, end: 32, step: 2, kind: Step::Exponential },
            test_type: TestType::Normal,
        }
    }
}

/// What the program's window shows during a test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Display {
    /// Whether every update is also recorded; a dated version cannot say so.
    pub record_updates: Option<bool>,
    /// From one update to the next \[s\]; 0: only at the end.
    pub update_s: u32,
    /// What the bars show.
    pub update_type: UpdateType,
    /// The bars.
    pub charts: Vec<BarChart>,
}

/// One bar.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BarChart {
    /// Its number, from 1.
    pub number: u32,
    /// The name of the metric.
    pub statistic: String,
    /// Of this manager only.
    pub manager: Option<Named>,
    /// Of this worker of the manager only.
    pub worker: Option<Named>,
}

/// A number that tells things of one name apart, and the name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Named {
    /// The number.
    pub id: u32,
    /// The name.
    pub name: String,
}

/// An access specification: what a worker does to its targets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AccessSpec {
    /// Its name; no two differ in case alone.
    pub name: String,
    /// Which new workers are given it.
    pub assignment: Assignment,
    /// The kinds of access that it mixes.
    pub lines: Vec<AccessLine>,
}

/// One kind of access in a specification. The shares of all lines add to 100.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct AccessLine {
    /// The size of a request \[B\].
    pub size: u32,
    /// How many of 100 **accesses** are of this line. The file calls it `% of size`; it is no share of bytes.
    pub share: u8,
    /// How many of 100 are reads.
    pub reads: u8,
    /// How many of 100 go to a random place.
    pub random: u8,
    /// How long a worker waits before each burst \[ms\].
    pub delay_ms: u32,
    /// How many accesses go out back to back.
    pub burst: u32,
    /// Addresses are multiples of this \[B\]; 0: of the sector of the disk.
    pub align: u32,
    /// The size of a reply \[B\]; 0: there is none, as belongs to a disk.
    pub reply: u32,
}

impl AccessLine {
    /// Addresses are multiples of this, on a disk with this sector \[B\].
    #[must_use]
    pub const fn alignment(&self, sector: u32) -> u32 {
        if self.align == 0 { sector } else { self.align }
    }
}

/// A running copy of Dynamo, the program that makes the load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Manager {
    /// What tells managers of one name apart.
    pub id: u32,
    /// Its name, usually that of the computer.
    pub name: String,
    /// Where it is reached; empty if it is on Iometer's own computer.
    pub address: String,
    /// Its threads.
    pub workers: Vec<Worker>,
}

/// A thread of a manager that makes load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// What it loads, and the settings that only such workers have.
    pub kind: WorkerKind,
    /// How many I/Os are outstanding on each target.
    pub outstanding: u32,
    /// Whether targets are opened and closed again and again: then this many transactions for each connection.
    pub connections: Connections,
    /// Where its random numbers start; a dated version cannot say so.
    pub seed: Option<FixedSeed>,
    /// The names of its access specifications, one test each.
    pub specs: Vec<String>,
    /// What it reads and writes.
    pub targets: Vec<Target>,
}

/// Opening and closing targets during a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Connections {
    /// Whether it is done.
    pub tested: bool,
    /// How many transactions there are for each connection, if it is done.
    pub transactions: u32,
}

/// Where random numbers start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FixedSeed {
    /// Whether it is used.
    pub used: bool,
    /// The seed.
    pub value: u64,
}

/// What a worker loads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// Disks.
    Disk(DiskSettings),
    /// A network.
    Network(NetworkSettings),
}

/// Which part of each disk is used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct DiskSettings {
    /// So many sectors; 0: up to the end.
    pub maximum_size: u64,
    /// From this sector on.
    pub starting_sector: u64,
    /// What is written: 0 repeating bytes, 1 pseudo-random, 2 fully random; a dated version cannot say so.
    pub data_pattern: Option<u32>,
}

/// How a network worker is reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NetworkSettings {
    /// By which protocol.
    pub protocol: Protocol,
    /// Over which interface of its own computer.
    pub interface: String,
    /// How many sends may be outstanding, with Virtual Interface.
    pub vi_outstanding: Option<u32>,
}

/// What a worker reads and writes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
}

/// What a target is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A disk.
    Disk,
    /// The interface of a manager.
    Network {
        /// By which protocol.
        protocol: Protocol,
        /// The manager.
        manager: Named,
    },
}

impl Config {
    /// The specification of this name; case does not count.
    #[must_use]
    pub fn spec(&self, name: &str) -> Option<&AccessSpec> {
        self.specs.iter().find(|spec| spec.name.eq_ignore_ascii_case(name))
    }
    /// The same for a reader of another version: what it cannot say is left out, what it must say is the default.
    #[must_use]
    pub fn for_version(&self, version: Version) -> Self {
        let says = version.dialect() == Dialect::Numbered;
        let mut config = Self { version, ..self.clone() };
        if let Some(display) = &mut config.display {
            display.record_updates = says.then(|| display.record_updates.unwrap_or_default());
        }
        for worker in config.managers.iter_mut().flat_map(|manager| &mut manager.workers) {
            worker.seed = says.then(|| worker.seed.unwrap_or_default());
            if let WorkerKind::Disk(disk) = &mut worker.kind {
                disk.data_pattern = says.then(|| disk.data_pattern.unwrap_or_default());
            }
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_time_of_nothing_has_no_end() {
        assert_eq!(RunTime::default().span(), None);
        let time = RunTime { hours: 1, minutes: 1, seconds: 1 };
        assert_eq!(time.span(), Some(Span::from_us(3_661_000_000)));
    }

    #[test]
    fn addresses_keep_to_the_sector_unless_a_line_says_otherwise() {
        let line = |align| AccessLine {
            size: 4096,
            share: 100,
            reads: 0,
            random: 0,
            delay_ms: 0,
            burst: 1,
            align,
            reply: 0,
        };
        assert_eq!([line(0).alignment(4096), line(512).alignment(4096)], [4096, 512]);
    }
}
