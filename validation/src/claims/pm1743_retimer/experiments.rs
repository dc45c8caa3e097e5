//! What is asked of the drive, and what is published of it.

use super::drive::{Asked, ONE, ONE_WRITE, RANDOM, SEQUENTIAL, SEQUENTIAL_WRITE, iops, latency, throughput};
use crate::claim::Role;
use lanetwin_stats::results::Results;

pub(super) const SOURCE: &str = "Samsung and Montage, white paper on the PM1743 and the M88RT51632, table 1";

const LITTLE: &str = "Little's law: what is outstanding by the rate that is published";

pub(super) const BAR_PCT: f64 = 3.0;

/// What is asked of the drive, and what is published of it.
pub(super) struct Experiment {
    pub(super) case: &'static str,
    pub(super) quantity: &'static str,
    pub(super) unit: &'static str,
    pub(super) published: f64,
    pub(super) role: Role,
    pub(super) baseline: Option<f64>,
    pub(super) source: &'static str,
    /// What of the results it is.
    pub(super) of: fn(&Results) -> Option<f64>,
    pub(super) asked: Asked,
}

/// What a Gen5 x4 link leaves for 128 KiB reads at MPS 256 B: 24 B of framing and header for each TLP \[GB/s\].
pub(super) const LINK_CAP: f64 = 32.0 * 4.0 / 8.0 * 128.0 / 130.0 * 256.0 / 280.0;

const THROUGHPUT: (&str, &str) = ("throughput", "GB/s");

const IOPS: (&str, &str) = ("IOPS", "k/s");

const LATENCY: (&str, &str) = ("latency", "us");

const RANDOM_READ: &str = "random read of 4 KiB, 16 jobs with 64 each";

/// What the white paper says.
fn published(
    case: &'static str,
    (quantity, unit): (&'static str, &'static str),
    published: f64,
    of: fn(&Results) -> Option<f64>,
    asked: Asked,
) -> Experiment {
    let role = Role::Predicted;
    Experiment { case, quantity, unit, published, role, baseline: None, source: SOURCE, of, asked }
}

/// What the drive was calibrated to.
fn calibrations() -> [Experiment; 4] {
    let calibrated = |experiment| Experiment { role: Role::Calibrated, ..experiment };
    [
        published(RANDOM_READ, IOPS, 2500.0, iops, RANDOM),
        published("random read of 4 KiB, one at a time", LATENCY, 60.0, latency, ONE),
        published("random write of 4 KiB, one at a time", LATENCY, 20.0, latency, ONE_WRITE),
        published("sequential write of 128 KiB, 64 in flight", THROUGHPUT, 6.0, throughput, SEQUENTIAL_WRITE),
    ]
    .map(calibrated)
}

/// Sequential reads on one link, which it limits.
fn sequential_reads() -> [Experiment; 3] {
    let read = |case, rate, baseline, asked| Experiment {
        baseline: Some(baseline),
        ..published(case, THROUGHPUT, rate, throughput, asked)
    };
    let gen4: &[&str] = &["links.slot.mps=256B", "links.slot.gen=4", "machine.ssd.ftl.initial=sequential"];
    let mps512: &[&str] = &["links.slot.mps=512B", "machine.ssd.ftl.initial=sequential"];
    let of_512 = LINK_CAP * 512.0 / 536.0 * 280.0 / 256.0;
    let at = |set| Asked { set, ..SEQUENTIAL };
    [
        read("sequential read of 128 KiB, MPS 256 B", 14.0, LINK_CAP, SEQUENTIAL),
        read("sequential read of 128 KiB, MPS 512 B", 14.0, of_512, at(mps512)),
        read("sequential read of 128 KiB, MPS 256 B, Gen4: half", 7.0, LINK_CAP / 2.0, at(gen4)),
    ]
}

/// Latencies that follow from rates by Little's law.
fn latencies() -> [Experiment; 2] {
    let read = published("sequential read of 128 KiB, 64 in flight", LATENCY, 599.2, latency, SEQUENTIAL);
    let random = published(RANDOM_READ, LATENCY, 409.6, latency, RANDOM);
    let baseline = Some(64.0 * 131_072.0 / LINK_CAP / 1e3);
    [Experiment { source: LITTLE, baseline, ..read }, Experiment { source: LITTLE, ..random }]
}

/// The same over both ports, of two lanes each, and over one of them.
fn two_ports() -> [Experiment; 3] {
    let one_port: &[&str] =
        &["links.slot.mps=256B", "links.slot.width=x2", "machine.ssd.ftl.initial=sequential"];
    let both = |asked| Asked { dual_port: true, ..asked };
    let read = |case, rate, baseline, asked| Experiment {
        baseline: Some(baseline),
        ..published(case, THROUGHPUT, rate, throughput, asked)
    };
    let random = "random read of 4 KiB, 16 jobs with 64 each, both ports x2";
    let one = Asked { set: one_port, ..SEQUENTIAL };
    [
        published(random, IOPS, 2500.0, iops, both(RANDOM)),
        read("sequential read of 128 KiB, MPS 256 B, both ports x2", 14.0, LINK_CAP, both(SEQUENTIAL)),
        read("sequential read of 128 KiB, MPS 256 B, one of the ports x2: half", 7.0, LINK_CAP / 2.0, one),
    ]
}

pub(super) fn experiments() -> Vec<Experiment> {
    let all = calibrations().into_iter().chain(sequential_reads());
    all.chain(latencies()).chain(two_ports()).collect()
}
