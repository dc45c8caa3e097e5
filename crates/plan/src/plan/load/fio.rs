//! A phase of a fio job file: jobs that run at the same time.

mod dealing;

use crate::plan::blocks::{AllowedCores, Blocks, Demand, LeftOut, Step, Thread, Timing};
use crate::plan::length::RunLength;
use crate::plan::offered::Offered;
use crate::plan::written::{AccessShape, of_kinds};
use lanetwin_document::quantity;
use lanetwin_kernel::Component;
use lanetwin_load::fio::iolog::{Entry, Log};
use lanetwin_load::fio::{Given, Job, JobWorkload, Room};
use lanetwin_load::{BlockLoad, Slot};
use lanetwin_models::roles::nvme::QueuePriority;
use lanetwin_ports::{Message, Operation, Value};
use lanetwin_units::{Bytes, Span, greatest_common_divisor};
use std::sync::Arc;

/// What somebody may have meant who asks for a gap.
const GAP: &str = "; behind `read`, `write` and `rw` the number is a gap in bytes, and only behind `randread`, `randwrite` and `randrw` I/Os to each random address";

/// Jobs that run at the same time.
#[derive(Clone, PartialEq, Debug)]
pub struct FioCase {
    /// Name of the job file in the scenario; empty if the options are in the scenario.
    pub file: String,
    /// The options of its global sections.
    pub globals: Vec<Given>,
    /// The jobs, in the order of the file; at least one.
    pub jobs: Vec<FioJob>,
    /// The size of each target.
    pub capacity: Bytes,
    /// Maximum number of I/Os measured, over all jobs and targets together.
    pub requests: u64,
    /// The drives that the jobs of the workload name, of all phases, in the order of the file; empty if a job names
    /// none.
    pub drives: Vec<String>,
}

/// A job of a phase.
#[derive(Clone, PartialEq, Debug)]
pub struct FioJob {
    /// The job with its options.
    pub job: Arc<Job>,
    /// The log that it replays, if any.
    pub log: Option<Arc<Log>>,
    /// Index of its first clone among the clones of all jobs that run.
    pub first_clone: u32,
    /// Number of drives over which its I/Os are dealt out; its settings are those of one of them.
    pub shares: u32,
}

impl FioJob {
    /// The requests of one of its clones to a target.
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
    /// Number of I/Os measured: `requests` of the scenario, or fewer if the jobs end before.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.most().map_or(self.requests, |all| all.min(self.requests)).max(1)
    }
    /// Number of I/Os of jobs that end; `None` if they do not end by themselves.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        let of_job = |job: &FioJob| {
            let all = job.workload(0, self.capacity).operations()?;
            Some(all.saturating_mul(job.job.settings.numjobs.into()))
        };
        self.jobs.iter().try_fold(0_u64, |sum, job| Some(sum.saturating_add(of_job(job)?)))
    }
    /// Maximum length of the measurement: the longest `runtime`, if all jobs have one.
    #[must_use]
    pub fn run_time(&self) -> Option<Span> {
        let mut times = self.jobs.iter().map(|job| job.job.settings.runtime_us);
        let longest = times.try_fold(0, |longest, us| (us > 0).then_some(us.max(longest)))?;
        Some(Span::from_us(longest))
    }
    /// Maximum time before the measurement: the longest `ramp_time`, if one is set.
    #[must_use]
    pub fn ramp_time(&self) -> Option<Span> {
        let longest = self.jobs.iter().map(|job| job.job.settings.ramp_time_us).max()?;
        (longest > 0).then(|| Span::from_us(longest))
    }
    /// Whether a job replays a log, which is measured from its first I/O to its last.
    #[must_use]
    pub fn replays(&self) -> bool {
        self.jobs.iter().any(|job| job.log.is_some())
    }
    /// Every clone of every job, with the name of its results: a job, a clone or a group.
    #[must_use]
    pub fn clones(&self) -> Vec<(&FioJob, u32, String)> {
        let all = self.jobs.iter().flat_map(|job| job.clones().map(move |clone| (job, clone)));
        all.map(|(job, clone)| (job, clone, self.results_name(job, clone))).collect()
    }
    /// The jobs whose results have this name.
    #[must_use]
    pub fn jobs_of<'a>(&'a self, name: &str) -> Vec<&'a FioJob> {
        let of = |job: &&FioJob| job.clones().any(|clone| self.results_name(job, clone) == name);
        self.jobs.iter().filter(of).collect()
    }

    fn results_name(&self, job: &FioJob, clone: u32) -> String {
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
    /// Describes how its jobs are sampled in `repeats` repeats of this length.
    #[must_use]
    pub fn sampled(&self, repeats: usize, length: RunLength) -> String {
        let milliseconds = |time: Span| time.as_ps() as f64 * 1e-9;
        let time =
            self.run_time().map(|time| format!(", or after {} ms if that is before", milliseconds(time)));
        let times = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
        format!(
            "simulated {times}; each time measurement ended {}{}",
            length.ends_after(self.operations()),
            time.unwrap_or_default()
        )
    }
}

impl FioJob {
    /// The sizes of its I/Os, unless a log has them. For a range, the smallest size, of which all are multiples.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        let settings = &self.job.settings;
        let asked = [settings.rw.reads, settings.rw.writes].into_iter().enumerate();
        let replays = settings.read_iolog.is_some();
        asked.filter(move |(_, asked)| *asked && !replays).flat_map(|(way, _)| {
            let split = settings.bssplit[way].iter().map(|(bytes, _)| *bytes);
            split.chain([self.job.blocks()[way].0])
        })
    }
    /// What decides where its I/Os begin: what a log says, or where its clones begin, what lies between I/Os that
    /// follow each other, and what random addresses are multiples of.
    fn steps(&self, capacity: Bytes) -> Vec<Step> {
        let (s, name) = (&self.job.settings, self.job.name());
        let said = |bytes: u64| quantity::written(Value::Size(Bytes(bytes)));
        let mut steps = Vec::new();
        let mut add = |bytes, what: String, hint| steps.push(Step { bytes, what, hint });
        if let Some(log) = &self.log {
            let workload = self.workload(0, capacity);
            let own = |entry| greatest_common_divisor(workload.placed(entry), entry.bytes.into());
            let all = log.entries.iter().map(own).reduce(greatest_common_divisor).unwrap_or(0);
            let what =
                format!("what places and sizes in the log of job `{name}` are multiples of, {},", said(all));
            add(all, what, "; `replay_align` rounds places down to multiples of it");
            return steps;
        }
        let starts = self.clones().map(|clone| self.workload(clone, capacity).extent().start);
        let start = starts.fold(0, greatest_common_divisor);
        add(start, format!("where job `{name}` begins, at multiples of {},", said(start)), "");
        let rw = s.rw.word;
        let gap = s.gap.unsigned_abs();
        add(
            gap,
            format!("what `rw={rw}:{}` of job `{name}` leaves out behind each I/O, {},", s.gap, said(gap)),
            GAP,
        );
        let used = [s.rw.reads, s.rw.writes].into_iter().zip(self.job.granularity());
        let every =
            used.filter(|(is_used, _)| *is_used).map(|(_, every)| every).fold(0, greatest_common_divisor);
        add(
            every,
            format!("what sizes and addresses of job `{name}` are multiples of, {},", said(every)),
            "",
        );
        steps
    }
    /// The namespace of its `filename`, its own or a global one, from 0: `/dev/nvme0n2` is the second.
    fn namespace(&self) -> Option<u16> {
        let number: u16 = self.job.settings.files.filename.as_ref()?.rsplit_once('n')?.1.parse().ok()?;
        number.checked_sub(1)
    }
    /// The priority class of its queue, by its I/O priority: real time is urgent at its highest level and high below,
    /// best effort and none are medium, idle is low. The mapping is up to the software, since NVM Express defines none;
    /// this one is `assumed`.
    fn priority(&self) -> QueuePriority {
        match (self.job.settings.prioclass, self.job.settings.prio) {
            (1, 0) => QueuePriority::URGENT,
            (1, _) => QueuePriority::HIGH,
            (3, _) => QueuePriority::LOW,
            _ => QueuePriority::MEDIUM,
        }
    }
    /// Its I/O engine, if that is modelled.
    fn engine(&self) -> Option<&'static str> {
        match &*self.job.settings.ioengine {
            "io_uring" | "io_uring_cmd" => Some("io_uring"),
            "spdk" => Some("spdk"),
            _ => None,
        }
    }
    /// The cores on which a clone may run. With `split` it is one core; clones are numbered over all jobs of the file
    /// (`fio_cpus_split` of fio takes the thread number).
    fn cores(&self, clone: u32) -> Option<AllowedCores> {
        let settings = &self.job.settings;
        let nth = settings.cpus_split.then_some(self.first_clone + clone);
        let numbers = settings.cpus_allowed.clone();
        (!numbers.is_empty()).then_some(AllowedCores { numbers, nth })
    }
    /// The common size and order of its reads, and of its writes.
    fn shapes(&self) -> Vec<AccessShape> {
        let logged = |log: &Log| log.entries.iter().map(shape_of_entry).collect();
        self.log.as_deref().map_or_else(|| self.said(), logged)
    }
    /// The same, for a job that generates its requests.
    fn said(&self) -> Vec<AccessShape> {
        let (way, granularity) = (&self.job.settings.rw, self.job.granularity());
        let shape = |is_write: bool| AccessShape {
            is_write,
            is_random: way.random,
            multiple_of: Bytes(granularity[usize::from(is_write)]),
        };
        of_kinds((way.reads, way.writes), shape).collect()
    }
    /// The same job with clones that begin at different places, evenly over the file, if all clones read it
    /// sequentially, at full speed and from the same place.
    fn apart(&self) -> Option<Self> {
        let settings = &self.job.settings;
        let begin_alike = settings.offset_increment == Room::Unset && settings.numjobs <= 100;
        let reads =
            settings.rw.reads && !settings.rw.writes && self.log.is_none() && self.job.is_sequential();
        let is_held_back = settings.rate[0] > 0 || settings.rate_iops[0] > 0 || settings.thinktime_us > 0;
        if !begin_alike || !reads || is_held_back {
            return None;
        }
        let mut job = Job::clone(&self.job);
        if job.settings.numjobs > 1 {
            job.settings.offset_increment = Room::Percent((100 / job.settings.numjobs).into());
        }
        Some(Self { job: Arc::new(job), ..self.clone() })
    }
    /// Options that are not simulated.
    fn not_modelled(&self) -> Vec<String> {
        let (mut list, name) = (Vec::new(), self.job.name());
        if !self.job.not_modelled.is_empty() {
            list.push(format!("Options of the job `{name}`: `{}`.", self.job.not_modelled.join("`, `")));
        }
        if self.shares > 1 {
            list.push(format!(
                "The turns of the job `{name}` over its {} drives: each has an equal share of its I/Os in flight and a core of its own; fio deals them out one by one, so that the slowest drive holds back the others.",
                self.shares
            ));
        }
        if self.log.as_ref().is_some_and(|log| log.left_out > 0) {
            list.push(format!("Syncs and trims of the log of the job `{name}`."));
        }
        list
    }
}

fn shape_of_entry(entry: &Entry) -> AccessShape {
    let multiple_of = Bytes(greatest_common_divisor(entry.offset, entry.bytes.into()));
    AccessShape { is_write: entry.operation == Operation::Write, is_random: true, multiple_of }
}

impl Blocks for FioCase {
    fn offered(&self) -> Offered {
        Offered::Outstanding(self.depth())
    }
    fn requests(&self) -> u64 {
        self.operations()
    }
    fn kinds(&self) -> (bool, bool) {
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
    fn is_sequential(&self) -> bool {
        let follow = |job: &FioJob| job.log.is_none() && job.job.is_sequential();
        self.jobs.iter().all(follow)
    }
    fn shapes(&self) -> Vec<AccessShape> {
        self.jobs.iter().flat_map(FioJob::shapes).collect()
    }
    fn is_paced(&self) -> bool {
        let mut settings = self.jobs.iter().map(|job| &job.job.settings);
        settings.any(|s| {
            let is_limited = s.rate.iter().chain(&s.rate_iops).any(|rate| *rate > 0);
            is_limited || s.thinktime_us > 0 || s.latency_target.target_us > 0
        })
    }
    fn largest(&self) -> u64 {
        let of_job = |job: &FioJob| {
            let logged = job.log.iter().flat_map(|log| &log.entries).map(|entry| u64::from(entry.bytes));
            let blocks = job.job.blocks().map(|(_, most)| most);
            logged.chain(blocks).max().unwrap_or(0)
        };
        self.jobs.iter().map(of_job).max().unwrap_or(0)
    }
    fn threads(&self) -> Vec<Thread> {
        let thread = |(job, clone, results_name): (&FioJob, u32, String)| Thread {
            name: format!("{}.{clone}", job.job.number),
            results_name,
            namespace: job.namespace(),
            priority: job.priority(),
            engine: job.engine(),
            cores: job.cores(clone),
        };
        self.clones().into_iter().map(thread).collect()
    }
    fn asks(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        self.places(hosts)
    }
    fn dealt(&self, hosts: &[usize]) -> Option<Arc<dyn Blocks>> {
        self.shared(hosts).map(|case| Arc::new(case) as Arc<dyn Blocks>)
    }
    fn asker(&self, thread: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        let clones = self.jobs.iter().flat_map(|job| job.clones().map(move |clone| (job, clone)));
        let (job, clone) = clones.into_iter().nth(thread).expect("a thread is a clone of a job");
        let workload = job.workload(clone, self.capacity);
        Box::new(BlockLoad::of_job(workload, slot.seed, slot.path).in_slot(slot))
    }
    fn timing(&self) -> Timing {
        let (ramp, longest, most) = (self.ramp_time(), self.run_time(), self.most());
        Timing { is_whole: self.replays(), ramp, longest, most }
    }
    /// Jobs are meant to differ.
    fn is_even(&self) -> bool {
        false
    }
    fn apart(&self, requests: u64) -> Option<Arc<dyn Blocks>> {
        let jobs: Vec<FioJob> = self.jobs.iter().map(FioJob::apart).collect::<Option<_>>()?;
        let case = Self { jobs, requests: self.requests.min(requests), ..self.clone() };
        let fits =
            |(job, clone, _): &(&FioJob, u32, String)| job.workload(*clone, case.capacity).check().is_ok();
        let all_fit = case.clones().iter().all(fits);
        (all_fit && case.clones().len() > case.jobs.len()).then(|| Arc::new(case) as Arc<dyn Blocks>)
    }
    fn demand(&self) -> Demand {
        let settings = || self.jobs.iter().map(|job| &job.job.settings);
        let pinned = self.jobs.iter().filter(|job| !job.job.settings.cpus_allowed.is_empty());
        let pinned =
            pinned.map(|job| (job.job.name().to_owned(), job.job.settings.cpus_allowed.clone())).collect();
        let prior = self.jobs.iter().find(|job| job.job.settings.prioclass > 0);
        Demand {
            depth: settings().map(|s| u64::from(s.iodepth)).max(),
            sizes: self.jobs.iter().flat_map(FioJob::sizes).collect(),
            steps: self.jobs.iter().flat_map(|job| job.steps(self.capacity)).collect(),
            span: None,
            priority: prior.map(|job| job.job.name().to_owned()),
            pinned,
        }
    }
    fn not_modelled(&self, of: LeftOut<'_>) -> Vec<String> {
        let sampled = self.sampled(of.repeats, of.length);
        let whole = format!(
            "`{}` of fio beyond a sample: {sampled}. A phase finds the machine as if nothing had run before.",
            of.label
        );
        std::iter::once(whole).chain(self.jobs.iter().flat_map(FioJob::not_modelled)).collect()
    }
}
