//! The basis of a result: numbers that nobody has confirmed, and what the models leave out.

mod memory;

use crate::catalogue::Number;
use crate::plan::{ChannelPlan, ComponentPlan, LeftOut, LinkPlan, Load, Plan, Variant, Via};
use lanetwin_document::node::Origin;
use lanetwin_document::quantity;
use lanetwin_link_lab::channel::SegmentEye;
use lanetwin_pcie::link::DllpMode;
use lanetwin_pcie::spec::Mps;
use lanetwin_pcie::spec::extension::drift;
use lanetwin_ports::{HOST_SOFTWARE, Param, Value, is_latency_between_widths};
use lanetwin_units::{NumberKind, Span};
use serde::Serialize;
use std::collections::BTreeSet;

/// The note on a default; for one that is chosen case by case, how it is chosen.
fn of_default(component: &ComponentPlan, name: &str) -> String {
    let model = &component.model;
    let decides = |param: &&Param| param.name == name && param.default == Some("auto");
    match model.params.iter().copied().flatten().find(decides) {
        Some(param) => format!("the default of model `{}`: {}", model.name, param.about),
        None => format!("the default of model `{}`", model.name),
    }
}

/// Parameters of hosts that are initiators or targets over a network.
const FABRIC_SOFTWARE: [&str; 2] = ["driver.rdma.", "target."];
/// The same, for TCP.
const TCP_SOFTWARE: &str = "driver.tcp.";
/// Parameters of hosts that leave a target on purpose.
const LEAVING: &str = "driver.rdma.disconnect-";
/// Parameters of adapters that can be targets by themselves, and of drives with memory for peers.
const OFFLOAD: &str = "offload";
const DRIVE_MEMORY: &str = "cmb";

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
    /// A note on it.
    pub note: String,
    /// Its source.
    pub source: String,
}

impl Plan {
    /// Every assumed and calibrated number that some variant rests on, by part and parameter.
    ///
    /// Values that the scenario itself sets are left out: they are its question, and stand in the plan.
    #[must_use]
    pub fn assumptions(&self) -> Vec<Assumption> {
        let of_machine = |variant| self.of_machine(variant);
        let mut all: BTreeSet<Assumption> = self.variants.iter().flat_map(of_machine).collect();
        all.extend(self.variants.iter().flat_map(|variant| self.of_links(variant)));
        all.extend(self.variants.iter().flat_map(|variant| self.of_cxl(variant)));
        all.into_iter().collect()
    }

    /// Assumptions of components. Those of host software count only where the software drives a device, those of
    /// fabrics only where there is one.
    fn of_machine(&self, variant: &Variant) -> Vec<Assumption> {
        let is_software = |parameter: &str| parameter.starts_with(HOST_SOFTWARE);
        let has_software =
            |component: &ComponentPlan| component.params.0.keys().any(|name| is_software(name));
        let drives = variant.machine.iter().any(|component| !component.is_host() && has_software(component));
        let subsystems = &variant.network.subsystems;
        let has_fabric = !subsystems.is_empty();
        let has_tcp = subsystems.iter().any(|subsystem| subsystem.transport.is_tcp());
        let leaves = subsystems.iter().any(|subsystem| !subsystem.leaves.is_empty());
        let is_offloaded = subsystems.iter().any(|subsystem| subsystem.offload);
        let has_peers = subsystems.iter().any(|subsystem| subsystem.in_drives);
        let of = |component| {
            let mut list = self.of_component(component);
            list.retain(|assumption| {
                let name = &*assumption.parameter;
                let is_of_fabric = FABRIC_SOFTWARE.iter().any(|software| name.starts_with(software));
                (drives || !is_software(name))
                    && (has_fabric || !is_of_fabric)
                    && (has_tcp || !name.starts_with(TCP_SOFTWARE))
                    && (leaves || !name.starts_with(LEAVING))
                    && (is_offloaded || !name.starts_with(OFFLOAD))
                    && (has_peers || !name.starts_with(DRIVE_MEMORY))
            });
            list
        };
        variant.machine.iter().flat_map(of).collect()
    }

    fn of_component(&self, component: &ComponentPlan) -> Vec<Assumption> {
        let part = component.part.as_deref().unwrap_or(component.model.name);
        let idle = component.model.without_effect(&component.params);
        let assumption = |(name, origin): (&&'static str, &Origin)| {
            let value = quantity::label(component.params.0[*name]);
            let base = Assumption {
                part: part.to_owned(),
                parameter: (*name).to_owned(),
                value,
                kind: NumberKind::Assumed,
                note: of_default(component, name),
                source: String::new(),
            };
            match origin {
                // a pair of widths without a latency of its own uses the switch's
                Origin::Default if is_latency_between_widths(name) => None,
                // a drive without a setting of its own uses its host's driver
                Origin::Default if name.starts_with(HOST_SOFTWARE) && !component.is_host() => None,
                Origin::Default => Some(base),
                Origin::Part => {
                    let number = self.parts.get(part)?.parameters.get(name)?;
                    open(number).then(|| told(number, base))
                }
                Origin::Scenario | Origin::Variant | Origin::Set => None,
            }
        };
        let has_effect = |name: &str| idle.iter().all(|one| one.parameter != name);
        component.origins.iter().filter(|(name, _)| has_effect(name)).filter_map(assumption).collect()
    }

    /// Assumptions about the stages of links and the effect of bit errors.
    fn of_links(&self, variant: &Variant) -> Vec<Assumption> {
        let mut list: Vec<Assumption> =
            variant.cxl.iter().flat_map(|link| &link.via).flat_map(|via| self.of_stage(via)).collect();
        for link in &variant.links {
            list.extend(link.via.iter().flat_map(|via| self.of_stage(via)));
            list.extend(link.channel.iter().flat_map(|channel| of_channel(link, channel)));
            let said = |key| variant.document.get("links")?.get(&link.name)?.get(key);
            let is_default = said("recovery").is_some_and(|node| node.origin == Origin::Default);
            if link.bit_error_ratio > 0.0 && is_default {
                list.push(Assumption {
                    part: format!("link {}", link.name),
                    parameter: "recovery".into(),
                    value: quantity::label(Value::Time(link.recovery)),
                    kind: NumberKind::Assumed,
                    note: "retraining at the same speed takes 2 us to 20 us; nobody publishes more".into(),
                    source: String::new(),
                });
            }
        }
        list
    }

    fn of_stage(&self, via: &Via) -> Vec<Assumption> {
        let Some(part) = via.part.as_ref().and_then(|name| self.parts.get(name)) else { return Vec::new() };
        let matters = |name: &&str| !name.starts_with("latency") || via.parameter == Some(*name);
        let assumption = |(name, value): (&&'static str, &Value)| {
            let base = Assumption {
                part: part.name.clone(),
                parameter: (*name).to_owned(),
                value: quantity::label(*value),
                kind: NumberKind::Assumed,
                note: format!("the default of model `{}`", part.model.name),
                source: String::new(),
            };
            match part.parameters.get(name) {
                None => Some(base),
                Some(number) => open(number).then(|| told(number, base)),
            }
        };
        via.params.0.iter().filter(|(name, _)| matters(name)).filter_map(assumption).collect()
    }

    /// What the result leaves out, in sentences: what no model has, and what this scenario excludes.
    #[must_use]
    pub fn not_modelled(&self) -> Vec<String> {
        let links = || self.variants.iter().flat_map(|variant| &variant.links);
        let mut list: Vec<String> = NOWHERE.iter().map(|text| (*text).to_owned()).collect();
        if links().all(|link| link.channel.is_none()) {
            list.push("Signal integrity: a link's errors are its `ber`, whatever its channel.".into());
        }
        list.extend(of_retimers(links()));
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
        list.extend(self.of_workloads());
        list.extend(self.of_memory());
        if self.variants.iter().all(no_iommu) {
            list.push("Address translation: the IOMMU of every host is off.".into());
        }
        // workloads, cases and variants with the same omission state it once
        let mut seen = BTreeSet::new();
        list.retain(|text| seen.insert(text.clone()));
        list
    }
}

impl Plan {
    /// Features of workloads that the simulation leaves out, in the order of the scenario.
    fn of_workloads(&self) -> Vec<String> {
        let workloads = self.variants.iter().flat_map(|variant| &variant.workloads);
        let cases = workloads.flat_map(|workload| workload.cases.iter().map(move |case| (workload, case)));
        let mut list = Vec::new();
        for (workload, case) in cases {
            let Load::Blocks(blocks) = &case.load else { continue };
            let (pairs, repeats) = (workload.pairs.len(), self.run.repeats as usize);
            let (label, length) = (&*case.label, workload.length);
            list.extend(blocks.not_modelled(LeftOut { label, pairs, repeats, length }));
        }
        list
    }
}

/// Whether a number is unconfirmed.
const fn open(number: &Number) -> bool {
    matches!(number.kind, NumberKind::Assumed | NumberKind::Calibrated)
}

/// A number of a part, with its kind, source and note.
fn told(number: &Number, base: Assumption) -> Assumption {
    let calibrated = number.to.as_ref().map(|to| format!("calibrated to {to}"));
    let note: Vec<&str> = calibrated.iter().chain(&number.note).map(|text| &**text).collect();
    Assumption { kind: number.kind, note: note.join("; "), source: number.source.clone(), ..base }
}

/// Assumptions about the segments of a channel.
fn of_channel(link: &LinkPlan, channel: &ChannelPlan) -> Vec<Assumption> {
    let told = |(at, eye): (usize, &SegmentEye)| Assumption {
        part: format!("link {}: {}, {}", link.name, channel.file, channel.variant),
        parameter: format!("ber of segment {}, {} to {}", at + 1, eye.from, eye.to),
        value: format!("{:.1e}", eye.answers.ber),
        kind: NumberKind::Assumed,
        note: format!(
            "{:.1} dB; the eye is {:.2} times the mask; after decision feedback the segment {}; {}",
            eye.loss_db,
            eye.answers.mask_ratio,
            if eye.answers.operates { "operates" } else { "does not operate as the standard asks" },
            seen(link, eye.answers.ber)
        ),
        source: "`lanetwin link eye`, with what that rests on".into(),
    };
    channel.eyes.iter().enumerate().map(told).collect()
}

/// The rate of bit errors on all lanes together, in words.
fn seen(link: &LinkPlan, ber: f64) -> String {
    let bits = link.generation.megatransfers() as f64 * 1e6 * link.width.lanes() as f64;
    let seconds = 1.0 / (bits * ber);
    match seconds {
        s if s > YEAR_S => "less than a bit error a year: it has no effect that a run could show".into(),
        s if s >= 1.0 => format!("a bit error every {s:.0} s: seldom in a run"),
        s => format!("{:.0} bit errors a second and direction", 1.0 / s),
    }
}

/// Features of retimers that are not modelled.
fn of_retimers<'a>(links: impl Iterator<Item = &'a LinkPlan>) -> Option<String> {
    let with = |link: &&LinkPlan| link.retimers() > 0;
    let drift = links.filter(with).map(|link| {
        let mps = Mps::from_bytes(link.mps.into()).expect("a checked plan has a legal MPS");
        drift(link.generation, link.width, mps, link.clocking)
    });
    let most = drift.max()?;
    let clocks = match most {
        Span::ZERO => "With one clock for all, their elasticity buffers stand still".to_owned(),
        most => format!(
            "Their elasticity buffers let a TLP pass up to {} sooner or later, which evens out",
            quantity::label(Value::Time(most))
        ),
    };
    Some(format!("What retimers do in training, and L0s, which no link with a retimer has. {clocks}."))
}

const YEAR_S: f64 = 31_557_600.0;

/// Features that no model has.
const NOWHERE: [&str; 4] = [
    "Training when power comes on, power states (ASPM) and their exit latencies: every link is in L0 from the start.",
    "Traffic between root ports, multicast, and access control (ACS).",
    "Other traffic on the host's memory, caches and interconnect.",
    "Software above the driver.",
];

fn no_iommu(variant: &Variant) -> bool {
    let on = |component: &ComponentPlan| matches!(component.params.0.get("iommu"), Some(Value::Flag(true)));
    !variant.machine.iter().any(on)
}
