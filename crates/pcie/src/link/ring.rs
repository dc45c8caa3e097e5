//! A ring buffer of small records, the only queue inside a link.

/// First in, first out; grows, never shrinks.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    slots: Vec<T>,
    first: u32,
    len: u32,
}

impl<T: Copy + Default> Ring<T> {
    pub fn new() -> Self {
        Self { slots: vec![T::default(); 4], first: 0, len: 0 }
    }
    #[inline]
    fn mask(&self) -> u32 {
        self.slots.len() as u32 - 1
    }
    #[inline]
    pub fn front(&self) -> Option<&T> {
        (self.len != 0).then(|| &self.slots[(self.first & self.mask()) as usize])
    }
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        let i = (self.first & self.mask()) as usize;
        (self.len != 0).then(|| &mut self.slots[i])
    }
    #[inline]
    pub fn back(&self) -> Option<&T> {
        let i = (self.first.wrapping_add(self.len).wrapping_sub(1) & self.mask()) as usize;
        (self.len != 0).then(|| &self.slots[i])
    }
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        let i = (self.first.wrapping_add(self.len).wrapping_sub(1) & self.mask()) as usize;
        (self.len != 0).then(|| &mut self.slots[i])
    }
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let i = (self.first.wrapping_add(self.len) & self.mask()) as usize;
        self.slots[i] = value;
        self.len += 1;
    }
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.len != 0, "nothing to take out of a ring");
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
    }
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|i| &self.slots[(self.first.wrapping_add(i) & self.mask()) as usize])
    }
    #[cold]
    fn grow(&mut self) {
        let kept: Vec<T> = self.iter().copied().collect();
        self.slots = kept;
        self.slots.resize(self.len as usize * 2, T::default());
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_deque(steps in prop::collection::vec(prop::option::of(0u64..100), 1..200)) {
            let (mut ring, mut model) = (Ring::new(), std::collections::VecDeque::new());
            for step in steps {
                match step {
                    Some(value) => {
                        ring.push(value);
                        model.push_back(value);
                    }
                    None if !model.is_empty() => {
                        ring.pop();
                        model.pop_front();
                    }
                    None => {}
                }
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.back_mut().copied(), model.back().copied());
                prop_assert!(ring.iter().eq(model.iter()));
            }
        }
    }
}
