//! A queue pair and the core that its software runs on: requests become commands, completions become answers.

use super::buffers::{Lists, data_address};
use super::cpu::CpuUse;
use super::schedule::is_scheduled;
use crate::ask::Ask;
use crate::gauge::Gauge;
use crate::nvme_software::Software;
use crate::slab::Slab;
use lanetwin_kernel::Trail;
use lanetwin_nvme::logic::host::{Completed, QueuePair, commands};
use lanetwin_nvme::spec::Doorbell;
use lanetwin_nvme::spec::completion::COMPLETION_ENTRY_BYTES;
use lanetwin_nvme::spec::io::{BlocksDword12, DatasetRange};
use lanetwin_nvme::spec::{Command, CompletionEntry, IoOpcode, Nsid};
use lanetwin_ports::{Context, HostMemory, RunQueue, SharedMemory, Status, device_memory};
use lanetwin_units::{Instant, Span, Spread};
use std::collections::VecDeque;

lanetwin_kernel::stages! {
    CORE = "queue for the core",
    SUBMIT = "submit",
    POLL = "poll",
    INTERRUPT = "interrupt",
    COMPLETE = "complete",
    PATH = "loss of the path",
}

/// The most blocks that a command can be about (NVM Command Set 1.0, section 3.2.8: NLB has 16 bits, counted from 0).
const MOST_BLOCKS: u32 = 1 << 16;

/// A queue pair, its core, and its requests.
pub(super) struct Queue {
    pub(super) pair: QueuePair,
    pub(super) core: RunQueue,
    software: Software,
    /// Variation of the times of submissions and completions.
    spread: Spread,
    /// Number of commands so far.
    number: u64,
    /// Requests that are no commands yet, or not all of them; the first may be part done.
    waiting: VecDeque<Waiting>,
    requests: Slab<Request>,
    /// Commands in progress, by the command identifiers of the pair.
    commands: Slab<Part>,
    lists: Lists,
    /// Whether a look at the completions is scheduled.
    pub(super) looking: bool,
    /// Whether a ring of the doorbell is scheduled for commands submitted without one.
    pub(super) ringing: bool,
    /// End of the core's handling of the last look.
    handling: Instant,
    /// When the last command so far will have been submitted.
    pub(super) submitted: Instant,
    pub(super) in_flight: Gauge,
    pub(super) queued: Gauge,
    /// Answers of the last look; kept for its room.
    answers: Vec<Answer>,
    /// Completed scheduled commands, and when their program knows.
    pub(super) asked: Vec<(Completed, Instant)>,
    pub(super) cpu: CpuUse,
}

/// A request, of which some bytes have become commands.
struct Waiting {
    slot: u32,
    from: u32,
}

/// A command: the bytes of its request, and when it was submitted.
struct Part {
    /// Number of earlier commands of the queue.
    number: u64,
    slot: u32,
    bytes: u32,
    submitted: Instant,
}

/// A request of a program.
#[derive(Clone, Copy)]
struct Request {
    ask: Ask,
    trail: Trail,
    /// Address of its data; not known before its first command.
    data: Option<u64>,
    /// Bytes not completed \[B\].
    left: u32,
    status: Status,
}

/// Limits of commands.
#[derive(Clone, Default, Debug)]
pub(super) struct Limits {
    /// The most that a command can move \[B\].
    pub(super) transfer: u32,
    /// The size of a logical block of each namespace \[B\]: a power of two, or 0 if it is not known.
    pub(super) blocks: Vec<u32>,
}

impl Limits {
    /// Size of a logical block of the namespace. Returns `None` if there is no such namespace.
    pub(super) fn block(&self, unit: u16) -> Option<u32> {
        self.blocks.get(usize::from(unit)).copied()
    }
    /// Whether commands can express the request: whole blocks of an existing namespace, or all of it.
    pub(super) fn allow(&self, ask: &Ask) -> bool {
        self.block(ask.unit).is_some_and(|block| {
            let within = block.wrapping_sub(1);
            let whole = ask.bytes & within == 0 && ask.address & u64::from(within) == 0;
            if ask.opcode == IoOpcode::FLUSH { ask.bytes == 0 } else { ask.bytes > 0 && whole }
        })
    }
    /// Largest number of bytes of a command for this request.
    fn most(&self, ask: &Ask, block: u32) -> u32 {
        match ask.opcode {
            IoOpcode::READ | IoOpcode::WRITE => self.transfer,
            IoOpcode::WRITE_ZEROES => block.saturating_mul(MOST_BLOCKS),
            _ => u32::MAX,
        }
    }
}

/// The answer to a request, and when the program knows.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) handle: u32,
    pub(super) status: Status,
    pub(super) at: Instant,
    pub(super) trail: Trail,
}

/// A doorbell, its value, and the time.
pub(super) struct Ring {
    pub(super) doorbell: Doorbell,
    pub(super) value: u16,
    pub(super) at: Instant,
}

impl Queue {
    pub(super) fn new(pair: QueuePair, (software, spread): (Software, Spread), core: RunQueue) -> Self {
        Self {
            pair,
            core,
            software,
            spread,
            number: 0,
            waiting: VecDeque::new(),
            requests: Slab::new(),
            commands: Slab::new(),
            lists: Lists::default(),
            looking: false,
            ringing: false,
            handling: Instant::ZERO,
            submitted: Instant::ZERO,
            in_flight: Gauge::default(),
            queued: Gauge::default(),
            answers: Vec::new(),
            asked: Vec::new(),
            cpu: CpuUse::default(),
        }
    }

    /// Queues a request; [`Queue::submit`] makes its commands.
    pub(super) fn take(&mut self, ask: Ask, cx: &Context<'_>) {
        let (trail, left) = (cx.trail(), ask.bytes);
        let slot = self.requests.put(Request { ask, trail, data: None, left, status: Status::Ok });
        self.waiting.push_back(Waiting { slot, from: 0 });
        self.queued.add(1, cx.now());
    }

    /// The first waiting request, if there is one.
    pub(super) fn first(&mut self) -> Option<Ask> {
        let slot = self.waiting.front()?.slot;
        self.requests.get(slot).map(|request| request.ask)
    }
    /// Drops the first waiting request.
    pub(super) fn drop_first(&mut self, now: Instant) {
        if let Some(Waiting { slot, .. }) = self.waiting.pop_front() {
            self.queued.remove(1, now);
            self.requests.take(slot);
        }
    }

    /// Makes the next command of a waiting request, if there is one and the queue has room; its request is then the
    /// one being handled. Returns when it is submitted, and whether it rings the doorbell itself.
    pub(super) fn submit(
        &mut self,
        limits: &Limits,
        memory: &SharedMemory,
        cx: &mut Context<'_>,
    ) -> Option<Option<Ring>> {
        let now = cx.now();
        let Waiting { slot, from } = self.waiting.front_mut()?;
        let request = self.requests.get(*slot).expect("a request waits once");
        let Request { ask, trail, .. } = *request;
        let block = limits.block(ask.unit).expect("what waits is of a namespace");
        let bytes = limits.most(&ask, block).min(ask.bytes - *from);
        let number = self.number;
        let name = self.commands.put(Part { number, slot: *slot, bytes, submitted: now });
        let mut memory = memory.change();
        let mapping = self.software.mapping.filter(|_| memory.is_translated());
        let pointers = match ask.opcode {
            IoOpcode::READ | IoOpcode::WRITE => {
                let data = *request.data.get_or_insert_with(|| {
                    let mapped = mapping.and_then(|_| memory.map(ask.bytes.into()));
                    mapped.unwrap_or_else(|| self.software.data_address(&ask))
                });
                let host = data + u64::from(*from);
                (host, self.lists.second_pointer(name, host, bytes, limits.transfer, &mut memory))
            }
            IoOpcode::DATASET_MANAGEMENT => {
                let range = range(&ask, (*from, bytes), block);
                (self.lists.range(name as usize, &range.raw().to_le_bytes(), &mut memory), 0)
            }
            _ => (0, 0),
        };
        let command = command(&ask, (*from, bytes), pointers, block);
        let Ok(submitted) = self.pair.submit(command, name.into()) else {
            self.commands.take(name);
            return None;
        };
        memory.write(submitted.address, submitted.entry.as_bytes());
        *from += bytes;
        if *from == ask.bytes {
            self.waiting.pop_front();
            self.queued.remove(1, now);
        }
        self.in_flight.add(1, now);
        self.number += 1;
        let cost = self.software.submit + mapping.map_or(Span::ZERO, |mapping| mapping.map);
        let cost = self.spread.span(cost, 2 * number);
        let begun = self.core.serve(now, cost);
        self.cpu.submitting += cost;
        self.submitted = begun + cost;
        let at = self.submitted;
        if let Some(part) = self.commands.get(name) {
            part.submitted = at;
        }
        cx.resume(trail);
        cx.mark_until(begun, CORE);
        cx.mark_until(at, SUBMIT);
        memory.leave_trail(submitted.address, cx.trail());
        Some(submitted.ring.map(|(doorbell, value)| Ring { doorbell, value, at }))
    }
    /// When the doorbell is rung for commands submitted without one.
    pub(super) fn ring_at(&self) -> Instant {
        self.handling.max(self.submitted)
    }

    /// Submission time of the oldest command without a completion, if there is one.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.commands.iter().map(|part| part.submitted).min()
    }
    /// Drops all requests that have not been answered: returns their handles and initial trails. Their effect on the
    /// drive is not known.
    pub(super) fn give_up(&mut self, now: Instant) -> Vec<(u32, Trail)> {
        self.queued.remove(self.waiting.len() as u64, now);
        self.waiting.clear();
        self.in_flight.remove(self.commands.drain().count() as u64, now);
        self.requests.drain().map(|request| (request.ask.handle, request.trail)).collect()
    }
    /// Goes on with another pair of rings; nothing is in flight in them. Gives the regions of host memory that its
    /// lists were in.
    pub(super) fn renew(&mut self, pair: QueuePair, now: Instant) -> Vec<u64> {
        self.in_flight.remove(self.in_flight.number(), now);
        self.pair = pair;
        std::mem::take(&mut self.lists).into_regions()
    }

    /// Handles a completion entry, or its interrupt: returns when the core looks, or `None` if a look is scheduled
    /// anyway.
    pub(super) fn notice(&mut self, now: Instant) -> Option<Instant> {
        if std::mem::replace(&mut self.looking, true) {
            return None;
        }
        Some(if self.software.polled {
            self.core.serve(now, Span::ZERO) + self.software.notice
        } else {
            // an interrupt goes before whatever waits: that is later by as much
            self.core.serve(now, self.software.notice);
            self.cpu.interrupted += self.software.notice;
            self.cpu.interrupts += 1;
            now + self.software.notice
        })
    }

    /// Reaps completions: the answers that they make, and the head doorbell, if it is to be rung.
    pub(super) fn reap_completions(
        &mut self,
        memory: &SharedMemory,
        cx: &mut Context<'_>,
    ) -> (&[Answer], Option<Ring>) {
        let now = cx.now();
        let notice = if self.software.polled { POLL } else { INTERRUPT };
        self.looking = false;
        self.answers.clear();
        let memory = memory.reader();
        let mapping = self.software.mapping.filter(|_| memory.is_translated());
        let complete = self.software.complete + mapping.map_or(Span::ZERO, |mapping| mapping.unmap);
        loop {
            let entry = self.pair.next_completion();
            let Some(completed) = next(&mut self.pair, &memory) else { break };
            let part = u32::try_from(completed.name).ok().and_then(|name| self.commands.take(name));
            let complete =
                part.as_ref().map_or(complete, |part| self.spread.span(complete, 2 * part.number + 1));
            let completing = self.core.serve(now, complete);
            self.cpu.completing += complete;
            self.handling = completing + complete;
            self.in_flight.remove(1, now);
            let Some(Part { slot, bytes, .. }) = part else {
                if is_scheduled(completed.name) {
                    self.asked.push((completed, self.handling));
                }
                continue;
            };
            let Some(request) = self.requests.get(slot) else { continue };
            if !completed.status.is_success() {
                request.status = Status::Aborted;
            }
            request.left -= bytes;
            if request.left == 0 {
                let (handle, status) = (request.ask.handle, request.status);
                self.requests.take(slot);
                cx.resume(memory.trail(entry));
                cx.mark(notice);
                cx.mark_until(completing, CORE);
                cx.mark_until(self.handling, COMPLETE);
                self.answers.push(Answer { handle, status, at: self.handling, trail: cx.trail() });
            }
        }
        let at = self.handling.max(now);
        let ring = self.pair.flush_head().map(|(doorbell, value)| Ring { doorbell, value, at });
        (&self.answers, ring)
    }
}

impl Software {
    /// Address of the data of a request.
    fn data_address(&self, ask: &Ask) -> u64 {
        let own = data_address(ask.handle, ask.bytes);
        match self.staging {
            Some((device, in_capsule)) if ask.opcode == IoOpcode::READ || ask.bytes > in_capsule => {
                device_memory(device, own)
            }
            _ => own,
        }
    }
}

/// The next completion, if it is there.
pub(super) fn next(pair: &mut QueuePair, memory: &HostMemory) -> Option<Completed> {
    let bytes = memory.read(pair.next_completion(), COMPLETION_ENTRY_BYTES as usize)?;
    pair.consume(CompletionEntry::from_bytes(bytes.try_into().ok()?))
}

/// The blocks of a part of a request: first block and number.
fn blocks_of(ask: &Ask, (from, bytes): (u32, u32), block: u32) -> (u64, u32) {
    let block_log2 = block.trailing_zeros();
    ((ask.address + u64::from(from)) >> block_log2, bytes >> block_log2)
}

/// The range of a Dataset Management command in memory.
fn range(ask: &Ask, part: (u32, u32), block: u32) -> DatasetRange {
    let (slba, blocks) = blocks_of(ask, part, block);
    let range = DatasetRange::ZERO.with_blocks(blocks).and_then(|word| word.with_slba(slba));
    range.expect("fields of their width")
}

/// The command for `bytes` of a request from `from` on, with its data pointer.
fn command(ask: &Ask, part: (u32, u32), (prp1, prp2): (u64, u64), block: u32) -> Command {
    let nsid = Nsid(u32::from(ask.unit) + 1);
    let mut command = match ask.opcode {
        IoOpcode::FLUSH => commands::flush(nsid),
        IoOpcode::DATASET_MANAGEMENT => commands::deallocate(nsid, 1),
        opcode => {
            let (slba, blocks) = blocks_of(ask, part, block);
            let count = BlocksDword12::ZERO.with_blocks_less_1((blocks - 1) as u16);
            let mut command = commands::command(opcode.0, nsid);
            command.set_cdw10(slba as u32);
            command.set_cdw11((slba >> 32) as u32);
            command.set_cdw12(count.expect("a number of blocks fits").raw());
            command
        }
    };
    command.set_prp1(prp1);
    command.set_prp2(prp2);
    command
}
