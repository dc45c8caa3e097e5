//! An emulated drive as an object of Python: bytes in, bytes out, with the interpreter lock released during waits.

use crate::core_api::{self, Failure, json, refused};
use crate::refusal::refusal;
use lanetwin_doors::awake::{Awake, LIMIT};
use lanetwin_doors::command::{Command, Kind};
use lanetwin_doors::cores::Cores;
use lanetwin_doors::drive::{Choice, Drive, Facts};
use lanetwin_doors::engine::Reply;
use lanetwin_doors::faults::Fault;
use lanetwin_doors::file::FileStore;
use lanetwin_doors::local::{Gone, Local, Pacing};
use lanetwin_doors::problem::Problem;
use lanetwin_doors::record::Record;
use lanetwin_ssd::{ByteStore, SparseMemory};
use lanetwin_units::{Instant, Span};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The options with which a drive is opened.
#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    sets: Vec<String>,
    variant: Option<String>,
    drive: Option<String>,
    bytes: Option<u64>,
    data: Option<PathBuf>,
    /// Other drives that are served together with it.
    #[serde(default)]
    others: Vec<Beside>,
    record: Option<PathBuf>,
    /// The file with the secrets of the hosts that NVMe/TCP admits.
    keys: Option<PathBuf>,
    seed: Option<u64>,
    #[serde(default)]
    virtual_time: bool,
    #[serde(default)]
    outside: bool,
    /// Whether cores are kept awake while the drive is used.
    #[serde(default)]
    awake: bool,
    /// The core that the door has for itself.
    core: Option<usize>,
}

/// Another drive that is served, and the file with its data.
#[derive(Deserialize)]
struct Beside {
    drive: String,
    data: Option<PathBuf>,
}

/// A reply: ticket, status, data, latency \[ps\], time \[ps\].
type Told<'py> = (u64, &'static str, Bound<'py, PyBytes>, u64, u64);

/// A drive of a scenario that is emulated in this process.
#[pyclass(frozen)]
pub struct Device(Local);

/// The drive that options choose, with its data.
pub struct Chosen {
    pub drive: Drive,
    /// Its data, and those of the other drives.
    pub stores: Vec<Box<dyn ByteStore + Send>>,
    /// Whether it runs in real time or in virtual time.
    pacing: Pacing,
    /// The file in which its commands are recorded.
    pub record: Option<Record>,
    /// The file with the secrets of hosts.
    pub keys: Option<PathBuf>,
    pub cores: Cores,
}

/// Chooses the drive of a scenario, and opens its data.
pub fn choose(path: &str, options: &str) -> Result<Chosen, Failure> {
    let wanted: Wanted = core_api::parse(options, "the options of the drive")?;
    let Wanted { sets, variant, drive, bytes, data, others, record, keys, seed, .. } = wanted;
    let plan = core_api::plan_of(path, &sets, wanted.outside).map_err(|found| refused(&found))?;
    let wrong = |problem: Problem| refused(&[problem.at(path)]);
    let (names, files): (Vec<_>, Vec<_>) = others.into_iter().map(|other| (other.drive, other.data)).unzip();
    let mut drive = Drive::choose(&plan, &Choice { variant, drive, bytes, others: names }).map_err(wrong)?;
    drive.seed = seed.map_or(drive.seed, |seed| lanetwin_world::seed_of(seed, 0));
    if record.is_some() && !drive.others.is_empty() {
        return Err(wrong(Problem::NotTogether { said: "a record tells of one drive".into() }));
    }
    let files = std::iter::once(data).chain(files);
    let stores = drive.all_facts().into_iter().zip(files).map(|(facts, file)| store(facts, file));
    let stores = stores.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let record = record.map(|file| Record::create(&file)).transpose().map_err(wrong)?;
    let pacing = if wanted.virtual_time { Pacing::Virtual } else { Pacing::Real };
    let awake = if wanted.awake { Awake::by(Path::new(LIMIT)) } else { Awake::not_wanted() };
    let cores = Cores::new(awake, wanted.core).map_err(wrong)?;
    Ok(Chosen { drive, stores, pacing, record, keys, cores })
}

/// The store of a drive's data: a file, or memory.
fn store(facts: Facts, file: Option<PathBuf>) -> Result<Box<dyn ByteStore + Send>, Problem> {
    Ok(match file {
        None => Box::new(SparseMemory::new()),
        Some(file) => Box::new(FileStore::open(&file, facts.bytes)?),
    })
}

fn open(path: &str, options: &str) -> Result<Local, Failure> {
    let Chosen { drive, mut stores, pacing, cores, .. } = choose(path, options)?;
    let store = stores.pop().filter(|_| stores.is_empty());
    let alone = || refused(&[Problem::NotTogether { said: "a program opens one drive".into() }.at(path)]);
    Local::open(drive, store.ok_or_else(alone)?, (pacing, cores.awake))
        .map_err(|error| Failure::Message(format!("no thread for the drive: {error}")))
}

/// The kind of command with this name in Python.
fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "read" => Kind::Read,
        "write" => Kind::Write,
        "compare" => Kind::Compare,
        "flush" => Kind::Flush,
        "trim" => Kind::Deallocate,
        "write-zeroes" => Kind::WriteZeroes,
        _ => return None,
    })
}

fn gone(py: Python<'_>) -> PyErr {
    refusal(py, Failure::Message("the drive is closed: open it again".into()))
}

fn told(py: Python<'_>, replies: Vec<(Instant, Reply)>) -> Vec<Told<'_>> {
    let one = |(at, Reply { ticket, ended, data, latency }): (Instant, Reply)| {
        (ticket, ended.name(), PyBytes::new(py, &data), latency.as_ps(), at.as_ps())
    };
    replies.into_iter().map(one).collect()
}

#[pymethods]
impl Device {
    /// Opens a drive. `options`: `{"sets": […], "variant", "drive", "bytes", "data", "seed", "virtual_time",
    /// "outside", "awake"}`.
    #[new]
    fn new(py: Python<'_>, path: &str, options: &str) -> PyResult<Self> {
        py.detach(|| open(path, options)).map(Self).map_err(|failure| refusal(py, failure))
    }
    /// The properties of the drive: `{"bytes", "block", "is_volatile", "atomic"}`.
    fn facts(&self, py: Python<'_>) -> PyResult<String> {
        let facts = self.0.facts();
        let said = serde_json::json!({
            "bytes": facts.bytes, "block": facts.block, "is_volatile": facts.is_volatile, "atomic": facts.atomic,
        });
        json(&said).map_err(|failure| refusal(py, failure))
    }
    /// Submits a command. Returns its ticket, which is also in the reply.
    #[pyo3(signature = (name, first, length, data=None, fua=false))]
    fn ask(
        &self,
        py: Python<'_>,
        name: &str,
        first: u64,
        length: u64,
        data: Option<&[u8]>,
        fua: bool,
    ) -> PyResult<u64> {
        let bytes = u32::try_from(length).ok();
        let (Some(kind), Some(bytes)) = (kind(name), bytes) else {
            let said =
                format!("`{name}` of so many bytes is nothing that a drive does: at most 4 GiB at a time");
            return Err(refusal(py, Failure::Message(said)));
        };
        let data = data.map(<[u8]>::to_vec).unwrap_or_default();
        let command = Command { fua, data, ..Command::of(kind, first, bytes) };
        let asked = self.0.ask(command);
        let asked = asked.map_err(|problem| refusal(py, refused(&[problem.at("drive")])))?;
        asked.map_err(|Gone| gone(py))
    }
    /// Submits a request that is answered at once, without the drive. Returns its ticket.
    fn echo(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.echo().map_err(|Gone| gone(py))
    }
    /// Waits for replies in real time, for at most this many seconds.
    fn take<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Vec<Told<'py>>> {
        let timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let taken = py.detach(|| self.0.take(timeout));
        Ok(told(py, taken.map_err(|Gone| gone(py))?))
    }
    /// Lets virtual time pass until the next replies; `None` if no command is in progress.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Told<'py>>>> {
        let waited = py.detach(|| self.0.wait()).map_err(|Gone| gone(py))?;
        Ok(waited.map(|(at, replies)| told(py, replies.into_iter().map(|reply| (at, reply)).collect())))
    }
    /// Injects a fault: `{"fault": "media-error", "first", "bytes"}`, `slow-die`, `link-down`, `lie`, `none`.
    fn fault(&self, py: Python<'_>, fault: &str) -> PyResult<()> {
        let fault: Fault = core_api::parse(fault, "the fault").map_err(|failure| refusal(py, failure))?;
        self.0.fault(fault).map_err(|Gone| gone(py))
    }
    /// Cuts the power. Returns how many atomic units of data that were not durable are kept, and how many are lost.
    fn power_cut(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let outcome = py.detach(|| self.0.power_cut()).map_err(|Gone| gone(py))?;
        Ok((outcome.kept, outcome.lost))
    }
    /// Restores the power.
    fn power_on(&self, py: Python<'_>) -> PyResult<()> {
        self.0.power_on().map_err(|Gone| gone(py))
    }
    /// Sets by how much earlier replies leave \[ns\].
    fn set_lead(&self, py: Python<'_>, ns: u64) -> PyResult<()> {
        self.0.set_lead(Span::from_ns(ns)).map_err(|Gone| gone(py))
    }
    /// How late replies were.
    fn lateness(&self, py: Python<'_>) -> PyResult<String> {
        let told = py.detach(|| self.0.lateness()).map_err(|Gone| gone(py))?;
        json(&told).map_err(|failure| refusal(py, failure))
    }
    /// Resets the statistics of how late replies were.
    fn forget_lateness(&self, py: Python<'_>) -> PyResult<()> {
        self.0.forget_lateness().map_err(|Gone| gone(py))
    }
    /// Closes the drive. Returns whether all acknowledged data are written.
    fn close(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.close())
    }
}
