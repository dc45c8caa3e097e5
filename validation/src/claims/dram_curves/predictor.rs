//! What the assumed and calibrated numbers of memory and threads do to the predictions. What a load takes beside the
//! memory is calibrated anew with each, but for itself.

use super::curves::{BAR_PCT, Curve, INTERLEAVE, Setup, compare, simulate};
use crate::claim::{FreeParameter, Role};
use crate::experiment;
use crate::sensitivity::{self, Asked, Chosen, Effort, Number, Predict};
use lanetwin_document::quantity;
use lanetwin_media::dram::Config;
use lanetwin_models::dram_params;
use lanetwin_plan::{Plan, check};
use lanetwin_ports::Value;
use lanetwin_stats::results::Digest;
use lanetwin_units::{Bytes, Span};
use std::path::Path;

/// Fewer points of a curve than the claim has.
const DELAYS_NS: [u64; 7] = [2000, 90, 45, 28, 19, 16, 0];

/// What the memory is in the words of a scenario, so that the numbers of its model can be moved like those of any
/// other.
fn plan(sets: &[String]) -> Option<Plan> {
    let text = format!(
        "about: The DRAM of a socket.\nmachine:\n  host: {{model: memory-host}}\n  memory: {{model: cxl-expander, capacity: 128GiB, dram.speed: ddr5-4800, \
         dram.channels: 8, dram.interleave: {INTERLEAVE}B, dram.page: closed, dram.write-queue: 32, dram.write-high: 24}}\n\
         links:\n  slot: {{from: host, to: memory}}\nworkloads:\n  load: {{memory: {{working-set: 1GiB, placement: memory, lines: 1000}}, on: host}}\n"
    );
    check(Path::new("dram.yaml"), &text, sets, experiment::catalogue()).plan
}

const fn assumed(name: &'static str) -> Chosen {
    Chosen { component: "memory", name, calibrated_to: None }
}

/// What the scenario sets, and the names of the DIMMs do not say.
const CHOSEN: [Chosen; 4] = [
    assumed("dram.interleave"),
    assumed("dram.page"),
    assumed("dram.write-queue"),
    assumed("dram.write-high"),
];

/// The memory with changes; none if they make none.
fn config(sets: &[String]) -> Option<Config> {
    let plan = plan(&sensitivity::of_plan(sets))?;
    let memory = plan.variants[0].machine.iter().find(|component| component.name == "memory")?;
    let mut config = dram_params::config(&memory.params, Bytes(128 << 30));
    // nobody is refused: how many wait is the threads' affair
    config.queues.waiting = 1 << 16;
    config.mistakes().is_empty().then_some(config)
}

/// A number of the threads: its name, its value, both ends, and what it is calibrated to.
type OfThreads = (&'static str, String, [String; 2], Option<&'static str>);

fn of_threads(fixed: Span, outstanding: u64) -> Vec<OfThreads> {
    let threads = super::Threads::ASSUMED;
    let scaled = |name, value: u64| {
        (name, value.to_string(), [(value / 2).to_string(), (value * 2).to_string()], None)
    };
    let label = |ps: u64| quantity::label(Value::Time(Span::from_ps(ps)));
    let time =
        |name, ps: u64, to| (name, label(ps), [ps / 2, ps * 2].map(|ps| label(ps).replace(' ', "")), to);
    vec![
        time("latency beside the memory", fixed.as_ps(), Some("the idle latency of all reads")),
        (
            "lines under way",
            outstanding.to_string(),
            [(outstanding / 2).to_string(), (outstanding * 2).to_string()],
            Some("the top of the curve of all reads, by Little's law"),
        ),
        scaled("threads that follow pointers", threads.chasers),
        ("lines of a page", threads.page.to_string(), ["64".into(), (threads.page * 8).to_string()], None),
        scaled("lines that caches hold", threads.cached),
        ("disorder of write-backs", threads.disorder.to_string(), ["1".into(), "4096".into()], None),
        scaled("writes of a thread under way", threads.writes),
        time("least time between lines of a thread", threads.issue, None),
    ]
}

/// Every assumed and calibrated number, of which two are calibrated: what a load takes beside the memory, and lines
/// under way.
pub(super) fn numbers(fixed: Span, outstanding: u64) -> Vec<Number> {
    let plan = plan(&[]).expect("the memory of the claim is one");
    let of_memory = sensitivity::numbers_and(&plan, &[], &CHOSEN);
    let of_memory = of_memory.into_iter().filter(|number| number.name().starts_with("dram."));
    let of_threads = of_threads(fixed, outstanding).into_iter().map(|(name, value, ends, to)| {
        let what = FreeParameter {
            part: "threads".into(),
            name: name.into(),
            value,
            calibrated_to: to.map(Into::into),
        };
        Number::of_claim(what, [&ends[0], &ends[1]])
    });
    of_memory.chain(of_threads).collect()
}

/// The setup with changes, of a trace if no effort is said; none if they make no memory.
fn setup(sets: &[String], effort: Option<Effort>) -> Option<Setup> {
    let mut setup = Setup { config: config(sets)?, ..Setup::full() };
    setup.length.seed = sensitivity::seed(sets);
    let (warm_up, measure, delays): (u64, u64, &[u64]) = match effort {
        None => (500, 500, &[160, 0]),
        Some(Effort::Full) => (1_000, 2_000, &DELAYS_NS),
        Some(Effort::Long) => (2_000, 6_000, &DELAYS_NS),
    };
    setup.length.warm_up = Span::from_ns(warm_up);
    setup.length.measure = Span::from_ns(measure);
    setup.delays = delays;
    let text = |name| sensitivity::of_claim(sets, name);
    let count = |name| text(name).map(|text| text.parse::<u64>().expect("an end of ours is a number"));
    let time = |name| {
        let read = |text| quantity::read(lanetwin_ports::Dimension::Time, text).map(|(value, _)| value);
        text(name).map(|text| match read(text) {
            Ok(Value::Time(span)) => span,
            _ => panic!("an end of ours is a time: {text}"),
        })
    };
    setup.fixed = time("latency beside the memory");
    setup.outstanding = count("lines under way");
    let threads = &mut setup.threads;
    for (name, field) in [
        ("threads that follow pointers", &mut threads.chasers),
        ("lines of a page", &mut threads.page),
        ("lines that caches hold", &mut threads.cached),
        ("disorder of write-backs", &mut threads.disorder),
        ("writes of a thread under way", &mut threads.writes),
    ] {
        *field = count(name).unwrap_or(*field);
    }
    threads.issue = time("least time between lines of a thread").map_or(threads.issue, Span::as_ps);
    Some(setup)
}

/// The predicted rows: all of one kind, for what acts on one curve acts on all.
pub(super) struct Predictor<'a> {
    pub(super) published: &'a [Curve],
}

impl Predictor<'_> {
    pub(super) fn bars(&self) -> Vec<f64> {
        vec![BAR_PCT; self.of_curves().len()]
    }
    /// The curve of each predicted row.
    fn of_curves(&self) -> Vec<usize> {
        // the latencies that calibrate nothing, and the peak
        let rows = |curve: &Curve| (0..curve.points.len()).filter(|n| !curve.calibrates(*n)).count() + 1;
        let curves = self.published.iter().enumerate();
        curves.flat_map(|(place, curve)| std::iter::repeat_n(place, rows(curve))).collect()
    }
}

impl Predict for Predictor<'_> {
    fn kinds(&self) -> usize {
        1
    }
    fn trace(&self, sets: &[String], _: usize) -> Option<Digest> {
        let ran = simulate(&setup(sets, None)?, self.published, &mut || Some(()))?;
        let points = ran.curves.iter().flatten();
        Some(Digest(points.fold(0, |sum, point| lanetwin_kernel::mix(sum ^ point.trace))))
    }
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let of_curves = self.of_curves();
        let is_wanted = |place: usize| {
            self.published[place].is_of_all_reads()
                || of_curves.iter().zip(asked.wanted).any(|(of, wanted)| *of == place && *wanted)
        };
        // all reads calibrate, and are always run
        let chosen: Vec<usize> = (0..self.published.len()).filter(|place| is_wanted(*place)).collect();
        let published: Vec<Curve> = chosen.iter().map(|place| self.published[*place].clone()).collect();
        let ran = simulate(&setup(asked.sets, Some(asked.effort))?, &published, &mut || Some(()))?;
        let cells = compare(&published, &ran).into_iter().filter(|cell| cell.role == Role::Predicted);
        let mut found = cells.map(|cell| cell.predicted);
        let row = |place: &usize| {
            if chosen.contains(place) { Some(found.next().expect("each row of a curve")) } else { None }
        };
        Some(of_curves.iter().map(row).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise numbers would be moved that the claim does not run with.
    #[test]
    fn the_memory_in_the_words_of_a_scenario_is_that_of_the_claim() {
        assert_eq!(config(&[]), Some(super::super::curves::memory()));
    }

    #[test]
    fn every_number_of_the_threads_is_moved_where_its_name_says() {
        let base = setup(&[], None).expect("a setup");
        let told = |setup: &Setup| format!("{:?} {:?} {:?}", setup.threads, setup.fixed, setup.outstanding);
        for (name, _, ends, _) in of_threads(Span::from_ns(60), 815) {
            for end in ends {
                let changed = setup(&[format!("claim.{name}={end}")], None).expect("a setup");
                assert_ne!(told(&changed), told(&base), "{name} {end}");
            }
        }
    }
}
