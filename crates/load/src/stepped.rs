//! A load that consists of steps with different workloads and the same duration. A step begins when all operations of
//! the step before have been answered.
//!
//! ```text
//!  first ─ its count ─► drained ─► step 1 ─ its time ─► drained ─► step 2 ─ … ─► last step ─► drained ─► step 1 …
//! ```
//!
//! The results of a step are the operations answered from its start to the end of its time; operations that are
//! answered while it drains are not counted.

use crate::handles::Handles;
use crate::load::BlockLoad;
use crate::results::Results;
use crate::role::CountsOperations;
use crate::slot::Slot;
use crate::workload::Workload;
use lanetwin_kernel::{Component, Port, mix};
use lanetwin_ports::{Context, Message};
use lanetwin_units::{Instant, Span};
use std::any::Any;

/// Token of the wake at the end of a step's time. The tokens of its parts are small numbers.
const OVER: u32 = 1 << 16;

/// The workloads of a stepped load.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    /// A workload before the first step, which is not counted; it ends by its own [`Workload::count`].
    pub first: Option<Workload>,
    /// The workloads of the steps, which are repeated; at least one. They are closed loops without a count.
    pub round: Vec<Workload>,
    /// The duration of each step.
    pub lasts: Span,
}

/// Sends the operations of its steps to a block device, out of port 0.
#[derive(Debug)]
pub struct SteppedLoad {
    steps: Steps,
    seed: u64,
    path: String,
    handles: Handles,
    unit: u16,
    /// The load of the current part: a step, or the workload before the first one.
    part: BlockLoad,
    /// Number of parts before the current one.
    number: u64,
    /// Whether the time of the current part is over.
    over: bool,
    stopped: bool,
    /// Number of operations sent, and number answered, by the parts before.
    before: (u64, u64),
    /// A hash of the parts before, for the digest.
    history: u64,
    /// The results of completed steps that have not been taken yet.
    ended: Vec<Results>,
}

impl SteppedLoad {
    /// A stepped load in a slot.
    ///
    /// # Panics
    /// If there is no step, or one of the workloads cannot be run ([`Workload::check`]).
    #[must_use]
    pub fn new(steps: Steps, slot: Slot<'_>) -> Self {
        let Slot { seed, path, handles, unit } = slot;
        assert!(!steps.round.is_empty(), "{path}: a round has a step");
        let first = steps.first.unwrap_or(steps.round[0]);
        let part = BlockLoad::new(first, seed, &format!("{path}/0")).calling(handles).on_unit(unit);
        let path = path.to_owned();
        let (before, history, ended) = ((0, 0), 0, Vec::new());
        let (number, over, stopped) = (0, false, false);
        Self { steps, seed, path, handles, unit, part, number, over, stopped, before, history, ended }
    }
    /// Takes the results of the steps that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Results> {
        std::mem::take(&mut self.ended)
    }
    /// Number of operations sent, and number answered, since the start of the run.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        let (asked, answered) = self.part.progress();
        (self.before.0 + asked, self.before.1 + answered)
    }
    /// The counts of the current part up to `at`, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    #[must_use]
    pub fn results(&self, at: Instant) -> Results {
        self.part.results(at)
    }
    /// Does nothing, since each step counts from its own start.
    pub fn reset(&mut self, _: Instant) {}
    /// Stops sending.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.part.stop();
    }

    /// Whether the current part is the workload before the first step.
    fn is_first(&self) -> bool {
        self.number == 0 && self.steps.first.is_some()
    }
    /// The index of the current step among the workloads of the steps.
    fn place(&self) -> usize {
        let before = u64::from(self.steps.first.is_some());
        (self.number.saturating_sub(before) % self.steps.round.len() as u64) as usize
    }
    fn begin(&mut self, cx: &mut Context<'_>) {
        self.over = false;
        self.part.reset(cx.now());
        if !self.is_first() {
            cx.wake_at(cx.now() + self.steps.lasts, OVER);
        }
        self.part.start(cx);
    }
    /// Begins the next part if the current one is over and all its operations have been answered.
    fn go_on(&mut self, cx: &mut Context<'_>) {
        let (asked, answered) = self.part.progress();
        let count = self.steps.first.filter(|_| self.is_first()).and_then(|first| first.count);
        let over = self.over || count.is_some_and(|count| asked >= count);
        if !over || asked > answered || self.stopped {
            return;
        }
        self.before = (self.before.0 + asked, self.before.1 + answered);
        self.history = mix(self.history ^ self.part.digest());
        self.number += 1;
        let workload = self.steps.round[self.place()];
        let path = format!("{}/{}", self.path, self.number);
        self.part = BlockLoad::new(workload, self.seed, &path).calling(self.handles).on_unit(self.unit);
        self.begin(cx);
    }
}

impl CountsOperations for SteppedLoad {
    fn progress(&self) -> (u64, u64) {
        Self::progress(self)
    }
    fn reset(&mut self, at: Instant) {
        Self::reset(self, at);
    }
    fn results(&self, at: Instant) -> Results {
        Self::results(self, at)
    }
    fn stop(&mut self) {
        Self::stop(self);
    }
    fn take_ended(&mut self) -> Vec<Results> {
        Self::take_ended(self)
    }
}

impl Component<Message> for SteppedLoad {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.begin(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token != OVER {
            self.part.wake(token, cx);
            return;
        }
        self.ended.push(self.part.results(cx.now()));
        self.over = true;
        self.part.stop();
        self.go_on(cx);
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        self.part.receive(port, message, cx);
        self.go_on(cx);
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("part", self.number.to_string());
        self.part.inspect(see);
    }

    fn digest(&self) -> u64 {
        mix(self.history ^ self.part.digest()) ^ self.number
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn CountsOperations }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Arrivals, Mix, Pattern};
    use lanetwin_ports::{Builder, Done, Status};

    /// Answers after 80 µs.
    struct Disk;
    impl Component<Message> for Disk {
        fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
            let Message::Block(request) = message else { return };
            let done = Done { handle: request.handle, status: Status::Ok };
            cx.send(port, Span::from_us(80), Message::BlockDone(done));
        }
    }

    fn workload(mix: Mix, bytes: u32, count: Option<u64>) -> Workload {
        let arrivals = Arrivals::Closed { outstanding: 4 };
        Workload { mix, bytes, unit: bytes, span: 1 << 20, pattern: Pattern::Random, arrivals, count }
    }

    /// By hand: with 4 outstanding of 80 µs each, 12 × 4 = 48 are answered in a step of 1 ms; the last four are
    /// answered 40 µs after its end.
    #[test]
    fn each_step_counts_its_own_and_begins_when_the_one_before_is_drained() {
        let first = Some(workload(Mix::Writes, 4096, Some(8)));
        let round = vec![workload(Mix::Reads, 4096, None), workload(Mix::Writes, 8192, None)];
        let steps = Steps { first, round, lasts: Span::from_us(1_000) };
        let mut builder = Builder::new();
        let load = builder.add(
            "load",
            Box::new(SteppedLoad::new(steps, Slot { seed: 1, path: "load", handles: Handles::ALL, unit: 0 })),
        );
        let disk = builder.add("disk", Box::new(Disk));
        builder.join((load, Port(0)), (disk, Port(0)));
        let mut kernel = builder.seal();
        kernel.run_until(Instant::ZERO + Span::from_us(10_000));
        let load = kernel.component::<SteppedLoad>(load).expect("the load");
        let ended = load.take_ended();
        let at: Vec<u64> = ended.iter().map(|step| step.since.as_ps() / 1_000_000).collect();
        assert_eq!(at[..3], [160, 1_200, 2_240]);
        let counts = |step: &Results| (step.reads.completed, step.writes.completed, step.writes.bytes);
        assert_eq!(
            ended.iter().map(counts).take(3).collect::<Vec<_>>(),
            [(48, 0, 0), (0, 48, 48 * 8192), (48, 0, 0)]
        );
        assert!(ended.iter().all(|step| step.elapsed() == Span::from_us(1_000)));
        assert!(ended.iter().all(|step| step.little.area_ps == step.little.residence_ps));
        assert!(load.take_ended().is_empty());
        let (asked, answered) = load.progress();
        assert!(asked - answered <= 4 && asked > 8 + 48 * 8);
    }
}
