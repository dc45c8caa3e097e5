//! `'TEST SETUP`.

use super::super::config::{Cycling, QueueCycling, RunTime, Spawn, TestSetup};
use super::super::lines::{Between, Field, Line};
use super::super::problem::Problem;
use super::super::words::{Step, TestType, Word};
use super::reader::{Reader, SETUP};

const KEYS: [&str; 10] = [
    "'Test Description",
    "'Run Time",
    "'Ramp Up Time (s)",
    "'Default Disk Workers to Spawn",
    "'Default Network Workers to Spawn",
    "'Record Results",
    "'Worker Cycling",
    "'Disk Cycling",
    "'Queue Depth Cycling",
    "'Test Type",
];
const CPUS: &str = "NUMBER_OF_CPUS";

impl<'a> Reader<'a> {
    pub(super) fn setup(&mut self) -> TestSetup {
        let mut setup = TestSetup::default();
        while let Some(key) = self.key(SETUP) {
            if key.is(KEYS[0]) {
                setup.description = self.text();
            } else if key.is(KEYS[1]) {
                setup.run_time = self.run_time(key).unwrap_or_default();
            } else if key.opens_with("'Ramp Up Time") {
                // an older spelling omits the unit
                let seconds = self.required(key, "a time in seconds");
                setup.ramp_up_s = seconds.map_or(0, |line| self.count(line.field(), "a time in seconds"));
            } else if key.is(KEYS[3]) {
                setup.disk_workers = self.spawn(key).unwrap_or(setup.disk_workers);
            } else if key.is(KEYS[4]) {
                setup.network_workers = self.spawn(key).unwrap_or(setup.network_workers);
            } else if key.is(KEYS[5]) {
                setup.record = self.choice(key, "what is recorded").unwrap_or(setup.record);
            } else if key.is(KEYS[6]) {
                setup.worker_cycling = self.cycling(key).unwrap_or(setup.worker_cycling);
            } else if key.is(KEYS[7]) {
                setup.disk_cycling = self.cycling(key).unwrap_or(setup.disk_cycling);
            } else if key.is(KEYS[8]) {
                setup.queue_cycling = self.queue_cycling(key).unwrap_or(setup.queue_cycling);
            } else if key.is(KEYS[9]) {
                setup.test_type = self.choice(key, "a type of test").unwrap_or(setup.test_type);
                if setup.test_type != TestType::Normal {
                    let what = format!("the type of test `{}`", setup.test_type.word());
                    self.report(&Problem::NotModelled { what }, key.place);
                }
            } else {
                self.unknown(key, &KEYS);
            }
        }
        setup
    }

    /// Any 32-bit number.
    pub(super) fn count(&mut self, field: Field<'a>, what: &str) -> u32 {
        self.number(field, what, 0, u32::MAX.into())
    }
    /// A word below a key.
    pub(super) fn choice<W: Word>(&mut self, key: Line<'a>, wanted: &str) -> Option<W> {
        let line = self.required(key, wanted)?;
        self.word(line.field())
    }
    fn run_time(&mut self, key: Line<'a>) -> Option<RunTime> {
        let fields = self.fields(key, Between::Spaces, "hours, minutes and seconds")?;
        let [hours, minutes, seconds] =
            fields.map(|field| self.number(field, "a part of the run time", 0, RunTime::MOST.into()));
        Some(RunTime { hours, minutes, seconds })
    }
    fn spawn(&mut self, key: Line<'a>) -> Option<Spawn> {
        let wanted = "a number of workers or `NUMBER_OF_CPUS`";
        let line = self.required(key, wanted)?;
        let cpus = line.text.eq_ignore_ascii_case(CPUS);
        Some(if cpus { Spawn::Cpus } else { Spawn::Count(self.count(line.field(), wanted)) })
    }
    fn cycling(&mut self, key: Line<'a>) -> Option<Cycling> {
        let [start, step, kind] = self.fields(key, Between::Spaces, "start, step and type of step")?;
        let [start, step] = [start, step].map(|field| self.count(field, "a step"));
        Some(Cycling { start, step, kind: self.word::<Step>(kind)? })
    }
    fn queue_cycling(&mut self, key: Line<'a>) -> Option<QueueCycling> {
        let [start, end, step, kind] =
            self.fields(key, Between::Spaces, "start, end, step and type of step")?;
        let [start, end, step] = [start, end, step].map(|field| self.count(field, "a queue depth"));
        Some(QueueCycling { start, end, step, kind: self.word::<Step>(kind)? })
    }
}
