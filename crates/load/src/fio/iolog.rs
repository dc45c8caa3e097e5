//! I/O logs of fio, versions 2 and 3: the I/Os on each file, in their order and with their times.
//!
//! ```text
//! fio version 2 iolog            fio version 3 iolog
//! /dev/sda add                   0 /dev/sda add
//! /dev/sda open                  15 /dev/sda open
//! /dev/sda read 4096 8192        120 /dev/sda read 4096 8192        µs since the start
//! /dev/sda wait 30 0             …
//! /dev/sda close                 900 /dev/sda close
//! ```
//!
//! Lines that fio skips with a message are skipped here with a warning (`iolog.c`, `read_iolog`). **Times.** In version
//! 3 an I/O follows the one before it after the difference of their times in the log. In version 2 only `wait` delays:
//! contrary to the manual, fio 3.33 takes its number as the time in milliseconds since the start of the run at which
//! the next I/O is submitted (`read_iolog_get`).

use super::problem::Problem;
use crate::findings::{Finding, Findings, Found, Place};
use lanetwin_ports::Operation;
use std::fmt::Write as _;

/// Maximum number of reads and writes in a log.
pub const MOST_ENTRIES: usize = 20_000_000;
const HEAD_2: &str = "fio version 2 iolog";
const HEAD_3: &str = "fio version 3 iolog";

/// A log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// 2 or 3.
    pub version: u8,
    /// Its reads and writes; at least one.
    pub entries: Vec<Entry>,
    /// Number of syncs and trims, which are not simulated.
    pub left_out: u64,
}

/// A read or a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Whether it is a read or a write.
    pub operation: Operation,
    /// Its first byte.
    pub offset: u64,
    /// Its size \[B\]; at least one.
    pub bytes: u32,
    /// Its time.
    pub when: When,
}

/// The time of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// This long after the one before \[µs\].
    After(u64),
    /// Not before this time since the start \[µs\].
    NotBefore(u64),
}

/// Reads a log; `file` is its name in findings.
///
/// # Errors
/// Every error and warning, in the order of their places.
pub fn read(text: &str, file: &str) -> Result<(Log, Vec<Finding>), Vec<Finding>> {
    let mut found = Findings::default();
    let mut lines = (1..).zip(text.lines());
    let version = match lines.next().map(|(_, line)| line.trim_end()) {
        Some(HEAD_2) => 2,
        Some(HEAD_3) => 3,
        _ => {
            found.add(Problem::NotALog.at(Place { line: 1, column: 1 }, "", file));
            return Err(found.into_vec());
        }
    };
    let mut reader =
        Reader { version, entries: Vec::new(), left_out: 0, last_us: None, waited_us: None, behind_us: 0 };
    let (mut told, mut more) = (0, 0_u64);
    for (number, line) in lines {
        if line.trim().is_empty() {
            continue;
        }
        if let Err(what) = reader.line(line) {
            if told < MOST_TOLD {
                let place = Place { line: number, column: 1 };
                found.add(Problem::LeftOut { what }.at(place, "", file));
                told += 1;
            } else {
                more += 1;
            }
        }
        if reader.entries.len() > MOST_ENTRIES {
            let place = Place { line: number, column: 1 };
            found.add(Problem::LongLog { most: MOST_ENTRIES }.at(place, "", file));
            return Err(found.into_vec());
        }
    }
    if more > 0 {
        found.add(Problem::LeftOut { what: format!("{more} lines more") }.at(Place::default(), "", file));
    }
    if reader.left_out > 0 {
        let names = format!("{} syncs and trims of the log", reader.left_out);
        found.add(Problem::NotModelled { names }.at(Place::default(), "", file));
    }
    if reader.entries.is_empty() {
        found.add(Problem::EmptyLog.at(Place { line: 1, column: 1 }, "", file));
        return Err(found.into_vec());
    }
    let log = Log { version, entries: reader.entries, left_out: reader.left_out };
    Ok((log, found.into_vec()))
}

/// Maximum number of skipped lines that are reported; others are only counted.
const MOST_TOLD: u32 = 20;

struct Reader {
    version: u8,
    entries: Vec<Entry>,
    left_out: u64,
    /// The time of the previous line, in version 3.
    last_us: Option<u64>,
    /// The time set by a `wait`, in version 2.
    waited_us: Option<u64>,
    /// Waiting time of lines that were not I/Os, in version 3.
    behind_us: u64,
}

impl Reader {
    /// Reads a line. Otherwise returns why fio skips it.
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (time, words) = if self.version == 3 {
            let time = words.first().and_then(|word| number(word));
            (Some(time.ok_or("a line without its time")?), &words[1..])
        } else {
            (None, &words[..])
        };
        let since = self.since(time);
        let (action, io) = match *words {
            [_, action] => (action, None),
            [_, action, offset, bytes, ..] => (action, Some((offset, bytes))),
            _ => return Err("a line that is neither of a file nor of an I/O".into()),
        };
        let Some((offset, bytes)) = io else {
            self.behind_us = self.behind_us.saturating_add(since);
            let known = matches!(action, "add" | "open" | "close");
            return if known { Ok(()) } else { Err(format!("`{action}` without a place")) };
        };
        let offset = number(offset).ok_or("a line without its offset")?;
        let bytes = number(bytes).ok_or("a line without its length")?;
        let operation = match action {
            "read" => Operation::Read,
            "write" => Operation::Write,
            "wait" if self.version == 2 => {
                self.waited_us = Some(offset.saturating_mul(1000));
                return Ok(());
            }
            "sync" | "datasync" | "trim" => {
                self.behind_us = self.behind_us.saturating_add(since);
                self.left_out += 1;
                return Ok(());
            }
            _ => return Err(format!("the action `{action}`")),
        };
        let bytes = u32::try_from(bytes).ok().filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or("an I/O of no bytes, or of 4 GiB or more")?;
        offset.checked_add(bytes.into()).ok_or("an I/O beyond what 64 bits address")?;
        let when = match self.waited_us.take() {
            Some(us) => When::NotBefore(us),
            None => When::After(since.saturating_add(std::mem::take(&mut self.behind_us))),
        };
        self.entries.push(Entry { operation, offset, bytes, when });
        Ok(())
    }

    /// The time since the previous line \[µs\]; 0 after a line at time 0, or if time went back.
    fn since(&mut self, time: Option<u64>) -> u64 {
        let Some(time) = time else { return 0 };
        let last = self.last_us.replace(time).unwrap_or(0);
        if last == 0 || time < last { 0 } else { time - last }
    }
}

/// The digits at the start of a word.
fn number(word: &str) -> Option<u64> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    word[..end].parse().ok()
}

impl Log {
    /// The log as a file of version 3 for a file of this name; times are sums of the waits.
    #[must_use]
    pub fn to_text(&self, name: &str) -> String {
        // a line at time 0 would remove the wait of the next (`delay_since_ttime`)
        let mut now = 1_u64;
        let mut text = format!("{HEAD_3}\n{now} {name} add\n{now} {name} open\n");
        for entry in &self.entries {
            now = match entry.when {
                When::After(us) => now.saturating_add(us),
                When::NotBefore(us) => now.max(us.saturating_add(1)),
            };
            let word = if entry.operation == Operation::Read { "read" } else { "write" };
            let _ = writeln!(text, "{now} {name} {word} {} {}", entry.offset, entry.bytes);
        }
        let _ = writeln!(text, "{now} {name} close");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(operation: Operation, offset: u64, bytes: u32, when: When) -> Entry {
        Entry { operation, offset, bytes, when }
    }
    fn codes(text: &str) -> Vec<&'static str> {
        let found = match read(text, "log") {
            Ok((_, warnings)) => warnings,
            Err(findings) => findings,
        };
        found.iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn version_3_waits_between_lines_and_version_2_where_it_says_so() {
        let text = format!(
            "{HEAD_3}\n10 f add\n12 f open\n20 f read 0 4096\n70 f sync 0 0\n100 f write 8192 512\n90 f read 0 1\n"
        );
        let (log, warnings) = read(&text, "log").expect("a log");
        let expected = [
            entry(Operation::Read, 0, 4096, When::After(10)),
            entry(Operation::Write, 8192, 512, When::After(80)),
            entry(Operation::Read, 0, 1, When::After(0)),
        ];
        assert_eq!((log.entries, log.left_out, warnings.len()), (expected.to_vec(), 1, 1));
        let text =
            format!("{HEAD_2}\nf add\nf open\nf read 0 4096\nf wait 25 0\nf write 4096 4096\nf close\n");
        let (log, warnings) = read(&text, "log").expect("a log");
        let expected = [
            entry(Operation::Read, 0, 4096, When::After(0)),
            entry(Operation::Write, 4096, 4096, When::NotBefore(25_000)),
        ];
        assert_eq!((log.entries, warnings), (expected.to_vec(), vec![]));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let entries = vec![
            entry(Operation::Read, 0, 4096, When::After(0)),
            entry(Operation::Write, 8192, 512, When::After(80)),
            entry(Operation::Read, 512, 1, When::After(0)),
        ];
        let log = Log { version: 3, entries, left_out: 0 };
        assert_eq!(read(&log.to_text("/dev/x"), "log"), Ok((log, vec![])));
    }

    #[test]
    fn what_fio_leaves_out_is_left_out_and_told() {
        assert_eq!(codes("nothing\n"), ["FI018"]);
        assert_eq!(codes(&format!("{HEAD_2}\nf add\n")), ["FI019"]);
        let text = format!("{HEAD_3}\nf read 0 4096\n1 f read 0\n1 f wait 5 0\n1 f read 0 0\n1 f read 0 1\n");
        assert_eq!(codes(&text), ["FI110"; 4]);
    }
}
