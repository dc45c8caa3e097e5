//! Trails: the stages that a request has passed through, and the end of each.
//!
//! ```text
//!  asked ◄── queue for the core ◄── submit ◄── wire ◄─┬─ medium ◄── … ◄── told
//!                                                     └─ medium of another part, which nobody waited for
//! ```
//!
//! A trail is a list from its end to its beginning. A mark adds one node, and two requests, or two parts of one, can
//! continue from the same node. A message carries the trail that was current when it was sent, and its receiver
//! continues it. So the trail of an answer is that of whatever the answer waited for last: the critical path.
//!
//! Nodes are stored in a ring, which grows before it would overwrite a node that is younger than the oldest open
//! request. At [`MOST`] nodes it stops growing and nodes are overwritten; the time up to them then counts as stage
//! [`LOST`]. Marks and trails never change the simulation.

use lanetwin_units::Instant;
use std::collections::VecDeque;

/// The number of a stage among those of its component ([`Component::stages`](crate::Component::stages)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stage(pub u16);

impl Stage {
    /// The number of a stage among those of all components of a kernel; `base` is the number of its component's first
    /// stage.
    #[inline]
    pub(crate) const fn of(self, base: u32) -> u32 {
        base + self.0 as u32
    }
}

/// The number of the stage for unmarked time.
pub const UNMARKED: u32 = 0;
/// The number of the stage for time whose marks were overwritten.
pub const LOST: u32 = 1;
/// Number of stages that belong to no component.
pub(crate) const OF_NOBODY: u32 = 2;

/// The trail of a request: a reference to its last node.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Trail(u32);

impl Trail {
    /// The trail of a request that is not followed.
    pub const NONE: Self = Self(0);
}

/// A node: the request was in `stage` up to `at`, since the node before.
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
    /// Stands for a request that is not followed, and that does not end.
    pub const NONE: Self = Self(u32::MAX);
}

/// The size of the ring at first, and at most.
const LEAST: u32 = 1 << 10;
const MOST: u32 = 1 << 22;
/// Number of times per round of the ring that its free space is checked.
const LOOKS: u32 = 8;
/// Maximum number of nodes copied where one trail is appended to another.
const COPIED: usize = 48;

/// The trails of a kernel.
pub(crate) struct Trails {
    nodes: Vec<Node>,
    /// The number of the next node; its index is this number modulo the size of the ring.
    next: u32,
    /// For each begun request, from the oldest open one on: its first node, and whether it has ended.
    begun: VecDeque<(u32, bool)>,
    /// Number of requests that began before those.
    over: u32,
    /// The current trail.
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
    /// A node; `None` if it was overwritten.
    #[inline]
    fn get(&self, trail: Trail) -> Option<&Node> {
        let is_there = self.next.wrapping_sub(trail.0) as usize <= self.nodes.len();
        is_there.then(|| &self.nodes[self.place(trail.0)])
    }
    /// Begins a request, at `at`, now or in the past.
    #[inline]
    pub(crate) fn begin(&mut self, at: u64) -> Begun {
        self.now = self.put(Node { at, before: Trail::NONE, stage: UNMARKED });
        let begun = Begun(self.over.wrapping_add(self.begun.len() as u32));
        self.begun.push_back((self.now.0, false));
        begun
    }
    /// Ends a request.
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
    /// The time up to which the current request is marked; `None` if it is not followed.
    #[inline]
    pub(crate) fn marked(&self) -> Option<u64> {
        if self.now == Trail::NONE { None } else { self.get(self.now).map(|node| node.at) }
    }
    /// Marks the time up to `at` as a stage of a component. Most marks are of requests that are not followed; for them
    /// this is one comparison, inlined at the call.
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
            // rare, and after everything else, so that the fast path depends on nothing that the call may change
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
    /// The same, when the free space of the ring has to be checked.
    #[cold]
    #[inline(never)]
    fn mark_after_look(&mut self, at: u64, component: u32, stage: Stage) {
        let before = self.now;
        if self.get(before).is_none_or(|node| node.at < at) {
            let stage = stage.of(self.bases[component as usize]);
            self.now = self.put(Node { at, before, stage });
        }
    }
    /// Appends the current trail to `own`, as far as it is later; a gap between them counts as stage `between` of a
    /// component.
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
    /// Calls `see` with the time in each stage of the current request from `since` to `end`, from the last to the
    /// first. The times sum to `end - since`.
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
    /// Doubles the ring if the next nodes could overwrite one that an open request needs.
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
