//! Mistakes of authors where hosts share a switch.

use lanetwin_document::problems;

problems! {
    /// What is to be divided is no switch.
    NotASwitch { name: String } = "FB001", "`{name}` is no PCIe switch, which alone has partitions", "name a component of the model `switch`, or a part that is one";
    /// A partition of something that is no host.
    NotAHost { name: String } = "FB002", "`{name}` is no host, to which a partition belongs", "name a component with root ports, such as `generic-host-gen4`";
    /// A device in two partitions.
    AssignedTwice { device: String, one: String, other: String } = "FB003", "`{device}` is in partition `{other}` already, and in `{one}`, too", "take it out of one of them: a device belongs to one host; of a device with two ports say which, as in `ssd.pcie2`";
    /// A host that cannot reach its partition.
    NoUpstreamPort { host: String, switch: String } = "FB004", "host `{host}` has a partition of switch `{switch}`, but no link to it", "add a link from a root port of `{host}` to `{switch}`, or take the partition away";
    /// A device that the switch does not have.
    NotAtSwitch { device: String, switch: String, known: String } = "FB005", "`{device}` is not linked to switch `{switch}`", "add a link, or name one of {known}";
    /// Who asks and who is asked are in different hierarchies.
    OtherHost { from: String, to: String, owner: String } = "FB006", "`{from}` does not see `{to}`, which belongs to {owner}", "put `{to}` into the partition of the host that asks it, or ask it from its own";
    /// A host with two partitions of one switch.
    TwoPartitions { host: String, switch: String, other: String } = "FB007", "host `{host}` has partition `{other}` of switch `{switch}` already", "put all that is of `{host}` into one partition";
    /// A drive that cannot change hosts like this.
    CannotMove { device: String, why: String } = "FB008", "`{device}` cannot be attached: {why}", "a drive of the model `nvme-ssd` with one port moves between two partitions of its switch, from the one that has it to the other";
    /// A device in no partition.
    Nobodys { device: String, switch: String } = "FB101", "`{device}` at switch `{switch}` is in no partition: no host sees it", "put it into the partition of a host, or remove it";
    /// A host at a divided switch that has no part of it.
    NoPartition { host: String, switch: String } = "FB102", "host `{host}` is linked to switch `{switch}`, but has no partition of it: it sees nothing there", "add a partition of it under `partitions:`, or take the link away";
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
