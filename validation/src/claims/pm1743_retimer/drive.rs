//! The loads on the drive that say what it is, and the machine that it is in.

use crate::experiment;
use lanetwin_plan::{Pair, Plan, WarmUp, check};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;
use std::path::Path;

/// A load on the drive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Asked {
    pub jobs: u16,
    /// What the block load is, but for its requests.
    pub block: &'static str,
    /// How many requests are measured.
    pub requests: u64,
    /// What comes before measuring \[requests\].
    pub warm_up: Option<u64>,
    pub set: &'static [&'static str],
    /// How much smaller than the drive what is simulated is.
    pub scale: Scale,
    /// Whether the drive has two links of two lanes each, and not one of four.
    pub dual_port: bool,
}

/// How much smaller than the drive what is simulated is. The over-provisioning stays, and so does the write
/// amplification, which does not know the size of a block if there are many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scale {
    /// The drive as it is.
    Whole,
    /// A sixteenth of the drive, of which reads notice nothing.
    Sixteenth,
    /// An eighth of the drive, with blocks of a thirty-second, and a sixteenth of the buffer: garbage collection comes
    /// round sooner.
    Eighth,
}

pub(super) const RANDOM: Asked = Asked {
    jobs: 16,
    block: "size: 4KiB, depth: 64, span: 3840GB",
    requests: 60_000,
    warm_up: None,
    set: &["links.slot.mps=256B"],
    scale: Scale::Whole,
    dual_port: false,
};
pub(super) const SEQUENTIAL: Asked = Asked {
    jobs: 1,
    block: "size: 128KiB, depth: 64, pattern: sequential, span: 3840GB",
    requests: 6000,
    warm_up: None,
    set: &["links.slot.mps=256B", "machine.ssd.ftl.initial=sequential"],
    scale: Scale::Whole,
    dual_port: false,
};
pub(super) const ONE: Asked =
    Asked { jobs: 1, block: "size: 4KiB, depth: 1, span: 3840GB", requests: 2000, ..RANDOM };
pub(super) const ONE_WRITE: Asked = Asked { block: "size: 4KiB, depth: 1, read: 0%, span: 3840GB", ..ONE };
/// The buffer is full before it is measured.
pub(super) const SEQUENTIAL_WRITE: Asked = Asked {
    block: "size: 128KiB, depth: 64, read: 0%, pattern: sequential, span: 3840GB",
    requests: 10_000,
    warm_up: Some(20_000),
    ..SEQUENTIAL
};
pub(super) const RANDOM_WRITE: Asked = Asked {
    block: "size: 4KiB, depth: 64, read: 0%, span: 480GB",
    requests: 150_000,
    warm_up: Some(100_000),
    scale: Scale::Eighth,
    ..RANDOM
};

/// The numbers of the part that a smaller simulation divides: name, what it is, by how much in an eighth of the drive.
/// Blocks are multiplied: an eighth of the drive in blocks of a thirty-second.
const BLOCKS: (&str, u64) = ("machine.ssd.nand.blocks", 1316);
const PAGES: (&str, u64) = ("machine.ssd.nand.pages", 768);
const BUFFER: (&str, u64) = ("machine.ssd.buffer", 256 << 20);

const WHOLE: &str = "3840GB";
const SIXTEENTH: &str = "240GB";

impl Scale {
    /// The settings that make the simulation smaller, given what is set besides: that scales, too.
    fn sets(self, sets: &[String]) -> Vec<String> {
        let now = |(name, value): (&str, u64)| {
            let of = |set: &String| {
                let text = set.strip_prefix(name)?.strip_prefix('=')?;
                let plain = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let unit = match &text[plain.len()..] {
                    "" | "B" => 1,
                    "KiB" => 1 << 10,
                    "MiB" => 1 << 20,
                    "GiB" => 1 << 30,
                    _ => return None,
                };
                Some(plain.parse::<u64>().ok()? * unit)
            };
            sets.iter().rev().find_map(of).unwrap_or(value)
        };
        let buffer = format!("{}={}B", BUFFER.0, now(BUFFER) / 16);
        match self {
            Self::Whole => Vec::new(),
            Self::Sixteenth => vec![
                format!("machine.ssd.capacity={SIXTEENTH}"),
                // a quarter of the blocks and of their pages: of fewer blocks too few would be spare to collect garbage
                format!("{}={}", BLOCKS.0, now(BLOCKS).div_ceil(4)),
                format!("{}={}", PAGES.0, now(PAGES) / 4),
            ],
            Self::Eighth => vec![
                "machine.ssd.capacity=480GB".into(),
                format!("{}={}", PAGES.0, now(PAGES) / 32),
                format!("{}={}", BLOCKS.0, now(BLOCKS) * 4),
                buffer,
            ],
        }
    }
}

impl Asked {
    /// The same with a share of the requests, before and while it is measured; without waiting for a steady state where
    /// nothing was said of it.
    pub(super) fn shorter(self, by: u64) -> Self {
        let warm_up = self.warm_up.unwrap_or(self.requests / 5) / by;
        Self { requests: self.requests / by, warm_up: Some(warm_up), ..self }
    }

    /// The plan of the load on the drive in a slot of the host; none if the settings make no drive.
    pub(super) fn plan(&self, sets: &[String]) -> Option<Plan> {
        let (links, ports) = if self.dual_port {
            let links = "  slot: {from: cpu.slot0, to: ssd.pcie, width: x2}\n  slot2: {from: cpu.slot1, to: ssd.pcie2, width: x2}\n";
            (links, "dual-port: true, driver.multipath: queue-depth, ftl.read-ahead.streams: 0")
        } else {
            ("  slot: {from: cpu.slot0, to: ssd.pcie}\n", "dual-port: false")
        };
        // requests of one sequence come out of order over two ports, which a drive that reads ahead takes for several
        // sequences; 64 in flight need no reading ahead what is asked is no assumption: one namespace, the ports, and
        // MPS by the link
        let text = format!(
            "about: A PM1743.\nmachine:\n  cpu: {{part: amd-epyc-9554, port.mps: 512B}}\n  ssd: {{part: samsung-pm1743, port.mps: 512B, namespaces: 1, \
             namespaces.isolated: false, ftl.initial: steady-state, {ports}}}\nlinks:\n{links}workloads:\n  load:\n    \
             block: {{{}, requests: {}}}\n    on: cpu\n    target: ssd\nrun: {{repeats: 1}}\n",
            if self.scale == Scale::Sixteenth {
                self.block.replace(WHOLE, SIXTEENTH)
            } else {
                self.block.to_owned()
            },
            self.requests
        );
        let own = self.set.iter().map(|set| (*set).to_owned());
        // what is said of the slot is said of both
        let second = |set: &String| set.strip_prefix("links.slot.").map(|rest| format!("links.slot2.{rest}"));
        let mut all: Vec<String> = own.chain(sets.iter().cloned()).chain(self.scale.sets(sets)).collect();
        if self.dual_port {
            all.extend(all.iter().filter_map(second).collect::<Vec<_>>());
        }
        let checked = check(Path::new("pm1743.yaml"), &text, &all, experiment::catalogue());
        let mut plan = checked.plan?;
        let pairs = &mut plan.variants[0].workloads[0].pairs;
        let job = |number| Pair { device: format!("job{number}"), ..pairs[0].clone() };
        if self.jobs > 1 {
            *pairs = (0..self.jobs).map(job).collect();
        }
        if let Some(requests) = self.warm_up {
            plan.run.warm_up = WarmUp::Transfers(requests);
        }
        Some(plan)
    }

    /// What the load comes to; none if the settings make no drive.
    pub(super) fn results(&self, sets: &[String]) -> Option<Results> {
        Some(experiment::results(&self.plan(sets)?, &Options::default()))
    }
}

/// A metric of all jobs together.
pub(super) fn metric(results: &Results, name: &str) -> Option<f64> {
    results.rows.iter().find(|row| row.device.is_none() && row.metric == name).map(|row| row.value)
}
/// \[GB/s\]
pub(super) fn throughput(results: &Results) -> Option<f64> {
    metric(results, "throughput").map(|mb| mb / 1e3)
}
/// \[k/s\]
pub(super) fn iops(results: &Results) -> Option<f64> {
    metric(results, "IOPS")
}
/// \[µs\]
pub(super) fn latency(results: &Results) -> Option<f64> {
    metric(results, "latency").map(|ns| ns / 1e3)
}
