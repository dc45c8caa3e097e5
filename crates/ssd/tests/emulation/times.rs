//! The same commands at the same times: whichever way they come, firmware and medium have them when a medium has them
//! that is asked directly, behind a naive firmware.

use crate::machine::{controller, cross_point, drive, flash};
use crate::rig::{Rig, Seen, WAYS};
use lanetwin_media::{Drive, Kind, Request};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::{IoOpcode, Nsid};
use lanetwin_ssd::{SparseMemory, Ssd, SsdConfig};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;

const BLOCK: u64 = 512;
const SEED: u64 = 5;

/// A command, and how long after the one before.
#[derive(Clone, Copy, Debug)]
struct Timed {
    opcode: IoOpcode,
    nsid: u32,
    slba: u64,
    blocks: u32,
    after_ns: u64,
}

fn any_timed() -> impl Strategy<Value = Timed> {
    let opcodes = [IoOpcode::READ, IoOpcode::WRITE, IoOpcode::WRITE_ZEROES, IoOpcode::COMPARE];
    let after = prop_oneof![Just(0_u64), 1_u64..3_000, 1_u64..200_000];
    (0_usize..4, 1_u32..=2, 0_u64..1000, 1_u32..=32, after).prop_map(
        move |(opcode, nsid, slba, blocks, after_ns)| Timed {
            opcode: opcodes[opcode],
            nsid,
            slba,
            blocks,
            after_ns,
        },
    )
}

/// What a drive behind a front sees; `begin` is when the first command may come.
fn through_a_front(config: &SsdConfig, all: &[Timed], way: usize, bytes: bool) -> (Instant, Vec<Seen>) {
    let ssd = Ssd::new(config, SEED).unwrap();
    let ssd = if bytes { ssd.with_bytes(Box::new(SparseMemory::new())) } else { ssd };
    let mut rig = Rig::new(ssd, WAYS[way]);
    let begin = rig.now;
    for (name, timed) in (0_u64..).zip(all) {
        let until = rig.now + Span::from_ns(timed.after_ns);
        rig.run_until(until);
        let command = commands::blocks(timed.opcode, Nsid(timed.nsid), timed.slba, timed.blocks);
        let data = vec![0; timed.blocks as usize * BLOCK as usize];
        match timed.opcode {
            IoOpcode::READ => rig.submit(1, name, command, &[], data.len()),
            IoOpcode::WRITE_ZEROES => rig.submit(1, name, command, &[], 0),
            _ => rig.submit(1, name, command, &data, 0),
        }
    }
    while rig.step(Instant::NEVER) {}
    let mut seen = rig.seen;
    seen.sort_unstable();
    (begin, seen)
}

/// The same of a medium by itself: engines are a list of times, requests are given in the order of their hand-over, at
/// that time.
fn directly(config: &SsdConfig, all: &[Timed], begin: Instant) -> Vec<Seen> {
    let firmware = &config.firmware;
    let mut engines = vec![Instant::ZERO; firmware.engines as usize];
    let (mut now, mut asked) = (begin, Vec::new());
    for (name, timed) in (0_u64..).zip(all) {
        now += Span::from_ns(timed.after_ns);
        let (kind, order, service, unit, latency) = match timed.opcode {
            IoOpcode::WRITE => (Kind::Write, 1, firmware.write, firmware.write_unit, firmware.write_latency),
            IoOpcode::WRITE_ZEROES => (Kind::WriteZeroes, 2, firmware.other, Span::ZERO, Span::ZERO),
            _ => (Kind::Read, 0, firmware.read, firmware.read_unit, firmware.read_latency),
        };
        let small = match kind {
            Kind::Read => firmware.read_small,
            Kind::Write => firmware.write_small,
            _ => service,
        };
        let service = match timed.blocks {
            1 => small,
            // seven steps from one block to eight
            blocks @ 2..8 => {
                let step = (service.as_ps() as i64 - small.as_ps() as i64) / 7;
                Span::from_ps((small.as_ps() as i64 + i64::from(blocks - 1) * step) as u64)
            }
            _ => service,
        };
        // the first 4 KiB are in the time of the command
        let further = u64::from(timed.blocks - 1) * BLOCK / 4096;
        let engine = engines.iter_mut().min().unwrap();
        let begun = now.max(*engine);
        *engine = begun + service + unit * further;
        let submitted = begun + service + latency;
        let nsid = u64::from(timed.nsid - 1);
        let request = Request {
            token: name as u32,
            kind,
            first: nsid * config.subsystem.namespaces[0].bytes + timed.slba * BLOCK,
            bytes: u64::from(timed.blocks) * BLOCK,
            tenant: nsid as u16,
            part_of: None,
        };
        asked.push((submitted, order, name, begun, request));
    }
    asked.sort_unstable_by_key(|(submitted, order, name, ..)| (*submitted, *order, *name));
    let (mut medium, mut done, mut seen) =
        (Drive::new(&config.medium, SEED).unwrap(), Vec::new(), Vec::new());
    let mut ends = |medium: &mut Drive, until: Instant| {
        while let Some(at) = medium.next_event().filter(|at| *at <= until) {
            medium.advance(at, &mut done);
            for end in done.drain(..) {
                let (submitted, _, name, begun, _) =
                    *asked.iter().find(|of| of.2 == u64::from(end.token)).unwrap();
                seen.push(Seen { name, begun, submitted, done: at });
            }
        }
    };
    for (submitted, .., request) in &asked {
        // what ends at this time has been given before it
        ends(&mut medium, Instant::from_ps(submitted.as_ps().saturating_sub(1)));
        medium.submit(*submitted, *request);
    }
    ends(&mut medium, Instant::NEVER);
    seen.sort_unstable();
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_front_adds_and_takes_no_time(
        all in prop::collection::vec(any_timed(), 1..30), on_flash in any::<bool>(), way in 0..WAYS.len(), bytes in any::<bool>(),
    ) {
        let config = drive(controller(), if on_flash { flash() } else { cross_point() });
        let (begin, seen) = through_a_front(&config, &all, way, bytes);
        prop_assert_eq!(seen.len(), all.len());
        prop_assert_eq!(seen, directly(&config, &all, begin));
    }
}
