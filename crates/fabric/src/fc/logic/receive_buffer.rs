//! A buffer behind the credits, in which an adapter keeps data that wait for its bus.
//!
//! ```text
//!   wire ──► a landing place for each credit ──► room ──► taken out
//!                                            R_RDY when there is room for it and all before it
//! ```
//!
//! While the room is full R_RDY is withheld; when all credits are used up the wire stops.

use lanetwin_units::Ticks;
use std::collections::VecDeque;

/// Frames in the order of their arrival, counted in bytes.
#[derive(Clone, Debug)]
pub struct ReceiveBuffer {
    /// Room behind the landing places \[B\].
    room: u64,
    /// All that ever came \[B\].
    received: u64,
    /// All that was ever taken out \[B\].
    taken: u64,
    /// Frames whose R_RDY is withheld: arrival time, and bytes received up to and including them \[B\].
    withheld: VecDeque<(Ticks, u64)>,
}

impl ReceiveBuffer {
    /// An empty one with this room \[B\].
    #[must_use]
    pub const fn new(room: u64) -> Self {
        Self { room, received: 0, taken: 0, withheld: VecDeque::new() }
    }
    /// Handles a frame with `bytes` of data that arrives at `at`, after all earlier ones. Returns when its R_RDY can
    /// be sent, or `None` if it is withheld.
    pub fn land(&mut self, at: Ticks, bytes: u64) -> Option<Ticks> {
        self.received += bytes;
        if self.withheld.is_empty() && self.received - self.taken <= self.room {
            return Some(at);
        }
        self.withheld.push_back((at, self.received));
        None
    }
    /// Takes out `bytes` at `now`, oldest first; calls `ready` with the time of each R_RDY that was withheld until
    /// now.
    ///
    /// # Panics
    /// If there are fewer bytes.
    pub fn take_out(&mut self, bytes: u64, now: Ticks, ready: &mut dyn FnMut(Ticks)) {
        self.taken += bytes;
        assert!(self.taken <= self.received, "what is taken out of a buffer was there");
        while let Some(&(at, received)) = self.withheld.front()
            && received - self.taken.min(received) <= self.room
        {
            self.withheld.pop_front();
            ready(at.max(now));
        }
    }
    /// Bytes in it, or known to arrive \[B\].
    #[must_use]
    pub const fn held(&self) -> u64 {
        self.received - self.taken
    }
    /// Number of withheld R_RDY.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.withheld.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_buffer_withholds() {
        let mut buffer = ReceiveBuffer::new(4096);
        let landed = [10, 20, 30].map(|at| buffer.land(Ticks(at), 2048));
        assert_eq!((landed, buffer.withheld()), ([Some(Ticks(10)), Some(Ticks(20)), None], 1));
        let mut ready = Vec::new();
        buffer.take_out(2048, Ticks(25), &mut |at| ready.push(at)); // before the third is even there
        buffer.land(Ticks(40), 2048);
        buffer.take_out(2048, Ticks(50), &mut |at| ready.push(at));
        assert_eq!((ready, buffer.held()), (vec![Ticks(30), Ticks(50)], 4096));
    }

    proptest! {
        /// Every frame gets one R_RDY, in order, not before it has arrived, and not while more than the room is held.
        #[test]
        fn every_frame_is_acknowledged_once(
            room in 0_u64..10_000,
            frames in prop::collection::vec((0_u64..100, 1_u64..2112), 1..80),
            every in 1_usize..6,
        ) {
            let mut buffer = ReceiveBuffer::new(room);
            let (mut now, mut ready, mut inside) = (0, Vec::new(), VecDeque::new());
            for (i, &(gap, bytes)) in frames.iter().enumerate() {
                now += gap;
                let at_once = buffer.land(Ticks(now), bytes);
                inside.push_back(bytes);
                if let Some(at) = at_once {
                    prop_assert!(at == Ticks(now) && buffer.held() <= room);
                    ready.push(at);
                }
                if i % every == 0 {
                    let bytes = inside.pop_front().unwrap();
                    buffer.take_out(bytes, Ticks(now), &mut |at| ready.push(at));
                }
                prop_assert_eq!(buffer.held(), inside.iter().sum::<u64>());
                prop_assert_eq!(ready.len() + buffer.withheld(), i + 1);
            }
            buffer.take_out(inside.iter().sum(), Ticks(now), &mut |at| ready.push(at));
            prop_assert_eq!((ready.len(), buffer.withheld()), (frames.len(), 0));
            prop_assert!(ready.is_sorted());
        }
    }
}
