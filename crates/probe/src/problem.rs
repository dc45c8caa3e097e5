//! Reasons not to cycle a link, and warnings about the results: one variant for each code, with message and remedy.
//!
//! `LC0…` are refusals, `LC1…` warnings. A code never changes its meaning and is never used again; `docs/errors/` has
//! a page for each.

use lanetwin_problems::{Complaint, Severity, problems};
use serde::Serialize;

/// A reason, with its remedy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, thiserror::Error)]
#[error("{code} {place}: {message}; {help}")]
pub struct Finding {
    /// `LC006`.
    pub code: &'static str,
    /// Whether it stops a run.
    pub severity: Severity,
    /// What the finding is about: a device, a file, an option.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

problems! {
    /// Text that is not an address.
    Address { text: String } = "LC001", "`{text}` is no address of a function", "write domain, bus, device and function as lspci -D does, as in 0000:01:00.0";
    /// There is no function at the address.
    Absent = "LC002", "there is no such function", "look at lspci -D; a device that has gone comes back with a rescan of the bus";
    /// Configuration space cannot be read or written.
    NoAccess { said: String } = "LC003", "its configuration space cannot be used: {said}", "run as root (CAP_SYS_ADMIN); in a container, give it /sys writable";
    /// The kernel is locked down.
    Lockdown { mode: String } = "LC004", "the kernel is locked down ({mode}): it lets nobody write configuration space", "boot with lockdown=none, or with Secure Boot off, on a machine that is there for tests";
    /// There is no link above the function.
    NoPort { said: String } = "LC005", "there is no port above it to be driven: {said}", "name an endpoint below a root port or a downstream port of a switch";
    /// Something uses the device.
    InUse { what: String, by: String } = "LC006", "{what} is in use: {by}", "unmount it, stop the array, volume group, pool or swap, and close what has it open; a reset in mid-write loses data";
    /// The device holds the root file system.
    Root { what: String } = "LC007", "{what} holds the root file system of this machine", "boot from another device: this one cannot be reset while the machine runs from it";
    /// Other functions are below the same port.
    Siblings { others: String } = "LC008", "the same link carries {others}, which would be reset with it", "name a device that is alone below its port, or take the others out";
    /// A virtual machine or a user program has the device.
    Passed { driver: String } = "LC009", "it is given to a virtual machine or a user program ({driver})", "shut down what uses it and unbind {driver}";
    /// Virtual functions of the device are enabled.
    VirtualFunctions { count: u64 } = "LC010", "it has {count} virtual functions that are on", "write 0 to its sriov_numvfs; a virtual function itself has no link";
    /// The user has not confirmed that this device may be reset.
    NotConfirmed { address: String, serial: String, said: String } = "LC011", "nothing is done to a real device that was not confirmed: {said}", "add --i-know {address} --serial '{serial}'; without them the plan is printed";
    /// An earlier run was killed and left its journal.
    Journal { path: String } = "LC012", "an earlier run was killed and left {path}: registers may not be as they were", "run lanetwin link cycle --restore {path} first";
    /// There is no test of this name.
    UnknownTest { name: String, known: String } = "LC013", "there is no test `{name}`", "the tests are {known}, and all";
    /// A power cycle was requested without a program that does it.
    NoHook = "LC014", "nothing here can take the power from the device", "name a program with --hook: it is called with the device's address, and returns when the power is back";
    /// Text that is not a dump of configuration spaces.
    Dump { said: String } = "LC015", "this is no dump of configuration spaces: {said}", "write one with lspci -xxxx, for the port as well as the device";
    /// The device is a bridge.
    Bridge = "LC016", "it is a bridge, and so the end of two links", "name the endpoint below it";
    /// A register or setting could not be restored.
    NotRestored { what: String, now: String } = "LC017", "{what} could not be put back: {now}", "the journal stays; run lanetwin link cycle --restore with it once the device answers, or reboot";
    /// The journal cannot be read, created or removed.
    BadJournal { said: String } = "LC018", "the journal cannot be used: {said}", "check the path with --journal; a journal is written by lanetwin link cycle and by nothing else";
    /// The device is too hot.
    TooHot { celsius: i64, limit: i64 } = "LC019", "it has {celsius} °C, more than {limit} °C", "cool it; a limit of your own goes with --max-celsius";
    /// Link training is not simulated at this rate.
    NoTraining { rate: String } = "LC020", "no link is trained in simulation at {rate}", "give the channel a generation from 3 to 5: below, receivers do not equalise, and above, there are four levels";
    /// The number of cycles is zero or too large.
    Count { count: u64 } = "LC021", "{count} cycles are none, or more than can be counted", "ask for 1 to 100000000";
    /// The channel has no variant of this name.
    UnknownVariant { name: String, known: String } = "LC022", "the channel has no variant `{name}`", "its variants are {known}";
    /// The device has another serial number than the user gave.
    WrongSerial { serial: String, given: String } = "LC023", "its serial number is `{serial}`, not `{given}`", "somebody moved a drive: look at lspci -D and at the label before you go on";
    /// The driver cannot be unbound.
    Driver { driver: String, said: String } = "LC024", "the driver {driver} does not let go of it: {said}", "look at dmesg; stop what uses the device";
    /// A link that cannot be simulated.
    Link { lanes: u64, utilisation: f64 } = "LC025", "no link has {lanes} lanes with {utilisation} of the time in use", "lanes are 1, 2, 4, 8, 12, 16 or 32; the share of time is from 0 to 1";

    /// Downstream Port Containment may remove the device during a test.
    Containment = "LC101", "Downstream Port Containment is on at the port: a reset may be taken for an error and the device removed", "turn it off (setpci ECAP_DPC+6.w) for the time of the test, or expect rescans";
    /// The kernel sets Target Link Speed to 2.5 GT/s after slow training.
    Clamp { kernel: String } = "LC102", "Linux {kernel} sets Target Link Speed of a port to 2.5 GT/s when training takes longer than 1 s", "such cycles are told as STUCK_2.5GT; a retimer that trains slowly is not a bad link";
    /// The link runs below the capabilities of both ends.
    Degraded { found: String, best: String } = "LC103", "the link runs at {found}, though both ends can {best}", "cycles are held against the best; with --as-found, against what is there";
    /// One end has no Advanced Error Reporting, so that its errors are not seen.
    NoErrors { end: String } = "LC104", "the {end} has no Advanced Error Reporting", "its errors are not in the report; look at the other end's";
}

impl Problem {
    /// The finding for this problem at `place`.
    #[must_use]
    pub fn at(self, place: impl ToString) -> Finding {
        Finding {
            code: self.code(),
            severity: self.severity(),
            place: place.to_string(),
            message: self.message(),
            help: self.help(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_never_used_twice() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
    }

    #[test]
    fn a_finding_says_what_to_do() {
        let found = Problem::TooHot { celsius: 81, limit: 70 }.at("0000:01:00.0");
        assert_eq!((found.code, found.severity), ("LC019", Severity::Error));
        assert!(found.help.contains("--max-celsius"));
        assert_eq!(Problem::Containment.at("x").severity, Severity::Warning);
    }
}
