//! The kinds of workload, one file each.
//!
//! To add a kind, add its file here and its name to the list below. Its cases are [`Load`](crate::plan::Load)s: by DMA,
//! of blocks (any type that implements [`Blocks`](crate::plan::Blocks)) or of memory.

use crate::kind::Kind;

/// Declares the modules of the kinds and the list of them.
macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        $(pub(crate) mod $name;)*

        /// Every kind, in the order of documentation.
        pub(crate) const KINDS: &[Kind] = &[$($name::KIND),*];
    };
}

kinds! {
    dma,
    block,
    network,
    rdma,
    fio,
    iometer,
    pts,
    memory,
    trace,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    /// Collects every file of Rust and Python that is not a test.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            let is_source = entry.extension().is_some_and(|end| end == "rs" || end == "py");
            match entry.is_dir() {
                true if !["tests", "target", "templates"].iter().any(|name| entry.ends_with(name)) => {
                    sources(&entry, found);
                }
                false if is_source => found.push(entry),
                _ => {}
            }
        }
    }

    /// A kind of workload is its own file, an entry in the list and, where it needs one, a source of requests with its
    /// entry in the crate of loads. No other file mentions it.
    #[test]
    fn a_kind_of_workload_is_known_in_four_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut all = Vec::new();
        ["crates", "python"].iter().for_each(|folder| sources(&root.join(folder), &mut all));
        let marks = ["TraceCase", "load::trace", "trace::Trace", "Replay::new", "mod trace;", "kinds::trace"];
        let knows = |file: &&PathBuf| {
            let text = std::fs::read_to_string(file).expect("a file");
            marks.iter().any(|mark| text.contains(mark))
        };
        let known = all.iter().filter(knows).map(|file| file.strip_prefix(&root).expect("below the root"));
        let known: BTreeSet<String> = known.map(|file| file.display().to_string()).collect();
        let places = ["load/src/lib.rs", "load/src/trace.rs", "plan/src/kinds.rs", "plan/src/kinds/trace.rs"];
        assert_eq!(known, places.map(|place| format!("crates/{place}")).into());
    }

    #[test]
    fn every_kind_has_a_name_of_its_own_and_a_file_key_that_it_declares() {
        let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
        for kind in KINDS {
            let declares = |key: &str| kind.keys.iter().any(|field| field.name == key);
            assert!(kind.file.is_none_or(|file| declares(file.key)), "{}", kind.name);
        }
    }
}
