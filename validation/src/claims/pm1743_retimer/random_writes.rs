//! `pm1743-random-write`: random writes of a PM1743 from its sequential ones, over what its over-provisioning could be.
//!
//! ```text
//!   sequential writes, 6 GB/s ──► tPROG ─┐
//!   over-provisioning, assumed ──► write amplification ─┴──► random writes: 280 000 a second are published
//! ```
//!
//! The over-provisioning of the drive is not published. At the one that is assumed the rate is missed; the table says
//! at which it would be met. That is an inference and not a prediction, and no part takes it over.

use super::drive::{RANDOM_WRITE, iops};
use crate::accuracy;
use crate::claim::{Cell, Claim, Outcome};
use crate::claim::{Effect, FreeParameter, Role};
use crate::watch::Watch;
use lanetwin_stats::results::Results;
use rayon::prelude::*;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "pm1743-random-write",
    about: "A Samsung PM1743: random writes from sequential ones, at over-provisionings of 7 % to 28 %.",
    cpu_seconds: 11,
    bar: "within 10 % at the over-provisioning that is assumed, and with fewer numbers that matter and are assumed or calibrated than rows",
    run,
};

const PUBLISHED: f64 = 280.0;
const BAR_PCT: f64 = 10.0;
/// Blocks of a plane in the part, and what comes of an over-provisioning of each \[%\]: 64 dies of 4 planes, 768 pages
/// of 16 KiB.
const ASSUMED: u64 = 1316;
const BLOCK_BYTES: f64 = 64.0 * 4.0 * 768.0 * 16_384.0;
const CAPACITY: f64 = 3.84e12;
/// The blocks of a plane of the table: 7 % to 28 %, the assumed one among them.
const BLOCKS: [u64; 6] = [1276, ASSUMED, 1365, 1395, 1431, 1526];
/// How far the program time is moved \[%\].
const PROGRAM: [(&str, &str); 2] = [("1560us", "-25 %"), ("2600us", "+25 %")];

/// What blocks of a plane are beyond the capacity \[%\].
fn provisioning(blocks: u64) -> f64 {
    100.0 * (blocks as f64 * BLOCK_BYTES / CAPACITY - 1.0)
}

/// A row of the table.
struct Entry {
    provisioning: f64,
    kiops: f64,
    amplification: f64,
    results: Results,
}

fn entry(blocks: u64, more: &[String]) -> Entry {
    let sets: Vec<String> =
        std::iter::once(format!("machine.ssd.nand.blocks={blocks}")).chain(more.iter().cloned()).collect();
    let results = RANDOM_WRITE.results(&sets).expect("a drive with as many blocks is one");
    let of_drive = results.rows.iter().find(|row| row.metric == "write amplification");
    Entry {
        provisioning: provisioning(blocks),
        kiops: iops(&results).expect("a load has a rate"),
        amplification: of_drive.map_or(1.0, |row| row.value),
        results,
    }
}

/// Where the rate would be the published one, between rows of the table \[%\]; none if it is outside.
fn implied(table: &[Entry]) -> Option<f64> {
    table.windows(2).find_map(|pair| {
        let [below, above] = pair else { return None };
        let within = below.kiops <= PUBLISHED && PUBLISHED <= above.kiops;
        let share = (PUBLISHED - below.kiops) / (above.kiops - below.kiops);
        within.then_some(below.provisioning + share * (above.provisioning - below.provisioning))
    })
}

fn free(name: &str, value: &str, calibrated_to: Option<&str>) -> FreeParameter {
    FreeParameter {
        part: "samsung-pm1743".into(),
        name: name.into(),
        value: value.into(),
        calibrated_to: calibrated_to.map(Into::into),
    }
}

fn effects(table: &[Entry], programs: &[Entry], base: f64) -> Vec<Effect> {
    let change = |entry: &Entry| vec![100.0 * (entry.kiops / base - 1.0)];
    let of = |mechanism: &str, end: String, entry: &Entry| Effect {
        mechanism: mechanism.into(),
        end,
        changes_pct: change(entry),
    };
    let provisionings = table.iter().filter(|entry| (entry.provisioning - provisioning(ASSUMED)).abs() > 0.1);
    let provisionings = provisionings
        .map(|entry| of("samsung-pm1743: nand.blocks", format!("{:.1} %", entry.provisioning), entry));
    let programs = programs
        .iter()
        .zip(PROGRAM)
        .map(|(entry, (_, end))| of("samsung-pm1743: nand.program", end.into(), entry));
    provisionings.chain(programs).collect()
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let steps = 2;
    let table: Vec<Entry> = BLOCKS.par_iter().map(|blocks| entry(*blocks, &[])).collect();
    watch.step(steps)?;
    let program = |(time, _): &(&str, &str)| entry(ASSUMED, &[format!("machine.ssd.nand.program={time}")]);
    let programs: Vec<Entry> = PROGRAM.par_iter().map(program).collect();
    watch.step(steps)?;
    let base = &table[BLOCKS.iter().position(|blocks| *blocks == ASSUMED).expect("it is in the table")];
    let cell = Cell {
        case: "random write of 4 KiB, 16 jobs with 64 each".into(),
        quantity: "IOPS".into(),
        unit: "k/s",
        published: PUBLISHED,
        predicted: base.kiops,
        interval: (base.kiops, base.kiops),
        role: Role::Predicted,
        baseline: None,
        source: super::experiments::SOURCE,
        digest: base.results.digest.expect("a simulation has a digest"),
    };
    let told = |entry: &Entry| {
        let Entry { provisioning, kiops, amplification, .. } = entry;
        format!("{provisioning:.1} %: {kiops:.0} k/s at a write amplification of {amplification:.2}")
    };
    let lines: Vec<String> = table.iter().map(told).collect();
    let implied = implied(&table).map_or_else(
        || "no over-provisioning of the table gives the published rate".to_owned(),
        |percent| format!("the published {PUBLISHED:.0} k/s would need {percent:.0} %"),
    );
    let text = format!(
        "Over-provisioning and random writes: {}. By this table {implied}: an inference, which no number of the part was set to. The flash may as well \
         program faster than the 2.08 ms that sequential writes are calibrated to, if something else holds those at 6 GB/s.",
        lines.join("; "),
    );
    let met = accuracy::error_pct(base.kiops, PUBLISHED).abs() <= BAR_PCT;
    let free_parameters = vec![
        free("nand.blocks", "1316", None),
        free("nand.program", "2.08 ms", Some("sequential write of 128 KiB: 6 GB/s")),
    ];
    let effects = effects(&table, &programs, base.kiops);
    Some(Outcome { cells: vec![cell], free_parameters, met, text, effects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_provisioning_is_that_of_the_part_and_the_table_goes_from_7_to_28() {
        let plan = RANDOM_WRITE.plan(&[]).expect("the drive of the claim is one");
        let drive = plan.variants[0].machine.iter().find(|part| part.name == "ssd").expect("the drive");
        // an eighth of the drive in blocks of a thirty-second
        assert_eq!(drive.params.count("nand.blocks"), ASSUMED * 4);
        let ends = [BLOCKS[0], ASSUMED, BLOCKS[5]].map(|blocks| provisioning(blocks).round());
        assert_eq!(ends, [7.0, 10.0, 28.0]);
        BLOCKS.iter().for_each(|blocks| {
            assert!(RANDOM_WRITE.plan(&[format!("machine.ssd.nand.blocks={blocks}")]).is_some());
        });
    }
}
