//! The drive in virtual time: determines when each request is answered.
//!
//! The world is the same as in a run of the scenario, with an opening in place of the load. A request is answered at
//! the same picosecond as the same request of a load.

use crate::command::{Kind, Request};
use crate::drive::Drive;
use lanetwin_plan::Pair;
use lanetwin_ports::{BlockCommand, BlockCommandKind, Done, Message, Operation, Status, Transfer};
use lanetwin_ssd::telemetry::State;
use lanetwin_units::Instant;
use lanetwin_world::{Opening, World};

/// Identifies a request in progress: a small number, which is reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tag(pub u32);

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Its tag.
    pub tag: Tag,
    /// When it was sent.
    pub asked: Instant,
    /// When it was answered.
    pub at: Instant,
    /// Whether the machine has executed it.
    pub is_done: bool,
}

/// A drive in its machine.
pub struct Twin {
    world: World,
    /// The way to each drive.
    openings: Vec<Opening>,
    /// The names of the drives; namespaces of one have one.
    drives: Vec<String>,
    /// Start times of requests in progress, by tag.
    open: Vec<Option<Instant>>,
    /// Tags that are free; the one that was left last is taken first, as a load does.
    free: Vec<u32>,
    /// Time up to which everything has been decided: new requests enter no earlier.
    from: Instant,
}

impl Twin {
    /// A drive after power on.
    #[must_use]
    pub fn new(drive: &Drive) -> Self {
        let pairs: Vec<Pair> = drive.pairs().cloned().collect();
        let world = World::without_load(&drive.variant, &pairs, drive.seed);
        let openings = world.openings.clone();
        let mut drives: Vec<String> =
            pairs.iter().map(|pair| drive.variant.machine[pair.target].name.clone()).collect();
        drives.dedup();
        Self { world, openings, drives, open: Vec::new(), free: Vec::new(), from: Instant::ZERO }
    }
    /// Earliest time of a new request.
    #[must_use]
    pub const fn from(&self) -> Instant {
        self.from
    }
    /// Number of requests in progress.
    #[must_use]
    pub fn in_progress(&self) -> usize {
        self.open.len() - self.free.len()
    }
    /// Time of the next event in the machine; [`Instant::NEVER`] if there is none before another request.
    pub fn next_event(&mut self) -> Instant {
        self.world.kernel.next_event().unwrap_or(Instant::NEVER)
    }

    /// Sends a request to one of the drives at `at`, or as soon as possible.
    ///
    /// # Panics
    /// If there is no such drive, or if more than 2³² requests are in progress.
    pub fn ask(&mut self, at: Instant, unit: u16, request: Request) -> Tag {
        let at = at.max(self.from);
        let tag = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            u32::try_from(self.open.len() - 1).expect("there are fewer requests than names")
        });
        self.open[tag as usize] = Some(at);
        let opening = &self.openings[usize::from(unit)];
        let message = message(request, opening.handles.nth(tag as usize), opening.pair.unit);
        self.world.kernel.inject(at, opening.entry, message);
        Tag(tag)
    }

    /// Lets time pass up to `until`; the answers come in the order of time.
    pub fn advance(&mut self, until: Instant, answers: &mut Vec<Answer>) {
        if until >= self.from {
            self.world.kernel.run_until(until);
            self.from = Instant::from_ps(until.as_ps().saturating_add(1));
        }
        self.hear(answers);
    }
    /// Advances time to the next answer, at most to `until`: the caller can send another request at that very
    /// instant, as a load does.
    pub fn advance_to_answer(&mut self, until: Instant, answers: &mut Vec<Answer>) {
        if self.world.kernel.run_until_something_leaves(until) {
            self.from = self.from.max(self.world.kernel.now());
        } else {
            self.from = Instant::from_ps(until.as_ps().saturating_add(1));
        }
        self.hear(answers);
    }
    /// State of the drives now, each with its name.
    pub fn states(&mut self) -> Vec<(String, State)> {
        let drives =
            self.drives.iter().filter_map(|name| Some((name.clone(), self.world.state_of_drive(name)?)));
        drives.collect()
    }
    fn hear(&mut self, answers: &mut Vec<Answer>) {
        let handles = &self.openings[0].handles;
        let loads = handles.nth(1) - handles.nth(0);
        for emitted in self.world.kernel.take_out() {
            let Message::BlockDone(Done { handle, status }) = emitted.message else { continue };
            let tag = handle / loads;
            let Some(asked) = self.open.get_mut(tag as usize).and_then(Option::take) else { continue };
            self.free.push(tag);
            answers.push(Answer { tag: Tag(tag), asked, at: emitted.at, is_done: status == Status::Ok });
        }
    }
}

fn message(Request { kind, first: address, bytes }: Request, handle: u32, unit: u16) -> Message {
    let operation = match kind {
        Kind::Read | Kind::Compare => Operation::Read,
        Kind::Write => Operation::Write,
        Kind::Flush => return command(BlockCommandKind::Flush, (0, 0), handle, unit),
        Kind::Deallocate => {
            return command(BlockCommandKind::Deallocate, (address, bytes), handle, unit);
        }
        Kind::WriteZeroes => {
            return command(BlockCommandKind::WriteZeroes, (address, bytes), handle, unit);
        }
    };
    Message::Block(Transfer { operation, bytes, handle, unit, address })
}

const fn command(kind: BlockCommandKind, (address, bytes): (u64, u32), handle: u32, unit: u16) -> Message {
    Message::Command(BlockCommand { kind, bytes, handle, unit, address })
}
