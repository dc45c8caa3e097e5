//! Observers of a running algorithm: one that does nothing, and one that records the lines that it touches.

#[cfg(test)]
use super::walk::LINE;
use crate::memory::Touch;

/// Observes the accesses of an algorithm.
pub(super) trait Watch {
    /// An innermost loop begins: its references have touched nothing yet.
    fn enter(&mut self);
    /// The loop's `reference`, which moves forward, accesses an address.
    fn touch(&mut self, reference: usize, address: u64, touch: Touch);
    /// The loop's `reference`, which may go anywhere, loads from an address.
    fn gather(&mut self, reference: usize, address: u64);
    /// An access that is always a step, whatever was touched before.
    fn always(&mut self, address: u64, touch: Touch);
    /// The loop's `reference` starts afresh elsewhere: it has touched nothing yet.
    fn anew(&mut self, reference: usize);
}

/// Observes nothing: the algorithm runs at full speed.
#[derive(Debug)]
pub(super) struct Nobody;

impl Watch for Nobody {
    fn enter(&mut self) {}
    fn touch(&mut self, _: usize, _: u64, _: Touch) {}
    fn gather(&mut self, _: usize, _: u64) {}
    fn always(&mut self, _: u64, _: Touch) {}
    fn anew(&mut self, _: usize) {}
}

/// Records the steps of a thread, by the rule of [`super::walk`].
#[cfg(test)]
#[derive(Debug, Default)]
pub(super) struct Lines {
    last: Vec<Option<u64>>,
    /// The steps in order: the first address of the line, and the access.
    pub(super) seen: Vec<(u64, Touch)>,
}

#[cfg(test)]
impl Lines {
    fn see(&mut self, reference: usize, address: u64, touch: Touch, is_new: fn(u64, u64) -> bool) {
        if self.last.len() <= reference {
            self.last.resize(reference + 1, None);
        }
        let line = address / LINE;
        if self.last[reference].is_none_or(|last| is_new(line, last)) {
            self.last[reference] = Some(line);
            self.seen.push((line * LINE, touch));
        }
    }
}

#[cfg(test)]
impl Watch for Lines {
    fn enter(&mut self) {
        self.last.clear();
    }
    fn touch(&mut self, reference: usize, address: u64, touch: Touch) {
        self.see(reference, address, touch, |line, last| line > last);
    }
    fn gather(&mut self, reference: usize, address: u64) {
        self.see(reference, address, Touch::Load, |line, last| line != last);
    }
    fn always(&mut self, address: u64, touch: Touch) {
        self.seen.push((address / LINE * LINE, touch));
    }
    fn anew(&mut self, reference: usize) {
        if let Some(last) = self.last.get_mut(reference) {
            *last = None;
        }
    }
}
