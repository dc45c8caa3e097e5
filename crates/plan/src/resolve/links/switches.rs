//! Limits of a switch on all of its links together: lanes, arbitration turns, buffers.

use crate::plan::LinkPlan;
use crate::problem::Problem;
use crate::resolve::components::{Machine, Slot};
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::join;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_pcie::link::{Arbitration, Core, PHASES_MAX, SwitchSpec};
use lanetwin_ports::{Params, Value};
use lanetwin_units::Bytes;

/// Reports links that a switch cannot have.
pub(super) fn check(wiring: &Wiring, machine: &Machine, reports: &mut Reports) {
    for (component, slot) in machine.components.iter().enumerate() {
        let Some(plan) = slot.plan.as_ref().filter(|plan| plan.is_switch()) else { continue };
        let is_its = |link: &&LinkPlan| [link.from, link.to].iter().any(|end| end.component == component);
        let links = wiring.links.iter().filter(is_its).collect();
        let Some(spec) = plan.model.switch(&plan.params) else { continue };
        let switch = Switch { slot, params: &plan.params, spec, links };
        switch.check_lanes(reports);
        switch.check_weights(reports);
        switch.check_outputs(reports);
    }
}

struct Switch<'a> {
    slot: &'a Slot,
    params: &'a Params,
    spec: SwitchSpec,
    links: Vec<&'a LinkPlan>,
}

impl Switch<'_> {
    fn check_lanes(&self, reports: &mut Reports) {
        let has = self.params.count("lanes");
        let lanes = self.links.iter().map(|link| link.width.lanes()).sum();
        if has > 0 && lanes > has {
            self.fault("lanes", Problem::TooManyLanes { name: self.slot.name.clone(), lanes, has }, reports);
        }
    }

    fn check_weights(&self, reports: &mut Reports) {
        let weights: u64 = self.links.iter().map(|link| u64::from(link.weight)).sum();
        if self.spec.arbitration == Arbitration::Weighted && weights > u64::from(PHASES_MAX) {
            let name = self.slot.name.clone();
            self.fault("arbitration", Problem::TooMuchWeight { name, weights, most: PHASES_MAX }, reports);
        }
    }

    /// Checks that an output buffer holds the largest TLP. Otherwise that TLP could never leave, and the machine would
    /// stop.
    fn check_outputs(&self, reports: &mut Reports) {
        let largest = self.links.iter().map(|link| u64::from(link.mps)).max().unwrap_or(0);
        let has_output = matches!(self.spec.core, Some(Core::Crossbar { .. } | Core::SharedBus { .. }));
        let has = self.params.size("output.data").0;
        if has_output && has < largest {
            let written = |bytes| quantity::written(Value::Size(Bytes(bytes)));
            let (name, has, needed) = (self.slot.name.clone(), written(has), written(largest));
            self.fault("output.data", Problem::SmallOutput { name, has, needed }, reports);
        }
    }

    fn fault(&self, param: &str, problem: Problem, reports: &mut Reports) {
        reports.add(problem, self.slot.spot, &join(&join("machine", &self.slot.name), param));
    }
}
