//! `latency-vs-size`: the latency of a pointer chase against the size of its array, in local DDR5 and in a CXL device.
//!
//! The plateaus are calibrated: a size for each level of cache, one for what a page walk and what the first-level TLB cost, and 1 GB for each memory.
//! What is predicted lies between: where each level ends, and how the curve gets from one plateau to the next.
//!
//! **The mechanism of the knee.** A cycle through more lines than a cache of C lines has never hits under LRU. Under random replacement a line is still
//! there after the (1 - h) N misses of a cycle of N lines with probability h = exp(-(1 - h) N / C): that is the closed form of this claim. The published
//! curve falls off slowly, as that does. TLBs are LRU, and their steps are sharp: at 0.75 MB and at 12 MB, where pages are more than 96 and more than 2048, the
//! curve has its next plateau at once. Both are seen only if pages come round in one order, one line of each at a time, as LMBench's `-t` has it; a chase through lines
//! in a random order would spread the steps over a decade. It rises further once the last level is missed altogether: the entries of the page table, 1/512 of the array,
//! leave the second level, too. The run with LRU stands beside the prediction in the text.
//!
//! The device hangs on the host's port without a link: one load at a time sees nothing of a link but a constant, which the plateau contains.

use super::{Cell, Claim, Outcome};
use crate::accuracy;
use crate::report::{FreeParameter, Role};
use crate::watch::Watch;
use lanetwin_cxl::hdm::Decoder;
use lanetwin_kernel::Port;
use lanetwin_load::memory::{Chase, ChaseOrder, ChaseSpec, Placement, Policy};
use lanetwin_models::memory_host::MemoryHost;
use lanetwin_ports::{Builder, Params, Site, Value};
use lanetwin_scenario::{Catalogue, NumberKind, Part, quantity};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Bytes, Instant};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "latency-vs-size",
    about: "Load latency against array size, 512 B to 1 GB, in local DDR5 and in a CXL device: where caches and TLBs end.",
    bar: "mean absolute error of the sizes that calibrate nothing below 8 %",
    run,
};

const SOURCE: &str =
    "LMBench on a Sapphire Rapids with a CXL ASIC device, from the scripts of CXL-DMSim (arXiv:2411.02282)";
const PUBLISHED: &str = include_str!("../../data/latency-vs-size/lmbench.csv");
const HOST: &str = "lmbench-spr-host";
const DEVICE: &str = "lmbench-cxl-asic";
const BAR_PCT: f64 = 8.0;
const SEED: u64 = 1;
/// What is measured, once caches hold what they will always hold.
const LOADS: u64 = 30_000;
/// Under random replacement a cache of C lines forgets at a rate of 1/C a miss.
const WARM: u64 = 2;
/// The last level without the closed form's hits: what a size below it takes, 16 MB.
const IN_LLC: f64 = 16.0;
const LARGEST: f64 = 1024.0;

/// The sizes \[MB\] that plateaus are calibrated to: of DDR, and of the device.
const CALIBRATES: [&[f64]; 2] = [&[0.00049, 0.09375, 1.0, 3.0, 16.0, LARGEST], &[LARGEST]];
const MEMORIES: [&str; 2] = ["local DDR", "CXL ASIC"];

/// A row: array \[MB\], latency \[ns\] in each memory.
type Row = (f64, [f64; 2]);

fn published(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize::<(f64, f64, f64)>()
        .map(|row| row.expect("the file is ours"))
        .map(|(mb, ddr, cxl)| (mb, [ddr, cxl]))
        .collect()
}

/// The parameters of a part: what it says, and defaults.
fn params(part: &Part, replaced: &[(&'static str, Value)]) -> Params {
    let default = |param: &lanetwin_ports::Param| {
        let text = param.default.expect("parameters of memory have defaults");
        quantity::read(param.dimension, text).expect("a default is a value").0
    };
    let said = |name| part.parameters.get(name).map(|number| number.value);
    let mut params: Vec<_> =
        part.model.all_params().map(|p| (p.name, said(p.name).unwrap_or_else(|| default(p)))).collect();
    for (name, value) in &mut params {
        if let Some((_, other)) = replaced.iter().find(|(replaced, _)| replaced == name) {
            *value = *other;
        }
    }
    Params(params.into_iter().collect())
}

/// The mean latency \[ns\] of a chase through so many MB of a node, and the digest of its run.
fn chase(parts: [&Part; 2], mb: f64, node: u16, replaced: &[(&'static str, Value)]) -> (f64, u64) {
    let [host, device] = parts;
    let host_params = params(host, replaced);
    let device_params = params(device, &[]);
    let window = Decoder::new(1 << 40, device_params.size("capacity").0, 256, vec![0])
        .expect("a window of one target");
    let site = |path: &str, decoders| Site {
        path: path.to_owned(),
        seed: SEED,
        pcie: Vec::new(),
        target: None,
        routes: Vec::new(),
        memory: None,
        decoders,
    };
    let mut builder = Builder::new();
    let mut add = |path, part: &Part, params: &Params, decoders| {
        builder.add(path, part.model.component(params, &site(path, decoders)).expect("a component"))
    };
    let id = add("host", host, &host_params, vec![window]);
    let device = add("device", device, &device_params, Vec::new());
    builder.join((id, Port(0)), (device, Port(0)));
    let mut kernel = builder.seal();
    let bytes = (mb * 1048576.0).round() as u64 / 64 * 64;
    let spec = ChaseSpec { bytes, stride: 64, order: ChaseOrder::AcrossPages, count: Some(LOADS) };
    let program = Chase::new(spec, SEED, "lmbench").expect("an array of lines");
    let Bytes(llc) = host_params.size("llc.size");
    let warm = WARM * (bytes / 64).min(llc / 64);
    let placement = Placement::new("lmbench", Policy::Bind(vec![node])).warmed_by(warm);
    let host = kernel.component::<MemoryHost>(id).expect("the host is one");
    host.run(Box::new(program), placement).expect("there is room");
    kernel.run_until(Instant::NEVER);
    let (now, digest) = (kernel.now(), kernel.digest());
    let results = kernel.component::<MemoryHost>(id).expect("the host is one").results(now);
    (results[0].loads.mean_ps().expect("loads were counted") / 1000.0, digest)
}

/// The share of hits of a cycle `times` as large as a cache with random replacement.
fn hits(times: f64) -> f64 {
    if times <= 1.0 {
        return 1.0;
    }
    (0..500).fold(0.0, |h: f64, _| (-(1.0 - h) * times).exp())
}

/// The closed form: a level's calibrated latency up to its size, and behind the last level a mixture of hits and memory.
fn closed_form(rows: &[Row], memory: usize, mb: f64) -> f64 {
    let at = |size: f64, memory: usize| {
        rows.iter().find(|row| row.0 == size).expect("a size of the table").1[memory]
    };
    match mb {
        mb if mb <= 48.0 / 1024.0 => at(0.00049, 0),
        mb if mb <= 2.0 => at(0.09375, 0),
        mb => {
            let h = hits(mb / 105.0);
            h * at(IN_LLC, 0) + (1.0 - h) * at(LARGEST, memory)
        }
    }
}

fn case(memory: usize, mb: f64) -> String {
    format!("{}, {mb} MB", MEMORIES[memory])
}

fn free_parameters(part: &Part) -> impl Iterator<Item = FreeParameter> + '_ {
    let free = |kind| matches!(kind, NumberKind::Assumed | NumberKind::Calibrated);
    // what cannot move a single load of one thread is not free here
    const IDLE: &[&str] = &["cores", "capacity", "dram", "dram.size"];
    let numbers =
        part.parameters.iter().filter(move |(name, number)| free(number.kind) && !IDLE.contains(name));
    numbers.map(|(name, number)| FreeParameter {
        part: part.name.clone(),
        name: (*name).to_owned(),
        value: quantity::written(number.value),
        calibrated_to: number.to.clone(),
    })
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let rows = published(PUBLISHED);
    let catalogue = Catalogue::built_in();
    let parts = [HOST, DEVICE].map(|name| catalogue.find(name).expect("the part comes with the program"));
    let total = 2 * rows.len();
    let mut cells = Vec::new();
    for memory in 0..MEMORIES.len() {
        for &(mb, latencies) in &rows {
            let (predicted, digest) = chase(parts, mb, memory as u16, &[]);
            let calibrates = CALIBRATES[memory].contains(&mb);
            cells.push(Cell {
                case: case(memory, mb),
                quantity: "load latency".into(),
                unit: "ns",
                published: latencies[memory],
                predicted,
                interval: (predicted, predicted),
                role: if calibrates { Role::Calibrated } else { Role::Predicted },
                baseline: Some(closed_form(&rows, memory, mb)),
                source: SOURCE,
                digest: Digest(digest),
            });
            watch.step(total)?;
        }
    }
    let predicted = || cells.iter().filter(|cell| cell.role == Role::Predicted);
    let error = |of: fn(&Cell) -> f64| {
        accuracy::mape(predicted().map(|cell| accuracy::error_pct(of(cell), cell.published)))
    };
    let off = error(|cell| cell.predicted).unwrap_or(f64::INFINITY);
    let closed = error(|cell| cell.baseline.unwrap_or(f64::NAN)).unwrap_or(f64::NAN);
    let lru = [("llc.replacement", Value::Choice("lru"))];
    let knee = [128.0, 256.0];
    let under_lru = knee.map(|mb| format!("{:.1}", chase(parts, mb, 0, &lru).0)).join(" and ");
    let told = |of: fn(&Cell) -> f64| {
        let at = |mb| cells.iter().find(|cell| cell.case == case(0, mb)).map_or(f64::NAN, of);
        knee.map(|mb| format!("{:.1}", at(mb))).join(" and ")
    };
    let (measured, random) = (told(|cell| cell.published), told(|cell| cell.predicted));
    let text = format!(
        "Mean absolute error {off:.1} % (closed form {closed:.1} %). Local DDR at 128 and 256 MB: measured {measured} ns, random replacement {random} ns, \
         LRU in the last level, all else equal, {under_lru} ns."
    );
    let free_parameters = parts.into_iter().flat_map(free_parameters).collect();
    Some(Outcome { cells, free_parameters, met: off < BAR_PCT, text, effects: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_a_fixed_point() {
        for times in [1.1, 1.5, 2.0, 4.0] {
            let h = hits(times);
            assert!((h - (-(1.0 - h) * times).exp()).abs() < 1e-3 && h < 1.0, "{times}: {h}");
        }
        assert_eq!(hits(0.9), 1.0);
    }

    #[test]
    fn every_size_that_calibrates_is_in_the_table() {
        let rows = published(PUBLISHED);
        assert_eq!(rows.len(), 33);
        for mb in CALIBRATES.concat() {
            assert!(rows.iter().any(|row| row.0 == mb), "{mb}");
        }
    }

    /// Levels that are calibrated come out as calibrated: small arrays only, which are quick.
    #[test]
    fn plateaus_of_the_caches_are_what_they_were_calibrated_to() {
        let catalogue = Catalogue::built_in();
        let parts = [HOST, DEVICE].map(|name| catalogue.find(name).unwrap());
        for (mb, ns) in [(0.00049, 1.728), (0.09375, 5.529), (1.0, 7.95)] {
            let (got, _) = chase(parts, mb, 0, &[]);
            assert!((got / ns - 1.0).abs() < 0.02, "{mb} MB: {got}");
        }
    }
}
