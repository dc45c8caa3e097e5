//! Checks that all devices below a host get bus numbers and addresses.

use crate::hierarchy::{Hierarchy, NotEnumerated};
use crate::plan::{ComponentPlan, Variant};
use crate::problem::Problem;
use lanetwin_document::fields::join;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_pcie::logic::routing::Error;
use lanetwin_ports::Value;
use lanetwin_units::Bytes;

/// Reports hosts without enough numbers or addresses; `spots` are the places of the components.
pub(super) fn check(variant: &Variant, spots: &[Spot], reports: &mut Reports) {
    for NotEnumerated { host, why } in Hierarchy::all(variant).err().unwrap_or_default() {
        let name = variant.machine[host].name.clone();
        let place = join("machine", &name);
        let size =
            |bytes: u128| quantity::written(Value::Size(Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))));
        let problem = match why {
            // the tree calls its root complex `host`
            Error::TooManyPorts(of) => {
                let is_switch = variant.component(&of).is_some_and(ComponentPlan::is_switch);
                Problem::TooManyOnBus { name: if is_switch { of } else { name } }
            }
            Error::BusNumbers(port) => Problem::NoBusNumber { host: name, port },
            Error::Addresses { space, needed, available } => Problem::NoAddress {
                host: name,
                space: space.to_string(),
                needed: size(needed),
                available: size(available.into()),
            },
            Error::PortTaken(..)
            | Error::ReachedTwice(_)
            | Error::Loop(_)
            | Error::NotConnected(_)
            | Error::Functions(_)
            | Error::TooManyBars(_)
            | Error::Aperture(_) => unreachable!("the links of a variant are a tree: {why}"),
        };
        reports.add(problem, spots[host], &place);
    }
}
