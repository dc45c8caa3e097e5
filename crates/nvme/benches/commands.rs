//! What a command costs, in CPU time. Not a test: it prints times.
//!
//! `cargo bench -p lanetwin-nvme`. Host and controller may take 150 ns each: a quarter of what a simulator that does
//! 0.6 M I/O per CPU-second has for all of an I/O.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use lanetwin_nvme::logic::host::{QueuePair, QueuePairConfig, RingPolicy, commands};
use lanetwin_nvme::logic::{
    ControllerConfig, Effect, HostEffect, LbaFormat, NamespaceConfig, Place, Purpose, Subsystem,
    SubsystemConfig, Token,
};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::registers::{ACQ, AQA, ASQ, CC};
use lanetwin_nvme::spec::{Command, CompletionEntry, ControllerId, CqId, Nsid, SqId, Status};
use lanetwin_units::Instant;
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::hint::black_box;

const ID: ControllerId = ControllerId(1);
const QUEUES: u16 = 16;
const DEPTH: u32 = 64;
const ENTRIES: u32 = 128;
/// Each queue has so much of host memory, for its submission queue; as much again is for its completion queue.
const STRETCH: u64 = 1 << 16;

const ROUNDS: usize = 5;

/// What this thread has used \[ns\]: other programs on the machine do not count.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
fn sq_address(queue: u16) -> u64 {
    u64::from(queue) * 2 * STRETCH
}
fn cq_address(queue: u16) -> u64 {
    sq_address(queue) + STRETCH
}
fn subsystem() -> Subsystem {
    let config = SubsystemConfig {
        nqn: "nqn.2026-01.test:drive".into(),
        serial: "S1".into(),
        model: "Test Drive".into(),
        firmware: "1.0".into(),
        vendor: 0x144d,
        namespaces: vec![NamespaceConfig {
            nsid: Nsid(1),
            bytes: 1 << 40,
            formats: vec![LbaFormat::B4096],
            format: 0,
            attached: vec![ID],
            zero_after_deallocate: true,
        }],
        controllers: vec![ControllerConfig::new(ID)],
        volatile_write_cache: false,
        atomic_write_blocks: 1,
        access_ports: 0,
    };
    Subsystem::new(&config).unwrap()
}

/// A medium and a link that answer everything at once, first come first served, and a memory of bytes.
struct Machine {
    subsystem: Subsystem,
    memory: Vec<u8>,
    effects: Vec<Effect>,
    fetches: VecDeque<(Token, u64, u32)>,
    media: VecDeque<Token>,
    transfers: VecDeque<Token>,
    interrupts: u64,
    now: Instant,
}

impl Machine {
    fn new() -> Self {
        let mut machine = Self {
            subsystem: subsystem(),
            memory: vec![0; (sq_address(QUEUES + 1)) as usize],
            effects: Vec::new(),
            fetches: VecDeque::new(),
            media: VecDeque::new(),
            transfers: VecDeque::new(),
            interrupts: 0,
            now: Instant::ZERO,
        };
        for (offset, value) in [
            (AQA, 31 | 31 << 16),
            (ASQ, sq_address(0) as u32),
            (ACQ, cq_address(0) as u32),
            (CC, 1 | 6 << 16 | 4 << 20),
        ] {
            machine.subsystem.write_register(machine.now, ID, offset, value, &mut machine.effects);
        }
        machine
    }
    fn put(&mut self, address: u64, command: &Command) {
        self.memory[address as usize..address as usize + 64].copy_from_slice(command.as_bytes());
    }
    fn ring(&mut self, ring: Option<(lanetwin_nvme::spec::Doorbell, u16)>) {
        if let Some((doorbell, value)) = ring {
            self.subsystem.ring(self.now, ID, doorbell, value.into(), &mut self.effects);
        }
    }
    fn entry(&self, pair: &QueuePair) -> CompletionEntry {
        let at = pair.next_completion() as usize;
        CompletionEntry::from_bytes(*self.memory[at..].first_chunk().unwrap())
    }
    /// Puts effects into their queues.
    fn sort(&mut self) {
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Host(HostEffect::Fetch {
                    token,
                    at: Place::Memory { address },
                    bytes,
                    purpose: Purpose::Commands(_),
                }) => {
                    self.fetches.push_back((token, address, bytes));
                }
                Effect::Media { token, .. } => self.media.push_back(token),
                Effect::Host(HostEffect::Transfer { token, .. }) => self.transfers.push_back(token),
                Effect::Host(HostEffect::Complete { address, entry, .. }) => {
                    self.memory[address as usize..address as usize + 16].copy_from_slice(&entry.to_bytes());
                }
                Effect::Host(HostEffect::Interrupt { .. }) => self.interrupts += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    /// Answers everything that is waiting now.
    fn answer(&mut self) {
        self.sort();
        for _ in 0..self.transfers.len() {
            let token = self.transfers.pop_front().unwrap();
            self.subsystem.transferred(self.now, token, &mut self.effects);
        }
        for _ in 0..self.media.len() {
            let token = self.media.pop_front().unwrap();
            self.subsystem.media_done(self.now, token, Status::SUCCESS, &mut self.effects);
        }
        for _ in 0..self.fetches.len() {
            let (token, address, bytes) = self.fetches.pop_front().unwrap();
            let bytes = &self.memory[address as usize..][..bytes as usize];
            self.subsystem.fetched(self.now, token, bytes, &mut self.effects);
        }
        self.sort();
    }
}

fn pair(queue: u16, entries: u32) -> QueuePair {
    QueuePair::new(QueuePairConfig {
        sqid: SqId(queue),
        cqid: CqId(queue),
        sq_entries: entries,
        cq_entries: entries,
        sq_address: sq_address(queue),
        cq_address: cq_address(queue),
        ring_tail: RingPolicy::Each,
        ring_head: RingPolicy::Each,
    })
}
fn create_queues(machine: &mut Machine) -> Vec<QueuePair> {
    let mut admin = pair(0, 32);
    for queue in 1..=QUEUES {
        let create = [
            commands::create_cq(CqId(queue), ENTRIES, cq_address(queue), Some(queue)),
            commands::create_sq(SqId(queue), ENTRIES, sq_address(queue), CqId(queue), QueuePriority::HIGH),
        ];
        for command in create {
            let submitted = admin.submit(command, 0).unwrap();
            machine.put(submitted.address, &submitted.entry);
            machine.ring(submitted.ring);
            machine.answer();
            let done = admin.consume(machine.entry(&admin)).expect("it is answered at once");
            assert_eq!(done.status, Status::SUCCESS);
            machine.ring(done.ring);
        }
    }
    (1..=QUEUES).map(|queue| pair(queue, ENTRIES)).collect()
}
fn read(index: u64) -> Command {
    let mut command = commands::read(Nsid(1), index.wrapping_mul(0x9e37_79b9) % (1 << 28), 1);
    command.set_prp1(1 << 32 | (index & 0xffff) << 12);
    command
}

/// Host, controller, and the machine between them: 4 KiB reads, 16 queues of 64 commands. \[ns per command\]
fn together(count: u64) -> f64 {
    let mut machine = Machine::new();
    let mut pairs = create_queues(&mut machine);
    machine.interrupts = 0;
    let (mut submitted, mut done) = (0, 0);
    let begin = cpu_ns();
    while done < count {
        for pair in &mut pairs {
            while let Some(completed) = pair.consume(machine.entry(pair)) {
                assert!(completed.status.is_success());
                done += 1;
                machine.ring(completed.ring);
            }
            while pair.in_flight() < DEPTH && submitted < count {
                let command = pair.submit(read(submitted), submitted).expect("there is room");
                submitted += 1;
                machine.put(command.address, &command.entry);
                machine.ring(command.ring);
            }
        }
        machine.answer();
    }
    let ns = (cpu_ns() - begin) / count as f64;
    assert_eq!(machine.interrupts, count);
    ns
}

/// The host alone: completions come from nowhere. \[ns per command\]
fn host_alone(count: u64) -> f64 {
    let mut pair = pair(1, ENTRIES);
    let mut waiting = VecDeque::with_capacity(ENTRIES as usize);
    let (mut phase, mut taken, mut head) = (true, 0, 0);
    let begin = cpu_ns();
    for index in 0..count {
        let submitted = pair.submit(read(index), index).expect("there is room");
        black_box(&submitted);
        waiting.push_back(submitted.cid);
        if waiting.len() == DEPTH as usize {
            let cid = waiting.pop_front().unwrap();
            head = (head + 1) % ENTRIES;
            let raw = u128::from(head) << 64 | 1 << 80 | u128::from(cid.0) << 96 | u128::from(phase) << 112;
            let done = pair.consume(CompletionEntry::from_raw(raw)).expect("it is ours");
            black_box(&done);
            taken += 1;
            phase ^= taken % ENTRIES == 0;
        }
    }
    (cpu_ns() - begin) / count as f64
}

/// The least of some rounds: what else runs on the machine only slows a round down.
fn least(measure: impl Fn() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::MAX, f64::min)
}

fn main() {
    let host = least(|| host_alone(2_000_000));
    let together = least(|| together(1_000_000));
    println!(
        "host {host:.0} ns, controller and a machine between them {:.0} ns per command",
        together - host
    );
}
