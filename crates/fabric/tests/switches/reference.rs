//! A naive switch: every frame by itself, an event for everything that happens to it, lists that are searched.

use lanetwin_fabric::ethernet::logic::switch::{Mode, PauseSpec, Scope, StormAction, SwitchSpec};
use lanetwin_fabric::ethernet::logic::{Pause, Train};
use lanetwin_fabric::ethernet::spec::Rate;
use std::collections::BTreeSet;

/// A frame that starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub at: u64,
    pub port: u16,
    pub train: Train,
}

/// What happens, in the order in which it does at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The room of a frame is free, which is of this group.
    Freed(usize, usize),
    /// Half of a pause that this group has asked for is over.
    Asks(usize),
    /// The first bit of a frame arrives at a port.
    Arrives(u16, usize),
    /// A look whether a port is in a storm of a priority, or not any more.
    Watches(usize, u8),
    /// A wire may be able to take a frame.
    Looks(usize),
}

struct Waiting {
    frame: usize,
    from: u64,
    ingress: u16,
}

struct Naive<'a> {
    spec: &'a SwitchSpec,
    frames: Vec<(u16, Train)>,
    events: BTreeSet<(u64, What)>,
    waiting: Vec<Vec<Waiting>>,
    wire_free: Vec<u64>,
    /// Who holds how much room in which queue: (port, priority, room), by frame.
    held: Vec<Option<(usize, u8, u64)>>,
    /// The pause frames of each port that wait, and from when on they can leave.
    pauses: Vec<Vec<(u64, Pause)>>,
    /// When each group that has paused its peer asks again.
    paused: Vec<Option<u64>>,
    /// The pause frames that each port has heard: when they have their effect.
    heard: Vec<Vec<(u64, Pause)>>,
    /// When each priority of each port was in a storm: from, and until then if that is over.
    storms: Vec<Vec<(u64, Option<u64>)>>,
    out: Vec<Frame>,
}

/// Every frame that leaves, by port and time.
pub fn departures(spec: &SwitchSpec, trains: &[Vec<(u64, Train)>]) -> Vec<Frame> {
    let ports = spec.ports.len();
    let mut naive = Naive {
        spec,
        frames: Vec::new(),
        events: BTreeSet::new(),
        waiting: (0..ports).map(|_| Vec::new()).collect(),
        wire_free: vec![0; ports],
        held: Vec::new(),
        pauses: vec![Vec::new(); ports],
        paused: vec![None; ports * 8],
        heard: vec![Vec::new(); ports],
        storms: vec![Vec::new(); ports * 8],
        out: Vec::new(),
    };
    for (port, trains) in (0..).zip(trains) {
        for (first, train) in trains {
            for i in 0..train.count {
                let at = first + u64::from(i) * u64::from(train.spacing_ps);
                let [number, a, b] = train.words;
                let words = [number + u32::from(i), a, b];
                naive.events.insert((at, What::Arrives(port, naive.frames.len())));
                naive.frames.push((port, Train { count: 1, spacing_ps: 0, words, ..*train }));
                naive.held.push(None);
            }
        }
    }
    while let Some((now, what)) = naive.events.pop_first() {
        match what {
            What::Freed(group, frame) => naive.frees(now, group, frame),
            What::Asks(group) if naive.paused[group] == Some(now) => naive.asks(now, group),
            What::Asks(_) => {}
            What::Arrives(port, frame) => naive.arrives(now, port, frame),
            What::Watches(port, priority) => naive.watches(now, port, priority),
            What::Looks(port) => naive.looks(now, port),
        }
    }
    naive.out.sort_by_key(|frame| (frame.port, frame.at));
    naive.out
}

impl Naive<'_> {
    fn rate(&self, port: usize) -> Rate {
        self.spec.ports[port].expect("every port of the test has a rate")
    }

    fn arrives(&mut self, now: u64, ingress: u16, frame: usize) {
        let mut train = self.frames[frame].1;
        if let Some(pause) = Pause::of(&train) {
            return self.hears(now, ingress.into(), pause);
        }
        let to = train.to.index();
        if to >= self.spec.ports.len() || to == usize::from(ingress) {
            return;
        }
        let storms = [to, usize::from(ingress)];
        if storms.into_iter().any(|port| self.drops(port, train.class.priority())) {
            return;
        }
        let buffer = &self.spec.buffer;
        let cell = u64::from(buffer.cell);
        let room = u64::from(train.bytes).div_ceil(cell) * cell;
        let priority = train.class.priority();
        let held = self.held.iter().flatten();
        let lossless = self.is_lossless(priority);
        let alike = held.clone().filter(|(_, of, _)| self.is_lossless(*of) == lossless);
        let used: u64 = alike.map(|(_, _, room)| room).sum();
        let queue: u64 =
            held.filter(|(port, of, _)| (*port, *of) == (to, priority)).map(|(_, _, room)| room).sum();
        let kept = self.kept().min(buffer.bytes);
        let group = usize::from(ingress) * 8 + self.group(priority);
        if lossless {
            if used + room > kept || self.held_by(group) + room > self.room(ingress.into()) {
                return;
            }
        } else {
            let free = (buffer.bytes - kept).saturating_sub(used);
            let (part, of) = buffer.alpha;
            if room > free || queue * u64::from(of) >= free * u64::from(part) {
                return;
            }
        }
        if train.class.is_ecn_capable()
            && buffer.marking.is_some_and(|marking| marking.marks(queue, now, &train))
        {
            train.class = train.class.marked();
        }
        self.frames[frame].1 = train;
        self.held[frame] = Some((to, priority, room));
        let pauses =
            |spec: &PauseSpec| lossless && self.held_by(group) > spec.xoff && self.paused[group].is_none();
        if self.spec.pause.as_ref().is_some_and(pauses) {
            self.asks(now, group);
        }
        let whole = self.spec.mode == Mode::StoreAndForward || self.rate(to) > self.rate(ingress.into());
        let body = (8 + u64::from(train.bytes)) * 8000 / self.rate(ingress.into()).gbps();
        let from = now + self.spec.latency_ps + if whole { body } else { 0 };
        self.waiting[to].push(Waiting { frame, from, ingress });
        self.events.insert((from, What::Looks(to)));
    }

    fn looks(&mut self, now: u64, port: usize) {
        if now < self.wire_free[port] {
            return;
        }
        if let Some(place) = self.pauses[port].iter().position(|(from, _)| *from <= now) {
            let (_, pause) = self.pauses[port].remove(place);
            self.starts(now, port, pause.frame());
            return;
        }
        let can = self.waiting[port].iter().enumerate().filter(|(_, waiting)| waiting.from <= now);
        let can =
            can.filter(|(_, waiting)| self.is_open(now, port, self.frames[waiting.frame].1.class.priority()));
        let first = can.min_by_key(|(_, waiting)| {
            let priority = self.frames[waiting.frame].1.class.priority();
            (7 - priority, waiting.from, waiting.ingress)
        });
        let Some((place, _)) = first else { return };
        let Waiting { frame, ingress, .. } = self.waiting[port].remove(place);
        let train = self.frames[frame].1;
        self.starts(now, port, train);
        let byte = 8000 / self.rate(port).gbps();
        let group = usize::from(ingress) * 8 + self.group(train.class.priority());
        self.events.insert((now + (8 + u64::from(train.bytes)) * byte, What::Freed(group, frame)));
    }

    fn starts(&mut self, now: u64, port: usize, train: Train) {
        self.out.push(Frame { at: now, port: port as u16, train });
        let byte = 8000 / self.rate(port).gbps();
        self.wire_free[port] = now + (8 + u64::from(train.bytes) + 12) * byte;
        self.events.insert((self.wire_free[port], What::Looks(port)));
    }

    fn is_lossless(&self, priority: u8) -> bool {
        match self.spec.pause.as_ref().map(|pause| pause.scope) {
            None => false,
            Some(Scope::Port) => true,
            Some(Scope::Priorities(priorities)) => priorities & 1 << priority != 0,
        }
    }
    /// Which of the groups of a port.
    fn group(&self, priority: u8) -> usize {
        match self.spec.pause.as_ref().map(|pause| pause.scope) {
            Some(Scope::Priorities(_)) => priority.into(),
            _ => 0,
        }
    }
    /// What all frames hold that are lossless and came in where this group does.
    fn held_by(&self, group: usize) -> u64 {
        let held = self.held.iter().zip(&self.frames);
        let own = held.filter_map(|(held, (ingress, _))| {
            let (_, priority, room) = (*held)?;
            let own = usize::from(*ingress) * 8 + self.group(priority);
            (own == group && self.is_lossless(priority)).then_some(room)
        });
        own.sum()
    }
    fn room(&self, port: usize) -> u64 {
        self.spec.pause.as_ref().map_or(0, |pause| pause.xoff + pause.headroom[port])
    }
    fn kept(&self) -> u64 {
        let groups = match self.spec.pause.as_ref().map(|pause| pause.scope) {
            None => 0,
            Some(Scope::Port) => 1,
            Some(Scope::Priorities(priorities)) => priorities.count_ones().into(),
        };
        (0..self.spec.ports.len()).map(|port| self.room(port)).sum::<u64>() * groups
    }

    fn frees(&mut self, now: u64, group: usize, frame: usize) {
        self.held[frame] = None;
        let xon = self.spec.pause.as_ref().map_or(0, |pause| pause.xon);
        if self.paused[group].is_some() && self.held_by(group) <= xon {
            self.paused[group] = None;
            self.tells(now, group, 0);
        }
    }
    fn asks(&mut self, now: u64, group: usize) {
        let Some(quanta) = self.spec.pause.as_ref().map(|pause| pause.quanta) else { return };
        let half = u64::from(quanta) * 512 * 1000 / self.rate(group / 8).gbps() / 2;
        self.paused[group] = Some(now + half);
        self.events.insert((now + half, What::Asks(group)));
        self.tells(now, group, quanta);
    }
    fn tells(&mut self, now: u64, group: usize, quanta: u16) {
        let port = group / 8;
        let all = self.spec.pause.as_ref().is_some_and(|pause| pause.scope == Scope::Port);
        let priorities = if all { 255 } else { 1 << (group % 8) };
        let from = now + self.spec.latency_ps;
        self.pauses[port].push((from, Pause { priorities, quanta }));
        self.events.insert((from, What::Looks(port)));
    }

    fn hears(&mut self, now: u64, port: usize, pause: Pause) {
        let Some(spec) = &self.spec.pause else { return };
        let byte = 8000 / self.rate(port).gbps();
        let effect = now + (8 + 64) * byte + spec.response_ps[port];
        self.heard[port].push((effect, pause));
        let end = effect + u64::from(pause.quanta) * 64 * byte;
        self.events.insert((effect, What::Looks(port)));
        self.events.insert((end, What::Looks(port)));
        let Some(watchdog) = spec.watchdog else { return };
        for priority in 0..8 {
            // whatever begins or ends a storm does so that long behind a pause frame
            let starts: Vec<u64> = self.heard[port].iter().map(|(effect, _)| *effect).collect();
            for from in starts {
                for at in [from + watchdog.detection_ps, from + watchdog.restoration_ps] {
                    if at > now {
                        self.events.insert((at, What::Watches(port, priority)));
                    }
                }
            }
        }
    }
    fn drops(&self, port: usize, priority: u8) -> bool {
        let watchdog = self.spec.pause.as_ref().and_then(|pause| pause.watchdog);
        watchdog.is_some_and(|own| own.action == StormAction::Drop) && self.storms_now(port, priority)
    }
    fn storms_now(&self, port: usize, priority: u8) -> bool {
        self.storms[port * 8 + usize::from(priority)].last().is_some_and(|(_, over)| over.is_none())
    }
    /// What has had its effect on a priority by now and is about it.
    fn about(&self, now: u64, port: usize, priority: u8) -> impl DoubleEndedIterator<Item = (u64, u16)> + '_ {
        let about =
            move |(effect, pause): &&(u64, Pause)| *effect <= now && pause.priorities & 1 << priority != 0;
        self.heard[port].iter().filter(about).map(|(effect, pause)| (*effect, pause.quanta))
    }
    /// From when on a priority has been paused without a gap until beyond now; none if it is not.
    fn paused_since(&self, now: u64, port: usize, priority: u8) -> Option<u64> {
        let time = |quanta: u16| u64::from(quanta) * 64 * 8000 / self.rate(port).gbps();
        let over = self.storms[port * 8 + usize::from(priority)].last().and_then(|(_, over)| *over);
        let (mut since, mut until) = (None, 0);
        for (effect, quanta) in
            self.about(now, port, priority).filter(|(effect, _)| over.is_none_or(|at| *effect > at))
        {
            if quanta == 0 {
                since = None;
            } else if since.is_none() || until < effect {
                since = Some(effect);
            }
            until = effect + time(quanta);
        }
        since.filter(|_| until > now)
    }
    fn watches(&mut self, now: u64, port: usize, priority: u8) {
        let Some(pause) = &self.spec.pause else { return };
        let Some(watchdog) = pause.watchdog.filter(|_| pause.scope.priorities() & 1 << priority != 0) else {
            return;
        };
        let own = port * 8 + usize::from(priority);
        if self.storms_now(port, priority) {
            let last = self.about(u64::MAX, port, priority).rfind(|(_, quanta)| *quanta > 0);
            if last.is_some_and(|(effect, _)| effect + watchdog.restoration_ps <= now)
                && let Some(storm) = self.storms[own].last_mut()
            {
                storm.1 = Some(now);
            }
            return;
        }
        if self.paused_since(now, port, priority).is_none_or(|since| now < since + watchdog.detection_ps) {
            return;
        }
        self.storms[own].push((now, None));
        self.events.insert((now + 1, What::Watches(port, priority)));
        if watchdog.action == StormAction::Drop {
            let frames = std::mem::take(&mut self.waiting[port]);
            for waiting in frames {
                let class = self.frames[waiting.frame].1.class;
                if class.priority() != priority {
                    self.waiting[port].push(waiting);
                    continue;
                }
                let group = usize::from(waiting.ingress) * 8 + self.group(priority);
                self.events.insert((now, What::Freed(group, waiting.frame)));
            }
        }
        self.events.insert((now, What::Looks(port)));
    }
    /// The last pause frame about a priority says, unless it is of a storm that is not obeyed.
    fn is_open(&self, now: u64, port: usize, priority: u8) -> bool {
        let byte = 8000 / self.rate(port).gbps();
        let Some(pause) = &self.spec.pause else { return true };
        let obeys = pause.watchdog.is_none_or(|own| own.action == StormAction::Alert);
        let in_storm = |effect: u64| {
            let storms = &self.storms[port * 8 + usize::from(priority)];
            storms.iter().any(|(from, over)| effect < over.unwrap_or(u64::MAX) && *from <= now)
        };
        let last = self.about(now, port, priority).rfind(|(effect, _)| obeys || !in_storm(*effect));
        last.is_none_or(|(effect, quanta)| now >= effect + u64::from(quanta) * 64 * byte)
    }
}
