//! A record of the requests to a drive, which a run can replay.
//!
//! ```text
//! time_us,operation,offset,size,latency_us,asker,answered        fio version 3 iolog
//! 0.000,write,0,4096,18.204,1,0                                  0 drive add
//! 22.417,read,4096,4096,71.300,1,1                               0 drive open
//!                                                                0 drive write 0 4096
//! ```
//!
//! On the left, files named `*.csv`: reads and writes in the format of the workload `trace`, with the time of the
//! request, the predicted latency, the connection, and the number of earlier lines that had been answered by then,
//! which shows what a program may have waited for. On the right, all other files: the format of fio's `read_iolog`,
//! including flushes and deallocations. Times are those of the clock since the first request.

use crate::command::{Kind, Request};
use crate::problem::Problem;
use lanetwin_units::{Instant, Span};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const COLUMNS: &str = "time_us,operation,offset,size,latency_us,asker,answered";
const LOG_BEGINS: &str = "fio version 3 iolog\n0 drive add\n0 drive open";

/// The request of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Time.
    pub at: Instant,
    /// By which connection; 0 if there is but one way in.
    pub asker: u32,
    /// Request.
    pub request: Request,
}

/// A request in the table that may still be in progress.
#[derive(Debug)]
struct Row {
    asked: Asked,
    /// Number of earlier lines that had been answered when it was sent.
    answered: u64,
    latency: Option<Span>,
    is_over: bool,
}

/// The table; a line is written when it and all lines above are complete.
#[derive(Default, Debug)]
struct Table {
    rows: VecDeque<Row>,
    /// The number of the first of them.
    first: u64,
    /// The numbers of those in progress, by their tickets.
    open: BTreeMap<u64, u64>,
    answered: u64,
}

/// Format of lines.
#[derive(Debug)]
enum Form {
    Table(Table),
    Log,
}

/// A record that is being written.
#[derive(Debug)]
pub struct Record {
    out: BufWriter<File>,
    form: Form,
    zero: Option<Instant>,
    /// Why it is no longer written.
    failed: Option<io::Error>,
    file: String,
}

impl Record {
    /// Begins a record in a file that is not there yet.
    ///
    /// # Errors
    /// The file is there, or cannot be made.
    pub fn create(file: &Path) -> Result<Self, Problem> {
        let is_table = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        let form = if is_table { Form::Table(Table::default()) } else { Form::Log };
        let name = file.display().to_string();
        let unusable = |error: io::Error| Problem::NoRecord { file: name.clone(), said: error.to_string() };
        let mut out = BufWriter::new(File::create_new(file).map_err(unusable)?);
        writeln!(out, "{}", if is_table { COLUMNS } else { LOG_BEGINS }).map_err(unusable)?;
        Ok(Self { out, form, zero: None, failed: None, file: name })
    }

    /// Records a request; later events refer to it by this ticket.
    pub fn asked(&mut self, ticket: u64, asked: Asked) {
        let zero = *self.zero.get_or_insert(asked.at);
        let done = match &mut self.form {
            Form::Table(table) => {
                table.asked(ticket, asked);
                Ok(())
            }
            Form::Log => log_line(&mut self.out, asked.at.since(zero), asked.request),
        };
        self.note(done);
    }

    /// It has been answered after this time, or will not be.
    pub fn over(&mut self, ticket: u64, latency: Option<Span>) {
        let zero = self.zero.unwrap_or(Instant::ZERO);
        if let Form::Table(table) = &mut self.form {
            let done = table.over(&mut self.out, zero, ticket, latency);
            self.note(done);
        }
    }

    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.failed.get_or_insert(error);
        }
    }

    /// Ends the record.
    ///
    /// # Errors
    /// Not all of it could be written.
    pub fn close(mut self) -> Result<(), Problem> {
        let zero = self.zero.unwrap_or(Instant::ZERO);
        let mut done = match &mut self.form {
            Form::Table(table) => table.rows.drain(..).try_for_each(|row| row.write(&mut self.out, zero)),
            Form::Log => Ok(()),
        };
        done = done.and_then(|()| self.out.flush());
        match self.failed.or(done.err()) {
            None => Ok(()),
            Some(error) => Err(Problem::NoRecord { file: self.file, said: error.to_string() }),
        }
    }
}

impl Table {
    fn asked(&mut self, ticket: u64, asked: Asked) {
        if asked.request.word().is_none() {
            return;
        }
        self.open.insert(ticket, self.first + self.rows.len() as u64);
        self.rows.push_back(Row { asked, answered: self.answered, latency: None, is_over: false });
    }
    fn over(
        &mut self,
        out: &mut impl Write,
        zero: Instant,
        ticket: u64,
        latency: Option<Span>,
    ) -> io::Result<()> {
        let Some(number) = self.open.remove(&ticket) else { return Ok(()) };
        self.answered += 1;
        let row = &mut self.rows[(number - self.first) as usize];
        (row.latency, row.is_over) = (latency, true);
        while let Some(row) = self.rows.front().filter(|row| row.is_over) {
            row.write(out, zero)?;
            self.rows.pop_front();
            self.first += 1;
        }
        Ok(())
    }
}

impl Row {
    fn write(&self, out: &mut impl Write, zero: Instant) -> io::Result<()> {
        let Asked { at, asker, request } = self.asked;
        let latency = self.latency.map_or_else(String::new, us);
        let word = request.word().unwrap_or_default();
        let (time, Request { first, bytes, .. }) = (us(at.since(zero)), request);
        writeln!(out, "{time},{word},{first},{bytes},{latency},{asker},{}", self.answered)
    }
}

impl Request {
    /// The column value for reads and writes.
    const fn word(self) -> Option<&'static str> {
        match self.kind {
            Kind::Read | Kind::Compare => Some("read"),
            Kind::Write => Some("write"),
            Kind::Flush | Kind::Deallocate | Kind::WriteZeroes => None,
        }
    }
}

/// Writes a line of fio's log, unless fio has no word for the request.
fn log_line(out: &mut impl Write, time: Span, request: Request) -> io::Result<()> {
    let us = time.as_ps() / 1_000_000;
    let Request { kind, first, bytes } = request;
    match (request.word(), kind) {
        (Some(word), _) => writeln!(out, "{us} drive {word} {first} {bytes}"),
        (None, Kind::Flush) => writeln!(out, "{us} drive sync 0 0"),
        (None, Kind::Deallocate) => writeln!(out, "{us} drive trim {first} {bytes}"),
        (None, _) => Ok(()),
    }
}

fn us(span: Span) -> String {
    format!("{}.{:06}", span.as_ps() / 1_000_000, span.as_ps() % 1_000_000)
}
