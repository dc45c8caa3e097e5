//! How fast lanetwin is. Rates are work per CPU-second of the measured loop, one thread; medians of interleaved rounds, with the
//! least and the most. Compare ratios, not machines.

mod clock;
mod fifo;
mod links;
#[cfg(feature = "peers")]
mod nexosim_chain;

use clock::{median, peak_rss_mb};
use lanetwin_units::Width;
use links::Scene;

const ROUNDS: usize = 5;

fn main() {
    if let Some(which) = std::env::args().nth(1) {
        let n: usize = which.parse().unwrap_or(0);
        let s = [
            Scene { devices: 1, depth: 1, uplink: Width::X16, writes: std::env::args().nth(2).map_or(1_000_000, |n| n.parse().unwrap_or(1)) },
            Scene { devices: 1, depth: 8, uplink: Width::X16, writes: std::env::args().nth(2).map_or(1_000_000, |n| n.parse().unwrap_or(1)) },
            Scene { devices: 4, depth: 16, uplink: Width::X16, writes: std::env::args().nth(2).map_or(400_000, |n| n.parse().unwrap_or(1)) },
            Scene { devices: 4, depth: 16, uplink: Width::X8, writes: std::env::args().nth(2).map_or(400_000, |n| n.parse().unwrap_or(1)) },
        ];
        println!("{:?}", links::run(&s[n], false));
        return;
    }
    let scenes = [
        ("one 4 KiB write flow, QD 1", Scene { devices: 1, depth: 1, uplink: Width::X16, writes: 100_000 }),
        ("one 4 KiB write flow, QD 8", Scene { devices: 1, depth: 8, uplink: Width::X16, writes: 100_000 }),
        ("4 x4 into x16, QD 16", Scene { devices: 4, depth: 16, uplink: Width::X16, writes: 100_000 }),
        ("4 x4 into x8 (oversubscribed), QD 16", Scene { devices: 4, depth: 16, uplink: Width::X8, writes: 100_000 }),
        ("4 x4 into x4 (oversubscribed), QD 16", Scene { devices: 4, depth: 16, uplink: Width::X4, writes: 100_000 }),
    ];
    let mut chain = Vec::new();
    let mut peer = Vec::new();
    let mut rates: Vec<[Vec<f64>; 2]> = scenes.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut latency = 0.0;
    for _ in 0..ROUNDS {
        let run = fifo::chain(500_000);
        chain.push(run.hops_per_cpu_s);
        latency = run.mean_latency_ns;
        #[cfg(feature = "peers")]
        peer.push(nexosim_chain::chain(100_000));
        for (rates, (_, scene)) in rates.iter_mut().zip(&scenes) {
            let (train, digest) = links::run(scene, false);
            let (tlp, digest_tlp) = links::run(scene, true);
            assert_eq!(digest, digest_tlp, "both granularities are the same schedule");
            rates[0].push(train);
            rates[1].push(tlp);
        }
    }
    println!("work per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    show("FIFO chain, 3 servers, dyn Component", "M hops", chain.clone());
    println!("{:44} mean latency {latency:.0} ns (M/D/1 tandem)", "");
    if !peer.is_empty() {
        let ratio = median(chain).0 / median(peer.clone()).0;
        show("  nexosim, same chain", "M hops", peer);
        println!("{:44} lanetwin / nexosim = {ratio:.1}", "");
    }
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
