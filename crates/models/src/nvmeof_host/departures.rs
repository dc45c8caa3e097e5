//! State of a host's disconnections on purpose, and their counters.

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

/// A scheduled action.
#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    /// This departure begins.
    Begin(usize),
    /// The controller has had long enough to shut down.
    ShutDown(usize),
    /// The disconnect request of this queue, for this connection and number of attempts, has had no reply.
    Unanswered(usize, (u32, u64)),
    /// Look at the messages for the connection manager of this queue.
    Manager(usize),
    /// The host of this departure connects again.
    Back(usize),
}

/// State of a queue being disconnected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// Index of its departure.
    pub(super) departure: usize,
    /// The target's handle of the connection, and the number of disconnect requests sent; `None` before the first and
    /// after the reply.
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
    /// Requests in flight are being answered.
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

/// State of a host's departures.
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
    /// Times of scheduled actions.
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
