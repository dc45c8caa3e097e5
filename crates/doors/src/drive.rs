//! The served drive of a scenario, and its properties.

use crate::command::{Kind, Request};
use crate::problem::Problem;
use lanetwin_plan::{ComponentPlan, End, Pair, Plan, Variant};
use lanetwin_ports::{Capability, Protocol, Value};
use lanetwin_units::Span;
use lanetwin_world::seed_of;
use std::collections::{BTreeMap, BTreeSet};

/// Default size of a disk without a size \[B\].
const UNSAID_BYTES: u64 = 1 << 30;
/// Default size of a logical block \[B\].
const UNSAID_BLOCK: u32 = 512;

/// A user's choice of drive.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Choice {
    /// The variant; the baseline if none.
    pub variant: Option<String>,
    /// Name of the drive; by default the one that workloads use.
    pub drive: Option<String>,
    /// Size, for a drive without a size of its own \[B\].
    pub bytes: Option<u64>,
    /// The names of drives that are served beside it.
    pub others: Vec<String>,
}

/// Properties of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Size \[B\].
    pub bytes: u64,
    /// A logical block \[B\].
    pub block: u32,
    /// Whether it acknowledges writes before they survive a loss of power (a volatile write cache).
    pub is_volatile: bool,
    /// Largest amount of such writes that it holds \[B\].
    pub buffer: u64,
    /// Atomic Write Unit Power Fail: size of writes that are stored completely or not at all \[B\].
    pub atomic: u32,
}

impl Facts {
    /// Checks that a request consists of whole blocks within the drive.
    ///
    /// # Errors
    /// The mistake in it.
    pub fn allow(&self, request: Request) -> Result<(), Problem> {
        let Request { kind, first, bytes } = request;
        let wrong = |said: String| Err(Problem::BadRequest { said });
        if kind == Kind::Flush {
            return Ok(());
        }
        let block = u64::from(self.block);
        if bytes == 0 || !first.is_multiple_of(block) || !u64::from(bytes).is_multiple_of(block) {
            return wrong(format!("{bytes} B at {first} B are not whole blocks of {block} B"));
        }
        if first.checked_add(bytes.into()).is_none_or(|end| end > self.bytes) {
            return wrong(format!("{bytes} B at {first} B are beyond the end, {} B", self.bytes));
        }
        Ok(())
    }
}

/// A drive that is served beside another.
#[derive(Clone)]
pub struct Other {
    /// Initiator and target.
    pub pair: Pair,
    /// Its properties.
    pub facts: Facts,
}

/// A drive of a scenario, and the way to it.
#[derive(Clone)]
pub struct Drive {
    /// The machine.
    pub variant: Variant,
    /// Initiator and target.
    pub pair: Pair,
    /// Its properties.
    pub facts: Facts,
    /// The drives of the same machine that are served beside it.
    pub others: Vec<Other>,
    /// The seed of the world: that of the first repeat of a run.
    pub seed: u64,
}

impl Drive {
    /// Chooses a drive of a plan.
    ///
    /// # Errors
    /// Why that cannot be served.
    pub fn choose(plan: &Plan, choice: &Choice) -> Result<Self, Problem> {
        let variant = match &choice.variant {
            None => &plan.variants[plan.compare.baseline],
            Some(name) => plan.variants.iter().find(|variant| variant.name == *name).ok_or_else(|| {
                Problem::NoVariant {
                    name: name.clone(),
                    known: listed(plan.variants.iter().map(|v| &v.name)),
                }
            })?,
        };
        let served = |name: Option<&str>| {
            let pair = pair(variant, name)?;
            if let Some(why) = refusal(variant, &pair) {
                return Err(Problem::NotServed { name: pair.device, why });
            }
            let facts = facts(&variant.machine[pair.target], choice)?;
            Ok(Other { pair, facts })
        };
        let Other { pair, facts } = served(choice.drive.as_deref())?;
        let mut others: Vec<Other> = Vec::new();
        for name in &choice.others {
            let other = served(Some(name))?;
            let is_same = |known: &Pair| (known.target, known.unit) == (other.pair.target, other.pair.unit);
            if is_same(&pair) || others.iter().any(|known| is_same(&known.pair)) {
                return Err(Problem::NotTogether { said: format!("`{name}` is named twice") });
            }
            others.push(other);
        }
        Ok(Self { variant: variant.clone(), pair, facts, others, seed: seed_of(plan.run.seed, 0) })
    }
    /// Initiator and target of it and of the drives served with it.
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        std::iter::once(&self.pair).chain(self.others.iter().map(|other| &other.pair))
    }
    /// Properties of it and of the drives served with it.
    #[must_use]
    pub fn all_facts(&self) -> Vec<Facts> {
        std::iter::once(self.facts).chain(self.others.iter().map(|other| other.facts)).collect()
    }
}

/// Time by which a drive answers reads and writes earlier, to compensate for the time of the door.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Earlier {
    /// For reads, and commands that take as long.
    pub reads: Span,
    /// Writes.
    pub writes: Span,
}

impl Earlier {
    /// That of a kind of request.
    #[must_use]
    pub const fn of(self, kind: Kind) -> Span {
        match kind {
            Kind::Read | Kind::Compare => self.reads,
            Kind::Write => self.writes,
            Kind::Flush | Kind::Deallocate | Kind::WriteZeroes => Span::ZERO,
        }
    }
}

impl Drive {
    /// The same drives with `by` less of the firmware latencies that only delay and occupy nothing, but not less than
    /// zero. Returns the reduction of each.
    #[must_use]
    pub fn earlier(&self, by: Span) -> (Self, Vec<Earlier>) {
        let mut drive = self.clone();
        // namespaces of one drive have one firmware
        let targets: BTreeSet<usize> = self.pairs().map(|pair| pair.target).collect();
        let less: BTreeMap<usize, Earlier> =
            targets.into_iter().map(|target| (target, drive.take_from_firmware(target, by))).collect();
        (drive, self.pairs().map(|pair| less[&pair.target]).collect())
    }
    fn take_from_firmware(&mut self, target: usize, by: Span) -> Earlier {
        let params = &mut self.variant.machine[target].params.0;
        let mut less = |name: &str| match params.get_mut(name) {
            Some(Value::Time(latency)) => {
                let less = by.min(*latency);
                *latency = Span::from_ps(latency.as_ps() - less.as_ps());
                less
            }
            _ => Span::ZERO,
        };
        Earlier { reads: less("firmware.read-latency"), writes: less("firmware.write-latency") }
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Initiator and target: of the drives that workloads access, the one of this name, or the only one.
fn pair(variant: &Variant, name: Option<&str>) -> Result<Pair, Problem> {
    let asked = variant.workloads.iter().flat_map(|workload| &workload.pairs);
    let blocks = asked.filter(|pair| !variant.machine[pair.on].has(Protocol::Dma));
    let mut drives: BTreeMap<&String, &Pair> = BTreeMap::new();
    blocks.for_each(|pair| {
        drives.entry(&pair.device).or_insert(pair);
    });
    if drives.is_empty() {
        return Err(Problem::NoDrives);
    }
    let known = || listed(drives.keys().copied());
    let found = match name {
        Some(name) => drives.iter().find(|(known, _)| **known == name).map(|(_, pair)| *pair),
        None if drives.len() > 1 => return Err(Problem::WhichDrive { known: known() }),
        None => drives.values().next().copied(),
    };
    found.cloned().ok_or_else(|| Problem::NoDrive { name: name.unwrap_or_default().into(), known: known() })
}

/// Why doors cannot serve a device; `None` if they can.
fn refusal(variant: &Variant, pair: &Pair) -> Option<String> {
    let drive = &variant.machine[pair.target];
    if drive.model.can(Capability::NvmeQueues) {
        let linked = |port| variant.link_of(End { component: pair.target, port }).is_some();
        let links = (0..drive.ports.len()).filter(|port| linked(*port)).count();
        let paths = variant.network.remotes(pair.on, pair.target).count();
        let several = if links > 1 { "linked ports" } else { "paths over a network" };
        return (links.max(paths) > 1).then(|| format!("it has several {several}, which take no flush yet"));
    }
    let is_disk = drive.has(Protocol::Block) && drive.ports.len() == 1;
    (!is_disk).then(|| format!("a `{}` takes no flush yet", drive.model.name))
}

fn facts(component: &ComponentPlan, choice: &Choice) -> Result<Facts, Problem> {
    let params = &component.params.0;
    let namespaces = match params.get("namespaces") {
        Some(Value::Count(n)) => *n,
        _ => 1,
    };
    let own = match params.get("capacity") {
        Some(Value::Size(bytes)) => Some(bytes.0 / namespaces),
        _ => None,
    };
    let block = match params.get("block") {
        Some(Value::Choice("4KiB")) => 4096,
        _ => UNSAID_BLOCK,
    };
    let bytes = own.or(choice.bytes).unwrap_or(UNSAID_BYTES);
    if bytes == 0 || !bytes.is_multiple_of(block.into()) {
        return Err(Problem::BadSize { bytes, block });
    }
    let is_volatile = matches!(params.get("buffer.volatile"), Some(Value::Flag(true)));
    let buffer = match params.get("buffer") {
        Some(Value::Size(bytes)) => bytes.0,
        _ => 0,
    };
    // Identify reports AWUPF 0, which is one block, for every drive of the shelf
    Ok(Facts { bytes, block, is_volatile, buffer, atomic: block })
}
