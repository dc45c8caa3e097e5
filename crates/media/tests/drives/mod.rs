//! Drives and loads that several tests use.

#![allow(dead_code)]

use lanetwin_media::config::{
    Allocation, Bus, CrossPoint, Energy, Frees, Ftl, Geometry, Initial, MappingTable, Medium, Nand, Program,
    Rules, Timing, UNIT, Victim, Watermarks, WearLevelling, WriteBuffer,
};
use lanetwin_media::{Counters, Done, Drive, DriveConfig, Kind, Outcome, Request, Spare};
use lanetwin_units::{Bytes, Instant, Span, Spread};

/// A TLC drive of this geometry that shows `capacity` to the host.
pub fn tlc(geometry: Geometry, capacity: u64, initial: Initial) -> DriveConfig {
    let nand = Nand { geometry, timing: Timing::TLC, bus: Bus::of(1600), read_burst: 16, rules: Rules::Dies };
    let ftl = Ftl {
        initial,
        allocation: Allocation::Dies,
        victim: Victim::Greedy,
        hot_cold: true,
        watermarks: Watermarks { low: 3, urgent: 2 },
        wear: WearLevelling { dynamic: true, lag: None },
        endurance: 3_000,
        streams: 1,
        partitions: Vec::new(),
        mapping: MappingTable::Dram(Span::from_ns(100)),
        slc: None,
        read_ahead: None,
    };
    DriveConfig {
        capacity: Bytes(capacity / UNIT * UNIT),
        medium: Medium::Nand(Box::new(nand), Box::new(ftl)),
        spread: Spread::NONE,
        buffer: WriteBuffer {
            capacity: Bytes(64 << 20),
            frees: Frees::Loaded,
            power_loss_protected: true,
            volatile_cache: false,
            latency: Span::from_us(2),
        },
        encryption: None,
        energy: Energy::TLC,
    }
}

/// Few blocks, for brute force: 4 dies of 256 blocks of 264 units, programmed page by page so that nothing is padded.
pub fn small(over_provisioning: f64, initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: 2,
        chips: 2,
        dies: 1,
        planes: 2,
        blocks: 256,
        pages: 33,
        page: Bytes(16384),
        spare: Bytes(1024),
    };
    let capacity = geometry.capacity().0 as f64 / (1.0 + over_provisioning);
    let mut config = tlc(geometry, capacity as u64, initial);
    config.buffer.capacity = Bytes(4 << 20);
    if let Medium::Nand(nand, _) = &mut config.medium {
        nand.timing.program = Program::ByPage([Span::from_us(100); 4]);
    }
    config
}

/// An enterprise drive of 15.36 TB: 16 channels of 16 dies of 4 planes, blocks of 768 pages of 16 KiB, 7 % more flash
/// than capacity.
pub fn large(initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: 16,
        chips: 8,
        dies: 2,
        planes: 4,
        blocks: 1276,
        pages: 768,
        page: Bytes(16384),
        spare: Bytes(1952),
    };
    tlc(geometry, 15_360_000_000_000, initial)
}

/// A drive of 960 GB and less: 4 channels of 4 dies of 4 planes, blocks as in the large one.
pub fn sixteen_dies(over_provisioning: f64, initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: 4,
        chips: 4,
        dies: 1,
        planes: 4,
        blocks: 1276,
        pages: 768,
        page: Bytes(16384),
        spare: Bytes(1952),
    };
    tlc(geometry, (geometry.capacity().0 as f64 / (1.0 + over_provisioning)) as u64, initial)
}

/// So many dies as drives for servers have them, one on each channel: 1316 blocks of 768 pages of 16 KiB on 4 planes,
/// tPROG 3.14 ms.
pub fn real_blocks(dies: u32, over_provisioning: f64, initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: dies,
        chips: 1,
        dies: 1,
        planes: 4,
        blocks: 1316,
        pages: 768,
        page: Bytes(16384),
        spare: Bytes(1952),
    };
    let mut config =
        tlc(geometry, (geometry.capacity().0 as f64 / (1.0 + over_provisioning)) as u64, initial);
    config.buffer.capacity = Bytes(4 << 20).max(Bytes(u64::from(dies) << 22));
    ftl(&mut config).watermarks = Watermarks { low: 4, urgent: 2 };
    nand(&mut config).timing.program = Program::OneShot(Span::from_us(3140));
    config
}

/// What the analysis says of the write amplification of a drive whose dies share its units evenly.
pub fn analysed(config: &DriveConfig) -> f64 {
    Spare::of(config).and_then(|spare| spare.write_amplification).expect("flash and greedy collection")
}

/// 8 dies of 48 blocks of 576 units on 4 channels, a fifth more flash than capacity.
pub fn eight_dies(initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: 4,
        chips: 2,
        dies: 1,
        planes: 2,
        blocks: 48,
        pages: 72,
        page: Bytes(16384),
        spare: Bytes(2048),
    };
    let mut config = tlc(geometry, geometry.capacity().0 * 5 / 6, initial);
    config.buffer.capacity = Bytes(4 << 20);
    config
}

/// 3D XPoint, as large as the eight dies.
pub fn cross_point() -> DriveConfig {
    let mut config = eight_dies(Initial::Empty);
    config.medium = Medium::CrossPoint(CrossPoint {
        channels: 7,
        partitions: 16,
        line: Bytes(4096),
        read: Span::from_us(3),
        write: Span::from_us(6),
        bytes_per_second: 1_600_000_000,
        command: Span::from_ns(100),
        endurance: 1_000_000,
    });
    config
}

pub fn nand(config: &mut DriveConfig) -> &mut Nand {
    let Medium::Nand(nand, _) = &mut config.medium else { panic!("flash") };
    nand
}

pub fn ftl(config: &mut DriveConfig) -> &mut Ftl {
    let Medium::Nand(_, ftl) = &mut config.medium else { panic!("flash") };
    ftl
}

/// A generator that tests share: PCG's multiplier, upper bits.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * u128::from(n)) >> 64) as u64
    }
}

/// A closed loop of requests that `next` makes, `depth` at a time; the time at its end.
pub fn closed_loop(
    drive: &mut Drive,
    from: Instant,
    requests: u64,
    depth: u32,
    mut next: impl FnMut() -> Request,
) -> Instant {
    let (mut now, mut started, mut ended) = (from, 0, 0);
    let mut done: Vec<Done> = Vec::new();
    while started < requests.min(depth.into()) {
        drive.submit(now, next());
        started += 1;
    }
    while ended < requests {
        now = drive.next_event().expect("requests are under way");
        drive.advance(now, &mut done);
        for _ in done.drain(..) {
            ended += 1;
            if started < requests {
                drive.submit(now, next());
                started += 1;
            }
        }
    }
    now
}

/// Random reads or writes of 4 KiB over `units` units.
pub fn random(
    drive: &mut Drive,
    from: Instant,
    kind: Kind,
    units: u64,
    requests: u64,
    depth: u32,
    dice: &mut Dice,
) -> Instant {
    closed_loop(drive, from, requests, depth, || Request {
        token: 0,
        kind,
        first: dice.below(units) * UNIT,
        bytes: UNIT,
        tenant: 0,
        part_of: None,
    })
}

/// Random writes of 4 KiB in a closed loop, for so many windows of time: how many end in each.
pub fn writes_by_window(
    drive: &mut Drive,
    from: Instant,
    units: u64,
    depth: u32,
    (window, windows): (Span, usize),
    dice: &mut Dice,
) -> Vec<u64> {
    let mut write = || request(Kind::Write, dice.below(units), 1);
    (0..depth).for_each(|_| drive.submit(from, write()));
    let (mut counts, mut end, mut done) = (vec![0], from + window, Vec::new());
    loop {
        let now = drive.next_event().expect("requests are under way");
        while now >= end {
            if counts.len() == windows {
                return counts;
            }
            counts.push(0);
            end += window;
        }
        drive.advance(now, &mut done);
        for _ in done.drain(..) {
            *counts.last_mut().expect("never empty") += 1;
            drive.submit(now, write());
        }
    }
}

/// The largest distance of a window from the mean of all, as a share of it.
pub fn unevenness(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|count| (*count as f64 / mean - 1.0).abs()).fold(0.0, f64::max)
}

/// Write amplification between two counts.
pub fn amplification(before: &Counters, after: &Counters) -> f64 {
    let moved =
        |c: &Counters| c.gc_units_moved + c.wear_units_moved + c.padding_units + c.host_units_programmed;
    (moved(after) - moved(before)) as f64
        / (after.host_units_programmed - before.host_units_programmed) as f64
}

pub fn request(kind: Kind, unit: u64, units: u64) -> Request {
    Request { token: unit as u32, kind, first: unit * UNIT, bytes: units * UNIT, tenant: 0, part_of: None }
}

/// When a request ends that is given to an idle drive at `now`.
pub fn end_of(drive: &mut Drive, now: Instant, request: Request) -> Instant {
    let mut done = Vec::new();
    drive.submit(now, request);
    let mut at = now;
    while done.is_empty() {
        at = drive.next_event().expect("it is under way");
        drive.advance(at, &mut done);
    }
    assert_eq!(done, [Done { token: request.token, outcome: Outcome::Success }]);
    at
}

/// Lets everything end that is under way.
pub fn rest(drive: &mut Drive) -> Instant {
    let (mut at, mut done) = (Instant::ZERO, Vec::new());
    while let Some(next) = drive.next_event() {
        at = next;
        drive.advance(at, &mut done);
    }
    at
}

/// Bytes a second of a closed loop.
pub fn rate(
    config: &DriveConfig,
    requests: u64,
    depth: u32,
    bytes: u64,
    next: impl FnMut() -> Request,
) -> f64 {
    let mut drive = Drive::new(config, 1).expect("no mistakes");
    let end = closed_loop(&mut drive, Instant::ZERO, requests, depth, next);
    requests as f64 * bytes as f64 / (end.as_ps() as f64 * 1e-12)
}

/// Requests of so many bytes in order.
pub fn in_order(kind: Kind, bytes: u64) -> impl FnMut() -> Request {
    let mut next = 0;
    move || {
        next += bytes;
        Request { token: 0, kind, first: next - bytes, bytes, tenant: 0, part_of: None }
    }
}
