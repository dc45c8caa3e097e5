//! No source file or folder has a name that says nothing about its contents, such as `util`.

use super::Breach;
use crate::workspace::Workspace;

const BANNED: [&str; 9] =
    ["util", "utils", "common", "manager", "managers", "helper", "helpers", "misc", "base"];

/// Source files and folders with a catch-all name.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let source = |path: &&String| path.ends_with(".rs") || path.ends_with(".py");
    workspace
        .files
        .keys()
        .filter(source)
        .filter_map(|path| {
            let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
            let word =
                stem.split('/').find(|part| part.split(['_', '-']).any(|word| BANNED.contains(&word)))?;
            Some(Breach::of(path, format!("`{word}` does not say what is inside; name its subject")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    #[test]
    fn catch_all_names_are_breaches_wherever_they_stand() {
        for path in ["crates/a/src/util.rs", "python/lanetwin/helpers/x.py", "crates/nvme_common/src/lib.rs"]
        {
            assert_eq!(breaches(&tree([(path, "")])).len(), 1, "{path}");
        }
        assert_eq!(
            said(&breaches(&tree([("src/misc.rs", "")]))),
            ["src/misc.rs: `misc` does not say what is inside; name its subject"]
        );
    }

    #[test]
    fn names_that_only_contain_the_letters_pass() {
        for path in ["crates/a/src/commonplace.rs", "python/lanetwin/utilisation.py", "docs/common.md"] {
            assert_eq!(breaches(&tree([(path, "")])), [], "{path}");
        }
    }
}
