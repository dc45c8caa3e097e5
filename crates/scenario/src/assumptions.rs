//! What a result rests on: numbers that nobody confirmed, and what no model has.

use crate::catalogue::NumberKind;
use crate::node::Origin;
use crate::plan::{ComponentPlan, Load, Plan, Variant};
use crate::quantity;
use crate::world::fio::sampled;
use lanetwin_models::switch::is_pair_latency;
use lanetwin_pcie::link::DllpMode;
use serde::Serialize;
use std::collections::BTreeSet;

/// A number that is not from a data sheet, a standard or a measurement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Assumption {
    /// The part, or the model if the scenario names no part.
    pub part: String,
    /// The parameter.
    pub parameter: String,
    /// Its value.
    pub value: String,
    /// `assumed` or `calibrated`.
    pub kind: NumberKind,
    /// What there is to say about it.
    pub note: String,
    /// Where it comes from.
    pub source: String,
}

impl Plan {
    /// Every assumed and calibrated number that some variant rests on, by part and parameter.
    ///
    /// What the scenario itself sets is not among them: it is the question, and stands in the plan.
    #[must_use]
    pub fn assumptions(&self) -> Vec<Assumption> {
        let components = self.variants.iter().flat_map(|variant| &variant.machine);
        let all: BTreeSet<Assumption> =
            components.flat_map(|component| self.of_component(component)).collect();
        all.into_iter().collect()
    }

    fn of_component(&self, component: &ComponentPlan) -> Vec<Assumption> {
        let part = component.part.as_deref().unwrap_or(component.model.name);
        let assumption = |(name, origin): (&&'static str, &Origin)| {
            let value = quantity::label(component.params.0[*name]);
            let base = Assumption {
                part: part.to_owned(),
                parameter: (*name).to_owned(),
                value,
                kind: NumberKind::Assumed,
                note: format!("the default of model `{}`", component.model.name),
                source: String::new(),
            };
            match origin {
                // a pair of widths without a latency of its own has the switch's
                Origin::Default if is_pair_latency(name) => None,
                Origin::Default => Some(base),
                Origin::Part => {
                    let number = self.parts.get(part)?.parameters.get(name)?;
                    let open = matches!(number.kind, NumberKind::Assumed | NumberKind::Calibrated);
                    let calibrated = number.to.as_ref().map(|to| format!("calibrated to {to}"));
                    let note: Vec<&str> = calibrated.iter().chain(&number.note).map(|text| &**text).collect();
                    let (kind, source) = (number.kind, number.source.clone());
                    open.then(|| Assumption { kind, note: note.join("; "), source, ..base })
                }
                Origin::Scenario | Origin::Variant | Origin::Set => None,
            }
        };
        component.origins.iter().filter_map(assumption).collect()
    }

    /// What the result does not contain, in sentences: what no model has, and what this scenario leaves out.
    #[must_use]
    pub fn not_modelled(&self) -> Vec<String> {
        let links = || self.variants.iter().flat_map(|variant| &variant.links);
        let mut list: Vec<String> = NOWHERE.iter().map(|text| (*text).to_owned()).collect();
        if links().all(|link| link.bit_error_ratio == 0.0) {
            list.push("Bit errors and replays: every link is free of errors (`ber: 0`).".into());
        }
        if links().any(|link| link.dllp == DllpMode::Off) {
            list.push("ACK and UpdateFC take no time on links with `dllp: off`.".into());
        }
        if links().any(|link| !link.skp) {
            list.push("No SKP ordered sets are sent on links with `skp: off`.".into());
        }
        let components = || self.variants.iter().flat_map(|variant| &variant.machine);
        if components().any(|c| c.is_switch() && c.params.choice("core") == "none") {
            list.push("The core of switches with `core: none`: who waits there waits for an output.".into());
        }
        list.extend(self.of_iometer());
        list.extend(self.of_fio());
        if self.variants.iter().all(no_iommu) {
            list.push("Address translation: the IOMMU of every host is off.".into());
        }
        list
    }
}

impl Plan {
    /// What workloads of Iometer leave out of their files.
    fn of_iometer(&self) -> Vec<String> {
        let workloads = self.variants.iter().flat_map(|variant| &variant.workloads);
        let mut list = Vec::new();
        for workload in workloads {
            for case in &workload.cases {
                let Load::Iometer(iometer) = &case.load else { continue };
                let name = &iometer.spec.name;
                let time = match iometer.from.run_time_s {
                    0 => "until it is stopped".to_owned(),
                    seconds => format!("{seconds} s"),
                };
                list.push(format!(
                    "The run time of `{}` ({time}), and its ramp up: a case ends after the `requests` of the scenario.",
                    iometer.from.name
                ));
                if iometer.is_paced() && workload.pairs.len() > 1 {
                    list.push(format!("Bursts and delays of `{name}` are of each target; in Iometer all targets of a worker share them."));
                }
                if iometer.has_replies() {
                    list.push(format!("The replies of `{name}`: a disk makes none."));
                }
            }
        }
        // once each, in the order of the scenario
        let mut seen = BTreeSet::new();
        list.retain(|text| seen.insert(text.clone()));
        list
    }
}

impl Plan {
    /// What workloads of fio leave out of their job files, and how long they are measured.
    fn of_fio(&self) -> Vec<String> {
        let workloads = self.variants.iter().flat_map(|variant| &variant.workloads);
        let (mut list, mut seen) = (Vec::new(), BTreeSet::new());
        for case in workloads.flat_map(|workload| &workload.cases) {
            let Load::Fio(fio) = &case.load else { continue };
            let sampled = sampled(fio, self.run.repeats as usize);
            list.push(format!("`{}` of fio beyond a sample: {sampled}. A phase finds the machine as if nothing had run before.", case.label));
            for job in &fio.jobs {
                if !job.job.not_modelled.is_empty() {
                    let names = job.job.not_modelled.join("`, `");
                    list.push(format!("Options of the job `{}`: `{names}`.", job.job.name()));
                }
                if job.log.as_ref().is_some_and(|log| log.left_out > 0) {
                    list.push(format!("Syncs and trims of the log of the job `{}`.", job.job.name()));
                }
            }
        }
        list.retain(|text| seen.insert(text.clone()));
        list
    }
}

/// What no model has.
const NOWHERE: [&str; 5] = [
    "Link training, power states (ASPM) and their exit latencies: every link is in L0 from the start.",
    "Signal integrity: a link's errors are its `ber`, whatever its channel.",
    "Traffic between root ports, switches with several hosts, multicast, and access control (ACS).",
    "Other traffic on the host's memory, caches and interconnect.",
    "Software above the driver.",
];

fn no_iommu(variant: &Variant) -> bool {
    let on = |component: &ComponentPlan| {
        matches!(component.params.0.get("iommu"), Some(lanetwin_ports::Value::Flag(true)))
    };
    !variant.machine.iter().any(on)
}
