//! `links:` – the ports that are connected, and the settings of each link.

mod buffers;
mod cxl;
pub(super) mod driven;
mod ends;
mod errors;
mod ethernet;
mod link;
pub(super) mod moves;
mod opened;
mod outages;
pub(super) mod partitions;
mod speeds;
mod stage;
mod switches;
mod tree;
mod via;

use super::components::Machine;
use super::known::Known;
use super::machine::assemblies::link_entries;
use super::wiring::Wiring;
use crate::language::LINK;
use crate::plan::{ComponentPlan, End, Join, LinkPlan};
use crate::problem::Problem;
use crate::values::{out_of_range, time};
use ends::protocol;
use errors::BitErrors;
use lanetwin_document::fields::{self, is_map, join};
use lanetwin_document::node::{Entry, Node, Origin};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_pcie::link::DllpMode;
use lanetwin_ports::{Dimension, Protocol, Value};
use lanetwin_units::{Bytes, Generation, Span, Width};
use link::Link;
use opened::{Opened, open, take_ports};
use partitions::Partitions;
use speeds::{LEAST_OF_CXL, generation_of, width_of};
use tree::{Above, Place};
use via::Running;

/// The payload sizes of the standard: a power of two from 128 B to 4 KiB.
const PAYLOAD_SIZES: std::ops::RangeInclusive<u64> = 128..=4096;

/// Maximum of every time of a link; the links count time in 1024ths of a picosecond with 64 bits.
const LONGEST: Span = Span::from_us(1_000_000);

/// Highest generation of a port that does not state one.
const BEST_GENERATION: u64 = 5;
const MOST_LANES: u64 = 16;

/// Reads the section. Returns the wiring, and the section with every default filled in.
pub(super) fn read(
    (node, partitions): (Option<&Node>, Partitions),
    machine: &Machine,
    known: Known<'_>,
    reports: &mut Reports,
) -> Option<(Wiring, Node)> {
    let mut wiring = Wiring { partitions, ..Wiring::default() };
    if node.is_some_and(|node| !is_map(node, "links", reports)) {
        return None;
    }
    let own = node.map(Node::entries).unwrap_or_default();
    let inside = machine.assemblies.iter().flat_map(|assembled| &assembled.links);
    let all: Vec<(&Entry, bool)> = own.iter().map(|e| (e, false)).chain(inside.map(|e| (e, true))).collect();
    let mut open: Vec<Opened<'_>> =
        all.iter().filter_map(|(entry, is_inside)| open(entry, *is_inside, machine, reports)).collect();
    take_ports(&mut open, machine, &mut wiring, reports);
    let (mut links, mut driven) = (Vec::new(), Vec::new());
    for Opened { entry, fields, ends, ports, drive } in open {
        match (ports, drive, ends) {
            ([Some(from), Some(to)], ..) => {
                links.push(Link { entry, fields, from, to, machine, known, stages: Vec::new() });
            }
            ([Some(from), None], Some(1), [_, Some(drive)])
            | ([None, Some(from)], Some(0), [Some(drive), _]) => {
                refuse_keys(entry, &fields.path, &["from", "to"], reports);
                driven.push(driven::Open { entry, fields, from, drive });
            }
            _ => {}
        }
    }
    let all_understood = links.len() + driven.len() == all.len();
    let places = tree::places((&links, all_understood), &wiring.partitions, machine, reports);
    let mut complete = Vec::new();
    for (link, place) in links.into_iter().zip(places) {
        let name = link.entry.key.clone();
        complete.extend(link.read(place, &mut wiring, reports).map(|node| (name, node)));
    }
    for open in driven {
        let name = open.entry.key.clone();
        complete.extend(driven::read(open, machine, &mut wiring, reports).map(|node| (name, node)));
    }
    switches::check(&wiring, machine, reports);
    let spot = |component: usize| (machine.components[component].spot, machine.label(component));
    ethernet::check(&wiring.network, machine, spot, reports);
    let inside = complete.extract_if(.., |(name, _)| name.contains('.')).map(|(name, node)| {
        let of = name.split_once('.').map_or_else(String::new, |(of, _)| of.to_owned());
        (of, link_entries(&name, &node))
    });
    wiring.inside = inside.collect();
    // in the order of the scenario, whatever their kind
    complete.sort_by_key(|(name, _)| own.iter().position(|entry| entry.key == *name));
    Some((wiring, Node::map(complete)))
}

/// Reports keys that have no meaning for this kind of link.
fn refuse_keys(entry: &Entry, path: &str, allowed: &[&'static str], reports: &mut Reports) {
    for own in entry.value.entries() {
        let declared = LINK.iter().any(|field| field.name == own.key);
        if declared && !allowed.contains(&&*own.key) {
            let known = quoted(allowed.iter().copied());
            let problem = Common::UnknownKey { key: own.key.clone(), known, near: Near::default() };
            reports.add(problem, own.spot, &join(path, &own.key));
        }
    }
}

/// All keys of links but these.
fn keys_but(others: &[&str]) -> Vec<&'static str> {
    LINK.iter().map(|field| field.name).filter(|name| !others.contains(name)).collect()
}

impl Link<'_> {
    fn read(mut self, place: Place, wiring: &mut Wiring, reports: &mut Reports) -> Option<Node> {
        for (key, end) in [("from", self.from), ("to", self.to)] {
            let origin = self.fields.written(key).map_or(Origin::Default, |node| node.origin);
            self.fields.record(key, Node::scalar(self.port_name(end)).by(origin));
        }
        match (self.port(self.from).speaks, self.port(self.to).speaks) {
            (Protocol::Pcie, Protocol::Pcie) => {
                let link = self.pcie(place, reports);
                // links to devices in no partition are checked, but then belong to no hierarchy
                if !place.is_nobodys {
                    wiring.links.push(link?);
                }
            }
            (Protocol::Cxl, Protocol::Cxl) => {
                let link = self.cxl(reports)?;
                wiring.cxl.push(link);
            }
            (Protocol::Ethernet, Protocol::Ethernet) if self.from.component == self.to.component => {
                self.cannot_join("they belong to one component".to_owned(), reports);
                return None;
            }
            (Protocol::Ethernet, Protocol::Ethernet) => {
                refuse_keys(self.entry, &self.fields.path, &ethernet::KEYS, reports);
                let of = |end: End| (end, self.machine.plan(end.component), self.machine.port_name(end));
                let ends = [self.from, self.to].map(of);
                wiring.network.cables.push(ethernet::cable(
                    &mut self.fields,
                    &self.entry.key,
                    ends,
                    reports,
                )?);
            }
            (Protocol::Block, Protocol::Block) => {
                refuse_keys(self.entry, &self.fields.path, &["from", "to"], reports);
                wiring.joins.push(Join { name: self.entry.key.clone(), from: self.from, to: self.to });
            }
            (a, b) => {
                let why = if a == b {
                    format!("ports for {} are not wired by hand", protocol(a))
                } else {
                    format!("one speaks {}, the other {}", protocol(a), protocol(b))
                };
                self.cannot_join(why, reports);
                return None;
            }
        }
        Some(self.fields.finish())
    }

    fn cannot_join(&self, why: String, reports: &mut Reports) {
        let (from, to) = (self.port_name(self.from), self.port_name(self.to));
        reports.add(Problem::CannotJoin { from, to, why }, self.entry.spot, &self.fields.path);
    }

    fn pcie(&mut self, place: Place, reports: &mut Reports) -> Option<LinkPlan> {
        let known = self.known;
        refuse_keys(self.entry, &self.fields.path, &keys_but(&["flit", "rate", "cable"]), reports);
        let read = self.stages(known.catalogue, reports);
        let understood = read.is_some();
        let (stages, written) = read.unwrap_or_else(|| (Vec::new(), Node::null()));
        self.stages = stages;
        let generation = self.generation(reports);
        let width = self.width(reports);
        let mps = self.mps(place.payload, reports);
        if let Some(mps) = mps {
            self.check_buffers(mps.into(), reports);
        }
        let clocking = self.clocking(reports);
        let propagation = self.short("propagation", reports);
        let retimers = self.stages.iter().filter(|stage| stage.is_retimer()).count();
        let errors =
            understood.then(|| self.bit_errors(retimers, generation, known.channels, reports)).flatten();
        let nak = self.optional_time("nak", reports);
        let recovery = self.short("recovery", reports);
        let dllp = self.dllp(reports);
        let skp = self.choice("skp", reports).map(|word| word == "on");
        self.fields.record("via", written);
        let weight = self.weight(reports);
        // generation, width and clocking of a link determine its stages and its channel
        let running = Running { generation: generation?, width: width?, mps: mps?, clocking: clocking? };
        let stages = std::mem::take(&mut self.stages);
        let via = understood.then(|| self.via(stages, running, reports))?;
        if let Some(long) = via.iter().map(|via| via.latency).find(|latency| *latency > LONGEST) {
            self.fields.fault("via", out_of_range(long, Span::ZERO, LONGEST), reports);
            return None;
        }
        let BitErrors { ratio, segments, channel } = errors?;
        let down =
            self.outages(running, channel.as_ref(), via.iter().filter(|via| via.is_retimer).count(), reports);
        let Above { root, root_port } = place.above?;
        Some(LinkPlan {
            name: self.entry.key.clone(),
            from: self.from,
            to: self.to,
            root,
            root_port,
            generation: running.generation,
            width: running.width,
            mps: running.mps,
            rcb: if self.plan(root_port).params.choice("port.rcb") == "128B" { 128 } else { 64 },
            clocking: running.clocking,
            propagation: propagation?,
            bit_error_ratio: ratio,
            segments,
            channel,
            nak: nak?,
            recovery: recovery?,
            dllp: dllp?,
            skp: skp?,
            via,
            weight: weight?,
            down: down?,
        })
    }

    fn dllp(&mut self, reports: &mut Reports) -> Option<DllpMode> {
        self.choice("dllp", reports).map(|word| match word {
            "each" => DllpMode::Each,
            "off" => DllpMode::Off,
            _ => DllpMode::Lump,
        })
    }

    fn weight(&mut self, reports: &mut Reports) -> Option<u32> {
        match self.fields.one("weight", reports)?.value {
            Value::Count(weight) => Some(u32::try_from(weight).expect("declared as at most 128")),
            other => unreachable!("`weight` is declared as a count, read as {other:?}"),
        }
    }

    /// The smaller of a value at both ends, with its port.
    fn least(&self, of: impl Fn(&ComponentPlan) -> u64) -> (u64, End) {
        let ends = [self.from, self.to];
        ends.map(|end| (of(self.plan(end)), end)).into_iter().min().expect("a link has two ends")
    }

    /// The smallest of a parameter of the parts in the link, with its part.
    fn least_stage(&self, param: &str) -> Option<(u64, String)> {
        let counts = self.stages.iter().filter_map(|stage| stage.count(param));
        counts.min().map(|(least, part)| (least, part.to_owned()))
    }

    fn generation(&mut self, reports: &mut Reports) -> Option<Generation> {
        let (most, at) = self.least(|plan| ability(plan, "port.gen", BEST_GENERATION));
        let ends = Generation::of_lanes(most).expect("the range of port.gen");
        let stage = self
            .least_stage("gen")
            .map(|(least, part)| (Generation::of_lanes(least).expect("the range of gen"), part));
        let best = stage.as_ref().map_or(ends, |(has, _)| ends.min(*has));
        let Some(node) = self.fields.written("gen") else {
            self.fields.record("gen", Node::scalar(best.number().to_string()));
            return Some(best);
        };
        let text = fields::scalar(node, "a generation", &self.fields.at("gen"), reports)?;
        let of_cxl = self.port(self.from).speaks == Protocol::Cxl;
        let known = |generation: &Generation| of_cxl || Generation::ALL.contains(generation);
        let Some(generation) = generation_of(text).filter(known) else {
            self.fields.fault("gen", Problem::ImpossibleGeneration { text: text.into() }, reports);
            return None;
        };
        self.fields.record("gen", Node::scalar(generation.number().to_string()).by(node.origin));
        if generation > ends {
            let (port, has) = (self.port_name(at), ends.to_string());
            let problem = Problem::TooFast { generation: generation.to_string(), port, has };
            self.fields.fault("gen", problem, reports);
        } else if let Some((has, part)) = stage.filter(|(has, _)| generation > *has) {
            let (generation, has) = (generation.to_string(), has.to_string());
            self.fields.fault("gen", Problem::SlowInLink { generation, part, has }, reports);
        } else if generation < best
            && node.origin == Origin::Scenario
            && !(of_cxl && generation < LEAST_OF_CXL)
        {
            let problem = Problem::Slow { generation: generation.to_string(), ends: best.to_string() };
            self.fields.fault("gen", problem, reports);
        }
        Some(generation)
    }

    fn width(&mut self, reports: &mut Reports) -> Option<Width> {
        let (lanes, at) = self.least(|plan| ability(plan, "port.width", MOST_LANES));
        let widest = |lanes: u64| {
            *Width::ALL.iter().rfind(|width| width.lanes() <= lanes).expect("a port has at least one lane")
        };
        let stage = self.least_stage("lanes");
        let ends = widest(lanes);
        let most = stage.as_ref().map_or(ends, |(has, _)| ends.min(widest(*has)));
        let Some(node) = self.fields.written("width") else {
            self.fields.record("width", Node::scalar(most.to_string()));
            return Some(most);
        };
        let text = fields::scalar(node, "a width", &self.fields.at("width"), reports)?;
        let Some(width) = width_of(text) else {
            self.fields.fault("width", Problem::ImpossibleWidth { text: text.into() }, reports);
            return None;
        };
        self.fields.record("width", Node::scalar(width.to_string()).by(node.origin));
        if width > ends {
            let (port, has) = (self.port_name(at), format!("x{lanes}"));
            self.fields.fault("width", Problem::TooWide { width: width.to_string(), port, has }, reports);
        } else if let Some((has, part)) = stage.filter(|(has, _)| width.lanes() > *has) {
            self.fields.fault(
                "width",
                Problem::NarrowInLink { width: width.to_string(), part, has },
                reports,
            );
        } else if width < most && node.origin == Origin::Scenario {
            self.fields.fault(
                "width",
                Problem::Narrow { width: width.to_string(), ends: most.to_string() },
                reports,
            );
        }
        Some(width)
    }

    /// The payload size of the hierarchy. This link may have set a smaller one than its ends support.
    fn mps(&mut self, hierarchy: u64, reports: &mut Reports) -> Option<u16> {
        let (most, at) = self.least(|plan| plan.params.size("port.mps").0);
        for end in [self.from, self.to] {
            self.check_port_size(end, "port.mps", reports);
            self.check_port_size(end, "port.mrrs", reports);
        }
        let size = |bytes| quantity::written(Value::Size(Bytes(bytes)));
        let mut origin = Origin::Default;
        if let Some(node) = self.fields.written("mps") {
            origin = node.origin;
            let value = fields::read(node, Dimension::Size, &self.fields.at("mps"), reports)?;
            let Value::Size(Bytes(bytes)) = value else { unreachable!("read as a size") };
            if payload_size(bytes).is_none() {
                self.fields.fault("mps", Problem::PayloadSize { text: size(bytes) }, reports);
                return None;
            }
            if bytes > most {
                let (port, has) = (self.port_name(at), size(most));
                self.fields.fault("mps", Problem::PayloadTooLarge { mps: size(bytes), port, has }, reports);
            }
        }
        self.fields.record("mps", Node::scalar(size(hierarchy)).by(origin));
        payload_size(hierarchy)
    }
    /// The payload size that is set, if it is one of the standard.
    fn asked_mps(&self) -> Option<u64> {
        let text = self.fields.written("mps")?.text()?;
        match quantity::read(Dimension::Size, text).ok()?.0 {
            Value::Size(Bytes(bytes)) => payload_size(bytes).map(u64::from),
            other => unreachable!("read as a size: {other:?}"),
        }
    }

    fn choice(&mut self, key: &str, reports: &mut Reports) -> Option<&'static str> {
        match self.fields.one(key, reports)?.value {
            Value::Choice(word) => Some(word),
            other => unreachable!("`{key}` is declared as a choice, read as {other:?}"),
        }
    }
    /// `Some(None)` if the key is missing; `None` if it cannot be read.
    #[expect(clippy::option_option, reason = "what is not understood is not what is not there")]
    fn optional_time(&mut self, key: &str, reports: &mut Reports) -> Option<Option<Span>> {
        if self.fields.written(key).is_none() { Some(None) } else { self.short(key, reports).map(Some) }
    }
    /// A time of at most a second, the limit of all times of links.
    fn short(&mut self, key: &str, reports: &mut Reports) -> Option<Span> {
        let read = self.fields.one(key, reports).map(|said| time(said.value))?;
        if read > LONGEST {
            self.fields.fault(key, out_of_range(read, Span::ZERO, LONGEST), reports);
            return None;
        }
        Some(read)
    }
}

/// The largest value of a parameter of a component's ports.
fn ability(plan: &ComponentPlan, param: &str, unsaid: u64) -> u64 {
    if let Some(Value::Count(most)) = plan.params.0.get(param) { *most } else { unsaid }
}

fn payload_size(bytes: u64) -> Option<u16> {
    let standard = PAYLOAD_SIZES.contains(&bytes) && bytes.is_power_of_two();
    u16::try_from(bytes).ok().filter(|_| standard)
}
