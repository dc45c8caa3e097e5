//! Does the page of a diagnostic about channels tell the truth? Its wrong example is reported, by its code alone; its
//! right one is not.
//!
//! An example is a fragment: sections that it leaves out are those of a small channel that has nothing wrong in it.

use lanetwin_document::{Diagnostic, codes, explain};
use lanetwin_link_lab::channel::{budget, check, eye};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const BASE: [(&str, &str); 4] = [
    // what is told here does not hang on a calibration, which takes a while
    ("stress", "stress: constants\n"),
    ("about", "about: Does it reach?\n"),
    ("gen", "gen: 5\n"),
    (
        "chain",
        "chain:\n  - package: root-gen5\n  - {board: low-loss, length: 8in}\n  - package: endpoint-gen5\n",
    ),
];

/// A lane without a pulse is refused for its data before (PH031), and a calibration that fails needs a library of its
/// own: `links.rs` has one.
const WITHOUT_EXAMPLES: [&str; 2] = ["CH013", "CH101"];

/// What `constants:` is a corrected copy of.
const CONSTANTS: &str = include_str!("../../phy/data/equalisation.yaml");

/// A line of 1 ns to 40 GHz, ports 1–2 and 3–4, one that lets nothing through, and constants, in a folder that goes
/// with the test.
struct Data(PathBuf);

impl Data {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("lanetwin-link-pages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, gain) in [("line", "0.9"), ("dark", "0")] {
            let mut text = String::from("# GHz S MA R 50\n");
            for step in 0..=4000 {
                let f = f64::from(step) * 0.01;
                let through = format!("{gain} {}", -360.0 * f);
                text += &format!(
                    "{f} 0 0 {through} 0 0 0 0\n {through} 0 0 0 0 0 0\n 0 0 0 0 0 0 {through}\n 0 0 0 0 {through} 0 0\n"
                );
            }
            std::fs::write(folder.join(name).with_extension("s4p"), text).expect("the data");
        }
        std::fs::write(folder.join("corrected.yaml"), CONSTANTS).expect("the constants");
        std::fs::write(folder.join("half.yaml"), &CONSTANTS[..CONSTANTS.len() / 2]).expect("half of them");
        Self(folder)
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn wrong_examples_are_reported_and_right_ones_are_not() {
    let data = Data::new();
    for (code, _) in codes().filter(|(code, _)| code.starts_with("CH") && !WITHOUT_EXAMPLES.contains(code)) {
        let page = explain(code).expect("every code has a page");
        let (wrong, right) = (found(page, "wrong", &data.0), found(page, "right", &data.0));
        assert!(!wrong.is_empty() && wrong.iter().all(|found| found == code), "{code}, wrong: {wrong:?}");
        assert_eq!(right, [""; 0], "{code}, right");
    }
}

/// The codes reported for the example `which` of a page.
fn found(page: &str, which: &str, folder: &Path) -> Vec<String> {
    let open = |line: &&str| line.starts_with("```") && line.ends_with(&format!(" {which}"));
    let mut lines = page.lines().skip_while(|line| !open(line));
    let fence = lines.next().unwrap_or_else(|| panic!("no example `{which}` in\n{page}"));
    let example: String =
        lines.take_while(|line| !line.starts_with("```")).map(|line| format!("{line}\n")).collect();
    let found: Vec<Diagnostic> = match check(&folder.join("link.yaml"), &complete(&example), &[]) {
        // what only the question reveals
        Ok(channel) if fence.contains("eye") => {
            eye(&channel, &mut |_| ControlFlow::Continue(())).err().unwrap_or_default()
        }
        Ok(channel) if fence.contains("budget") => {
            budget(&channel).map_or_else(|found| found, |told| told.warnings)
        }
        Ok(channel) => channel.warnings,
        Err(found) => found,
    };
    found.into_iter().map(|found| found.code.to_owned()).collect()
}

/// The fragment with the sections that it leaves out before it.
fn complete(fragment: &str) -> String {
    let absent = |name: &str| !fragment.lines().any(|line| line.starts_with(&format!("{name}:")));
    let sections: String = BASE.iter().filter(|(name, _)| absent(name)).map(|(_, text)| *text).collect();
    sections + fragment
}
