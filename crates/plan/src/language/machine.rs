//! The keys of a machine: components, links, and memory that is interleaved over several devices.

use crate::words::{Field, Holds, count, field, one_of, optional, required};
use lanetwin_link_lab::stability::Cause;
use lanetwin_ports::Dimension;

/// A component, without its parameters.
pub(crate) const COMPONENT: &[Field] = &[
    optional("part", Holds::Text, "the part it is, by the name of its file"),
    optional("model", Holds::Text, "the model it is, instead of a part"),
];

/// A link.
pub(crate) const LINK: &[Field] = &[
    required("from", Holds::Text, "one end: a component, or a port of it as in `host.slot1`"),
    required("to", Holds::Text, "the other end"),
    optional(
        "gen",
        Holds::Generation,
        "the generation it runs at: 1 to 5, of CXL 3 to 6; otherwise the best both ends reach",
    ),
    optional("width", Holds::Width, "the number of its lanes: x1 to x32; otherwise the most both ends have"),
    optional(
        "mps",
        Holds::One(Dimension::Size),
        "the Maximum Payload Size; otherwise the largest that all ports of the hierarchy support",
    ),
    field(
        "clocking",
        one_of(&["common", "srns", "sris"]),
        "common",
        "one reference clock, or separate ones without or with spread spectrum: how often SKP is sent",
    ),
    field("propagation", Holds::One(Dimension::Time), "1ns", "the time of flight, one way"),
    field(
        "ber",
        Holds::Many(Dimension::Ratio),
        "0",
        "the bit error ratio of each direction; a list has one for each segment between retimers, from the root on",
    ),
    optional(
        "channel",
        Holds::Text,
        "the description of its channel, as a path from the folder of the scenario, instead of `ber`: bit errors are those of its eyes",
    ),
    optional("channel-variant", Holds::Text, "which variant of the channel it is; otherwise the first"),
    optional(
        "eyes",
        Holds::Ignored,
        "what a complete plan says of the segments of its channel: loss, margin, bit error ratio; not read",
    ),
    optional(
        "nak",
        Holds::One(Dimension::Time),
        "from a corrupted TLP to its NAK leaving the receiver; otherwise the ACK latency limit",
    ),
    field(
        "recovery",
        Holds::One(Dimension::Time),
        "20us",
        "how long a Recovery takes that bit errors cause: a corrupted sync header, or one TLP four times in a row",
    ),
    field(
        "dllp",
        one_of(&["lump", "each", "off"]),
        "lump",
        "how ACK and UpdateFC pay for the wire: in a lump, one by one, or not at all",
    ),
    field("skp", one_of(&["on", "off"]), "on", "whether SKP ordered sets are sent"),
    field(
        "via",
        Holds::Stages,
        "",
        "what stands in it: the parts of retimers and redrivers, or plain latencies, one way each",
    ),
    field(
        "weight",
        Holds::One(count(1, 128)),
        "1",
        "how often what comes in over it has its turn, at a switch whose arbitration is `weighted`",
    ),
    field(
        "down",
        Holds::List(DOWN),
        "",
        "when it is down, as while a port is hot-plugged or a link trains anew: from when on, for how long or by what",
    ),
    field(
        "io",
        Holds::One(Dimension::Rate),
        "0GB/s",
        "of CXL: what CXL.io moves beside memory, in each direction",
    ),
    optional(
        "rate",
        Holds::One(Dimension::Rate),
        "of Ethernet: 1Gb/s, 10Gb/s, 25Gb/s, 40Gb/s, 50Gb/s, 100Gb/s, 200Gb/s or 400Gb/s; otherwise the best both ends have",
    ),
    field("cable", Holds::Text, "3m", "of Ethernet: the length of the cable, in metres"),
    optional(
        "flit",
        one_of(FLITS),
        "of CXL: its flits; otherwise those of 68 B up to 32 GT/s and standard ones of 256 B at 64 GT/s",
    ),
];

/// The flit formats that a CXL link can have.
pub(crate) const FLITS: &[&str] = &["68B", "256B", "256B-latency-optimised"];

/// A virtual switch: the part of a PCIe switch that one host sees.
pub(crate) const PARTITION: &[Field] = &[
    required("switch", Holds::Text, "the switch that is divided"),
    required("host", Holds::Text, "the host whose it is; a link leads from a root port of it to the switch"),
    optional(
        "devices",
        Holds::Names,
        "what is in it: components that are linked to the switch, or one port of them as in `ssd.pcie2`",
    ),
    field(
        "attach",
        Holds::List(ATTACH),
        "",
        "the drives of other partitions of the switch that are assigned to this one while the run goes on",
    ),
];

/// A subsystem: drives that a host exports over a network.
pub(crate) const SUBSYSTEM: &[Field] = &[
    required(
        "port",
        Holds::Names,
        "the adapter that it is reached by, or several of one host: a path by each; the host above runs the target",
    ),
    optional(
        "non-optimized",
        Holds::Names,
        "those of its adapters whose paths are not optimized (ANA): they are taken where no other path works",
    ),
    optional(
        "ana",
        Holds::List(ACCESS),
        "of several ports: when one of them has another state (ANA) from then on, of which hosts are told by an event and read the log",
    ),
    optional(
        "disconnect",
        Holds::List(LEAVE),
        "when hosts leave it on purpose, as by `nvme disconnect`: each connection ends, by RDMA with a disconnect request and its reply, by TCP with FIN",
    ),
    required("namespaces", Holds::Names, "the drives that are its namespaces, in the order of their numbers"),
    optional("hosts", Holds::Names, "the hosts that may connect; otherwise all that reach it"),
    optional(
        "transport",
        one_of(&["rdma", "tcp"]),
        "how commands and data go: by RDMA over RoCEv2, or by TCP; rdma unless said otherwise, and the same for all subsystems of an adapter",
    ),
    optional(
        "header-digest",
        Holds::One(Dimension::Flag),
        "of tcp: whether a digest follows the header of each data unit; otherwise not",
    ),
    optional(
        "data-digest",
        Holds::One(Dimension::Flag),
        "of tcp: whether a digest follows the data of each data unit; otherwise not",
    ),
    optional(
        "offload",
        Holds::One(Dimension::Flag),
        "whether the adapter itself takes commands and drives the queues of the drives, without cores of the host, as `attr_offload` of a target of Linux with the vendor's drivers; otherwise not",
    ),
    optional(
        "staging",
        one_of(&["host", "drive"]),
        "where data lie between adapter and drives: in the memory of the host, or in the controller memory buffer of each drive, from peer to peer, as `p2pmem` of a namespace of Linux; host unless said otherwise",
    ),
];

/// A state of asymmetric namespace access.
pub(crate) const ACCESS: &[Field] = &[
    required("at", Holds::One(Dimension::Time), "when"),
    required("port", Holds::Text, "the adapter, one of those under `port`"),
    required(
        "state",
        one_of(&["optimized", "non-optimized", "inaccessible"]),
        "optimized or non-optimized; by one that is inaccessible commands end with an error of the path, and go by another",
    ),
];

/// A host that disconnects.
pub(crate) const LEAVE: &[Field] = &[
    required("at", Holds::One(Dimension::Time), "when"),
    optional("host", Holds::Text, "which host; otherwise every one"),
    optional("port", Holds::Text, "by which adapter, one of those under `port`; otherwise by all"),
    field(
        "removal",
        one_of(&["surprise", "managed"]),
        "managed",
        "managed: what it asked is answered, and the controller shut down, first; surprise: what it asked is flushed, and ends with an error or goes by another path",
    ),
    optional(
        "for",
        Holds::One(Dimension::Time),
        "of several ports: for how long; then it connects again. Otherwise for good",
    ),
];

/// A drive that is assigned to another partition.
pub(crate) const ATTACH: &[Field] = &[
    required("at", Holds::One(Dimension::Time), "when it is taken from the host that has it"),
    required("device", Holds::Text, "the drive"),
    field(
        "removal",
        one_of(&["surprise", "managed"]),
        "surprise",
        "whether its link goes down at once, or the host that loses it first lets it end what it was asked",
    ),
    field(
        "after",
        Holds::One(Dimension::Time),
        "100ms",
        "from then until the host that gets it sees it; 100ms is what software waits for a device after a reset",
    ),
];

/// Several CXL devices that are interleaved into one memory node.
pub(crate) const INTERLEAVE: &[Field] = &[
    required("targets", Holds::Names, "the devices, in the order of their turns: 2, 3, 4, 6, 8, 12 or 16"),
    field(
        "granularity",
        Holds::One(Dimension::Size),
        "4KiB",
        "how much goes to one device before the next has its turn: a power of two from 256B to 16KiB",
    ),
    optional(
        "base",
        Holds::One(Dimension::Size),
        "its first host physical address; otherwise behind what is before it",
    ),
];

/// An outage of a link.
pub(crate) const DOWN: &[Field] = &[
    required("at", Holds::One(Dimension::Time), "when it goes down"),
    optional("for", Holds::One(Dimension::Time), "for how long"),
    optional(
        "by",
        one_of(Cause::WORDS),
        "of PCIe, instead of `for`: what takes it down; how long it takes to train, and at which rate it comes back, are those of the model of training, over its channel",
    ),
    optional(
        "gen",
        Holds::Generation,
        "of PCIe, beside `for`: the generation that it comes back with; otherwise its own",
    ),
    optional(
        "width",
        Holds::Width,
        "of PCIe, beside `for`: the lanes that it comes back with; otherwise its own",
    ),
    optional(
        "trained",
        Holds::Ignored,
        "what a complete plan says of its training: time, rate, width; not read",
    ),
];
