//! `placement:` – which nodes pages are on, by Linux's policies.

use super::host::On;
use super::words::{PAGES, PART, PLACEMENT};
use crate::problem::Problem;
use crate::values::choice;
use lanetwin_document::fields::{self, Fields, Said, is_map, join};
use lanetwin_document::node::{Kind, Node, Spot};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::spelling::Near;
use lanetwin_load::memory::kernels::Part;
use lanetwin_load::memory::placement::PAGE;
use lanetwin_load::memory::{Mapping, PageSize, PlacedPart, Policy};
use lanetwin_ports::{Dimension, Value};

/// The key of the page size.
const SIZE: &str = "pages";

/// A placement with its label.
pub(super) struct Placed {
    pub mapping: Mapping,
    /// The nodes that it names, in the order of the scenario.
    pub named: Vec<u16>,
    pub label: String,
    pub spot: Spot,
    /// The data structures with a placement of their own.
    pub parts: Vec<PlacedName>,
}

/// A data structure, and its placement.
pub(super) struct PlacedName {
    name: String,
    spot: Spot,
    mapping: Mapping,
}

/// The page size for a word.
pub(super) fn page_size(word: &str) -> PageSize {
    let place = PAGES.iter().position(|size| *size == word);
    PageSize::ALL[place.expect("only declared words are read")]
}
/// The word for a page size.
pub(super) fn written(size: PageSize) -> &'static str {
    PAGES[PageSize::ALL.iter().position(|one| *one == size).expect("every size is among all")]
}

impl Placed {
    fn whole(mapping: Mapping, label: String, spot: Spot) -> Self {
        Self { named: mapping.policy.named(), mapping, label, spot, parts: Vec::new() }
    }
    /// The parts of a program with policies of their own, by address; reports names that the program does not have.
    pub(super) fn parts_of(
        &self,
        (parts, program): (&[Part], &str),
        path: &str,
        reports: &mut Reports,
    ) -> Option<Vec<PlacedPart>> {
        let touched = || parts.iter().filter(|part| part.touched);
        let mut found = Vec::new();
        for own in &self.parts {
            let before = found.len();
            for part in touched().filter(|part| spelled(part) == own.name) {
                let pages = part.first / PAGE..(part.first + part.bytes).div_ceil(PAGE);
                found.push(PlacedPart { pages, mapping: own.mapping.clone() });
            }
            if found.len() == before {
                let mut names: Vec<String> = touched().map(spelled).collect();
                names.dedup();
                let (near, known) = (
                    Near::of(&own.name, names.iter().map(String::as_str)),
                    quoted(names.iter().map(String::as_str)),
                );
                let (name, program) = (own.name.clone(), program.to_owned());
                let problem = Problem::UnknownStructure { name, program, known, near };
                reports.add(problem, own.spot, &join(&join(path, "parts"), &own.name));
            }
        }
        found.sort_by_key(|part| part.pages.start);
        let known = |own: &PlacedName| touched().any(|part| spelled(part) == own.name);
        self.parts.iter().all(known).then_some(found)
    }
}

/// The name of a data structure as a key of a scenario, in one word.
fn spelled(part: &Part) -> String {
    part.name.replace(' ', "-")
}

/// The keys of policies.
fn keys() -> impl Iterator<Item = &'static str> {
    PART.iter().map(|field| field.name).filter(|key| *key != SIZE)
}
/// The page size that a placement itself sets.
#[expect(clippy::option_option, reason = "what is not understood is not what is not there")]
fn own_size(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Option<PageSize>> {
    match fields.written(SIZE) {
        Some(_) => choice(fields, SIZE, reports).map(|word| Some(page_size(word))),
        None => Some(None),
    }
}
/// The label of a placement that sets its page size.
fn sized(label: String, own: Option<PageSize>) -> String {
    own.map_or(label.clone(), |size| format!("{label} in {}", written(size)))
}

impl On<'_> {
    /// The policies, one or a list; by default on the host's own memory.
    pub(super) fn policies(self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Placed>> {
        let size = choice(fields, SIZE, reports).map(page_size);
        let path = fields.at("placement");
        let Some(node) = fields.written("placement") else {
            let local = self.own_nodes().first()?.name.clone();
            fields.record("placement", Node::scalar(&local));
            let mapping = Mapping { policy: Policy::Bind(vec![0]), size: size? };
            return Some(vec![Placed::whole(mapping, local, fields.node.spot)]);
        };
        let items = match &node.kind {
            Kind::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        if items.is_empty() {
            fields.fault("placement", Common::Empty { what: "the list is empty" }, reports);
            return None;
        }
        let read: Vec<_> =
            items.iter().map(|item| self.policy((item, size.unwrap_or_default()), &path, reports)).collect();
        fields.record("placement", node.clone());
        size.and(read.into_iter().collect())
    }

    /// Reads a placement, in pages of this size unless it sets another.
    fn policy(self, (node, size): (&Node, PageSize), path: &str, reports: &mut Reports) -> Option<Placed> {
        if node.text().is_some() {
            return self.placed((node, size), path, reports);
        }
        let mut fields = Fields::open(node, path, PLACEMENT, &[], reports)?;
        if fields.written("parts").is_none() && fields.written("default").is_none() {
            return self.by_key(&mut fields, size, reports);
        }
        let own = own_size(&mut fields, reports)?;
        let size = own.unwrap_or(size);
        let others = keys().find(|key| fields.written(key).is_some());
        if let Some(other) = others {
            fields.fault(other, Common::Exclusive { one: "parts", other }, reports);
        }
        let default = match fields.written("default") {
            Some(node) => self.placed((node, size), &fields.at("default"), reports),
            None => {
                let mapping = Mapping { policy: Policy::Bind(vec![0]), size };
                Some(Placed::whole(mapping, self.own_nodes().first()?.name.clone(), node.spot))
            }
        };
        let parts = self.parts(&fields, size, reports);
        let (default, parts) = (default?, parts?);
        let mut whole = Placed { spot: node.spot, ..default };
        let told: Vec<String> =
            parts.iter().map(|(name, part)| format!("{} on {}", name.name, part.label)).collect();
        whole.label = sized(format!("{} but {}", whole.label, told.join(" and ")), own);
        for (name, part) in parts {
            whole.named.extend(part.named);
            whole.parts.push(name);
        }
        others.is_none().then_some(whole)
    }
    /// Reads the data structures under `parts`, each with its placement.
    fn parts(
        self,
        fields: &Fields<'_>,
        size: PageSize,
        reports: &mut Reports,
    ) -> Option<Vec<(PlacedName, Placed)>> {
        let Some(node) = fields.written("parts") else {
            let about = "with the data structures that are elsewhere".into();
            fields.fault("default", Common::Missing { key: "parts".into(), about }, reports);
            return None;
        };
        let path = fields.at("parts");
        if !is_map(node, &path, reports) {
            return None;
        }
        if node.entries().is_empty() {
            fields.fault("parts", Common::Empty { what: "there is no data structure" }, reports);
            return None;
        }
        let read = node.entries().iter().map(|entry| {
            let placed = self.placed((&entry.value, size), &join(&path, &entry.key), reports)?;
            let mapping = placed.mapping.clone();
            Some((PlacedName { name: entry.key.clone(), spot: entry.spot, mapping }, placed))
        });
        // reads all of them before the first error ends it
        read.collect::<Vec<_>>().into_iter().collect()
    }

    /// Reads the name of a node, or a policy.
    fn placed(self, (node, size): (&Node, PageSize), path: &str, reports: &mut Reports) -> Option<Placed> {
        let spot = node.spot;
        if let Some(name) = node.text() {
            let policy = Policy::Bind(vec![self.node(name, spot, path, reports)?]);
            return Some(Placed::whole(Mapping { policy, size }, name.into(), spot));
        }
        let mut fields = Fields::open(node, path, PART, &[], reports)?;
        self.by_key(&mut fields, size, reports)
    }
    fn by_key(self, fields: &mut Fields<'_>, size: PageSize, reports: &mut Reports) -> Option<Placed> {
        let own = own_size(fields, reports);
        let (policy, label) = self.by_policy(fields, reports)?;
        let own = own?;
        if matches!(policy, Policy::Dax(_)) && own.is_some() {
            fields.fault(SIZE, Common::Exclusive { one: "dax", other: SIZE }, reports);
            return None;
        }
        let mapping = Mapping { policy, size: own.unwrap_or(size) };
        Some(Placed::whole(mapping, sized(label, own), fields.node.spot))
    }
    /// Reads the policy that is given, and its label.
    fn by_policy(self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<(Policy, String)> {
        let (spot, path) = (fields.node.spot, fields.path.clone());
        let written: Vec<&'static str> = keys().filter(|key| fields.written(key).is_some()).collect();
        let key = match written[..] {
            [only] => only,
            // an unknown key was reported already
            [] if fields.has_unknown() => return None,
            [] => {
                let about =
                    "or `preferred:`, `interleave:`, `weighted:` or `dax:`, with the names of nodes".into();
                reports.add(Common::Missing { key: "bind".into(), about }, spot, &path);
                return None;
            }
            [one, other, ..] => {
                fields.fault(other, Common::Exclusive { one, other }, reports);
                return None;
            }
        };
        if key == "weighted" {
            return self.weighted(fields, reports);
        }
        let (names, listed) = fields.names(key, "the name of a node", reports)?;
        if listed && matches!(key, "preferred" | "dax") {
            let problem = Common::WrongKind { found: "a list", wanted: "the name of one node" };
            fields.fault(key, problem, reports);
            return None;
        }
        let named = self.all(&names, &fields.at(key), reports)?;
        let joined = |with: &str| names.iter().map(|said| &*said.value).collect::<Vec<_>>().join(with);
        Some(match key {
            "bind" => (Policy::Bind(named), joined(" or ")),
            "preferred" => (Policy::Preferred(named[0]), format!("{} preferred", joined(""))),
            "dax" => (self.dax(named[0], fields, reports)?, format!("{} DAX", joined(""))),
            _ => (Policy::Interleave(named), joined(" and ")),
        })
    }
    /// A device that is mapped directly; reports memory that cannot be.
    fn dax(self, node: u16, fields: &Fields<'_>, reports: &mut Reports) -> Option<Policy> {
        let own = self.own_nodes()[usize::from(node)];
        if own.devices.is_empty() {
            fields.fault("dax", Problem::NoDax { name: own.name.clone() }, reports);
            return None;
        }
        Some(Policy::Dax(node))
    }

    /// `{dram: 10, exp: 1}`
    fn weighted(self, fields: &Fields<'_>, reports: &mut Reports) -> Option<(Policy, String)> {
        let (node, path) = (fields.written("weighted")?, fields.at("weighted"));
        if !is_map(node, &path, reports) {
            return None;
        }
        if node.entries().is_empty() {
            fields.fault("weighted", Common::Empty { what: "there is no node" }, reports);
            return None;
        }
        let weight = Dimension::Count { least: 1, most: u8::MAX.into() };
        let mut weights = Vec::new();
        for entry in node.entries() {
            let path = join(&path, &entry.key);
            let number = self.node(&entry.key, entry.spot, &path, reports);
            let weight = match fields::read(&entry.value, weight, &path, reports) {
                Some(Value::Count(weight)) => u8::try_from(weight).ok(),
                _ => None,
            };
            weights.push(number.zip(weight));
        }
        let weights = weights.into_iter().collect::<Option<Vec<_>>>()?;
        let told =
            node.entries().iter().zip(&weights).map(|(entry, (_, weight))| format!("{} {weight}", entry.key));
        let label = told.collect::<Vec<_>>().join(" : ");
        Some((Policy::WeightedInterleave(weights), label))
    }

    /// The numbers of nodes; reports duplicates.
    fn all(self, names: &[Said<String>], path: &str, reports: &mut Reports) -> Option<Vec<u16>> {
        let found: Vec<_> =
            names.iter().map(|said| self.node(&said.value, said.spot, path, reports)).collect();
        let found = found.into_iter().collect::<Option<Vec<u16>>>()?;
        let twice = |i: &usize| found[..*i].contains(&found[*i]);
        let again: Vec<usize> = (0..found.len()).filter(twice).collect();
        for said in again.iter().map(|i| &names[*i]) {
            reports.add(Problem::DeviceTwice { name: said.value.clone() }, said.spot, path);
        }
        // room that is short because of a duplicate would be a second report of the same mistake
        again.is_empty().then_some(found)
    }

    /// The number of a node of the host; reports an error if there is none.
    fn node(self, name: &str, spot: Spot, path: &str, reports: &mut Reports) -> Option<u16> {
        let own = self.own_nodes();
        let found = own.iter().position(|node| node.name == name);
        // memory is also missing after an error in its device or link, which was reported already
        if found.is_none() && !(own.is_empty() || self.machine.is_unclear(name)) {
            let names = || own.iter().map(|node| &*node.name);
            let (near, known) = (Near::of(name, names()), quoted(names()));
            let host = self.machine.label(self.host);
            reports.add(Problem::UnknownNode { name: name.into(), host, known, near }, spot, path);
        }
        found.and_then(|place| u16::try_from(place).ok())
    }
}
