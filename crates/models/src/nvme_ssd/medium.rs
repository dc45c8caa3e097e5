//! Parameters of the medium, and the configuration that they describe.

use lanetwin_media::config::{
    Allocation, Bus, CellType, CrossPoint, Encryption, Energy, Frees, Ftl, Geometry, Initial, MappingTable,
    Medium, Nand, Order, Overheads, Partition, Program, ReadAhead, Rules, SlcCache, Suspend, Timing, Victim,
    Watermarks, WearLevelling, WriteBuffer,
};
use lanetwin_media::{BadDrive, DriveConfig};
use lanetwin_ports::{Dimension, Mistake, Param, Params};
use lanetwin_units::{Bytes, Span, Spread};

#[rustfmt::skip]
pub(super) const PARAMS: &[Param] = &[
    Param { name: "capacity", dimension: Dimension::Size, default: Some("64GiB"), about: "what the host can address, all namespaces together; what is no whole 4 KiB is left out" },
    Param { name: "medium", dimension: Dimension::Choice(&["nand", "cross-point"]), default: Some("nand"), about: "what the data lie on: flash behind a translation layer, or a medium that is written in place" },
    Param { name: "medium.spread", dimension: Dimension::Ratio, default: Some("0"), about: "by what share of its mean each array operation (a read, program or erase) varies, evenly to both sides; 0 is none. A real medium varies: a result that changes with `1%` rests on operations that stay in step" },
    Param { name: "nand.channels", dimension: Dimension::Count { least: 1, most: 256 }, default: Some("8"), about: "flash channels" },
    Param { name: "nand.chips", dimension: Dimension::Count { least: 1, most: 64 }, default: Some("2"), about: "chips (chip enables) of a channel" },
    Param { name: "nand.dies", dimension: Dimension::Count { least: 1, most: 64 }, default: Some("2"), about: "dies of a chip" },
    Param { name: "nand.planes", dimension: Dimension::Count { least: 1, most: 8 }, default: Some("4"), about: "planes of a die" },
    Param { name: "nand.blocks", dimension: Dimension::Count { least: 8, most: 1048576 }, default: Some("54"), about: "blocks of a plane" },
    Param { name: "nand.pages", dimension: Dimension::Count { least: 1, most: 65536 }, default: Some("768"), about: "pages of a block" },
    Param { name: "nand.page", dimension: Dimension::Size, default: Some("16KiB"), about: "data of a page" },
    Param { name: "nand.spare", dimension: Dimension::Size, default: Some("1952B"), about: "the spare area of a page, for parity and metadata; it crosses the bus with the data" },
    Param { name: "nand.cell", dimension: Dimension::Choice(&["slc", "mlc", "tlc", "qlc"]), default: Some("tlc"), about: "how many bits a cell stores" },
    Param { name: "nand.read", dimension: Dimension::Time, default: Some("45us"), about: "tR of the fastest page of a word line" },
    Param { name: "nand.read-step", dimension: Dimension::Time, default: Some("6us"), about: "how much longer the second page of a word line takes to be read than the first, and so on" },
    Param { name: "nand.read-step.last", dimension: Dimension::Time, default: Some("0ns"), about: "the same from the second page on, if it is another: the third takes so much longer than the second; 0 is as much as the second" },
    Param { name: "nand.program", dimension: Dimension::Time, default: Some("1500us"), about: "tPROG: of all pages of a word line at once, or of each page" },
    Param { name: "nand.program-mode", dimension: Dimension::Choice(&["one-shot", "by-page"]), default: Some("one-shot"), about: "whether a word line is programmed at once or page by page" },
    Param { name: "nand.erase", dimension: Dimension::Time, default: Some("5ms"), about: "tBERS, the time of an erase" },
    Param { name: "nand.suspend", dimension: Dimension::Flag, default: Some("true"), about: "whether a program or an erase can be suspended for a read" },
    Param { name: "nand.suspend.program", dimension: Dimension::Time, default: Some("30us"), about: "from suspending a program to the first read" },
    Param { name: "nand.suspend.erase", dimension: Dimension::Time, default: Some("50us"), about: "from suspending an erase to the first read" },
    Param { name: "nand.suspend.times", dimension: Dimension::Count { least: 1, most: 1000 }, default: Some("8"), about: "how often an operation can be suspended" },
    Param { name: "nand.suspend.worth", dimension: Dimension::Time, default: Some("100us"), about: "an operation that ends within this time is not suspended" },
    Param { name: "nand.cache-read", dimension: Dimension::Flag, default: Some("true"), about: "whether a die senses the next page while the last one leaves its register" },
    Param { name: "nand.cache-program", dimension: Dimension::Flag, default: Some("true"), about: "whether a die takes the data of the next program while it programs" },
    Param { name: "nand.same-page", dimension: Dimension::Flag, default: Some("false"), about: "whether multi-plane reads need the same page number in every plane" },
    Param { name: "nand.bus", dimension: Dimension::Count { least: 1, most: 100000 }, default: Some("1600"), about: "the data transfers of a channel per microsecond (MT/s)" },
    Param { name: "nand.bus.width", dimension: Dimension::Count { least: 1, most: 8 }, default: Some("1"), about: "the bytes of a transfer" },
    Param { name: "nand.read-burst", dimension: Dimension::Count { least: 1, most: 1000000 }, default: Some("16"), about: "how many reads of the host may go before a waiting program or erase of their die, in a row" },
    Param { name: "nand.rules", dimension: Dimension::Choice(&["dies", "mqsim"]), default: Some("dies"), about: "by whose rules commands are scheduled; `mqsim` is for comparison with that simulator" },
    Param { name: "ftl.initial", dimension: Dimension::Choice(&["auto", "empty", "sequential", "steady-state"]), default: Some("auto"), about: "what the drive has lived through: nothing, one write from end to end, random writes until the write amplification is constant, or (auto) what it is measured with, as SNIA's tests have it: `sequential` in a case whose requests all follow one another, `steady-state` in any other" },
    Param { name: "ftl.initial.write-size", dimension: Dimension::Size, default: Some("0B"), about: "how much each of the random writes behind `ftl.initial: steady-state` wrote, at multiples of it; 0: what the case's own random writes have in common (or its sequential ones if there are none, or its reads if it does not write), 4 KiB where there is no load" },
    Param { name: "ftl.allocation", dimension: Dimension::Choice(ALLOCATIONS), default: Some("dies"), about: "which die and plane a page is written to: the next die that takes a page of every plane (dies), the next plane that takes one (planes), or the one that the address names, in an order of channel, way, die and plane: by CWDP successive pages go to successive channels, then ways, dies and planes" },
    Param { name: "ftl.victim", dimension: Dimension::Choice(&["greedy", "cost-benefit"]), default: Some("greedy"), about: "which block garbage collection takes: the emptiest, or by age and emptiness" },
    Param { name: "ftl.hot-cold", dimension: Dimension::Flag, default: Some("true"), about: "whether data that garbage collection moves go to blocks of their own" },
    Param { name: "ftl.gc.low", dimension: Dimension::Count { least: 1, most: 1048576 }, default: Some("4"), about: "garbage collection keeps so many blocks of a die free in the mean: it works, and the host waits, while the die has less space than these, half of each open block and half a victim" },
    Param { name: "ftl.gc.urgent", dimension: Dimension::Count { least: 2, most: 1048576 }, default: Some("2"), about: "garbage collection works while a die has fewer free blocks than this, and the host leaves it one less" },
    Param { name: "ftl.wear.dynamic", dimension: Dimension::Flag, default: Some("true"), about: "whether the least worn of the free blocks is taken" },
    Param { name: "ftl.wear.lag", dimension: Dimension::Count { least: 0, most: 1048576 }, default: Some("0"), about: "a block of cold data is moved if it lags so many erases behind the mean; 0 is never" },
    Param { name: "ftl.endurance", dimension: Dimension::Count { least: 1, most: 4294967295 }, default: Some("3000"), about: "the erases that a block survives" },
    Param { name: "ftl.streams", dimension: Dimension::Count { least: 1, most: 16 }, default: Some("1"), about: "write streams with blocks of their own; a namespace writes to one" },
    Param { name: "ftl.lookup", dimension: Dimension::Time, default: Some("50ns"), about: "a look-up of the mapping table in the DRAM of the drive" },
    Param { name: "ftl.mapping-cache", dimension: Dimension::Count { least: 0, most: 268435456 }, default: Some("0"), about: "translation pages in a cache of the mapping table, the rest of which is on flash; 0 has all of it in DRAM" },
    Param { name: "ftl.slc.blocks", dimension: Dimension::Count { least: 0, most: 1048576 }, default: Some("0"), about: "blocks of each die set aside to take bursts with one bit a cell; 0 is no SLC cache" },
    Param { name: "ftl.slc.borrowed", dimension: Dimension::Count { least: 0, most: 1048576 }, default: Some("0"), about: "so many further blocks of each die the SLC cache, if there is one, may borrow of those that are free and garbage collection does not need: its size is then dynamic" },
    Param { name: "ftl.slc.fold-at", dimension: Dimension::Count { least: 0, most: 100 }, default: Some("50"), about: "a die folds its part of the SLC cache when more than so many hundredths of it are in use; 100: never under load" },
    Param { name: "ftl.slc.fold-idle", dimension: Dimension::Time, default: Some("0s"), about: "all of the SLC cache is folded when the host has had nothing under way for so long; 0s: not in idle time" },
    Param { name: "ftl.slc.read", dimension: Dimension::Time, default: Some("25us"), about: "tR in the SLC cache" },
    Param { name: "ftl.slc.program", dimension: Dimension::Time, default: Some("200us"), about: "tPROG in the SLC cache" },
    Param { name: "ftl.slc.erase", dimension: Dimension::Time, default: Some("3ms"), about: "tBERS in the SLC cache" },
    Param { name: "ftl.read-ahead.streams", dimension: Dimension::Count { least: 0, most: 64 }, default: Some("8"), about: "sequential streams that are recognised for reading ahead; 0 is no reading ahead" },
    Param { name: "ftl.read-ahead.trigger", dimension: Dimension::Count { least: 1, most: 65536 }, default: Some("4"), about: "so many adjacent requests make a stream" },
    Param { name: "ftl.read-ahead.window", dimension: Dimension::Size, default: Some("1MiB"), about: "how far ahead of the host it is read" },
    Param { name: "cross-point.channels", dimension: Dimension::Count { least: 1, most: 256 }, default: Some("7"), about: "channels of a medium that is written in place" },
    Param { name: "cross-point.partitions", dimension: Dimension::Count { least: 1, most: 64 }, default: Some("16"), about: "partitions of a channel that work at once" },
    Param { name: "cross-point.line", dimension: Dimension::Size, default: Some("512B"), about: "what is read or written at once" },
    Param { name: "cross-point.read", dimension: Dimension::Time, default: Some("2us"), about: "reading a line" },
    Param { name: "cross-point.write", dimension: Dimension::Time, default: Some("4us"), about: "writing a line" },
    Param { name: "cross-point.rate", dimension: Dimension::Rate, default: Some("2GB/s"), about: "what a channel carries" },
    Param { name: "cross-point.command", dimension: Dimension::Time, default: Some("50ns"), about: "command and address of a line, on the channel" },
    Param { name: "cross-point.endurance", dimension: Dimension::Count { least: 1, most: 4294967295 }, default: Some("1000000"), about: "the writes that a line survives" },
    Param { name: "buffer", dimension: Dimension::Size, default: Some("64MiB"), about: "where writes wait for the medium" },
    Param { name: "buffer.protected", dimension: Dimension::Flag, default: Some("true"), about: "whether the buffer survives a loss of power: a write is acknowledged when it is in it" },
    Param { name: "buffer.volatile", dimension: Dimension::Flag, default: Some("false"), about: "whether writes are acknowledged from a buffer that does not survive; Flush then waits for the medium" },
    Param { name: "buffer.frees", dimension: Dimension::Choice(&["loaded", "programmed"]), default: Some("loaded"), about: "when what is being programmed leaves the buffer: when it is in the registers of its die, or when its program has ended" },
    Param { name: "buffer.latency", dimension: Dimension::Time, default: Some("1us"), about: "from the arrival of data in the buffer to their acknowledgement, and from a hit to the data" },
    Param { name: "encryption", dimension: Dimension::Flag, default: Some("false"), about: "whether everything is encrypted on its way to the medium" },
    Param { name: "encryption.latency", dimension: Dimension::Time, default: Some("200ns"), about: "what each request takes longer" },
    Param { name: "encryption.rate", dimension: Dimension::Rate, default: Some("16GB/s"), about: "what the engine passes, reads and writes together" },
    Param { name: "energy.page-read-pj", dimension: Dimension::Count { least: 0, most: 1125899906842624 }, default: Some("3000000"), about: "a page read of one plane" },
    Param { name: "energy.page-program-pj", dimension: Dimension::Count { least: 0, most: 1125899906842624 }, default: Some("20000000"), about: "a page program of one plane; with one bit a cell as much less as it is shorter" },
    Param { name: "energy.block-erase-pj", dimension: Dimension::Count { least: 0, most: 1125899906842624 }, default: Some("125000000"), about: "a block erase of one plane" },
    Param { name: "energy.bus-byte-pj", dimension: Dimension::Count { least: 0, most: 1125899906842624 }, default: Some("40"), about: "a byte on a flash bus" },
    Param { name: "energy.host-byte-pj", dimension: Dimension::Count { least: 0, most: 1125899906842624 }, default: Some("100"), about: "a byte through the controller" },
    Param { name: "energy.idle-mw", dimension: Dimension::Count { least: 0, most: 1073741824 }, default: Some("5000"), about: "what the drive takes when it does nothing" },
    Param { name: "energy.limit-mw", dimension: Dimension::Count { least: 0, most: 1073741824 }, default: Some("0"), about: "what the drive may take, as a mean: commands wait while it has taken more; 0: nothing holds it" },
    Param { name: "namespaces", dimension: Dimension::Count { least: 1, most: 128 }, default: Some("1"), about: "how many namespaces there are, equal parts of the capacity" },
    Param { name: "namespaces.isolated", dimension: Dimension::Flag, default: Some("false"), about: "whether each namespace has dies of its own" },
];

/// Allocation of pages to dies and planes: dynamic, or static in every order of channel, way, die and plane.
#[rustfmt::skip]
const ALLOCATIONS: &[&str] = &[
    "dies", "planes",
    "CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW",
    "WCDP", "WCPD", "WDCP", "WDPC", "WPCD", "WPDC",
    "DCWP", "DCPW", "DWCP", "DWPC", "DPCW", "DPWC",
    "PCWD", "PCDW", "PWCD", "PWDC", "PDCW", "PDWC",
];

/// The drive described by the parameters; [`DriveConfig::mistakes`] says whether it is valid.
pub(super) fn config(params: &Params) -> DriveConfig {
    let nand = || Medium::Nand(Box::new(nand(params)), Box::new(ftl(params)));
    DriveConfig {
        capacity: capacity(params),
        medium: if params.choice("medium") == "nand" {
            nand()
        } else {
            Medium::CrossPoint(cross_point(params))
        },
        spread: Spread::NONE,
        buffer: WriteBuffer {
            capacity: params.size("buffer"),
            power_loss_protected: params.flag("buffer.protected"),
            volatile_cache: params.flag("buffer.volatile"),
            frees: if params.choice("buffer.frees") == "loaded" { Frees::Loaded } else { Frees::Programmed },
            latency: params.time("buffer.latency"),
        },
        encryption: params.flag("encryption").then(|| Encryption {
            latency: params.time("encryption.latency"),
            bytes_per_second: params.rate("encryption.rate"),
        }),
        energy: Energy {
            read: params.count("energy.page-read-pj"),
            program: params.count("energy.page-program-pj"),
            erase: params.count("energy.block-erase-pj"),
            bus_byte: params.count("energy.bus-byte-pj"),
            host_byte: params.count("energy.host-byte-pj"),
            idle_milliwatts: params.count("energy.idle-mw"),
            limit_milliwatts: Some(params.count("energy.limit-mw")).filter(|limit| *limit > 0),
        },
    }
}

fn count(params: &Params, name: &str) -> u32 {
    u32::try_from(params.count(name)).expect("every count of a medium is declared with at most 32 bits")
}

fn nand(params: &Params) -> Nand {
    let count = |name| count(params, name);
    Nand {
        geometry: Geometry {
            channels: count("nand.channels"),
            chips: count("nand.chips"),
            dies: count("nand.dies"),
            planes: count("nand.planes"),
            blocks: count("nand.blocks"),
            pages: count("nand.pages"),
            page: params.size("nand.page"),
            spare: params.size("nand.spare"),
        },
        timing: timing(params),
        read_burst: count("nand.read-burst"),
        bus: Bus {
            megatransfers: count("nand.bus"),
            width: count("nand.bus.width"),
            overheads: Overheads::NV_DDR2,
        },
        rules: if params.choice("nand.rules") == "mqsim" { Rules::Mqsim } else { Rules::Dies },
    }
}

fn timing(params: &Params) -> Timing {
    let time = |name| params.time(name);
    let (fastest, step, program) = (time("nand.read"), time("nand.read-step"), time("nand.program"));
    let last = if time("nand.read-step.last") == Span::ZERO { step } else { time("nand.read-step.last") };
    let by_page = params.choice("nand.program-mode") == "by-page";
    Timing {
        cell: match params.choice("nand.cell") {
            "slc" => CellType::Slc,
            "mlc" => CellType::Mlc,
            "qlc" => CellType::Qlc,
            _ => CellType::Tlc,
        },
        read: [fastest, fastest + step, fastest + step + last, fastest + step + last * 2],
        program: if by_page { Program::ByPage([program; 4]) } else { Program::OneShot(program) },
        erase: time("nand.erase"),
        suspend: params.flag("nand.suspend").then(|| Suspend {
            program: time("nand.suspend.program"),
            erase: time("nand.suspend.erase"),
            times: count(params, "nand.suspend.times"),
            worth: time("nand.suspend.worth"),
        }),
        cache_read: params.flag("nand.cache-read"),
        cache_program: params.flag("nand.cache-program"),
        same_page: params.flag("nand.same-page"),
    }
}

fn ftl(params: &Params) -> Ftl {
    let count = |name| count(params, name);
    let lookup = params.time("ftl.lookup");
    let (cached, streams) = (count("ftl.mapping-cache"), count("ftl.read-ahead.streams"));
    let lag = count("ftl.wear.lag");
    Ftl {
        initial: match params.choice("ftl.initial") {
            "empty" => Initial::Empty,
            "sequential" => Initial::Sequential,
            // `auto` has been resolved if there is a load; without one nothing is known about it
            _ => Initial::SteadyState { written: params.size("ftl.initial.write-size") },
        },
        allocation: match params.choice("ftl.allocation") {
            "planes" => Allocation::Planes,
            word => Order::of(word).map_or(Allocation::Dies, Allocation::Address),
        },
        victim: if params.choice("ftl.victim") == "greedy" { Victim::Greedy } else { Victim::CostBenefit },
        hot_cold: params.flag("ftl.hot-cold"),
        watermarks: Watermarks { low: count("ftl.gc.low"), urgent: count("ftl.gc.urgent") },
        wear: WearLevelling { dynamic: params.flag("ftl.wear.dynamic"), lag: (lag > 0).then_some(lag) },
        endurance: count("ftl.endurance"),
        streams: count("ftl.streams"),
        partitions: partitions(params),
        mapping: match cached {
            0 => MappingTable::Dram(lookup),
            pages => MappingTable::Cached { pages, hit: lookup },
        },
        slc: slc(params),
        read_ahead: (streams > 0).then(|| ReadAhead {
            streams,
            trigger: count("ftl.read-ahead.trigger"),
            window: params.size("ftl.read-ahead.window"),
        }),
    }
}

/// The SLC cache, if there is one.
fn slc(params: &Params) -> Option<SlcCache> {
    let (blocks, borrowed) = (count(params, "ftl.slc.blocks"), count(params, "ftl.slc.borrowed"));
    let idle = params.time("ftl.slc.fold-idle");
    (blocks > 0).then(|| SlcCache {
        blocks,
        borrowed,
        fold_at: count(params, "ftl.slc.fold-at"),
        fold_idle: (idle > Span::ZERO).then_some(idle),
        read: params.time("ftl.slc.read"),
        program: params.time("ftl.slc.program"),
        erase: params.time("ftl.slc.erase"),
    })
}

/// A partition for each namespace, if they are isolated; the last takes the remainder.
fn partitions(params: &Params) -> Vec<Partition> {
    if !params.flag("namespaces.isolated") {
        return Vec::new();
    }
    let namespaces = count(params, "namespaces");
    let dies =
        ["nand.channels", "nand.chips", "nand.dies"].map(|name| count(params, name)).iter().product::<u32>();
    let part = namespace_bytes(params);
    let others = namespaces - 1;
    (0..namespaces)
        .map(|i| match i < others {
            true => Partition { capacity: Bytes(part), dies: dies / namespaces },
            false => Partition {
                capacity: Bytes(capacity(params).0 - part * u64::from(others)),
                dies: dies - dies / namespaces * others,
            },
        })
        .collect()
}

/// What the host can address: the whole units of the stated capacity, which is often a decimal one, such as 375 GB.
/// Less than one unit stays as it is, and is a mistake.
fn capacity(params: &Params) -> Bytes {
    let stated = params.size("capacity").0;
    let rest = stated % lanetwin_media::config::UNIT;
    Bytes(if rest < stated { stated - rest } else { stated })
}

/// Size of each namespace \[B\].
pub(super) fn namespace_bytes(params: &Params) -> u64 {
    let equal = params.size("capacity").0 / params.count("namespaces");
    equal - equal % lanetwin_media::config::UNIT
}

fn cross_point(params: &Params) -> CrossPoint {
    CrossPoint {
        channels: count(params, "cross-point.channels"),
        partitions: count(params, "cross-point.partitions"),
        line: params.size("cross-point.line"),
        read: params.time("cross-point.read"),
        write: params.time("cross-point.write"),
        bytes_per_second: params.rate("cross-point.rate"),
        command: params.time("cross-point.command"),
        endurance: params.count("cross-point.endurance"),
    }
}

/// A mistake of a configuration, as a mistake of the parameters that it comes from.
pub(super) fn mistake(bad: BadDrive) -> Mistake {
    Mistake { parameter: parameter(bad.field), problem: bad.problem, remedy: bad.remedy }
}

/// The parameter that a field of the configuration comes from.
fn parameter(field: &str) -> &'static str {
    let plain = field.replace("geometry.", "").replace("watermarks.", "gc.").replace('_', "-");
    let name = match &*plain {
        "nand.bus.megatransfers" => "nand.bus",
        "ftl.mapping.pages" => "ftl.mapping-cache",
        "ftl.partitions" | "ftl.partitions.dies" | "ftl.partitions.capacity" => "namespaces",
        "buffer.capacity" => "buffer",
        "encryption.bytes-per-second" => "encryption.rate",
        "cross-point.bytes-per-second" => "cross-point.rate",
        other => other,
    };
    PARAMS.iter().find(|param| param.name == name).map_or("capacity", |param| param.name)
}
