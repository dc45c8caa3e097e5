//! Power cuts under a writer that checks: what was acknowledged as sure is there afterwards, and a drive that lies is
//! found out by the same test.

use crate::machine::{machine, plan};
use lanetwin_doors::command::{Command, Ended};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::faults::Fault;
use lanetwin_kernel::Stream;
use lanetwin_ssd::SparseMemory;
use lanetwin_units::Instant;
use std::collections::BTreeMap;

const BLOCK: u32 = 512;
const PLACES: u64 = 64;
const DEPTH: usize = 8;

/// A block that says where it lies, which write it is of, and carries a sum over both.
fn block(place: u64, version: u64) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK as usize];
    bytes[..8].copy_from_slice(&place.to_le_bytes());
    bytes[8..16].copy_from_slice(&version.to_le_bytes());
    bytes[16..24].copy_from_slice(&lanetwin_kernel::mix(place ^ lanetwin_kernel::mix(version)).to_le_bytes());
    bytes
}
/// The version of a block; none if it is none of the writer's.
fn version(place: u64, bytes: &[u8]) -> Option<u64> {
    let version = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
    (bytes == block(place, version) || bytes.iter().all(|byte| *byte == 0)).then_some(version)
}

/// A writer of versions that only grow.
struct Writer {
    engine: Engine,
    now: Instant,
    chance: Stream,
    version: u64,
    /// What is in progress by ticket: the place and version that is written; none is a flush.
    open: BTreeMap<u64, Option<(u64, u64)>>,
    /// The newest version that was acknowledged, the newest that was asked for and the newest that is sure, by place.
    acknowledged: BTreeMap<u64, u64>,
    asked: BTreeMap<u64, u64>,
    sure: BTreeMap<u64, u64>,
    /// What was acknowledged when a flush was asked for.
    at_flush: BTreeMap<u64, BTreeMap<u64, u64>>,
    tickets: u64,
    is_protected: bool,
}

impl Writer {
    fn new(set: &str, seed: u64) -> Self {
        let plan = plan(&machine(&format!("cross-point, {set}"), "depth: 1"));
        let drive = Drive { seed, ..Drive::choose(&plan, &Choice::default()).expect("a drive") };
        let is_protected = !drive.facts.is_volatile;
        let engine = Engine::new(&drive, Box::new(SparseMemory::new())).started();
        let (open, acknowledged, asked, sure) = Default::default();
        let (now, chance) = (Instant::ZERO, Stream::new(seed, "writer", "test"));
        let at_flush = BTreeMap::new();
        Self {
            engine,
            now,
            chance,
            version: 0,
            open,
            acknowledged,
            asked,
            sure,
            at_flush,
            tickets: 0,
            is_protected,
        }
    }
    fn ask(&mut self) {
        self.tickets += 1;
        if self.chance.chance(0.1) {
            self.open.insert(self.tickets, None);
            self.at_flush.insert(self.tickets, self.acknowledged.clone());
            self.engine.ask(self.now, self.tickets, Command::flush());
            return;
        }
        // one write at a place at a time: else nobody knows which is newer
        let place = self.chance.below(PLACES);
        if self.open.values().flatten().any(|(busy, _)| *busy == place) {
            return;
        }
        self.version += 1;
        self.open.insert(self.tickets, Some((place, self.version)));
        self.asked.insert(place, self.version);
        let mut command = Command::write(place * u64::from(BLOCK), block(place, self.version));
        command.fua = self.chance.chance(0.1);
        let is_sure = command.fua;
        self.engine.ask(self.now, self.tickets | u64::from(is_sure) << 63, command);
    }
    fn hear(&mut self) {
        let Some((at, replies)) = self.engine.next_replies(self.now) else { return };
        self.now = at;
        for reply in replies {
            let (ticket, is_sure) = (reply.ticket & !(1 << 63), reply.ticket >> 63 == 1);
            let what = self.open.remove(&ticket).expect("it is in progress");
            if !reply.ended.is_well() {
                assert_eq!(reply.ended, Ended::NoPower);
                continue;
            }
            match what {
                Some((place, version)) => {
                    self.acknowledged.insert(place, version);
                    if is_sure || self.is_protected {
                        self.sure.insert(place, version);
                    }
                }
                None => {
                    for (place, version) in self.at_flush.remove(&ticket).expect("it was noted") {
                        let known = self.sure.entry(place).or_default();
                        *known = version.max(*known);
                    }
                }
            }
        }
    }
    /// Works a while, loses power, looks: how many places lost what was sure.
    fn cut(&mut self) -> usize {
        for _ in 0..20 + self.chance.below(80) {
            while self.open.len() < DEPTH {
                self.ask();
            }
            self.hear();
        }
        self.engine.power_cut();
        while !self.open.is_empty() {
            self.hear();
        }
        self.engine.power_on();
        (0..PLACES).filter(|place| !self.is_whole(*place)).count()
    }
    fn is_whole(&mut self, place: u64) -> bool {
        self.engine.ask(self.now, 0, Command::read(place * u64::from(BLOCK), BLOCK));
        let (at, replies) = self.engine.next_replies(self.now).expect("a reply");
        self.now = at;
        let found = version(place, &replies[0].data).expect("no block is torn or of another place");
        let sure = self.sure.get(&place).copied().unwrap_or(0);
        assert!(found <= self.asked.get(&place).copied().unwrap_or(0), "nobody has written that");
        // what is there now is what it goes on from
        self.acknowledged.insert(place, found);
        self.sure.insert(place, found);
        found >= sure
    }
}

const VOLATILE: &str = "buffer.protected: false, buffer.volatile: true";
const PROTECTED: &str = "buffer.protected: true";

#[test]
fn twenty_cuts_lose_nothing_that_was_sure_and_much_that_was_not() {
    let (mut volatile, mut protected) = (Writer::new(VOLATILE, 1), Writer::new(PROTECTED, 2));
    let lost: usize = (0..20).map(|_| volatile.cut() + protected.cut()).sum();
    assert_eq!(lost, 0);
}

#[test]
fn a_drive_that_lies_about_flush_is_caught() {
    let mut liar = Writer::new(VOLATILE, 3);
    liar.engine.fault(Instant::ZERO, 0, &Fault::Lie);
    assert!((0..20).map(|_| liar.cut()).sum::<usize>() > 0);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "takes a minute: make test-nightly"]
    fn two_hundred_and_forty_cuts() {
        for seed in 0..6 {
            let mut writer = Writer::new(if seed % 3 == 0 { PROTECTED } else { VOLATILE }, seed + 10);
            assert_eq!((0..40).map(|_| writer.cut()).sum::<usize>(), 0);
        }
    }
}
