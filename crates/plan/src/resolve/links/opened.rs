//! Links whose ends have been read, and the assignment of their ports.

use super::driven;
use super::ends::{Joined, Named, end, is_ethernet, is_exact, is_unnamed_adapter, role, take};
use crate::language::LINK;
use crate::plan::End;
use crate::resolve::components::Machine;
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::{Fields, check_name, join};
use lanetwin_document::node::Entry;
use lanetwin_document::problem::Reports;

/// A link whose ends have been read.
pub(super) struct Opened<'a> {
    pub(super) entry: &'a Entry,
    pub(super) fields: Fields<'a>,
    pub(super) ends: [Option<Named>; 2],
    pub(super) ports: [Option<End>; 2],
    /// The end that is a drive with a driver, if there is one.
    pub(super) drive: Option<usize>,
}

/// Reads the ends of a link of the scenario or of an assembly; `None` if it is not a mapping.
pub(super) fn open<'a>(
    entry: &'a Entry,
    is_inside: bool,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<Opened<'a>> {
    let path = join(if is_inside { "machine" } else { "links" }, &entry.key);
    if !is_inside {
        check_name(&entry.key, entry.spot, &path, reports);
    }
    let fields = Fields::open(&entry.value, &path, LINK, &[], reports)?;
    let ends = ["from", "to"].map(|key| end(&fields, (key, is_inside), machine, reports));
    let drive = driven::drive(&ends, machine);
    Some(Opened { entry, fields, ends, ports: [None, None], drive })
}

/// Assigns the ports of all links. Named ports come first; links that name none get the remaining ones.
pub(super) fn take_ports(
    open: &mut [Opened<'_>],
    machine: &Machine,
    wiring: &mut Wiring,
    reports: &mut Reports,
) {
    for exact in [true, false] {
        for Opened { entry, ends, ports, drive, .. } in &mut *open {
            let roles = [&ends[1], &ends[0]].map(|other| role(other.as_ref(), machine));
            let back_to_back = ends.iter().all(|end| is_unnamed_adapter(end.as_ref(), machine));
            let ethernet =
                [&ends[1], &ends[0]].map(|other| back_to_back || is_ethernet(other.as_ref(), machine));
            for (place, (named, port)) in ends.iter().zip(ports).enumerate() {
                let wanted = |named: &&Named| is_exact(named, machine) == exact && *drive != Some(place);
                if let Some(named) = named.as_ref().filter(wanted) {
                    let (far, ethernet) = (roles[place], ethernet[place]);
                    let joined = Joined { link: &entry.key, far, ethernet, is_to: place == 1 };
                    *port = take(named, joined, machine, wiring, reports);
                }
            }
        }
    }
}
