//! What the assumed and fitted numbers of expander, link and load do to the predictions, when the latency without load
//! is calibrated anew with each.

use super::expander::{
    ARRANGEMENTS, DRAINS, Effort as Amount, Fitted, LATENCY_PCT, Row, SATURATION_PCT, calibrated, cell_of,
    is_saturated,
};
use super::world::{Addresses, Machine};
use crate::claim::Cell;
use crate::claim::FreeParameter;
use crate::experiment;
use crate::sensitivity::{self, Asked, Chosen, Effort, Number, Predict};
use lanetwin_plan::{Plan, check};
use lanetwin_stats::results::Digest;
use lanetwin_units::Span;
use std::path::Path;

/// Rows that are analysed, by share of reads and bandwidth: of each share a low, a middle and a high load,
/// and saturation, in the order of the claim.
pub(super) const ROWS: [(u64, f64); 12] = [
    (2, SATURATED),
    (46, SATURATED),
    (100, SATURATED),
    (2, 6.4),
    (2, 14.22),
    (2, 22.85),
    (46, 12.8),
    (46, 26.65),
    (46, 35.53),
    (100, 12.8),
    (100, 24.6),
    (100, 26.65),
];

/// Instead of a bandwidth: the last row of the share.
const SATURATED: f64 = f64::INFINITY;

/// Whether a row is one of them.
pub(super) fn is_analysed(rows: &[Row], row: &Row) -> bool {
    let key = (row.read_pct, if is_saturated(rows, row) { SATURATED } else { row.bandwidth });
    ROWS.contains(&key)
}

const fn fitted_to(name: &'static str, to: &'static str) -> Chosen {
    Chosen { component: "exp", name, calibrated_to: Some(to) }
}

/// What the claim says of the expander, beside its defaults.
const CHOSEN: [Chosen; 6] = [
    Chosen { component: "exp", name: "dram.page", calibrated_to: None },
    fitted_to("dram.channels", "100 % reads at 21.33 GB/s"),
    fitted_to("dram.ranks", "100 % reads at 21.33 GB/s"),
    fitted_to("dram.write-idle", "2 % reads at 12.8 GB/s"),
    fitted_to(LATENCIES[0], "100 % reads at 0.32 GB/s"),
    fitted_to(LATENCIES[1], "100 % reads at 0.32 GB/s"),
];
const LATENCIES: [&str; 2] = ["request-latency", "answer-latency"];

fn plan(fitted: &Fitted, sets: &[String]) -> Option<Plan> {
    let (channels, ranks) = ARRANGEMENTS[fitted.arrangement];
    let [request, answer] = LATENCIES.map(|name| fitted.machine.params().time(name).as_ps());
    let text = format!(
        "about: An expander.\nmachine:\n  host: {{model: memory-host}}\n  exp: {{model: cxl-expander, dram.page: closed, dram.channels: {channels}, \
         dram.ranks: {ranks}, dram.write-idle: {}ps, request-latency: {request}ps, answer-latency: {answer}ps}}\n\
         links:\n  slot: {{from: host, to: exp, width: x8}}\nworkloads:\n  load: {{memory: {{working-set: 1GiB, placement: exp, lines: 1000}}, on: host}}\n",
        DRAINS[fitted.drain].as_ps(),
    );
    check(Path::new("expander.yaml"), &text, sets, experiment::catalogue()).plan
}

/// A number of link or load: its name, its value, both ends.
type OfLink = (&'static str, &'static str, [&'static str; 2]);

/// Ranges: half and double, the contrary, or what the reason in brackets says.
const OF_LINK: [OfLink; 8] = [
    ("addresses", "random", ["sequential", ""]),
    ("time in a port", "6.25 ns each way", ["3125ps", "12500ps"]),
    // (15 cm of board; with a riser and a cable)
    ("flight", "1 ns", ["500ps", "6000ps"]),
    ("SKP ordered sets", "on", ["off", ""]),
    ("sync headers", "dropped", ["kept", ""]),
    ("several data headers in a slot", "on", ["off", ""]),
    ("credits of each class", "256", ["128", "512"]),
    ("credit flush", "32 ns", ["0ps", "64000ps"]),
];

/// The machine with changes of the link and the load.
fn on_link(machine: Machine, sets: &[String]) -> Machine {
    let mut machine = machine;
    let link = &mut machine.link;
    let number = |text: &str| text.trim_end_matches("ps").parse().expect("an end of ours is a number");
    for (name, _, _) in OF_LINK {
        let Some(end) = sensitivity::of_claim(sets, name) else { continue };
        match name {
            "addresses" => machine.addresses = Addresses::Sequential,
            "time in a port" => {
                link.transmit = [Span::from_ps(number(end)); 2];
                link.receive = link.transmit;
            }
            "flight" => link.flight = Span::from_ps(number(end)),
            "SKP ordered sets" => link.skp = false,
            "sync headers" => link.sync_header_bypass = false,
            "several data headers in a slot" => link.multi_data_headers = false,
            "credits of each class" => {
                let most = u32::try_from(number(end)).expect("few credits");
                link.credits.iter_mut().for_each(|of| (of.no_data, of.data) = (most, most));
            }
            "credit flush" => link.credit_flush = Span::from_ps(number(end)),
            _ => unreachable!("every number of the link has its place here"),
        }
    }
    machine
}

/// The machine with changes; none if they make none.
fn machine(fitted: &Fitted, sets: &[String]) -> Option<Machine> {
    let plan = plan(fitted, &sensitivity::of_plan(sets))?;
    let exp = plan.variants[0].machine.iter().find(|component| component.name == "exp")?;
    Some(on_link(Machine::of(exp.clone()), sets))
}

/// Every assumed and fitted number.
pub(super) fn numbers(fitted: &Fitted) -> Vec<Number> {
    let plan = plan(fitted, &[]).expect("the expander of the claim is one");
    let of_expander = sensitivity::numbers_and(&plan, &[], &CHOSEN);
    // the host of the plan is not in the claim's world
    let of_expander = of_expander.into_iter().filter(|number| number.is_of("exp"));
    let of_link = OF_LINK.into_iter().map(|(name, value, ends)| {
        let part = "link and load".to_owned();
        let what = FreeParameter { part, name: name.into(), value: value.into(), calibrated_to: None };
        Number::of_claim(what, ends)
    });
    of_expander.chain(of_link).collect()
}

/// The rows of the claim: all of one kind, for what acts on one load acts on all.
pub(super) struct Predictor<'a> {
    rows: &'a [Row],
    fitted: &'a Fitted,
}

impl<'a> Predictor<'a> {
    pub(super) const fn new(rows: &'a [Row], fitted: &'a Fitted) -> Self {
        Self { rows, fitted }
    }
    pub(super) fn bars() -> Vec<f64> {
        let bar =
            |(_, bandwidth): &(u64, f64)| if *bandwidth == SATURATED { SATURATION_PCT } else { LATENCY_PCT };
        ROWS.iter().map(bar).collect()
    }
    /// The cell of one of [`ROWS`].
    fn cell(&self, machine: &Machine, (read_pct, bandwidth): (u64, f64), amount: Amount<'_>) -> Cell {
        let is_it = |row: &&Row| {
            row.read_pct == read_pct
                && if bandwidth == SATURATED {
                    is_saturated(self.rows, row)
                } else {
                    row.bandwidth == bandwidth
                }
        };
        cell_of(machine, self.rows, self.rows.iter().find(is_it).expect("a row of the table"), amount)
    }
}

/// The changes without the seed, and the seed.
fn with_seed(sets: &[String]) -> (Vec<String>, [u64; 1]) {
    let without = sets.iter().filter(|set| !set.starts_with("run.")).cloned().collect();
    (without, [sensitivity::seed(sets)])
}

impl Predict for Predictor<'_> {
    fn kinds(&self) -> usize {
        1
    }
    fn trace(&self, sets: &[String], _: usize) -> Option<Digest> {
        let (without, seeds) = with_seed(sets);
        let machine = machine(self.fitted, &without)?;
        // only the events matter: a calibration moves none that was not moved
        let amount = Amount { seeds: &seeds, shorter: 20, rounds: 0 };
        let digests = ROWS.iter().map(|row| self.cell(&machine, *row, amount).digest.0);
        Some(Digest(digests.fold(0, |sum, digest| lanetwin_kernel::mix(sum ^ digest))))
    }
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let (without, seeds) = with_seed(asked.sets);
        let machine = machine(self.fitted, &without)?;
        let (shorter, rounds) = match asked.effort {
            Effort::Full => (2, 2),
            Effort::Long => (1, 3),
        };
        let amount = Amount { seeds: &seeds, shorter, rounds };
        let is_latency = |set: &String| LATENCIES.iter().any(|name| set.contains(name));
        let stays = without.iter().any(is_latency);
        let machine = if stays { machine } else { calibrated(&machine, self.rows, amount) };
        let row =
            |(row, wanted): (&(u64, f64), &bool)| wanted.then(|| self.cell(&machine, *row, amount).predicted);
        Some(ROWS.iter().zip(asked.wanted).map(row).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted() -> Fitted {
        let machine = super::super::tests::fitted_by_hand();
        Fitted { machine, arrangement: 3, drain: 2, text: String::new() }
    }

    /// The expander in the words of a scenario is that of the claim: moving numbers moves what the claim runs.
    #[test]
    fn the_expander_that_is_weighed_is_the_one_that_is_fitted() {
        let fitted = fitted();
        let sensitivity_found = machine(&fitted, &[]).expect("an expander");
        assert_eq!(sensitivity_found.params().0, fitted.machine.params().0);
    }

    #[test]
    fn every_number_of_the_link_moves_the_link() {
        let fitted = fitted();
        let told = |sets: &[String]| {
            let machine = machine(&fitted, sets).expect("an expander");
            format!("{:?} {:?}", machine.link, machine.addresses)
        };
        for (name, _, ends) in OF_LINK {
            for end in ends.into_iter().filter(|end| !end.is_empty()) {
                assert_ne!(told(&[format!("claim.{name}={end}")]), told(&[]), "{name} {end}");
            }
        }
    }

    #[test]
    fn rows_are_weighed_in_the_order_of_the_claim() {
        let rows = super::super::expander::table();
        let (full, loaded): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| is_saturated(&rows, row));
        let order = full.iter().chain(&loaded).filter(|row| is_analysed(&rows, row));
        let keys: Vec<(u64, f64)> = order
            .map(|row| (row.read_pct, if is_saturated(&rows, row) { SATURATED } else { row.bandwidth }))
            .collect();
        assert_eq!(keys, ROWS);
    }
}
