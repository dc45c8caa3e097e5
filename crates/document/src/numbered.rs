//! Numbered names: `ssd1..4` stands for `ssd1`, `ssd2`, `ssd3`, `ssd4`, so that many equal components take one line.
//!
//! An entry with a numbered key becomes one entry for each name. Inside it, numbered values with as many names are
//! paired with the key: `bay1..4: {from: box, to: ssd1..4}` is four links to four drives. Anywhere else a numbered
//! value is a list: `target: ssd1..4`. All are expanded before anything else is read, so that paths address one of them
//! (`links.bay3.width`) or several (`links.bay1..3.width`).

use crate::fields::{is_name, join};
use crate::node::{Entry, Kind, Node, Spot};
use crate::problem::{Problem, Reports};

/// Maximum number of names that a numbered name stands for.
const NAMES_MAX: u64 = 1024;

/// Sections whose entries and values may be numbered.
const SECTIONS: [&str; 6] = ["machine", "links", "partitions", "subsystems", "interleave", "workloads"];

/// Expands numbered names in the sections of a document.
pub fn write_out(document: &mut Node, reports: &mut Reports) {
    let Some(sections) = document.entries_mut() else { return };
    for section in sections.iter_mut().filter(|section| SECTIONS.contains(&section.key.as_str())) {
        write_out_entries(&mut section.value, &section.key, reports);
    }
}

/// The paths that a path with numbered names stands for, in order; the path itself if none of its names is numbered.
/// Reports errors in it at `spot`.
pub fn paths(path: &str, spot: Spot, reports: &mut Reports) -> Vec<String> {
    match Numbered::find(path) {
        None => vec![path.to_owned()],
        Some(numbered) if numbered.is_sound(spot, path, reports) => {
            // nothing before the first is numbered, but names after it may be
            numbered.names().flat_map(|path| paths(&path, spot, reports)).collect()
        }
        Some(_) => Vec::new(),
    }
}

/// The values for the paths that one path stands for, in order: a numbered value is paired with them or, if there is
/// only one path, becomes a list.
pub fn values(path: &str, paths: &[String], value: &Node, reports: &mut Reports) -> Vec<Node> {
    let within = (paths.len() > 1).then_some((path, paths.len()));
    let value_of = |index| {
        let mut value = value.clone();
        if paths.len() > 1 {
            pair_up(&mut value, index, paths.len());
        }
        make_lists(&mut value, path, within, reports);
        value
    };
    (0..paths.len()).map(value_of).collect()
}

/// Expands the entries of a mapping, and their values.
fn write_out_entries(node: &mut Node, at: &str, reports: &mut Reports) {
    let Some(entries) = node.entries_mut() else { return };
    let mut written: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in std::mem::take(entries) {
        for entry in each(entry, at, reports) {
            match written.iter().find(|other| other.key == entry.key) {
                Some(other) => {
                    let problem = Problem::Duplicate { key: entry.key.clone(), line: other.spot.line };
                    reports.add(problem, entry.spot, &join(at, &entry.key));
                }
                None => written.push(entry),
            }
        }
    }
    *entries = written;
}

/// An entry, or the entries that its key stands for.
fn each(mut entry: Entry, at: &str, reports: &mut Reports) -> Vec<Entry> {
    let path = join(at, &entry.key);
    report_count(&mut entry, at, reports);
    let Some(numbered) = Numbered::read(&entry.key) else {
        make_lists(&mut entry.value, &path, None, reports);
        return vec![entry];
    };
    if !numbered.is_sound(entry.spot, &path, reports) {
        return Vec::new();
    }
    let count = numbered.count();
    let names: Vec<String> = numbered.names().collect();
    let key = entry.key.clone();
    let entry_of = |(index, name): (usize, String)| {
        let Entry { spot, value, .. } = &entry;
        let mut value = value.clone();
        pair_up(&mut value, index, count);
        Entry { key: name, spot: *spot, value }
    };
    let mut entries: Vec<Entry> = names.into_iter().enumerate().map(entry_of).collect();
    for entry in &mut entries {
        make_lists(&mut entry.value, &path, Some((&key, count)), reports);
    }
    entries
}

/// Reports and removes a `count` of a component or link, which many authors would try.
fn report_count(entry: &mut Entry, at: &str, reports: &mut Reports) {
    let Some(keys) = entry.value.entries_mut().filter(|_| matches!(at, "machine" | "links")) else { return };
    let Some(place) = keys.iter().position(|key| key.key == "count") else { return };
    let count = keys.remove(place);
    let text = count.value.text().unwrap_or("8").to_owned();
    reports.add(Problem::Counted { name: entry.key.clone(), count: text }, count.spot, &join(at, &entry.key));
}

/// Replaces every numbered value with as many names by the name at `index`.
fn pair_up(node: &mut Node, index: usize, count: usize) {
    match &mut node.kind {
        Kind::Null => {}
        Kind::Scalar(text) => {
            let numbered = Numbered::read(text).filter(|numbered| numbered.count() == count);
            if let Some(name) = numbered.and_then(|numbered| numbered.names().nth(index)) {
                *text = name;
            }
        }
        Kind::List(items) => items.iter_mut().for_each(|item| pair_up(item, index, count)),
        Kind::Map(entries) => entries.iter_mut().for_each(|entry| pair_up(&mut entry.value, index, count)),
    }
}

/// A numbered key, and its number of names.
type Within<'k> = Option<(&'k str, usize)>;

/// Turns numbered values into lists. Inside a numbered entry they would be the same list for each of its names, which
/// is reported, since it is never meant.
fn make_lists(node: &mut Node, at: &str, within: Within<'_>, reports: &mut Reports) {
    match &mut node.kind {
        Kind::Null => {}
        Kind::Scalar(_) => {
            if let Some(items) = items(node, at, within, reports) {
                node.kind = Kind::List(items);
            }
        }
        Kind::List(list) => {
            for mut item in std::mem::take(list) {
                match items(&item, at, within, reports) {
                    Some(items) => list.extend(items),
                    None => {
                        if item.text().is_none() {
                            make_lists(&mut item, at, within, reports);
                        }
                        list.push(item);
                    }
                }
            }
        }
        Kind::Map(entries) => {
            for entry in entries {
                make_lists(&mut entry.value, &join(at, &entry.key), within, reports);
            }
        }
    }
}

/// The names that a numbered scalar stands for; `None` if it is not numbered, or invalid.
fn items(node: &Node, at: &str, within: Within<'_>, reports: &mut Reports) -> Option<Vec<Node>> {
    let text = node.text()?;
    let numbered = Numbered::read(text)?;
    if let Some((key, count)) = within {
        let (one, other, of_other) = (key.to_owned(), text.to_owned(), numbered.count());
        reports.add(Problem::NumbersDiffer { one, of_one: count, other, of_other }, node.spot, at);
        return None;
    }
    let named = |name| Node { kind: Kind::Scalar(name), ..node.clone() };
    numbered.is_sound(node.spot, at, reports).then(|| numbered.names().map(named).collect())
}

/// A text that stands for several: the text before the number, the first and the last number, the text after it.
#[derive(Clone, Copy, Debug)]
struct Numbered<'t> {
    text: &'t str,
    before: &'t str,
    first: &'t str,
    last: &'t str,
    behind: &'t str,
}

impl<'t> Numbered<'t> {
    /// Reads a name, or the port of one (`ssd1..4.pcie`), if it is numbered.
    fn read(text: &'t str) -> Option<Self> {
        let found = Self::find(text)?;
        let is_plain = |name: &str| name.split('.').all(is_name);
        let behind = found.behind.strip_prefix('.');
        (is_plain(found.before) && (found.behind.is_empty() || behind.is_some_and(is_plain))).then_some(found)
    }

    /// The first numbered name in a path.
    fn find(text: &'t str) -> Option<Self> {
        let dots = text.find("..")?;
        let (left, right) = (&text[..dots], &text[dots + 2..]);
        let before = left.trim_end_matches(|c: char| c.is_ascii_digit());
        let behind = right.trim_start_matches(|c: char| c.is_ascii_digit());
        let (first, last) = (&left[before.len()..], &right[..right.len() - behind.len()]);
        let follows_a_name = before.ends_with(|c: char| c.is_alphabetic() || matches!(c, '-' | '_'));
        let ends = behind.is_empty() || behind.starts_with('.');
        (follows_a_name && ends && !first.is_empty() && !last.is_empty()).then_some(Self {
            text,
            before,
            first,
            last,
            behind,
        })
    }

    /// Both numbers; `None` if one has too many digits.
    fn range(self) -> Option<(u64, u64)> {
        Some((self.first.parse().ok()?, self.last.parse().ok()?))
    }

    /// Number of names that it stands for; 0 if it is invalid.
    fn count(self) -> usize {
        self.range().map_or(0, |(first, last)| {
            last.saturating_sub(first).saturating_add(1).min(NAMES_MAX + 1) as usize
        })
    }

    /// Whether it counts upwards, within the limit; reports an error if not.
    fn is_sound(self, spot: Spot, at: &str, reports: &mut Reports) -> bool {
        let sound = self.range().is_some_and(|(first, last)| first <= last && last - first < NAMES_MAX);
        if !sound {
            reports.add(Problem::BadNumbers { text: self.text.into(), most: NAMES_MAX }, spot, at);
        }
        sound
    }

    /// The names, with as many digits as the first number has.
    fn names(self) -> impl Iterator<Item = String> {
        let (first, last) = self.range().unwrap_or((1, 0));
        let (before, behind, digits) = (self.before, self.behind, self.first.len());
        (first..=last).map(move |number| format!("{before}{number:0digits$}{behind}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Origin;
    use crate::yaml;

    fn written_out(text: &str) -> (String, Vec<&'static str>) {
        let mut reports = Reports::default();
        let mut node = yaml::read(text, 0, Origin::Scenario, &mut reports).expect("YAML");
        write_out(&mut node, &mut reports);
        let found = reports.into_diagnostics(&[]).iter().map(|diagnostic| diagnostic.code).collect();
        (serde_json::to_string(&node).expect("JSON"), found)
    }

    #[test]
    fn a_numbered_entry_is_one_for_each_name() {
        let (text, found) = written_out("machine: {ssd1..3: {part: x}, host: {part: y}}\n");
        assert_eq!(found, [""; 0]);
        assert_eq!(
            text,
            r#"{"machine":{"ssd1":{"part":"x"},"ssd2":{"part":"x"},"ssd3":{"part":"x"},"host":{"part":"y"}}}"#
        );
    }

    #[test]
    fn values_are_paired_with_their_entry_and_are_lists_elsewhere() {
        let (text, found) = written_out(
            "links: {bay09..10: {from: box, to: ssd1..2.pcie, x: [a1..2]}}\nworkloads: {w: {target: [ssd1..2, z], on: h3..4}}\n",
        );
        assert_eq!(found, [""; 0]);
        assert_eq!(
            text,
            concat!(
                r#"{"links":{"bay09":{"from":"box","to":"ssd1.pcie","x":["a1"]},"#,
                r#""bay10":{"from":"box","to":"ssd2.pcie","x":["a2"]}},"#,
                r#""workloads":{"w":{"target":["ssd1","ssd2","z"],"on":["h3","h4"]}}}"#
            )
        );
    }

    #[test]
    fn what_is_no_name_with_numbers_stays() {
        let text = r#"{"machine":{"a":{"b":"0.5..1","c":"../x1..2","d":"1..4","e":"a..b","f":"x1...3","g":"512B..4KiB"}}}"#;
        assert_eq!(written_out(text), (text.to_owned(), vec![]));
    }

    #[test]
    fn numbers_that_do_not_match_are_reported() {
        for (wrong, code) in [
            ("machine: {a4..1: {}}\n", "NA001"),
            ("machine: {a1..9999: {}}\n", "NA001"),
            ("machine: {a1..99999999999999999999999: {}}\n", "NA001"),
            ("workloads: {w: {on: a4..1}}\n", "NA001"),
            ("links: {a1..2: {to: b1..3}}\n", "NA002"),
            ("machine: {a1..3: {}, a2: {}}\n", "SC004"),
            ("machine: {a: {part: x, count: 8}}\n", "NA003"),
        ] {
            assert_eq!(written_out(wrong).1, [code], "{wrong}");
        }
    }

    #[test]
    fn a_path_may_be_numbered_more_than_once() {
        let mut reports = Reports::default();
        let all = paths("machine.box1..2.slot3..4.width", Spot::default(), &mut reports);
        assert_eq!(
            all,
            [
                "machine.box1.slot3.width",
                "machine.box1.slot4.width",
                "machine.box2.slot3.width",
                "machine.box2.slot4.width"
            ]
        );
        assert!(paths("links.a2..1.width", Spot::default(), &mut reports).is_empty() && reports.has_errors());
    }
}
