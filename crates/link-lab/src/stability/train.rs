//! Training of a channel's link, state by state from power on to L0.

use super::host::{DEVICE, PORT, Simulated};
use super::numbers::{self, Basis};
use super::ready::{Margin, Options, TO_COME_UP, VariantAnswers, links};
use crate::channel::Channel;
use lanetwin_document::problem::Diagnostic;
use lanetwin_pcie::logic::ltssm::link::{Facing, SimulatedLink, Transition};
use lanetwin_pcie::spec::link_words::{EqualizationStatus, LinkStatus2};
use lanetwin_probe::registers::{LINK_STATUS, LINK_STATUS_2, STATUS_16, STATUS_32};
use lanetwin_probe::{Function, Problem};
use lanetwin_units::Instant;
use serde::Serialize;

/// A state that a port entered.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Step {
    /// Time \[s after power on\].
    pub at_s: f64,
    /// `port` or `device`.
    pub end: &'static str,
    /// The state, with its substate.
    pub state: &'static str,
    /// The rate \[number of the generation\].
    pub generation: u8,
}

/// The result of equalisation at a rate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Equalised {
    /// The rate \[number of the generation\].
    pub generation: u8,
    /// Whether it is complete.
    pub complete: bool,
    /// Phases 1 to 3.
    pub phases: [bool; 3],
}

/// The training of a link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Training {
    /// The variant.
    pub variant: String,
    /// Whether the data link layer is active at the end.
    pub up: bool,
    /// Time from which the port stays in L0 \[s after power on\].
    pub up_after_s: Option<f64>,
    /// The rate at the end \[number of the generation\]; 0 if the link is down.
    pub generation: u8,
    /// The highest rate that both ends support \[number of the generation\].
    pub best_generation: u8,
    /// The lanes at the end; 0 if the link is down.
    pub width: u8,
    /// The lanes that both ends have.
    pub best_width: u8,
    /// Number of retimers detected.
    pub retimers: u8,
    /// Codes of failures during training.
    pub codes: Vec<&'static str>,
    /// The result of equalisation at each rate that the port reports.
    pub equalisation: Vec<Equalised>,
    /// The states of both ends, in the order of time.
    pub steps: Vec<Step>,
}

/// The trainings of a channel's variants.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrainReport {
    /// `link-train`.
    pub kind: &'static str,
    /// The name of the channel.
    pub name: String,
    /// The description's question.
    pub about: String,
    /// Each variant.
    pub variants: Vec<Training>,
    /// The answers for the receivers of each variant.
    pub answers: Vec<VariantAnswers>,
    /// The margins behind the results.
    pub margins: Vec<Margin>,
    /// The other numbers behind the results.
    pub numbers: &'static [Basis],
    /// Warnings: what may not be as the author meant it.
    pub warnings: Vec<Diagnostic>,
}

/// Powers the links of a channel on.
///
/// # Errors
/// Errors in the channel or in the request.
pub fn train(channel: &Channel, options: &Options) -> Result<TrainReport, Vec<Diagnostic>> {
    let (mut variants, mut answers, mut margins) = (Vec::new(), Vec::new(), Vec::new());
    for ready in links(channel, options)? {
        let best = (ready.config.downstream.max_generation.number(), ready.config.downstream.width);
        let link = SimulatedLink::new(ready.config, options.seed).map_err(|error| {
            vec![super::diagnostic(&Problem::NoTraining { rate: format!("{error:?}") }.at(&ready.name))]
        })?;
        variants.push(watch(&ready.name, link, (best.0, best.1.lanes() as u8)));
        answers.extend(ready.answers);
        margins.extend(ready.margins);
    }
    Ok(TrainReport {
        kind: "link-train",
        name: channel.name.clone(),
        about: channel.about.clone(),
        variants,
        answers,
        margins,
        numbers: numbers::ALL,
        warnings: channel.warnings.clone(),
    })
}

fn watch(name: &str, mut link: SimulatedLink, (best_generation, best_width): (u8, u8)) -> Training {
    let start = link.now();
    link.set_power(true);
    link.wait(TO_COME_UP);
    let transitions = link.take_transitions();
    let codes = link.take_codes().iter().map(|code| code.text()).collect();
    let mut machine = Simulated { link };
    let mut training = Training {
        variant: name.to_owned(),
        up: false,
        up_after_s: None,
        generation: 0,
        best_generation,
        width: 0,
        best_width,
        retimers: 0,
        codes,
        equalisation: Vec::new(),
        steps: transitions.iter().map(|transition| step(transition, start)).collect(),
    };
    // a port whose device does not respond still has its own registers
    let Ok(port) = Function::find(&mut machine, PORT) else { return training };
    let status = port.read(&mut machine, LINK_STATUS).ok().flatten().unwrap_or_default();
    training.up = status.active() && Function::find(&mut machine, DEVICE).is_ok();
    if status.active() {
        (training.generation, training.width) = (status.speed(), status.width());
        let to_l0 =
            |transition: &&Transition| transition.port == Facing::Downstream && transition.to.is_link_up();
        let last = transitions.iter().rfind(to_l0);
        training.up_after_s = last.map(|transition| seconds(transition.at, start));
    }
    let second: LinkStatus2 = port.read(&mut machine, LINK_STATUS_2).ok().flatten().unwrap_or_default();
    training.retimers = if second.two_retimers() { 2 } else { u8::from(second.retimer()) };
    let at_8 = Equalised {
        generation: 3,
        complete: second.complete(),
        phases: [second.phase_1(), second.phase_2(), second.phase_3()],
    };
    training.equalisation.push(at_8);
    for (generation, register) in [(4, STATUS_16), (5, STATUS_32)] {
        let found: Option<EqualizationStatus> = port.read(&mut machine, register).ok().flatten();
        training.equalisation.extend(found.map(|status| Equalised {
            generation,
            complete: status.complete(),
            phases: [status.phase_1(), status.phase_2(), status.phase_3()],
        }));
    }
    training.equalisation.retain(|one| one.generation <= best_generation);
    training
}

fn seconds(at: Instant, start: Instant) -> f64 {
    at.since(start).as_ps() as f64 / 1e12
}

fn step(transition: &Transition, start: Instant) -> Step {
    Step {
        at_s: seconds(transition.at, start),
        end: if transition.port == Facing::Downstream { "port" } else { "device" },
        state: transition.to.name(),
        generation: transition.generation,
    }
}
