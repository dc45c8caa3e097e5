//! Operations and bytes in each of many short intervals of equal width.
//!
//! The length of a run is not known in advance, so the width doubles whenever there are too many intervals.

use lanetwin_ports::Operation;
use lanetwin_units::Span;

/// Maximum number of intervals.
const MOST: usize = 128;
/// The least width \[ps\]: 1 µs.
const LEAST_PS: u64 = 1_000_000;

/// Operations answered in one interval: reads, then writes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Moved {
    /// Operations.
    pub operations: [u64; 2],
    /// Bytes \[B\].
    pub bytes: [u64; 2],
}

impl Moved {
    fn add(&mut self, other: Self) {
        for way in 0..2 {
            self.operations[way] += other.operations[way];
            self.bytes[way] += other.bytes[way];
        }
    }
}

/// Intervals since the start of counting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Intervals {
    width_ps: u64,
    moved: Vec<Moved>,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { width_ps: LEAST_PS, moved: Vec::new() }
    }
}

impl Intervals {
    /// Records an answer at `after` since the start.
    pub(crate) fn record(&mut self, after: Span, operation: Operation, bytes: u32) {
        let place = self.place(after);
        let moved = &mut self.moved[place];
        moved.operations[operation as usize] += 1;
        moved.bytes[operation as usize] += u64::from(bytes);
    }
    fn double(&mut self) {
        self.width_ps *= 2;
        let pairs = self.moved.chunks(2).map(|pair| {
            let mut sum = pair[0];
            sum.add(pair.get(1).copied().unwrap_or_default());
            sum
        });
        self.moved = pairs.collect();
    }
    /// Widens the intervals to `width`, which other intervals have.
    pub fn widen(&mut self, width: Span) {
        while self.width_ps < width.as_ps() {
            self.double();
        }
    }
    /// Adds the counts of another one with the same start.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.width_ps < other.width_ps {
            self.double();
        }
        while other.width_ps < self.width_ps {
            other.double();
        }
        if self.moved.len() < other.moved.len() {
            self.moved.resize(other.moved.len(), Moved::default());
        }
        self.moved.iter_mut().zip(other.moved).for_each(|(sum, more)| sum.add(more));
    }
    /// Appends counts that started `after` this one's start; each interval counts at its own start.
    pub(crate) fn append(&mut self, after: Span, next: &Self) {
        for (place, moved) in next.moved.iter().enumerate() {
            let at = self.place(after + Span::from_ps(place as u64 * next.width_ps));
            self.moved[at].add(*moved);
        }
    }
    /// Index of the interval at `after` since the start; makes room for it.
    fn place(&mut self, after: Span) -> usize {
        while after.as_ps() / self.width_ps >= MOST as u64 {
            self.double();
        }
        let place = (after.as_ps() / self.width_ps) as usize;
        if self.moved.len() <= place {
            self.moved.resize(place + 1, Moved::default());
        }
        place
    }
    /// The width of an interval.
    #[must_use]
    pub const fn width(&self) -> Span {
        Span::from_ps(self.width_ps)
    }
    /// The intervals that have ended `elapsed` after the start, including empty ones.
    #[must_use]
    pub fn whole(&self, elapsed: Span) -> Vec<Moved> {
        let count = ((elapsed.as_ps() / self.width_ps) as usize).min(MOST);
        let of = |place: usize| self.moved.get(place).copied().unwrap_or_default();
        (0..count).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_grow_and_nothing_is_lost() {
        let (mut one, mut two) = (Intervals::default(), Intervals::default());
        for us in 0..1000 {
            one.record(Span::from_us(us), Operation::Read, 4096);
        }
        two.record(Span::from_us(3), Operation::Write, 512);
        assert_eq!((one.width(), one.whole(Span::from_us(1000)).len()), (Span::from_us(8), 125));
        assert!(one.whole(Span::from_us(1000)).iter().all(|moved| moved.operations == [8, 0]));
        let mut sum = two.clone();
        sum.merge(&one);
        one.merge(&two);
        assert_eq!(sum, one);
        assert_eq!(sum.whole(Span::from_us(8))[0].bytes, [8 * 4096, 512]);
        // later intervals count later
        let mut later = two.clone();
        later.append(Span::from_us(1000), &two);
        assert_eq!(later.width(), Span::from_us(8));
        assert_eq!([0, 125].map(|place| later.moved[place].bytes[1]), [512, 512]);
        // an interval that has not ended is left out
        assert_eq!(sum.whole(Span::from_us(15)).len(), 1);
    }
}
