//! A host that reads and writes at random, knows what every block holds, and checks what it reads.

use super::{Host, Rig, Rng};
use lanetwin_nvme::logic::host::{commands, point_prp, point_sgl};
use lanetwin_nvme::spec::{Command, Nsid, Status};
use std::collections::{BTreeMap, BTreeSet};

/// What a command has to do.
#[derive(Clone, Debug)]
pub struct Task {
    pub command: Command,
    pub expected: Status,
    pub blocks: Vec<(Nsid, u64)>,
    /// What it writes into each block; none for a read.
    pub writes: Option<u8>,
    pub reads: bool,
    pub buffer: u64,
    pub answers: u32,
}

/// The commands of a host, and what it knows.
pub struct Load {
    pub tasks: Vec<Task>,
    /// Blocks that a command is about, which is not answered.
    locked: BTreeSet<(Nsid, u64)>,
    pub content: BTreeMap<(Nsid, u64), u8>,
    pub block_bytes: u64,
    pub nsid: Nsid,
    pub blocks: u64,
    pub longest: u64,
    /// With lists of both kinds, and commands that fail.
    pub mixed: bool,
    next_tag: u8,
}

impl Load {
    pub fn new(nsid: Nsid, blocks: u64, block_bytes: u64, longest: u64, mixed: bool) -> Self {
        Self {
            tasks: Vec::new(),
            locked: BTreeSet::new(),
            content: BTreeMap::new(),
            block_bytes,
            nsid,
            blocks,
            longest,
            mixed,
            next_tag: 1,
        }
    }
    pub fn unanswered(&self) -> usize {
        self.tasks.iter().filter(|task| task.answers == 0).count()
    }
    /// A new command, whose blocks are nobody else's for now; none if that did not work out.
    pub fn draw(&mut self, rig: &mut Rig) -> Option<usize> {
        let rng = &mut rig.rng;
        let count = 1 + rng.below(self.longest);
        let slba = rng.below(self.blocks - count + 1);
        let blocks: Vec<_> = (slba..slba + count).map(|lba| (self.nsid, lba)).collect();
        if blocks.iter().any(|block| self.locked.contains(block)) {
            return None;
        }
        let write = rng.one_in(2);
        let draw = if self.mixed { rng.below(12) } else { 5 };
        let bytes = (count * self.block_bytes) as u32;
        // not aligned to pages, but to dwords
        let offset = rng.below(1024) * 4;
        let buffer = rig.memory.allocate(u64::from(bytes) + offset) + offset;
        let mut task = Task {
            command: if write {
                commands::write(self.nsid, slba, count as u32)
            } else {
                commands::read(self.nsid, slba, count as u32)
            },
            expected: Status::SUCCESS,
            blocks,
            writes: None,
            reads: false,
            buffer,
            answers: 0,
        };
        match draw {
            0 => wrong(&mut task, commands::read(self.nsid, self.blocks, 1), Status::LBA_OUT_OF_RANGE),
            1 => {
                let elsewhere = commands::write(Nsid(77), 0, 1);
                wrong(&mut task, elsewhere, Status::INVALID_NAMESPACE_OR_FORMAT);
            }
            2 => {
                let mut odd = task.command;
                odd.set_prp1(buffer | 1);
                wrong(&mut task, odd, Status::PRP_OFFSET_INVALID);
            }
            3 => wrong(&mut task, commands::flush(self.nsid), Status::SUCCESS),
            _ => {
                point(rig, &mut task.command, buffer, bytes, self.mixed && draw % 2 == 0);
                if write {
                    let tag = self.next_tag;
                    self.next_tag = self.next_tag.wrapping_add(1).max(1);
                    task.writes = Some(tag);
                    rig.memory.write(buffer, &vec![tag; bytes as usize]);
                } else {
                    task.reads = true;
                }
            }
        }
        self.locked.extend(task.blocks.iter().copied());
        self.tasks.push(task);
        Some(self.tasks.len() - 1)
    }
    /// A command has its answer.
    pub fn answer(&mut self, rig: &Rig, name: u64, status: Status) {
        let task = &mut self.tasks[name as usize];
        task.answers += 1;
        assert_eq!(task.answers, 1, "{task:?} is answered twice");
        assert_eq!(status, task.expected, "{task:?}");
        for (at, block) in task.blocks.iter().enumerate() {
            self.locked.remove(block);
            if let Some(tag) = task.writes {
                self.content.insert(*block, tag);
            }
            if task.reads {
                let known = self.content.get(block).copied().unwrap_or(0);
                let place = task.buffer + at as u64 * self.block_bytes;
                let read = rig.memory.read(place, self.block_bytes as usize);
                assert!(read.iter().all(|&byte| byte == known), "{block:?} holds {known}, reads {}", read[0]);
            }
        }
    }
    /// The medium holds what the host was told it holds.
    pub fn check_media(&self, rig: &Rig) {
        for lba in 0..self.blocks {
            let known = self.content.get(&(self.nsid, lba)).copied().unwrap_or(0);
            let there = rig.media.get(&(self.nsid, lba)).map_or(0, |block| block[0]);
            assert_eq!(there, known, "block {lba}");
        }
    }
}

fn wrong(task: &mut Task, command: Command, status: Status) {
    task.command = command;
    task.expected = status;
    task.blocks.clear();
}

/// Points a command at a buffer, by PRPs or by an SGL of pieces of any length.
fn point(rig: &mut Rig, command: &mut Command, buffer: u64, bytes: u32, sgl: bool) {
    let list = rig.memory.allocate(3 * 4096) + 8 * rig.rng.below(512);
    if !sgl {
        if let Some(prp) = point_prp(command, buffer, bytes, 4096, list) {
            for (at, entry) in prp.entries().enumerate() {
                rig.memory.write(list + 8 * at as u64, &entry.to_le_bytes());
            }
        }
        return;
    }
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < bytes {
        let piece = (1 + rig.rng.below(3000) as u32).min(bytes - at);
        pieces.push((buffer + u64::from(at), piece));
        at += piece;
    }
    for (at, descriptor) in point_sgl(command, &pieces, list).iter().enumerate() {
        rig.memory.write(list + 16 * at as u64, &descriptor.raw().to_le_bytes());
    }
}

/// Puts a task into a queue. False if that is full.
pub fn submit(rig: &mut Rig, host: &mut Host, queue: usize, load: &Load, name: usize) -> bool {
    let Ok(submitted) = host.queues[queue].submit(load.tasks[name].command, name as u64) else {
        return false;
    };
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.notify(host, submitted.ring);
    true
}
/// Takes a completion of a queue, if there is one.
pub fn poll(rig: &mut Rig, host: &mut Host, queue: usize, load: &mut Load) -> bool {
    let entry = rig.entry(&host.queues[queue]);
    let Some(done) = host.queues[queue].consume(entry) else { return false };
    rig.notify(host, done.ring);
    load.answer(rig, done.name, done.status);
    true
}
/// Rings for everything that was not rung for.
pub fn flush(rig: &mut Rig, host: &mut Host) {
    for queue in 0..host.queues.len() {
        let (tail, head) = (host.queues[queue].flush_tail(), host.queues[queue].flush_head());
        rig.notify(host, tail);
        rig.notify(host, head);
    }
}
/// Submits so many commands, in a random order of submissions, completions and effects, until all have their answers.
pub fn drive(rig: &mut Rig, host: &mut Host, load: &mut Load, count: usize) {
    let mut rng = Rng::new(rig.rng.below(1 << 40));
    let mut stuck = 0;
    while load.tasks.len() < count || load.unanswered() > 0 {
        let queue = rng.below(host.queues.len() as u64) as usize;
        let moved = match rng.below(8) {
            0..3 if load.tasks.len() < count && host.queues[queue].room() > 0 => {
                let name = load.draw(rig);
                name.is_some_and(|name| submit(rig, host, queue, load, name))
            }
            3 => poll(rig, host, queue, load),
            _ => rig.step(),
        };
        stuck = if moved { 0 } else { stuck + 1 };
        if stuck > 200 {
            flush(rig, host);
        }
        assert!(stuck < 20_000, "nothing moves: {} unanswered", load.unanswered());
    }
}
