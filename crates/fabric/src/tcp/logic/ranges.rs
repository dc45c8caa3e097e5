//! Received parts of a stream, with gaps: disjoint ranges in order.

/// Bytes from, and up to but without.
pub type Range = (u64, u64);

/// Disjoint ranges that do not touch, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ranges(Vec<Range>);

impl Ranges {
    /// No ranges.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }
    /// Adds a range; that which it has become a part of.
    pub fn insert(&mut self, (from, to): Range) -> Range {
        let first = self.0.partition_point(|range| range.1 < from);
        let last = self.0.partition_point(|range| range.0 <= to);
        let mut whole = (from, to);
        for range in self.0.drain(first..last) {
            whole = (whole.0.min(range.0), whole.1.max(range.1));
        }
        self.0.insert(first, whole);
        whole
    }
    /// Forgets everything before a byte.
    pub fn forget_before(&mut self, byte: u64) {
        self.0.retain(|range| range.1 > byte);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(byte);
        }
    }
    /// Takes the first range out if it begins at or before a byte; where it ends.
    pub fn take_from(&mut self, byte: u64) -> Option<u64> {
        let first = *self.0.first().filter(|range| range.0 <= byte)?;
        self.0.remove(0);
        Some(first.1)
    }
    /// The first gap from a byte on and before another: from, and up to.
    #[must_use]
    pub fn gap(&self, from: u64, before: u64) -> Option<Range> {
        let mut start = from;
        for range in &self.0 {
            if range.0 > start {
                break;
            }
            start = start.max(range.1);
        }
        let next = self.0.iter().find(|range| range.0 > start).map_or(before, |range| range.0.min(before));
        (start < next).then_some((start, next))
    }
    /// Number of bytes in the ranges, from one byte and before another.
    #[must_use]
    pub fn bytes(&self, from: u64, before: u64) -> u64 {
        self.0.iter().map(|range| range.1.min(before).saturating_sub(range.0.max(from))).sum()
    }
    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = Range> {
        self.0.iter().copied()
    }
    /// The end of the last.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.0.last().map(|range| range.1)
    }
    /// Whether there are no ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a set of bytes, whatever is put in.
        #[test]
        fn ranges_are_a_set_of_bytes(drawn in prop::collection::vec((0_u64..60, 1_u64..12), 0..20), from in 0_u64..70, cut in 0_u64..70) {
            let mut ranges = Ranges::default();
            let mut naive = std::collections::BTreeSet::new();
            for (start, length) in drawn {
                ranges.insert((start, start + length));
                naive.extend(start..start + length);
            }
            let told: Vec<u64> = ranges.iter().flat_map(|(from, to)| from..to).collect();
            prop_assert_eq!(&told, &naive.iter().copied().collect::<Vec<_>>());
            let gap = (from..80).find(|byte| !naive.contains(byte)).map(|start| {
                (start, (start..80).find(|byte| naive.contains(byte)).unwrap_or(80))
            });
            prop_assert_eq!(ranges.gap(from, 80), gap);
            prop_assert_eq!(ranges.bytes(from, 75), naive.range(from..75.max(from)).count() as u64);
            ranges.forget_before(cut);
            prop_assert_eq!(ranges.bytes(0, 100), naive.range(cut..).count() as u64);
        }
    }
}
