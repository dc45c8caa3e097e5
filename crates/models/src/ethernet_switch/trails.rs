//! Trails of the requests whose frames are in a switch.
//!
//! Frames of a flow leave in the order of arrival, so that the entry of a frame that leaves is at the head of its
//! flow, after the entries of dropped frames.

use lanetwin_fabric::ethernet::logic::Train;
use lanetwin_kernel::Trail;
use lanetwin_units::Instant;
use std::collections::{BTreeMap, VecDeque};

/// Identifier of a flow: stations, entropy, and class without its mark, as one number.
type Flow = u64;

/// Up to this many flows keep their entries while no frame of them is in the switch.
const KEPT: usize = 256;

/// Frames of a request that came as one.
#[derive(Clone, Copy, Debug)]
struct Came {
    words: [u32; 3],
    count: u16,
    /// Time of the first bit of the first frame, and the distance between frames.
    at: Instant,
    spacing_ps: u32,
    trail: Trail,
}

/// The request of a frame that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    pub(super) trail: Trail,
    /// Arrival of the frame.
    pub(super) at: Instant,
}

/// Trails of requests whose frames are in the switch.
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
    /// Takes the entry of frames that leave. Returns that of the last of them, if its request is followed.
    pub(super) fn leave(&mut self, train: &Train) -> Option<Passing> {
        // most frames belong to requests that are not followed
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
