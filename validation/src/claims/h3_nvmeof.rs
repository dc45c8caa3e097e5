//! `h3-nvmeof`: the drives of a JBOF, attached directly to two servers that share its switch, and over a fabric.
//!
//! ```text
//!  data sheet of the drive: 5.0 GB/s ──► parts/phison-e16.yaml (calibrated)
//!  direct    drives × 5.0 GB/s   ◄── scenarios/long/h3-direct.yaml ──► beside I/Os × 128 KiB of the deck
//!  fabric    both assignments    ◄── scenarios/long/h3-nvmeof.yaml ──► beside the deck's tables over the fabric
//!  ablation  what could hold it  ◄── scenarios/long/h3-ablation.yaml, one thing at a time
//!  shares    why writes add less ◄── scenarios/long/h3-latency.yaml
//! ```
//!
//! Of the latencies those of drives attached directly are inputs, and one number is fitted to the mean of node 1.

mod ablation;
mod direct;
mod fabric;
mod shares;

use crate::claim::{Cell, Claim, Outcome, Role};
use crate::table;
use crate::watch::Watch;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "h3-nvmeof",
    about: "Five drives behind a switch that two servers share, attached directly and by NVMe-oF over 100 Gb/s, both servers at once: the four tables of the deck.",
    cpu_seconds: 60,
    bar: "direct: mean error of the I/O rates within 1.2 %, from the data sheet of the drive alone; over the fabric: reads of the node with two drives within 2 %, its writes within 13.5 %, its latencies within 4.4 % in the mean",
    run,
};

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    const STEPS: usize = 4;
    let (direct, mut free_parameters) = table::ran(&direct::plan());
    watch.step(STEPS)?;
    let (over, more) = table::ran(&fabric::plan());
    watch.step(STEPS)?;
    free_parameters.extend(more);
    free_parameters.sort();
    free_parameters.dedup();
    let (latency, _) = table::ran(&shares::plan());
    watch.step(STEPS)?;
    let (ablated, _) = table::ran(&ablation::plan());
    watch.step(STEPS)?;
    let (near, remote) = (direct::compared(&direct), fabric::compared(&over));
    let cells: Vec<Cell> = direct::cells(&direct).chain(fabric::cells(&over)).collect();
    let met = direct::is_met(&near) && fabric::is_met(&remote);
    let text =
        [direct::told(&near), fabric::told(&remote), shares::told(&over, &latency), ablation::told(&ablated)]
            .join(" ");
    let predicted: Vec<&str> =
        cells.iter().filter(|cell| cell.role == Role::Predicted).map(|cell| &*cell.case).collect();
    let effects = ablation::effects(&ablated, &predicted);
    Some(Outcome { cells, free_parameters, met, text, effects })
}
