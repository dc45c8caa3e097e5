//! The keys of a sweep.

use crate::words::{Field, Holds, count, field, one_of, optional};
use lanetwin_ports::Dimension;

/// The most points of a sweep.
pub(crate) const MOST_POINTS: u64 = 100_000;

/// Paths that change together.
pub(super) const ZIP: Field = optional(
    "zip",
    Holds::Swept(&[]),
    "paths whose values go together: the first of each, then the second of each; several such groups as a list",
);

/// The keys of `sweep:` other than paths.
pub(crate) const SWEEP: &[Field] = &[
    ZIP,
    optional(
        "sample",
        Holds::Section(SAMPLE),
        "that points are drawn (a Latin hypercube), instead of every combination",
    ),
    optional("cheapest", Holds::Section(CHEAPEST), "which point the sweep is to find"),
];

/// The values of a path, where they are not a list.
pub(crate) const AXIS: &[Field] = &[
    optional("values", Holds::Names, "the values, as a list; instead of a range"),
    optional("from", Holds::Text, "the first value of a range"),
    optional("to", Holds::Text, "the end of the range, which is in it if a step meets it"),
    optional("step", Holds::Text, "what is added from each value to the next"),
    optional("times", Holds::Text, "what each value is multiplied by to give the next"),
    optional(
        "points",
        Holds::One(count(2, MOST_POINTS)),
        "how many values there are, both ends among them; instead of `step` and `times`",
    ),
    field(
        "spacing",
        one_of(&["linear", "logarithmic"]),
        "linear",
        "whether `points` and samples are as far apart by their differences, or by their ratios",
    ),
    optional(
        "cost",
        Holds::Names,
        "what each value costs, in the order of the values; a point costs their sum",
    ),
    optional("name", Holds::Text, "what it is called in tables; otherwise as its path"),
];

/// Points that are drawn at random.
pub(crate) const SAMPLE: &[Field] = &[
    field("points", Holds::One(count(2, MOST_POINTS)), "64", "how many points are drawn"),
    field(
        "seed",
        Holds::One(count(0, u64::MAX)),
        "1",
        "the seed of the draw, which is apart from that of the runs",
    ),
];

/// The question for the cheapest point.
pub(crate) const CHEAPEST: &[Field] = &[
    field(
        "at_least",
        Holds::One(Dimension::Ratio),
        "95%",
        "what share of the best that any point reaches has to be reached, in every workload",
    ),
    field(
        "of",
        Holds::Text,
        "throughput",
        "the metric; of one where less is better, the best over the value",
    ),
    optional(
        "workloads",
        Holds::Names,
        "the workloads that have to reach it; otherwise all that have the metric",
    ),
    field("unit", Holds::Text, "", "what costs are counted in, such as `lanes` or `EUR`"),
];
