//! Random commands, beside a store that is an array: every command is answered once, and every byte is right.

use crate::machine::{NAMESPACE_BYTES, controller, cross_point, drive, flash};
use crate::rig::{Answer, Rig, WAYS, Way};
use lanetwin_nvme::logic::ControllerConfig;
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::{Command, IoOpcode, Nsid, Status};
use lanetwin_ssd::{SparseMemory, Ssd};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

const BLOCK: u64 = 512;
/// Few, so that they are met again and again.
const BLOCKS: u64 = 96;

#[derive(Clone, Copy, Debug)]
enum What {
    Read,
    Write,
    Zeroes,
    Deallocate,
    /// With what is there, or with something else.
    Compare {
        same: bool,
    },
    Flush,
    /// Beyond the end of the namespace.
    TooFar {
        write: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    nsid: u32,
    slba: u64,
    blocks: u64,
    seed: u8,
    queue: u16,
    pause_ns: u64,
}

fn any_step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![
        4 => Just(What::Read),
        5 => Just(What::Write),
        1 => Just(What::Zeroes),
        1 => Just(What::Deallocate),
        2 => any::<bool>().prop_map(|same| What::Compare { same }),
        1 => Just(What::Flush),
        1 => any::<bool>().prop_map(|write| What::TooFar { write }),
    ];
    let pause = prop_oneof![3 => Just(0_u64), 1 => 1_u64..40_000];
    (what, 1_u32..=2, 0..BLOCKS, 1_u64..=24, any::<u8>(), 1_u16..=2, pause).prop_map(
        |(what, nsid, slba, blocks, seed, queue, pause_ns)| {
            let blocks = blocks.min(BLOCKS - slba);
            Step { what, nsid, slba, blocks, seed, queue, pause_ns }
        },
    )
}

/// What a step asks, brings, is given and must find.
struct Asked {
    command: Command,
    brings: Vec<u8>,
    given: usize,
    status: Status,
    finds: Vec<u8>,
    /// The bytes that it touches, and whether it changes them.
    touches: (u32, Range<u64>, bool),
}

/// The naive store: an array for each namespace.
struct Array(BTreeMap<u32, Vec<u8>>);

impl Array {
    fn ask(&mut self, step: &Step) -> Asked {
        let Step { what, nsid, slba, blocks, seed, .. } = *step;
        let bytes = (blocks * BLOCK) as usize;
        let range = slba * BLOCK..(slba + blocks) * BLOCK;
        let held = &mut self.0.get_mut(&nsid).unwrap()[range.start as usize..range.end as usize];
        let data: Vec<u8> = (0..bytes).map(|at| (at >> 3) as u8 ^ seed).collect();
        let id = Nsid(nsid);
        let plain = |opcode| commands::blocks(opcode, id, slba, blocks as u32);
        let asked = |command, writes| Asked {
            command,
            brings: Vec::new(),
            given: 0,
            status: Status::SUCCESS,
            finds: Vec::new(),
            touches: (nsid, range.clone(), writes),
        };
        match what {
            What::Read => Asked { given: bytes, finds: held.to_vec(), ..asked(plain(IoOpcode::READ), false) },
            What::Write => {
                held.copy_from_slice(&data);
                Asked { brings: data, ..asked(plain(IoOpcode::WRITE), true) }
            }
            What::Zeroes => {
                held.fill(0);
                asked(plain(IoOpcode::WRITE_ZEROES), true)
            }
            What::Deallocate => {
                held.fill(0);
                let range = [&[0; 4][..], &(blocks as u32).to_le_bytes(), &slba.to_le_bytes()].concat();
                Asked { brings: range, ..asked(commands::deallocate(id, 1), true) }
            }
            What::Compare { same } => {
                let mut with = held.to_vec();
                with[usize::from(seed) % bytes] ^= u8::from(!same);
                let status = if same { Status::SUCCESS } else { Status::COMPARE_FAILURE };
                Asked { brings: with, status, ..asked(plain(IoOpcode::COMPARE), false) }
            }
            What::Flush => Asked { touches: (nsid, 0..0, false), ..asked(commands::flush(id), false) },
            What::TooFar { write } => {
                let slba = NAMESPACE_BYTES / BLOCK - u64::from(seed) % blocks;
                let opcode = if write { IoOpcode::WRITE } else { IoOpcode::READ };
                let command = commands::blocks(opcode, id, slba, blocks as u32);
                let (brings, given) = if write { (data, 0) } else { (Vec::new(), bytes) };
                let finds = vec![0; given];
                let touches = (nsid, 0..0, false);
                Asked { brings, given, status: Status::LBA_OUT_OF_RANGE, finds, touches, command }
            }
        }
    }
}

fn overlap(a: &(u32, Range<u64>, bool), b: &(u32, Range<u64>, bool)) -> bool {
    a.0 == b.0 && a.1.start < b.1.end && b.1.start < a.1.end && (a.2 || b.2)
}

/// How a storm is run.
#[derive(Clone, Debug)]
struct Run {
    way: Way,
    flash: bool,
    chunks: bool,
    haste: u64,
    /// Time is cut into slices of this length; none for none.
    slice: Option<Span>,
}

fn storm(steps: &[Step], run: &Run) -> Vec<Answer> {
    let controller = ControllerConfig {
        chunk_bytes: run.chunks.then_some(4096),
        commands_in_progress: 20,
        fetch_burst: 3,
        ..controller()
    };
    let config = drive(controller, if run.flash { flash() } else { cross_point() });
    let ssd = Ssd::new(&config, 9).unwrap().with_bytes(Box::new(SparseMemory::new()));
    let mut rig = Rig::new(ssd, run.way);
    rig.haste = run.haste;
    let mut array = Array((1..=2).map(|nsid| (nsid, vec![0; (BLOCKS * BLOCK) as usize])).collect());
    let (mut open, mut expected, mut answers) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut collect = |rig: &mut Rig, open: &mut BTreeMap<u64, _>, expected: &BTreeMap<u64, Asked>| {
        for answer in rig.answers.drain(..) {
            assert!(open.remove(&answer.name).is_some(), "{} is answered twice", answer.name);
            let asked = &expected[&answer.name];
            assert_eq!(answer.status, asked.status, "{:?}", asked.command);
            if asked.given > 0 {
                assert!(answer.data == asked.finds, "{:?}", asked.command);
            }
            answers.push(answer);
        }
    };
    for (name, step) in (0_u64..).zip(steps) {
        let asked = array.ask(step);
        let from = rig.now;
        wait(&mut rig, from + Span::from_ns(step.pause_ns), run.slice);
        collect(&mut rig, &mut open, &expected);
        // commands in progress have no order: those that meet wait for each other
        while open.len() > 40 || open.values().any(|other| overlap(other, &asked.touches)) {
            assert!(rig.step(Instant::NEVER), "{} have no answer", open.len());
            collect(&mut rig, &mut open, &expected);
        }
        open.insert(name, asked.touches.clone());
        rig.submit(step.queue, name, asked.command, &asked.brings, asked.given);
        expected.insert(name, asked);
        collect(&mut rig, &mut open, &expected);
    }
    while rig.step(Instant::NEVER) {}
    collect(&mut rig, &mut open, &expected);
    assert!(open.is_empty() && rig.in_flight() == 0, "{open:?} have no answer");
    assert_eq!(answers.len(), steps.len());
    answers
}

/// Lets time go by, in slices if wanted: looking and waking for nothing change nothing.
fn wait(rig: &mut Rig, until: Instant, slice: Option<Span>) {
    if let Some(slice) = slice {
        while rig.now + slice < until {
            let to = rig.now + slice;
            rig.run_until(to);
            rig.ssd.wake(to);
            assert_eq!(rig.ssd.poll(to), None);
            let _ = rig.ssd.counters(to);
        }
    }
    rig.run_until(until);
}

fn any_run() -> impl Strategy<Value = Run> {
    (0..WAYS.len(), any::<bool>(), any::<bool>(), prop_oneof![Just(0), 1_u64..u64::MAX])
        .prop_map(|(way, flash, chunks, haste)| Run { way: WAYS[way], flash, chunks, haste, slice: None })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_command_is_answered_once_and_bytes_are_right(
        steps in prop::collection::vec(any_step(), 1..80), run in any_run(),
    ) {
        storm(&steps, &run);
    }

    #[test]
    fn slices_of_time_change_nothing(
        steps in prop::collection::vec(any_step(), 1..50), run in any_run(), slice_ns in 100_u64..9_000,
    ) {
        let sliced = Run { slice: Some(Span::from_ns(slice_ns)), ..run.clone() };
        prop_assert_eq!(storm(&steps, &run), storm(&steps, &sliced));
    }

    /// Which way commands and data go changes no byte and no answer, only times.
    #[test]
    fn all_ways_lead_to_the_same_bytes(steps in prop::collection::vec(any_step(), 1..40), flash in any::<bool>()) {
        let mut first = None;
        for way in WAYS {
            let run = Run { way, flash, chunks: true, haste: 0, slice: None };
            let mut answers: Vec<_> =
                storm(&steps, &run).into_iter().map(|answer| (answer.name, answer.status)).collect();
            answers.sort_unstable();
            let first = first.get_or_insert_with(|| answers.clone());
            prop_assert_eq!(first, &answers, "{:?}", way);
        }
    }
}
