//! The contents of an `.icf` file, as types.
//!
//! Sources: the sections are those that `PageSetup`, `PageDisplay`, `AccessSpecList`, `Manager` and `Worker` in
//! Iometer's sources save and load (`SaveConfig`, `LoadConfig`), and those that its user's guide describes.

use super::version::{Dialect, Version};
use super::words::{Assignment, Protocol, Record, Step, TestType, UpdateType};
use lanetwin_units::Span;
use serde::Serialize;

/// Iometer's unit of disk positions for disks without a sector size of their own \[B\].
pub const SECTOR: u32 = 512;
/// The name of the specification that every Iometer has and that no file contains: it does nothing.
pub const IDLE: &str = "Idle";

/// A configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Config {
    /// The version that wrote it, or that will read it.
    pub version: Version,
    /// `'TEST SETUP`, if the file has it.
    pub setup: Option<TestSetup>,
    /// `'RESULTS DISPLAY`, if the file has it.
    pub display: Option<Display>,
    /// `'ACCESS SPECIFICATIONS`; a file without other sections is a library of them.
    pub specs: Vec<AccessSpec>,
    /// `'MANAGER LIST`.
    pub managers: Vec<Manager>,
}

/// Length of the tests, and the quantities that they vary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TestSetup {
    /// Free text.
    pub description: String,
    /// Time for which results are recorded.
    pub run_time: RunTime,
    /// Time of the load before recording starts \[s\].
    pub ramp_up_s: u32,
    /// Number of disk workers of a new manager.
    pub disk_workers: Spawn,
    /// Number of network workers of a new manager.
    pub network_workers: Spawn,
    /// The level of detail of recording.
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

/// Time for which results are recorded.
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
    /// Maximum of each: it keeps the time below 49 days, the longest that Iometer's 32-bit milliseconds hold.
    pub const MOST: u32 = 999;

    /// The time as a span; `None` if it is zero, which means no limit.
    #[must_use]
    pub fn span(self) -> Option<Span> {
        let seconds = u64::from(self.hours) * 3600 + u64::from(self.minutes) * 60 + u64::from(self.seconds);
        (seconds > 0).then(|| Span::from_us(seconds * 1_000_000))
    }
}

/// Number of workers of a new manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spawn {
    /// One for each processor: `NUMBER_OF_CPUS`.
    Cpus,
    /// This many.
    Count(u32),
}

/// Growth of a number from test to test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Cycling {
    /// Its first value.
    pub start: u32,
    /// The increment, or the factor.
    pub step: u32,
    /// Whether `step` is an increment or a factor.
    pub kind: Step,
}

/// Growth of the number of outstanding I/Os from test to test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct QueueCycling {
    /// Its first value.
    pub start: u32,
    /// Its last value.
    pub end: u32,
    /// The increment, or the factor.
    pub step: u32,
    /// Whether `step` is an increment or a factor.
    pub kind: Step,
}

impl Default for TestSetup {
    /// Iometer's own defaults (`PageSetup.cpp`, `OnInitDialog`).
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

/// The contents of the program's window during a test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Display {
    /// Whether every update is also recorded; dated versions do not have this setting.
    pub record_updates: Option<bool>,
    /// Time between updates \[s\]; 0 for an update at the end only.
    pub update_s: u32,
    /// The time that the bars cover.
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
    /// The manager that it is limited to, if any.
    pub manager: Option<Named>,
    /// The worker of the manager that it is limited to, if any.
    pub worker: Option<Named>,
}

/// A name with a number that distinguishes equal names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Named {
    /// The number.
    pub id: u32,
    /// The name.
    pub name: String,
}

/// An access specification: the accesses of a worker to its targets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AccessSpec {
    /// Its name; names must differ in more than case.
    pub name: String,
    /// The new workers to which it is assigned.
    pub assignment: Assignment,
    /// The kinds of access that it mixes.
    pub lines: Vec<AccessLine>,
}

/// One kind of access in a specification. The shares of all lines add to 100.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct AccessLine {
    /// The size of a request \[B\].
    pub size: u32,
    /// Share of this line's **accesses** \[%\]. The file calls it `% of size`, but it is not a share of bytes.
    pub share: u8,
    /// Percentage of reads.
    pub reads: u8,
    /// Percentage of random addresses.
    pub random: u8,
    /// Delay before each burst \[ms\].
    pub delay_ms: u32,
    /// Number of accesses in a burst.
    pub burst: u32,
    /// Alignment of addresses \[B\]; 0 for the sector size of the disk.
    pub align: u32,
    /// Size of a reply \[B\]; 0 for none, as for disks.
    pub reply: u32,
}

impl AccessLine {
    /// The alignment of addresses on a disk with this sector size \[B\].
    #[must_use]
    pub const fn alignment(&self, sector: u32) -> u32 {
        if self.align == 0 { sector } else { self.align }
    }
}

/// A running copy of Dynamo, the program that makes the load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Manager {
    /// A number that distinguishes managers of the same name.
    pub id: u32,
    /// Its name, usually that of the computer.
    pub name: String,
    /// Its address; empty if it runs on Iometer's own computer.
    pub address: String,
    /// Its threads.
    pub workers: Vec<Worker>,
}

/// A thread of a manager that makes load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// The type of its targets, and the settings of such workers.
    pub kind: WorkerKind,
    /// Outstanding I/Os on each target.
    pub outstanding: u32,
    /// Settings for opening and closing targets repeatedly.
    pub connections: Connections,
    /// The seed of its random numbers; dated versions do not have this setting.
    pub seed: Option<FixedSeed>,
    /// The names of its access specifications, one test each.
    pub specs: Vec<String>,
    /// Its targets.
    pub targets: Vec<Target>,
}

/// Opening and closing targets during a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Connections {
    /// Whether connections are tested.
    pub tested: bool,
    /// Transactions per connection, if they are tested.
    pub transactions: u32,
}

/// The seed of random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FixedSeed {
    /// Whether it is used.
    pub used: bool,
    /// The seed.
    pub value: u64,
}

/// The type of a worker's targets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// Disks.
    Disk(DiskSettings),
    /// A network.
    Network(NetworkSettings),
}

/// The part of each disk that is used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct DiskSettings {
    /// Number of sectors; 0 for all up to the end.
    pub maximum_size: u64,
    /// The first sector.
    pub starting_sector: u64,
    /// The data written: 0 repeating bytes, 1 pseudo-random, 2 fully random; dated versions do not have this setting.
    pub data_pattern: Option<u32>,
}

/// The connection of a network worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NetworkSettings {
    /// Its protocol.
    pub protocol: Protocol,
    /// The interface of its own computer.
    pub interface: String,
    /// Maximum number of outstanding sends, with Virtual Interface.
    pub vi_outstanding: Option<u32>,
}

/// A target of a worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: TargetKind,
}

/// The type of a target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A disk.
    Disk,
    /// The interface of a manager.
    Network {
        /// Its protocol.
        protocol: Protocol,
        /// The manager.
        manager: Named,
    },
}

impl Config {
    /// The specification of this name, ignoring case.
    #[must_use]
    pub fn spec(&self, name: &str) -> Option<&AccessSpec> {
        self.specs.iter().find(|spec| spec.name.eq_ignore_ascii_case(name))
    }
    /// The configuration for a reader of another version: settings that the version lacks are dropped, and required
    /// ones get their defaults.
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
