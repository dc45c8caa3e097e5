//! Mistakes of authors in networks and in the subsystems exported over them.

use lanetwin_document::problems;

problems! {
    /// A rate that no port has.
    NotARate { text: String, known: String } = "FB009", "`{text}` is no rate of Ethernet", "write one of {known}, or leave `rate` out: it is then the best that both ends have";
    /// A cable that is faster than a port at its end.
    FasterThanPort { port: String, has: String } = "FB010", "`{port}` runs at {has} at most", "lower `rate`, leave it out, or give the component another part";
    /// Bridges in a circle.
    BridgeLoop { circle: String } = "FB011", "the switches {circle} are joined in a circle, and forward without routing: what one floods goes round for ever", "take a cable away, or set `routes: true` for a switch that routes: flows are then spread over equally short ways";
    /// Something that no subsystem can be reached by.
    NotAnAdapter { name: String } = "FB012", "`{name}` is no adapter for RDMA below a host", "name a component of the model `roce-nic`, such as `connectx-6`, that is linked to the host with the drives";
    /// Something that is no namespace.
    NotADrive { name: String } = "FB013", "`{name}` is no NVMe drive, which alone can be a namespace", "name a component of the model `nvme-ssd`";
    /// A drive of another host.
    NotOfTarget { device: String, target: String } = "FB014", "`{device}` is not below `{target}`, which runs the target", "link it below `{target}`, or offer it by an adapter of its own host";
    /// A drive in two subsystems.
    OfferedTwice { device: String, one: String, other: String } = "FB015", "`{device}` is a namespace of `{other}` already, and of `{one}`, too", "take it out of one of them: a namespace belongs to one subsystem; hosts that share a drive connect to the same";
    /// A subsystem that cannot be reached.
    Unreachable { from: String, to: String, name: String } = "FB016", "{from} does not reach subsystem `{name}`: no cables lead from an adapter of its to `{to}`", "give the host an adapter, and join both adapters to a switch, or to each other";
    /// Something that cannot connect.
    NotAnInitiator { name: String } = "FB017", "`{name}` is no host, which alone connects", "name a component with root ports, such as `generic-host-gen4`";
    /// Frames in which no packet of RoCEv2 has room, or no segment of TCP.
    TinyMtu { name: String, mtu: String, what: &'static str, least: String } = "FB018", "no {what} has room in the frames of `{name}`, which carry {mtu}", "raise `ethernet.mtu`: {least} at least; 1500B and 9000B are usual";
    /// A target's host that runs something else, too.
    TargetHost { name: String } = "FB019", "`{name}` runs a target, and no load beside it", "ask its drives from another host, or take the subsystem away";
    /// A digest of something that has none.
    DigestWithoutTcp { name: String, key: &'static str } = "FB020", "`{key}` is said of subsystem `{name}`, which goes by RDMA, and has no digests", "add `transport: tcp`, or leave `{key}` out";
    /// Two transports of one adapter.
    TwoTransports { port: String, other: String } = "FB021", "`{port}` is the port of subsystem `{other}`, too, which goes by another transport", "give both the same `transport`, or one of them an adapter of its own";
    /// A port twice.
    PortTwice { name: String } = "FB022", "`{name}` is named twice as a port", "name each adapter once";
    /// Ports below several hosts.
    PortOfAnother { name: String, one: String, other: String } = "FB023", "`{name}` is below `{other}`, and other ports of the subsystem below `{one}`, which runs the target", "name adapters of one host: a subsystem of two hosts is not modelled";
    /// Not one of the ports.
    NotOneOfPorts { name: String } = "FB024", "`{name}` is none of the subsystem's ports", "name some of those under `port`";
    /// An adapter that is no target.
    NoOffload { name: String } = "FB025", "`{name}` cannot be a target by itself", "name an adapter with `offload: true`, such as `connectx-5-ex`, or leave `offload` out: software of the host is then the target";
    /// Offload of what is not offloaded.
    OffloadOfTcp = "FB026", "an adapter is a target by itself for RDMA alone, and the subsystem goes by TCP", "leave `transport: tcp` out, or `offload`";
    /// Two adapters that would both drive the same drives.
    OffloadByTwo { one: String, other: String } = "FB027", "`{one}` and `{other}` would both drive the queues of the same drives", "name one `port`: several paths to a target within adapters are not modelled";
    /// Two targets behind one adapter.
    TwoTargets { port: String, other: String } = "FB028", "`{port}` is the port of subsystem `{other}`, too, of which one alone is offloaded", "give both the same `offload`, or one of them an adapter of its own";
    /// Data in the memory of a drive that has none.
    NoDriveMemory { name: String } = "FB029", "`{name}` has no controller memory buffer, where the data would lie", "say its size, as `cmb: 256MiB`, or leave `staging` out: data then lie in the memory of the host";
    /// The same by TCP.
    StagingOfTcp = "FB030", "data of a subsystem by TCP lie in the memory of the host, where cores copy them", "leave `transport: tcp` out, or `staging`";
    /// A drive that is to be shown and is not reached.
    NotShown { shows: String, drive: String, host: String } = "FB031", "`{shows}` is to show `{drive}`, which nobody offers to its processor `{host}` over a network", "name `{drive}` among the `namespaces` of a subsystem, and join the adapters of `{shows}` and of that subsystem to a switch, or to each other";
    /// A drive that is shown as something else than it is.
    ShownOtherwise { shows: String, key: &'static str, shown: String, drive: String, has: String } = "FB032", "`{shows}` shows a `{key}` of {shown}, and `{drive}` behind it has {has}", "say `{key}: {has}` of `{shows}`; a `capacity` may be less";
    /// A state of the only way.
    StateOfOne { port: String } = "FB033", "`ana` is said of a subsystem that is reached by `{port}` alone", "name several adapters under `port`, or leave `ana` out: hosts choose among several paths by their states";
    /// A host that is to come back where it has no other path.
    BackOverOne { port: String } = "FB034", "`for` says when a host connects again, to a subsystem that is reached by `{port}` alone", "name several adapters under `port`, or leave `for` out: where there is no other path the device goes with its connection, and programs with it";
    /// Packets that a switch drops.
    BlackHole { from: String, name: String, switch: String, has: String, needed: String } = "FB103", "full packets between `{from}` and {name} are lost: `{switch}` drops frames that carry more than {has}, and these carry {needed}", "raise `ethernet.mtu` of the switch, or lower it at both adapters; what is short passes, so that connections are made and large requests hang until they are lost";
    /// More in flight than a queue over the network has room for.
    DeeperThanCapsules { depth: u64, drives: String, room: u64 } = "FB104", "{depth} in flight do not fit into the {room} entries of the queue over the network to {drives}: the rest waits at the host", "at most {room} for each load, or more `driver.rdma.queue-entries` of the host and `target.queue-entries` of the target";
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
