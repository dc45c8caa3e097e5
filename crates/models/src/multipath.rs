//! `(paths)`: joins the paths to a drive: the drivers of a dual-port drive, or NVMe-oF host software with several
//! ports of a subsystem. A request uses one path; if the path is lost before it is answered, it is retried on
//! another.
//!
//! ```text
//!  load 0 ─┐            ┌─ driver of the first port ═ root port ═ pcie
//!  load 1 ─┼─ (paths) ──┤                                              drive
//!  load 2 ─┘            └─ driver of the second port ═ root port ═ pcie2
//! ```
//!
//! `driver.multipath` selects the path, with the policies of Linux, among the optimized ones (asymmetric namespace
//! access, ANA), or among the others if no optimized one works. A request whose path is lost is retried on another;
//! if none works it waits until one does. The component takes no time and limits nothing: each path has cores of its
//! own.
//!
//! A path may come back, and its ANA state may change; each request chooses anew. If no path works and none is
//! expected to come back, requests end with an error (Linux, `drivers/nvme/host/multipath.c`, `nvme_available_path`).
//! So does a request that has lost a path 16 times.
//!
//! **Several hosts.** Each host has paths of its own for its loads. With `takeover`, the paths of other hosts are on
//! standby: if none of its own has worked for that time, another host sends its requests, until one of its own works
//! again.

mod leaving;

use crate::roles::nvme::{
    PATH_EXPIRED, PATH_INACCESSIBLE, PATH_LOST, PATH_NON_OPTIMIZED, PATH_OPTIMIZED, PATH_WORKS,
};
use crate::roles::nvmeof::Access;
use lanetwin_kernel::{Component, Metric, Port, Report, Trail};
use lanetwin_ports::{BlockCommand, Context, Done, Message, Status, Transfer};
use lanetwin_units::{Better, Instant, Span};
use leaving::Leaving;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

/// Token of the wake after which standby hosts may be used.
const TAKEOVER: u32 = 0;

/// Time of a request that no path takes: through the block layer and back (assumed). A program that retries at once
/// does so for ever.
const REFUSED_AFTER: Span = Span::from_us(10);

/// A request that has lost so many paths ends with an error (a choice). Linux counts the retries of commands without
/// multipath (5, `nvme_max_retries`), but no fail-over, and goes on for ever where commands time out before any is
/// answered. A run has to come to an end.
const MOST_LOSSES: u32 = 16;

/// By which rule a path is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// The first that works.
    First,
    /// All that work, in turn.
    RoundRobin,
    /// The one with the least in flight.
    QueueDepth,
}

impl Policy {
    /// The policy of this name, one of those of `driver.multipath`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "round-robin" => Self::RoundRobin,
            "queue-depth" => Self::QueueDepth,
            _ => Self::First,
        }
    }
}

/// Parameters of the paths from a host to a drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultipathSpec {
    /// The name of the drive, as the host has it.
    pub drive: String,
    /// By which rule a path is chosen.
    pub policy: Policy,
    /// Number of loads that use them.
    pub loads: u16,
    /// Number of paths of the loads' own host; they come first.
    pub own: usize,
    /// Number of paths including those on standby.
    pub paths: usize,
    /// Those that are not optimized.
    pub others: Vec<usize>,
    /// Time that all own paths have to be lost before standby paths are used.
    pub takeover: Span,
}

/// Joins paths.
pub struct Multipath {
    policy: Policy,
    loads: u16,
    paths: Vec<Path>,
    /// Requests in flight, by load and handle.
    asked: BTreeMap<(u16, u32), Asked>,
    /// Requests that wait for a path, in order of arrival.
    waiting: VecDeque<(u16, Request, Trail)>,
    /// The path that comes next in turn.
    next: usize,
    /// Number of paths of the host itself; they come first, standby paths after them.
    own: usize,
    /// Time that all own paths have to be lost before standby paths are used.
    takeover: Span,
    /// When the last own path was lost; `None` while one works.
    alone_since: Option<Instant>,
    /// Times during which the host is without the drive because another host has it.
    absences: Vec<(Instant, Option<Instant>)>,
    counts: PathCounts,
    /// Number of losses of paths, and of reported changes of a path's state.
    losses: u64,
    changes: u64,
    /// The first path that requests had to leave.
    left: Option<Leaving>,
    /// Time of the last answer, or of the last request that was sent with no other in flight.
    answered_at: Instant,
    /// Longest time without an answer while requests were in flight.
    longest_pause: Span,
    /// The name of the drive, as the host has it.
    drive: String,
}

/// Paths that were given up.
const LOSSES: Metric = Metric::new("paths lost", "", Better::Lower).if_any("paths lost");
/// How long nothing was answered, at most.
const PAUSE: Metric = Metric::new("longest pause", "ms", Better::Lower).if_any("paths lost");
/// Requests that were asked once more, on another path or later.
const RETRIED: Metric = Metric::new("asked again", "", Better::Lower).if_any("asked again");

lanetwin_kernel::stages! { WAIT = "wait for a path that works" }

/// Changes of the state of a path that software was told of.
const CHANGES: Metric = Metric::new("changes of ANA state", "", Better::Lower).if_any("changes of ANA state");
/// Counters of requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PathCounts {
    /// Requests of loads.
    pub asked: u64,
    /// Answers to loads.
    pub answered: u64,
    /// Requests that were retried on another path.
    pub retried: u64,
    /// Answers without a waiting request.
    pub unexpected: u64,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    works: bool,
    /// Its ANA state; optimized paths are preferred.
    access: Access,
    /// Whether requests wait for it while it does not work.
    waited_for: bool,
    in_flight: u64,
    /// Number of requests sent over it.
    asked: u64,
}

impl Path {
    const fn is_usable(&self) -> bool {
        self.works && !matches!(self.access, Access::Inaccessible)
    }
    fn is_as(&self, access: Access) -> bool {
        self.works && self.access == access
    }
    const fn is_optimized(&self) -> bool {
        self.works && matches!(self.access, Access::Optimized)
    }
}

struct Asked {
    request: Request,
    path: usize,
}

/// A request of a load.
#[derive(Clone, Copy)]
struct Request {
    question: Question,
    /// How often its path was lost before it was answered.
    losses: u32,
}

impl Request {
    const fn new(question: Question) -> Self {
        Self { question, losses: 0 }
    }
}

/// What a load asks.
#[derive(Clone, Copy)]
enum Question {
    Move(Transfer),
    Do(BlockCommand),
}

impl Question {
    const fn handle(self) -> u32 {
        match self {
            Self::Move(transfer) => transfer.handle,
            Self::Do(command) => command.handle,
        }
    }
    const fn message(self) -> Message {
        match self {
            Self::Move(transfer) => Message::Block(transfer),
            Self::Do(command) => Message::Command(command),
        }
    }
}

impl Multipath {
    /// Joins the paths to a drive.
    #[must_use]
    pub fn new(spec: MultipathSpec) -> Self {
        let MultipathSpec { drive, policy, loads, own, paths, others, takeover } = spec;
        // a request that comes before a controller is ready waits in its driver
        let access = |path| if others.contains(&path) { Access::NonOptimized } else { Access::Optimized };
        let path =
            |path| Path { works: true, access: access(path), waited_for: true, in_flight: 0, asked: 0 };
        Self {
            policy,
            loads,
            paths: (0..paths).map(path).collect(),
            asked: BTreeMap::new(),
            waiting: VecDeque::new(),
            next: 0,
            own,
            takeover,
            alone_since: None,
            absences: Vec::new(),
            counts: PathCounts::default(),
            losses: 0,
            changes: 0,
            left: None,
            answered_at: Instant::ZERO,
            longest_pause: Span::ZERO,
            drive,
        }
    }
    /// The host is without the drive at these times: nothing is asked of it then, and what was under way ends with an
    /// error. To be said before the run starts.
    pub fn be_without(&mut self, absences: Vec<(Instant, Option<Instant>)>) {
        self.absences = absences;
        if self.is_without(Instant::ZERO) {
            self.paths.iter_mut().for_each(|path| path.works = false);
            self.alone_since = Some(Instant::ZERO);
        }
    }
    fn is_without(&self, now: Instant) -> bool {
        self.absences.iter().any(|(from, until)| *from <= now && until.is_none_or(|until| now < until))
    }
    /// The port of a load.
    #[must_use]
    pub const fn of_load(load: u16) -> Port {
        Port(load)
    }
    /// The port of a path for a load, of so many.
    #[must_use]
    pub const fn of_path(path: u16, load: u16, loads: u16) -> Port {
        Port(loads * (path + 1) + load)
    }
    /// What has become of requests so far.
    #[must_use]
    pub const fn counts(&self) -> PathCounts {
        self.counts
    }

    fn choose(&mut self, now: Instant) -> Option<usize> {
        let works = |path: &usize| self.paths[*path].is_usable();
        if let Some(since) = self.alone_since {
            let taken_over = since + self.takeover <= now;
            return (self.own..self.paths.len()).find(|path| taken_over && works(path));
        }
        let own = 0..self.own;
        let is_best = |path: &usize| self.paths[*path].is_optimized();
        let optimized = own.clone().any(|path| is_best(&path));
        let can = |path: &usize| if optimized { is_best(path) } else { works(path) };
        let mut all = own.clone();
        match self.policy {
            Policy::First => all.find(can),
            Policy::QueueDepth => all.filter(can).min_by_key(|path| self.paths[*path].in_flight),
            Policy::RoundRobin => {
                let chosen = all.map(|i| (self.next + i) % self.own).find(can)?;
                self.next = (chosen + 1) % self.own;
                Some(chosen)
            }
        }
    }

    fn ask(&mut self, load: u16, request: Request, cx: &mut Context<'_>) {
        let question = request.question;
        let there = !self.is_without(cx.now());
        let Some(path) = self.choose(cx.now()).filter(|_| there) else {
            if there && self.is_hopeless() {
                let done = Done { handle: question.handle(), status: Status::Aborted };
                return self.tell(load, (done, REFUSED_AFTER), cx);
            }
            self.waiting.push_back((load, request, cx.trail()));
            return;
        };
        self.paths[path].in_flight += 1;
        self.paths[path].asked += 1;
        if self.asked.is_empty() && self.waiting.is_empty() {
            self.answered_at = cx.now();
        }
        self.asked.insert((load, question.handle()), Asked { request, path });
        cx.send(Self::of_path(path as u16, load, self.loads), Span::ZERO, question.message());
    }

    /// Whether no path works and none is expected to come back.
    fn is_hopeless(&self) -> bool {
        self.paths.iter().all(|path| !path.works && !path.waited_for)
    }

    fn answer(&mut self, path: usize, load: u16, done: Done, cx: &mut Context<'_>) {
        let name = (load, done.handle);
        let Some(&Asked { request, .. }) = self.asked.get(&name).filter(|asked| asked.path == path) else {
            self.counts.unexpected += 1;
            return;
        };
        self.asked.remove(&name);
        self.paths[path].in_flight -= 1;
        let is_lost = done.status == Status::Aborted && !self.paths[path].is_usable();
        if is_lost && !self.is_without(cx.now()) && request.losses < MOST_LOSSES {
            self.counts.retried += 1;
            self.ask(load, Request { losses: request.losses + 1, ..request }, cx);
        } else {
            self.tell(load, (done, Span::ZERO), cx);
        }
    }
    /// Answers a load, so much later.
    fn tell(&mut self, load: u16, (done, later): (Done, Span), cx: &mut Context<'_>) {
        self.counts.answered += 1;
        self.longest_pause = self.longest_pause.max(cx.now().since(self.answered_at));
        self.answered_at = cx.now();
        cx.send(Self::of_load(load), later, Message::BlockDone(done));
    }

    fn state(&mut self, path: usize, works: bool, cx: &mut Context<'_>) {
        self.losses += u64::from(self.paths[path].works && !works);
        self.note(path, cx.now(), |own| own.works = works);
        self.paths[path].waited_for |= works;
        if self.paths[..self.own].iter().any(|path| path.works) {
            self.alone_since = None;
        } else if self.alone_since.is_none() {
            self.alone_since = Some(cx.now());
            if self.paths.len() > self.own {
                cx.wake_at(cx.now() + self.takeover, TAKEOVER);
            }
        }
        if works {
            self.ask_waiting(cx);
        }
    }

    /// Handles a reported change of a path's ANA state.
    fn reach(&mut self, path: usize, access: Access, cx: &mut Context<'_>) {
        if self.paths[path].access == access {
            return;
        }
        self.changes += 1;
        self.note(path, cx.now(), |own| own.access = access);
        if self.paths[path].is_usable() {
            self.ask_waiting(cx);
        }
    }
    /// A path changes: whether requests have to leave it, or find it again, of the first that they had to.
    fn note(&mut self, path: usize, now: Instant, change: impl FnOnce(&mut Path)) {
        let all: u64 = self.paths.iter().map(|path| path.asked).sum();
        let before = self.paths[path];
        change(&mut self.paths[path]);
        let after = self.paths[path];
        let counts = (after.asked, all);
        let rank = |path: &Path| u8::from(path.is_usable()) + u8::from(path.is_optimized());
        match &mut self.left {
            None if rank(&after) < rank(&before) => {
                let (access, asked) = (before.access, [counts; 2]);
                self.left = Some(Leaving { path, access, at: now, back: None, asked });
            }
            Some(left) if left.path == path && left.back.is_none() && after.is_as(left.access) => {
                (left.back, left.asked[1]) = (Some(now), counts);
            }
            _ => {}
        }
    }
    /// Stops waiting for a path that does not work.
    fn give_up(&mut self, path: usize, cx: &mut Context<'_>) {
        self.paths[path].waited_for = self.paths[path].works;
        if self.is_hopeless() {
            self.ask_waiting(cx);
        }
    }

    /// Sends waiting requests over a path, if there is one.
    fn ask_waiting(&mut self, cx: &mut Context<'_>) {
        let answered_at = self.answered_at;
        for (load, request, trail) in std::mem::take(&mut self.waiting) {
            cx.resume(trail);
            cx.mark(WAIT);
            self.ask(load, request, cx);
            // they had been requested all the time
            self.answered_at = answered_at;
        }
    }
}

impl Component<Message> for Multipath {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let (group, load) = (port.0 / self.loads, port.0 % self.loads);
        match message {
            Message::Block(transfer) => {
                self.counts.asked += 1;
                self.ask(load, Request::new(Question::Move(transfer)), cx);
            }
            Message::Command(command) => {
                self.counts.asked += 1;
                self.ask(load, Request::new(Question::Do(command)), cx);
            }
            Message::BlockDone(done) => self.answer(usize::from(group) - 1, load, done, cx),
            // a driver reports it on each of its ports
            Message::Signal { handle: state @ (PATH_LOST | PATH_WORKS), .. } => {
                self.state(usize::from(group) - 1, state == PATH_WORKS, cx);
            }
            Message::Signal { handle, .. } if group > 0 => {
                let path = usize::from(group) - 1;
                match handle {
                    PATH_OPTIMIZED => self.reach(path, Access::Optimized, cx),
                    PATH_NON_OPTIMIZED => self.reach(path, Access::NonOptimized, cx),
                    PATH_INACCESSIBLE => self.reach(path, Access::Inaccessible, cx),
                    PATH_EXPIRED => self.give_up(path, cx),
                    _ => unreachable!("a path says nothing else"),
                }
            }
            _ => unreachable!("paths are asked and answered, and say whether they work, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        self.ask_waiting(cx);
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("counts", format!("{:?}", self.counts));
        see("paths", format!("{:?}", self.paths));
        see("waiting", self.waiting.len().to_string());
    }

    fn report(&mut self, _: Instant, report: &mut Report) {
        report.on_behalf_of = Some(self.drive.clone());
        report.count(RETRIED, self.counts.retried);
        report.count(LOSSES, self.losses);
        report.count(CHANGES, self.changes);
        let all = self.paths.iter().map(|path| path.asked).sum();
        leaving::report(self.left.as_ref(), |path| (self.paths[path].asked, all), report);
        let pause = if self.losses > 0 || self.left.is_some() { self.longest_pause } else { Span::ZERO };
        report.level(PAUSE, pause.as_ps() as f64 / 1e9);
    }

    fn digest(&self) -> u64 {
        lanetwin_kernel::mix(self.counts.answered) ^ self.counts.retried << 32 ^ self.counts.unexpected
    }

    fn stages(&self) -> Vec<String> {
        STAGES.iter().map(|name| (*name).to_owned()).collect()
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
