//! Parameters that make no host.

use crate::dram_params;
use lanetwin_ports::{Mistake, Params};
use lanetwin_units::Span;

/// The shortest slice of a thread: a change of threads, which costs nothing here, takes about as long (`assumed`), and
/// each slice is an event, so that slices of picoseconds took a run minutes for a microsecond.
const SHORTEST_SLICE: Span = Span::from_us(1);

/// Everything about these parameters that makes a host impossible.
#[must_use]
pub(super) fn mistakes(params: &Params) -> Vec<Mistake> {
    let mut wrong = Vec::new();
    if params.choice("dram") == "timed" {
        wrong.extend(dram_params::mistakes(params, params.size("dram.size"), "dram.size"));
    }
    let (mean, spread) = (params.time("uncore.latency"), params.time("uncore.spread"));
    if spread > mean + mean {
        wrong.push(Mistake {
            parameter: "uncore.spread",
            problem: format!(
                "ways that differ by {spread} around a mean of {mean} would end before they begin"
            ),
            remedy: format!("at most {}", mean + mean),
        });
    }
    let slice = params.time("core.slice");
    if slice > Span::ZERO && slice < SHORTEST_SLICE {
        wrong.push(Mistake {
            parameter: "core.slice",
            problem: format!("with slices of {slice} a core would do little else than change threads"),
            remedy: format!("at least {SHORTEST_SLICE} (Linux has 3 ms), or 0"),
        });
    }
    if params.ratio("uncore.slowest") == 0.0 {
        wrong.push(Mistake {
            parameter: "uncore.slowest",
            problem: "an uncore whose clock stands still answers nothing".to_owned(),
            remedy: "a share above 0, such as 0.5".to_owned(),
        });
    }
    let page = params.size("tlb.page").0;
    if params.count("tlb.entries") > 0 && !(page.is_power_of_two() && page >= 4096) {
        wrong.push(Mistake {
            parameter: "tlb.page",
            problem: format!("a page of {page} B does not exist"),
            remedy: "4KiB, 2MiB or 1GiB".to_owned(),
        });
    }
    wrong
}
