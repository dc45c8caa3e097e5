//! The warm-up before a measurement.

use crate::slices::{Stop, run_until};
use crate::world::World;
use lanetwin_plan::{Case, Offered, WarmUp};
use lanetwin_units::Instant;

/// The warm-up has at least this many operations, …
const WARM_UP_LEAST: u64 = 64;
/// … at least 1/10 of those that are measured, …
const WARM_UP_PART: u64 = 10;
/// … and at least this many times those in flight, so that the first of them have long been answered.
const WARM_UP_ROUNDS: u64 = 4;
pub(super) fn warm_up(world: &mut World, case: &Case, warm_up: WarmUp) {
    let answered = match warm_up {
        WarmUp::Transfers(n) => n,
        WarmUp::Auto => operations_before(world, case),
    };
    let deadline = case.load.timing().ramp.map(|ramp| Instant::ZERO + ramp);
    run_until(world, &Stop { answered, deadline, events: None }, None);
}

/// Number of operations of the warm-up.
pub(super) fn operations_before(world: &World, case: &Case) -> u64 {
    let devices = (world.loads.len() / case.load.threads().len().max(1)).max(1);
    let in_flight = u64::from(in_flight(case)) * devices as u64;
    WARM_UP_LEAST.max(case.load.operations() / WARM_UP_PART).max(WARM_UP_ROUNDS * in_flight)
}

/// Number of operations that each load keeps in flight.
fn in_flight(case: &Case) -> u32 {
    match case.load.offered() {
        Offered::Outstanding(n) => n,
        Offered::Rate { .. } => 1,
    }
}
