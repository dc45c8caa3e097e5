//! The formula of pcie-model (Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM
//! 2018), with which the simulation of pcie-bench is compared.

use super::form::{Form, GEN, MPS, Row, WIDTH, argument, coded, generation, payload, row, width};
use lanetwin_pcie::spec::Mps;
use lanetwin_pcie::spec::constants::{DLLP_BYTES, SKP_8B10B_LENGTH_SYMBOLS, SKP_8B10B_MAX_SYMBOLS};
use lanetwin_pcie::spec::timing::ack_latency_limit_symbols;
use lanetwin_ports::Dimension;
use lanetwin_units::{Generation, Width};

/// Bytes around a request with a 64-bit address \[B\].
const REQUEST: f64 = 24.0;
/// Bytes around a completion \[B\].
const COMPLETION: f64 = 20.0;

/// The direction in which a device moves data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// It reads the host's memory.
    Read,
    /// It writes the host's memory.
    Write,
    /// Both at once; the rate is that of each.
    Mixed,
}

/// The payload rate of transfers of `size` bytes \[Gb/s\], by pcie-model.
///
/// ACK and UpdateFC take one DLLP each per ACK latency limit. SKP takes 4 symbols in 1538, for every generation, as in
/// the original model. Transfers are split at MPS, read requests at `mrrs`.
#[must_use]
pub fn payload_rate(
    direction: Direction,
    generation: Generation,
    width: Width,
    mps: Mps,
    mrrs: u64,
    size: u64,
) -> f64 {
    let tlp = tlp_rate(generation, width, mps);
    let pieces = size.div_ceil(u64::from(mps.bytes())) as f64;
    let requests = size.div_ceil(mrrs) as f64;
    let size = size as f64;
    let to_device = size + COMPLETION * pieces;
    let to_host = match direction {
        Direction::Read => REQUEST * requests,
        Direction::Write => return tlp * size / (size + REQUEST * pieces),
        Direction::Mixed => size + REQUEST * pieces + REQUEST * requests,
    };
    tlp * size / to_device.max(to_host)
}

/// The rate that DLLPs and SKP leave to TLPs in one direction \[Gb/s\].
fn tlp_rate(generation: Generation, width: Width, mps: Mps) -> f64 {
    let limit = ack_latency_limit_symbols(generation, width, mps) as f64;
    let dllps = 2.0 * DLLP_BYTES as f64 / limit;
    let skp = SKP_8B10B_LENGTH_SYMBOLS as f64 / SKP_8B10B_MAX_SYMBOLS as f64;
    coded(generation, width) * 8e-9 * (1.0 - dllps - skp)
}

pub(super) static PCIE_MODEL: Form = Form {
    name: "pcie-model",
    about: "What pcie-model says of DMA reads, writes and both at once.",
    formula: "write = R·s/(s + 24⌈s/MPS⌉); read = R·s/max(s + 20⌈s/MPS⌉, 24⌈s/MRRS⌉); R = coded · (1 − 16/ACK limit − 4/1538)",
    arguments: &[
        GEN,
        WIDTH,
        MPS,
        argument(
            "mrrs",
            Dimension::Choice(super::form::PAYLOADS),
            Some("512B"),
            "the Maximum Read Request Size",
        ),
        argument("size", Dimension::Size, None, "the bytes of a transfer, at least 1B"),
    ],
    evaluate: |values| {
        let (generation, width, mps) = (generation(values), width(values), payload(values, "mps"));
        let mrrs = u64::from(payload(values, "mrrs").bytes());
        let size = values.size("size").0.max(1);
        let rate = |direction| payload_rate(direction, generation, width, mps, mrrs, size);
        let rows = |name, direction, how: &str| -> [Row; 2] {
            let rate = rate(direction);
            [
                row(name, rate, "Gb/s", how.into()),
                row(name, rate * 1e3 / (8.0 * size as f64), "M/s", "the same in transfers".into()),
            ]
        };
        let link = row("TLPs", tlp_rate(generation, width, mps), "Gb/s", "what DLLPs and SKP leave".into());
        let all = [
            rows("write", Direction::Write, "bounded by the way to the host"),
            rows("read", Direction::Read, "bounded by completions or by requests"),
            rows("read + write", Direction::Mixed, "each of the two at once"),
        ];
        [link].into_iter().chain(all.into_iter().flatten()).collect()
    },
};
