//! A phase of a job file of fio: jobs that run together.

use lanetwin_load::fio::iolog::Log;
use lanetwin_load::fio::{Given, Job, JobWorkload};
use lanetwin_units::{Bytes, Span};
use std::sync::Arc;

/// Jobs that run together.
#[derive(Clone, PartialEq, Debug)]
pub struct FioCase {
    /// The job file, as the scenario names it; empty if the options stand in the scenario.
    pub file: String,
    /// The options of its global sections.
    pub globals: Vec<Given>,
    /// The jobs, in the order of the file; at least one.
    pub jobs: Vec<FioJob>,
    /// The size of each target.
    pub capacity: Bytes,
    /// I/Os that are measured at most, of all jobs and targets together.
    pub requests: u64,
}

/// A job of a phase.
#[derive(Clone, PartialEq, Debug)]
pub struct FioJob {
    /// What it says.
    pub job: Arc<Job>,
    /// The log that it replays, if it does.
    pub log: Option<Arc<Log>>,
}

impl FioJob {
    /// What one of its clones asks a target.
    #[must_use]
    pub fn workload(&self, clone: u32, capacity: Bytes) -> JobWorkload {
        JobWorkload { job: Arc::clone(&self.job), clone, capacity: capacity.0, log: self.log.clone() }
    }
    /// Its clones.
    fn clones(&self) -> impl Iterator<Item = u32> {
        0..self.job.settings.numjobs
    }
}

impl FioCase {
    /// I/Os in flight on each target at most.
    #[must_use]
    pub fn depth(&self) -> u32 {
        let depths = self.jobs.iter().map(|job| &job.job.settings);
        depths.fold(0, |sum, s| sum.saturating_add(s.iodepth.saturating_mul(s.numjobs)))
    }
    /// How many I/Os are measured: the `requests` of the scenario, or as many as the jobs make before they end.
    #[must_use]
    pub fn operations(&self) -> u64 {
        let of_job = |job: &FioJob| {
            let all = job.workload(0, self.capacity).operations()?;
            Some(all.saturating_mul(job.job.settings.numjobs.into()))
        };
        let all = self.jobs.iter().try_fold(0_u64, |sum, job| Some(sum.saturating_add(of_job(job)?)));
        all.map_or(self.requests, |all| all.min(self.requests)).max(1)
    }
    /// How long it is measured at most: the longest `runtime`, if all jobs have one.
    #[must_use]
    pub fn run_time(&self) -> Option<Span> {
        let mut times = self.jobs.iter().map(|job| job.job.settings.runtime_us);
        let longest = times.try_fold(0, |longest, us| (us > 0).then_some(us.max(longest)))?;
        Some(Span::from_us(longest))
    }
    /// How long it runs before it is measured, at most, if it says so: the longest `ramp_time`.
    #[must_use]
    pub fn ramp_time(&self) -> Option<Span> {
        let longest = self.jobs.iter().map(|job| job.job.settings.ramp_time_us).max()?;
        (longest > 0).then(|| Span::from_us(longest))
    }
    /// Whether a job replays a log: it is measured from its first I/O to its last.
    #[must_use]
    pub fn replays(&self) -> bool {
        self.jobs.iter().any(|job| job.log.is_some())
    }
    /// The size of the largest I/O \[B\].
    #[must_use]
    pub fn largest(&self) -> u64 {
        let of_job = |job: &FioJob| {
            let logged = job.log.iter().flat_map(|log| &log.entries).map(|entry| u64::from(entry.bytes));
            let blocks = job.job.blocks().map(|(_, most)| most);
            logged.chain(blocks).max().unwrap_or(0)
        };
        self.jobs.iter().map(of_job).max().unwrap_or(0)
    }
    /// Whether there are reads, and whether there are writes.
    #[must_use]
    pub fn kinds(&self) -> (bool, bool) {
        use lanetwin_ports::Operation;
        let logged = |job: &FioJob, operation| {
            job.log.as_ref().map(|log| log.entries.iter().any(|entry| entry.operation == operation))
        };
        let has = |operation, said: fn(&Job) -> bool| {
            self.jobs.iter().any(|job| logged(job, operation).unwrap_or_else(|| said(&job.job)))
        };
        (
            has(Operation::Read, |job| job.settings.rw.reads),
            has(Operation::Write, |job| job.settings.rw.writes),
        )
    }
    /// Every clone of every job, with what its results are told as: a job, a clone of it, or a group.
    #[must_use]
    pub fn threads(&self) -> Vec<(&FioJob, u32, String)> {
        let all = self.jobs.iter().flat_map(|job| job.clones().map(move |clone| (job, clone)));
        all.map(|(job, clone)| (job, clone, self.told_as(job, clone))).collect()
    }
    /// The jobs whose results are told as this.
    #[must_use]
    pub fn jobs_of<'a>(&'a self, name: &str) -> Vec<&'a FioJob> {
        let of = |job: &&FioJob| job.clones().any(|clone| self.told_as(job, clone) == name);
        self.jobs.iter().filter(of).collect()
    }

    fn told_as(&self, job: &FioJob, clone: u32) -> String {
        let together = |one: &FioJob| one.job.settings.group_reporting && one.job.group == job.job.group;
        let leader = if job.job.settings.group_reporting {
            self.jobs.iter().find(|one| together(one)).unwrap_or(job)
        } else {
            job
        };
        let same = |one: &&FioJob| one.job.name() == leader.job.name();
        let nth = self.jobs.iter().filter(same).position(|one| one.job.number == leader.job.number);
        let mut name = leader.job.name().to_owned();
        if nth.unwrap_or(0) > 0 {
            name = format!("{name}({})", nth.unwrap_or(0) + 1);
        }
        let alone = job.job.settings.group_reporting || job.job.settings.numjobs == 1;
        if alone { name } else { format!("{name}#{clone}") }
    }
    /// How its jobs are sampled in so many repeats.
    #[must_use]
    pub fn sampled(&self, repeats: usize) -> String {
        let milliseconds = |time: Span| time.as_ps() as f64 * 1e-9;
        let time =
            self.run_time().map(|time| format!(", or after {} ms if that is before", milliseconds(time)));
        let times = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
        format!(
            "simulated {times}; each time measured until {} I/Os had been answered{}",
            self.operations(),
            time.unwrap_or_default()
        )
    }
}
