//! `memory:` of a workload: the loads and stores of a host's cores, and the memory nodes of their pages.

mod host;
mod pattern;
mod placement;
mod program;
mod recorded;
mod spread;
mod words;

use crate::files::FileOf;
use crate::kind::{Asked, Kind, MOST_CASES, Place, Who};
use crate::plan::{Case, DeviceCache, HintsCase, KernelCase, Load, MemoryCase, MemoryNode, MemoryProgram};
use crate::problem::Problem;
use crate::values::{choice, count, list};
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_load::memory::kernels::Kernel;
use lanetwin_load::memory::placement::PAGE;
use lanetwin_load::memory::{BadPlacement, PageMap, PageSize, PlacedPart, Policy, TrafficOrder};
use lanetwin_ports::Value;
use lanetwin_units::Bytes;
use host::On;
use pattern::Pattern;
use placement::Placed;
use spread::{Point, Spread};
use words::{MEMORY, NAME};

/// Size of a cache line \[B\]; a thread needs at least one line.
const LINE: u64 = 64;
/// The parameter for a device's latency of answering hints.
const HINTS_LATENCY: &str = "hints.latency";

pub(crate) const KIND: Kind = Kind {
    name: NAME,
    about: "loads and stores of the cores of a host",
    keys: MEMORY,
    who: Who::Cores,
    rounds: false,
    file: Some(FileOf { key: recorded::KEY, read: recorded::understand, options: None }),
    read,
};

/// Number of lines that are measured at least if it is not stated.
const LINES: u64 = 100_000;

/// Number of lines to measure.
fn lines(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<u64> {
    if fields.written("lines").is_some() { count(fields, "lines", reports) } else { Some(LINES) }
}

fn read(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let on = On { machine: place.machine, nodes: place.nodes, host: place.cores_of? };
    if fields.written(recorded::KEY).is_some() {
        let read = recorded::read(fields, place.configurations, reports);
        let (policies, cache) = (on.policies(fields, reports), cache(fields, reports));
        let ((trace, file), policies) = (read?, policies?);
        on.check_cache(&policies, fields, reports);
        return recorded::cases(fields, (&trace, &file), (on, &policies, cache?), reports);
    }
    if let Some((kernel, name)) = program::read(fields, reports)? {
        return kernels(fields, (kernel, &name), on, reports);
    }
    if fields.written("stretches").is_some() {
        let problem = Common::Missing { key: "program".into(), about: "of which stretches are run".into() };
        fields.fault("stretches", problem, reports);
    }
    let pattern = pattern::read(fields, reports);
    let mixes = list(fields, "mix", reports);
    let threads = on.threads(fields, reports);
    let working_sets = list(fields, "working-set", reports);
    let delays = list(fields, "delay", reports);
    let policies = on.policies(fields, reports);
    let cache = cache(fields, reports);
    let hints = on.hints(fields, reports);
    let steps = lines(fields, reports);
    let (pattern, cache, steps) = (pattern?, cache?, steps?);
    let (hints, policies) = (hints?, policies?);
    on.check_hints(hints, (pattern, &policies), fields, reports)?;
    on.check_cache(&policies, fields, reports);
    let spread = Spread::new([mixes?, threads?, working_sets?, delays?], policies);
    if spread.count() > MOST_CASES {
        let problem = Problem::TooMuch { cases: spread.count(), most: MOST_CASES };
        fields.fault("working-set", problem, reports);
        return None;
    }
    let points = spread.points();
    let fits = points.iter().map(|point| on.has_room(point, pattern, fields, reports));
    // checks all of them before the first failure ends it
    if fits.collect::<Vec<_>>().contains(&false) {
        return None;
    }
    let case = |point: &Point<'_>| Case {
        label: spread.label(point),
        axis: spread.axis(point),
        load: Load::Memory(Box::new(MemoryCase {
            program: point.program(pattern),
            mapping: point.policy.mapping.clone(),
            parts: Vec::new(),
            hints,
            against: spread.against(point),
            cache,
            steps,
        })),
    };
    Some(Asked::of(points.iter().map(case).collect()))
}

/// The cases of an application: every number of threads on every placement.
fn kernels(
    fields: &mut Fields<'_>,
    (kernel, name): (Kernel, &str),
    on: On<'_>,
    reports: &mut Reports,
) -> Option<Asked> {
    let threads = on.threads(fields, reports);
    let policies = on.policies(fields, reports);
    let cache = cache(fields, reports);
    let stretches = count(fields, "stretches", reports);
    let steps = lines(fields, reports)?;
    let (threads, policies, cache, stretches) = (threads?, policies?, cache?, stretches?);
    on.check_cache(&policies, fields, reports);
    let read = threads.iter().map(|said| program::case(kernel, said, (stretches, steps), fields, reports));
    // reads all of them before the first error ends it
    let read: Vec<_> = read.collect();
    let all: Vec<KernelCase> = read.into_iter().collect::<Option<_>>()?;
    let mut cases = Vec::new();
    for policy in &policies {
        for case in &all {
            let last = kernel.parts(case.threads).last().map_or(0, |part| part.first + part.bytes);
            let Some(parts) =
                policy.parts_of((&kernel.parts(case.threads), name), &fields.at("placement"), reports)
            else {
                continue;
            };
            if !on.fits((policy, &parts), last.div_ceil(PAGE), fields, reports) {
                continue;
            }
            let label = |policy: &Placed| {
                let words = [
                    (policies.len(), policy.label.clone()),
                    (all.len(), format!("{} threads", case.threads)),
                ];
                let varied: Vec<String> =
                    words.into_iter().filter(|(n, _)| *n > 1).map(|(_, word)| word).collect();
                if varied.is_empty() { name.to_owned() } else { varied.join(", ") }
            };
            let first = &policies[0];
            let is_first = std::ptr::eq(first, policy);
            cases.push(Case {
                label: label(policy),
                axis: None,
                load: Load::Memory(Box::new(MemoryCase {
                    program: MemoryProgram::Kernel(*case),
                    mapping: policy.mapping.clone(),
                    parts,
                    hints: None,
                    against: (!is_first).then(|| label(first)),
                    cache,
                    steps,
                })),
            });
        }
    }
    (cases.len() == policies.len() * all.len()).then(|| Asked::of(cases))
}

fn cache(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<DeviceCache> {
    choice(fields, "cache", reports).map(|word| match word {
        "cold" => DeviceCache::Cold,
        "as-is" => DeviceCache::AsIs,
        _ => DeviceCache::Warm,
    })
}

impl On<'_> {

    /// Whether the working set has a line for each thread, and its pages fit their nodes; reports an error if not.
    fn has_room(
        self,
        point: &Point<'_>,
        pattern: Pattern,
        fields: &Fields<'_>,
        reports: &mut Reports,
    ) -> bool {
        let written = |bytes| quantity::label(Value::Size(Bytes(bytes)));
        let Bytes(bytes) = point.working_set;
        let (buffers, programs) = match pattern {
            Pattern::Chase(_) => (1, 1),
            Pattern::Traffic(_, chaser) => {
                (u64::from(point.threads), u64::from(point.threads) + u64::from(chaser))
            }
        };
        if bytes / buffers < LINE {
            let least = quantity::written(Value::Size(Bytes(LINE * buffers)));
            let problem =
                Common::OutOfRange { text: written(bytes), least, most: "what the nodes have".into() };
            fields.fault("working-set", problem, reports);
            return false;
        }
        // every buffer begins on its own page
        self.fits((point.policy, &[]), (bytes / buffers).div_ceil(PAGE) * programs, fields, reports)
    }

    /// Whether this many pages fit the nodes of a policy; reports an error if not.
    fn fits(
        self,
        (policy, parts): (&Placed, &[PlacedPart]),
        pages: u64,
        fields: &Fields<'_>,
        reports: &mut Reports,
    ) -> bool {
        let own = self.own_nodes();
        let frames: Vec<u64> = own.iter().map(|node| node.size.0 / PAGE).collect();
        let used = vec![0; frames.len()];
        let map = PageMap::with_parts((&policy.mapping, parts), pages, &frames, &used);
        if let Err(wrong) = &map {
            let named: Vec<&MemoryNode> = policy.named.iter().map(|node| own[usize::from(*node)]).collect();
            let names: Vec<&str> = named.iter().map(|node| &*node.name).collect();
            let all = (pages, named.iter().map(|node| node.size.0).sum());
            // for pages of 2 MiB, and for memory beside parts, size and room are counted separately
            let (needed, has) = match wrong[..] {
                [BadPlacement::NoRoom { needed, room }] if self.is_cut(policy) => (needed, room * PAGE),
                _ => all,
            };
            let (needed, has) = quantity::beside(Bytes(needed * PAGE), Bytes(has));
            let problem = Problem::NoRoom { needed, node: names.join("`, `"), has };
            reports.add(problem, policy.spot, &fields.at("placement"));
        }
        map.is_ok_and(|map| self.has_large_pages((policy, parts), &map, fields, reports))
    }
    /// Whether every requested page size is used by some data; reports an error if not.
    fn has_large_pages(
        self,
        (placed, parts): (&Placed, &[PlacedPart]),
        map: &PageMap,
        fields: &Fields<'_>,
        reports: &mut Reports,
    ) -> bool {
        let mappings = std::iter::once(&placed.mapping).chain(parts.iter().map(|part| &part.mapping));
        let asked = mappings
            .filter(|mapping| mapping.size != PageSize::Small && !matches!(mapping.policy, Policy::Dax(_)));
        let is_there = |size| map.large().iter().any(|large| large.size == size);
        let Some(size) = asked.map(|mapping| mapping.size).find(|size| !is_there(*size)) else { return true };
        let written = |bytes| quantity::label(Value::Size(Bytes(bytes)));
        let page = size.pages() * PAGE;
        let own = self.own_nodes();
        let small = placed.named.iter().map(|node| own[usize::from(*node)]).find(|node| node.size.0 < page);
        let why = match small {
            _ if map.pages() * PAGE < page => format!("all is {}", written(map.pages() * PAGE)),
            Some(node) => format!("`{}` has {}", node.name, written(node.size.0)),
            None => "no whole one lies in what is to have them".to_owned(),
        };
        let problem = Problem::NoLargePage { size: placement::written(size), why };
        reports.add(problem, placed.spot, &fields.at("placement"));
        false
    }
    fn is_cut(self, placed: &Placed) -> bool {
        !placed.parts.is_empty() || matches!(placed.mapping.policy, Policy::Dax(_))
    }

    /// The hints on pages that threads send to devices.
    #[expect(clippy::option_option, reason = "what is not understood is not what is not there")]
    fn hints(self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Option<HintsCase>> {
        if fields.written("hints").is_none() {
            return Some(None);
        }
        let mut hints = fields.section("hints", reports)?;
        let mut pages = |key: &str| {
            let pages = count(&mut hints, key, reports)?;
            Some(u32::try_from(pages).expect("declared as at most 65 536"))
        };
        let (prefetch, evict) = (pages("prefetch"), pages("evict"));
        let (status, temperature) = (pages("status"), pages("temperature"));
        let complete = hints.finish();
        fields.record("hints", complete);
        let case =
            HintsCase { prefetch: prefetch?, evict: evict?, status: status?, temperature: temperature? };
        let says = [case.prefetch, case.evict, case.status, case.temperature];
        Some(says.iter().any(|pages| *pages > 0).then_some(case))
    }
    /// Whether threads can send hints and devices accept them; reports an error if not.
    fn check_hints(
        self,
        hints: Option<HintsCase>,
        (pattern, policies): (Pattern, &[Placed]),
        fields: &Fields<'_>,
        reports: &mut Reports,
    ) -> Option<()> {
        if hints.is_none() {
            return Some(());
        }
        let one = match pattern {
            Pattern::Chase(_) => "pattern: chase",
            Pattern::Traffic(TrafficOrder::Random, _) => "pattern: random",
            Pattern::Traffic(TrafficOrder::Sequential, _) => "",
        };
        if !one.is_empty() {
            fields.fault("hints", Common::Exclusive { one, other: "hints" }, reports);
        }
        let own = self.own_nodes();
        let mut all_hear = true;
        for placed in policies.iter().filter(|placed| !self.is_cached(placed)) {
            let names: Vec<&str> = placed.named.iter().map(|node| &*own[usize::from(*node)].name).collect();
            reports.add(Problem::NoHints { nodes: quoted(names) }, placed.spot, &fields.at("hints"));
            all_hear = false;
        }
        (one.is_empty() && all_hear).then_some(())
    }
    /// Warns of keys about the cache of devices if no page is on a device with a cache.
    fn check_cache(self, policies: &[Placed], fields: &Fields<'_>, reports: &mut Reports) {
        if fields.written("cache").is_some() && !policies.iter().any(|placed| self.is_cached(placed)) {
            let why = "no page is placed on a device with a cache in front of a disk".to_owned();
            fields.fault("cache", Problem::WithoutEffect { parameter: "cache", why }, reports);
        }
    }
    /// Whether pages are on a device with a cache in front of a drive.
    fn is_cached(self, placed: &Placed) -> bool {
        let own = self.own_nodes();
        let has_cache = |device: &usize| {
            self.machine.plan(*device).is_some_and(|plan| plan.params.0.contains_key(HINTS_LATENCY))
        };
        placed.named.iter().any(|node| own[usize::from(*node)].devices.iter().any(has_cache))
    }

}
