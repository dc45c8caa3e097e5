//! Recorded programs: the loads and stores of a real program, as recorded by a tool.
//!
//! ```text
//! ==4711== Lackey, an example Valgrind tool      thread,instructions,operation,address,size,depends
//! I  04016f29,5                                  0,12,load,0x7f3200001000,8,no
//!  L 1ffefffe58,8                                0,3,load,0x7f3200094440,8,yes
//!  S 1ffefffe50,8                                1,9,store,0x7f3200001008,8,no
//!  M 0421c8a0,4                                  …
//! ```
//!
//! On the left, what `valgrind --tool=lackey --trace-mem=yes --log-file=FILE PROGRAM` writes (Valgrind's manual,
//! "Lackey: an example tool"): each instruction, load, store and modification with its address in hexadecimal digits
//! and its size. It runs one thread at a time and does not record which: here, all accesses are those of one thread. On
//! the right, a table of comma-separated values for other tools. Its first line names the columns, in any order: it
//! must have `operation` (`load`, `store`, `stream`, or the letters `l`, `s`, `n`) and `address`, and may have `size`
//! \[B\], `thread`, `instructions` (their number since the thread's last line), `depends` (whether the address comes
//! from the thread's last load), and others, which are ignored.
//!
//! **Steps.** A thread makes a step when it touches another line of 64 B than before, or stores to the current line for
//! the first time. Other accesses are assumed to hit registers or the first-level cache, and their instructions are
//! part of the next step's computing time. The touched pages are made contiguous, in the order of their addresses,
//! since pages that are never touched are not placed.

use super::{Program, Step, Touch};
use crate::findings::{Finding, Findings, Found, Place, problems};
use lanetwin_units::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

problems! {
    /// A file cannot be read.
    Unreadable { said: String } = "TR001", "the file cannot be read: {said}", "check the path, and that the file may be read";
    /// A line that is no access.
    NoAccess { why: String } = "TR005", "{why}", "give what `valgrind --tool=lackey --trace-mem=yes` writes, or name the columns in the first line, such as `operation,address,size`, and write `load` or `store` and an address below";
    /// Nothing is touched.
    Empty = "TR006", "the trace has no load and no store", "record a program with `valgrind --tool=lackey --trace-mem=yes --log-file=FILE PROGRAM`";
    /// A trace too long.
    Long { most: usize } = "TR007", "the trace comes to more than {most} lines of memory", "record a shorter part of the program";
    /// Too many threads.
    Threads { most: u32 } = "TR008", "the trace has more than {most} threads", "leave some out";
}

/// Maximum number of steps of a trace.
const MOST_STEPS: usize = 20_000_000;
/// Maximum number of threads of a program.
const MOST_THREADS: u32 = 4096;
/// Maximum number of invalid lines that are reported.
const MOST_TOLD: usize = 20;
/// A cache line \[B\].
const LINE: u64 = 64;
/// A page \[B\].
const PAGE: u64 = 4096;
/// Size of an access without a given size \[B\].
const WORD: u64 = 8;
/// The largest access \[B\]: a line of vectors, or an instruction like `rep movs`.
const MOST_BYTES: u64 = 1 << 20;

/// One step of a recorded thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Recorded {
    /// The address of a line \[B\]; an address of the trace until all is read.
    address: u64,
    /// Number of instructions since the previous step.
    instructions: u32,
    touch: Touch,
    /// Whether the address comes from the thread's last load, if the trace has this information.
    depends: bool,
}

/// A recorded program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryTrace {
    threads: Vec<Vec<Recorded>>,
    pages: u64,
    tells_dependence: bool,
}

/// Which loads wait for the previous load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dependence {
    /// Those that the trace marks.
    Recorded,
    /// None: as many are outstanding as a core supports.
    None,
    /// All, as if every load followed a pointer.
    All,
}

/// An access in the trace.
struct Access {
    thread: u64,
    instructions: u64,
    operations: &'static [Touch],
    address: u64,
    bytes: u64,
    depends: bool,
}

impl MemoryTrace {
    /// Reads a trace in either form; `file` is its name in findings.
    ///
    /// # Errors
    /// All errors, in the order of the lines.
    pub fn read(text: &str, file: &str) -> Result<Self, Vec<Finding>> {
        let mut reading = Reading { file, found: Findings::default(), threads: BTreeMap::new(), steps: 0 };
        let tells_dependence = if is_lackey(text) {
            reading.lackey(text);
            false
        } else {
            reading.table(text)
        };
        reading.end(tells_dependence)
    }
    /// The finding for a file that cannot be read.
    #[must_use]
    pub fn unreadable(said: &str, file: &str) -> Finding {
        Problem::Unreadable { said: said.to_owned() }.at(Place::default(), "", file)
    }
    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> u32 {
        u32::try_from(self.threads.len()).expect("at most 4096")
    }
    /// Number of pages of 4 KiB that it touches.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }
    /// Number of steps of all threads.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.threads.iter().map(|steps| steps.len() as u64).sum()
    }
    /// Whether it marks the loads that wait for the previous load.
    #[must_use]
    pub const fn tells_dependence(&self) -> bool {
        self.tells_dependence
    }
}

/// Whether this is a trace of lackey, by its first line that is not empty.
fn is_lackey(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.next().is_some_and(|line| line.starts_with("==") || lackey(line).is_ok())
}

/// Parses a line of lackey: an access, or an instruction.
fn lackey(line: &str) -> Result<Option<Access>, String> {
    const LOAD: &[Touch] = &[Touch::Load];
    const STORE: &[Touch] = &[Touch::Store];
    const MODIFY: &[Touch] = &[Touch::Load, Touch::Store];
    let wrong = || format!("`{}` is neither an instruction nor an access", line.trim());
    let (kind, rest) = line.trim().split_once(' ').ok_or_else(wrong)?;
    let operations = match kind {
        "I" => return Ok(None),
        "L" => LOAD,
        "S" => STORE,
        "M" => MODIFY,
        _ => return Err(wrong()),
    };
    let (address, bytes) = rest.trim().split_once(',').ok_or_else(wrong)?;
    let address = u64::from_str_radix(address, 16).map_err(|_| wrong())?;
    let bytes = bytes.parse().map_err(|_| wrong())?;
    Ok(Some(Access { thread: 0, instructions: 0, operations, address, bytes, depends: false }))
}

/// A trace while it is read.
struct Reading<'a> {
    file: &'a str,
    found: Findings,
    threads: BTreeMap<u64, Thread>,
    steps: usize,
}

/// A thread while its trace is read.
#[derive(Default)]
struct Thread {
    steps: Vec<Recorded>,
    /// Instructions since its last step.
    instructions: u64,
}

impl Reading<'_> {
    fn lackey(&mut self, text: &str) {
        let mut instructions = 0;
        for (line, number) in text.lines().zip(1..) {
            if line.starts_with("==") || line.trim().is_empty() {
                continue;
            }
            match lackey(line) {
                Ok(None) => instructions += 1,
                Ok(Some(access)) => {
                    self.take(&Access { instructions, ..access }, number);
                    instructions = 0;
                }
                Err(why) => self.wrong(why, number),
            }
            if self.is_over() {
                return;
            }
        }
    }
    /// Reads a table. Returns whether it marks dependent loads.
    fn table(&mut self, text: &str) -> bool {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
        let columns = match reader.headers().map_err(|error| error.to_string()).and_then(Columns::named) {
            Ok(columns) => columns,
            Err(why) => {
                self.wrong(why, 1);
                return false;
            }
        };
        for record in reader.records() {
            let (line, read) = match &record {
                Ok(record) => (record.position().map_or(0, csv::Position::line), columns.access(record)),
                Err(error) => (error.position().map_or(0, csv::Position::line), Err(error.to_string())),
            };
            match read {
                Ok(access) => self.take(&access, line),
                Err(why) => self.wrong(why, line),
            }
            if self.is_over() {
                break;
            }
        }
        columns.depends.is_some()
    }

    /// Adds the steps of an access: one for each line that it touches.
    fn take(&mut self, access: &Access, line: u64) {
        let Some(last) = access.address.checked_add(access.bytes.clamp(1, MOST_BYTES) - 1) else {
            self.wrong(format!("there is nothing behind the address {:#x}", access.address), line);
            return;
        };
        if !self.threads.contains_key(&access.thread) && self.threads.len() == MOST_THREADS as usize {
            self.found.add(Problem::Threads { most: MOST_THREADS }.at(at(line), "", self.file));
            return;
        }
        let thread = self.threads.entry(access.thread).or_default();
        let before = thread.steps.len();
        thread.instructions += access.instructions;
        for address in (access.address / LINE..=last / LINE).map(|number| number * LINE) {
            for touch in access.operations {
                thread.touch(address, *touch, access.depends);
            }
        }
        self.steps += thread.steps.len() - before;
        if self.steps > MOST_STEPS {
            self.found.add(Problem::Long { most: MOST_STEPS }.at(at(line), "", self.file));
        }
    }
    fn wrong(&mut self, why: String, line: u64) {
        self.found.add(Problem::NoAccess { why }.at(at(line), "", self.file));
    }
    fn is_over(&self) -> bool {
        self.found.errors() >= MOST_TOLD || self.steps > MOST_STEPS
    }

    /// The trace, unless there are errors: makes pages contiguous, in the order of their addresses.
    fn end(mut self, tells_dependence: bool) -> Result<MemoryTrace, Vec<Finding>> {
        if self.steps == 0 && self.found.errors() == 0 {
            self.found.add(Problem::Empty.at(at(1), "", self.file));
        }
        if self.found.errors() > 0 {
            return Err(self.found.into_vec());
        }
        let mut threads: Vec<Vec<Recorded>> = self.threads.into_values().map(|thread| thread.steps).collect();
        threads.retain(|steps| !steps.is_empty());
        let touched: BTreeSet<u64> = threads.iter().flatten().map(|step| step.address / PAGE).collect();
        let places: BTreeMap<u64, u64> = touched.into_iter().zip(0..).collect();
        for step in threads.iter_mut().flatten() {
            step.address = places[&(step.address / PAGE)] * PAGE + step.address % PAGE;
        }
        Ok(MemoryTrace { threads, pages: places.len() as u64, tells_dependence })
    }
}

/// A line of a file.
fn at(line: u64) -> Place {
    Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 }
}

impl Thread {
    fn touch(&mut self, address: u64, touch: Touch, depends: bool) {
        let is_there =
            |last: &Recorded| last.address == address && (touch == Touch::Load || last.touch == touch);
        if self.steps.last().is_some_and(is_there) {
            return;
        }
        let instructions = u32::try_from(self.instructions).unwrap_or(u32::MAX);
        self.steps.push(Recorded { address, instructions, touch, depends });
        self.instructions = 0;
    }
}

/// Indices of the columns in a table.
struct Columns {
    operation: usize,
    address: usize,
    size: Option<usize>,
    thread: Option<usize>,
    instructions: Option<usize>,
    depends: Option<usize>,
}

impl Columns {
    fn named(names: &csv::StringRecord) -> Result<Self, String> {
        let of = |name: &str| names.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        let need = |name: &str| of(name).ok_or_else(|| format!("there is no column `{name}`"));
        Ok(Self {
            operation: need("operation")?,
            address: need("address")?,
            size: of("size"),
            thread: of("thread"),
            instructions: of("instructions"),
            depends: of("depends"),
        })
    }
    fn access(&self, record: &csv::StringRecord) -> Result<Access, String> {
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let count = |column: Option<usize>, otherwise: u64, what: &str| match column.map(cell) {
            None | Some("") => Ok(otherwise),
            Some(text) => text.parse::<u64>().map_err(|_| format!("`{text}` is no {what}")),
        };
        let operations: &'static [Touch] = match cell(self.operation).to_ascii_lowercase().as_str() {
            "load" | "l" => &[Touch::Load],
            "store" | "s" => &[Touch::Store],
            "stream" | "n" => &[Touch::Stream],
            other => return Err(format!("`{other}` is none of `load`, `store` and `stream`")),
        };
        let text = cell(self.address);
        let address = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let depends = match self.depends.map(cell).unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "0" | "no" | "false" => false,
            "1" | "yes" | "true" => true,
            other => return Err(format!("`{other}` is neither `yes` nor `no`")),
        };
        Ok(Access {
            thread: count(self.thread, 0, "number of a thread")?,
            instructions: count(self.instructions, 0, "number of instructions")?,
            operations,
            address: address.map_err(|_| format!("`{text}` is no address"))?,
            bytes: count(self.size, WORD, "size in bytes")?,
            depends,
        })
    }
}

/// A replay of a recorded program.
#[derive(Clone, Debug)]
pub struct RecordedProgram {
    trace: Arc<MemoryTrace>,
    dependence: Dependence,
    /// Time of an instruction that does not wait for memory.
    instruction: Span,
    /// The next step of each thread.
    next: Vec<usize>,
}

impl RecordedProgram {
    /// The program, starting at its first step.
    #[must_use]
    pub fn new(trace: Arc<MemoryTrace>, dependence: Dependence, instruction: Span) -> Self {
        let next = vec![0; trace.threads.len()];
        Self { trace, dependence, instruction, next }
    }
}

impl Program for RecordedProgram {
    fn threads(&self) -> u32 {
        self.trace.threads()
    }
    fn footprint(&self) -> u64 {
        self.trace.pages * PAGE
    }
    fn next(&mut self, thread: u32) -> Option<Step> {
        let next = &mut self.next[thread as usize];
        let recorded = *self.trace.threads[thread as usize].get(*next)?;
        *next += 1;
        let depends = match self.dependence {
            Dependence::Recorded => recorded.depends,
            Dependence::None => false,
            Dependence::All => recorded.touch == Touch::Load,
        };
        let think = Span::from_ps(self.instruction.as_ps().saturating_mul(recorded.instructions.into()));
        let Recorded { address, touch, .. } = recorded;
        Some(Step { think, address, touch, depends, ends: false, sets: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LACKEY: &str = "==7== Lackey, an example Valgrind tool\n==7==\nI  04016f29,5\nI  04016f2e,3\n L 1ffefffe58,8\n S 1ffefffe78,16\nI  04016f30,2\n M 0421c8a0,4\n L 0421c8a8,8\n==7== \n";
    const TABLE: &str = "depends,thread,operation,address,instructions\nno,9,load,0x5000,3\nyes,9,l,0x5048,1\nno,4,s,8192,0\n";

    fn steps(trace: &MemoryTrace, dependence: Dependence) -> Vec<Vec<(u64, Touch, u64, bool)>> {
        let mut program = RecordedProgram::new(Arc::new(trace.clone()), dependence, Span::from_ns(1));
        let mut of = |thread| {
            std::iter::from_fn(|| program.next(thread))
                .map(|step| (step.address, step.touch, step.think.as_ps() / 1000, step.depends))
                .collect()
        };
        (0..trace.threads()).map(&mut of).collect()
    }
    fn codes(text: &str) -> Vec<(u32, &'static str)> {
        MemoryTrace::read(text, "t").unwrap_err().iter().map(|found| (found.line, found.code)).collect()
    }

    #[test]
    fn lackey_is_one_thread_whose_pages_lie_side_by_side() {
        let trace = MemoryTrace::read(LACKEY, "t").unwrap();
        assert_eq!(
            (trace.threads(), trace.pages(), trace.steps(), trace.tells_dependence()),
            (1, 2, 5, false)
        );
        let expected = [
            (0x1e40, Touch::Load, 2, false),
            // 16 B that begin in this line and end in the next one
            (0x1e40, Touch::Store, 0, false),
            (0x1e80, Touch::Store, 0, false),
            // a modification is a load and a store; a later load from the same line is not a step
            (0x8a0 / 64 * 64, Touch::Load, 1, false),
            (0x8a0 / 64 * 64, Touch::Store, 0, false),
        ];
        assert_eq!(steps(&trace, Dependence::None), [expected]);
        let depend: Vec<bool> = steps(&trace, Dependence::All)[0].iter().map(|step| step.3).collect();
        assert_eq!(depend, [true, false, false, true, false]);
    }

    #[test]
    fn a_table_has_threads_and_says_what_depends() {
        let trace = MemoryTrace::read(TABLE, "t").unwrap();
        assert_eq!((trace.threads(), trace.pages(), trace.tells_dependence()), (2, 2, true));
        let first = vec![(0, Touch::Store, 0, false)];
        let second = vec![(0x1000, Touch::Load, 3, false), (0x1040, Touch::Load, 1, true)];
        assert_eq!(steps(&trace, Dependence::Recorded), [first, second]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(codes(""), [(1, "TR005")]);
        assert_eq!(codes("==1== nothing\n"), [(1, "TR006")]);
        assert_eq!(codes("operation,address\n"), [(1, "TR006")]);
        assert_eq!(codes("I  0,1\n L zz,4\n X 1,4\n L 12\n"), [(2, "TR005"), (3, "TR005"), (4, "TR005")]);
        let table = "operation,address,size,depends\nload,x,1,\njump,1,1,\nload,1,x,\nload,1,1,maybe\nload,0xffffffffffffffff,64,\n";
        let wrong: Vec<_> = (2..=6).map(|line| (line, "TR005")).collect();
        assert_eq!(codes(table), wrong);
        assert_eq!(codes(&format!("operation,address\n{}", "x\n".repeat(99))).len(), MOST_TOLD);
        let threads: String = (0..=MOST_THREADS).map(|thread| format!("{thread},l,0\n")).collect();
        assert_eq!(codes(&format!("thread,operation,address\n{threads}")), [(4098, "TR008")]);
        assert_eq!(MemoryTrace::unreadable("gone", "t").code, "TR001");
    }
}
