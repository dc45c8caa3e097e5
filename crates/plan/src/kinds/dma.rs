//! `dma:` – direct memory accesses of a device: transfers of given sizes, at a queue depth or a rate.

use crate::kind::{Asked, Kind, Place, Who};
use crate::plan::{Cache, DmaCase, DmaOperation, Load};
use crate::cases::{ARRIVALS, PATTERN, fits, is_brisk, offered, sizes, spread};
use crate::values::{choice, pattern, sample, size};
use crate::words::{Field, Holds, count as whole, field, one_of, optional, required};
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_ports::Dimension;

pub(crate) const KIND: Kind = Kind {
    name: "dma",
    about: "direct memory accesses of a device",
    keys: KEYS,
    who: Who::Cards,
    rounds: false,
    file: None,
    read,
};

const KEYS: &[Field] = &[
    field(
        "operation",
        one_of(&["read", "write", "mixed"]),
        "read",
        "the device reads the memory of the target, writes it, or both in turn",
    ),
    required("size", Holds::Many(Dimension::Size), "bytes a transfer"),
    field("window", Holds::One(Dimension::Size), "8KiB", "the buffer that addresses are drawn from"),
    field("pattern", PATTERN, "random", "the order of the addresses"),
    field("cache", one_of(&["warm", "cold"]), "warm", "whether the buffer is in the last-level cache before"),
    field(
        "outstanding",
        Holds::Many(whole(1, 65_536)),
        "64",
        "transfers in flight of each device, a new one for each that is done",
    ),
    optional(
        "rate",
        Holds::Many(Dimension::Rate),
        "payload offered by each device, whether or not it can be served; instead of `outstanding`",
    ),
    field("arrivals", ARRIVALS, "poisson", "how the transfers of a `rate` are spaced"),
    optional(
        "transfers",
        Holds::One(whole(1, 100_000_000)),
        "transfers that are measured in a case, of all devices together; otherwise 10000, or more until it is steady",
    ),
];

fn read(fields: &mut Fields<'_>, _: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let operation = match choice(fields, "operation", reports) {
        Some("write") => Some(DmaOperation::Write),
        Some("mixed") => Some(DmaOperation::Mixed),
        other => other.map(|_| DmaOperation::Read),
    };
    let sizes = sizes(fields, reports);
    let window = size(fields, "window", reports);
    let pattern = pattern(fields, reports);
    let cache = choice(fields, "cache", reports)
        .map(|word| if word == "cold" { Cache::Cold } else { Cache::Warm });
    let offered = offered(fields, "outstanding", reports);
    let transfers = sample(fields, "transfers", reports);
    let (sizes, window, offered) = (sizes?, window?, offered?);
    fits(fields, &sizes, "window", window, reports);
    is_brisk(fields, &sizes, &offered, reports);
    let (operation, pattern, cache, transfers) = (operation?, pattern?, cache?, transfers?);
    let cases = spread(fields, "outstanding", &sizes, &offered, reports, |size, offered| {
        Load::Dma(DmaCase { operation, size, window, pattern, cache, offered, transfers })
    })?;
    Some(Asked::of(cases))
}
