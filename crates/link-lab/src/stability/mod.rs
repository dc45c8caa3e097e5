//! Training and stability cycles of a channel's link.
//!
//! ```text
//!  link.yaml ─► channel ─► eyes at every rate ─► SimulatedLink ─┬► train    states with their times, speed, width
//!                                                               ├► cycles   the probe's own runner, on registers
//!                                                               └► comebacks  how long, and at which rate, for a drive
//!  lspci dump ─► fed: configuration space of the dump, its link simulated ┘
//! ```
//!
//! The runner is that of real machines (`lanetwin-probe`): it only sees registers and time, and does not know what
//! implements them.
//!
//! Not here: the states of training (`lanetwin-pcie`), the tests and their proofs (`lanetwin-probe`), eyes
//! (`lanetwin-phy`).

mod chosen;
mod comeback;
mod dump;
mod findings;
mod host;
mod link;
mod numbers;
mod ready;
mod train;

pub use chosen::only;
pub use comeback::{Cause, Comeback, comebacks};
pub use dump::cycle_dump;
pub use findings::{diagnostic, diagnostics};
pub use host::{DEVICE, PORT, Simulated};
pub use link::{LinkRequest, link, open_link};
pub use numbers::Basis;
pub(crate) use ready::links;
pub use ready::{Margin, Options, VariantAnswers};
pub use train::{TrainReport, Training, train};

use crate::channel::Channel;
use lanetwin_document::problem::Diagnostic;
use lanetwin_pcie::logic::ltssm::link::{LinkConfig, SimulatedLink};
use lanetwin_probe::cycle::{Progress, Series, Watcher};
use lanetwin_probe::drive::{Report, Request, cycle_known};
use lanetwin_probe::{Function, Problem};
use ready::TO_COME_UP;
use serde::Serialize;

/// The cycles of a channel's links.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CyclesReport {
    /// The series of the variants.
    #[serde(flatten)]
    pub report: Report,
    /// The answers for the receivers of each variant.
    pub answers: Vec<VariantAnswers>,
    /// The margins behind the results.
    pub margins: Vec<Margin>,
    /// The other numbers behind the results.
    pub numbers: &'static [Basis],
}

/// Cycles the links of all variants of a channel with the runner for real machines.
///
/// # Errors
/// Errors in the channel or in the request.
pub fn cycles(
    channel: &Channel,
    options: &Options,
    request: &Request,
    watch: &mut dyn FnMut(&str, &Progress) -> core::ops::ControlFlow<()>,
) -> Result<CyclesReport, Vec<Diagnostic>> {
    let wish = request.wish().map_err(|found| diagnostics(&found))?;
    let mut report = Report::new(channel.name.clone(), channel.about.clone());
    let (mut answers, mut margins) = (Vec::new(), Vec::new());
    for ready in links(channel, options)? {
        let mut watch_this = |progress: &Progress| watch(&ready.name, progress);
        let (series, complete) = cycle_one(&ready.name, ready.config, options.seed, &wish, &mut watch_this)?;
        report.series.push(series);
        answers.extend(ready.answers);
        margins.extend(ready.margins);
        if !complete {
            report.complete = false;
            break;
        }
    }
    report.add_power();
    Ok(CyclesReport { report, answers, margins, numbers: numbers::ALL })
}

/// Powers a link on and cycles it. A link that does not come up is cycled, too: its cycles fail with the codes of its
/// training.
pub(crate) fn cycle_one(
    name: &str,
    config: LinkConfig,
    seed: u64,
    wish: &lanetwin_probe::cycle::CyclePlan,
    watch: &mut Watcher<'_>,
) -> Result<(Series, bool), Vec<Diagnostic>> {
    // the offsets of registers are the same for a link that is up, whatever the state of this one
    let wanted = LinkRequest { width: config.downstream.width, utilisation: 0.0, seed };
    let twin = open_link(name, config.downstream.max_generation, 0, wanted);
    let mut twin = powered(name, twin, seed)?;
    let find = |twin: &mut Simulated, at| {
        Function::find(twin, at).map_err(|error| refused_by_simulation(name, &error.to_string()))
    };
    let ends = (find(&mut twin, PORT)?, find(&mut twin, DEVICE)?);
    let mut machine = powered(name, config, seed)?;
    cycle_known(&mut machine, name, ends, wish, None, &mut |_| Ok(()), watch)
        .map_err(|found| diagnostics(&found))
}

/// A link that was powered on and given time to come up.
fn powered(name: &str, config: LinkConfig, seed: u64) -> Result<Simulated, Vec<Diagnostic>> {
    let link = SimulatedLink::new(config, seed)
        .map_err(|error| refused_by_simulation(name, &format!("{error:?}")))?;
    let mut machine = Simulated { link };
    machine.link.set_power(true);
    machine.link.wait(TO_COME_UP);
    Ok(machine)
}

fn refused_by_simulation(name: &str, said: &str) -> Vec<Diagnostic> {
    vec![diagnostic(&Problem::NoTraining { rate: said.to_owned() }.at(name))]
}
