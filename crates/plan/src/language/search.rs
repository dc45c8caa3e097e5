//! The keys of a search, and of prices.

use super::sweep::{MOST_POINTS, ZIP};
use crate::words::{Field, Holds, count, field, optional, required};

/// The keys of `search:` other than paths.
pub(crate) const SEARCH: &[Field] = &[
    ZIP,
    optional("maximize", Holds::Names, "what is to be high: `METRIC`, or `METRIC@WORKLOAD`; one or a list"),
    optional(
        "minimize",
        Holds::Names,
        "what is to be low, such as `latency p99@WORKLOAD`, `cost` or `power`",
    ),
    optional(
        "require",
        Holds::Names,
        "what has to hold: `METRIC <= NUMBER` or `METRIC >= NUMBER`; one or a list",
    ),
    field("trials", Holds::One(count(1, MOST_POINTS)), "100", "how many points are tried at most"),
    field(
        "seed",
        Holds::One(count(0, u64::MAX)),
        "0",
        "the seed of what is proposed, which is apart from that of the runs",
    ),
];

/// Cost and power of parts.
pub(crate) const PRICES: &[Field] = &[
    field("unit", Holds::Text, "", "what costs are counted in, such as `EUR`"),
    required(
        "parts",
        Holds::Named(PRICE),
        "names of parts and, for each, what it costs and draws, and who says so",
    ),
];

/// Cost and power of one part.
pub(crate) const PRICE: &[Field] = &[
    optional("cost", Holds::Number, "what one of it costs"),
    optional("power", Holds::Text, "what one of it draws, with the unit: `8W`"),
    required("source", Holds::Text, "who says so: an offer, a list, an estimate"),
    required("date", Holds::Text, "when it was so: `2026-01-31`"),
];
