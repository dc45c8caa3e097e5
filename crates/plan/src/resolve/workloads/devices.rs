//! `on:` and `target:` of a workload – initiators and targets: a pair for each device.

use crate::plan::{ComponentPlan, End, Pair};
use crate::problem::Problem;
use crate::resolve::components::Machine;
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::node::{Node, Spot};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_ports::{Protocol, Value};
use std::collections::BTreeSet;

/// The names of a device's units.
#[derive(Clone, Copy)]
struct Word {
    /// The parameter for their number; a model without any of them has one unit.
    units: &'static str,
    /// The name of a unit, before its number.
    unit: &'static str,
    /// The number of the first.
    first: u64,
}

/// Logical units are numbered from 0, namespaces from 1.
const WORDS: [Word; 2] =
    [Word { units: "luns", unit: "lun", first: 0 }, Word { units: "namespaces", unit: "ns", first: 1 }];
/// The value of `on` and `target`, for messages.
const COMPONENT: &str = "the name of a component";

/// A component that a workload names.
pub(super) struct Named {
    pub component: usize,
    pub unit: u16,
    /// The place where it is named.
    pub spot: Spot,
    name: String,
}

/// The fields with the names of a workload, and where errors are reported.
pub(super) struct Names<'a, 'n> {
    pub fields: &'a mut Fields<'n>,
    pub machine: &'a Machine,
    pub reports: &'a mut Reports,
}

impl Names<'_, '_> {
    /// The cards that do DMA.
    pub(super) fn cards(&mut self) -> Option<Vec<Named>> {
        self.several("on", Self::whole)
    }
    /// The hosts that run the drivers of drives.
    pub(super) fn hosts(&mut self) -> Option<Vec<Named>> {
        self.several("on", Self::whole)
    }
    /// The host whose cores load and store.
    pub(super) fn cores(&mut self) -> Option<Named> {
        self.one("on", "memory", "placement")
    }
    /// The drives, or their logical units, that are read and written.
    pub(super) fn drives(&mut self) -> Option<Vec<Named>> {
        if self.fields.written("target").is_none() {
            let about = "the component that answers".into();
            self.fields.fault("target", Common::Missing { key: "target".into(), about }, self.reports);
            return None;
        }
        self.several("target", Self::unit)
    }
    /// The host whose memory cards read and write: the named one, or the only one.
    pub(super) fn memory(&mut self) -> Option<Named> {
        if self.fields.written("target").is_some() {
            return self.one("target", "dma", "on");
        }
        let machine = self.machine;
        let known = machine.components.iter().all(|slot| slot.plan.is_some());
        let is_host = |component: &usize| machine.plan(*component).is_some_and(ComponentPlan::is_host);
        let hosts: Vec<usize> = (0..machine.components.len()).filter(is_host).collect();
        if let [component] = hosts[..] {
            let name = machine.components[component].name.clone();
            self.fields.record("target", Node::scalar(&name));
            return Some(Named { component, unit: 0, spot: self.fields.spot("target"), name });
        }
        if known {
            let about = format!("the host whose memory it is (the machine has {})", hosts.len());
            self.fields.fault("target", Common::Missing { key: "target".into(), about }, self.reports);
        }
        None
    }

    /// The only component under `key` for this kind of workload, for which `several` may be a list.
    fn one(&mut self, key: &'static str, of: &'static str, several: &'static str) -> Option<Named> {
        let (names, listed) = self.fields.names(key, COMPONENT, self.reports)?;
        if listed {
            self.fields.fault(key, Problem::OneOnly { key, of, several }, self.reports);
            return None;
        }
        self.whole(key, names.first()?)
    }

    /// One or more components without duplicates; reads all of them before the first error ends it.
    fn several(
        &mut self,
        key: &'static str,
        read: fn(&mut Self, &str, &Said<String>) -> Option<Named>,
    ) -> Option<Vec<Named>> {
        let (names, _) = self.fields.names(key, COMPONENT, self.reports)?;
        let found: Vec<_> = names.iter().map(|said| read(self, key, said)).collect();
        let found = found.into_iter().collect::<Option<Vec<_>>>()?;
        for (i, named) in found.iter().enumerate() {
            let same = |other: &&Named| (other.component, other.unit) == (named.component, named.unit);
            if found[..i].iter().any(|other| same(&other)) {
                let problem = Problem::DeviceTwice { name: named.name.clone() };
                self.reports.add(problem, named.spot, &self.fields.at(key));
            }
        }
        Some(found)
    }

    /// A component as a whole.
    fn whole(&mut self, key: &str, said: &Said<String>) -> Option<Named> {
        let component = self.machine.find(&said.value, said.spot, &self.fields.at(key), self.reports)?;
        Some(Named { component, unit: 0, spot: said.spot, name: said.value.clone() })
    }

    /// A component, or a logical unit of it.
    fn unit(&mut self, key: &str, said: &Said<String>) -> Option<Named> {
        let Some((name, unit)) = said.value.split_once('.') else {
            let named = self.whole(key, said)?;
            let plan = self.machine.plan(named.component);
            let (word, units) = plan.map_or((WORDS[0], 1), units);
            return Some(Named { name: device(&named.name, 0, (word, units)), ..named });
        };
        let path = self.fields.at(key);
        let component = self.machine.find(name, said.spot, &path, self.reports)?;
        let (word, units) = units(self.machine.plan(component)?);
        let place = unit.strip_prefix(word.unit).and_then(number).and_then(|n| n.checked_sub(word.first));
        let Some(number) = place else {
            let problem = Problem::NotAUnit { text: unit.into(), component: name.into() };
            self.reports.add(problem, said.spot, &path);
            return None;
        };
        match u16::try_from(number) {
            Ok(unit) if number < units => {
                Some(Named { component, unit, spot: said.spot, name: device(name, unit, (word, units)) })
            }
            _ => {
                let Word { unit, first, units: units_are } = word;
                let known = match units {
                    1 => format!("`{name}`, which has one"),
                    _ => format!(
                        "one of `{name}.{unit}{first}` to `{name}.{unit}{}`, or raise `{units_are}` of `{name}`",
                        units - 1 + first
                    ),
                };
                let problem = Problem::NoSuchUnit { name: said.value.clone(), known };
                self.reports.add(problem, said.spot, &path);
                None
            }
        }
    }
}

/// The number, if it is written without a sign and without leading zeros.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// The names of a device's units, and their number.
fn units(plan: &ComponentPlan) -> (Word, u64) {
    let of = |word: &Word| match plan.params.0.get(word.units) {
        Some(Value::Count(units)) => Some((*word, *units)),
        _ => None,
    };
    WORDS.iter().find_map(of).unwrap_or((WORDS[0], 1))
}

/// The name of a unit; that of its device, if it is the only one.
fn device(component: &str, unit: u16, (word, units): (Word, u64)) -> String {
    let number = u64::from(unit) + word.first;
    if units > 1 { format!("{component}.{}{number}", word.unit) } else { component.to_owned() }
}

/// A pair of every card and the host.
pub(super) fn card_pairs(cards: &[Named], host: &Named) -> Vec<Pair> {
    let pair = |card: &Named| Pair {
        on: card.component,
        target: host.component,
        unit: 0,
        device: card.name.clone(),
    };
    cards.iter().map(pair).collect()
}

/// The pairs of a host and a drive that it reaches, if each of several hosts reaches some of the drives, and each drive
/// is reached by some host; `None` if all hosts use all drives.
pub(super) fn who_asks(
    hosts: &[Named],
    drives: &[Named],
    wiring: &Wiring,
) -> Option<BTreeSet<(usize, usize)>> {
    let below = |host: &Named, drive: &Named| {
        let mut links = wiring.links.iter();
        wiring.network.remote(host.component, drive.component).is_some()
            || links.any(|link| {
                link.far().component == drive.component && link.root_port.component == host.component
            })
    };
    let is_split = hosts.len() > 1
        && hosts.iter().all(|host| drives.iter().any(|drive| below(host, drive)))
        && drives.iter().all(|drive| hosts.iter().any(|host| below(host, drive)));
    let all = hosts.iter().flat_map(|host| drives.iter().map(move |drive| (host, drive)));
    let pair = |(host, drive): (&Named, &Named)| (host.component, drive.component);
    is_split.then(|| all.filter(|(host, drive)| below(host, drive)).map(pair).collect())
}

/// A pair of every host and every drive that it uses. With several hosts, the results of each are separate: `ssd@a` is
/// the drive as used by host `a`.
pub(super) fn drive_pairs(
    hosts: &[Named],
    drives: &[Named],
    asks: impl Fn(&Named, &Named) -> bool,
) -> Vec<Pair> {
    let device = |host: &Named, drive: &Named| match hosts {
        [_, _, ..] => format!("{}@{}", drive.name, host.name),
        _ => drive.name.clone(),
    };
    let pair = |host: &Named, drive: &Named| Pair {
        on: host.component,
        target: drive.component,
        unit: drive.unit,
        device: device(host, drive),
    };
    let all = hosts.iter().flat_map(|host| drives.iter().map(move |drive| (host, drive)));
    all.filter(|(host, drive)| asks(host, drive)).map(|(host, drive)| pair(host, drive)).collect()
}

/// Reports drives that several hosts cannot share: each host needs a port of its own.
pub(super) fn check_shared(
    hosts: &[Named],
    drives: &[Named],
    fields: &Fields<'_>,
    machine: &Machine,
    reports: &mut Reports,
) {
    if hosts.len() < 2 {
        return;
    }
    for drive in drives {
        let Some(plan) = machine.plan(drive.component) else { continue };
        if plan.ports.iter().filter(|port| port.speaks == Protocol::Pcie).count() < hosts.len() {
            let problem = Problem::NotShared { drive: drive.name.clone(), hosts: hosts.len() };
            reports.add(problem, drive.spot, &fields.at("target"));
        }
    }
}

/// Reports drives without a free port for requests: a link or another unit has taken it.
pub(super) fn check_block_ports(
    drives: &[Named],
    fields: &Fields<'_>,
    machine: &Machine,
    wiring: &Wiring,
    reports: &mut Reports,
) {
    for (i, drive) in drives.iter().enumerate() {
        let Some(plan) = machine.plan(drive.component) else { continue };
        let Some(port) = plan.port(Protocol::Block).filter(|_| plan.answers_blocks()) else { continue };
        let end = End { component: drive.component, port };
        let link = wiring.taken.get(&end).map(|link| format!("link `{link}`"));
        let same = |other: &&Named| other.component == drive.component && other.unit != drive.unit;
        let unit = || drives[..i].iter().find(same).map(|other| format!("`{}`", other.name));
        if let Some(by) = link.or_else(unit) {
            let port = format!("{}.{}", plan.name, plan.ports[port].name);
            reports.add(Problem::BlockPortTaken { port, by }, drive.spot, &fields.at("target"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::WORKLOAD;
    use crate::plan::PortPlan;
    use crate::resolve::components::Slot;
    use lanetwin_document::node::Origin;
    use lanetwin_document::yaml;
    use lanetwin_models::find;
    use lanetwin_ports::Params;

    /// A machine with a device of so many logical units, and one of a model that does not know of them.
    fn machine(units: u64) -> Machine {
        let slot = |name: &str, params: Params| {
            let plan = ComponentPlan {
                name: name.into(),
                part: None,
                model: find("null-disk").expect("it is on the shelf"),
                params,
                origins: std::collections::BTreeMap::new(),
                ports: Vec::new(),
            };
            Slot { name: name.into(), spot: Spot::default(), plan: Some(plan) }
        };
        let params = Params([(WORDS[0].units, Value::Count(units))].into());
        let components = vec![slot("hba", params), slot("ssd", Params::default())];
        Machine { components, assemblies: Vec::new() }
    }

    /// The drives of `target`, as (component, unit, name), or what is wrong with them.
    fn drives(units: u64, target: &str) -> Result<Vec<(usize, u16, String)>, Vec<String>> {
        let mut reports = Reports::default();
        let text = format!("on: host\ntarget: {target}\n");
        let node = yaml::read(&text, 0, Origin::Scenario, &mut reports).expect("YAML");
        let mut fields = Fields::open(&node, "w", WORKLOAD, &[], &mut reports).expect("a mapping");
        let machine = machine(units);
        let found = Names { fields: &mut fields, machine: &machine, reports: &mut reports }.drives();
        let found = found.map(|all| all.into_iter().map(|d| (d.component, d.unit, d.name)).collect());
        if reports.has_errors() {
            let told = reports.into_diagnostics(&[]);
            return Err(told
                .into_iter()
                .map(|d| format!("{}: {} - {}", d.code, d.message, d.help))
                .collect());
        }
        Ok(found.expect("without an error there are drives"))
    }

    fn codes(units: u64, target: &str) -> Vec<String> {
        drives(units, target).expect_err("an error").iter().map(|told| told[..5].to_owned()).collect()
    }

    #[test]
    fn units_have_names_of_their_own_where_there_are_several() {
        let name = |component, unit, name: &str| (component, unit, name.to_owned());
        let all = drives(4, "[hba.lun3, hba, ssd.lun0, hba.lun1]");
        let expected =
            vec![name(0, 3, "hba.lun3"), name(0, 0, "hba.lun0"), name(1, 0, "ssd"), name(0, 1, "hba.lun1")];
        assert_eq!(all, Ok(expected));
        assert_eq!(drives(1, "hba"), Ok(vec![name(0, 0, "hba")]));
        assert_eq!(drives(1 << 20, "hba.lun65535"), Ok(vec![name(0, 65_535, "hba.lun65535")]));
    }

    #[test]
    fn the_same_unit_twice_and_units_that_are_not_there_are_errors() {
        assert_eq!(codes(4, "[hba, hba.lun0]"), ["SC054"]);
        assert_eq!(codes(4, "[hba.lun2, hba.lun1, hba.lun2, hba.lun2]"), ["SC054", "SC054"]);
        assert_eq!(codes(4, "[hba.lun4, hba.lun1, ssd.lun1]"), ["SC055", "SC055"]);
        assert_eq!(codes(1 << 20, "hba.lun65536"), ["SC055"]);
        let told = drives(4, "hba.lun4").expect_err("an error");
        assert!(told[0].contains("one of `hba.lun0` to `hba.lun3`"), "{told:?}");
    }

    /// A device that takes requests directly has one port for them, whatever it has units.
    #[test]
    fn two_units_cannot_share_a_port_for_requests() {
        let mut machine = machine(4);
        let port =
            |name: &str| PortPlan { name: name.into(), group: "block", speaks: Protocol::Block, many: false };
        for slot in &mut machine.components {
            slot.plan.as_mut().expect("a plan").ports = vec![port("block")];
        }
        let drive =
            |component, unit| Named { component, unit, spot: Spot::default(), name: format!("d{unit}") };
        let found = |drives: &[Named]| {
            let (mut reports, node) = (Reports::default(), Node::map::<&str>([]));
            let fields = Fields::open(&node, "w", &[], &[], &mut reports).expect("a mapping");
            check_block_ports(drives, &fields, &machine, &Wiring::default(), &mut reports);
            reports.into_diagnostics(&[]).into_iter().map(|d| (d.code, d.message)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[drive(0, 3), drive(1, 0)]), []);
        let told = found(&[drive(0, 3), drive(1, 0), drive(0, 1)]);
        assert!(
            matches!(&told[..], [("SC057", message)] if message.contains("`hba.block`, which `d3` takes")),
            "{told:?}"
        );
    }
}
