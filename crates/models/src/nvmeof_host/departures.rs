//! What a host knows of how it leaves targets on purpose: what each departure has come to, and counts.

use crate::roles::nvmeof::Leave;
use lanetwin_kernel::{Metric, Report};
use lanetwin_ports::QueuePairId;
use lanetwin_units::{Better, Instant, Span};
use std::collections::BTreeMap;

const ENDED: Metric = Metric::new("connections ended", "", Better::Higher).if_any("connections ended");
const FLUSHED: Metric = Metric::new("commands flushed", "", Better::Lower).if_any("connections ended");
const TOOK: Metric = Metric::new("disconnect took", "ms", Better::Lower).if_any("connections ended");
const AGAIN: Metric =
    Metric::new("disconnect requests sent again", "", Better::Lower).if_any("disconnect requests sent again");
const UNANSWERED: Metric =
    Metric::new("disconnect requests unanswered", "", Better::Lower).if_any("disconnect requests sent again");

/// What is done when its time has come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    /// This departure begins.
    Begin(usize),
    /// The controller has had long enough to shut down.
    ShutDown(usize),
    /// The request of the queue of this place for the end of this connection, so many times sent, has no answer.
    Unanswered(usize, (u32, u64)),
    /// A look at what the connection manager of this place is told.
    Manager(usize),
    /// The host of this departure connects again.
    Back(usize),
}

/// How a queue is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// Which departure it is of.
    pub(super) departure: usize,
    /// What the target calls its end of the connection, and how often its end was asked for; none before, and behind
    /// it.
    pub(super) asks: Option<(u32, u64)>,
    /// Whether its transport has given up.
    pub(super) given_up: bool,
}

impl Leaving {
    /// Its transport has no answer.
    pub(super) const fn give_up(&mut self) {
        self.given_up = true;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// It has not begun, or is over.
    Off,
    /// What was asked is answered.
    Draining,
    /// The controller is shut down.
    ShuttingDown,
    /// Connections end.
    Closing,
    /// They have.
    Left,
}

#[derive(Debug)]
pub(super) struct Departure {
    pub(super) plan: Leave,
    pub(super) stage: Stage,
    /// Whether it is time to connect again.
    pub(super) back: bool,
}

/// What a host knows of its departures.
#[derive(Debug, Default)]
pub(super) struct Departures {
    pub(super) all: Vec<Departure>,
    /// The places of queues by the handles of their connection managers.
    pub(super) managers: BTreeMap<u32, usize>,
    pub(super) ended: u64,
    pub(super) flushed: u64,
    pub(super) again: u64,
    pub(super) unanswered: u64,
    /// The longest that one has taken.
    pub(super) took: Span,
}

impl Departures {
    pub(super) fn know(&mut self, manager: Option<QueuePairId>, place: usize) {
        self.managers.extend(manager.map(|pair| (pair.0.into(), place)));
    }
    pub(super) fn plan(&mut self, leaves: Vec<Leave>) {
        let departure = |plan| Departure { plan, stage: Stage::Off, back: false };
        self.all = leaves.into_iter().map(departure).collect();
    }
    /// When something is to be done.
    pub(super) fn dues(&self) -> Vec<(Instant, Due)> {
        let of = |(place, one): (usize, &Departure)| {
            let back = one.plan.back.map(|at| (at, Due::Back(place)));
            [Some((one.plan.at, Due::Begin(place))), back].into_iter().flatten()
        };
        self.all.iter().enumerate().flat_map(of).collect()
    }
    pub(super) fn report(&self, report: &mut Report) {
        report.count(ENDED, self.ended);
        report.count(FLUSHED, self.flushed);
        report.level(TOOK, self.took.as_ps() as f64 / 1e9);
        report.count(AGAIN, self.again);
        report.count(UNANSWERED, self.unanswered);
    }
}
