//! `'ACCESS SPECIFICATIONS`.

use super::super::config::{AccessLine, AccessSpec};
use super::super::lines::{Between, Line, Place, Shape};
use super::super::problem::Problem;
use super::super::words::Assignment;
use super::reader::{Reader, SPECS, short};

const SPEC: &str = "'Access specification name,default assignment";
const HEADS: &str = "'size,% of size,% reads,% random,delay,burst,align,reply";
/// Maximum number of lines of a specification (`IOAccess.h`, `MAX_ACCESS_SPECS`).
const MOST_LINES: usize = 100;
/// Iometer stores delay and burst as signed 32-bit numbers (`IOAccess.h`, `struct Access_Spec`).
const MOST: u64 = i32::MAX as u64;

/// A specification with its place.
pub(super) struct Found {
    pub spec: AccessSpec,
    pub place: Place,
}

impl<'a> Reader<'a> {
    pub(super) fn specs(&mut self) -> Vec<Found> {
        let mut specs: Vec<Found> = Vec::new();
        while let Some(key) = self.key(SPECS) {
            if !key.is(SPEC) {
                self.unknown(key, &[SPEC]);
                continue;
            }
            let section = self.path.clone();
            if let Some(found) = self.spec(key) {
                let same = |other: &&Found| other.spec.name.eq_ignore_ascii_case(&found.spec.name);
                if let Some(first) = specs.iter().find(same) {
                    let what = format!("the access specification `{}`", short(&found.spec.name));
                    self.report(&Problem::Duplicate { what, line: first.place.line }, found.place);
                }
                specs.push(found);
            }
            self.path = section;
        }
        specs
    }
    fn spec(&mut self, key: Line<'a>) -> Option<Found> {
        let wanted = "a name, a comma and a default assignment";
        let line = self.required(key, wanted)?;
        let (name, assignment) = line.split_comma();
        self.path = format!("{}: {}", self.path, short(name.text));
        let assignment = match assignment {
            Some(word) => self.word(word).unwrap_or(Assignment::None),
            None => {
                self.report(
                    &Problem::MissingValue { key: short(key.text), wanted: wanted.into() },
                    line.place,
                );
                Assignment::None
            }
        };
        if name.text.is_empty() {
            self.report(&Problem::MissingValue { key: short(key.text), wanted: wanted.into() }, line.place);
        }
        // the column heads; Iometer accepts any comment here, and therefore loses a specification without heads
        if self.lines.peek().is_some_and(|next| next.shape == Shape::Key && next.opens_with("'size")) {
            self.lines.next();
        }
        let spec =
            AccessSpec { name: name.text.to_owned(), assignment, lines: self.access_lines(line, name.text) };
        Some(Found { spec, place: line.place })
    }
    fn access_lines(&mut self, head: Line<'a>, name: &str) -> Vec<AccessLine> {
        let (mut lines, mut found, mut sum) = (Vec::new(), 0_usize, 0_u64);
        while let Some(line) = self.lines.value() {
            found += 1;
            if found == MOST_LINES + 1 {
                self.report(&Problem::TooManyLines { name: short(name), most: MOST_LINES }, line.place);
            }
            let access = if found <= MOST_LINES { self.access_line(line) } else { None };
            sum += access.map_or(0, |access: AccessLine| u64::from(access.share));
            lines.extend(access);
        }
        if found == 0 {
            self.report(&Problem::NoLines { name: short(name) }, head.place);
        } else if found == lines.len() && sum != 100 {
            self.report(&Problem::SharesNot100 { name: short(name), sum }, head.place);
        }
        lines
    }
    fn access_line(&mut self, line: Line<'a>) -> Option<AccessLine> {
        let wanted = "size, share, reads, random, delay, burst, align and reply";
        let [size, share, reads, random, delay, burst, align, reply] =
            self.split(HEADS, line, Between::Commas, wanted)?;
        let largest = u64::from(u32::MAX);
        let clean = self.found.errors();
        let access = AccessLine {
            size: self.number(size, "the size of a request in bytes", 1, largest),
            share: self.number(share, "a share of accesses in percent", 0, 100),
            reads: self.number(reads, "a percentage of reads", 0, 100),
            random: self.number(random, "a percentage of random accesses", 0, 100),
            delay_ms: self.number(delay, "a delay in milliseconds", 0, MOST),
            burst: self.number(burst, "a burst length", 1, MOST),
            align: self.number(align, "an alignment in bytes", 0, largest),
            reply: self.number(reply, "the size of a reply in bytes", 0, largest),
        };
        // a line with an error is reported once, and its share is not summed
        (self.found.errors() == clean).then_some(access)
    }
}
