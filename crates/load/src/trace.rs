//! Traces of block requests as tables of comma-separated values, and their replay.
//!
//! ```text
//! time_us,operation,offset,size          128166372003061629,hm,0,Read,8704,4096,1331
//! 0,read,8704,4096                       128166372016382155,hm,0,Write,6144,512,2213
//! 13320,write,6144,512                   …
//! ```
//!
//! On the left the first line names the columns, in any order and among others: a time (`time_s`, `time_ms`, `time_us`,
//! `time_ns`), `operation` (`read`, `write`, `r`, `w`), `offset` and `size` in bytes. On the right there is no such
//! line: these are the seven columns of the traces of Microsoft Research Cambridge (Narayanan et al., "Write
//! Off-Loading", FAST 2008; SNIA IOTTA repository): a time in units of 100 ns, host, disk, type, offset, size, response
//! time.
//!
//! **Replay.** A request is sent at its time in the trace after the first request, divided by the speed, whether or not
//! earlier requests have been answered. If the maximum number is outstanding, it is sent when one of them is answered.
//! Its latency begins when it is sent.

use crate::findings::{Finding, Findings, Found, Place, problems};
use crate::requests::{Gate, Request, Requests};
use csv::StringRecord;
use lanetwin_ports::Operation;
use lanetwin_units::{Instant, Span};
use std::sync::Arc;

problems! {
    /// The file cannot be read.
    Unreadable { said: String } = "TR001", "the file cannot be read: {said}", "check the path, and that the file may be read";
    /// A line is not a request.
    NoRequest { why: String } = "TR002", "{why}", "name the columns in the first line, such as `time_us,operation,offset,size`, and write times, bytes and `read` or `write` below; or give a trace of Microsoft Research Cambridge as it is";
    /// The trace has no requests.
    Empty = "TR003", "the trace has no read and no write", "write a line for each request below the names of the columns";
    /// The trace is too long.
    Long { most: usize } = "TR004", "the trace has more than {most} requests", "split it";
}

/// Maximum number of requests in a trace.
const MOST_REQUESTS: usize = 20_000_000;
/// Maximum number of errors that are reported.
const MOST_TOLD: usize = 20;
/// The possible names of the column of times, with their units \[ps\].
const TIMES: [(&str, f64); 4] = [("time_s", 1e12), ("time_ms", 1e9), ("time_us", 1e6), ("time_ns", 1e3)];
/// The unit of the times of Microsoft Research Cambridge \[ps\].
const FILE_TIME_PS: u128 = 100_000;
/// Number of columns of the traces of Microsoft Research Cambridge.
const MSR_COLUMNS: usize = 7;

/// A trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Its requests, in the order of their times; the first is at time 0.
    entries: Vec<(Span, Request)>,
}

/// How a trace is replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// The speed, relative to the trace \[%\].
    pub percent: u64,
    /// Maximum number of requests outstanding.
    pub depth: u32,
    /// Size of the part of the medium that is used \[B\]; higher addresses wrap around. `None` if the trace fits.
    pub span: Option<u64>,
}

impl Trace {
    /// Reads a trace; `file` is its name in findings.
    ///
    /// # Errors
    /// All errors, at most 20, in the order of the lines.
    pub fn read(text: &str, file: &str) -> Result<Self, Vec<Finding>> {
        let mut found = Findings::default();
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let (mut columns, mut all) = (None, Vec::new());
        for record in reader.records() {
            let (line, read) = match &record {
                Ok(record) => (line(record), columns_or_request(&mut columns, record)),
                Err(error) => (error.position().map_or(0, csv::Position::line), Err(error.to_string())),
            };
            let place = Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 };
            match read {
                Ok(entry) => all.extend(entry),
                Err(why) => found.add(Problem::NoRequest { why }.at(place, "", file)),
            }
            if all.len() > MOST_REQUESTS {
                found.add(Problem::Long { most: MOST_REQUESTS }.at(place, "", file));
            }
            if found.errors() >= MOST_TOLD || all.len() > MOST_REQUESTS {
                break;
            }
        }
        if all.is_empty() && found.errors() == 0 {
            found.add(Problem::Empty.at(Place { line: 1, column: 1 }, "", file));
        }
        if found.errors() > 0 {
            return Err(found.into_vec());
        }
        Ok(Self::of(all))
    }
    /// The finding for a file that cannot be read.
    #[must_use]
    pub fn unreadable(said: &str, file: &str) -> Finding {
        Problem::Unreadable { said: said.to_owned() }.at(Place::default(), "", file)
    }

    /// A trace of requests with their times \[ps\]; these may begin at any time, and are sorted.
    fn of(mut all: Vec<(u128, Request)>) -> Self {
        all.sort_by_key(|(at, _)| *at);
        let first = all.first().map_or(0, |(at, _)| *at);
        let since = |at: u128| Span::from_ps(u64::try_from(at - first).unwrap_or(u64::MAX));
        Self { entries: all.into_iter().map(|(at, request)| (since(at), request)).collect() }
    }
    /// The first `requests` requests of the trace.
    #[must_use]
    pub fn first(mut self, requests: usize) -> Self {
        self.entries.truncate(requests);
        self
    }
    /// Its requests, in the order of their times.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = &Request> {
        self.entries.iter().map(|(_, request)| request)
    }
    /// The time from its first request to its last.
    #[must_use]
    pub fn lasts(&self) -> Span {
        self.entries.last().map_or(Span::ZERO, |(at, _)| *at)
    }
}

fn line(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// The positions of the columns that are used.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Columns {
    time: usize,
    /// The unit of the times.
    unit: Unit,
    operation: usize,
    offset: usize,
    size: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Unit {
    /// A decimal number of this many picoseconds.
    Named(f64),
    /// A whole number of [`FILE_TIME_PS`].
    FileTime,
}

const MSR: Columns = Columns { time: 0, unit: Unit::FileTime, operation: 3, offset: 4, size: 5 };

/// The request in a line; `None` if it is the first line and names the columns.
fn columns_or_request(
    columns: &mut Option<Columns>,
    record: &StringRecord,
) -> Result<Option<(u128, Request)>, String> {
    match columns {
        Some(columns) => columns.request(record).map(Some),
        None if record.len() == MSR_COLUMNS && record[0].bytes().all(|byte| byte.is_ascii_digit()) => {
            columns.insert(MSR).request(record).map(Some)
        }
        None => {
            // if the names are wrong, later lines are read in the MSR format, so that the names are reported only once
            *columns = Some(MSR);
            *columns = Some(Columns::named(record)?);
            Ok(None)
        }
    }
}

impl Columns {
    fn named(record: &StringRecord) -> Result<Self, String> {
        let of = |name: &str| record.iter().position(|cell| cell.trim().eq_ignore_ascii_case(name));
        let need = |name: &str| of(name).ok_or_else(|| format!("there is no column `{name}`"));
        let time = TIMES.into_iter().find_map(|(name, unit)| Some((of(name)?, Unit::Named(unit))));
        let names = TIMES.map(|(name, _)| name).join("`, `");
        let (time, unit) =
            time.ok_or_else(|| format!("there is no time: none of the columns is `{names}`"))?;
        Ok(Self { time, unit, operation: need("operation")?, offset: need("offset")?, size: need("size")? })
    }
    fn request(&self, record: &StringRecord) -> Result<(u128, Request), String> {
        let cell = |column: usize| record.get(column).map_or("", str::trim);
        let time = cell(self.time);
        let at = match self.unit {
            Unit::FileTime => time.parse::<u64>().ok().map(|units| u128::from(units) * FILE_TIME_PS),
            Unit::Named(unit) => {
                time.parse::<f64>().ok().filter(|time| *time >= 0.0 && time.is_finite()).map(
                    // with the precision of a float
                    |time| (time * unit).round() as u128,
                )
            }
        };
        let at = at.ok_or_else(|| format!("`{time}` is no time"))?;
        let operation = match cell(self.operation).to_ascii_lowercase().as_str() {
            "read" | "r" => Operation::Read,
            "write" | "w" => Operation::Write,
            other => return Err(format!("`{other}` is neither `read` nor `write`")),
        };
        let [offset, size] = [self.offset, self.size].map(cell);
        let address = offset.parse().map_err(|_| format!("`{offset}` is no offset in bytes"))?;
        let bytes = size.parse().ok().filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or_else(|| format!("`{size}` is no size of a request in bytes"))?;
        Ok((at, Request { operation, address, bytes }))
    }
}

/// The replay of a trace: the requests of a load.
#[derive(Clone, Debug)]
pub struct Replay {
    trace: Arc<Trace>,
    pace: Pace,
    made: usize,
}

impl Replay {
    /// A replay that begins at the start of the run.
    #[must_use]
    pub const fn new(trace: Arc<Trace>, pace: Pace) -> Self {
        Self { trace, pace, made: 0 }
    }
    /// When a request of the trace is due.
    fn due(&self, at: Span) -> Instant {
        let ps = u128::from(at.as_ps()) * 100 / u128::from(self.pace.percent.max(1));
        Instant::ZERO + Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

impl Requests for Replay {
    fn gate(&mut self, now: Instant, _: u64) -> Gate {
        match self.trace.entries.get(self.made).map(|(at, _)| self.due(*at)) {
            Some(due) if due > now => Gate::After(due - now),
            _ => Gate::Open,
        }
    }
    fn next(&mut self, _: Instant) -> Option<Request> {
        let (_, request) = *self.trace.entries.get(self.made)?;
        self.made += 1;
        // a request that would reach beyond the end wraps around to the start
        let room = self.pace.span.map(|span| span.saturating_sub(request.bytes.into()) + 1);
        let address = room.map_or(request.address, |room| request.address % room);
        Some(Request { address, ..request })
    }
    fn made(&self) -> u64 {
        self.made as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: &str = "size,offset,latency,Operation,time_us\n4096,8192,9,read,100\n512,0,9,W,12.5\n";
    const MSR: &str =
        "128166372003061629,hm,0,Read,8704,4096,1331\n128166372003061639,hm,0,Write,6144,512,2\n";

    fn codes(text: &str) -> Vec<(u32, &'static str)> {
        Trace::read(text, "t.csv").unwrap_err().iter().map(|found| (found.line, found.code)).collect()
    }

    #[test]
    fn both_forms_are_read_and_put_in_order_from_their_first_request() {
        let named = Trace::read(NAMED, "t.csv").unwrap();
        let asked: Vec<_> = named.requests().map(|r| (r.operation, r.address, r.bytes)).collect();
        assert_eq!(asked, [(Operation::Write, 0, 512), (Operation::Read, 8192, 4096)]);
        assert_eq!(named.lasts(), Span::from_ns(87_500));
        let msr = Trace::read(MSR, "t.csv").unwrap();
        assert_eq!((msr.requests().len(), msr.lasts()), (2, Span::from_us(1)));
        assert_eq!(msr.first(1).lasts(), Span::ZERO);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(codes(""), [(1, "TR003")]);
        assert_eq!(codes("time_us,operation,offset,size\n"), [(1, "TR003")]);
        assert_eq!(codes("time,operation,offset,size\n1,read,0,512\n")[0], (1, "TR002"));
        let lines =
            "time_us,operation,offset,size\n1,trim,0,512\n1,read,0,0\n-1,read,0,1\n1,read,x,1\n1,read,0,1\n";
        assert_eq!(codes(lines), [(2, "TR002"), (3, "TR002"), (4, "TR002"), (5, "TR002")]);
        assert_eq!(codes(&format!("time_us,operation,offset,size\n{}", "x\n".repeat(99))).len(), MOST_TOLD);
        assert_eq!(Trace::unreadable("gone", "t.csv").code, "TR001");
    }

    #[test]
    fn requests_are_due_as_the_trace_has_them_at_its_speed() {
        let trace = Arc::new(Trace::read(NAMED, "t.csv").unwrap());
        let mut replay = Replay::new(trace, Pace { percent: 50, depth: 1, span: Some(8192) });
        assert_eq!(replay.gate(Instant::ZERO, 0), Gate::Open);
        assert_eq!(replay.next(Instant::ZERO).unwrap().address, 0);
        let due = Span::from_us(175);
        assert_eq!(replay.gate(Instant::ZERO, 1), Gate::After(due));
        assert_eq!(replay.gate(Instant::ZERO + due, 1), Gate::Open);
        assert_eq!(replay.next(Instant::ZERO + due).unwrap().address, 8192 % 4097);
        assert_eq!((replay.made(), replay.next(Instant::ZERO + due)), (2, None));
    }
}
