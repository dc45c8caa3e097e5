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
//! Nodes lie in a ring, which grows where it would overwrite one that is younger than the oldest request that is open.
//! Only beyond [`MOST`] nodes one is overwritten: the time up to it is then of the stage [`LOST`]. No mark and no trail
//! changes what happens.

use lanetwin_units::Instant;
use std::collections::VecDeque;

/// The number of a stage among those of its component ([`Component::stages`](crate::Component::stages)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stage(pub u16);

impl Stage {
    /// The number of a stage among those of all components of a kernel, of a component whose first has the number
    /// `base`.
    #[inline]
    pub(crate) const fn of(self, base: u32) -> u32 {
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

/// A request that has begun, for [`Context::end`](crate::Context::end).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begun(u32);

impl Begun {
    /// In the place of one that nobody follows, and that is never over.
    pub const NONE: Self = Self(u32::MAX);
}

/// The size of the ring at first, and at most.
const LEAST: u32 = 1 << 10;
const MOST: u32 = 1 << 22;
/// The ring is looked at so many times in a round.
const LOOKS: u32 = 8;
/// The most nodes that are copied where one trail goes on behind another.
const COPIED: usize = 48;

/// The trails of a kernel.
pub(crate) struct Trails {
    nodes: Vec<Node>,
    /// The number of the next node; its place is what the number leaves by the size of the ring.
    next: u32,
    /// Of each request that has begun, from the oldest that is open on: its first node, and whether it is over.
    begun: VecDeque<(u32, bool)>,
    /// How many requests have begun before those.
    over: u32,
    /// That of what is handled just now.
    pub(crate) now: Trail,
    /// For each component the number of its first stage among all.
    pub(crate) bases: Vec<u32>,
}

impl Trails {
    pub(crate) fn new(bases: Vec<u32>) -> Self {
        let (nodes, begun) = (vec![Node::default(); LEAST as usize], VecDeque::new());
        Self { nodes, next: 1, begun, over: 0, now: Trail::NONE, bases }
    }
    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & (self.nodes.len() - 1)
    }
    #[inline]
    fn put(&mut self, node: Node) -> Trail {
        let (number, size) = (self.next, self.nodes.len() as u32);
        if number & (size / LOOKS - 1) == 0 {
            self.make_room();
        }
        let place = self.place(number);
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
    /// A request begins, or has begun at `at`.
    #[inline]
    pub(crate) fn begin(&mut self, at: u64) -> Begun {
        self.now = self.put(Node { at, before: Trail::NONE, stage: UNMARKED });
        let begun = Begun(self.over.wrapping_add(self.begun.len() as u32));
        self.begun.push_back((self.now.0, false));
        begun
    }
    /// A request that has begun is over.
    #[inline]
    pub(crate) fn end(&mut self, Begun(number): Begun) {
        if let Some((_, over)) = self.begun.get_mut(number.wrapping_sub(self.over) as usize) {
            *over = true;
        }
        while self.begun.front().is_some_and(|(_, over)| *over) {
            self.begun.pop_front();
            self.over = self.over.wrapping_add(1);
        }
    }
    /// Up to when what is handled is marked; none if nobody follows it.
    #[inline]
    pub(crate) fn marked(&self) -> Option<u64> {
        if self.now == Trail::NONE { None } else { self.get(self.now).map(|node| node.at) }
    }
    /// What is handled was in this stage of a component up to `at`. Most marks are of what nobody follows: for them
    /// this is one comparison, wherever it is called.
    #[inline(always)]
    pub(crate) fn mark(&mut self, at: Instant, component: u32, stage: Stage) {
        if self.now != Trail::NONE {
            self.mark_followed(at.as_ps(), component, stage);
        }
    }
    #[inline(never)]
    fn mark_followed(&mut self, at: u64, component: u32, stage: Stage) {
        let (before, number, size) = (self.now, self.next, self.nodes.len() as u32);
        if number & (size / LOOKS - 1) == 0 {
            // rare, and behind everything else, so that this needs nothing of what a call may change
            return self.mark_after_look(at, component, stage);
        }
        let known = number.wrapping_sub(before.0) <= size;
        if known && self.nodes[self.place(before.0)].at >= at {
            return;
        }
        let stage = stage.of(self.bases[component as usize]);
        let place = self.place(number);
        self.nodes[place] = Node { at, before, stage };
        self.next = number.wrapping_add(1).max(1);
        self.now = Trail(number);
    }
    /// The same where it is time to look whether there is room.
    #[cold]
    #[inline(never)]
    fn mark_after_look(&mut self, at: u64, component: u32, stage: Stage) {
        let before = self.now;
        if self.get(before).is_none_or(|node| node.at < at) {
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
    /// Tells from the last stage to the first for how long what is handled was in each, from `since` to `end`. The
    /// times sum to that.
    #[inline]
    pub(crate) fn walk(&self, since: u64, end: u64, mut see: impl FnMut(u32, u64)) {
        let (mut until, mut trail, mut stage) = (end, self.now, UNMARKED);
        while until > since {
            let node = if trail == Trail::NONE { None } else { self.get(trail) };
            let Some(node) = node else {
                if trail != Trail::NONE {
                    stage = LOST;
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
    /// Makes room for twice as many nodes, if the next ones could overwrite what somebody still needs.
    #[cold]
    fn make_room(&mut self) {
        let size = self.nodes.len() as u32;
        let needed = self.begun.front().map_or(0, |(first, _)| self.next.wrapping_sub(*first));
        if needed <= size - size / LOOKS || size >= MOST {
            return;
        }
        let old = std::mem::replace(&mut self.nodes, vec![Node::default(); 2 * size as usize]);
        for number in (1..=size).map(|back| self.next.wrapping_sub(back)).filter(|number| *number > 0) {
            let place = self.place(number);
            self.nodes[place] = old[(number & (size - 1)) as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One request waits while others come and go, each with some marks: what was marked of it before is still known.
    #[test]
    fn a_request_that_waits_for_long_keeps_its_marks() {
        let mut trails = Trails::new(vec![OF_NOBODY]);
        let at = Instant::from_ps;
        let patient = trails.begin(0);
        trails.mark(at(100), 0, Stage(7));
        let own = trails.now;
        for n in 1..20_000 {
            let other = trails.begin(n);
            (1..5).for_each(|stage| trails.mark(at(n + u64::from(stage)), 0, Stage(stage)));
            trails.end(other);
        }
        let size = trails.nodes.len();
        trails.now = own;
        trails.mark(at(20_000), 0, Stage(8));
        let mut way = Vec::new();
        trails.walk(0, 20_001, |stage, ps| way.push((stage, ps)));
        assert_eq!(way, [(UNMARKED, 1), (OF_NOBODY + 8, 19_900), (OF_NOBODY + 7, 100)]);
        trails.end(patient);
        assert_eq!(trails.begun.len(), 0);
        // nobody waits: the ring is large enough from now on
        for n in 0..100_000 {
            let other = trails.begin(n);
            trails.end(other);
        }
        assert_eq!(trails.nodes.len(), size);
    }

    #[test]
    fn what_was_overwritten_is_told_as_lost_and_later_marks_are_kept() {
        let mut trails = Trails::new(vec![OF_NOBODY]);
        let at = Instant::from_ps;
        let forgotten = trails.begin(0);
        trails.end(forgotten);
        let own = trails.now;
        for n in 0..u64::from(LEAST) {
            let other = trails.begin(1_000_000 + n);
            trails.end(other);
        }
        trails.now = own;
        trails.mark(at(10), 0, Stage(3));
        let mut way = Vec::new();
        trails.walk(0, 12, |stage, ps| way.push((stage, ps)));
        assert_eq!(way, [(UNMARKED, 2), (LOST, 10)]);
    }
}
