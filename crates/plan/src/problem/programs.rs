//! Mistakes of authors where programs run beside a load.

use lanetwin_document::problems;

problems! {
    /// A load without drivers on cores.
    NoDrivers { kind: &'static str } = "HC001", "`programs` cannot run beside `{kind}:`, which has no drivers that they could share cores with", "leave `programs` out, or let a host ask drives: `block`, `fio`, `iometer`, `pts` or `trace`";
    /// Programs that do one thing after the other.
    SeveralCases { cases: usize } = "HC002", "the programs beside a load come to {cases} cases, and the load runs beside one", "write single values instead of lists, and what is to be compared into variants";
    /// Programs that end before the load does.
    End = "HC003", "a program that ends cannot run beside a load", "choose a pattern (`pattern: sequential`, `random` or one of the chases), or `program: {{key-value: {{}}}}`";
    /// Cores of more than one host.
    SeveralHosts { hosts: usize } = "HC004", "{hosts} hosts ask, and the programs run on the cores of one", "name one host in `on:` of the workload";
    /// Cores that cannot be the same.
    OtherCores { host: String, asks: u64, memory: String, has: u64 } = "HC005", "`{host}` has {asks} cores and `{memory}` {has}, but the programs run on the same", "give both as many `cores`; 0 of a host means that each queue pair has a core of its own";
    /// Programs that leave the cores to nobody and take them from nobody.
    NoTurns { memory: String, host: String } = "HC101", "the programs of `{memory}` take no turns: they and the drivers of `{host}` run on the same cores at once", "set `core.slice` of `{memory}`: 3ms is that of Linux on eight or more CPUs";
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
