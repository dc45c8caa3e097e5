//! `new-model`: writes the file of a new model, and adds its name to the list of models.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// The template. The models crate compiles it for tests, and a test of the world runs it, so that a new model works.
const TEMPLATE: &str = include_str!("../templates/model.rs");
const FOLDER: &str = "crates/models/src";

/// Writes `crates/models/src/NAME.rs` and adds the name to the list `models! { … }`.
pub fn run(root: &Path, name: &str) -> Result<()> {
    let module = module_name(name)?;
    let file = root.join(FOLDER).join(format!("{module}.rs"));
    ensure!(!file.exists(), "{} exists already", file.display());
    let list = root.join(FOLDER).join("lib.rs");
    let text = std::fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let longer = add_word(&text, &module)?;
    workspace::write(&file, &fill(&module))?;
    workspace::write(&list, &longer)?;
    println!(
        "wrote {FOLDER}/{module}.rs and added `{module}` to {FOLDER}/lib.rs; now give it ports and behaviour"
    );
    Ok(())
}

/// The name of the module: `fixed_latency` for `fixed-latency` or `fixed_latency`.
fn module_name(name: &str) -> Result<String> {
    let module = name.replace('-', "_");
    let letters = module.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    ensure!(
        letters && module.starts_with(|c: char| c.is_ascii_lowercase()),
        "`{name}` is not a model's name: lower-case words, parted by `-`, such as `fixed-latency`"
    );
    Ok(module)
}

/// The template for a model of this module name.
fn fill(module: &str) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let type_name: String = module.split('_').filter(|word| !word.is_empty()).map(capital).collect();
    TEMPLATE.replace("TemplateModel", &type_name).replace("template-model", &module.replace('_', "-"))
}

/// The source with `word` added to its list `models! { … }`, before the first word that follows it alphabetically.
fn add_word(text: &str, word: &str) -> Result<String> {
    let (head, body, tail) =
        split_list(text).context("crates/models/src/lib.rs has no list `models! { … }`")?;
    let known = |line: &str| line.split("//").next().unwrap_or_default().split(',').any(|w| w.trim() == word);
    ensure!(!body.lines().any(known), "`{word}` is in the list already");
    let body = if body.contains('\n') { add_line(body, word) } else { add_between(body, word) };
    Ok(format!("{head}{body}{tail}"))
}

/// The text before, between and after the braces of the first call `models! { … }`.
fn split_list(text: &str) -> Option<(&str, &str, &str)> {
    let call = text.match_indices("models!").map(|(at, _)| at).find(|&at| starts_a_line(text, at))?;
    let open = call + text[call..].find('{')? + 1;
    let close = open + text[open..].find('}')?;
    Some((&text[..open], &text[open..close], &text[close..]))
}

fn starts_a_line(text: &str, at: usize) -> bool {
    text[..at].rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}

/// Adds a word to a list with one word in each line, each with a comma.
fn add_line(body: &str, word: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    let is_word = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_lowercase());
    let later = lines.iter().position(|line| is_word(line) && line.trim_start() > word);
    let end = lines.iter().rposition(|line| is_word(line)).map_or(1, |last| last + 1);
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    lines.insert(later.unwrap_or(end), format!("    {word},"));
    lines.join("\n") + if body.ends_with('\n') { "\n" } else { "" }
}

/// Adds a word to a list on one line.
fn add_between(body: &str, word: &str) -> String {
    let mut words: Vec<&str> = body.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|known| *known > word).unwrap_or(words.len());
    words.insert(at, word);
    format!(" {} ", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new model is one file, and one line in the list; nothing else changes.
    #[test]
    fn a_new_model_is_one_file_and_one_word() {
        let root = std::env::temp_dir().join(format!("lanetwin-new-model-{}", std::process::id()));
        let folder = root.join(FOLDER);
        std::fs::create_dir_all(&folder).unwrap();
        let before = "models! {\n    disk,\n    null_disk,\n}\n";
        std::fs::write(folder.join("lib.rs"), before).unwrap();
        run(&root, "metered").unwrap();
        let mut files: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        files.sort();
        assert_eq!(files, ["lib.rs", "metered.rs"]);
        let after = std::fs::read_to_string(folder.join("lib.rs")).unwrap();
        assert_eq!(after, before.replace("    disk,\n", "    disk,\n    metered,\n"));
        let written = std::fs::read_to_string(folder.join("metered.rs")).unwrap();
        assert!(written.contains("name: \"metered\"") && written.contains("struct Metered"), "{written}");
        assert!(run(&root, "metered").is_err(), "what exists is not written over");
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_name_becomes_a_module_and_a_type() {
        assert_eq!(module_name("fixed-latency").unwrap(), "fixed_latency");
        for bad in ["", "Disk", "9p", "../x", "a b"] {
            assert!(module_name(bad).is_err(), "{bad}");
        }
        let text = fill("fixed_latency");
        assert!(text.contains("struct FixedLatency") && text.contains("\"fixed-latency\""), "{text}");
        assert!(!text.to_lowercase().contains("template"), "{text}");
    }

    #[test]
    fn the_word_joins_the_list_in_its_place() {
        let long = "macro_rules! models { () => {} }\nmodels! {\n    disk, // spins\n    host,\n}\n";
        let expected = |words: &str| format!("macro_rules! models {{ () => {{}} }}\nmodels! {{\n{words}}}\n");
        let with = |word| add_word(long, word).unwrap();
        assert_eq!(with("fan"), expected("    disk, // spins\n    fan,\n    host,\n"));
        assert_eq!(with("null"), expected("    disk, // spins\n    host,\n    null,\n"));
        assert_eq!(with("card"), expected("    card,\n    disk, // spins\n    host,\n"));
        assert_eq!(add_word("models! { a, c }", "b").unwrap(), "models! { a, b, c }");
    }

    #[test]
    fn a_word_twice_or_no_list_is_an_error() {
        assert!(add_word("models! { a, b }", "b").is_err());
        assert!(add_word("models! {\n    a,\n    b, // x\n}", "b").is_err());
        assert!(add_word("mod a;", "b").is_err());
    }
}
