//! `block:` – reads and writes of blocks: requests of given sizes, at a queue depth or a rate.

use crate::kind::{Asked, Kind, Place, Who};
use crate::plan::{BlockCase, Load};
use crate::cases::{ARRIVALS, PATTERN, fits, is_brisk, offered, sizes, spread};
use crate::values::{pattern, room, sample};
use crate::words::{Field, Holds, count as whole, field, optional, required};
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::Reports;
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::Bytes;

/// Range that is used on media without a size.
const ROOM: Bytes = Bytes(1 << 30);

pub(crate) const KIND: Kind = Kind {
    name: "block",
    about: "reads and writes of blocks",
    keys: KEYS,
    who: Who::Hosts,
    rounds: true,
    file: None,
    read,
};

const KEYS: &[Field] = &[
    required("size", Holds::Many(Dimension::Size), "bytes a request"),
    field(
        "depth",
        Holds::Many(whole(1, 65_536)),
        "1",
        "requests in flight at each device, a new one for each that is done",
    ),
    optional(
        "rate",
        Holds::Many(Dimension::Rate),
        "payload offered to each device, whether or not it can be served; instead of `depth`",
    ),
    field("arrivals", ARRIVALS, "poisson", "how the requests of a `rate` are spaced"),
    field("read", Holds::One(Dimension::Ratio), "100%", "the share of reads"),
    field("pattern", PATTERN, "random", "the order of the addresses"),
    optional(
        "span",
        Holds::One(Dimension::Size),
        "the part of each medium that is used; otherwise all of the smallest, or 1GiB if they have no size",
    ),
    optional(
        "requests",
        Holds::One(whole(1, 100_000_000)),
        "requests that are measured in a case, of all devices together; otherwise 10000, or more until it is steady",
    ),
];

fn read(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let sizes = sizes(fields, reports);
    let offered = offered(fields, "depth", reports);
    let read = match fields.one("read", reports) {
        Some(Said { value: Value::Ratio(ratio), .. }) => Some(ratio),
        _ => None,
    };
    let pattern = pattern(fields, reports);
    let span = room(fields, "span", place, ROOM, reports);
    let requests = sample(fields, "requests", reports);
    let (sizes, span, offered) = (sizes?, span?, offered?);
    fits(fields, &sizes, "span", span, reports);
    is_brisk(fields, &sizes, &offered, reports);
    let (read, pattern, requests) = (read?, pattern?, requests?);
    let cases = spread(fields, "depth", &sizes, &offered, reports, |size, offered| {
        Load::of_blocks(BlockCase { size, offered, read, pattern, span, requests })
    })?;
    Some(Asked::of(cases))
}
