//! Trails: which stages a request has passed, and until when it was in each.
//!
//! ```text
//!  asked ◄── queue for the core ◄── submit ◄── wire ◄─┬─ medium ◄── … ◄── told
//!                                                     └─ medium of another part, which nobody waited for
//! ```
//!
//! A trail is a list from its end to its beginning: a mark adds one node, and two requests, or two parts of one, can
//! go on from the same node. A message carries the trail of whatever was handled when it was sent; who handles the
//! message goes on with it. So the trail of an answer is that of what the answer waited for last: the critical path.
//!
//! Nodes lie in a ring. One that was overwritten before its request was answered is missing: the time up to it is of
//! the stage [`LOST`], and the ring grows. No mark and no trail changes what happens.

use lanetwin_units::Instant;

/// The number of a stage among those of its component ([`Component::stages`](crate::Component::stages)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stage(pub u16);

impl Stage {
    /// The number of a stage among those of all components of a kernel, of a component whose first has the number
    /// `base`.
    #[inline]
    const fn of(self, base: u32) -> u32 {
        base + self.0 as u32
    }
}

/// The stage of time that nobody has marked, by its number among all.
pub const UNMARKED: u32 = 0;
/// The stage of time whose marks were overwritten, by its number among all.
pub const LOST: u32 = 1;
/// How many stages belong to no component.
pub(crate) const OF_NOBODY: u32 = 2;

/// How far a request has come, and how it came there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Trail(u32);

impl Trail {
    /// Nobody follows it.
    pub const NONE: Self = Self(0);
}

/// Up to `at`, since the node before, the request was in this stage.
#[derive(Clone, Copy, Default)]
struct Node {
    at: u64,
    before: Trail,
    stage: u32,
}

/// The ring has this many nodes for each request that is open: a request has some twenty, and others go on meanwhile.
const FOR_EACH: usize = 64;
/// The size of the ring at first, and at most.
const LEAST: u32 = 1 << 12;
const MOST: u32 = 1 << 22;
/// The most nodes that are copied where one trail goes on behind another.
const COPIED: usize = 48;

/// The trails of a kernel.
pub(crate) struct Trails {
    nodes: Vec<Node>,
    /// The number of the next node; its place is what the number leaves by the size of the ring.
    next: u32,
    /// How many requests have begun and were not accounted for.
    open: usize,
    /// That of what is handled just now.
    pub(crate) now: Trail,
    /// For each component the number of its first stage among all.
    pub(crate) bases: Vec<u32>,
}

impl Trails {
    pub(crate) fn new(bases: Vec<u32>) -> Self {
        Self { nodes: vec![Node::default(); LEAST as usize], next: 1, open: 0, now: Trail::NONE, bases }
    }
    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & (self.nodes.len() - 1)
    }
    #[inline]
    fn put(&mut self, node: Node) -> Trail {
        let (number, place) = (self.next, self.place(self.next));
        self.nodes[place] = node;
        self.next = number.wrapping_add(1).max(1);
        Trail(number)
    }
    /// A node, unless it was overwritten.
    #[inline]
    fn get(&self, trail: Trail) -> Option<&Node> {
        let is_there = self.next.wrapping_sub(trail.0) as usize <= self.nodes.len();
        is_there.then(|| &self.nodes[self.place(trail.0)])
    }
    /// A request begins now.
    #[inline]
    pub(crate) fn begin(&mut self, now: u64) {
        self.open += 1;
        if self.open * FOR_EACH > self.nodes.len() {
            self.grow();
        }
        self.now = self.put(Node { at: now, before: Trail::NONE, stage: UNMARKED });
    }
    /// What is handled was in this stage of a component up to `at`.
    #[inline]
    pub(crate) fn mark(&mut self, at: Instant, component: u32, stage: Stage) {
        if self.now == Trail::NONE {
            return;
        }
        let (before, at) = (self.now, at.as_ps());
        if self.nodes[self.place(before.0)].at < at {
            let stage = stage.of(self.bases[component as usize]);
            self.now = self.put(Node { at, before, stage });
        }
    }
    /// Goes on behind `own` with the way of what is handled now, as far as that is later; in between it was in this
    /// stage of a component.
    pub(crate) fn join(&mut self, own: Trail, component: u32, between: Stage, now: u64) {
        let known = if own == Trail::NONE { None } else { self.get(own) };
        let Some(&Node { at: end, .. }) = known else {
            self.now = own;
            return;
        };
        let (mut way, mut length) = ([Node::default(); COPIED], 0);
        let (mut trail, mut begin) = (self.now, now);
        while let Some(node) = self.get(trail).filter(|_| trail != Trail::NONE) {
            if trail == own {
                return; // it has come this way
            }
            begin = node.at.max(end);
            if node.at <= end || length == COPIED {
                break;
            }
            way[length] = *node;
            length += 1;
            trail = node.before;
        }
        self.now = own;
        self.mark(Instant::from_ps(begin), component, between);
        for node in way[..length].iter().rev().filter(|node| node.at > begin) {
            self.now = self.put(Node { before: self.now, ..*node });
        }
    }
    /// Tells from the last stage to the first for how long what is handled was in each, from `since` to `now`. The
    /// times sum to that. It is open no longer.
    #[inline]
    pub(crate) fn walk(&mut self, since: u64, now: u64, mut see: impl FnMut(u32, u64)) {
        self.open = self.open.saturating_sub(1);
        let (mut until, mut trail, mut stage) = (now, self.now, UNMARKED);
        while until > since {
            let node = if trail == Trail::NONE { None } else { self.get(trail) };
            let Some(node) = node else {
                if trail != Trail::NONE {
                    stage = LOST;
                    self.grow();
                }
                return see(stage, until - since);
            };
            let from = node.at.clamp(since, until);
            if from < until {
                see(stage, until - from);
                until = from;
            }
            (stage, trail) = (node.stage, node.before);
        }
    }
    /// Makes room for twice as many nodes.
    #[cold]
    fn grow(&mut self) {
        let size = self.nodes.len() as u32;
        if size >= MOST {
            return;
        }
        let old = std::mem::replace(&mut self.nodes, vec![Node::default(); 2 * size as usize]);
        for number in (1..=size).map(|back| self.next.wrapping_sub(back)).filter(|number| *number > 0) {
            let place = self.place(number);
            self.nodes[place] = old[(number & (size - 1)) as usize];
        }
    }
}
