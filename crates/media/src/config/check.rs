//! Checks a configuration and reports all its mistakes.

use super::{
    Allocation, BadDrive, CrossPoint, DriveConfig, Ftl, Initial, MappingTable, Medium, Nand, Partition,
    Rules, UNIT,
};
use crate::mistakes::Mistake;
use lanetwin_units::Bytes;

type Mistakes = crate::mistakes::Mistakes<BadDrive>;

impl Mistake for BadDrive {
    fn new(field: &'static str, problem: String, remedy: String) -> Self {
        Self { field, problem, remedy }
    }
}

impl DriveConfig {
    /// Every mistake in it; none if a [`Drive`](crate::Drive) can be built.
    #[must_use]
    pub fn mistakes(&self) -> Vec<BadDrive> {
        mistakes(self)
    }
}

/// Help text: the nearest positive multiple of a unit.
fn nearest(bytes: u64) -> String {
    let below = bytes / UNIT * UNIT;
    let nearest = if bytes - below < UNIT / 2 { below } else { below.saturating_add(UNIT) };
    format!("a positive multiple of {UNIT} B; the nearest is {}B", nearest.max(UNIT))
}

fn mistakes(drive: &DriveConfig) -> Vec<BadDrive> {
    let mut found = Mistakes::none();
    let capacity = drive.capacity.0;
    found.unless(
        capacity > 0 && capacity.is_multiple_of(UNIT),
        "capacity",
        format!("{capacity} B is no multiple of {UNIT} B"),
        nearest(capacity),
    );
    found.unless(
        capacity <= UNIT << 32,
        "capacity",
        format!(
            "{capacity} B are more than 16 TiB: the mapping table numbers units of {UNIT} B with 32 bits"
        ),
        "at most 16 TiB; per die, a drive of half the blocks with the same share of spare ones does the same",
    );
    found.within("buffer.capacity", drive.buffer.capacity.0, UNIT, 1 << 36);
    if let Some(encryption) = drive.encryption {
        found.within("encryption.bytes_per_second", encryption.bytes_per_second, 1, 1 << 50);
    }
    found.unless(
        drive.energy.allowed_milliwatts() != Some(0),
        "energy.limit_milliwatts",
        "the limit leaves nothing for work".to_string(),
        "more than what the drive takes when it does nothing",
    );
    match &drive.medium {
        Medium::Nand(nand, ftl) => {
            let before = found.0.len();
            geometry(&mut found, nand);
            if found.0.len() == before {
                translation(&mut found, drive, nand, ftl);
            }
        }
        Medium::CrossPoint(medium) => cross_point(&mut found, medium),
    }
    found.0
}

fn geometry(found: &mut Mistakes, nand: &Nand) {
    let g = &nand.geometry;
    found.within("nand.geometry.channels", g.channels.into(), 1, 256);
    found.within("nand.geometry.chips", g.chips.into(), 1, 64);
    found.within("nand.geometry.dies", g.dies.into(), 1, 64);
    found.within("nand.geometry.chips", u64::from(g.chips) * u64::from(g.dies), 1, 64);
    found.within("nand.geometry.planes", g.planes.into(), 1, 8);
    found.within("nand.geometry.blocks", g.blocks.into(), 8, 1 << 20);
    found.within("nand.geometry.pages", g.pages.into(), 1, 1 << 16);
    found.within("nand.geometry.page", g.page.0, UNIT, 1 << 17);
    found.unless(
        g.page.0.is_multiple_of(UNIT),
        "nand.geometry.page",
        format!("{} B is no multiple of {UNIT} B", g.page.0),
        "4 KiB, 8 KiB or 16 KiB of data; what is more belongs to the spare area",
    );
    found.within("nand.geometry.spare", g.spare.0, 0, g.page.0.max(1));
    // places have 40 bits; factors out of range have been reported already
    let units = [g.channels, g.chips, g.dies, g.planes, g.blocks, g.pages, (g.page.0 / UNIT) as u32]
        .iter()
        .fold(1_u128, |units, factor| units.saturating_mul(u128::from(*factor)));
    found.unless(
        units < 1 << 39,
        "nand.geometry",
        format!("{units} units of {UNIT} B are more than the FTL can number"),
        format!("less than {} units", 1_u64 << 39),
    );
    let bits = u64::from(nand.timing.cell.bits());
    found.unless(
        u64::from(g.pages).is_multiple_of(bits) || nand.rules == Rules::Mqsim,
        "nand.geometry.pages",
        format!("{} pages are no whole number of word lines of {bits} pages", g.pages),
        format!("a multiple of {bits}"),
    );
    found.within("nand.bus.megatransfers", nand.bus.megatransfers.into(), 1, 100_000);
    found.within("nand.bus.width", nand.bus.width.into(), 1, 8);
}

fn translation(found: &mut Mistakes, drive: &DriveConfig, nand: &Nand, ftl: &Ftl) {
    let g = &nand.geometry;
    found.within("ftl.streams", ftl.streams.into(), 1, 16);
    found.within("ftl.endurance", ftl.endurance.into(), 1, u64::from(u32::MAX));
    found.within("ftl.watermarks.urgent", ftl.watermarks.urgent.into(), 2, u64::from(g.blocks));
    found.unless(
        ftl.watermarks.low > ftl.watermarks.urgent,
        "ftl.watermarks.low",
        format!("{} is not above the urgent mark of {}", ftl.watermarks.low, ftl.watermarks.urgent),
        "GC has to start before writes have to wait for it",
    );
    if let MappingTable::Cached { pages, .. } = ftl.mapping {
        found.within("ftl.mapping.pages", pages.into(), 1, 1 << 28);
    }
    if let Some(ahead) = ftl.read_ahead {
        found.within("ftl.read_ahead.streams", ahead.streams.into(), 1, 64);
        found.within("ftl.read_ahead.trigger", ahead.trigger.into(), 1, 1 << 16);
        found.within("ftl.read_ahead.window", ahead.window.0, UNIT, 1 << 30);
    }
    slc_cache(found, nand, ftl);
    let whole = [Partition { capacity: drive.capacity, dies: g.all_dies() }];
    let partitions = if ftl.partitions.is_empty() { &whole[..] } else { &ftl.partitions[..] };
    let dies: u64 = partitions.iter().map(|partition| u64::from(partition.dies)).sum();
    found.unless(
        dies == u64::from(g.all_dies()),
        "ftl.partitions",
        format!("they have {dies} dies together, the drive has {}", g.all_dies()),
        "give every die to one partition",
    );
    let sum: u128 = partitions.iter().map(|partition| u128::from(partition.capacity.0)).sum();
    found.unless(
        sum == u128::from(drive.capacity.0),
        "ftl.partitions",
        format!("they have {sum} B together, the drive has {} B", drive.capacity.0),
        "give every byte to one partition",
    );
    found.unless(
        ftl.partitions.is_empty() || !ftl.allocation.by_planes(),
        "ftl.allocation",
        "planes have blocks of their own, and partitions are of dies",
        "`dies`, or namespaces that share all dies",
    );
    for partition in partitions {
        room(found, nand, ftl, partition);
    }
    found.unless(
        nand.rules != Rules::Mqsim || (ftl.initial == Initial::Empty && ftl.partitions.is_empty()),
        "nand.rules",
        "MQSim's rules lay a page down when it is first read",
        "an empty drive without partitions",
    );
}

fn slc_cache(found: &mut Mistakes, nand: &Nand, ftl: &Ftl) {
    let Some(slc) = ftl.slc else { return };
    let half = u64::from(nand.geometry.blocks) / 2;
    found.within("ftl.slc.blocks", slc.blocks.into(), if slc.borrowed > 0 { 0 } else { 2 }, half);
    found.unless(
        slc.blocks != 1,
        "ftl.slc.blocks",
        "one block cannot be written and folded".to_string(),
        "none, or at least 2",
    );
    found.within("ftl.slc.borrowed", slc.borrowed.into(), 0, nand.geometry.blocks.into());
    found.within("ftl.slc.fold_at", slc.fold_at.into(), 0, 100);
}

/// Whether a partition has blocks enough for its data, its open blocks and its watermarks.
fn room(found: &mut Mistakes, nand: &Nand, ftl: &Ftl, partition: &Partition) {
    let g = &nand.geometry;
    found.within("ftl.partitions.dies", partition.dies.into(), 1, g.all_dies().into());
    let whole = partition.capacity.0 > 0 && partition.capacity.0.is_multiple_of(UNIT);
    // the capacity of a drive with a single partition has been checked already
    found.unless(
        whole || ftl.partitions.is_empty(),
        "ftl.partitions.capacity",
        format!("{} B is no multiple of {UNIT} B", partition.capacity.0),
        nearest(partition.capacity.0),
    );
    let block = u64::from(g.planes) * u64::from(g.pages) * g.page.0;
    let open = ftl.streams + if ftl.hot_cold { 2 } else { 1 };
    let set_aside = ftl.slc.map_or(0, |slc| slc.blocks);
    // in the drawn steady state one block is being collected
    let ahead = u32::from(ftl.initial.is_steady_state());
    let kept = u64::from(open + ftl.watermarks.low + set_aside + ahead);
    let usable = u64::from(g.blocks).saturating_sub(kept) * block * u64::from(partition.dies);
    // the fullest plane has to hold all pages that static allocation assigns to it
    let turn = g.page.0 * u64::from(g.planes) * u64::from(partition.dies);
    let wanted = match ftl.allocation {
        Allocation::Address(_) => partition.capacity.0.next_multiple_of(turn.max(1)),
        _ => partition.capacity.0,
    };
    found.unless(
        wanted <= usable,
        "capacity",
        format!(
            "{} B do not fit on {} dies: {} of {} blocks of each are open, free for GC or cache",
            partition.capacity.0, partition.dies, kept, g.blocks
        ),
        format!("at most {usable} B, or more blocks, or a lower watermark"),
    );
}

fn cross_point(found: &mut Mistakes, medium: &CrossPoint) {
    found.within("cross_point.channels", medium.channels.into(), 1, 256);
    found.within("cross_point.partitions", medium.partitions.into(), 1, 64);
    found.within("cross_point.bytes_per_second", medium.bytes_per_second, 1, 1 << 50);
    let Bytes(line) = medium.line;
    found.unless(
        line > 0 && line <= 1 << 20 && (UNIT.is_multiple_of(line) || line.is_multiple_of(UNIT)),
        "cross_point.line",
        format!("{line} B neither divide {UNIT} B nor are a multiple of it"),
        "64 B, 256 B, 512 B, 4 KiB",
    );
}
