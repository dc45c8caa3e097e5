//! Arbitration between submission queues: round robin, and weighted round robin with urgent priority class (Base 2.0
//! §3.4.4).
//!
//! ```text
//!  round robin            all queues in one ring, the admin queue among them
//!  weighted round robin   admin, before urgent, before { high × HPW, medium × MPW, low × LPW } a round
//! ```
//!
//! A queue keeps its turn for an arbitration burst, possibly interrupted by queues with precedence. The share of a
//! class without commands goes to the other classes.

use crate::spec::admin::QueuePriority;
use crate::spec::feature::Arbitration;

/// A class of queues: an index into the rings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class(u8);

const CLASSES: usize = 5;
/// Index of the first of the three weighted classes.
const HIGH: usize = 2;

impl Class {
    /// Class of the admin queue, and of all queues under round robin.
    pub const FIRST: Self = Self(0);

    /// The class of an I/O queue.
    pub const fn of(priority: QueuePriority, weighted: bool) -> Self {
        if weighted { Self(1 + (priority.0 & 3)) } else { Self::FIRST }
    }
}

/// Queues of one class that have commands, selected in turn.
#[derive(Clone, Debug)]
struct Ring {
    bits: Vec<u64>,
    count: u32,
    /// The queue that was selected last.
    last: u32,
    /// Number of commands left in its burst.
    left: u32,
}

impl Ring {
    fn new(queues: usize) -> Self {
        Self { bits: vec![0; queues.div_ceil(64)], count: 0, last: 0, left: 0 }
    }
    fn has(&self, queue: u32) -> bool {
        self.bits[queue as usize / 64] >> (queue % 64) & 1 == 1
    }
    fn set(&mut self, queue: u32, ready: bool) {
        if self.has(queue) != ready {
            self.bits[queue as usize / 64] ^= 1 << (queue % 64);
            if ready { self.count += 1 } else { self.count -= 1 }
        }
    }
    /// The first queue with commands after the last one selected.
    fn next(&self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let words = self.bits.len();
        let start = self.last as usize + 1;
        let (first, shift) = (start / 64 % words, start % 64);
        // the rest of its word after the last queue, the following words, and its own word again
        let masked = if start / 64 < words { self.bits[first] >> shift << shift } else { self.bits[0] };
        if masked != 0 {
            return Some((first * 64) as u32 + masked.trailing_zeros());
        }
        (1..=words).find_map(|step| {
            let word = (first + step) % words;
            (self.bits[word] != 0).then(|| (word * 64) as u32 + self.bits[word].trailing_zeros())
        })
    }
}

/// The arbiter of a controller.
#[derive(Clone, Debug)]
pub struct Arbiter {
    rings: [Ring; CLASSES],
    weights: [u32; 3],
    /// Number of commands left of each weight in this round.
    credits: [u32; 3],
    burst: u32,
    /// The class whose turn it is.
    class: usize,
    /// Number of queues that have commands.
    ready: u32,
}

impl Arbiter {
    /// An arbiter for `queues` queues without commands.
    pub fn new(queues: usize, feature: Arbitration) -> Self {
        let mut arbiter = Self {
            rings: core::array::from_fn(|_| Ring::new(queues)),
            weights: [1; 3],
            credits: [0; 3],
            burst: 1,
            class: 0,
            ready: 0,
        };
        arbiter.configure(feature);
        arbiter
    }
    /// Sets weights and burst, and begins a new round.
    pub fn configure(&mut self, feature: Arbitration) {
        let weight = |less_1: u8| u32::from(less_1) + 1;
        self.weights =
            [weight(feature.high_less_1()), weight(feature.medium_less_1()), weight(feature.low_less_1())];
        self.credits = self.weights;
        self.burst = if feature.burst() == 7 { u32::MAX } else { 1 << feature.burst() };
        self.rings.iter_mut().for_each(|ring| ring.left = 0);
    }
    /// Sets whether a queue has commands.
    #[inline]
    pub fn set(&mut self, class: Class, queue: u16, ready: bool) {
        let ring = &mut self.rings[class.0 as usize];
        self.ready -= ring.count;
        ring.set(queue.into(), ready);
        self.ready += ring.count;
    }
    /// The queue whose turn it is, and the maximum number of commands to take from it. The turn ends with
    /// [`Arbiter::taken`].
    #[inline]
    pub fn next(&mut self) -> Option<(u16, u32)> {
        if self.ready == 0 {
            return None;
        }
        let (class, credit) = self.class()?;
        self.class = class;
        let ring = &mut self.rings[class];
        if ring.left == 0 || !ring.has(ring.last) {
            ring.last = ring.next()?;
            ring.left = self.burst;
        }
        Some((ring.last as u16, ring.left.min(credit)))
    }
    /// Counts commands taken from the queue whose turn it is.
    #[inline]
    pub fn taken(&mut self, count: u32) {
        let ring = &mut self.rings[self.class];
        ring.left = ring.left.saturating_sub(count);
        if self.class >= HIGH {
            let credit = &mut self.credits[self.class - HIGH];
            *credit = credit.saturating_sub(count);
        }
    }
    /// The next class, and the maximum number of commands to take from it.
    fn class(&mut self) -> Option<(usize, u32)> {
        for class in 0..HIGH {
            if self.rings[class].count > 0 {
                return Some((class, u32::MAX));
            }
        }
        if self.rings[HIGH..].iter().all(|ring| ring.count == 0) {
            return None;
        }
        for _ in 0..2 {
            for weighted in 0..3 {
                if self.rings[HIGH + weighted].count > 0 && self.credits[weighted] > 0 {
                    return Some((HIGH + weighted, self.credits[weighted]));
                }
            }
            self.credits = self.weights;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feature(burst: u8, high: u8, medium: u8, low: u8) -> Arbitration {
        Arbitration::from_raw(
            u32::from(burst) | u32::from(low) << 8 | u32::from(medium) << 16 | u32::from(high) << 24,
        )
    }
    /// Who gives, one command at a time, with every queue always ready.
    fn served(arbiter: &mut Arbiter, commands: usize) -> Vec<u16> {
        (0..commands)
            .map(|_| {
                let (queue, limit) = arbiter.next().unwrap();
                assert!(limit > 0);
                arbiter.taken(1);
                queue
            })
            .collect()
    }

    #[test]
    fn round_robin_takes_bursts_in_turn() {
        let mut arbiter = Arbiter::new(130, feature(1, 0, 0, 0));
        for queue in [0, 63, 64, 129] {
            arbiter.set(Class::FIRST, queue, true);
        }
        assert_eq!(served(&mut arbiter, 10), [63, 63, 64, 64, 129, 129, 0, 0, 63, 63]);
        arbiter.set(Class::FIRST, 64, false);
        assert_eq!(served(&mut arbiter, 2), [129, 129]);
    }

    #[test]
    fn admin_and_urgent_come_first() {
        let mut arbiter = Arbiter::new(8, feature(7, 3, 1, 0));
        let class = |priority| Class::of(priority, true);
        arbiter.set(class(QueuePriority::LOW), 4, true);
        assert_eq!(served(&mut arbiter, 3), [4, 4, 4]);
        arbiter.set(class(QueuePriority::URGENT), 3, true);
        assert_eq!(served(&mut arbiter, 2), [3, 3]);
        arbiter.set(Class::FIRST, 0, true);
        arbiter.set(class(QueuePriority::URGENT), 3, false);
        assert_eq!(served(&mut arbiter, 2), [0, 0]);
        arbiter.set(Class::FIRST, 0, false);
        assert_eq!(served(&mut arbiter, 1), [4]);
    }

    proptest! {
        /// Over whole rounds every class gets exactly its weight, and the queues of a class differ by at most a burst.
        #[test]
        fn shares_are_the_weights(
            high in 0_u8..20, medium in 0_u8..20, low in 0_u8..20, burst in 0_u8..8,
            queues in prop::collection::vec(0_u8..3, 3..40),
        ) {
            let mut arbiter = Arbiter::new(queues.len() + 1, feature(burst, high, medium, low));
            let priority = |class: u8| QueuePriority(1 + class);
            for (at, &class) in queues.iter().enumerate() {
                arbiter.set(Class::of(priority(class), true), at as u16 + 1, true);
            }
            let weights = [high, medium, low].map(|weight| usize::from(weight) + 1);
            let present = |class: u8| queues.contains(&class);
            let round: usize = (0..3).filter(|&class| present(class)).map(|class| weights[class as usize]).sum();
            let served = served(&mut arbiter, round * 10);
            let mut by_queue = vec![0; queues.len()];
            for queue in served {
                by_queue[usize::from(queue) - 1] += 1;
            }
            for class in (0..3).filter(|&class| present(class)) {
                let of_class: Vec<usize> =
                    by_queue.iter().zip(&queues).filter(|&(_, &of)| of == class).map(|(&count, _)| count).collect();
                prop_assert_eq!(of_class.iter().sum::<usize>(), 10 * weights[class as usize]);
                let spread = of_class.iter().max().unwrap() - of_class.iter().min().unwrap();
                prop_assert!(burst == 7 || spread <= 1 << burst, "{of_class:?}");
            }
        }
    }
}
