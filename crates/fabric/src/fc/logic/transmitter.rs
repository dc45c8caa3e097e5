//! One direction of a link: frames leave one after another, each with a credit.
//!
//! A **run** is as many frames as follow one another as closely as the standard allows, six fill words apart. It ends
//! before a frame that is not ready, or has no credit, when its turn comes: so a run is decided at its start, with
//! nothing ahead that could still change it.
//!
//! ```
//! use lanetwin_fabric::fc::{Rate, logic::transmitter::Transmitter};
//! use lanetwin_units::Ticks;
//! let mut wire = Transmitter::new(Rate::Gfc4.line(), 2);
//! let run = wire.send(&mut |i| (i < 3).then_some((2048, Ticks(0)))).expect("there are credits");
//! assert_eq!(run.frames(), 2); // the third has no credit
//! assert_eq!(run.next().as_ps_ceil().as_ps(), 9_920_000); // 2 × 2108 B at 425 MB/s
//! ```

use super::super::spec::frame::{frame_bytes, spacing_bytes};
use super::credits::Credits;
use lanetwin_units::{LinkRate, Ticks};

/// The most frames of a run.
pub const RUN_FRAMES: u32 = 64;

/// One direction of a link, from its transmitter's side.
#[derive(Clone, Debug)]
pub struct Transmitter {
    line: LinkRate,
    /// When the wire is free for the next frame.
    free: Ticks,
    /// Back from the receiver.
    credits: Credits,
    /// The time on the wire of all frames so far, with their fill words.
    busy: u128,
    /// The time that frames have waited for nothing but a credit.
    waited: u128,
}

/// Frames that follow one another.
#[derive(Clone, Debug)]
pub struct Run {
    start: Ticks,
    line: LinkRate,
    /// Bytes of wire before each frame, and its data field \[B\].
    frames: Vec<(u64, u32)>,
    /// When another frame could start.
    next: Ticks,
}

impl Run {
    /// The start of its first frame.
    #[must_use]
    pub const fn start(&self) -> Ticks {
        self.start
    }
    /// When the frame after it can start.
    #[must_use]
    pub const fn next(&self) -> Ticks {
        self.next
    }
    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames.len() as u32
    }
    /// The data in all of them \[B\].
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.frames.iter().map(|frame| frame.1).sum()
    }
    /// The data field of each \[B\], and when its last byte has left.
    pub fn ends(&self) -> impl Iterator<Item = (u32, Ticks)> {
        let end = |before, data| self.start + self.line.ticks_for(before + u64::from(frame_bytes(data)));
        self.frames.iter().map(move |&(before, data)| (data, end(before, data)))
    }
}

impl Transmitter {
    /// An idle one, with `credits`.
    #[must_use]
    pub fn new(line: LinkRate, credits: u32) -> Self {
        Self { line, free: Ticks(0), credits: Credits::new(credits), busy: 0, waited: 0 }
    }
    /// When a frame that is ready at `ready` can start. Returns `None` if no credit is known to return.
    #[must_use]
    pub fn next_start(&self, ready: Ticks) -> Option<Ticks> {
        Some(self.free.max(ready).max(self.credits.earliest()?))
    }
    /// When the wire is free.
    #[must_use]
    pub const fn free(&self) -> Ticks {
        self.free
    }
    /// Sends a run: `next(i)` is the data field of its `i`-th frame \[B\] and when that is ready; none ends it. None if
    /// there is no first frame, or no credit known for it.
    pub fn send(&mut self, next: &mut dyn FnMut(u32) -> Option<(u32, Ticks)>) -> Option<Run> {
        let (data, ready) = next(0)?;
        let start = self.next_start(ready)?;
        self.waited += u128::from(start.0 - self.free.max(ready).0);
        self.credits.settle(start);
        let mut frames = Vec::new();
        let mut before = 0;
        let mut frame = Some((data, ready));
        while let Some((data, ready)) = frame {
            let at = start + self.line.ticks_for(before);
            if ready > at || self.credits.earliest().is_none_or(|credit| credit > at) {
                break;
            }
            self.credits.take(at);
            frames.push((before, data));
            before += u64::from(spacing_bytes(data));
            let count = frames.len() as u32;
            frame = if count < RUN_FRAMES { next(count) } else { None };
        }
        let length = self.line.ticks_for(before);
        self.free = start + length;
        self.busy += u128::from(length.0);
        Some(Run { start, line: self.line, frames, next: self.free })
    }
    /// A credit can be used again from `at`.
    pub fn give(&mut self, at: Ticks) {
        self.credits.give(at);
    }
    /// The time that frames have been on the wire up to `now`, which is not before the last start \[ticks\].
    #[must_use]
    pub fn busy(&self, now: Ticks) -> u128 {
        self.busy - u128::from(self.free.0.saturating_sub(now.0))
    }
    /// Its credits.
    #[must_use]
    pub const fn credits(&self) -> &Credits {
        &self.credits
    }
    /// The time up to `now` that frames have waited for nothing but a credit, if the next one is ready at `front`
    /// \[ticks\].
    #[must_use]
    pub fn waited(&self, front: Option<Ticks>, now: Ticks) -> u128 {
        let since = front.map_or(now, |ready| self.free.max(ready));
        self.waited + u128::from(now.0.saturating_sub(since.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::spec::rate::Rate;
    use super::*;
    use proptest::prelude::*;

    /// 36 + 2048 B at 425 MB/s.
    #[test]
    fn a_frame_by_hand() {
        let mut wire = Transmitter::new(Rate::Gfc4.line(), 1);
        let run = wire.send(&mut |i| (i == 0).then_some((2048, Ticks(1024)))).unwrap();
        let ends: Vec<_> = run.ends().map(|(data, at)| (data, at.as_ps_ceil().as_ps())).collect();
        assert_eq!((ends, run.start()), (vec![(2048, 1 + 4_903_530)], Ticks(1024)));
        assert_eq!(wire.next_start(Ticks(0)), None);
        assert_eq!(wire.busy(run.next()), u128::from(run.next().0 - 1024));
    }

    proptest! {
        /// In runs or frame by frame, with any readiness and any delay of credits: the same ends.
        #[test]
        fn runs_are_their_frames(
            credits in 1_u32..6,
            delay in 0_u64..20_000_000_000,
            frames in prop::collection::vec((1_u32..2112, 0_u64..9_000_000_000), 1..60),
            most in 2_u32..9,
        ) {
            let mut ready = 0;
            let frames: Vec<_> = frames.into_iter().map(|(data, gap)| {
                ready += gap;
                (data, Ticks(ready))
            }).collect();
            let all = |most: u32| {
                let mut wire = Transmitter::new(Rate::Gfc4.line(), credits);
                let (mut sent, mut ends) = (0, Vec::new());
                while sent < frames.len() {
                    let run = wire.send(&mut |i| frames.get(sent + i as usize).copied().filter(|_| i < most));
                    let run = run.expect("a credit is known: each frame gave one back");
                    assert!(run.frames() >= 1);
                    for (data, end) in run.ends() {
                        wire.give(end + Ticks(delay));
                        ends.push((data, end.0));
                    }
                    sent += run.frames() as usize;
                }
                ends
            };
            let (runs, singly) = (all(most), all(1));
            prop_assert_eq!(runs.len(), singly.len());
            for (run, single) in runs.iter().zip(&singly) {
                // a byte is no whole number of ticks: a run rounds once, single frames each
                prop_assert!(run.0 == single.0 && run.1.abs_diff(single.1) <= 60, "{:?} {:?}", run, single);
            }
        }
    }
}
