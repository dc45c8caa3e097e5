//! The options of a job that affect its I/Os, their times, or the results: their defaults, and how each is set.

mod forms;

use super::distribution::Distribution;
use super::lines::{Line, shown};
use super::number::{self, WHOLE};
use super::problem::Problem;
use super::value::{Number, Reader, Three, Value};
pub use forms::SteadyState;
use forms::{cpus, distribution, shares, steady_state};

/// Maximum length of a list of block sizes or zones (`thread_options.h`).
const MOST_SPLIT: usize = 64;

/// A size that may be a percentage of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Room {
    /// Not given.
    #[default]
    Unset,
    /// Bytes.
    Bytes(u64),
    /// A percentage of the file.
    Percent(u64),
}

/// The meaning of `rw`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The word in the job file.
    pub word: &'static str,
    /// Whether there are reads.
    pub reads: bool,
    /// Whether there are writes.
    pub writes: bool,
    /// Whether there are trims, which are not simulated.
    pub trims: bool,
    /// Whether addresses are random.
    pub random: bool,
}

impl Way {
    fn of(word: &'static str) -> Self {
        let plain = word.strip_prefix("rand").unwrap_or(word);
        let both = matches!(plain, "rw" | "readwrite");
        Self {
            word,
            reads: both || plain == "read",
            writes: both || plain.ends_with("write"),
            trims: plain.starts_with("trim"),
            random: word.starts_with("rand"),
        }
    }
}

/// `rw_sequencer`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequencer {
    /// Continue after the last I/O.
    Sequential,
    /// Repeat the last I/O.
    Identical,
}

/// `latency_target` and related options.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LatencyTarget {
    /// The latency \[µs\].
    pub target_us: u64,
    /// The window over which it is checked \[µs\].
    pub window_us: u64,
    /// The share of I/Os that have to meet it \[%\].
    pub percentile: f64,
}

/// The files of a job, as given.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[expect(missing_docs, reason = "each field is the option of its name (docs/fio.md)")]
pub struct Files {
    pub filename: Option<String>,
    pub nrfiles: Option<u32>,
}

impl Files {
    /// The names in `filename`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.filename.as_deref().map(names).unwrap_or_default()
    }
}

/// A block size and its share \[%\].
pub type Share = (u64, u32);

/// The settings of a job, with fio's defaults for missing options. Arrays of three are for reads, writes and trims.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "each field is the option of its name (docs/fio.md)")]
pub struct Settings {
    pub name: Option<String>,
    pub files: Files,
    pub ioengine: String,
    pub direct: bool,
    pub kb_base: u64,
    pub rw: Way,
    /// Number of I/Os per random address (`randread:8`).
    pub random_after: u32,
    /// Distance from the end of an access to the next \[B\] (`read:8k`).
    pub gap: i64,
    pub rw_sequencer: Sequencer,
    pub iodepth: u32,
    pub numjobs: u32,
    /// The CPUs that it may run on, ascending; from `cpus_allowed` or `cpumask`. Empty for all.
    pub cpus_allowed: Vec<u32>,
    /// Whether each clone has one of them (`cpus_allowed_policy=split`).
    pub cpus_split: bool,
    pub loops: u32,
    pub size: Room,
    pub io_size: Room,
    pub filesize: u64,
    pub offset: Room,
    pub offset_increment: Room,
    pub offset_align: u64,
    pub number_ios: u64,
    pub prio: u32,
    pub prioclass: u32,
    pub bs: [u64; 3],
    /// From `bsrange` or `bssplit`; 0 if neither is given.
    pub bs_range: [(u64, u64); 3],
    pub bssplit: [Vec<Share>; 3],
    pub blockalign: [u64; 3],
    pub bs_unaligned: bool,
    pub bs_is_seq_rand: bool,
    pub norandommap: bool,
    pub random_distribution: Distribution,
    pub percentage_random: [u32; 3],
    pub rwmixread: u32,
    pub thinktime_us: u64,
    pub thinktime_blocks: u32,
    /// Whether I/Os count at submission; otherwise at completion.
    pub thinktime_at_issue: bool,
    pub rate: [u64; 3],
    pub rate_iops: [u64; 3],
    pub poisson: bool,
    pub runtime_us: u64,
    pub ramp_time_us: u64,
    pub time_based: bool,
    pub stonewall: bool,
    pub new_group: bool,
    pub group_reporting: bool,
    pub read_iolog: Option<String>,
    pub replay_no_stall: bool,
    pub replay_scale: u64,
    pub replay_align: u64,
    pub replay_time_scale: u64,
    pub replay_skip: String,
    pub latency_target: LatencyTarget,
    pub steadystate: Option<SteadyState>,
    pub ss_dur_us: u64,
    pub ss_ramp_us: u64,
    pub percentile_list: Vec<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: None,
            files: Files::default(),
            ioengine: "psync".into(),
            direct: false,
            kb_base: 1024,
            rw: Way::of("read"),
            random_after: 1,
            gap: 0,
            rw_sequencer: Sequencer::Sequential,
            iodepth: 1,
            numjobs: 1,
            cpus_allowed: Vec::new(),
            cpus_split: false,
            loops: 1,
            size: Room::Unset,
            io_size: Room::Unset,
            filesize: 0,
            offset: Room::Unset,
            offset_increment: Room::Unset,
            offset_align: 0,
            number_ios: 0,
            prio: 0,
            prioclass: 0,
            bs: [4096; 3],
            bs_range: [(0, 0); 3],
            bssplit: [const { Vec::new() }; 3],
            blockalign: [0; 3],
            bs_unaligned: false,
            bs_is_seq_rand: false,
            norandommap: false,
            random_distribution: Distribution::Random,
            percentage_random: [100; 3],
            rwmixread: 50,
            thinktime_us: 0,
            thinktime_blocks: 1,
            thinktime_at_issue: false,
            rate: [0; 3],
            rate_iops: [0; 3],
            poisson: false,
            runtime_us: 0,
            ramp_time_us: 0,
            time_based: false,
            stonewall: false,
            new_group: false,
            group_reporting: false,
            read_iolog: None,
            replay_no_stall: false,
            replay_scale: 1,
            replay_align: 0,
            replay_time_scale: 100,
            replay_skip: String::new(),
            latency_target: LatencyTarget { target_us: 0, window_us: 0, percentile: 100.0 },
            steadystate: None,
            ss_dur_us: 0,
            ss_ramp_us: 0,
            percentile_list: PERCENTILES.to_vec(),
        }
    }
}

/// The percentiles that fio shows by default (`options.c`).
pub const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// The names between colons; one behind a backslash is part of a name (`get_next_str`).
fn names(text: &str) -> Vec<String> {
    let mut chars = text.chars().peekable();
    let (mut names, mut name) = (Vec::new(), String::new());
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => name.extend(chars.next()),
            ':' => names.push(std::mem::take(&mut name)),
            _ => name.push(c),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}
/// Sets the given values, and keeps the others.
fn set<T: Copy>(all: &mut [T; 3], said: &Three<Number>, of: impl Fn(u64) -> T) {
    for (place, number) in all.iter_mut().zip(said) {
        if let Some(Number::Plain(number)) = number {
            *place = of(*number);
        }
    }
}
fn first(said: &Three<Number>) -> u64 {
    match said[0] {
        Some(Number::Plain(number) | Number::Percent(number)) => number,
        None => 0,
    }
}
fn room(said: &Three<Number>) -> Room {
    match said[0] {
        Some(Number::Plain(bytes)) => Room::Bytes(bytes),
        Some(Number::Percent(percent)) => Room::Percent(percent),
        None => Room::Unset,
    }
}

impl Settings {
    /// Sets the value of an option. Returns `None` if the value is wrong for this option, which is reported.
    pub(super) fn apply(
        &mut self,
        name: &'static str,
        value: Value,
        line: &Line,
        reader: &mut Reader<'_>,
    ) -> Option<()> {
        match value {
            Value::Text(text) => self.text(name, text, line, reader)?,
            Value::Word(word, rest) => self.word(name, word, rest.as_deref(), line, reader)?,
            Value::Numbers(numbers) if name == "cpumask" => {
                let mask = first(&numbers) as u32;
                if mask == 0 {
                    let (text, form) = (shown("0"), "a mask with the bit of a CPU");
                    reader.report(&Problem::BadForm { name, text, form }, &line.at);
                    return None;
                }
                self.cpus_allowed = (0..u32::BITS).filter(|cpu| mask >> cpu & 1 == 1).collect();
            }
            Value::Numbers(numbers) => self.numbers(name, &numbers),
            Value::Ranges(ranges) => {
                for (place, range) in self.bs_range.iter_mut().zip(ranges) {
                    *place = range.unwrap_or(*place);
                }
            }
            Value::Floats(floats) => match name {
                "percentile_list" => self.percentile_list = floats,
                "latency_percentile" => self.latency_target.percentile = floats[0],
                _ => {}
            },
            Value::Flag(yes) => self.flag(name, yes),
        }
        Some(())
    }

    fn flag(&mut self, name: &'static str, yes: bool) {
        let place = match name {
            "direct" => &mut self.direct,
            "buffered" => {
                self.direct = !yes;
                return;
            }
            "bs_unaligned" => &mut self.bs_unaligned,
            "bs_is_seq_rand" => &mut self.bs_is_seq_rand,
            "norandommap" => &mut self.norandommap,
            "time_based" => &mut self.time_based,
            "stonewall" => &mut self.stonewall,
            "new_group" => &mut self.new_group,
            "group_reporting" => &mut self.group_reporting,
            "replay_no_stall" => &mut self.replay_no_stall,
            _ => return,
        };
        *place = yes;
    }

    fn numbers(&mut self, name: &'static str, said: &Three<Number>) {
        let narrow = |number: u64| number as u32;
        match name {
            "iodepth" => self.iodepth = narrow(first(said)),
            "numjobs" => self.numjobs = narrow(first(said)),
            "nrfiles" => self.files.nrfiles = Some(narrow(first(said))),
            "loops" => self.loops = narrow(first(said)),
            "size" => self.size = room(said),
            "io_size" => self.io_size = room(said),
            "filesize" => self.filesize = first(said),
            "offset" => self.offset = room(said),
            "offset_increment" => self.offset_increment = room(said),
            "offset_align" => self.offset_align = first(said),
            "number_ios" => self.number_ios = first(said),
            "prio" => self.prio = narrow(first(said)),
            "prioclass" => self.prioclass = narrow(first(said)),
            "bs" => set(&mut self.bs, said, |bytes| bytes),
            "ba" => set(&mut self.blockalign, said, |bytes| bytes),
            "percentage_random" => set(&mut self.percentage_random, said, narrow),
            "rwmixread" => self.rwmixread = narrow(first(said)),
            "rwmixwrite" => self.rwmixread = narrow(WHOLE - first(said)),
            "thinktime" => self.thinktime_us = first(said),
            "thinktime_blocks" => self.thinktime_blocks = narrow(first(said)),
            "rate" => set(&mut self.rate, said, |rate| rate),
            "rate_iops" => set(&mut self.rate_iops, said, |rate| rate),
            "runtime" => self.runtime_us = first(said),
            "ramp_time" => self.ramp_time_us = first(said),
            "replay_scale" => self.replay_scale = first(said),
            "replay_align" => self.replay_align = first(said),
            "replay_time_scale" => self.replay_time_scale = first(said),
            "latency_target" => self.latency_target.target_us = first(said),
            "latency_window" => self.latency_target.window_us = first(said),
            "steadystate_duration" => self.ss_dur_us = first(said),
            "steadystate_ramp_time" => self.ss_ramp_us = first(said),
            _ => {}
        }
    }

    fn text(&mut self, name: &'static str, text: String, line: &Line, reader: &mut Reader<'_>) -> Option<()> {
        match name {
            "name" => self.name = Some(text),
            "filename" => self.files.filename = Some(text),
            "ioengine" => self.ioengine = text,
            "read_iolog" => self.read_iolog = Some(text),
            "replay_skip" => self.replay_skip = text,
            "bssplit" => return self.split(&text, line, reader),
            "cpus_allowed" => self.cpus_allowed = cpus(&text, name, line, reader)?,
            _ => {}
        }
        Some(())
    }

    fn word(
        &mut self,
        name: &'static str,
        word: &'static str,
        rest: Option<&str>,
        line: &Line,
        reader: &mut Reader<'_>,
    ) -> Option<()> {
        match (name, word) {
            ("rw", _) => {
                self.rw = Way::of(word);
                (self.random_after, self.gap) = (1, 0);
                let Some(rest) = rest else { return Some(()) };
                let form =
                    "a number behind the colon: I/Os to a random address, or the gap between sequential ones";
                let read = number::size(rest, reader.base);
                let Some(read) = read else {
                    reader.report(&Problem::BadForm { name, text: shown(rest), form }, &line.at);
                    return None;
                };
                if self.rw.random {
                    self.random_after = read.value as u32;
                } else {
                    self.gap = read.value as i64;
                }
            }
            ("rw_sequencer", "identical") => self.rw_sequencer = Sequencer::Identical,
            ("rw_sequencer", _) => self.rw_sequencer = Sequencer::Sequential,
            ("kb_base", word) => self.kb_base = if word == "1000" { 1000 } else { 1024 },
            ("thinktime_blocks_type", word) => self.thinktime_at_issue = word == "issue",
            ("cpus_allowed_policy", word) => self.cpus_split = word == "split",
            ("rate_process", word) => self.poisson = word == "poisson",
            ("random_distribution", word) => {
                self.random_distribution = distribution(word, rest, line, reader)?;
            }
            ("steadystate", word) => self.steadystate = Some(steady_state(word, rest, line, reader)?),
            _ => {}
        }
        Some(())
    }

    fn split(&mut self, text: &str, line: &Line, reader: &mut Reader<'_>) -> Option<()> {
        let name = "bssplit";
        let mut parts = text.trim().split(',');
        let lists: Vec<&str> = parts.by_ref().take(3).collect();
        for place in 0..3 {
            let list = lists.get(place).or(lists.last()).copied().unwrap_or_default();
            let shares = shares(list, name, false, MOST_SPLIT, line, reader)?;
            if shares.is_empty() {
                continue;
            }
            let given: u64 = shares.iter().filter_map(|(_, share)| *share).sum();
            let missing = shares.iter().filter(|(_, share)| share.is_none()).count() as u64;
            if given > WHOLE && missing > 0 {
                reader.report(&Problem::Shares { name, sum: given }, &line.at);
                return None;
            }
            if given != WHOLE && missing == 0 {
                reader.report(&Problem::OddShares { sum: given }, &line.at);
            }
            let rest = WHOLE.saturating_sub(given).checked_div(missing).unwrap_or(0);
            let mut list: Vec<Share> = shares
                .into_iter()
                .map(|(bytes, share)| (bytes, u32::try_from(share.unwrap_or(rest)).unwrap_or(u32::MAX)))
                .collect();
            let sizes = list.iter().map(|(bytes, _)| *bytes);
            let range = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
            if range.0 == 0 {
                let (least, most) = ("1".to_owned(), "what 63 bits hold".to_owned());
                reader.report(&Problem::OutOfRange { name, text: shown(text), least, most }, &line.at);
                return None;
            }
            list.sort_by_key(|(_, share)| *share);
            self.bs_range[place] = range;
            self.bssplit[place] = list;
        }
        Some(())
    }
}
