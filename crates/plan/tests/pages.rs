//! Does the page of a diagnostic tell the truth? Its wrong example is reported, by its code alone; its right one is
//! not.
//!
//! An example is a fragment: sections that it leaves out are those of a small scenario that has nothing wrong in it.

use lanetwin_document::{codes, explain};
use lanetwin_plan::sweep::{Asked, design_of};
use lanetwin_plan::{Catalogue, check};
use std::path::Path;

const BASE: [(&str, &str); 4] = [
    ("about", "about: What does this card get out of this slot?\n"),
    ("machine", "machine:\n  host: {part: generic-host-gen4}\n  card: {part: generic-dma-gen5}\n"),
    ("links", "links:\n  slot: {from: host, to: card}\n"),
    ("workloads", "workloads:\n  read: {dma: {size: 64B}, on: card}\n"),
];

/// What has no example that could be run: the absence of a file, a file beside another.
const WITHOUT_EXAMPLES: [&str; 2] = ["SC002", "SC105"];

#[test]
fn wrong_examples_are_reported_and_right_ones_are_not() {
    let families = ["SC", "SV", "SW"];
    let is_ours = |code: &&str| families.iter().any(|family| code.starts_with(family));
    for (code, _) in codes().filter(|(code, _)| is_ours(code) && !WITHOUT_EXAMPLES.contains(code)) {
        let page = explain(code).expect("every code has a page");
        let (wrong, right) = (found(page, "wrong"), found(page, "right"));
        assert!(!wrong.is_empty() && wrong.iter().all(|found| found == code), "{code}, wrong: {wrong:?}");
        assert_eq!(right, [""; 0], "{code}, right");
    }
}

/// The codes reported for the example `which` of a page.
fn found(page: &str, which: &str) -> Vec<String> {
    let open = |line: &&str| line.starts_with("```") && line.ends_with(&format!(" {which}"));
    let mut lines = page.lines().skip_while(|line| !open(line));
    let fence = lines.next().unwrap_or_else(|| panic!("no example `{which}` in\n{page}"));
    let example: String =
        lines.take_while(|line| !line.starts_with("```")).map(|line| format!("{line}\n")).collect();
    let diagnostics = match fence.trim_start_matches("```").split(' ').next() {
        Some("sh") if example.contains("--vary") => return varied(&example),
        Some("sh") => {
            let set = example.trim().strip_prefix("--set ").expect("an example of --set").to_owned();
            check(Path::new("scenario.yaml"), &complete(""), &[set], &Catalogue::built_in()).diagnostics
        }
        _ if fence.contains(" part ") => part(&example),
        _ => lanetwin_plan::check_text(&complete(&example)),
    };
    diagnostics.into_iter().map(|found| found.code.to_owned()).collect()
}

/// The codes reported for an example of `lanetwin sweep`.
fn varied(example: &str) -> Vec<String> {
    let text = example.trim().strip_prefix("--vary ").expect("an example of --vary").to_owned();
    let asked = Asked { vary: vec![text], ..Asked::default() };
    let found = design_of("scenario.yaml", &complete(""), &asked).err().unwrap_or_default();
    found.into_iter().map(|found| found.code.to_owned()).collect()
}

/// The fragment with the sections that it leaves out before it.
fn complete(fragment: &str) -> String {
    let absent = |name: &str| !fragment.lines().any(|line| line.starts_with(&format!("{name}:")));
    let sections: String = BASE.iter().filter(|(name, _)| absent(name)).map(|(_, text)| *text).collect();
    sections + fragment
}

/// What is wrong with a part file `my-host.yaml`, read as a user's.
fn part(text: &str) -> Vec<lanetwin_document::Diagnostic> {
    let folder = std::env::temp_dir().join(format!("lanetwin-pages-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("parts")).expect("a folder for the part");
    std::fs::write(folder.join("parts/my-host.yaml"), text).expect("the part");
    let found = Catalogue::beside(Some(&folder.join("scenario.yaml"))).1;
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    found
}

#[test]
fn the_base_of_the_examples_is_right() {
    assert_eq!(lanetwin_plan::check_text(&complete("")), []);
}
