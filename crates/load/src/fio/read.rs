//! Reads a job file: returns its jobs, or every error in it.
//!
//! Unlike fio, the reader continues after an error and reports all of them.

use super::distribution::Distribution;
use super::engines::{self, EngineTarget};
use super::job::{Effect, Given, Job, JobFile};
use super::lines::{Line, Section, Surroundings, sections, shown};
use super::options::{self, Declared, Role};
use super::problem::Problem;
use super::settings::{Room, Settings};
use super::value::Reader;
use crate::findings::{Finding, Findings, Found, Place};
use lanetwin_textfile::Limit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of clones of a job; more are taken for a typing error.
const MOST_JOBS: u32 = 65_536;

/// A parsed job file with warnings.
#[derive(Clone, PartialEq, Debug)]
pub struct Understood {
    /// The contents of the file.
    pub file: JobFile,
    /// Warnings, in the order of their places.
    pub warnings: Vec<Finding>,
}

/// Reads the file at `path` with the environment and the number of processors of this machine, as fio would see them.
/// To read without them, see [`read`].
///
/// # Errors
/// Every error and warning, in the order of their places.
pub fn read_path(path: &Path) -> Result<Understood, Vec<Finding>> {
    let file = path.display().to_string();
    let load = |name: &str| {
        let bytes =
            lanetwin_textfile::read_bytes(Path::new(name), Limit::Data).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let surroundings = Surroundings { variables, processors, ..Surroundings::nowhere(&load) };
    match load(&file) {
        Ok(text) => read(&text, &file, &surroundings),
        Err(said) => Err(vec![unreadable(&said, &file)]),
    }
}

/// The finding for a file that cannot be read.
#[must_use]
pub fn unreadable(said: &str, file: &str) -> Finding {
    Problem::Unreadable { said: said.to_owned() }.at(Place::default(), "", file)
}

/// Reads a text; `file` is its name in findings, and the base for the names of included files.
///
/// # Errors
/// As [`read_path`].
pub fn read(text: &str, file: &str, around: &Surroundings<'_>) -> Result<Understood, Vec<Finding>> {
    let mut found = Findings::default();
    let sections = sections(text, file, around, &mut found);
    let (mut global, mut globals, mut jobs) = (Defaults::default(), Vec::new(), Vec::new());
    for section in &sections {
        if section.is_global() {
            let given = global.take(section, &mut found);
            globals.extend(given);
            continue;
        }
        let mut own = global.clone();
        let given = own.take(section, &mut found);
        jobs.push(own.job(section, given, jobs.len(), &mut found));
    }
    place(&mut jobs);
    if jobs.is_empty() {
        found.add(Problem::NoJob.at(Place::default(), "", file));
    }
    if found.errors() > 0 {
        return Err(found.into_vec());
    }
    let file = JobFile { file: file.to_owned(), globals, jobs };
    Ok(Understood { file, warnings: found.into_vec() })
}

/// Determines which jobs run together, and which share their results.
fn place(jobs: &mut [Job]) {
    let (mut phase, mut group) = (0, 0);
    for (nth, job) in jobs.iter_mut().enumerate() {
        let Settings { stonewall, new_group, .. } = job.settings;
        phase += u32::from(stonewall && nth > 0);
        group += u32::from((stonewall || new_group) && nth > 0);
        (job.phase, job.group) = (phase, group);
    }
}

/// The options given up to a section.
#[derive(Clone, Default)]
struct Defaults {
    settings: Settings,
    /// Options that are not modelled.
    left_out: BTreeSet<String>,
    /// The names of all options given.
    said: BTreeSet<&'static str>,
}

impl Defaults {
    /// Reads the options of a section.
    fn take(&mut self, section: &Section, found: &mut Findings) -> Vec<Given> {
        let mut lines: Vec<&Line> = section.options.iter().collect();
        lines.sort_by_key(|line| options::priority(&line.name));
        // options of engines are checked when the engine is known
        let (known, own): (Vec<&Line>, Vec<&Line>) =
            lines.into_iter().partition(|line| options::find(&line.name).is_some());
        let mut given: Vec<Given> = Vec::new();
        for line in known {
            let option = options::find(&line.name).expect("it has just been found");
            given.extend(self.option(option, line, &section.name, found));
        }
        given.extend(own.into_iter().filter_map(|line| self.of_engine(line, &section.name, found)));
        given
    }

    fn option(
        &mut self,
        option: &'static Declared,
        line: &Line,
        path: &str,
        found: &mut Findings,
    ) -> Option<Given> {
        let mut reader = Reader { base: self.settings.kb_base, path, found };
        let (value, numbers) = reader.read(option, line)?;
        self.settings.apply(option.name, value, line, &mut reader)?;
        self.said.insert(option.name);
        let effect = match option.role {
            Role::Modelled => Effect::Modelled,
            Role::Neutral => Effect::Neutral,
            Role::NotModelled if options::is_as_simulated(line) => Effect::Modelled,
            Role::NotModelled => Effect::NotModelled,
        };
        if effect == Effect::NotModelled && option.name != "buffered" {
            self.left_out.insert(option.name.to_owned());
        }
        Some(Given { name: option.name.to_owned(), value: line.value.clone(), numbers, effect })
    }

    fn of_engine(&mut self, line: &Line, path: &str, found: &mut Findings) -> Option<Given> {
        let mut reader = Reader { base: self.settings.kb_base, path, found };
        let engine = &self.settings.ioengine;
        let own = engines::has(engine, &line.name) != Some(false);
        let of_profile = engines::profile_has(&line.name);
        if (own || of_profile) && !line.name.is_empty() && is_name(&line.name) {
            if line.value.as_deref() == Some("") {
                reader.report(&Problem::NoValue { name: line.name.clone() }, &line.at);
                return None;
            }
            let (name, value) = (line.name.clone(), line.value.clone());
            let effect = if of_profile {
                let why = "it belongs to a `profile` of fio";
                reader.report(&Problem::NoEffect { name: name.clone(), why }, &line.at);
                Effect::Neutral
            } else {
                self.left_out.insert(name.clone());
                Effect::NotModelled
            };
            return Some(Given { name, value, numbers: Vec::new(), effect });
        }
        let name = shown(&line.name);
        let elsewhere = engines::any_has(&line.name);
        let problem = if elsewhere {
            Problem::NotOfEngine { name, engine: engine.clone() }
        } else {
            let near = options::near(&line.name).map(|near| format!("did you mean `{near}`? "));
            Problem::UnknownOption { name, near: near.unwrap_or_default() }
        };
        reader.report(&problem, &line.at);
        None
    }

    /// The job of a section, corrected as fio does before it starts; reports contradictions.
    fn job(self, section: &Section, given: Vec<Given>, number: usize, found: &mut Findings) -> Job {
        let mut report = |problem: Problem| {
            found.add(problem.at(section.at.place, &section.name, &section.at.file));
        };
        let said = |name: &str| self.said.contains(name);
        let mut job = Job {
            section: section.name.clone(),
            line: section.at.place.line,
            number,
            given,
            settings: self.settings.clone(),
            phase: 0,
            group: 0,
            not_modelled: self.left_out.iter().cloned().collect(),
        };
        check(&job, &mut report);
        let s = &mut job.settings;
        if s.time_based && s.runtime_us == 0 {
            report(Problem::NoEffect { name: "time_based".into(), why: "there is no `runtime`" });
            s.time_based = false;
        }
        if said("bs") && (said("bsrange") || said("bssplit")) {
            report(Problem::NoEffect {
                name: "bs".into(),
                why: "`bsrange` and `bssplit` come before it, wherever they stand",
            });
        }
        if said("blockalign") && !s.rw.random {
            report(Problem::NoEffect { name: "ba".into(), why: "only random accesses are aligned by it" });
        }
        if (said("rwmixread") || said("rwmixwrite")) && !(s.rw.reads && s.rw.writes) {
            report(Problem::NoEffect {
                name: "rwmixread".into(),
                why: "there are only reads or only writes",
            });
        }
        if said("random_distribution") && !s.rw.random {
            report(Problem::NoEffect { name: "random_distribution".into(), why: "accesses are sequential" });
        }
        warn_of_rates(&job, &mut report);
        warn_of_files(&job, &mut report);
        let s = &mut job.settings;
        if s.latency_target.target_us > 0 && s.latency_target.window_us == 0 {
            report(Problem::NoEffect { name: "latency_target".into(), why: "there is no `latency_window`" });
            s.latency_target.target_us = 0;
        }
        if !s.direct && s.read_iolog.is_none() && !ENGINES_WITHOUT_CACHE.contains(&s.ioengine.as_str()) {
            report(Problem::Buffered);
        }
        if !matches!(s.random_distribution, Distribution::Random) {
            s.norandommap = true;
        }
        if !job.not_modelled.is_empty() {
            report(Problem::NotModelled { names: job.not_modelled.join(", ") });
        }
        job
    }
}

/// Warns of rates of I/Os, which fio enforces as rates of bytes for the smallest block (`init.c`, `__setup_rate`).
fn warn_of_rates(job: &Job, report: &mut impl FnMut(Problem)) {
    let s = &job.settings;
    let ways = s.rate_iops.into_iter().zip(job.blocks()).zip([s.rw.reads, s.rw.writes]);
    for ((rate, (least, most)), is_asked) in ways {
        if is_asked && rate > 0 && least < most {
            report(Problem::RateOfBytes { rate, block: least, bytes: rate.saturating_mul(least) });
            return;
        }
    }
}

/// Warns of several files, over which fio would distribute the I/Os. A log has the file of each I/O itself.
fn warn_of_files(job: &Job, report: &mut impl FnMut(Problem)) {
    let files = &job.settings.files;
    let several = match &files.filename {
        Some(_) => ("filename", u32::try_from(files.names().len()).unwrap_or(u32::MAX)),
        None => ("nrfiles", files.nrfiles.unwrap_or(1)),
    };
    if let (name, files @ 2..) = several
        && job.settings.read_iolog.is_none()
    {
        report(Problem::SeveralFiles { name, files });
    }
}

/// Engines that never use the page cache.
const ENGINES_WITHOUT_CACHE: [&str; 4] = ["null", "io_uring_cmd", "nbd", "external"];

/// Reports contradictions (`init.c`, `fixup_options`).
fn check(job: &Job, report: &mut impl FnMut(Problem)) {
    let s = &job.settings;
    if s.rate.iter().any(|rate| *rate > 0) && s.rate_iops.iter().any(|rate| *rate > 0) {
        let why = "one limits bytes, the other I/Os";
        report(Problem::Contradiction { one: "rate", other: "rate_iops", why });
    }
    if !(1..=MOST_JOBS).contains(&s.numjobs) {
        let (least, most) = ("1".to_owned(), MOST_JOBS.to_string());
        report(Problem::OutOfRange { name: "numjobs", text: s.numjobs.to_string(), least, most });
    }
    for (least, most) in job.blocks() {
        if least == 0 || most > u32::MAX.into() {
            let text = if least == 0 { least } else { most };
            let (least, most) = ("1".to_owned(), u32::MAX.to_string());
            report(Problem::OutOfRange { name: "bs", text: text.to_string(), least, most });
            return;
        }
    }
    match s.size {
        Room::Bytes(size) if size > 0 && size < job.least_block() => {
            report(Problem::TooSmall { size, block: job.least_block() });
        }
        _ => {}
    }
    if s.rw.trims && s.read_iolog.is_none() {
        let why = "trims are not simulated";
        report(Problem::CannotModel { name: "rw", text: s.rw.word.to_owned(), why });
    }
    let engine = s.ioengine.clone();
    match engines::target_of(&engine) {
        EngineTarget::Drive => {}
        EngineTarget::Elsewhere(what) => report(Problem::OtherEngine { engine, what }),
        EngineTarget::Nothing(why) => report(Problem::CannotModel { name: "ioengine", text: engine, why }),
    }
}

/// Whether a text looks like the name of an option.
fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
