//! Interrupts: at once, or coalesced by threshold and time (PCIe Transport 1.0 §3.9.2.1 and §3.9.2.2).
//!
//! A vector with coalescing signals with the completion that reaches the threshold, and at the latest when the
//! aggregation time has passed since the first completion that has not been signalled. The admin completion queue is
//! never coalesced.

use crate::spec::feature::{InterruptCoalescing, InterruptVectorConfiguration};
use lanetwin_units::{Instant, Span};

/// The unit of the aggregation time (PCIe Transport 1.0 §3.9.2.1).
const TIME_UNIT: Span = Span::from_us(100);

#[derive(Clone, Copy, Debug)]
struct Vector {
    waiting: u32,
    deadline: Instant,
    never_coalesced: bool,
}

impl Vector {
    const QUIET: Self = Self { waiting: 0, deadline: Instant::NEVER, never_coalesced: false };
}

/// Effect of a completion on its vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// The vector signals now.
    Now,
    /// The completion waits for others. Holds the time of the latest signal, if it was not set before.
    Later(Option<Instant>),
}

/// The vectors of a controller.
#[derive(Clone, Debug)]
pub struct Interrupts {
    vectors: Vec<Vector>,
    coalescing: InterruptCoalescing,
    /// Number of completions per signal; 1 for no coalescing.
    threshold: u32,
}

impl Interrupts {
    /// Creates vectors without coalescing.
    pub fn new(vectors: u16) -> Self {
        let vectors = vec![Vector::QUIET; vectors.into()];
        Self { vectors, coalescing: InterruptCoalescing::ZERO, threshold: 1 }
    }
    /// Number of vectors.
    pub fn count(&self) -> u16 {
        self.vectors.len() as u16
    }
    /// Current coalescing.
    pub fn coalescing(&self) -> InterruptCoalescing {
        self.coalescing
    }
    /// Sets threshold and time. Completions that are already waiting keep their deadline.
    pub fn set_coalescing(&mut self, coalescing: InterruptCoalescing) {
        self.coalescing = coalescing;
        let none = coalescing.time() == 0;
        self.threshold = if none { 1 } else { u32::from(coalescing.threshold_less_1()) + 1 };
    }
    /// Configuration of a vector; `None` if it does not exist.
    pub fn vector(&self, vector: u16) -> Option<InterruptVectorConfiguration> {
        let disabled = self.vectors.get(usize::from(vector))?.never_coalesced;
        Some(InterruptVectorConfiguration::from_raw(u32::from(vector) | u32::from(disabled) << 16))
    }
    /// Sets whether a vector is coalesced. Returns false if it does not exist.
    pub fn set_vector(&mut self, configuration: InterruptVectorConfiguration) -> bool {
        let vector = self.vectors.get_mut(usize::from(configuration.vector()));
        vector.map(|vector| vector.never_coalesced = configuration.coalescing_disable()).is_some()
    }
    /// Counts a completion of a queue of this vector.
    #[inline]
    pub fn completion(&mut self, vector: u16, admin: bool, now: Instant) -> Signal {
        if self.threshold == 1 || admin {
            return Signal::Now;
        }
        let Some(state) = self.vectors.get_mut(usize::from(vector)) else { return Signal::Now };
        if state.never_coalesced {
            return Signal::Now;
        }
        state.waiting += 1;
        if state.waiting >= self.threshold {
            state.waiting = 0;
            state.deadline = Instant::NEVER;
            return Signal::Now;
        }
        if state.waiting > 1 {
            return Signal::Later(None);
        }
        state.deadline = now + TIME_UNIT * u64::from(self.coalescing.time());
        Signal::Later(Some(state.deadline))
    }
    /// Takes the next vector that is due; the caller must signal it.
    pub fn due(&mut self, now: Instant) -> Option<u16> {
        let vector = self.vectors.iter().position(|vector| vector.deadline <= now)?;
        self.vectors[vector] =
            Vector { never_coalesced: self.vectors[vector].never_coalesced, ..Vector::QUIET };
        Some(vector as u16)
    }
    /// When the next vector is due.
    pub fn next_deadline(&self) -> Instant {
        self.vectors.iter().map(|vector| vector.deadline).min().unwrap_or(Instant::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Instant = |us| Instant::ZERO + Span::from_us(us);

    #[test]
    fn threshold_and_time_bound_what_waits() {
        let mut interrupts = Interrupts::new(2);
        assert_eq!(interrupts.completion(1, false, AT(0)), Signal::Now);
        interrupts.set_coalescing(InterruptCoalescing::from_raw(0x0102)); // three, or 100 µs
        assert_eq!(interrupts.completion(1, false, AT(0)), Signal::Later(Some(AT(100))));
        assert_eq!(interrupts.completion(1, false, AT(50)), Signal::Later(None));
        assert_eq!(interrupts.completion(0, true, AT(50)), Signal::Now);
        assert_eq!(interrupts.completion(1, false, AT(60)), Signal::Now);
        assert_eq!(interrupts.completion(1, false, AT(70)), Signal::Later(Some(AT(170))));
        assert_eq!((interrupts.due(AT(169)), interrupts.next_deadline()), (None, AT(170)));
        assert_eq!((interrupts.due(AT(170)), interrupts.due(AT(170))), (Some(1), None));
        assert!(interrupts.set_vector(InterruptVectorConfiguration::from_raw(0x1_0001)));
        assert_eq!(interrupts.completion(1, false, AT(200)), Signal::Now);
        assert!(!interrupts.set_vector(InterruptVectorConfiguration::from_raw(2)));
    }
}
