//! The temperature of a page: how often it has been used recently.
//!
//! A count of lines read or written, halved for each `half_life` that has passed. Time is divided into periods of
//! this length; a count of an earlier period is halved once for each period that began since.

use lanetwin_units::{Instant, Span};

/// Stores a count in the upper half of a word, and the period of its last change in the lower.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thermometer {
    half_life: Span,
}

impl Thermometer {
    pub(super) const fn new(half_life: Span) -> Self {
        Self { half_life }
    }
    const fn era(self, now: Instant) -> u32 {
        (now.as_ps() / self.half_life.as_ps()) as u32 & 0xffff
    }
    /// The count now.
    #[inline]
    pub(super) const fn read(self, heat: u32, now: Instant) -> u32 {
        let eras = self.era(now).wrapping_sub(heat) & 0xffff;
        if eras < 16 { (heat >> 16) >> eras } else { 0 }
    }
    /// Counts one more use.
    #[inline]
    pub(super) const fn add(self, heat: &mut u32, now: Instant) {
        let count = self.read(*heat, now);
        let more = if count < 0xffff { count + 1 } else { count };
        *heat = more << 16 | self.era(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_halves_and_saturates() {
        let thermometer = Thermometer::new(Span::from_ns(10));
        let (mut heat, ns) = (0, |ns| Instant::ZERO + Span::from_ns(ns));
        for _ in 0..12 {
            thermometer.add(&mut heat, ns(5));
        }
        assert_eq!([9, 10, 29, 40, 1000].map(|at| thermometer.read(heat, ns(at))), [12, 6, 3, 0, 0]);
        thermometer.add(&mut heat, ns(21));
        assert_eq!(thermometer.read(heat, ns(29)), 4);
        for _ in 0..70_000 {
            thermometer.add(&mut heat, ns(30));
        }
        assert_eq!(thermometer.read(heat, ns(30)), 0xffff);
    }
}
