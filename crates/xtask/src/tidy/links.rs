//! The targets of links between the documents of the repository exist.

use super::Breach;
use crate::markdown;
use crate::workspace::{self, Workspace};

/// Relative links in Markdown whose target is not a file or folder of the repository.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let mut found = Vec::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| path.ends_with(".md")) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, link) in markdown::links(text) {
            let target = link.split('#').next().unwrap_or_default();
            let outside = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !outside
                && !workspace::resolve(folder, target).is_some_and(|target| exists(workspace, &target))
            {
                found.push(Breach::at(path, line, format!("the link to `{link}` leads nowhere")));
            }
        }
    }
    found
}

fn exists(workspace: &Workspace, target: &str) -> bool {
    let folder = format!("{target}/");
    workspace.files.keys().any(|path| path == target || path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(text: &str) -> Vec<String> {
        said(&breaches(&tree([("docs/a.md", text), ("docs/deep/b.md", ""), ("README.md", "")])))
    }

    #[test]
    fn good_links_are_silent() {
        let text = "[a](deep/b.md#top) [b](../README.md) [c](deep/) [d](#here) [e](https://example.org/x)";
        assert_eq!(judge(text), [""; 0]);
    }

    #[test]
    fn dead_links_and_links_that_leave_the_tree_are_breaches() {
        assert_eq!(judge("\n[a](b.md)"), ["docs/a.md:2: the link to `b.md` leads nowhere"]);
        assert_eq!(
            judge("[a](../../README.md)"),
            ["docs/a.md:1: the link to `../../README.md` leads nowhere"]
        );
    }
}
