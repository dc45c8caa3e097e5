//! Claims, tables and scenarios, embedded at build time.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

use lanetwin_plan::Files;

/// The text of a file in an embedded folder, by its name without the extension.
///
/// # Panics
/// If there is no such file; the names are constants or stand in embedded files.
pub(crate) fn text(folder: &'static [(&str, &str)], stem: &str) -> &'static str {
    let found = folder.iter().find(|(name, _)| *name == stem);
    found.unwrap_or_else(|| panic!("there is no `{stem}`")).1
}

/// The text of a scenario or a channel, by its path below `scenarios/`.
pub(crate) fn scenario(path: &str) -> &'static str {
    let stem = path.strip_suffix(".yaml").expect("a scenario is YAML");
    match stem.split_once('/') {
        Some(("link", stem)) => text(CHANNELS, stem),
        Some((_, stem)) => text(LONG_SCENARIOS, stem),
        None => text(SCENARIOS, stem),
    }
}

/// The files that built-in scenarios refer to, by the paths that the scenarios use: with and without `../`.
pub(crate) fn files() -> Files {
    let jobs = JOB_FILES.iter().map(|(stem, text)| (format!("fio/{stem}.fio"), text));
    let specifications =
        ACCESS_SPECIFICATIONS.iter().map(|(stem, text)| (format!("iometer/{stem}.icf"), text));
    let both = |(name, text): (String, &&str)| {
        [(format!("../{name}"), (*text).to_owned()), (name, (*text).to_owned())]
    };
    Files::of(jobs.chain(specifications).flat_map(both).collect())
}
