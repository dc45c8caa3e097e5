//! Mistakes of authors in a scenario, a part or a form, beyond those that any document may have.

pub(crate) mod network;
pub(crate) mod partitions;
pub(crate) mod programs;
pub(crate) mod variants;

use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Diagnostic, Reports};
use lanetwin_document::problems;
use lanetwin_document::spelling::Near;
use lanetwin_load::Finding;

problems! {
    /// A part that no catalogue has.
    UnknownPart { name: String, near: Near } = "SC011", "there is no part `{name}`", "{near}`lanetwin parts` lists them; your own parts are read from `parts/` beside the scenario and from the folders in LANETWIN_PARTS";
    /// A model that is not on the shelf.
    UnknownModel { name: String, known: String, near: Near } = "SC012", "there is no model `{name}`", "{near}the models are {known}";
    /// A component that the machine does not have.
    UnknownComponent { name: String, known: String, near: Near } = "SC013", "the machine has no component `{name}`", "{near}its components are {known}";
    /// A port that a component does not have.
    UnknownPort { component: String, port: String, known: String, near: Near } = "SC014", "`{component}` has no port `{port}`", "{near}its ports are {known}";
    /// More than one kind of port could be meant.
    AmbiguousPort { component: String, fits: String } = "SC015", "more than one port of `{component}` fits here", "name one of {fits}";
    /// A port at the end of two links.
    PortTaken { port: String, link: String } = "SC016", "port `{port}` is already taken by link `{link}`", "use another port, or raise the component's `ports`";
    /// No port is left.
    NoPort { component: String, wanted: String } = "SC017", "`{component}` has no free {wanted} port", "raise the component's `ports`, remove a link, or choose another component";
    /// A port that must be connected and is not.
    Unconnected { port: String } = "SC018", "port `{port}` is not connected to anything", "add a link from or to it, or remove the component";
    /// A link between ports that cannot be joined.
    CannotJoin { from: String, to: String, why: String } = "SC019", "`{from}` and `{to}` cannot be joined: {why}", "a link joins two PCIe ports, two CXL ports, two Ethernet ports, or two block ports";
    /// Not exactly one root port.
    NoRoot { found: &'static str } = "SC020", "the link joins {found}", "one end of a PCIe link is a root port (of a component such as `generic-host-gen4`) or a port of a switch, the other a device or a switch";
    /// A width that no link has.
    ImpossibleWidth { text: String } = "SC021", "no link is `{text}` wide", "write x1, x2, x4, x8, x12, x16 or x32";
    /// A generation that does not exist, or is not modelled.
    ImpossibleGeneration { text: String } = "SC022", "`{text}` is no generation that is modelled", "write 1 to 5, or the rate of a lane: 2.5GT/s, 5GT/s, 8GT/s, 16GT/s, 32GT/s; a link of CXL can have 6, too";
    /// More lanes than a port has.
    TooWide { width: String, port: String, has: String } = "SC023", "the link is {width}, but port `{port}` has only {has}", "narrow the link to {has}, or change `port.width` of the component";
    /// Faster than a port can go.
    TooFast { generation: String, port: String, has: String } = "SC024", "the link is {generation}, but port `{port}` reaches only {has}", "lower `gen`, or change `port.gen` of the component";
    /// Not a payload size of the standard.
    PayloadSize { text: String } = "SC025", "`{text}` is no payload size of the standard", "write 128B, 256B, 512B, 1KiB, 2KiB or 4KiB";
    /// More payload than a port supports.
    PayloadTooLarge { mps: String, port: String, has: String } = "SC026", "a Maximum Payload Size of {mps} is more than port `{port}` supports ({has})", "lower `mps` to {has}, or leave it out: it is then the least of all ports of the hierarchy";
    /// A transfer of nothing.
    EmptyTransfer = "SC027", "a transfer of 0 bytes moves nothing", "give a size of at least 1B";
    /// A component that cannot do what a workload asks.
    CannotServe { component: String, what: String } = "SC028", "`{component}` {what}", "block requests go from a host (`on:`) to a drive (`target:`), a DMA card (`on:`) reads and writes a memory (`target:`), the cores of a `memory-host` (`on:`) load and store, and programs of a host (`on:`) send to another (`target:`): name another component, or give it another part";
    /// No way through the links.
    NoPath { from: String, to: String } = "SC029", "there is no path of links from `{from}` to `{to}`", "add a link between them";
    /// A variant that is not there.
    UnknownVariant { name: String, known: String, near: Near } = "SC031", "there is no variant `{name}`", "{near}the variants are {known}";
    /// The file of a part is called differently from the part.
    PartFileName { name: String, file: String } = "SC035", "the file `{file}` holds a part called `{name}`", "give file and part the same name";
    /// A number of a part without its origin.
    NoSource { key: &'static str } = "SC036", "the number has no `{key}`", "say where it comes from: `kind` is datasheet, measured, standard, assumed or calibrated, `source` names the document, `to` what it was calibrated to";
    /// A transfer that does not fit where its addresses are drawn from.
    WindowTooSmall { size: String, window: String, key: &'static str } = "SC038", "a transfer of {size} does not fit into a {key} of {window}", "enlarge `{key}` or leave out the larger sizes";
    /// More work than a run can be.
    TooMuch { cases: usize, most: usize } = "SC039", "the lists multiply to {cases} cases", "shorten them to at most {most} cases in a workload";
    /// A receive buffer into which a TLP does not fit.
    TooFewCredits { port: String, param: &'static str, credits: u64, needed: u64, payload: String } = "SC041", "port `{port}` advertises {credits} data credits (`{param}`), but a TLP of {payload} needs {needed}: it could never be sent", "raise `{param}` to at least {needed}, write 0 for infinitely many, or lower `mps` of the link";
    /// A replay buffer into which a TLP does not fit.
    SmallReplayBuffer { port: String, has: String, needed: String } = "SC042", "the replay buffer of port `{port}` has {has}, but the largest TLP takes {needed} of it: it could never be sent", "raise `port.replay-buffer` to at least {needed}, or lower `mps` of the link";
    /// Links that lead back to where they began.
    Loop { from: String, to: String } = "SC043", "the links from `{from}` to `{to}` close a circle", "take one link of the circle away: what is below a root port is a tree, and a TLP has one way";
    /// A hierarchy with two roots.
    TwoRoots { root: String, other: String } = "SC044", "the link leads to root port `{other}`, and by way of a switch to root port `{root}`, too", "say under `partitions:` what of the switch belongs to which host, take a link away, or give the other host a switch of its own";
    /// A switch that no host is above.
    NoHostAbove { name: String } = "SC045", "switch `{name}` has no host above it", "add a link from a root port (of a component such as `generic-host-gen4`) to it, or to a switch that it is linked to";
    /// More lanes than a switch has.
    TooManyLanes { name: String, lanes: u64, has: u64 } = "SC046", "the links of switch `{name}` have {lanes} lanes together, but it has {has}", "narrow a link, take one away, or raise `lanes` of the switch; 0 is no limit";
    /// More turns than an arbiter can remember.
    TooMuchWeight { name: String, weights: u64, most: u32 } = "SC047", "the weights of the links of switch `{name}` come to {weights}, but its arbiter has {most} turns", "lower the weights: only their ratios count; a link without a `weight` has 1";
    /// An output buffer into which a TLP does not fit.
    SmallOutput { name: String, has: String, needed: String } = "SC048", "an output buffer of switch `{name}` holds {has} of payload, but the largest TLP has {needed}: it could never be sent", "raise `output.data` to at least {needed}, or lower `mps` of a link of the hierarchy";
    /// Outages that are not one after the other.
    Outages { at: String, until: String } = "SC049", "the link goes down at {at}, but it is down until {until} anyway, or the list is out of order", "write outages in the order of time, each after the end of the one before";
    /// Peers that are not below the same root port.
    NotPeers { from: String, to: String } = "SC050", "`{from}` and `{to}` are not below the same root port", "link both to one switch, or to switches that are linked: a host does not forward between its root ports";
    /// An I/O that no command can say.
    PartOfBlock { what: String, drive: String, block: String, hint: &'static str } = "SC051", "{what} is no whole number of blocks of `{drive}`, which have {block}", "ask for multiples of {block}, or set `block` of the drive{hint}";
    /// A node that is called as something else is.
    NameOfNode { name: String, other: String } = "SC052", "`{name}` is also the name of {other}", "give it another name: a `placement` would not know which memory is meant";
    /// A list of the ones of whom there is one.
    OneOnly { key: &'static str, of: &'static str, several: &'static str } = "SC053", "`{key}` is a list, but one component alone can stand here for `{of}:`", "name one component in `{key}:`; it is `{several}:` that may be a list, for a load on each device of it";
    /// A device that is named twice.
    DeviceTwice { name: String } = "SC054", "`{name}` is in the list twice", "name each once; for more on one of them, raise `outstanding` or `depth` of a load, or its weight in `weighted`";
    /// A logical unit that a device does not have.
    NoSuchUnit { name: String, known: String } = "SC055", "there is no logical unit `{name}`", "name {known}";
    /// What comes behind the name of a device, and is no logical unit.
    NotAUnit { text: String, component: String } = "SC056", "`{text}` is no logical unit of `{component}`", "write `{component}` alone, or `lun` and a number behind it, as in `{component}.lun0`";
    /// A block port that somebody else has.
    BlockPortTaken { port: String, by: String } = "SC057", "the requests of the workload need port `{port}`, which {by} takes", "name the component in front of it as `target`, or take away what is in the way";
    /// An access specification that a configuration does not have.
    UnknownSpec { name: String, file: String, known: String, near: Near } = "SC058", "`{file}` has no access specification `{name}`", "{near}it has {known}";
    /// A worker that a configuration does not have.
    UnknownWorker { name: String, file: String, known: String, near: Near } = "SC059", "`{file}` has no disk worker `{name}`", "{near}its disk workers are {known}";
    /// No access specification to run.
    NoSpec { file: String, known: String } = "SC060", "no disk worker of `{file}` is assigned an access specification", "name one with `spec:`; the file has {known}";
    /// An access specification that cannot run on such a target.
    CannotAccess { spec: String, why: String, room: String } = "SC061", "`{spec}` cannot run on a target of {room}: {why}", "enlarge `capacity`, or the maximum disk size in the file; a request must fit between the starting sector and the end";
    /// An access specification that is named twice.
    SpecTwice { name: String } = "SC062", "`{name}` is in the list twice", "name every access specification once: each is a case of its own";

    /// More devices on a bus than its numbers tell apart.
    TooManyOnBus { name: String } = "SC063", "`{name}` has more links down than its bus has places for: a root complex has 31, a switch 32", "link some of the devices to another switch, or to another host";
    /// No bus number is left.
    NoBusNumber { host: String, port: String } = "SC064", "below host `{host}` there are more than 256 buses: no number is left for what is below `{port}`", "take devices away: each takes a bus, and each switch one besides those of its ports; or give them to another host";
    /// Memory that does not fit where addresses can be.
    NoAddress { host: String, space: String, needed: String, available: String } = "SC065", "the devices below host `{host}` need {needed} of {space}, where there are {available}", "make `window` of the workloads on the memory of devices smaller";
    /// A test of one drive that is not on one drive.
    NotOneDrive = "SC066", "a test of the SNIA PTS is of one NVMe drive, asked by one host", "name one drive of the model `nvme-ssd` in `target`, and one host in `on`; write a workload for each drive";
    /// A test that writes for longer than a person waits.
    LongTest { written: String, most: String } = "SC067", "preconditioning writes {written}, and what a person waits for is {most}", "make `span` or `precondition` smaller; a smaller drive with the same share of spare blocks is as steady";

    /// A channel at a rate whose eyes are not computed.
    NoEyes { generation: String } = "SC068", "eyes of {generation} are not computed: it has four levels", "write `ber`, which is then that before error correction, or a lower `gen`";
    /// Flits that a rate does not have.
    OldFlit { flit: String } = "SC069", "there are no flits of {flit} at 64 GT/s", "write `256B` or `256B-latency-optimised`, leave `flit` out, or lower `gen` to 5";

    /// A part that does not stand in links.
    NotInLink { part: String, model: &'static str } = "SC070", "`{part}` is a {model}, which cannot stand in a link", "name a retimer or a redriver; everything else is a component of the `machine`, with links of its own";
    /// More retimers than a link may have.
    ManyRetimers { found: usize } = "SC071", "there are {found} retimers in the link", "a link has at most two: take the others out";
    /// A component that stands in links.
    OnlyInLink { name: String, model: &'static str } = "SC072", "`{name}` is a {model}, which is no component by itself", "name its part in `via:` of the link that it stands in, as in `via: [spec-limit-retimer]`";
    /// A link that is too fast for what stands in it.
    SlowInLink { generation: String, part: String, has: String } = "SC073", "the link is {generation}, but `{part}` in it reaches only {has}", "lower `gen`, leave it out, or take another part";
    /// A link that is too wide for what stands in it.
    NarrowInLink { width: String, part: String, has: u64 } = "SC074", "the link is {width}, but `{part}` in it has only {has} lanes", "narrow the link, leave `width` out, or take another part";
    /// An elasticity buffer that would run over.
    ShallowBuffer { part: String, has: u64, needed: u64, clocking: &'static str } = "SC075", "the clocks of a link with `clocking: {clocking}` drift apart by {needed} bits a lane before a SKP ordered set, but `{part}` takes up {has}: it would lose bits", "lower `mps`, widen the link, give the link one clock (`clocking: common`), or take another part";
    /// Bit error ratios of segments that the link does not have.
    SegmentCount { listed: usize, segments: usize } = "SC076", "`ber` lists {listed} segments, but the retimers in the link make {segments}", "write one bit error ratio for each segment, or one for the whole link";
    /// A channel that is cut otherwise than the link.
    ChannelRetimers { file: String, variant: String, channel: usize, link: usize } = "SC077", "variant `{variant}` of `{file}` has {channel} retimers, but `via` of the link has {link}", "let both have the same: name the retimers in `via`, and choose the variant with `channel-variant`";
    /// A channel that carries no link.
    ClosedEye { file: String, variant: String, segment: usize, ber: String, most: String } = "SC078", "segment {segment} of variant `{variant}` of `{file}` has a bit error ratio of {ber}: no link comes up on it", "at most {most} can be simulated; put a retimer in, lower `gen`, or better the channel. `lanetwin link eye` shows it";
    /// A variant that a channel does not have.
    UnknownChannelVariant { name: String, file: String, known: String, near: Near } = "SC079", "`{file}` has no variant `{name}`", "{near}it has {known}";

    /// A job that a job file does not have.
    UnknownSection { name: String, file: String, known: String, near: Near } = "SC080", "`{file}` has no job in a section `{name}`", "{near}its sections are {known}";
    /// A job that cannot run on such a target.
    CannotRunJob { job: String, why: String, room: String } = "SC081", "the job `{job}` cannot run on a target of {room}: {why}", "enlarge `capacity`, or make `size`, `offset` and `offset_increment` of the job smaller";
    /// Too many jobs, or too many I/Os in flight.
    TooManyJobs { threads: u64, depth: u32, most: u64, most_depth: u32 } = "SC082", "{threads} jobs with {depth} I/Os in flight run at once on a target", "at most {most} jobs and {most_depth} I/Os in flight: make `numjobs` or `iodepth` smaller, or put a `stonewall` between jobs";
    /// Parameters that make no device together.
    Impossible { parameter: &'static str, problem: String, remedy: String } = "SC083", "no device can be built like this: `{parameter}`: {problem}", "{remedy}";
    /// A load that reaches beyond a drive.
    BeyondCapacity { span: String, drive: String, room: String } = "SC084", "a span of {span} reaches beyond `{drive}`, which has {room}", "a `span:` of at most {room}, or more `capacity`";
    /// Rounds of what does not go on.
    NoRounds { what: String } = "SC085", "{what} has no rounds that could become steady", "leave `steady-state` out";

    /// Several hosts on a drive that has not a port for each.
    NotShared { drive: String, hosts: usize } = "SC086", "{hosts} hosts ask `{drive}`, which has not a PCIe port for each", "name a drive with `dual-port: true` and link each of its ports to one host; or name one host in `on`";
    /// Another host is to take over where there is none.
    NoTakeover = "SC087", "`takeover` needs several hosts that ask the same drives", "name the hosts in `on: [a, b]`, each linked to a port of its own of every drive, or leave `takeover` out: the paths of one host take over from each other at once";
    /// A command that cannot be asked for.
    CannotAct { action: &'static str, why: String } = "SC088", "`{action}` cannot be asked for: {why}", "change what it is about, or leave the action out";

    /// Pages larger than what is to be in them, or than what a node has.
    NoLargePage { size: &'static str, why: String } = "SC089", "nothing is in pages of {size}: {why}", "make `working-set` or the memory larger, or `pages` smaller";

    /// Two ends of CXL of which not exactly one leads down.
    NoCxlRoot { found: String } = "SC090", "the link joins {found}", "one end of a CXL link is a port of a host (such as the model `memory-host`) or a port of a CXL switch that leads down, the other a device or the port of a switch that leads up";
    /// CXL without a host.
    NoCxlHost { name: String, what: &'static str } = "SC091", "{what} `{name}` has no host above it", "add a link from a CXL port of a host to it, or to a switch that it is linked to; or remove it";
    /// A window of memory that no decoder can have.
    BadWindow { name: String, problem: String } = "SC092", "the memory of `{name}` cannot be decoded: {problem}", "change `granularity` or the number of `targets`; without `interleave` each device is a node of its own";
    /// Two windows with an address in common, or a device in two of them.
    WindowsOverlap { one: String, other: String, why: String, remedy: &'static str } = "SC093", "`{one}` and `{other}` overlap: {why}", "{remedy}";
    /// Devices that cannot take turns.
    Uneven { name: String, why: String } = "SC094", "the devices of `{name}` cannot take turns: {why}", "interleave devices of one host and of one size, as many of them below each port";
    /// A node that a host does not have.
    UnknownNode { name: String, host: String, known: String, near: Near } = "SC095", "host `{host}` has no memory `{name}`", "{near}it has {known}";
    /// Less memory than is used.
    NoRoom { needed: String, node: String, has: String } = "SC096", "{needed} are placed on `{node}`, which has {has}", "make `working-set` smaller (of a program its `class`, `scale` or `keys`), the memory larger, or place less of it there";
    /// A data structure that a program does not have.
    UnknownStructure { name: String, program: String, known: String, near: Near } = "SC097", "`{program}` has no data structure `{name}`", "{near}it has {known}";
    /// Memory that is no device, and cannot be mapped as one.
    NoDax { name: String } = "SC098", "`{name}` is memory of the host, which is no device to map", "name a node of CXL memory, or write `{name}` without `dax`";
    /// Hints to what takes none.
    NoHints { nodes: String } = "SC099", "hints are given about pages on {nodes}, and none of that has a cache in front of a disk", "place pages on a device such as `samsung-cmm-h`, or leave `hints` out";
    /// Fewer lanes than both ends have.
    Narrow { width: String, ends: String } = "SC102", "the link is {width}, though both ends could be {ends}", "if that is the question, move it into a variant; else leave `width` out";
    /// Slower than both ends.
    Slow { generation: String, ends: String } = "SC103", "the link is {generation}, though both ends reach {ends}", "if that is the question, move it into a variant; else leave `gen` out";
    /// A part that hides one of the same name.
    Hidden { name: String } = "SC105", "this part hides another called `{name}`", "rename it if both are to be had";
    /// A component that nothing uses.
    Idle { name: String } = "SC106", "nothing uses component `{name}`", "add a workload on it, or remove it";
    /// More in flight than a queue of an NVMe drive has room for.
    DeeperThanQueue { depth: u64, drive: String, room: u64 } = "SC107", "{depth} in flight do not fit into a queue of `{drive}`, which takes {room}", "at most {room} for each load, or more `queues.entries` and `driver.queue-entries`";
    /// Priorities that nobody heeds.
    UnheededPriority { job: String, drive: String } = "SC109", "`prioclass` of job `{job}` changes nothing: `{drive}` takes commands from its queues in turn", "set `driver.arbitration: weighted`, or leave `prioclass` out";
    /// A parameter that changes nothing.
    WithoutEffect { parameter: &'static str, why: String } = "SC110", "`{parameter}` changes nothing: {why}", "leave it out, or change what keeps it from mattering";
    /// A machine without a workload.
    NothingAsked = "SC111", "nothing is asked of the machine: the scenario has no `workloads:`", "add one to run something; without it the machine is checked and drawn, and there are no results";
    /// A channel that the standard's mask refuses, and that a link still comes up on.
    MissesMask { file: String, variant: String, segment: usize, share: String, operates: String } = "SC112", "segment {segment} of variant `{variant}` of `{file}` misses the mask (its eye is {share} of it) and {operates}", "the run goes on with that ratio; `lanetwin link eye` shows the eye. Put a retimer in, lower `gen`, or better the channel";
    /// Cores that a job is to run on, and that its host has not.
    CoresNotThere { job: String, cores: String, host: String, has: String } = "SC113", "job `{job}` is to run on cores {cores} of `{host}`, which {has}", "give the host so many `cores`, or take `cpus_allowed` or `cpumask` away";
    /// A device that its own parameters hold back.
    HeldBack { parameter: &'static str, problem: String, remedy: String } = "SC114", "`{parameter}` holds the device back: {problem}", "{remedy}";
    /// Targets of a file that are not those of the scenario.
    OtherTargets { file: String, targets: usize } = "SC115", "the targets of the workers of `{file}` are not told apart in the scenario, whose `target` has {targets}: every worker runs on all of them", "list as many drives in `target` as the file has targets, in its order; or choose workers with `worker`";
    /// One variant, beside which the machine as it is written is not run.
    AloneVariant { name: String } = "SC116", "`{name}` is the only variant, and the machine as it is written is none: nothing is compared", "add `as-is: {{}}` to `variants`, or write the changes of `{name}` where they belong";
}

/// Adds a finding in the text of another tool's file, which is source number `file`. A finding about the whole file is
/// reported at the place `path` of the scenario that names it.
pub(crate) fn add_finding(reports: &mut Reports, finding: &Finding, file: u16, path: &str) {
    let path = if finding.line == 0 { path } else { &finding.path };
    add_finding_at(reports, finding, Spot { file, line: finding.line, column: finding.column }, path);
}

/// Adds a finding about a fio option in the scenario itself.
pub(crate) fn add_finding_at(reports: &mut Reports, finding: &Finding, spot: Spot, path: &str) {
    let found = Diagnostic {
        file: String::new(),
        line: spot.line,
        column: spot.column,
        code: finding.code,
        severity: finding.severity,
        path: path.to_owned(),
        message: finding.message.clone(),
        help: finding.help.clone(),
    };
    reports.add_found(&found, spot.file);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_every_one_has_its_page() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
        for code in CODES {
            assert!(lanetwin_document::explain(code).is_some(), "{code}");
        }
    }
}
