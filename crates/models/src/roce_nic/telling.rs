//! Reports of an adapter.

use super::counts::Counts;
use super::inside::RoceNic;
use super::pair::Pair;
use lanetwin_kernel::{Metric, Report, Supply, SupplyKind};
use lanetwin_ports::usage::adapter;
use lanetwin_units::{Better, Instant};

const SENT: Metric = Metric::new("payload sent", "MB/s", Better::Neither);
const RECEIVED: Metric = Metric::new("payload received", "MB/s", Better::Neither);
const MESSAGES: Metric = Metric::new("messages begun", "M/s", Better::Neither);
const REGISTRATIONS: Metric =
    Metric::new("registrations of memory", "M/s", Better::Neither).if_any("registrations of memory");
const FRAMES: Metric = Metric::new("frames sent", "M/s", Better::Neither);
const ACKS: Metric = Metric::new("acknowledgements sent", "M/s", Better::Neither);
const MARKED: Metric = Metric::new("marked frames received", "", Better::Lower).if_any("marked frames");
const NOTIFIED: Metric = Metric::new("CNPs sent", "", Better::Lower).if_any("congestion notifications");
const NOTIFICATIONS: Metric =
    Metric::new("CNPs received", "", Better::Lower).if_any("congestion notifications");
const LOST: Metric =
    Metric::new("frames lost with the cable", "", Better::Lower).if_any("frames lost with a cable");
const AGAIN: Metric = Metric::new("packets sent again", "", Better::Lower).if_any("losses").remedied_by(
    "after a loss RDMA sends everything from the lost packet on again: where switches drop frames, `pause: pfc` of the switches with `pause: true` of the adapters loses none, and ECN slows senders down before (`ecn.threshold` of the switches)",
);
const GAPS: Metric = Metric::new("gaps told by the peer", "", Better::Lower).if_any("losses");
const TIMEOUTS: Metric = Metric::new("timeouts", "", Better::Lower).if_any("losses");
const NOT_READY: Metric = Metric::new("peer not ready", "", Better::Lower).if_any("peer not ready");
const PAUSED: Metric = Metric::new("pause frames obeyed", "", Better::Lower).if_any("pauses");
const STORM: Metric = Metric::new("pause frames sent without need", "", Better::Lower).if_any("pause storms");
const CLOSED: Metric = Metric::new("time paused", "us", Better::Lower).if_any("pauses");
const UNEXPECTED: Metric = Metric::new("unexpected messages", "", Better::Lower).if_any("unexpected");

impl RoceNic {
    /// Time that the line has been in use up to `now` \[ps\].
    fn busy_ps(&self, now: Instant) -> u128 {
        self.counts.busy_ps - u128::from(self.line_free.since(now).as_ps())
    }
    pub(super) fn tell(&self, now: Instant, report: &mut Report) {
        let Counts { sent, received, messages, registrations, frames, marked, unexpected, .. } = self.counts;
        let in_use_ps = self.busy_ps(now);
        report.supply("line", Supply { in_use_ps, supply: 1, kind: SupplyKind::Server });
        if let Some(requests) = &self.requests {
            report.supply("tags", requests.tags_used(now));
        }
        if let Some(engine) = &self.engine {
            report.supply("target offload engine", engine.used(now));
        }
        let requester = |of: fn(&Pair) -> u64| self.pairs.values().map(of).sum::<u64>();
        report.rate(SENT, sent, 1e6);
        report.rate(RECEIVED, received, 1e6);
        report.rate(MESSAGES, messages, 1e6);
        report.rate(REGISTRATIONS, registrations, 1e6);
        report.rate(FRAMES, frames, 1e6);
        report.count(adapter::SENT, frames);
        report.count(adapter::RECEIVED, self.counts.heard);
        report.count(adapter::DAMAGED, self.counts.lost);
        report.rate(ACKS, requester(|pair| pair.responder.counts().acks), 1e6);
        report.count(MARKED, marked);
        report.count(NOTIFIED, self.counts.notified);
        report.count(NOTIFICATIONS, self.counts.notifications);
        report.count(LOST, self.counts.lost);
        report.count(AGAIN, requester(|pair| pair.requester.counts().again));
        report.count(GAPS, requester(|pair| pair.requester.counts().gaps));
        report.count(TIMEOUTS, requester(|pair| pair.requester.counts().timeouts));
        report.count(NOT_READY, requester(|pair| pair.requester.counts().not_ready));
        let (paused, closed) = self.paused.as_ref().map_or((0, 0), |own| own.told(now));
        report.count(PAUSED, paused);
        report.count(CLOSED, closed);
        report.count(STORM, self.counts.pauses);
        report.count(UNEXPECTED, unexpected);
    }
}
