//! What becomes of a channel's link: whether and how it trains, and how it holds in stability cycles.
//!
//! ```text
//!  link.yaml ─► channel ─► eyes at every rate ─► SimulatedLink ─┬► train    states with their times, speed, width
//!                                                               └► cycles   the probe's own runner, on registers
//!  lspci dump ─► fed: configuration space of the dump, its link simulated ┘
//! ```
//!
//! The runner is that of real machines (`lanetwin-probe`): it sees registers and time, and knows nothing of what
//! answers.
//!
//! Not here: the states of training (`lanetwin-pcie`), the tests and their proofs (`lanetwin-probe`), eyes
//! (`lanetwin-phy`).

mod fed;
mod host;
mod link;
mod numbers;
mod train;

pub use fed::cycle_dump;
pub use host::{DEVICE, PORT, Simulated};
pub use link::{Wanted, link, open_link};
pub use numbers::Basis;
pub use train::{TrainReport, Training, train};

use crate::channel::{Benches, Channel, RateEyes, receivers};
use lanetwin_document::problem::{Diagnostic, Severity};
use lanetwin_pcie::logic::ltssm::link::{LinkConfig, SimulatedLink};
use lanetwin_probe::cycle::{Progress, Series, Watcher};
use lanetwin_probe::drive::{Report, Request, cycle_known};
use lanetwin_probe::{Finding, Function, Problem};
use lanetwin_units::Span;
use serde::{Deserialize, Serialize};

/// How long a link has to come up after power on \[ps\].
const TO_COME_UP: Span = Span::from_us(2_000_000);

/// What is asked about the links of a channel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The variants; all if none is named.
    pub variants: Vec<String>,
    /// The lanes.
    pub width: u64,
    /// The share of the time that TLPs are on the wire while the link is watched, 0 to 1.
    pub utilisation: f64,
    /// Where randomness begins.
    pub seed: u64,
}

impl Default for Options {
    /// All variants with four lanes, as drives have, and no traffic.
    fn default() -> Self {
        Self { variants: Vec::new(), width: 4, utilisation: 0.0, seed: 1 }
    }
}

/// The margin of a receiver, as it is told.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Margin {
    /// The variant.
    pub variant: String,
    /// The rate.
    pub rate: &'static str,
    /// The segment, from 0.
    pub segment: usize,
    /// Its first element and its last.
    pub between: (String, String),
    /// Height at the bit error ratio of the mask \[V\].
    pub height_v: f64,
    /// The mask's \[V\].
    pub mask_height_v: f64,
    /// Width \[UI\].
    pub width_ui: f64,
    /// Bit error ratio at the sampling point.
    pub ber: f64,
}

/// The cycles of a channel's links.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CyclesReport {
    /// The series of the variants.
    #[serde(flatten)]
    pub report: Report,
    /// The margins that they rest on.
    pub margins: Vec<Margin>,
    /// The other numbers that they rest on.
    pub numbers: &'static [Basis],
}

/// A variant ready to be powered on.
pub(crate) struct Ready {
    pub name: String,
    pub config: LinkConfig,
    pub margins: Vec<Margin>,
}

/// The links of a channel's variants.
pub(crate) fn links(channel: &Channel, options: &Options) -> Result<Vec<Ready>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let known: Vec<&str> = channel.variants.iter().map(|variant| variant.name.as_str()).collect();
    for name in options.variants.iter().filter(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        found.push(told(&Problem::UnknownVariant { name: name.clone(), known }.at(&channel.path)));
    }
    let width = lanetwin_units::Width::from_lanes(options.width);
    if width.is_none() || !(0.0..=1.0).contains(&options.utilisation) {
        found.push(told(
            &Problem::Link { lanes: options.width, utilisation: options.utilisation }.at("--width"),
        ));
    }
    let Some(width) = width.filter(|_| found.is_empty()) else { return Err(found) };
    let wanted = Wanted { width, utilisation: options.utilisation, seed: options.seed };
    let benches = Benches::of(channel)?;
    let chosen = |name: &str| options.variants.is_empty() || options.variants.iter().any(|one| one == name);
    let mut ready = Vec::new();
    for variant in channel.variants.iter().filter(|variant| chosen(&variant.name)) {
        let eyes = receivers(channel, variant, &benches)?;
        let config = link(&variant.name, variant.rate, &eyes, wanted);
        ready.push(Ready { name: variant.name.clone(), config, margins: margins(&variant.name, &eyes) });
    }
    Ok(ready)
}

fn margins(variant: &str, eyes: &[RateEyes]) -> Vec<Margin> {
    let of_rate = |rate: &RateEyes| {
        let of_segment = |(segment, eye): (usize, &crate::channel::ReceiverEye)| Margin {
            variant: variant.to_owned(),
            rate: rate.rate.name(),
            segment,
            between: eye.between.clone(),
            height_v: eye.height_v,
            mask_height_v: eye.mask_height_v,
            width_ui: eye.width_ui,
            ber: eye.ber,
        };
        rate.segments.iter().enumerate().map(of_segment).collect::<Vec<_>>()
    };
    eyes.iter().flat_map(of_rate).collect()
}

/// Cycles the links of a channel: every variant, with the runner of real machines.
///
/// # Errors
/// What is wrong with the channel, or with what is asked.
pub fn cycles(
    channel: &Channel,
    options: &Options,
    request: &Request,
    watch: &mut dyn FnMut(&str, &Progress) -> core::ops::ControlFlow<()>,
) -> Result<CyclesReport, Vec<Diagnostic>> {
    let wish = request.wish().map_err(|found| all_told(&found))?;
    let mut report = Report::new(channel.name.clone(), channel.about.clone());
    let mut margins = Vec::new();
    for ready in links(channel, options)? {
        let mut watch_this = |progress: &Progress| watch(&ready.name, progress);
        let (series, complete) = cycle_one(&ready.name, ready.config, options.seed, &wish, &mut watch_this)?;
        report.series.push(series);
        margins.extend(ready.margins);
        if !complete {
            report.complete = false;
            break;
        }
    }
    report.add_power();
    Ok(CyclesReport { report, margins, numbers: numbers::ALL })
}

/// Powers a link on and cycles it. A link that does not come up is cycled too: its cycles fail, with the codes of its
/// training.
pub(crate) fn cycle_one(
    name: &str,
    config: LinkConfig,
    seed: u64,
    wish: &lanetwin_probe::cycle::Wish,
    watch: &mut Watcher<'_>,
) -> Result<(Series, bool), Vec<Diagnostic>> {
    // the registers of a link that is up say where they are, whatever becomes of this one
    let wanted = Wanted { width: config.downstream.width, utilisation: 0.0, seed };
    let twin = open_link(name, config.downstream.max_generation, 0, wanted);
    let mut twin = powered(name, twin, seed)?;
    let find = |twin: &mut Simulated, at| {
        Function::find(twin, at).map_err(|error| refused_by_simulation(name, &error.to_string()))
    };
    let ends = (find(&mut twin, PORT)?, find(&mut twin, DEVICE)?);
    let mut machine = powered(name, config, seed)?;
    cycle_known(&mut machine, name, ends, wish, None, &mut |_| Ok(()), watch)
        .map_err(|found| all_told(&found))
}

/// A link that had its time to come up.
fn powered(name: &str, config: LinkConfig, seed: u64) -> Result<Simulated, Vec<Diagnostic>> {
    let link = SimulatedLink::new(config, seed)
        .map_err(|error| refused_by_simulation(name, &format!("{error:?}")))?;
    let mut machine = Simulated { link };
    machine.link.set_power(true);
    machine.link.wait(TO_COME_UP);
    Ok(machine)
}

fn refused_by_simulation(name: &str, said: &str) -> Vec<Diagnostic> {
    vec![told(&Problem::NoTraining { rate: said.to_owned() }.at(name))]
}

/// A finding of the probe as a diagnostic.
#[must_use]
pub fn told(finding: &Finding) -> Diagnostic {
    let severity = match finding.severity {
        lanetwin_probe::Severity::Error => Severity::Error,
        lanetwin_probe::Severity::Warning => Severity::Warning,
    };
    Diagnostic {
        file: finding.place.clone(),
        line: 0,
        column: 0,
        code: finding.code,
        severity,
        path: String::new(),
        message: finding.message.clone(),
        help: finding.help.clone(),
    }
}

/// Findings as diagnostics.
#[must_use]
pub fn all_told(found: &[Finding]) -> Vec<Diagnostic> {
    found.iter().map(told).collect()
}
