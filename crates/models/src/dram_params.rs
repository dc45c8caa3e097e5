//! Parameters of DRAM behind a device or a host, shared by several models, and the memory that they describe.

use lanetwin_kernel::{Metric, Report, Supply, SupplyKind};
use lanetwin_media::dram::{
    BusUse, Config, Counters, Density, Geometry, Machine, Mapping, Order, PagePolicy, Queues, Refresh, Speed,
    Turn, Width, WriteAnswer,
};
use lanetwin_ports::{Condition, Dimension, Mistake, Param, Params, Setting};
use lanetwin_units::{Better, Bytes, Instant};

const ROW_HITS: Metric = Metric::new("row hits", "%", Better::Higher);
/// Reads of lines that wait to be written, and writes that replace them: they are on no bus, and a load of a few lines
/// can be faster than the buses by them.
const AT_QUEUE: Metric =
    Metric::new("answered by the write queue", "%", Better::Higher).if_any("write queue");
const ON_BUSES: Metric =
    Metric::new("carried by the DRAM's buses", "GB/s", Better::Higher).if_any("write queue");

/// Below this share of requests \[%\] nothing is said of what the write queue answers.
const AT_QUEUE_LEAST: f64 = 1.0;
/// Bytes of an access.
const LINE: u64 = 64;

const SPEEDS: &[&str] = &["ddr4-2400", "ddr4-2666", "ddr4-3200", "ddr5-4800", "ddr5-5600", "ddr5-6400"];

/// The parameters of a group `dram.*`. The capacity is not among them: its name is the model's own.
#[rustfmt::skip]
pub const DRAM: [Param; 21] = [
    Param { name: "dram.speed", dimension: Dimension::Choice(SPEEDS), default: Some("ddr5-4800"), about: "the speed bin of the chips, which is a table of timings" },
    Param { name: "dram.channels", dimension: Dimension::Count { least: 1, most: 64 }, default: Some("2"), about: "channels of 64 data bits; one of DDR5 is two sub-channels" },
    Param { name: "dram.ranks", dimension: Dimension::Count { least: 1, most: 4 }, default: Some("1"), about: "ranks of each channel: 1, 2 or 4" },
    Param { name: "dram.width", dimension: Dimension::Choice(&["x4", "x8", "x16"]), default: Some("x8"), about: "data pins of a chip, which decide bank groups, the size of a row and some timings" },
    Param { name: "dram.density", dimension: Dimension::Choice(&["8Gb", "16Gb", "24Gb", "32Gb"]), default: Some("16Gb"), about: "what a chip stores, which decides how long a refresh takes" },
    Param { name: "dram.interleave", dimension: Dimension::Size, default: Some("256B"), about: "how many bytes go to one channel or sub-channel before the next has its turn" },
    Param { name: "dram.interleave-hash", dimension: Dimension::Flag, default: Some("false"), about: "whether the channel or sub-channel is XORed with all address bits above its own; for a power of two of them" },
    Param { name: "dram.order", dimension: Dimension::Choice(&["rows", "banks", "columns"]), default: Some("rows"), about: "what follows the channel in an address: bank group, column, bank; or bank group, bank, column; or column, bank group, bank" },
    Param { name: "dram.hash", dimension: Dimension::Flag, default: Some("true"), about: "whether the bank is XORed with bits of the row" },
    Param { name: "dram.page", dimension: Dimension::Choice(&["open", "closed", "adaptive"]), default: Some("open"), about: "when a row is closed: when another is wanted, with its last access that waits, or after a time that adapts" },
    Param { name: "dram.page-time", dimension: Dimension::Time, default: Some("200ns"), about: "the time that the adaptive policy begins with" },
    Param { name: "dram.read-queue", dimension: Dimension::Count { least: 1, most: 48 }, default: Some("32"), about: "reads of a channel or sub-channel among which the scheduler chooses" },
    Param { name: "dram.write-queue", dimension: Dimension::Count { least: 1, most: 48 }, default: Some("48"), about: "writes of a channel or sub-channel that wait to be written" },
    Param { name: "dram.write-high", dimension: Dimension::Count { least: 1, most: 48 }, default: Some("32"), about: "with so many writes, reads wait until they are down to the low mark" },
    Param { name: "dram.write-low", dimension: Dimension::Count { least: 0, most: 47 }, default: Some("8"), about: "the low mark of waiting writes" },
    Param { name: "dram.write-idle", dimension: Dimension::Time, default: Some("50ns"), about: "writes begin when there has been no read for so long" },
    Param { name: "dram.write-age", dimension: Dimension::Time, default: Some("5us"), about: "a write that has waited so long is written before further reads" },
    Param { name: "dram.passes", dimension: Dimension::Count { least: 0, most: 1024 }, default: Some("16"), about: "how many requests for an open row may pass an older one for another row of its bank" },
    Param { name: "dram.turn", dimension: Dimension::Choice(&["eager", "prepared"]), default: Some("eager"), about: "when the bus turns between reads and writes: at once, or while rows are opened for the other direction and those that are open are used" },
    Param { name: "dram.refresh", dimension: Dimension::Choice(&["all-bank", "same-bank", "none"]), default: Some("all-bank"), about: "how cells are refreshed: all banks of a rank at once, one bank of every bank group at once (DDR5), or never" },
    Param { name: "dram.write-answer", dimension: Dimension::Choice(&["queued", "written"]), default: Some("queued"), about: "when a write is answered: when it has a place in the write queue, or when it has been written" },
];

/// Their names.
pub const DRAM_NAMES: [&str; 21] = {
    let mut names = [""; 21];
    let mut which = 0;
    while which < names.len() {
        names[which] = DRAM[which].name;
        which += 1;
    }
    names
};

/// Only the adaptive policy waits before it closes a row.
pub const PAGE_TIME: Condition =
    Condition { of: &["dram.page-time"], on: "dram.page", must_be: Setting::Word("adaptive") };

/// The memory described by the parameters; [`Config::mistakes`] says whether it is valid.
#[must_use]
pub fn config(params: &Params, capacity: Bytes) -> Config {
    let count = |name| small(params, name);
    let choice = |name| params.choice(name);
    let place = SPEEDS.iter().position(|word| *word == choice("dram.speed"));
    Config {
        capacity,
        speed: Speed::ALL[place.expect("the choice is one of these words")],
        timings: None,
        geometry: Geometry {
            channels: count("dram.channels"),
            ranks: count("dram.ranks"),
            width: match choice("dram.width") {
                "x4" => Width::X4,
                "x8" => Width::X8,
                _ => Width::X16,
            },
            density: match choice("dram.density") {
                "8Gb" => Density::Gb8,
                "16Gb" => Density::Gb16,
                "24Gb" => Density::Gb24,
                _ => Density::Gb32,
            },
        },
        mapping: Mapping {
            interleave: params.size("dram.interleave"),
            order: match choice("dram.order") {
                "rows" => Order::Rows,
                "banks" => Order::Banks,
                _ => Order::Columns,
            },
            hash: params.flag("dram.hash"),
            hash_buses: params.flag("dram.interleave-hash"),
        },
        page: match choice("dram.page") {
            "open" => PagePolicy::Open,
            "closed" => PagePolicy::Closed,
            _ => PagePolicy::Adaptive(params.time("dram.page-time")),
        },
        queues: queues(params),
        refresh: match choice("dram.refresh") {
            "all-bank" => Refresh::AllBank,
            "same-bank" => Refresh::SameBank,
            _ => Refresh::None,
        },
        turn: if choice("dram.turn") == "eager" { Turn::Eager } else { Turn::Prepared },
        answer: if choice("dram.write-answer") == "queued" {
            WriteAnswer::Queued
        } else {
            WriteAnswer::Written
        },
    }
}

fn queues(params: &Params) -> Queues {
    let count = |name| small(params, name);
    Queues {
        reads: count("dram.read-queue"),
        writes: count("dram.write-queue"),
        high: count("dram.write-high"),
        low: count("dram.write-low"),
        idle: params.time("dram.write-idle"),
        age: params.time("dram.write-age"),
        passes: count("dram.passes"),
        waiting: u32::MAX,
    }
}

fn small(params: &Params, name: &str) -> u32 {
    u32::try_from(params.count(name)).expect("counts of DRAM are declared with few bits")
}

/// Reports the use of a memory's data buses up to `now`.
pub(crate) fn report_buses(name: &str, memory: &Machine, now: Instant, report: &mut Report) {
    let BusUse { busy_ps, lost_ps } = memory.bus_use(now);
    let kind = SupplyKind::HeldUp { lost_ps: lost_ps.into() };
    report.supply(name, Supply { in_use_ps: busy_ps.into(), supply: memory.buses(), kind });
}

/// Tells the metrics of a memory that has done this so far.
pub(crate) fn report(counters: &Counters, report: &mut Report) {
    report.ratio(ROW_HITS, [counters.rows[0], counters.rows.iter().sum()], 100.0);
    report_queue(counters, report);
}

/// Tells what the write queues answered, if that is much, and what was left to the buses.
pub(crate) fn report_queue(counters: &Counters, report: &mut Report) {
    let totals = [counters.forwarded + counters.merged, counters.accesses.iter().sum()];
    let share = |added: &[u64]| {
        let percent = 100.0 * added[0] as f64 / ((added[0] + added[1]) as f64).max(1.0);
        if percent < AT_QUEUE_LEAST { 0.0 } else { percent }
    };
    report.derived(AT_QUEUE, &totals, move |added, _| Some(share(added)));
    let rate = move |added: &[u64], seconds: f64| (added[1] * LINE) as f64 / seconds / 1e9;
    report.derived(ON_BUSES, &totals, move |added, seconds| {
        Some(if share(added) == 0.0 { 0.0 } else { rate(added, seconds) })
    });
}

/// All mistakes in these parameters for a memory of this capacity; `capacity_name` is the model's name of the
/// capacity parameter.
#[must_use]
pub fn mistakes(params: &Params, capacity: Bytes, capacity_name: &'static str) -> Vec<Mistake> {
    let told = config(params, capacity).mistakes();
    told.into_iter()
        .map(|bad| Mistake {
            parameter: parameter(bad.field, capacity_name),
            problem: bad.problem,
            remedy: bad.remedy,
        })
        .collect()
}

/// The parameter that a field of the configuration comes from.
fn parameter(field: &str, capacity: &'static str) -> &'static str {
    match field {
        "capacity" => capacity,
        "geometry.channels" => "dram.channels",
        "geometry.ranks" => "dram.ranks",
        "geometry.density" => "dram.density",
        "mapping.interleave" => "dram.interleave",
        "mapping.hash_buses" => "dram.interleave-hash",
        "queues.reads" => "dram.read-queue",
        "queues.writes" => "dram.write-queue",
        "queues.high" => "dram.write-high",
        "queues.low" => "dram.write-low",
        "refresh" => "dram.refresh",
        _ => "dram.speed",
    }
}
