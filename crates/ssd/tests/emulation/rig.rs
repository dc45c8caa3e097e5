//! A front without PCIe: queues in a memory of the test, or capsules; all data are real. It may take its time.

use crate::machine::ONE;
use lanetwin_nvme::logic::host::{QueuePair, QueuePairConfig, RingPolicy, commands, point_prp, point_sgl};
use lanetwin_nvme::logic::{
    Capsule, Connection, ControllerChoice, DataLocation, Direction, HostEffect, Place, Token,
};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::pointer::{SglDescriptor, SglType};
use lanetwin_nvme::spec::registers::{ACQ, AQA, ASQ, CC};
use lanetwin_nvme::spec::{Cid, Command, CommandDword0, CompletionEntry, CqId, DataTransfer, SqId, Status};
use lanetwin_ssd::{ByteStore, MediumTimes, Output, SparseMemory, Ssd, Stage};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

/// How commands and data go between host and drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Queues in memory, data behind PRP entries.
    Rings,
    /// Queues in memory, data of I/O commands in pieces behind SGLs.
    Pieces,
    /// Commands are handed in, data are in memory behind PRP entries.
    Door,
    /// Capsules; small writes bring their data, others move by message.
    Messages,
    /// Capsules; data are in memory behind a key.
    Keys,
}
pub const WAYS: [Way; 5] = [Way::Rings, Way::Pieces, Way::Door, Way::Messages, Way::Keys];

/// How large I/O queues and the admin queue are \[entries\].
const ENTRIES: u32 = 64;
/// CC.EN with the sizes of entries that there are.
const ENABLE: u32 = 1 | 6 << 16 | 4 << 20;
/// What capsules of commands have room for \[B\].
const CAPSULE_BYTES: usize = 4096;
const KEY: u32 = 0x0102_0304;
const PAGE: u32 = 4096;

/// The end of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub name: u64,
    pub status: Status,
    pub at: Instant,
    /// What it has given.
    pub data: Vec<u8>,
}
/// What a medium did with a command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seen {
    pub name: u64,
    pub begun: Instant,
    pub submitted: Instant,
    pub done: Instant,
}

/// A command without an answer.
struct Pending {
    name: u64,
    /// What it brings, or will have been given.
    data: Vec<u8>,
    /// Where that is in memory; nowhere if the transport has it.
    pieces: Vec<(u64, u32)>,
}

pub struct Rig {
    pub ssd: Ssd,
    pub now: Instant,
    pub answers: Vec<Answer>,
    pub seen: Vec<Seen>,
    way: Way,
    memory: SparseMemory,
    free: u64,
    pairs: Vec<QueuePair>,
    pending: BTreeMap<(SqId, Cid), Pending>,
    /// Effects that are being carried out: when they are done, in the order in which they were begun.
    under_way: BTreeMap<(Instant, u64), HostEffect>,
    begun: u64,
    /// What slow fronts draw their times from; 0 for one that takes none.
    pub haste: u64,
}

impl Rig {
    /// A drive that is started, with two I/O queues.
    pub fn new(mut ssd: Ssd, way: Way) -> Self {
        ssd.mark_stages(true);
        let mut rig = Self {
            ssd,
            now: Instant::ZERO,
            answers: Vec::new(),
            seen: Vec::new(),
            way,
            memory: SparseMemory::new(),
            free: 0,
            pairs: Vec::new(),
            pending: BTreeMap::new(),
            under_way: BTreeMap::new(),
            begun: 0,
            haste: 0,
        };
        match way {
            Way::Rings | Way::Pieces => rig.start_rings(),
            Way::Door => rig.connect(DataLocation::Memory),
            Way::Messages => rig.connect(DataLocation::Messages),
            Way::Keys => rig.connect(DataLocation::Keys),
        }
        rig
    }
    fn start_rings(&mut self) {
        let admin = self.pair(0);
        let (sq, cq) = (admin.config().sq_address, admin.config().cq_address);
        self.pairs.push(admin);
        let sizes = (ENTRIES - 1) << 16 | (ENTRIES - 1);
        for (offset, value) in
            [(AQA, sizes), (ASQ, sq as u32), (ASQ + 4, 0), (ACQ, cq as u32), (ACQ + 4, 0), (CC, ENABLE)]
        {
            self.ssd.write_register(self.now, ONE, offset, value);
            self.carry_out();
        }
        for queue in 1..=2 {
            let pair = self.pair(queue);
            let (sq, cq) = (pair.config().sq_address, pair.config().cq_address);
            self.pairs.push(pair);
            let create = commands::create_cq(CqId(queue), ENTRIES, cq, Some(queue));
            assert_eq!(self.admin(create, &[], 0).status, Status::SUCCESS);
            let priority = QueuePriority::MEDIUM;
            let create = commands::create_sq(SqId(queue), ENTRIES, sq, CqId(queue), priority);
            assert_eq!(self.admin(create, &[], 0).status, Status::SUCCESS);
        }
    }
    fn pair(&mut self, queue: u16) -> QueuePair {
        QueuePair::new(QueuePairConfig {
            sqid: SqId(queue),
            cqid: CqId(queue),
            sq_entries: ENTRIES,
            cq_entries: ENTRIES,
            sq_address: self.allocate(u64::from(ENTRIES) * 64),
            cq_address: self.allocate(u64::from(ENTRIES) * 16),
            ring_tail: RingPolicy::Each,
            ring_head: RingPolicy::Each,
        })
    }
    fn connect(&mut self, data_location: DataLocation) {
        let connection = |queue| Connection {
            queue: SqId(queue),
            entries: ENTRIES,
            data_location,
            flow_control: true,
            port: 0,
        };
        let any = ControllerChoice::Any;
        assert_eq!(self.ssd.connect(any, &connection(0)), Ok(ONE));
        self.ssd.set_property(self.now, ONE, CC, ENABLE.into()).expect("a property");
        self.carry_out();
        for queue in 1..=2 {
            assert_eq!(self.ssd.connect(ControllerChoice::One(ONE), &connection(queue)), Ok(ONE));
        }
    }
    fn allocate(&mut self, bytes: u64) -> u64 {
        self.free += bytes.div_ceil(PAGE.into()) * u64::from(PAGE);
        (1 << 20) + self.free - bytes.div_ceil(PAGE.into()) * u64::from(PAGE)
    }

    /// How many commands have no answer.
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }
    /// Submits a command that brings `data`, or is given so many bytes.
    pub fn submit(&mut self, queue: u16, name: u64, command: Command, data: &[u8], given: usize) {
        match self.way {
            Way::Rings | Way::Pieces => self.submit_by_ring(queue, name, command, data, given),
            Way::Door | Way::Messages | Way::Keys => self.hand_in(queue, name, command, data, given),
        }
        self.carry_out();
    }
    fn submit_by_ring(&mut self, queue: u16, name: u64, mut command: Command, data: &[u8], given: usize) {
        let bytes = data.len().max(given);
        let scattered = self.way == Way::Pieces && queue > 0;
        let pieces = if scattered {
            self.point_at_pieces(&mut command, bytes)
        } else {
            self.point_at(&mut command, bytes)
        };
        self.write(&pieces, data);
        let submitted = self.pairs[usize::from(queue)].submit(command, name).expect("room in the queue");
        let pending = Pending { name, data: vec![0; given], pieces };
        self.pending.insert((SqId(queue), submitted.cid), pending);
        self.memory.write(submitted.address, submitted.entry.as_bytes()).expect("memory");
        if let Some((doorbell, value)) = submitted.ring {
            self.ssd.ring(self.now, ONE, doorbell, value.into());
        }
    }
    fn hand_in(&mut self, queue: u16, name: u64, mut command: Command, data: &[u8], given: usize) {
        let bytes = data.len().max(given);
        let mut pieces = Vec::new();
        let mut came = 0;
        let descriptor = match self.way {
            Way::Door => {
                pieces = self.point_at(&mut command, bytes);
                None
            }
            Way::Messages if !data.is_empty() && bytes <= CAPSULE_BYTES => {
                came = bytes;
                Some(SglDescriptor::in_capsule(0, bytes as u32))
            }
            Way::Messages => Some(SglDescriptor::by_transport(bytes as u32)),
            _ => {
                pieces = vec![(self.allocate(bytes as u64), bytes as u32)];
                let block = SglDescriptor::of(SglType::KEYED_DATA_BLOCK, pieces[0].0, bytes as u32);
                Some(SglDescriptor::from_raw(block.raw() | u128::from(KEY) << 88))
            }
        };
        let mut dword0 = command.dword0().raw() & 0xffff | (name as u32 & 0xffff) << 16;
        if let Some(descriptor) = descriptor {
            let (low, high) = descriptor.to_halves();
            command.set_prp1(low);
            command.set_prp2(high);
            dword0 = dword0 & !(3 << 14) | u32::from(DataTransfer::SGL.0) << 14;
        }
        command.set_dword0(CommandDword0::from_raw(dword0));
        self.write(&pieces, data);
        let kept = if data.is_empty() { vec![0; given] } else { data.to_vec() };
        let pending = Pending { name, data: kept, pieces };
        assert!(self.pending.insert((SqId(queue), command.cid()), pending).is_none());
        let capsule = Capsule { command, data_bytes: came as u32 };
        self.ssd.submit(self.now, ONE, SqId(queue), capsule).expect("room in the queue");
    }
    /// A buffer in one piece, behind PRP entries.
    fn point_at(&mut self, command: &mut Command, bytes: usize) -> Vec<(u64, u32)> {
        if bytes == 0 {
            return Vec::new();
        }
        let (at, list) = (self.allocate(bytes as u64 + 512), self.allocate(4096));
        // not at the beginning of a page, so that lists are needed early
        let at = at + if bytes > 2048 { 512 } else { 0 };
        if let Some(list) = point_prp(command, at, bytes as u32, PAGE, list) {
            let entries: Vec<u8> = list.entries().flat_map(u64::to_le_bytes).collect();
            self.memory.write(list.address, &entries).expect("memory");
        }
        vec![(at, bytes as u32)]
    }
    /// A buffer in several pieces, behind an SGL.
    fn point_at_pieces(&mut self, command: &mut Command, bytes: usize) -> Vec<(u64, u32)> {
        let (mut pieces, mut left) = (Vec::new(), bytes as u32);
        while left > 0 {
            let piece = left.min(700 + 1000 * pieces.len() as u32);
            pieces.push((self.allocate(piece.into()) + 4, piece));
            left -= piece;
        }
        if !pieces.is_empty() {
            let segment = self.allocate(pieces.len() as u64 * 16);
            let list = point_sgl(command, &pieces, segment);
            let list: Vec<u8> = list.iter().flat_map(|descriptor| descriptor.raw().to_le_bytes()).collect();
            self.memory.write(segment, &list).expect("memory");
        }
        pieces
    }
    fn write(&mut self, pieces: &[(u64, u32)], data: &[u8]) {
        let mut rest = data;
        for &(address, bytes) in pieces {
            let (piece, behind) = rest.split_at(rest.len().min(bytes as usize));
            self.memory.write(address, piece).expect("memory");
            rest = behind;
        }
    }
    fn read(&mut self, pieces: &[(u64, u32)]) -> Vec<u8> {
        let mut all = Vec::new();
        for &(address, bytes) in pieces {
            let mut piece = vec![0; bytes as usize];
            self.memory.read(address, &mut piece).expect("memory");
            all.extend(piece);
        }
        all
    }

    /// Submits an admin command and runs until it has ended.
    pub fn admin(&mut self, command: Command, data: &[u8], given: usize) -> Answer {
        self.ask(0, command, data, given)
    }
    /// Submits a command and runs until it has ended.
    pub fn ask(&mut self, queue: u16, command: Command, data: &[u8], given: usize) -> Answer {
        const NAME: u64 = 0xfffe;
        self.submit(queue, NAME, command, data, given);
        while !self.answers.iter().any(|answer| answer.name == NAME) {
            assert!(self.step(Instant::NEVER), "{command:?} has no answer");
        }
        let at = self.answers.iter().position(|answer| answer.name == NAME).expect("it was found");
        self.answers.remove(at)
    }
    /// When something happens next.
    pub fn next(&self) -> Instant {
        let front = self.under_way.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        self.ssd.next_wake().min(front)
    }
    /// What happens next, if that is not after `limit`. False if nothing is.
    pub fn step(&mut self, limit: Instant) -> bool {
        let next = self.next();
        if next == Instant::NEVER || next > limit {
            return false;
        }
        self.now = self.now.max(next);
        if let Some(first) = self.under_way.first_entry().filter(|first| first.key().0 <= self.now) {
            let effect = first.remove();
            self.finish(effect);
        } else {
            self.ssd.wake(self.now);
        }
        self.carry_out();
        true
    }
    /// Everything up to this time.
    pub fn run_until(&mut self, limit: Instant) {
        while self.step(limit) {}
        if limit != Instant::NEVER {
            self.now = limit;
        }
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.ssd.poll(self.now) {
            match output {
                Output::Host(effect) => self.begin(effect),
                Output::Stage { command, stage: Stage::Done(MediumTimes { begun, submitted, .. }) } => {
                    let Some(command) = command else { continue }; // a sanitize, whose command has ended
                    let name =
                        self.pending.get(&(command.sqid, command.cid)).map_or(0, |pending| pending.name);
                    self.seen.push(Seen { name, begun, submitted, done: self.now });
                }
            }
        }
    }
    /// How long the front takes for the next effect.
    fn takes(&mut self) -> Span {
        self.begun += 1;
        if self.haste == 0 {
            return Span::ZERO;
        }
        self.haste =
            self.haste.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Span::from_ns(self.haste >> 50)
    }
    fn begin(&mut self, effect: HostEffect) {
        match effect {
            HostEffect::Fetch { .. } | HostEffect::Transfer { .. } | HostEffect::Store { .. } => {
                match self.takes() {
                    Span::ZERO => self.finish(effect),
                    takes => drop(self.under_way.insert((self.now + takes, self.begun), effect)),
                }
            }
            HostEffect::Complete { queue, address, entry, .. } => {
                self.memory.write(address, &entry.to_bytes()).expect("memory");
                self.reap(queue);
            }
            HostEffect::Respond { queue, entry, .. } => self.answer(queue, entry),
            HostEffect::EventIndex { .. } | HostEffect::Interrupt { .. } => {}
            HostEffect::KeepAliveExpired { .. } => panic!("no timer was set"),
        }
    }
    fn finish(&mut self, effect: HostEffect) {
        let now = self.now;
        match effect {
            HostEffect::Fetch { token, at, bytes, .. } => {
                let bytes = self.bring(token, at, bytes);
                self.ssd.fetched(now, token, &bytes);
            }
            HostEffect::Transfer { token, direction: Direction::FromHost, at, bytes } => {
                let data = self.bring(token, at, bytes);
                self.ssd.received(now, token, &data);
            }
            HostEffect::Transfer { token, direction: Direction::ToHost, at, bytes } => {
                let data = self.ssd.data(token).to_vec();
                assert!(data.is_empty() || data.len() == bytes as usize);
                self.give(token, at, &data);
                self.ssd.transferred(now, token);
            }
            HostEffect::Store { token, at, .. } => {
                let content = self.ssd.content(token).to_vec();
                self.give(token, at, &content);
                self.ssd.stored(now, token);
            }
            other => panic!("{other:?} takes no time"),
        }
    }
    /// Where bytes are in memory.
    fn pieces(&self, token: Token, at: Place, bytes: u32) -> Vec<(u64, u32)> {
        match at {
            Place::Memory { address } => vec![(address, bytes)],
            Place::Scattered { pieces } => {
                let all: Vec<_> =
                    self.ssd.segments(token).map(|piece| (piece.address, piece.bytes)).collect();
                assert_eq!(all.len(), pieces as usize);
                all
            }
            Place::Keyed { address, key } => {
                assert_eq!(key, KEY);
                vec![(address, bytes)]
            }
            Place::Capsule { .. } | Place::Transport { .. } => panic!("it is in no memory"),
        }
    }
    fn command_of(&mut self, token: Token) -> &mut Pending {
        let command = self.ssd.command(token).expect("a command");
        self.pending.get_mut(&(command.sqid, command.cid)).expect("it has no answer yet")
    }
    fn bring(&mut self, token: Token, at: Place, bytes: u32) -> Vec<u8> {
        if let Place::Capsule { offset } | Place::Transport { offset } = at {
            return self.command_of(token).data[offset as usize..][..bytes as usize].to_vec();
        }
        let pieces = self.pieces(token, at, bytes);
        self.read(&pieces)
    }
    fn give(&mut self, token: Token, at: Place, data: &[u8]) {
        match at {
            Place::Capsule { .. } => panic!("a capsule of a command brings data only"),
            Place::Transport { offset } => {
                self.command_of(token).data[offset as usize..][..data.len()].copy_from_slice(data);
            }
            _ => {
                let pieces = self.pieces(token, at, data.len() as u32);
                self.write(&pieces, data);
            }
        }
    }
    /// Takes the completions that stand in a queue.
    fn reap(&mut self, queue: CqId) {
        loop {
            let pair = &self.pairs[queue.index()];
            let mut entry = [0; 16];
            self.memory.read(pair.next_completion(), &mut entry).expect("memory");
            let entry = CompletionEntry::from_bytes(entry);
            let Some(done) = self.pairs[queue.index()].consume(entry) else { return };
            if let Some((doorbell, value)) = done.ring {
                self.ssd.ring(self.now, ONE, doorbell, value.into());
            }
            self.answer(SqId(queue.0), entry);
        }
    }
    fn answer(&mut self, queue: SqId, entry: CompletionEntry) {
        let Pending { name, data, pieces } =
            self.pending.remove(&(queue, entry.cid())).expect("nobody is answered twice");
        let data = if pieces.is_empty() { data } else { self.read(&pieces) };
        self.answers.push(Answer { name, status: entry.status(), at: self.now, data });
    }
}
