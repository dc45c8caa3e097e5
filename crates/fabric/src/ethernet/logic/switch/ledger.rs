//! Counters of a switch. A switch decides ahead of time; a decision is counted at the time when it takes effect, so
//! that counters do not show how far ahead it has decided.

use super::super::train::Train;
use crate::ethernet::spec::{PAUSE_BYTES, Rate, wire_bytes};
use lanetwin_units::mix;

/// Counters of a port of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PortCounts {
    /// Frames that have started.
    pub frames: u64,
    /// Their size, from destination to check sequence \[B\].
    pub bytes: u64,
    /// Frames for it that found no room.
    pub dropped: u64,
    /// Frames for it that were marked.
    pub marked: u64,
    /// Waiting time of frames that have started, after the earliest time at which they could leave, summed \[ps\].
    pub waited_ps: u128,
    /// The longest that one could have left before \[ps\].
    pub longest_wait_ps: u64,
    /// Pause frames started: those that begin a pause, and those that end one.
    pub told: [u64; 2],
    /// The same of pause frames that had their effect.
    pub heard: [u64; 2],
    /// Time that its peer has paused the priority that it paused longest \[ps\].
    pub closed_ps: u64,
    /// Storms that were detected, and how many of them are over.
    pub storms: [u64; 2],
    /// Frames that were dropped because of them.
    pub discarded: u64,
    /// When the first storm was detected, and when it ended \[ps\].
    pub first_storm: [Option<u64>; 2],
    /// Start of the last frame \[ps\], and its size \[B\].
    pub last: (u64, u16),
}

impl PortCounts {
    /// Time that the wire has been in use up to `now`, including gaps between frames \[ps\].
    #[must_use]
    pub fn busy_ps(&self, rate: Rate, now: u64) -> u128 {
        let wire = |bytes: u64, frames: u64| (bytes + frames * u64::from(wire_bytes(0))) * rate.byte_ps();
        let (start, bytes) = self.last;
        let pauses = self.told.iter().sum::<u64>();
        let frames = self.frames + pauses;
        let unfinished = if frames > 0 { (start + wire(bytes.into(), 1)).saturating_sub(now) } else { 0 };
        u128::from(wire(self.bytes + pauses * u64::from(PAUSE_BYTES), frames) - unfinished)
    }
}

/// Counters of a switch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SwitchCounts {
    /// By port.
    pub ports: Vec<PortCounts>,
    /// Frames that it knew no way for, or that were to leave where they had come in.
    pub stray: u64,
    /// Every start, drop and mark with its time, as 64 bits, in whatever order.
    pub digest: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Frames start, each of which could have left so long before \[ps\].
    Sent {
        waited: u64,
    },
    Dropped,
    Marked,
    Stray,
    /// A pause frame starts that begins a pause, or ends one.
    Told {
        ends: bool,
    },
    /// One that came has its effect.
    Heard {
        ends: bool,
    },
    /// A pause storm is detected, or over.
    Storm {
        over: bool,
    },
    /// A frame is dropped because of one.
    Discarded,
}

/// Something that has been decided: `count` times, at `at` and then every `spacing` \[ps\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    at: u64,
    spacing: u64,
    count: u16,
    port: u16,
    event: Event,
    bytes: u16,
    /// The first frame as 64 bits.
    name: u64,
}

impl Entry {
    /// Something that happens to the frames of a train at a port, the first time at `at`, as far apart as they are.
    pub(super) fn of(event: Event, at: u64, port: u16, train: &Train) -> Self {
        let kind = match event {
            Event::Sent { .. } => 1,
            Event::Dropped => 2,
            Event::Marked => 3,
            Event::Stray => 4_u64,
            Event::Told { .. } => 5,
            Event::Heard { .. } => 6,
            Event::Storm { over } => 7 + u64::from(over),
            Event::Discarded => 9,
        };
        let [number, a, b] = train.words;
        // the first word numbers the frames of a train, which the time does as well; in a pause frame it has the
        // content
        let says = matches!(event, Event::Told { .. } | Event::Heard { .. } | Event::Storm { .. });
        let a = if says { number } else { a };
        let whose = u64::from(train.from.0) << 48 | u64::from(train.to.0) << 32 | u64::from(port) << 16;
        let what = kind << 32 | u64::from(train.class.raw()) << 16 | u64::from(train.bytes);
        let name = mix(mix(whose ^ u64::from(a)) ^ what ^ u64::from(b) << 40);
        let (spacing, count, bytes) = (train.spacing_ps.into(), train.count, train.bytes);
        Self { at, spacing, count, port, event, bytes, name: name | 1 }
    }
    /// Number of times that it has happened by `now`.
    fn happened(&self, now: u64) -> u16 {
        if self.at > now || self.count == 1 {
            return u16::from(self.at <= now);
        }
        let times = (now - self.at).checked_div(self.spacing).map_or(u64::MAX, |gaps| gaps + 1);
        times.min(self.count.into()) as u16
    }
}

#[derive(Default, Debug)]
pub(super) struct Ledger {
    counts: SwitchCounts,
    /// Decisions that have not all taken effect, or whose effects have not been counted.
    open: Vec<Entry>,
    /// Number of entries at which those that have taken effect are counted: twice as many as were open then, so that
    /// each entry is checked only a few times, however many there are.
    most: usize,
}

/// The least of them.
const FEW: usize = 64;

impl Ledger {
    pub(super) fn new(ports: usize) -> Self {
        let counts = SwitchCounts { ports: vec![PortCounts::default(); ports], ..SwitchCounts::default() };
        Self { counts, open: Vec::new(), most: FEW }
    }
    pub(super) fn add(&mut self, entry: Entry) {
        self.open.push(entry);
    }
    /// Time has passed. What has happened is counted when that is worth while; [`Ledger::counts`] has it in any case.
    pub(super) fn happen(&mut self, now: u64) {
        if self.open.len() < self.most {
            return;
        }
        let counts = &mut self.counts;
        self.open.retain_mut(|entry| {
            let times = entry.happened(now);
            count(counts, entry, times);
            entry.at += u64::from(times) * entry.spacing;
            entry.count -= times;
            entry.count > 0
        });
        self.most = FEW.max(2 * self.open.len());
    }
    pub(super) fn counts(&self, now: u64) -> SwitchCounts {
        let mut counts = self.counts.clone();
        self.open.iter().for_each(|entry| count(&mut counts, entry, entry.happened(now)));
        counts
    }
}

/// Counts an event `times` times.
fn count(counts: &mut SwitchCounts, entry: &Entry, times: u16) {
    if times == 0 {
        return;
    }
    let n = u64::from(times);
    // the sum over all times of (time × name): the same for a run as for its frames one by one
    let times_sum = n.wrapping_mul(entry.at).wrapping_add(entry.spacing.wrapping_mul(n * (n - 1) / 2));
    counts.digest = counts
        .digest
        .wrapping_add(times_sum.wrapping_mul(entry.name))
        .wrapping_add(n.wrapping_mul(mix(entry.name)));
    let Some(port) = counts.ports.get_mut(usize::from(entry.port)) else { return };
    match entry.event {
        Event::Sent { waited } => {
            port.frames += n;
            port.bytes += n * u64::from(entry.bytes);
            port.waited_ps += u128::from(n) * u128::from(waited);
            port.longest_wait_ps = port.longest_wait_ps.max(waited);
            port.last = port.last.max((entry.at + (n - 1) * entry.spacing, entry.bytes));
        }
        Event::Told { ends } => {
            port.told[usize::from(ends)] += n;
            port.last = port.last.max((entry.at, entry.bytes));
        }
        Event::Heard { ends } => port.heard[usize::from(ends)] += n,
        Event::Storm { over } => {
            port.storms[usize::from(over)] += n;
            let first = &mut port.first_storm[usize::from(over)];
            *first = Some(first.map_or(entry.at, |first| first.min(entry.at)));
        }
        Event::Discarded => port.discarded += n,
        Event::Dropped => port.dropped += n,
        Event::Marked => port.marked += n,
        Event::Stray => counts.stray += n,
    }
}
