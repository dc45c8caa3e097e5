//! How far the requests have come whose frames are in a switch.
//!
//! Frames of a flow leave in the order in which they came, so that what was put down of one that leaves is at the head
//! of its flow, behind what was put down of frames that were dropped.

use lanetwin_fabric::ethernet::logic::Train;
use lanetwin_kernel::Trail;
use lanetwin_units::Instant;
use std::collections::{BTreeMap, VecDeque};

/// What tells flows apart: stations, entropy, class without its mark, as one number.
type Flow = u64;

/// So many flows keep their places while nothing of them is in the switch.
const KEPT: usize = 256;

/// Frames of a request that came as one.
#[derive(Clone, Copy, Debug)]
struct Came {
    words: [u32; 3],
    count: u16,
    /// When the first bit of the first was there, and from frame to frame.
    at: Instant,
    spacing_ps: u32,
    trail: Trail,
}

/// A request whose frame leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    pub(super) trail: Trail,
    /// When the frame came.
    pub(super) at: Instant,
}

/// How far requests have come whose frames are in the switch.
#[derive(Debug, Default)]
pub(super) struct Trails {
    flows: BTreeMap<Flow, VecDeque<Came>>,
}

fn flow(train: &Train) -> Flow {
    let ends = u64::from(train.from.0) << 32 | u64::from(train.to.0) << 16;
    ends | u64::from(train.entropy) << 8 | u64::from(train.class.priority())
}

impl Trails {
    /// Frames come.
    pub(super) fn come(&mut self, at: Instant, train: &Train, trail: Trail) {
        if trail == Trail::NONE {
            return;
        }
        let Train { words, count, spacing_ps, .. } = *train;
        let came = Came { words, count, at, spacing_ps, trail };
        self.flows.entry(flow(train)).or_default().push_back(came);
    }
    /// Frames leave: how far the request had come that the last of them is of, if somebody follows it.
    pub(super) fn leave(&mut self, train: &Train) -> Option<Passing> {
        // most frames are of what nobody follows
        if self.flows.is_empty() {
            return None;
        }
        let came = self.flows.get_mut(&flow(train))?;
        let last = train.words[0].wrapping_add(u32::from(train.count) - 1);
        let is_in = |came: &Came| {
            let place = last.wrapping_sub(came.words[0]);
            (came.words[1..] == train.words[1..] && place < came.count.into()).then_some(place)
        };
        let mut found = came.front().and_then(is_in);
        if found.is_none() {
            // those before it were dropped
            let (dropped, place) = came.iter().enumerate().find_map(|(i, came)| Some((i, is_in(came)?)))?;
            came.drain(..dropped);
            found = Some(place);
        }
        let (first, place) = (*came.front()?, found?);
        if place + 1 == u32::from(first.count) {
            came.pop_front();
        }
        if came.is_empty() && self.flows.len() > KEPT {
            self.flows.remove(&flow(train));
        }
        let at = Instant::from_ps(first.at.as_ps() + u64::from(place) * u64::from(first.spacing_ps));
        Some(Passing { trail: first.trail, at })
    }
}
