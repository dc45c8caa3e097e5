//! How fast lanetwin is. Rates are work per CPU-second of the measured loop, one thread; medians of interleaved rounds,
//! with the least and the most. Compare ratios, not machines.

mod calibration;
mod clock;
mod fifo;
mod links;
#[cfg(feature = "peers")]
mod nexosim_chain;

use calibration::Calibration;
use clock::{median, peak_rss_mb};
use lanetwin_units::Width;
use links::Scene;
use std::ffi::{OsStr, OsString};
use std::process::Command;

const ROUNDS: usize = 5;
const NEXOSIM_PACKETS: u64 = 100_000;
const SIMPY_PACKETS: u64 = 50_000;

/// The scenes, each with so many writes.
fn scenes(writes: u64) -> [(&'static str, Scene); 8] {
    let scene = |devices, depth, uplink| Scene { devices, depth, uplink, writes, core: None };
    let loaded = |core| Scene { core: Some(core), ..scene(4, 16, Width::X8) };
    [
        ("one 4 KiB write flow, QD 1", scene(1, 1, Width::X16)),
        ("one 4 KiB write flow, QD 8", scene(1, 8, Width::X16)),
        ("4 x4 into x16, QD 16", scene(4, 16, Width::X16)),
        ("4 x4 into x8 (oversubscribed), QD 16", scene(4, 16, Width::X8)),
        ("4 x4 into x4 (oversubscribed), QD 16", scene(4, 16, Width::X4)),
        ("4 x4 into x8, crossbar, output buffers", loaded(links::CROSSBAR)),
        ("4 x4 into x8, shared bus, output buffers", loaded(links::SHARED_BUS)),
        ("4 x4 into x8, shared memory", loaded(links::SHARED_MEMORY)),
    ]
}

/// `lanetwin-benches SCENE WRITES` runs one scene once, for a profiler.
fn one_scene() -> Option<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (scene, writes) = (arguments.next()?.ok()?, arguments.next()?.ok()?);
    let (name, scene) = scenes(writes).into_iter().nth(scene as usize)?;
    println!("{name}: {:.1} M TLP-hops per CPU-second", links::run(&scene, false).0);
    Some(())
}

fn main() {
    if one_scene().is_some() {
        return;
    }
    let scenes = scenes(100_000);
    let simpy = SimPy::find();
    let mut calibration = Calibration::default();
    let mut chain = Vec::new();
    let mut nexosim_rates = Vec::new();
    let mut simpy_rates = Vec::new();
    let mut rates: Vec<[Vec<f64>; 2]> = scenes.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut latency = 0.0;
    for _ in 0..ROUNDS {
        calibration.measure();
        let run = fifo::chain(500_000);
        chain.push(run.hops_per_cpu_s);
        latency = run.mean_latency_ns;
        nexosim_rates.extend(nexosim(NEXOSIM_PACKETS));
        simpy_rates.extend(simpy.iter().map(|simpy| simpy.chain(SIMPY_PACKETS)));
        for (rates, (_, scene)) in rates.iter_mut().zip(&scenes) {
            let (train, digest) = links::run(scene, false);
            let (tlp, digest_tlp) = links::run(scene, true);
            assert_eq!(digest, digest_tlp, "both granularities are the same schedule");
            rates[0].push(train);
            rates[1].push(tlp);
        }
    }
    println!("work per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    show("calibration loop", "ns per iteration", calibration.ns);
    show("FIFO chain, 3 servers, dyn Component", "M hops", chain.clone());
    println!("{:44} mean latency {latency:.0} ns (M/D/1 tandem)", "");
    show_peer("nexosim 1.0", "built without the feature `peers`", &chain, nexosim_rates);
    let (name, missing) = match simpy {
        Ok(simpy) => (format!("SimPy {}", simpy.version), String::new()),
        Err(reason) => ("SimPy".to_owned(), reason),
    };
    show_peer(&name, &missing, &chain, simpy_rates);
    println!();
    for (rates, (name, _)) in rates.into_iter().zip(&scenes) {
        let [train, tlp] = rates;
        show(name, "M TLP-hops", train);
        show("  granularity: tlp", "M TLP-hops", tlp);
    }
    println!("\npeak memory {:.0} MB", peak_rss_mb());
}

fn show(name: &str, unit: &str, rates: Vec<f64>) {
    let (median, least, most) = median(rates);
    println!("{name:44} {median:8.2} [{least:.2} .. {most:.2}] {unit}");
}

/// A peer's rates on the same chain, and the ratio of ours to its in the same round; or why it did not run.
fn show_peer(name: &str, missing: &str, ours: &[f64], theirs: Vec<f64>) {
    if theirs.is_empty() {
        println!("  {name}: skipped, {missing}");
        return;
    }
    let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    show(&format!("  {name}, same chain"), "M hops", theirs);
    show("    lanetwin is faster by", "times", ratios);
}

#[cfg(feature = "peers")]
fn nexosim(packets: u64) -> Option<f64> {
    Some(nexosim_chain::chain(packets))
}

#[cfg(not(feature = "peers"))]
fn nexosim(_: u64) -> Option<f64> {
    None
}

/// SimPy, in a Python interpreter that has it.
struct SimPy {
    python: OsString,
    version: String,
}

impl SimPy {
    /// The interpreter that `LANETWIN_BENCH_PYTHON` names, or why it cannot be used.
    fn find() -> Result<Self, String> {
        const VARIABLE: &str = "LANETWIN_BENCH_PYTHON";
        let python = std::env::var_os(VARIABLE).ok_or_else(|| format!("{VARIABLE} names no interpreter"))?;
        let version = Self::output(&python, &["-c", "import simpy; print(simpy.__version__)"])?;
        Ok(Self { python, version: version.trim().to_owned() })
    }

    /// Millions of packet-hops (three for each packet) per CPU-second.
    fn chain(&self, packets: u64) -> f64 {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/simpy_chain.py");
        let json = Self::output(&self.python, &[script, &packets.to_string()]).expect("SimPy runs the chain");
        let rest = json.split_once("\"hops_per_cpu_s\":").expect("simpy_chain.py prints its rate").1;
        let hops = rest.split([',', '}']).next().and_then(|hops| hops.trim().parse::<f64>().ok());
        hops.expect("a rate is a number") / 1e6
    }

    /// What the interpreter prints with these arguments; the last line of its complaint if it fails.
    fn output(python: &OsStr, arguments: &[&str]) -> Result<String, String> {
        let name = python.to_string_lossy();
        let run = Command::new(python).args(arguments).output();
        let run = run.map_err(|error| format!("{name}: {error}"))?;
        if run.status.success() {
            return Ok(String::from_utf8_lossy(&run.stdout).into_owned());
        }
        let complaint = String::from_utf8_lossy(&run.stderr);
        Err(format!("{name}: {}", complaint.trim().lines().last().unwrap_or("failed without a word")))
    }
}
