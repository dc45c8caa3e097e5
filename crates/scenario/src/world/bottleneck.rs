//! The bottleneck by name: what was used up while a case was measured.

use super::measure::{DirectionUse, Measured};
use crate::plan::{Case, Load, Offered};

/// A wire that is busy for this share of the time is what limits.
const WIRE_FULL: f64 = 0.95;
/// A wire that stands idle for want of credits for this share of the time is not the limit itself: its receiver is.
const CREDITS_SHORT: f64 = 0.10;
/// A component's own supply is what limits if so much of it is in use.
const SUPPLY_USED: f64 = 0.95;

/// What limits, and why we say so.
pub(super) fn name(case: &Case, measured: &Measured) -> (String, String) {
    let busiest = measured.links.iter().max_by(|a, b| a.busy().total_cmp(&b.busy()));
    let starved = measured.links.iter().max_by(|a, b| a.credit_stall.total_cmp(&b.credit_stall));
    if let Some(link) = busiest.filter(|l| l.busy() >= WIRE_FULL) {
        return wire(link);
    }
    if let Some(link) = starved.filter(|l| l.credit_stall >= CREDITS_SHORT) {
        let why = format!(
            "its sender waits for credits or replay-buffer room {} of the time",
            percent(link.credit_stall)
        );
        return (format!("receiver of {}: {}", link.link, link.direction), why);
    }
    let fullest = measured.limits.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((limit, used)) = fullest.filter(|l| l.1 >= SUPPLY_USED) {
        return (limit.clone(), format!("{} of it is in use", percent(*used)));
    }
    let busy = busiest.map_or_else(String::new, |l| {
        format!("; the busiest wire ({}: {}) is {} busy", l.link, l.direction, percent(l.busy()))
    });
    match offered(case) {
        Offered::Outstanding(n) => {
            let what = if n == 1 { "one at a time".to_owned() } else { format!("{n} in flight") };
            ("latency".to_owned(), format!("the load keeps {what}, and each takes its time{busy}"))
        }
        Offered::Rate { .. } => {
            ("the load".to_owned(), format!("it offers less than the machine can serve{busy}"))
        }
    }
}

fn wire(link: &DirectionUse) -> (String, String) {
    let parts = [("TLPs", link.tlp), ("DLLPs", link.dllp), ("SKP", link.skp), ("replays", link.replay)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|p| p.1 >= 0.0005)
        .map(|(what, share)| format!("{what} {}", percent(share)))
        .collect();
    let why = format!("the wire is busy {} of the time ({})", percent(link.busy()), parts.join(", "));
    (format!("{}: {}", link.link, link.direction), why)
}

fn offered(case: &Case) -> Offered {
    match case.load {
        Load::Dma(dma) => dma.offered,
        Load::Block(block) => block.offered,
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
