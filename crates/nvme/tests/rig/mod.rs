//! A machine in memory: a subsystem, a medium that keeps what is written, host memory, and a scheduler that resumes
//! effects in a random order.

#![allow(dead_code, reason = "every test uses its part of the machine")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
pub mod load;
mod memory;
mod rng;
mod subsystem;

pub use memory::{Memory, PAGE};
pub use rng::Rng;
pub use subsystem::{namespace, subsystem};

use lanetwin_nvme::logic::host::{
    Action, Answer, Bringup, BringupConfig, Completed, Found, IoQueue, QueuePair, QueuePairConfig,
    RingPolicy, need_event,
};
use lanetwin_nvme::logic::{
    Direction, Effect, Health, HostEffect, MediaOperation, MediaRequest, Place, Purpose, Segment, Subsystem,
    SubsystemConfig, Telemetry, Token,
};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::feature::{Arbitration, InterruptCoalescing};
use lanetwin_nvme::spec::{Command, CompletionEntry, ControllerId, CqId, Doorbell, Nsid, SqId, Status};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

/// The host's side of a controller.
pub struct Host {
    pub id: ControllerId,
    pub admin: QueuePair,
    pub queues: Vec<QueuePair>,
    pub found: Found,
    pub buffer: u64,
    pub doorbell_buffers: Option<(u64, u64)>,
    /// Doorbells that were rung.
    pub rung: u64,
}

/// What a test asks of a controller.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Entries and priority of each I/O queue pair.
    pub queues: Vec<(u32, QueuePriority)>,
    pub ring: RingPolicy,
    pub interrupts: bool,
    pub weighted: Option<Arbitration>,
    pub coalescing: Option<InterruptCoalescing>,
    pub shadow: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            queues: vec![(16, QueuePriority::MEDIUM)],
            ring: RingPolicy::Each,
            interrupts: true,
            weighted: None,
            coalescing: None,
            shadow: false,
        }
    }
}

/// A completion, or an interrupt. The vector of a queue of the rig is its number.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub vector: u16,
    pub at: Instant,
    pub interrupt: bool,
}

pub struct Rig {
    pub subsystem: Subsystem,
    pub memory: Memory,
    pub now: Instant,
    pub effects: Vec<Effect>,
    /// Effects that wait to be resumed.
    pub pending: Vec<Effect>,
    pub rng: Rng,
    /// The content of blocks that were written.
    pub media: BTreeMap<(Nsid, u64), Vec<u8>>,
    /// Media requests, in the order in which they were done.
    pub done: Vec<MediaRequest>,
    buffers: BTreeMap<u64, Vec<u8>>,
    pub interrupts: Vec<(ControllerId, u16, Instant)>,
    pub completed: Vec<(ControllerId, CqId, Instant)>,
    /// Completions of I/O queues and interrupts, by vector, in order.
    pub signals: Vec<Signal>,
    /// In the order in which they were fetched: queue and how many.
    pub fetched: Vec<(SqId, u32)>,
    pub wakes: Vec<Instant>,
    /// Whose hosts were not heard of for too long.
    pub expired: Vec<ControllerId>,
    pub health: Health,
    /// What the owner tells of its state.
    pub state: Telemetry,
    /// The link of this controller is down.
    pub down: Option<ControllerId>,
    /// What the medium answers.
    pub media_status: Status,
    /// One in so many media effects and fetches of entries takes long; 0 for none.
    pub slow: u64,
    /// Those.
    late: Vec<Effect>,
    /// The medium answers nothing.
    pub hold_media: bool,
    /// Completions of other admin commands that came while one was waited for.
    pub others: Vec<Completed>,
}

/// What an effect says of its pieces is so.
pub fn check_place(at: Place, pieces: &[Segment]) {
    match at {
        Place::Memory { address } => assert!(pieces.len() == 1 && pieces[0].address == address, "{pieces:?}"),
        Place::Scattered { pieces: count } => {
            assert!(count > 1 && pieces.len() == count as usize, "{pieces:?}")
        }
        other => panic!("queues in host memory have their data there, not {other:?}"),
    }
}

impl Rig {
    pub fn new(config: &SubsystemConfig, seed: u64) -> Self {
        Self {
            subsystem: Subsystem::new(config).unwrap(),
            memory: Memory::default(),
            now: Instant::ZERO,
            effects: Vec::new(),
            pending: Vec::new(),
            rng: Rng::new(seed),
            media: BTreeMap::new(),
            done: Vec::new(),
            buffers: BTreeMap::new(),
            interrupts: Vec::new(),
            completed: Vec::new(),
            signals: Vec::new(),
            fetched: Vec::new(),
            wakes: Vec::new(),
            expired: Vec::new(),
            health: Health::default(),
            state: Telemetry::default(),
            down: None,
            media_status: Status::SUCCESS,
            slow: 0,
            late: Vec::new(),
            hold_media: false,
            others: Vec::new(),
        }
    }

    /// Carries out what is not resumed, and keeps the rest.
    pub fn absorb(&mut self) {
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Host(HostEffect::Complete { controller, queue, address, entry }) => {
                    if self.down != Some(controller) {
                        self.memory.write(address, &entry.to_bytes());
                        self.completed.push((controller, queue, self.now));
                        self.signals.push(Signal { vector: queue.0, at: self.now, interrupt: false });
                    }
                }
                Effect::Host(HostEffect::EventIndex { address, value, .. }) => {
                    self.memory.write(address, &value.to_le_bytes())
                }
                Effect::Host(HostEffect::Interrupt { controller, vector }) => {
                    self.interrupts.push((controller, vector, self.now));
                    self.signals.push(Signal { vector, at: self.now, interrupt: true });
                }
                Effect::Host(HostEffect::KeepAliveExpired { controller }) => self.expired.push(controller),
                Effect::WakeAt { at } => self.wakes.push(at),
                other => {
                    if let Effect::Host(HostEffect::Fetch {
                        purpose: Purpose::Commands(sqid), bytes, ..
                    }) = other
                    {
                        self.fetched.push((sqid, bytes / 64));
                    }
                    self.pending.push(other);
                }
            }
        }
    }
    /// Resumes an effect at random, or lets time go to the next wake. False if there is nothing to do.
    pub fn step(&mut self) -> bool {
        let media = |effect: &Effect| matches!(effect, Effect::Media { .. });
        let slow = |effect: &Effect| {
            media(effect)
                || matches!(effect, Effect::Host(HostEffect::Fetch { purpose: Purpose::Commands(_), .. }))
        };
        if !self.late.is_empty() && (self.rng.one_in(if self.pending.is_empty() { 8 } else { 200 })) {
            let at = self.rng.below(self.late.len() as u64) as usize;
            let effect = self.late.swap_remove(at);
            self.resume(effect);
            self.absorb();
            return true;
        }
        let ready: Vec<usize> =
            (0..self.pending.len()).filter(|&at| !self.hold_media || !media(&self.pending[at])).collect();
        let next = self.now + Span::from_ns(self.rng.below(100));
        let wake = self.wakes.iter().copied().min().filter(|&at| ready.is_empty() || at <= next);
        if ready.is_empty() && wake.is_none() {
            return !self.late.is_empty();
        }
        if let Some(at) = wake {
            self.wakes.retain(|&other| other > at);
            self.now = self.now.max(at);
            self.subsystem.wake(self.now, &mut self.effects);
        } else {
            let at = ready[self.rng.below(ready.len() as u64) as usize];
            let effect = self.pending.swap_remove(at);
            self.now = next;
            if slow(&effect) && self.slow > 0 && self.rng.one_in(self.slow) {
                self.late.push(effect);
                return true;
            }
            self.resume(effect);
        }
        self.absorb();
        true
    }
    /// Until nothing is left to do.
    pub fn run(&mut self) {
        for _ in 0..5_000_000 {
            if !self.step() {
                return;
            }
        }
        panic!("it never ends");
    }
    fn is_down(&self, token: Token) -> bool {
        // what belongs to no command is of a controller that is down, or is a fetch of one that is not
        self.down.is_some_and(|down| self.subsystem.command(token).is_none_or(|info| info.controller == down))
    }
    fn resume(&mut self, effect: Effect) {
        let now = self.now;
        match effect {
            Effect::Host(HostEffect::Fetch { token, at: Place::Memory { address }, bytes, .. }) => {
                let bytes = self.memory.read(address, bytes as usize);
                self.subsystem.fetched(now, token, &bytes, &mut self.effects);
            }
            Effect::Host(HostEffect::Transfer { token, .. }) if self.is_down(token) => {
                self.subsystem.failed(now, token, &mut self.effects);
            }
            Effect::Host(HostEffect::Transfer { token, direction, bytes, at }) => {
                let pieces: Vec<_> = self.subsystem.segments(token).collect();
                if !pieces.is_empty() {
                    check_place(at, &pieces);
                    assert_eq!(pieces.iter().map(|piece| piece.bytes).sum::<u32>(), bytes);
                }
                match direction {
                    Direction::FromHost => {
                        let read = |piece: &Segment| self.memory.read(piece.address, piece.bytes as usize);
                        self.buffers.insert(token.part(), pieces.iter().flat_map(read).collect());
                    }
                    Direction::ToHost => {
                        let mut data = self.buffers.remove(&token.part()).unwrap_or_default();
                        for piece in pieces {
                            let rest = data.split_off(piece.bytes as usize);
                            self.memory.write(piece.address, &data);
                            data = rest;
                        }
                    }
                }
                self.subsystem.transferred(now, token, &mut self.effects);
            }
            Effect::Host(HostEffect::Store { token, .. }) => {
                let pieces: Vec<_> = self.subsystem.segments(token).collect();
                let mut content = self.subsystem.content(token).to_vec();
                for piece in pieces {
                    let rest = content.split_off(piece.bytes as usize);
                    self.memory.write(piece.address, &content);
                    content = rest;
                }
                self.subsystem.stored(now, token, &mut self.effects);
            }
            Effect::Media { token, request } => {
                let status = self.medium(token, request);
                self.subsystem.media_done(now, token, status, &mut self.effects);
            }
            Effect::Health { token } => {
                let health = self.health;
                self.subsystem.health(now, token, &health, &mut self.effects);
            }
            Effect::Telemetry { token } => {
                let state = self.state.clone();
                self.subsystem.telemetry(now, token, &state, &mut self.effects);
            }
            other => panic!("{other:?} is not resumed"),
        }
    }
    fn medium(&mut self, token: Token, request: MediaRequest) -> Status {
        self.done.push(request);
        if !self.media_status.is_success() {
            return self.media_status;
        }
        let MediaRequest { nsid, operation, slba, blocks, .. } = request;
        let size = self.subsystem.block_bytes(nsid).unwrap_or(512) as usize;
        let range = slba..slba + u64::from(blocks);
        match operation {
            MediaOperation::Read => {
                let block = |lba| self.media.get(&(nsid, lba)).cloned().unwrap_or_else(|| vec![0; size]);
                let data = range.flat_map(block).collect();
                self.buffers.insert(token.part(), data);
            }
            MediaOperation::Write { .. } => {
                let data = self.buffers.remove(&token.part()).expect("data have come first");
                for (lba, block) in range.zip(data.chunks_exact(size)) {
                    self.media.insert((nsid, lba), block.to_vec());
                }
            }
            MediaOperation::Compare => {
                let data = self.buffers.remove(&token.part()).expect("data have come first");
                let zeroes = vec![0; size];
                let same =
                    |(lba, block): (u64, &[u8])| self.media.get(&(nsid, lba)).unwrap_or(&zeroes) == block;
                if !range.zip(data.chunks_exact(size)).all(same) {
                    return Status::COMPARE_FAILURE;
                }
            }
            MediaOperation::WriteZeroes { .. } | MediaOperation::Deallocate => {
                let keys: Vec<_> =
                    self.media.range((nsid, range.start)..(nsid, range.end)).map(|(&k, _)| k).collect();
                keys.iter().for_each(|key| drop(self.media.remove(key)));
            }
            MediaOperation::Format { .. } => self.media.retain(|&(of, _), _| of != nsid),
            MediaOperation::Sanitize { .. } => self.media.clear(),
            MediaOperation::Flush => {}
        }
        Status::SUCCESS
    }

    pub fn write_register(&mut self, id: ControllerId, offset: u32, value: u32) {
        self.subsystem.write_register(self.now, id, offset, value, &mut self.effects);
        self.absorb();
    }
    pub fn ring(&mut self, id: ControllerId, ring: Option<(Doorbell, u16)>) {
        if let Some((doorbell, value)) = ring {
            self.subsystem.ring(self.now, id, doorbell, value.into(), &mut self.effects);
            self.absorb();
        }
    }
    /// Writes the shadow doorbell, if there is one, and rings if the controller has to be told.
    pub fn notify(&mut self, host: &mut Host, ring: Option<(Doorbell, u16)>) {
        let Some((doorbell, value)) = ring else { return };
        if let Some((shadow, event_index)) = host.doorbell_buffers {
            let offset = match doorbell {
                Doorbell::SubmissionTail(id) => u64::from(id.0) * 8,
                Doorbell::CompletionHead(id) => u64::from(id.0) * 8 + 4,
            };
            let read = |rig: &Self, at: u64| {
                let bytes = rig.memory.read(at + offset, 4);
                u32::from_le_bytes(bytes.try_into().unwrap()) as u16
            };
            let old = read(self, shadow);
            self.memory.write(shadow + offset, &u32::from(value).to_le_bytes());
            if !need_event(read(self, event_index), value, old) {
                return;
            }
        }
        host.rung += 1;
        self.ring(host.id, ring);
    }
    /// What stands where the next completion of a queue will be.
    pub fn entry(&self, pair: &QueuePair) -> CompletionEntry {
        let bytes = self.memory.read(pair.next_completion(), 16);
        CompletionEntry::from_bytes(bytes.try_into().unwrap())
    }
    /// Submits an admin command and runs until it has ended.
    pub fn admin(&mut self, host: &mut Host, command: Command) -> (Status, u32) {
        let submitted = host.admin.submit(command, 0).unwrap();
        self.memory.write(submitted.address, submitted.entry.as_bytes());
        self.ring(host.id, submitted.ring);
        loop {
            if let Some(done) = host.admin.consume(self.entry(&host.admin)) {
                self.ring(host.id, done.ring);
                if done.cid == submitted.cid {
                    return (done.status, done.dw0);
                }
                self.others.push(done);
                continue;
            }
            assert!(self.step(), "{:?} has no answer", submitted.entry);
        }
    }
    /// Submits an I/O command of any kind, and runs until it has ended.
    pub fn io(&mut self, host: &mut Host, queue: usize, command: Command) -> Status {
        let submitted = host.queues[queue].submit(command, 0).unwrap();
        self.memory.write(submitted.address, submitted.entry.as_bytes());
        self.ring(host.id, submitted.ring);
        loop {
            let entry = self.entry(&host.queues[queue]);
            if let Some(done) = host.queues[queue].consume(entry) {
                self.ring(host.id, done.ring);
                return done.status;
            }
            assert!(self.step(), "{:?} has no answer", submitted.entry);
        }
    }

    /// Starts a controller with the host's own start.
    pub fn start(&mut self, id: ControllerId, wanted: &Wanted) -> Host {
        let admin_entries = 8;
        let mut memory = |bytes: u64| self.memory.allocate(bytes);
        let queues: Vec<IoQueue> = wanted
            .queues
            .iter()
            .enumerate()
            .map(|(at, &(entries, priority))| IoQueue {
                entries,
                sq_address: memory(u64::from(entries) * 64),
                cq_address: memory(u64::from(entries) * 16),
                vector: wanted.interrupts.then_some(at as u16 + 1),
                priority,
            })
            .collect();
        let config = BringupConfig {
            admin_entries,
            admin_sq_address: memory(PAGE),
            admin_cq_address: memory(PAGE),
            buffer: memory(PAGE),
            page_log2: 12,
            queues: queues.clone(),
            weighted: wanted.weighted,
            coalescing: wanted.coalescing,
            doorbell_buffers: wanted.shadow.then(|| (memory(PAGE), memory(PAGE))),
        };
        let pair = |id: u16, entries, sq_address, cq_address, ring| {
            QueuePair::new(QueuePairConfig {
                sqid: SqId(id),
                cqid: CqId(id),
                sq_entries: entries,
                cq_entries: entries,
                sq_address,
                cq_address,
                ring_tail: ring,
                ring_head: ring,
            })
        };
        let admin =
            pair(0, admin_entries, config.admin_sq_address, config.admin_cq_address, RingPolicy::Each);
        let (buffer, doorbell_buffers) = (config.buffer, config.doorbell_buffers);
        let mut host = Host {
            id,
            admin,
            queues: Vec::new(),
            found: Found::default(),
            buffer,
            doorbell_buffers,
            rung: 0,
        };
        let mut start = Bringup::new(config);
        let mut action = start.next(Answer::Start).unwrap();
        loop {
            action = match action {
                Action::Read { offset } => {
                    let value = self.subsystem.read_register(id, offset);
                    let next = start.next(Answer::Register(value)).unwrap();
                    if next == action {
                        assert!(self.step(), "the controller never gets ready");
                    }
                    next
                }
                Action::Write { offset, value } => {
                    self.write_register(id, offset, value);
                    start.next(Answer::Done).unwrap()
                }
                Action::Submit { command } => {
                    let (status, dw0) = self.admin(&mut host, command);
                    let content = self.memory.read(buffer, 4096);
                    start.next(Answer::Completed { status, dw0, buffer: &content }).unwrap()
                }
                Action::Ready => break,
            };
        }
        host.found = start.found().clone();
        let pairs = queues.iter().zip(1..);
        host.queues =
            pairs.map(|(q, id)| pair(id, q.entries, q.sq_address, q.cq_address, wanted.ring)).collect();
        host
    }
}
