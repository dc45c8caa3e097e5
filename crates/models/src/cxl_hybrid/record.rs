//! What a device writes down while requests are followed, and what it says of where one spent its time.

use super::CxlHybrid;
use crate::marks::{Mark, of_read};
use lanetwin_media::dram::Command;
use lanetwin_media::page_cache::Job;
use lanetwin_units::Instant;

/// What is written down.
#[derive(Default)]
pub(super) struct Record {
    looked_up: Vec<LookedUp>,
    fetches: Vec<Fetch>,
    reads: Vec<Read>,
    commands: Vec<Command>,
}

/// A request, when it came, and when its look-up began and ended.
#[derive(Clone, Copy)]
struct LookedUp {
    handle: u32,
    token: u32,
    came: Instant,
    begun: Instant,
    ended: Instant,
}

/// What was asked of the disk, and when it was there.
#[derive(Clone, Copy)]
struct Fetch {
    job: Job,
    first: u64,
    end: u64,
    asked: Instant,
    done: Option<Instant>,
}

/// A line that was asked of the cache's memory.
#[derive(Clone, Copy)]
struct Read {
    token: u32,
    address: u64,
    at: Instant,
}

impl Record {
    pub(super) fn look_up(&mut self, handle: u32, token: u32, [came, begun, ended]: [Instant; 3]) {
        self.looked_up.push(LookedUp { handle, token, came, begun, ended });
    }
    pub(super) fn fetch(&mut self, job: Job, address: u64, bytes: u32, asked: Instant) {
        self.fetches.push(Fetch { job, first: address, end: address + u64::from(bytes), asked, done: None });
    }
    pub(super) fn fetched(&mut self, job: Job, at: Instant) {
        let its = |fetch: &&mut Fetch| fetch.job == job && fetch.done.is_none();
        self.fetches.iter_mut().rev().find(its).into_iter().for_each(|fetch| fetch.done = Some(at));
    }
    pub(super) fn read(&mut self, token: u32, address: u64, at: Instant) {
        self.reads.push(Read { token, address, at });
    }
}

impl CxlHybrid {
    /// Writes down from now on when requests are where, or stops.
    pub fn record(&mut self, on: bool) {
        self.record = on.then(Box::default);
        self.inside.iter_mut().for_each(|inside| inside.memory.record(on));
    }
    /// Where a read of this address was that came and left at these instants.
    pub fn explain(&mut self, handle: u32, address: u64, came: Instant, left: Instant) -> Vec<Mark> {
        let (Some(inside), Some(record)) = (&mut self.inside, &mut self.record) else { return Vec::new() };
        record.commands.extend(inside.memory.take_record());
        let its = |look: &&LookedUp| look.handle == handle && look.came == came;
        let Some(look) = record.looked_up.iter().find(its).copied() else { return Vec::new() };
        let mut marks = vec![
            (came + self.ingress, "ingress"),
            (look.begun, "queue for a look-up"),
            (look.ended, "look-up"),
        ];
        let done = Instant::from_ps(left.as_ps().saturating_sub(self.egress.as_ps()));
        let waited = |fetch: &&Fetch| {
            let there = fetch.done.is_some_and(|at| at > look.ended && at <= done);
            there && (fetch.first..fetch.end).contains(&address)
        };
        if let Some(fetch) = record.fetches.iter().find(waited) {
            let at = fetch.done.unwrap_or(done);
            marks.extend([(fetch.asked, "queue for a miss register"), (at, "disk")]);
        }
        let own = |read: &&Read| read.token == look.token && (look.ended..=done).contains(&read.at);
        if let Some(read) = record.reads.iter().find(own) {
            marks.push((read.at, "queue in the controller"));
            let steps = inside.memory.read_steps(&record.commands, read.address, read.at, done);
            marks.extend(of_read(steps, done));
        }
        marks.extend([(done, "controller"), (left, "egress")]);
        marks
    }
}
