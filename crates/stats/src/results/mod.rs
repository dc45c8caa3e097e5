//! The results document: one schema for simulated, emulated and measured runs.
//!
//! ```text
//!  Results ─┬─ what ran      scenario text, complete plan, seed, digest, version, parts
//!           ├─ what came out rows · waterfalls · switches · utilisation · bottlenecks · verdicts
//!           ├─ what it rests on   assumptions · not_modelled
//!           └─ what it cost  events, TLP hops, CPU seconds
//!     │
//!     └─► save / read   results.json (whole or not at all; `complete: false` marks a run that was stopped)
//! ```
//!
//! On reading, unknown fields are ignored, and lists that are missing are empty: a document of a later minor version
//! stays readable, and so does one written by hand from a measurement. No number is made up: a row without its value is
//! an error.
//!
//! Not here: rendering, rows as CSV or Parquet (both in Python), comparison (see [`verdict`](crate::verdict)), whole
//! histograms (rows carry percentiles).
//!
//! ```
//! use lanetwin_stats::results::{Kind, Results, Row};
//! let mut results = Results::new(Kind::Simulated, "slot", "0.1.0");
//! results.rows.push(Row { metric: "throughput".into(), unit: "Gb/s".into(), value: 31.9, n: 1, ..Row::default() });
//! let json = results.to_json();
//! assert!(json.contains(r#""schema": "lanetwin-results/1""#));
//! assert_eq!(Results::from_json(&json, "results.json").unwrap(), results);
//! ```

mod actions;
mod components;
mod cxl;
mod digest;
mod iometer;
mod memory;
mod outages;
mod read;
mod row;
mod steadiness;
mod steady;
mod switches;
mod waterfall;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use actions::{ActionOutcome, LogValue, LoggedError};
pub use components::ComponentMetric;
pub use cxl::CxlUse;
pub use digest::Digest;
pub use iometer::{Attachment, IometerMetric};
pub use memory::{Relative, Temperatures};
pub use outages::LinkOutage;
pub use read::ReadError;
pub use row::{Row, X};
pub use steadiness::{Condition, Steadiness};
pub use steady::{Round, SteadyState};
pub use switches::SwitchTransit;
pub use waterfall::{Crossings, Repeat, Stage, StageOfRepeat, Waterfall};

use crate::verdict::Verdict;

/// First line of a results document: the name of the format and its major version.
pub const SCHEMA: &str = "lanetwin-results/1";

/// The results of one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Results {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Where the numbers come from.
    pub kind: Kind,
    /// The scenario's name.
    pub name: String,
    /// The scenario's own sentence on its purpose.
    #[serde(default)]
    pub about: String,
    /// The version of lanetwin that wrote this.
    pub version: String,
    /// The seed of all random streams; `None` for a measurement.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The digest of all events; `None` for a measurement.
    #[serde(default)]
    pub digest: Option<Digest>,
    /// Whether the run was completed.
    pub complete: bool,
    /// Why the run stopped early; `None` if it did not.
    #[serde(default)]
    pub stopped: Option<String>,
    /// The options of the run, from which it can be repeated.
    #[serde(default)]
    pub options: Value,
    /// The scenario as it was written.
    #[serde(default)]
    pub scenario: ScenarioText,
    /// The complete plan with every default filled in.
    #[serde(default)]
    pub plan: Value,
    /// Warnings from checking the scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ScenarioWarning>,
    /// The metrics.
    pub rows: Vec<Row>,
    /// Mean latency of operations by stage.
    #[serde(default)]
    pub waterfalls: Vec<Waterfall>,
    /// Iometer's own metrics, for workloads that run its access specifications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iometer: Vec<IometerMetric>,
    /// Whether cases with a steady-state rule became steady, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<SteadyState>,
    /// Results of commands that workloads issue at given times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionOutcome>,
    /// Links that went down, and how they came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<LinkOutage>,
    /// Time that packets spent in the switches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<SwitchTransit>,
    /// Utilisation of the links.
    #[serde(default)]
    pub utilisation: Vec<Utilisation>,
    /// Metrics of the components: their counters, and the use of their finite supplies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentMetric>,
    /// Utilisation of the CXL links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cxl: Vec<CxlUse>,
    /// Speed of the placements of a memory load relative to each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relative: Vec<Relative>,
    /// Temperatures of the cached pages of devices at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temperatures: Vec<Temperatures>,
    /// The bottleneck of each case.
    #[serde(default)]
    pub bottlenecks: Vec<Bottleneck>,
    /// Verdicts on the variants.
    #[serde(default)]
    pub verdicts: Vec<VerdictRow>,
    /// The assumed and calibrated numbers the run rested on.
    #[serde(default)]
    pub assumptions: Vec<Assumption>,
    /// What the models leave out, in sentences.
    #[serde(default)]
    pub not_modelled: Vec<String>,
    /// The parts that were used.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Files in the formats of other programs, which belong beside the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// What the run cost.
    #[serde(default)]
    pub cost: Cost,
}

/// Where the numbers of a document come from. A document never mixes kinds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Predicted in virtual time.
    Simulated,
    /// Observed by real programs on an emulated device.
    Emulated,
    /// Observed on real hardware.
    Measured,
}

/// The scenario as it was written.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ScenarioText {
    /// The file it was read from.
    pub path: String,
    /// Its text, whole.
    pub text: String,
    /// The texts of the files that it names, by those names; long ones are in the plan only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// A warning about the scenario: it ran, but its numbers may not be what its author meant.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ScenarioWarning {
    /// Its code, which `lanetwin explain` explains.
    pub code: String,
    /// The file it is about.
    pub file: String,
    /// Line, from 1; 0 if it is about the file as a whole.
    pub line: u32,
    /// Column, from 1, in characters; 0 if it is about the file as a whole.
    pub column: u32,
    /// The place in the document: `links.slot.width`.
    pub path: String,
    /// What is doubtful about it.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Utilisation of one direction of one link: fractions of the time, 0 to 1.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Utilisation {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The link's name.
    pub link: String,
    /// From where to where ("card → host").
    pub direction: String,
    /// First transmission of TLPs.
    pub tlp: f64,
    /// Transmission of messages that ports send of their own accord.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub message: f64,
    /// Transmission of DLLPs.
    pub dllp: f64,
    /// Transmission of SKP ordered sets.
    pub skp: f64,
    /// Replays of TLPs.
    pub replay: f64,
    /// Nothing is sent.
    pub idle: f64,
    /// Nothing is sent although a TLP waits, for want of credits; a part of `idle`.
    pub credit_stall: f64,
    /// Nothing is sent because the link is down or in Recovery.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub down: f64,
    /// Mean number of packets that wait.
    pub mean_queue: f64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}
fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

/// The bottleneck of one case.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Bottleneck {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The supply that limits ("slot: card → host").
    pub name: String,
    /// The evidence, as a sentence.
    pub why: String,
    /// What several are called that are full together, each with its component ("driver/ssd1: cores"); empty of one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<String>,
}

/// The verdict on one metric of a variant against the baseline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VerdictRow {
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The metric's name.
    pub metric: String,
    /// The variant it is compared with.
    pub baseline: String,
    /// The variant that is judged.
    pub variant: String,
    /// The relative change: 0.021 is 2.1 % more.
    pub change: f64,
    /// Lower end of its interval; `None` for single samples.
    pub low: Option<f64>,
    /// Upper end of its interval; `None` for single samples.
    pub high: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The relative change that is negligible: 0.02 is ±2 %.
    pub margin: f64,
    /// Which of both was not steady, and why: a longer run may then give another verdict. Empty if both were steady.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub not_steady: String,
    /// The samples behind the interval.
    #[serde(default)]
    pub spread: Spread,
    /// How many metrics were judged together, where that is why the verdict is none: the interval, which is of this one
    /// alone, leaves zero out. 0 elsewhere.
    #[serde(default, skip_serializing_if = "is_none")]
    pub judged_together: u64,
}

/// The samples behind the interval of a change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Repeats with other random numbers.
    #[default]
    Repeats,
    /// Of batches of one repeat.
    Batches,
    /// One sample of each variant: there is no interval.
    None,
}

/// A number behind the results that nobody has published for this part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// The part's name.
    pub part: String,
    /// The parameter's name.
    pub parameter: String,
    /// Its value with the unit ("80 ns").
    pub value: String,
    /// Assumed or calibrated.
    pub kind: AssumptionKind,
    /// Why this value.
    #[serde(default)]
    pub note: String,
    /// Where it comes from.
    #[serde(default)]
    pub source: String,
}

/// The origin of an unpublished number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssumptionKind {
    /// Chosen, with a reason.
    Assumed,
    /// Fitted to a measurement.
    Calibrated,
}

/// A part of the catalogue that was used.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its grade of fidelity.
    pub grade: String,
    /// What it was validated against, with the error.
    pub validated: String,
}

/// What a run cost.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// Events the kernel has delivered.
    pub events: u64,
    /// Times a transaction-layer packet has crossed a link.
    pub tlp_hops: u64,
    /// Processor time \[s\].
    pub cpu_seconds: f64,
    /// Peak memory of the process up to the end of the run \[B\]; `None` if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}

impl Results {
    /// An empty document, not complete until its author marks it so.
    #[must_use]
    pub fn new(kind: Kind, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            schema: SCHEMA.into(),
            kind,
            name: name.into(),
            about: String::new(),
            version: version.into(),
            seed: None,
            digest: None,
            complete: false,
            stopped: None,
            options: Value::Null,
            scenario: ScenarioText::default(),
            plan: Value::Null,
            warnings: Vec::new(),
            rows: Vec::new(),
            waterfalls: Vec::new(),
            iometer: Vec::new(),
            steady: Vec::new(),
            actions: Vec::new(),
            outages: Vec::new(),
            switches: Vec::new(),
            utilisation: Vec::new(),
            components: Vec::new(),
            cxl: Vec::new(),
            relative: Vec::new(),
            temperatures: Vec::new(),
            bottlenecks: Vec::new(),
            verdicts: Vec::new(),
            assumptions: Vec::new(),
            not_modelled: Vec::new(),
            parts: Vec::new(),
            attachments: Vec::new(),
            cost: Cost::default(),
        }
    }

    /// Reads `results.json`.
    ///
    /// # Errors
    /// A [`ReadError`]: what is wrong with the file, where, and what to do.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let (text, file) = read::text_of(path)?;
        Self::from_json(&text, &file)
    }

    /// Reads a document from its text; `file` is the name that errors give it.
    ///
    /// # Errors
    /// As [`Results::read`].
    pub fn from_json(text: &str, file: &str) -> Result<Self, ReadError> {
        read::document(text, file, SCHEMA)
    }

    /// The document as indented JSON with a final newline.
    ///
    /// A value that is NaN or infinite becomes `null`, which cannot be read back as a number.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("every key of the document is a string");
        json.push('\n');
        json
    }

    /// Writes `results.json` whole or not at all: writes a neighbouring file first, then renames it.
    ///
    /// # Errors
    /// Errors of the file system; the neighbouring file is removed.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let neighbour = path.with_file_name(name);
        let written =
            std::fs::write(&neighbour, self.to_json()).and_then(|()| std::fs::rename(&neighbour, path));
        if written.is_err() {
            // the file may not exist; the first error is the one to report
            let _ = std::fs::remove_file(&neighbour);
        }
        written
    }
}
