//! Writes an `.icf` file as Iometer does: tabs, column heads, `CR LF`, the version at both ends.
//!
//! Characters in names that would break the file are replaced: line feeds by spaces, commas where a comma separates by
//! hyphens (as Iometer does with the description of a test); an apostrophe that would begin a comment is dropped.

use super::config::{
    AccessSpec, BarChart, Config, Display, FixedSeed, Manager, NetworkSettings, Spawn, Target, TargetKind,
    TestSetup, Worker, WorkerKind,
};
use super::words::{Kind, Step, Switch};
use std::fmt::{self, Write};

const END_OF_LINE: &str = "\r\n";
/// Width of a column with a head \[characters\].
const COLUMN: usize = 11;

impl Config {
    /// The text of the file.
    #[must_use]
    pub fn to_icf(&self) -> String {
        let mut file = File(String::new());
        file.config(self).expect("text can be written");
        file.0
    }
}

struct File(String);

impl File {
    /// Writes a line with a name.
    fn key(&mut self, key: &str) -> fmt::Result {
        write!(self.0, "'{key}{END_OF_LINE}")
    }
    /// Writes the heading of a section, as wide as Iometer's.
    fn heading(&mut self, name: &str) -> fmt::Result {
        const WIDTH: usize = 80;
        write!(self.0, "'{name} {}{END_OF_LINE}", "=".repeat(WIDTH - name.len() - 2))
    }
    /// A value.
    fn value(&mut self, value: impl fmt::Display) -> fmt::Result {
        write!(self.0, "\t{value}{END_OF_LINE}")
    }
    /// A key and its value.
    fn pair(&mut self, key: &str, value: impl fmt::Display) -> fmt::Result {
        self.key(key)?;
        self.value(value)
    }
    /// Writes a key, column heads, and a number below each; the last column is a word.
    fn columns(
        &mut self,
        key: &str,
        columns: &[(&str, u32)],
        last: (&str, impl fmt::Display),
    ) -> fmt::Result {
        self.key(key)?;
        self.0.push_str("'\t");
        columns.iter().try_for_each(|(head, _)| write!(self.0, "{head:<COLUMN$}"))?;
        write!(self.0, "{}{END_OF_LINE}\t", last.0)?;
        columns.iter().try_for_each(|(_, value)| write!(self.0, "{value:<COLUMN$}"))?;
        write!(self.0, "{}{END_OF_LINE}", last.1)
    }

    fn config(&mut self, config: &Config) -> fmt::Result {
        // followed by a space, as in Iometer's files
        write!(self.0, "Version {} {END_OF_LINE}", config.version)?;
        if let Some(setup) = &config.setup {
            self.setup(setup)?;
        }
        if let Some(display) = &config.display {
            self.display(display)?;
        }
        if !config.specs.is_empty() || config.managers.is_empty() {
            self.specs(&config.specs)?;
        }
        if !config.managers.is_empty() {
            self.heading("MANAGER LIST")?;
            config.managers.iter().try_for_each(|manager| self.manager(manager))?;
            self.key("END manager list")?;
        }
        write!(self.0, "Version {} {END_OF_LINE}", config.version)
    }
    fn setup(&mut self, setup: &TestSetup) -> fmt::Result {
        let step = |kind: Step| ("step type", kind.word());
        self.heading("TEST SETUP")?;
        self.pair("Test Description", line(&setup.description))?;
        let time = setup.run_time;
        self.columns(
            "Run Time",
            &[("hours", time.hours), ("minutes", time.minutes)],
            ("seconds", time.seconds),
        )?;
        self.pair("Ramp Up Time (s)", setup.ramp_up_s)?;
        self.pair("Default Disk Workers to Spawn", spawn(setup.disk_workers))?;
        self.pair("Default Network Workers to Spawn", spawn(setup.network_workers))?;
        self.pair("Record Results", setup.record.word())?;
        for (key, cycling) in [("Worker Cycling", setup.worker_cycling), ("Disk Cycling", setup.disk_cycling)]
        {
            self.columns(key, &[("start", cycling.start), ("step", cycling.step)], step(cycling.kind))?;
        }
        let queue = setup.queue_cycling;
        let columns = [("start", queue.start), ("end", queue.end), ("step", queue.step)];
        self.columns("Queue Depth Cycling", &columns, step(queue.kind))?;
        self.pair("Test Type", setup.test_type.word())?;
        self.key("END test setup")
    }
    fn display(&mut self, display: &Display) -> fmt::Result {
        let (every, kind) = (display.update_s, display.update_type.word());
        self.heading("RESULTS DISPLAY")?;
        match display.record_updates {
            None => self.pair("Update Frequency,Update Type", format_args!("{every},{kind}"))?,
            Some(record) => self.pair(
                "Record Last Update Results,Update Frequency,Update Type",
                format_args!("{},{every},{kind}", Switch::when(record).word()),
            )?,
        }
        for BarChart { number, statistic, manager, worker } in &display.charts {
            self.pair(&format!("Bar chart {number} statistic"), line(statistic))?;
            for (what, named) in [("manager", manager), ("worker", worker)] {
                if let Some(named) = named {
                    let key = format!("Bar chart {number} {what} ID, {what} name");
                    self.pair(&key, format_args!("{},{}", named.id, part(&named.name)))?;
                }
            }
        }
        self.key("END results display")
    }
    fn specs(&mut self, specs: &[AccessSpec]) -> fmt::Result {
        self.heading("ACCESS SPECIFICATIONS")?;
        for spec in specs {
            let assignment = spec.assignment.word();
            let named = format!("{},{assignment}", line(&spec.name.replace(',', "-")));
            self.pair("Access specification name,default assignment", named)?;
            self.key("size,% of size,% reads,% random,delay,burst,align,reply")?;
            for l in &spec.lines {
                self.value(format_args!(
                    "{},{},{},{},{},{},{},{}",
                    l.size, l.share, l.reads, l.random, l.delay_ms, l.burst, l.align, l.reply
                ))?;
            }
        }
        self.key("END access specifications")
    }
    fn manager(&mut self, manager: &Manager) -> fmt::Result {
        self.pair("Manager ID, manager name", format_args!("{},{}", manager.id, part(&manager.name)))?;
        self.pair("Manager network address", line(&manager.address))?;
        manager.workers.iter().try_for_each(|worker| self.worker(worker))?;
        self.key("End manager")
    }
    fn worker(&mut self, worker: &Worker) -> fmt::Result {
        self.pair("Worker", line(&worker.name))?;
        match &worker.kind {
            WorkerKind::Disk(_) => self.pair("Worker type", Kind::Disk.word())?,
            WorkerKind::Network(NetworkSettings { protocol, .. }) => {
                self.pair("Worker type", format_args!("{},{}", Kind::Network.word(), protocol.word()))?;
            }
        }
        self.settings(worker)?;
        self.key("Assigned access specs")?;
        worker.specs.iter().try_for_each(|spec| self.value(line(&spec.replace(',', "-"))))?;
        self.key("End assigned access specs")?;
        self.key("Target assignments")?;
        worker.targets.iter().try_for_each(|target| self.target(target))?;
        self.key("End target assignments")?;
        self.key("End worker")
    }
    fn settings(&mut self, worker: &Worker) -> fmt::Result {
        const IOS: &str = "Number of outstanding IOs,test connection rate,transactions per connection";
        self.key("Default target settings for worker")?;
        let tested = Switch::when(worker.connections.tested).word();
        let ios = format!("{},{tested},{}", worker.outstanding, worker.connections.transactions);
        match worker.seed {
            None => self.pair(IOS, ios)?,
            Some(FixedSeed { used, value }) => {
                let used = Switch::when(used).word();
                self.pair(
                    &format!("{IOS},use fixed seed,fixed seed value"),
                    format!("{ios},{used},{value}"),
                )?;
            }
        }
        match &worker.kind {
            WorkerKind::Disk(disk) => {
                let place = format!("{},{}", disk.maximum_size, disk.starting_sector);
                match disk.data_pattern {
                    None => self.pair("Disk maximum size,starting sector", place)?,
                    Some(pattern) => {
                        let key = "Disk maximum size,starting sector,Data pattern";
                        self.pair(key, format!("{place},{pattern}"))?;
                    }
                }
            }
            WorkerKind::Network(network) => {
                self.pair("Local network interface", line(&network.interface))?;
                if let Some(sends) = network.vi_outstanding {
                    self.pair("VI outstanding IOs", sends)?;
                }
            }
        }
        self.key("End default target settings for worker")
    }
    fn target(&mut self, target: &Target) -> fmt::Result {
        self.pair("Target", line(&target.name))?;
        match &target.kind {
            TargetKind::Disk => self.pair("Target type", Kind::Disk.word())?,
            TargetKind::Network { protocol, manager } => {
                self.pair("Target type", format_args!("{},{}", Kind::Network.word(), protocol.word()))?;
                let named = format!("{},{}", manager.id, part(&manager.name));
                self.pair("Target manager ID, manager name", named)?;
            }
        }
        self.key("End target")
    }
}

fn spawn(workers: Spawn) -> String {
    match workers {
        Spawn::Cpus => "NUMBER_OF_CPUS".to_owned(),
        Spawn::Count(count) => count.to_string(),
    }
}
/// Cleans a text that is a part of a line.
fn part(text: &str) -> String {
    text.replace('\n', " ").trim().to_owned()
}
/// Cleans a text that is a line.
fn line(text: &str) -> String {
    part(text).trim_start_matches(|c: char| c == '\'' || c.is_whitespace()).to_owned()
}
