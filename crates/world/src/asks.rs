//! What cases of DMA and blocks ask for, in the words of the load crate.

use lanetwin_load::{self as load, Mix, Steps, Workload};
use lanetwin_plan::{Arrivals, BlockCase, DmaCase, DmaOperation, Offered, Pattern, PtsPlan};
use lanetwin_units::Span;

/// What a DMA case asks a card for.
pub(super) fn dma_workload(case: &DmaCase) -> Workload {
    let bytes = case.size.0 as u32;
    Workload {
        mix: match case.operation {
            DmaOperation::Read => Mix::Reads,
            DmaOperation::Write => Mix::Writes,
            DmaOperation::Mixed => Mix::Alternating,
        },
        bytes,
        unit: Workload::dma_unit(bytes),
        span: case.window.0,
        pattern: pattern(case.pattern),
        arrivals: arrivals(case.offered, bytes),
        count: None,
    }
}

/// What a block case asks a drive for.
pub(super) fn block_workload(case: &BlockCase) -> Workload {
    let bytes = case.size.0 as u32;
    Workload {
        mix: Mix::Share { reads: case.read },
        bytes,
        unit: bytes,
        span: case.span.0,
        pattern: pattern(case.pattern),
        arrivals: arrivals(case.offered, bytes),
        count: None,
    }
}

/// What a test of the SNIA PTS asks a drive for, step by step.
pub(super) fn steps(plan: &PtsPlan) -> Steps {
    let first = plan.first().map(|(case, count)| Workload { count: Some(count), ..block_workload(&case) });
    let round = plan.cells.iter().map(|cell| block_workload(&cell.asks)).collect();
    Steps { first, round, lasts: plan.step }
}

const fn pattern(pattern: Pattern) -> load::Pattern {
    match pattern {
        Pattern::Random => load::Pattern::Random,
        Pattern::Sequential => load::Pattern::Sequential,
    }
}

fn arrivals(offered: Offered, bytes: u32) -> load::Arrivals {
    match offered {
        Offered::Outstanding(outstanding) => load::Arrivals::Closed { outstanding },
        Offered::Rate { bytes_per_second, arrivals } => {
            const PS_PER_SECOND: u128 = 1_000_000_000_000;
            let ps = u128::from(bytes) * PS_PER_SECOND / u128::from(bytes_per_second.max(1));
            let interval = Span::from_ps((ps as u64).max(1));
            match arrivals {
                Arrivals::Poisson => load::Arrivals::Poisson { mean: interval },
                Arrivals::Fixed => load::Arrivals::Fixed { interval },
            }
        }
    }
}
