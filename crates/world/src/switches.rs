//! Results for switches: the transit times of TLPs, beside the latency parameter that was used and its source.

use super::transit::Transit;
use lanetwin_document::node::Origin;
use lanetwin_pcie::link::EgressId;
use lanetwin_plan::{ComponentPlan, End, LinkPlan, Plan, Variant};
use lanetwin_ports::{Way, is_latency_between_widths};
use lanetwin_stats::results::SwitchTransit;

/// One case of one workload of one variant.
pub(super) struct Of<'a> {
    pub(super) plan: &'a Plan,
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a str,
    pub(super) case: &'a str,
}

/// A parameter of a component, with its kind and source.
struct Known {
    kind: String,
    source: String,
    note: Option<String>,
}

/// Shown for a latency whose part does not state the widths for which it is valid.
const NOT_SAID: &str = "not said";

impl Of<'_> {
    /// One row for each pair of links of each switch.
    pub(super) fn rows(&self, transits: &[Transit]) -> Vec<SwitchTransit> {
        transits.iter().map(|transit| self.row(transit)).collect()
    }

    fn row(&self, transit: &Transit) -> SwitchTransit {
        let (incoming, outgoing) = (self.link(transit.incoming), self.link(transit.outgoing));
        let [origin, place] = ends(incoming, transit.incoming);
        let [_, goal] = ends(outgoing, transit.outgoing);
        let switch = &self.variant.machine[place.component];
        let name = |end: End| &self.variant.machine[end.component].name;
        let way = Way::Between(incoming.width, outgoing.width);
        let parameter = (switch.model.latency_parameter)(&switch.params, way);
        let known = self.known(switch, parameter);
        let valid_for = match parameter.strip_prefix("latency.") {
            Some(pair) if is_latency_between_widths(parameter) => pair.replace('-', " → "),
            _ => known.note.unwrap_or_else(|| NOT_SAID.into()),
        };
        let ns = |span| SwitchTransit::nanoseconds(span);
        SwitchTransit {
            variant: self.variant.name.clone(),
            workload: self.workload.to_owned(),
            case: self.case.to_owned(),
            switch: switch.name.clone(),
            from: incoming.name.clone(),
            to: outgoing.name.clone(),
            way: format!("{} → {}", name(origin), name(goal)),
            widths: format!("{} → {}", incoming.width, outgoing.width),
            tlp: format!("{:?}", transit.kind),
            bytes: u32::from(transit.bytes),
            packets: transit.lasted.len() as u64,
            latency: ns(switch.params.time(parameter)),
            latency_parameter: parameter.to_owned(),
            latency_kind: known.kind,
            latency_source: known.source,
            valid_for,
            unit: "ns".into(),
            idle: ns(transit.idle),
            shortest: ns(transit.percentile(0)),
            median: ns(transit.percentile(50)),
            p99: ns(transit.percentile(99)),
            longest: ns(transit.percentile(100)),
        }
    }

    /// Links are declared to the fabric in the order of the plan, with two directions each.
    fn link(&self, egress: EgressId) -> &LinkPlan {
        &self.variant.links[egress.index() / 2]
    }

    fn known(&self, component: &ComponentPlan, parameter: &str) -> Known {
        let said = |kind: &str, source: String| Known { kind: kind.into(), source, note: None };
        let part = component.part.as_ref().and_then(|part| self.plan.parts.get(part));
        match component.origins.get(parameter) {
            Some(Origin::Scenario) => said("scenario", "the scenario says so".into()),
            Some(Origin::Variant) => said("scenario", "the variant says so".into()),
            Some(Origin::Set) => said("scenario", "`--set` says so".into()),
            Some(Origin::Part) => match part.and_then(|part| part.parameters.get(parameter)) {
                Some(number) => Known {
                    kind: number.kind.to_string(),
                    source: number.source.clone(),
                    note: number.note.clone(),
                },
                None => unreachable!("`{parameter}` is said by the part"),
            },
            Some(Origin::Default) | None => {
                said("assumed", format!("the default of model `{}`", component.model.name))
            }
        }
    }
}

/// Both ends of a direction of a link: its transmitter's and its receiver's.
fn ends(link: &LinkPlan, egress: EgressId) -> [End; 2] {
    if egress.index().is_multiple_of(2) { [link.from, link.to] } else { [link.to, link.from] }
}
