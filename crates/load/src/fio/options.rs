//! The options of a job file: their names, the types of their values, and their effect on a simulation.
//!
//! Names, kinds, limits and words are those of fio 3.33 as Debian builds it (`options.c`; `fio --cmdhelp=all`).

use super::lines::Line;
use Kind::{Bool, Flag, Floats, Free, Ignored, Range, Removed, Room, Size, Split, Text, Time, Word};
use Role::{Modelled, Neutral, NotModelled};

/// The type of an option's value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// A text.
    Text,
    /// Text whose form is not checked; with some options it may be left out.
    Free {
        /// Whether the option may stand without a value.
        bare: bool,
    },
    /// One of these words, optionally with more after a colon.
    Word(&'static [&'static str]),
    /// Up to three sizes.
    Size {
        /// Bits of the stored value: 32 or 64.
        bits: u8,
    },
    /// Up to three times \[µs\].
    Time {
        /// Whether a number without a unit is in seconds.
        seconds: bool,
        /// Bits of the stored value: 32 or 64.
        bits: u8,
    },
    /// A size, a percentage, or a number of zones.
    Room,
    /// Up to three ranges of sizes.
    Range,
    /// Sizes with their shares.
    Split,
    /// A required number: 0 is no.
    Bool,
    /// A number, or no value for yes.
    Flag,
    /// Numbers with a fraction, separated by colons.
    Floats {
        /// Maximum number of them.
        most: usize,
        /// Smallest and largest value.
        range: Option<(f64, f64)>,
    },
    /// Rejected by fio.
    Removed,
    /// Accepted and ignored by fio.
    Ignored,
}

/// The effect of an option on a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It changes the I/Os, their times, or the results.
    Modelled,
    /// It has no effect on a simulated device: names, logs, seeds, memory, the clock.
    Neutral,
    /// It would have an effect on a real machine, but has none here.
    NotModelled,
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    pub name: &'static str,
    /// Its alias; empty if there is none.
    pub alias: &'static str,
    pub kind: Kind,
    /// Smallest and largest value, if it is limited.
    pub limits: Option<(i64, Option<u64>)>,
    pub role: Role,
}

const ANY: Option<(i64, Option<u64>)> = None;
const NO_MOST: u64 = u64::MAX;
/// From `least` to `most`.
const fn lim(least: i64, most: u64) -> Option<(i64, Option<u64>)> {
    Some((least, if most == NO_MOST { None } else { Some(most) }))
}
const fn option(
    name: &'static str,
    alias: &'static str,
    kind: Kind,
    limits: Option<(i64, Option<u64>)>,
    role: Role,
) -> Declared {
    Declared { name, alias, kind, limits, role }
}

/// The option of this name.
pub(super) fn find(name: &str) -> Option<&'static Declared> {
    OPTIONS.iter().find(|option| option.name == name || (!option.alias.is_empty() && option.alias == name))
}
/// The option with the most similar name, if that is close.
pub(super) fn near(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 40;
    let most = (name.chars().count() / 3).max(1);
    let names = OPTIONS.iter().flat_map(|option| [option.name, option.alias]).filter(|n| !n.is_empty());
    let near = names.map(|known| (distance(name, known), known)).min()?;
    (name.len() <= LONGEST && near.0 <= most).then_some(near.1)
}
/// Edit distance: insertions, deletions and changes of letters that turn one word into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let changed = corner + usize::from(a != *b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}
/// The order in which options are read: those that affect the reading of others first, names of files last.
pub(super) fn priority(name: &str) -> i8 {
    match find(name).map(|option| option.name) {
        Some("kb_base" | "unit_base" | "lockfile" | "replay_align" | "cpus_allowed_policy") => 0,
        Some("filename" | "filename_format") => 2,
        _ => 1,
    }
}

/// Values with which an option that is not modelled asks for what is simulated anyway.
const AS_SIMULATED: &[(&str, &[&str])] = &[
    ("buffered", &["0"]),
    ("continue_on_error", &["none", "0"]),
    ("end_fsync", &["0"]),
    ("fdatasync", &["0"]),
    ("file_service_type", &["roundrobin"]),
    ("fsync", &["0"]),
    ("fsync_on_close", &["0"]),
    ("io_submit_mode", &["inline"]),
    ("iodepth_batch", &["1"]),
    ("sync", &["0", "none"]),
    ("verify", &["0"]),
    ("zonemode", &["none"]),
];

/// Whether the value of an option that is not modelled changes nothing.
pub(super) fn is_as_simulated(line: &Line) -> bool {
    let word = line.value.as_deref().unwrap_or_default().split(':').next().unwrap_or_default().trim();
    let name = find(&line.name).map(|option| option.name);
    AS_SIMULATED.iter().any(|(option, words)| Some(*option) == name && words.contains(&word))
}

/// The options, sorted by name.
const OPTIONS: &[Declared] = &[
    option("allow_file_create", "", Bool, ANY, Neutral),
    option("allow_mounted_write", "", Bool, ANY, Neutral),
    option("allrandrepeat", "", Bool, ANY, Neutral),
    option("atomic", "", Bool, ANY, NotModelled),
    option("ba", "blockalign", Size { bits: 64 }, lim(1, NO_MOST), Modelled),
    option("block_error_percentiles", "", Bool, ANY, NotModelled),
    option("bs", "blocksize", Size { bits: 64 }, lim(1, NO_MOST), Modelled),
    option("bs_is_seq_rand", "", Bool, ANY, Modelled),
    option("bs_unaligned", "blocksize_unaligned", Flag, ANY, Modelled),
    option("bsrange", "blocksize_range", Range, lim(1, NO_MOST), Modelled),
    option("bssplit", "", Split, ANY, Modelled),
    option("buffer_compress_chunk", "", Size { bits: 32 }, ANY, NotModelled),
    option("buffer_compress_percentage", "", Size { bits: 32 }, lim(0, 100), NotModelled),
    option("buffer_pattern", "", Free { bare: false }, ANY, NotModelled),
    option("buffered", "", Bool, ANY, NotModelled),
    option("bwavgtime", "", Size { bits: 32 }, ANY, Neutral),
    option("cgroup", "", Text, ANY, NotModelled),
    option("cgroup_nodelete", "", Bool, ANY, NotModelled),
    option("cgroup_weight", "", Size { bits: 32 }, lim(100, 1000), NotModelled),
    option("clat_percentiles", "", Bool, ANY, Neutral),
    option("clocksource", "", Word(&["gettimeofday", "clock_gettime", "cpu"]), ANY, Neutral),
    option(
        "continue_on_error",
        "",
        Word(&["none", "read", "write", "io", "verify", "all", "0", "1"]),
        ANY,
        NotModelled,
    ),
    option("cpumask", "", Size { bits: 32 }, ANY, Modelled),
    option("cpus_allowed", "", Free { bare: true }, ANY, Modelled),
    option("cpus_allowed_policy", "", Word(&["shared", "split"]), ANY, Modelled),
    option("create_fsync", "", Bool, ANY, Neutral),
    option("create_on_open", "", Bool, ANY, Neutral),
    option("create_only", "", Bool, ANY, NotModelled),
    option("create_serialize", "", Bool, ANY, Neutral),
    option("dedupe_global", "", Bool, ANY, NotModelled),
    option("dedupe_mode", "", Word(&["repeat", "working_set"]), ANY, NotModelled),
    option("dedupe_percentage", "", Size { bits: 32 }, lim(0, 100), NotModelled),
    option("dedupe_working_set_percentage", "", Size { bits: 32 }, lim(0, 100), NotModelled),
    option("description", "", Text, ANY, Neutral),
    option("direct", "", Bool, ANY, Neutral),
    option("directory", "", Text, ANY, Neutral),
    option("disable_bw_measurement", "disable_bw", Bool, ANY, Neutral),
    option("disable_clat", "", Bool, ANY, Neutral),
    option("disable_lat", "", Bool, ANY, Neutral),
    option("disable_slat", "", Bool, ANY, Neutral),
    option("disk_util", "", Bool, ANY, Neutral),
    option("do_verify", "", Bool, ANY, Neutral),
    option("end_fsync", "", Bool, ANY, NotModelled),
    option("error_dump", "", Bool, ANY, Neutral),
    option("exec_postrun", "", Text, ANY, NotModelled),
    option("exec_prerun", "", Text, ANY, NotModelled),
    option("exit_what", "", Word(&["group", "stonewall", "all"]), ANY, Neutral),
    option("exitall", "", Flag, ANY, Neutral),
    option("exitall_on_error", "", Flag, ANY, Neutral),
    option("experimental_verify", "", Bool, ANY, NotModelled),
    option("fadvise_hint", "", Word(&["0", "1", "random", "sequential"]), ANY, Neutral),
    option("fallocate", "", Word(&["none", "native", "posix", "keep", "truncate", "0", "1"]), ANY, Neutral),
    option("fdatasync", "", Size { bits: 32 }, ANY, NotModelled),
    option("file_append", "", Bool, ANY, NotModelled),
    option(
        "file_service_type",
        "",
        Word(&["random", "zipf", "pareto", "normal", "gauss", "roundrobin", "sequential"]),
        ANY,
        NotModelled,
    ),
    option("filename", "", Text, ANY, Neutral),
    option("filename_format", "", Text, ANY, Neutral),
    option("filesize", "", Size { bits: 64 }, lim(1, NO_MOST), Modelled),
    option("fill_device", "fill_fs", Bool, ANY, Neutral),
    option("flow", "", Size { bits: 32 }, lim(0, 1000), NotModelled),
    option("flow_id", "", Size { bits: 32 }, ANY, NotModelled),
    option("flow_sleep", "", Size { bits: 32 }, ANY, NotModelled),
    option("flow_watermark", "", Ignored, ANY, NotModelled),
    option("fsync", "", Size { bits: 32 }, ANY, NotModelled),
    option("fsync_on_close", "", Bool, ANY, NotModelled),
    option("gid", "", Size { bits: 32 }, ANY, Neutral),
    option("group_reporting", "", Flag, ANY, Modelled),
    option("gtod_cpu", "", Size { bits: 32 }, ANY, Neutral),
    option("gtod_reduce", "", Bool, ANY, Neutral),
    option("hugepage-size", "", Size { bits: 32 }, ANY, Neutral),
    option("ignore_error", "", Free { bare: true }, ANY, NotModelled),
    option("ignore_zone_limits", "", Bool, ANY, NotModelled),
    option("invalidate", "", Bool, ANY, Neutral),
    option("io_size", "io_limit", Room, ANY, Modelled),
    option("io_submit_mode", "", Word(&["inline", "offload"]), ANY, NotModelled),
    option("iodepth", "", Size { bits: 32 }, lim(1, NO_MOST), Modelled),
    option("iodepth_batch", "iodepth_batch_submit", Size { bits: 32 }, ANY, NotModelled),
    option("iodepth_batch_complete_max", "", Size { bits: 32 }, ANY, NotModelled),
    option("iodepth_batch_complete_min", "iodepth_batch_complete", Size { bits: 32 }, ANY, NotModelled),
    option("iodepth_low", "", Size { bits: 32 }, ANY, NotModelled),
    option("ioengine", "", Text, ANY, Neutral),
    option("iomem_align", "mem_align", Size { bits: 32 }, ANY, Neutral),
    option("iopsavgtime", "", Size { bits: 32 }, ANY, Neutral),
    option("ioscheduler", "", Text, ANY, NotModelled),
    option("job_max_open_zones", "", Size { bits: 32 }, lim(0, 4096), NotModelled),
    option("kb_base", "", Word(&["1024", "1000"]), ANY, Modelled),
    option("lat_percentiles", "", Bool, ANY, Neutral),
    option("latency_percentile", "", Floats { most: 1, range: Some((0.0, 100.0)) }, ANY, Modelled),
    option("latency_run", "", Bool, ANY, NotModelled),
    option("latency_target", "", Time { seconds: false, bits: 64 }, ANY, Modelled),
    option("latency_window", "", Time { seconds: false, bits: 64 }, ANY, Modelled),
    option("lockfile", "", Word(&["none", "exclusive", "readwrite"]), ANY, Neutral),
    option("lockmem", "", Size { bits: 64 }, ANY, NotModelled),
    option("log_alternate_epoch", "", Bool, ANY, NotModelled),
    option("log_alternate_epoch_clock_id", "", Size { bits: 32 }, ANY, NotModelled),
    option("log_avg_msec", "", Size { bits: 32 }, ANY, Neutral),
    option("log_compression", "", Size { bits: 32 }, lim(1024, 536_870_912), NotModelled),
    option("log_compression_cpus", "", Free { bare: true }, ANY, NotModelled),
    option("log_entries", "", Size { bits: 32 }, lim(1024, 1_048_576), Neutral),
    option("log_hist_coarseness", "", Size { bits: 32 }, ANY, Neutral),
    option("log_hist_msec", "", Size { bits: 32 }, ANY, Neutral),
    option("log_max_value", "", Bool, ANY, Neutral),
    option("log_offset", "", Bool, ANY, Neutral),
    option("log_prio", "", Bool, ANY, Neutral),
    option("log_store_compressed", "", Bool, ANY, NotModelled),
    option("log_unix_epoch", "", Bool, ANY, NotModelled),
    option("loops", "", Size { bits: 32 }, ANY, Modelled),
    option("max_latency", "", Time { seconds: false, bits: 64 }, ANY, NotModelled),
    option("max_open_zones", "", Size { bits: 32 }, lim(0, 4096), NotModelled),
    option(
        "mem",
        "iomem",
        Word(&["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge", "cudamalloc"]),
        ANY,
        Neutral,
    ),
    option("merge_blktrace_file", "", Text, ANY, NotModelled),
    option("merge_blktrace_iters", "", Floats { most: 20, range: None }, ANY, NotModelled),
    option("merge_blktrace_scalars", "", Floats { most: 20, range: None }, ANY, NotModelled),
    option("name", "", Text, ANY, Modelled),
    option("new_group", "", Flag, ANY, Modelled),
    option("nice", "", Size { bits: 32 }, lim(-20, 19), NotModelled),
    option("norandommap", "", Flag, ANY, Modelled),
    option("nrfiles", "nr_files", Size { bits: 32 }, ANY, Neutral),
    option("numa_cpu_nodes", "", Free { bare: true }, ANY, NotModelled),
    option("numa_mem_policy", "", Free { bare: true }, ANY, NotModelled),
    option("number_ios", "", Size { bits: 64 }, ANY, Modelled),
    option("numjobs", "", Size { bits: 32 }, ANY, Modelled),
    option("offset", "fileoffset", Room, ANY, Modelled),
    option("offset_align", "", Size { bits: 32 }, ANY, Modelled),
    option("offset_increment", "", Room, ANY, Modelled),
    option("opendir", "", Text, ANY, Neutral),
    option("openfiles", "", Size { bits: 32 }, ANY, NotModelled),
    option("overwrite", "", Bool, ANY, Neutral),
    option("per_job_logs", "", Bool, ANY, Neutral),
    option("percentage_random", "", Size { bits: 32 }, lim(0, 100), Modelled),
    option("percentage_sequential", "", Removed, ANY, NotModelled),
    option("percentile_list", "", Floats { most: 20, range: Some((0.0, 100.0)) }, ANY, Modelled),
    option("pre_read", "", Bool, ANY, NotModelled),
    option("prio", "", Size { bits: 32 }, lim(0, 7), Modelled),
    option("prioclass", "", Size { bits: 32 }, lim(0, 3), Modelled),
    option("profile", "", Text, ANY, NotModelled),
    option("ramp_time", "", Time { seconds: true, bits: 64 }, ANY, Modelled),
    option(
        "random_distribution",
        "",
        Word(&["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"]),
        ANY,
        Modelled,
    ),
    option("random_generator", "", Word(&["tausworthe", "lfsr", "tausworthe64"]), ANY, Neutral),
    option("randrepeat", "", Bool, ANY, Neutral),
    option("randseed", "", Size { bits: 64 }, ANY, Neutral),
    option("rate", "", Size { bits: 64 }, ANY, Modelled),
    option("rate_cycle", "ratecycle", Size { bits: 32 }, ANY, NotModelled),
    option("rate_ignore_thinktime", "", Bool, ANY, NotModelled),
    option("rate_iops", "", Size { bits: 32 }, ANY, Modelled),
    option("rate_iops_min", "", Size { bits: 32 }, ANY, NotModelled),
    option("rate_min", "ratemin", Size { bits: 64 }, ANY, NotModelled),
    option("rate_process", "", Word(&["linear", "poisson"]), ANY, Modelled),
    option("read_beyond_wp", "", Bool, ANY, NotModelled),
    option("read_iolog", "", Text, ANY, Modelled),
    option("read_iolog_chunked", "", Bool, ANY, NotModelled),
    option("refill_buffers", "", Flag, ANY, Neutral),
    option("replay_align", "", Size { bits: 32 }, ANY, Modelled),
    option("replay_no_stall", "", Bool, ANY, Modelled),
    option("replay_redirect", "", Text, ANY, NotModelled),
    option("replay_scale", "", Size { bits: 32 }, ANY, Modelled),
    option("replay_skip", "", Free { bare: true }, ANY, NotModelled),
    option("replay_time_scale", "", Size { bits: 32 }, lim(1, NO_MOST), Modelled),
    option("runtime", "timeout", Time { seconds: true, bits: 64 }, ANY, Modelled),
    option(
        "rw",
        "readwrite",
        Word(&[
            "read",
            "write",
            "trim",
            "randread",
            "randwrite",
            "randtrim",
            "rw",
            "readwrite",
            "randrw",
            "trimwrite",
            "randtrimwrite",
        ]),
        ANY,
        Modelled,
    ),
    option("rw_sequencer", "", Word(&["sequential", "identical"]), ANY, Modelled),
    option("rwmixcycle", "", Removed, ANY, NotModelled),
    option("rwmixread", "", Size { bits: 32 }, lim(0, 100), Modelled),
    option("rwmixwrite", "", Size { bits: 32 }, lim(0, 100), Modelled),
    option("scramble_buffers", "", Bool, ANY, Neutral),
    option("serialize_overlap", "", Bool, ANY, NotModelled),
    option("significant_figures", "", Size { bits: 32 }, lim(1, 10), Neutral),
    option("size", "", Room, ANY, Modelled),
    option("slat_percentiles", "", Bool, ANY, Neutral),
    option("softrandommap", "", Bool, ANY, Neutral),
    option("startdelay", "", Time { seconds: true, bits: 64 }, ANY, NotModelled),
    option("stats", "", Bool, ANY, Neutral),
    option("steadystate", "ss", Word(&["iops", "iops_slope", "bw", "bw_slope"]), ANY, Modelled),
    option("steadystate_duration", "ss_dur", Time { seconds: true, bits: 64 }, ANY, Modelled),
    option("steadystate_ramp_time", "ss_ramp", Time { seconds: true, bits: 64 }, ANY, NotModelled),
    option("stonewall", "wait_for_previous", Flag, ANY, Modelled),
    option("sync", "", Word(&["none", "0", "sync", "1", "dsync"]), ANY, NotModelled),
    option("sync_file_range", "", Word(&["wait_before", "write", "wait_after"]), ANY, NotModelled),
    option("thinktime", "", Time { seconds: false, bits: 32 }, ANY, Modelled),
    option("thinktime_blocks", "", Size { bits: 32 }, ANY, Modelled),
    option("thinktime_blocks_type", "", Word(&["complete", "issue"]), ANY, Modelled),
    option("thinktime_iotime", "", Time { seconds: true, bits: 32 }, ANY, NotModelled),
    option("thinktime_spin", "", Time { seconds: false, bits: 32 }, ANY, Modelled),
    option("thread", "", Flag, ANY, Neutral),
    option("time_based", "", Flag, ANY, Modelled),
    option("trim_backlog", "", Size { bits: 64 }, ANY, NotModelled),
    option("trim_backlog_batch", "", Size { bits: 32 }, ANY, NotModelled),
    option("trim_percentage", "", Size { bits: 32 }, lim(0, 100), NotModelled),
    option("trim_verify_zero", "", Bool, ANY, NotModelled),
    option("uid", "", Size { bits: 32 }, ANY, Neutral),
    option("unified_rw_reporting", "", Word(&["none", "mixed", "both", "0", "1", "2"]), ANY, NotModelled),
    option("unique_filename", "", Bool, ANY, Neutral),
    option("unit_base", "", Word(&["0", "8", "1"]), ANY, Neutral),
    option("unlink", "", Bool, ANY, Neutral),
    option("unlink_each_loop", "", Bool, ANY, NotModelled),
    option(
        "verify",
        "",
        Word(&[
            "0",
            "md5",
            "crc64",
            "crc32",
            "crc32c-intel",
            "crc32c",
            "crc16",
            "crc7",
            "sha1",
            "sha256",
            "sha512",
            "sha3-224",
            "sha3-256",
            "sha3-384",
            "sha3-512",
            "xxhash",
            "meta",
            "pattern",
            "null",
        ]),
        ANY,
        NotModelled,
    ),
    option("verify_async", "", Size { bits: 32 }, ANY, NotModelled),
    option("verify_async_cpus", "", Free { bare: true }, ANY, NotModelled),
    option("verify_backlog", "", Size { bits: 64 }, ANY, NotModelled),
    option("verify_backlog_batch", "", Size { bits: 32 }, ANY, NotModelled),
    option("verify_dump", "", Bool, ANY, NotModelled),
    option("verify_fatal", "", Bool, ANY, NotModelled),
    option("verify_interval", "", Size { bits: 32 }, lim(80, NO_MOST), NotModelled),
    option("verify_offset", "", Size { bits: 32 }, lim(40, NO_MOST), NotModelled),
    option("verify_only", "", Flag, ANY, NotModelled),
    option("verify_pattern", "", Free { bare: false }, ANY, NotModelled),
    option("verify_state_load", "", Bool, ANY, NotModelled),
    option("verify_state_save", "", Bool, ANY, NotModelled),
    option("verifysort", "", Ignored, ANY, NotModelled),
    option("verifysort_nr", "", Ignored, ANY, NotModelled),
    option("wait_for", "", Text, ANY, NotModelled),
    option("write_barrier", "", Size { bits: 32 }, ANY, NotModelled),
    option("write_bw_log", "", Free { bare: true }, ANY, Neutral),
    option("write_hint", "", Word(&["none", "short", "medium", "long", "extreme"]), ANY, NotModelled),
    option("write_hist_log", "", Free { bare: true }, ANY, Neutral),
    option("write_iolog", "", Text, ANY, Neutral),
    option("write_iops_log", "", Free { bare: true }, ANY, Neutral),
    option("write_lat_log", "", Free { bare: true }, ANY, Neutral),
    option("zero_buffers", "", Flag, ANY, Neutral),
    option("zone_reset_frequency", "", Floats { most: 1, range: Some((0.0, 1.0)) }, ANY, NotModelled),
    option("zone_reset_threshold", "", Floats { most: 1, range: Some((0.0, 1.0)) }, ANY, NotModelled),
    option("zonecapacity", "", Size { bits: 64 }, ANY, NotModelled),
    option("zonemode", "", Word(&["none", "strided", "zbd"]), ANY, NotModelled),
    option("zonerange", "", Size { bits: 64 }, ANY, NotModelled),
    option("zonesize", "", Size { bits: 64 }, ANY, NotModelled),
    option("zoneskip", "", Room, ANY, NotModelled),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend_and_aliases_are_nobody_elses() {
        assert!(OPTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for option in OPTIONS.iter().filter(|option| !option.alias.is_empty()) {
            assert!(OPTIONS.iter().all(|other| other.name != option.alias), "{}", option.alias);
            assert_eq!(find(option.alias).map(|found| found.name), Some(option.name));
        }
    }
}
