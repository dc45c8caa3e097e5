//! The keys of memory loads: programs, hints to devices, and placements.

use crate::words::{Field, Holds, count, field, one_of, optional};
use lanetwin_ports::Dimension;

/// The name of the kind.
pub(crate) const NAME: &str = "memory";

/// The keys of a memory load.
pub(crate) const MEMORY: &[Field] = &[
    optional(
        "program",
        Holds::Section(PROGRAM),
        "an application that is run, instead of a pattern: one of `cg`, `mg`, `graph500` and `key-value`",
    ),
    optional(
        "trace",
        Holds::Text,
        "a program that ran, instead of a pattern: the file in which `valgrind --tool=lackey --trace-mem=yes` wrote what it touched, or a table of comma-separated values with `operation` and `address`",
    ),
    optional(
        "dependence",
        Holds::Many(Dimension::Choice(&DEPENDENCES)),
        "of a trace: which loads wait for the load before them, as recorded, none or all; otherwise as recorded, or, where the trace does not say it, none and all, a case for each bound",
    ),
    optional(
        "instruction",
        Holds::One(Dimension::Time),
        "of a trace: how long an instruction takes that waits for no memory; otherwise 200 ps (assumed: two for each cycle at 2.4 GHz)",
    ),
    field(
        "stretches",
        Holds::One(count(0, 100_000)),
        "20",
        "of a program that ends: how many stretches of it are run, spread over all of it; 0 is the whole program",
    ),
    field(
        "pattern",
        one_of(&PATTERNS),
        "sequential",
        "what threads do: they stream over buffers in one of two orders, or one follows pointers, in a random order, by a stride of a line, or by pages",
    ),
    field(
        "mix",
        Holds::Many(Dimension::ChoiceOrRatio(&MIXES)),
        "all-reads",
        "reads and writes of memory, if threads stream: a store reads its line and writes it back; a streaming write only writes; or the share of reads, as in `80%`",
    ),
    optional(
        "threads",
        Holds::Many(count(1, 65_536)),
        "how many threads stream; otherwise one on each core of the host",
    ),
    field("working-set", Holds::Many(Dimension::Size), "1GiB", "what all threads go through together"),
    field(
        "delay",
        Holds::Many(Dimension::Time),
        "0ns",
        "the time between two lines of a thread that streams",
    ),
    field(
        "chaser",
        one_of(&["on", "off"]),
        "off",
        "whether another thread follows pointers meanwhile, whose loads show the latency",
    ),
    optional(
        "placement",
        Holds::Placements(PLACEMENT),
        "which nodes the pages are on: a name, or one of `bind`, `preferred`, `interleave`, `weighted`, `dax` and `parts`; a case for each of a list; otherwise the host's own memory",
    ),
    field(
        "pages",
        one_of(&PAGES),
        "4KiB",
        "the size of the pages that memory is given in, and that policies go round in, where whole ones fit; a `placement` can have its own",
    ),
    optional(
        "hints",
        Holds::Section(HINTS),
        "what threads that stream in order tell devices with a cache as they go on",
    ),
    field(
        "cache",
        one_of(&["warm", "cold", "as-is"]),
        "warm",
        "what the cache of a device in front of a disk holds at the start: what visits to its part of the working set leave, nothing, or what its parameters say",
    ),
    optional(
        "lines",
        Holds::One(count(1, 1_000_000_000)),
        "at least so many lines are touched in a case while it is measured, by all threads together: whether they are is looked at every 5 µs or more; otherwise 100000, or more until it is steady; without more for a program that ends",
    ),
];
/// The access patterns of threads.
pub(crate) const PATTERNS: [&str; 6] =
    ["sequential", "random", "chase", "chase-stride", "chase-page-by-page", "chase-across-pages"];
/// Which loads of a trace wait for the previous load.
pub(crate) const DEPENDENCES: [&str; 3] = ["recorded", "none", "all"];
/// Mixes of memory reads and writes.
pub(crate) const MIXES: [&str; 5] = ["all-reads", "3r1w", "2r1w", "1r1w", "streaming-writes"];

/// Sizes of pages.
pub(crate) const PAGES: [&str; 3] = ["4KiB", "2MiB", "1GiB"];

/// The applications; exactly one of these keys is given.
pub(crate) const PROGRAM: &[Field] = &[
    optional("cg", Holds::Section(NPB), "Conjugate Gradient of the NAS Parallel Benchmarks"),
    optional("mg", Holds::Section(NPB), "Multi-Grid of the NAS Parallel Benchmarks"),
    optional("graph500", Holds::Section(GRAPH), "Graph500's breadth-first search on a Kronecker graph"),
    optional(
        "key-value",
        Holds::Section(KEY_VALUE),
        "a key-value store as Redis is one, an instance on each thread",
    ),
];
const NPB: &[Field] =
    &[field("class", one_of(&["S", "W", "A", "B", "C", "D", "E"]), "C", "the size of the problem")];
const GRAPH: &[Field] = &[
    field("scale", Holds::One(count(1, 32)), "20", "the logarithm of the number of vertices"),
    field("edge-factor", Holds::One(count(1, 1024)), "16", "edges for each vertex"),
];
const KEY_VALUE: &[Field] = &[
    field("keys", Holds::One(count(1, 1 << 40)), "10000000", "the keys of each instance"),
    field("value", Holds::One(Dimension::Size), "32B", "the size of a value"),
    field("sets", Holds::One(count(0, 1_000_000)), "1", "SETs for every `gets` GETs"),
    field("gets", Holds::One(count(0, 1_000_000)), "10", "GETs for every `sets` SETs"),
    field("clients", Holds::One(count(1, 65_536)), "200", "the clients of each instance"),
    field(
        "pipeline",
        Holds::One(count(1, 65_536)),
        "1",
        "requests of a client that are there when it is served",
    ),
];

/// Hints to devices with a cache.
pub(crate) const HINTS: &[Field] = &[
    field(
        "prefetch",
        Holds::One(count(0, 65_536)),
        "0",
        "how many pages ahead of where a thread is it announces one; 0 for none",
    ),
    field(
        "evict",
        Holds::One(count(0, 65_536)),
        "0",
        "how many pages behind where a thread is it dismisses one; 0 for none",
    ),
    field(
        "status",
        Holds::One(count(0, 65_536)),
        "0",
        "how many pages ahead of where a thread is it asks whether one is cached; 0 for none",
    ),
    field(
        "temperature",
        Holds::One(count(0, 65_536)),
        "0",
        "how many pages behind where a thread is it asks how often one has been used of late; 0 for none",
    ),
];

/// The placement of pages: a policy as in Linux, or policies for parts.
pub(crate) const PLACEMENT: &[Field] = &[
    optional("bind", Holds::Names, "on these nodes only"),
    optional("preferred", Holds::Text, "on this node while it has room"),
    optional("interleave", Holds::Names, "on these nodes in turn, a page each"),
    optional(
        "weighted",
        Holds::Weights(count(1, 255)),
        "on these nodes in turn, as many pages in a row as the weight says",
    ),
    optional("dax", Holds::Text, DAX),
    optional(
        "default",
        Holds::Placed(PART),
        "where everything is that `parts` does not name; otherwise in the host's own memory",
    ),
    optional(
        "parts",
        Holds::PlacedParts(PART),
        "of a `program`: the names of its data structures, and where each is: a name of a node, or one of the keys above",
    ),
    optional("pages", one_of(&PAGES), SIZE),
];
const SIZE: &str =
    "the size of the pages here; otherwise that of what is around: `pages` of the placement, or of the load";
const DAX: &str =
    "mapped directly from the device of this node, in pages of 2 MiB, by no policy (device-dax)";
/// The placement of a part of a program.
pub(crate) const PART: &[Field] = &[
    optional("bind", Holds::Names, "on these nodes only"),
    optional("preferred", Holds::Text, "on this node while it has room"),
    optional("interleave", Holds::Names, "on these nodes in turn, a page each"),
    optional("weighted", Holds::Weights(count(1, 255)), "on these nodes in turn, by weight"),
    optional("dax", Holds::Text, DAX),
    optional("pages", one_of(&PAGES), SIZE),
];
