//! The PCI function without a socket: reads and writes of its regions in, memory of the guest, interrupts and commands
//! for the drive out.

use super::config_space::{self, ConfigSpace};
use super::link::LinkSeen;
use super::memory::Memory;
use super::wire::Region;
use super::{BAR_BYTES, IO_QUEUES, PENDING_AT, TABLE_AT, VENDOR_ID};
use crate::drive::Facts;
use crate::engine::Reply;
use crate::medium::{ForDrives, MediaEnd, Medium};
use lanetwin_nvme::logic::{
    ControllerConfig, Direction, Effect, Health, HostEffect, LbaFormat, NamespaceConfig, Place, Subsystem,
    SubsystemConfig, Telemetry, Token,
};
use lanetwin_nvme::spec::{CompletionEntry, ControllerId, Nsid};
use lanetwin_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};

/// MDTS: 2^7 pages of 4 KiB, 512 KiB.
const TRANSFER_LOG2: u8 = 7;
/// Bytes of an entry of the MSI-X table.
const TABLE_ENTRY: usize = 16;
const CONTROLLER: ControllerId = ControllerId(1);

/// An interrupt vector.
#[derive(Default)]
struct Vector {
    /// The eventfd to signal.
    eventfd: Option<OwnedFd>,
    /// Whether it was signalled while there was no eventfd.
    is_pending: bool,
}

/// The function.
pub struct Function {
    subsystem: Subsystem,
    medium: Medium,
    memory: Memory,
    space: ConfigSpace,
    table: Vec<u8>,
    vectors: Vec<Vector>,
    wanted: VecDeque<Effect>,
    for_drives: Vec<ForDrives>,
    wakes: BinaryHeap<Reverse<Instant>>,
    /// A controller was reset since there were none: some data may be of commands that are gone.
    is_doubtful: bool,
    /// Nothing answers: the link is down, or the drive is pulled out.
    is_away: bool,
}

impl Function {
    /// A drive of this name after power on.
    ///
    /// # Errors
    /// What of it cannot be.
    pub fn new(name: &str, facts: Facts, link: &LinkSeen) -> Result<Self, String> {
        let config = subsystem(name, facts);
        let vectors = usize::from(IO_QUEUES) + 1;
        Ok(Self {
            subsystem: Subsystem::new(&config).map_err(|fault| fault.to_string())?,
            medium: Medium::new(vec![facts]),
            memory: Memory::default(),
            space: ConfigSpace::new(link, IO_QUEUES + 1),
            table: vec![0; vectors * TABLE_ENTRY],
            vectors: std::iter::repeat_with(Vector::default).take(vectors).collect(),
            wanted: VecDeque::new(),
            for_drives: Vec::new(),
            wakes: BinaryHeap::new(),
            is_doubtful: false,
            is_away: false,
        })
    }
    /// Size of a region \[B\]; 0 for one that does not exist.
    #[must_use]
    pub const fn region_bytes(region: Region) -> u64 {
        match region {
            Region::BAR0 => BAR_BYTES,
            Region::CONFIG => config_space::BYTES as u64,
            _ => 0,
        }
    }
    /// Number of MSI-X vectors.
    #[must_use]
    pub const fn vectors(&self) -> u32 {
        self.vectors.len() as u32
    }
    /// Memory of the guest.
    pub const fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
    /// Takes actions for the drive; [`Function::answered`] gets the replies.
    pub fn take(&mut self) -> Vec<ForDrives> {
        std::mem::take(&mut self.for_drives)
    }
    /// Whether it holds no data of any command.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.medium.is_at_rest()
    }

    /// Reads a region; the bytes are within it.
    pub fn read(&self, region: Region, offset: u64, into: &mut [u8]) {
        if self.is_away {
            return into.fill(0xff);
        }
        match region {
            Region::CONFIG => into.copy_from_slice(self.space.read(offset as usize, into.len())),
            _ => (offset..).zip(into).for_each(|(at, byte)| *byte = self.bar_byte(at)),
        }
    }
    fn bar_byte(&self, at: u64) -> u8 {
        if at >= PENDING_AT {
            let first = (at - PENDING_AT) as usize * 8;
            let bits = self.vectors.iter().skip(first).take(8);
            return bits.rev().fold(0, |byte, vector| byte << 1 | u8::from(vector.is_pending));
        }
        if at >= TABLE_AT {
            return self.table.get((at - TABLE_AT) as usize).copied().unwrap_or(0);
        }
        let dword = self.subsystem.read_register(CONTROLLER, at as u32 & !3);
        dword.to_le_bytes()[at as usize & 3]
    }
    /// Writes a region; the bytes are within it.
    pub fn write(&mut self, now: Instant, region: Region, offset: u64, bytes: &[u8]) {
        if self.is_away {
            return;
        }
        if region == Region::CONFIG {
            if self.space.write(offset as usize, bytes) {
                self.reset(now);
            }
            return;
        }
        if offset >= TABLE_AT {
            let table = self.table.iter_mut().skip((offset - TABLE_AT) as usize);
            return table.zip(bytes).for_each(|(held, byte)| *held = *byte);
        }
        // registers are accessed in whole dwords (PCIe Transport 1.0 §3.1); other writes have no effect
        if !offset.is_multiple_of(4) {
            return;
        }
        for (at, dword) in (offset as u32..).step_by(4).zip(bytes.as_chunks().0) {
            let value = u32::from_le_bytes(*dword);
            self.at_subsystem(|subsystem, out| subsystem.write_register(now, CONTROLLER, at, value, out));
        }
        self.go_on(now);
    }
    /// Sets the eventfd of a vector, if the vector exists; signals it at once if the vector is pending.
    pub fn set_vector(&mut self, vector: usize, eventfd: Option<OwnedFd>) {
        let Some(known) = self.vectors.get_mut(vector) else { return };
        known.eventfd = eventfd;
        if std::mem::take(&mut known.is_pending) {
            self.signal(vector);
        }
    }
    /// Signals a vector.
    pub fn signal(&mut self, vector: usize) {
        let Some(known) = self.vectors.get_mut(vector) else { return };
        match &known.eventfd {
            Some(eventfd) => tell(eventfd),
            None => known.is_pending = true,
        }
    }
    /// Resets the function: by its register, by the client, or because a link went down. Pending vectors are dropped.
    pub fn reset(&mut self, now: Instant) {
        self.space.reset();
        self.table.fill(0);
        self.vectors.iter_mut().for_each(|vector| vector.is_pending = false);
        self.is_doubtful = true;
        self.at_subsystem(|subsystem, out| subsystem.reset(now, CONTROLLER, out));
        self.go_on(now);
    }
    /// The client is gone, with its memory and its interrupts.
    pub fn lost(&mut self, now: Instant) {
        self.memory.clear();
        self.vectors.iter_mut().for_each(|vector| *vector = Vector::default());
        self.reset(now);
    }
    /// Sets whether the drive is absent, because its link is down or it was removed. Then reads return ones and
    /// writes are lost; when it comes back it is in the state after a reset.
    pub fn set_away(&mut self, now: Instant, is_away: bool) {
        if is_away && !self.is_away {
            self.reset(now);
        }
        self.is_away = is_away;
    }

    /// The drive has replied.
    pub fn answered(&mut self, now: Instant, reply: Reply) {
        if let Some(end) = self.medium.answered(reply) {
            self.end(now, end);
        }
        self.go_on(now);
    }
    /// Reports the state of the drive.
    pub fn told(&mut self, now: Instant, token: Token, state: &Telemetry) {
        self.at_subsystem(|subsystem, out| subsystem.telemetry(now, token, state, out));
        self.go_on(now);
    }
    /// When [`Function::wake`] must be called next.
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        self.wakes.peek().map_or(Instant::NEVER, |Reverse(at)| *at)
    }
    /// Time has come to `now`.
    pub fn wake(&mut self, now: Instant) {
        if self.next_wake() > now {
            return;
        }
        while self.next_wake() <= now {
            self.wakes.pop();
        }
        self.at_subsystem(|subsystem, out| subsystem.wake(now, out));
        self.go_on(now);
    }

    fn at_subsystem(&mut self, act: impl FnOnce(&mut Subsystem, &mut Vec<Effect>)) {
        let mut out = Vec::new();
        act(&mut self.subsystem, &mut out);
        self.wanted.extend(out);
    }
    fn end(&mut self, now: Instant, end: MediaEnd) {
        let mut out = Vec::new();
        self.medium.end(now, end, &mut self.subsystem, &mut out);
        self.wanted.extend(out);
    }
    /// Until nothing more follows.
    fn go_on(&mut self, now: Instant) {
        while let Some(effect) = self.wanted.pop_front() {
            match effect {
                Effect::Media { token, request } => {
                    let (asked, ended) = self.medium.ask(token, request);
                    self.for_drives.extend(asked);
                    ended.into_iter().for_each(|end| self.end(now, end));
                }
                Effect::Health { token } => {
                    self.at_subsystem(|subsystem, out| subsystem.health(now, token, &Health::default(), out));
                }
                Effect::Telemetry { token } => self.for_drives.push(ForDrives::Tell { token }),
                Effect::WakeAt { at } => self.wakes.push(Reverse(at.max(now))),
                Effect::Host(effect) => self.perform(now, effect),
            }
        }
        if self.is_doubtful {
            self.medium.sweep(&self.subsystem);
            self.is_doubtful = self.medium.has_data();
        }
    }
    /// Carries out an effect of the controller at the guest.
    fn perform(&mut self, now: Instant, effect: HostEffect) {
        match effect {
            HostEffect::Fetch { token, at, bytes, .. } => match self.gather((token, at), bytes) {
                Some(bytes) => {
                    self.at_subsystem(|subsystem, out| subsystem.fetched(now, token, &bytes, out));
                }
                None => self.failed(now, token),
            },
            HostEffect::Transfer { token, direction: Direction::FromHost, bytes, at } => {
                let data =
                    self.medium.reserve(token, bytes).then(|| self.gather((token, at), bytes)).flatten();
                let Some(data) = data else { return self.failed(now, token) };
                let mut out = Vec::new();
                self.medium.bring(now, (token, data), &mut self.subsystem, &mut out);
                self.wanted.extend(out);
            }
            HostEffect::Transfer { token, at, .. } => {
                let data = self.medium.hand_out(token).unwrap_or_default();
                self.give(now, (token, at), &data);
            }
            HostEffect::Store { token, at, .. } => {
                let content = self.subsystem.content(token).to_vec();
                self.give(now, (token, at), &content);
            }
            HostEffect::Complete { address, entry, .. } => self.complete(address, entry),
            HostEffect::EventIndex { address, value, .. } => {
                let _ = self.memory.write(address, &value.to_le_bytes());
            }
            HostEffect::Interrupt { vector, .. } => self.signal(vector.into()),
            // only for queues with submitted capsules, which a PCI function does not have
            HostEffect::Respond { .. } | HostEffect::KeepAliveExpired { .. } => {}
        }
    }
    /// Writes a completion: its second half, in which the phase is, when the first is there. A write to nowhere is
    /// lost, as one over a link is.
    fn complete(&self, address: u64, entry: CompletionEntry) {
        let bytes = entry.to_bytes();
        let (first, second) = bytes.split_at(8);
        let _ = self.memory.write(address, first) && self.memory.write(address.wrapping_add(8), second);
    }
    fn failed(&mut self, now: Instant, token: Token) {
        self.medium.forget(token);
        self.at_subsystem(|subsystem, out| subsystem.failed(now, token, out));
    }
    /// The pieces of memory of an effect.
    fn pieces(&self, (token, at): (Token, Place), bytes: u32) -> Vec<(u64, usize)> {
        match at {
            Place::Memory { address } => vec![(address, bytes as usize)],
            Place::Scattered { .. } => {
                let segments = self.subsystem.segments(token);
                segments.map(|segment| (segment.address, segment.bytes as usize)).collect()
            }
            // of fabrics
            Place::Capsule { .. } | Place::Transport { .. } | Place::Keyed { .. } => Vec::new(),
        }
    }
    fn gather(&self, from: (Token, Place), bytes: u32) -> Option<Vec<u8>> {
        let mut data = vec![0; bytes as usize];
        let mut rest = &mut data[..];
        for (address, length) in self.pieces(from, bytes) {
            let (piece, behind) = rest.split_at_mut_checked(length)?;
            rest = behind;
            if !self.memory.read(address, piece) {
                return None;
            }
        }
        rest.is_empty().then_some(data)
    }
    fn give(&mut self, now: Instant, to: (Token, Place), data: &[u8]) {
        let mut rest = data;
        let is_given = self.pieces(to, data.len() as u32).into_iter().all(|(address, length)| {
            let piece = rest.split_at_checked(length);
            piece.is_some_and(|(piece, behind)| {
                rest = behind;
                self.memory.write(address, piece)
            })
        });
        if !is_given || !rest.is_empty() || data.is_empty() {
            return self.failed(now, to.0);
        }
        self.at_subsystem(|subsystem, out| subsystem.transferred(now, to.0, out));
    }
}

/// Signals an eventfd. If its counter is full, the signal is dropped without blocking.
fn tell(eventfd: &OwnedFd) {
    let waits_not = fcntl_getfl(eventfd).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK));
    let is_ready = || {
        let mut fds = [PollFd::from_borrowed_fd(eventfd.as_fd(), PollFlags::OUT)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents() == PollFlags::OUT
    };
    if waits_not || is_ready() {
        let _ = rustix::io::write(eventfd, &1_u64.to_ne_bytes());
    }
}

fn subsystem(name: &str, facts: Facts) -> SubsystemConfig {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' };
    let name: String = name.chars().map(fits).take(20).collect();
    let controller = ControllerConfig {
        io_queues: IO_QUEUES,
        transfer_log2: TRANSFER_LOG2,
        vectors: IO_QUEUES + 1,
        weighted_round_robin: false,
        // a command enters the machine when its doorbell is rung, which is then always
        doorbell_buffers: false,
        ..ControllerConfig::new(CONTROLLER)
    };
    SubsystemConfig {
        nqn: format!("nqn.2026-01.org.lanetwin:{name}"),
        serial: name,
        model: "lanetwin emulated drive".into(),
        firmware: env!("CARGO_PKG_VERSION").chars().take(8).collect(),
        vendor: VENDOR_ID,
        namespaces: vec![NamespaceConfig {
            nsid: Nsid(1),
            bytes: facts.bytes,
            formats: vec![LbaFormat { data_size_log2: facts.block.trailing_zeros() as u8 }],
            format: 0,
            attached: vec![CONTROLLER],
            zero_after_deallocate: true,
        }],
        controllers: vec![controller],
        volatile_write_cache: facts.is_volatile,
        atomic_write_blocks: (facts.atomic / facts.block).max(1),
        access_ports: 0,
    }
}
