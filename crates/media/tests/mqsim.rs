//! Reads by MQSim's rules against what MQSim says, for the cross-validation configuration and for others.
//!
//! What MQSim does between host and flash is told by its closed form: its link carries one message at a time, and 14 ns
//! pass with doorbell, command and completion.

use lanetwin_media::config::{
    Allocation, Bus, CellType, Energy, Frees, Ftl, Geometry, Initial, MappingTable, Medium, Nand, Overheads,
    Program, Rules, Timing, Victim, Watermarks, WearLevelling, WriteBuffer,
};
use lanetwin_media::{Done, Drive, DriveConfig, Kind, Request};
use lanetwin_units::{Bytes, Instant, Span, Spread};

const CASES: &str = include_str!("../../../validation/data/mqsim/reads.csv");

/// A row of the data.
struct Case {
    name: String,
    config: DriveConfig,
    bytes: u64,
    depth: u32,
    requests: u32,
    mean: f64,
    least: f64,
}

fn cases() -> Vec<Case> {
    CASES.lines().filter(|line| !line.starts_with('#')).skip(1).map(case).collect()
}

fn case(line: &str) -> Case {
    let words: Vec<&str> = line.split(',').collect();
    let number = |at: usize| words[at].parse::<f64>().expect("a number");
    let whole = |at: usize| number(at) as u32;
    let cell = match words[1] {
        "slc" => CellType::Slc,
        "mlc" => CellType::Mlc,
        _ => CellType::Tlc,
    };
    let geometry = Geometry {
        channels: whole(2),
        chips: whole(3),
        dies: whole(4),
        planes: whole(5),
        blocks: whole(6),
        pages: whole(7),
        page: Bytes(number(8) as u64),
        spare: Bytes(0),
    };
    let ns = |at: usize| Span::from_ns(number(at) as u64);
    let [lsb, csb, msb] = [ns(11), ns(12), ns(13)];
    // an MLC part has LSB and MSB pages; MQSim adds 20 ns of R/B# to every read
    let read = if cell == CellType::Mlc { [lsb, msb, msb, msb] } else { [lsb, csb, msb, msb] };
    let nand = Nand {
        geometry,
        timing: Timing {
            cell,
            read: read.map(|read| read + Span::from_ns(20)),
            program: Program::ByPage([Span::from_us(400); 4]),
            erase: Span::from_us(3_800),
            suspend: None,
            cache_read: false,
            cache_program: false,
            same_page: true,
        },
        bus: Bus { width: whole(9), megatransfers: whole(10), overheads: Overheads::NV_DDR2 },
        read_burst: u32::MAX,
        rules: Rules::Mqsim,
    };
    let ftl = Ftl {
        initial: Initial::Empty,
        allocation: Allocation::Dies,
        victim: Victim::Greedy,
        hot_cold: false,
        watermarks: Watermarks { low: 3, urgent: 2 },
        wear: WearLevelling { dynamic: false, lag: None },
        endurance: 10_000,
        streams: 1,
        partitions: Vec::new(),
        mapping: MappingTable::Dram(Span::ZERO),
        slc: None,
        read_ahead: None,
    };
    // half of what MQSim has with an over-provisioning of 7 %: the part that is read
    let capacity = geometry.capacity().0 / 4096 * 93 / 200 * 4096;
    let config = DriveConfig {
        capacity: Bytes(capacity),
        medium: Medium::Nand(Box::new(nand), Box::new(ftl)),
        spread: Spread::NONE,
        buffer: WriteBuffer {
            capacity: Bytes(1 << 26),
            frees: Frees::Programmed,
            power_loss_protected: true,
            volatile_cache: false,
            latency: Span::ZERO,
        },
        encryption: None,
        energy: Energy::TLC,
    };
    Case {
        name: format!("{} QD{}", words[0], words[15]),
        config,
        bytes: 512 * number(14) as u64,
        depth: whole(15),
        requests: whole(16),
        mean: number(17),
        least: number(18),
    }
}

/// MQSim's time for so many bytes on its link \[ps\].
fn link(bytes: u64) -> u64 {
    let on_wire = bytes.div_ceil(128) * 28 + bytes;
    (on_wire.div_ceil(4) as f64 / 3.938) as u64 * 1000
}

/// Mean and least latency \[ns\] of a closed loop.
fn closed_loop(case: &Case, requests: u32) -> (f64, f64) {
    let mut drive = Drive::new(&case.config, 1).expect("no mistakes");
    let places = case.config.capacity.0 / case.bytes;
    let mut random = 798_u64;
    let mut started = vec![0_u64; requests as usize];
    let (mut sum, mut least, mut ended, mut next, mut link_free) = (0, u64::MAX, 0, 0, 0);
    let mut submit = |drive: &mut Drive, now: u64, next: &mut u32, started: &mut [u64]| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = ((u128::from(random) * u128::from(places)) >> 64) as u64;
        started[*next as usize] = now;
        let first = place * case.bytes;
        let read =
            Request { token: *next, kind: Kind::Read, first, bytes: case.bytes, tenant: 0, part_of: None };
        drive.submit(Instant::from_ps(now), read);
        *next += 1;
    };
    while next < case.depth.min(requests) {
        submit(&mut drive, 0, &mut next, &mut started);
    }
    // requests that are on the link: when each has arrived at the host
    let mut arriving: std::collections::VecDeque<(u64, u32)> = Default::default();
    let mut done: Vec<Done> = Vec::new();
    while ended < requests {
        let flash = drive.next_event().map_or(u64::MAX, Instant::as_ps);
        let host = arriving.front().map_or(u64::MAX, |arrival| arrival.0);
        let now = flash.min(host);
        if host <= flash {
            let (_, token) = arriving.pop_front().expect("it was looked at");
            let latency = now - started[token as usize];
            (sum, least, ended) = (sum + latency, least.min(latency), ended + 1);
            if next < requests {
                submit(&mut drive, now, &mut next, &mut started);
            }
            continue;
        }
        drive.advance(Instant::from_ps(now), &mut done);
        for end in done.drain(..) {
            link_free = now.max(link_free) + link(case.bytes);
            arriving.push_back((link_free + 14_000, end.token));
        }
    }
    (sum as f64 / f64::from(requests) / 1000.0, least as f64 / 1000.0)
}

#[test]
fn reads_take_as_long_as_in_mqsim() {
    let mut off = Vec::new();
    for case in cases() {
        let (mean, least) = closed_loop(&case, case.requests);
        let error = 100.0 * (mean / case.mean - 1.0);
        println!(
            "{:10} mean {mean:10.1} ns, MQSim {:10.1} ns ({error:+.2} %), least {least:.0} ns, MQSim {:.0} ns",
            case.name, case.mean, case.least
        );
        if error.abs() > 3.0 || case.depth == 1 && (least - case.least).abs() > 3.0 {
            off.push((case.name, error, least));
        }
    }
    assert!(off.is_empty(), "more than 3 % off, or 3 ns in an empty drive: {off:?}");
}
