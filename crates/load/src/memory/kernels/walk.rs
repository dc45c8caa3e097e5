//! One innermost loop over arrays, as the lines that it touches.
//!
//! **When a reference is a step.** A [`Reference`] is one row of one array in one innermost loop, and moves forward. It
//! makes a step where it comes to a line behind those that it has touched; other elements lie in lines that the thread
//! has just used, and their cost is in the computing time. Each loop begins anew: its first pass touches the line of
//! every reference.
//!
//! The same rule, applied to a run of the real algorithm, is [`super::watch::Lines`].

use crate::memory::{Step, Touch};
use lanetwin_units::Span;

/// The size of a line \[B\].
pub(super) const LINE: u64 = 64;
/// References of the widest loop: eight rows around a row of a grid, the row itself, the right side and the result.
const MOST: usize = 12;

/// A row of an array, as an innermost loop passes over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// The address of the first element that the first pass touches \[B\].
    pub(super) first: u64,
    /// From one pass to the next \[B\].
    pub(super) stride: u64,
    /// From the first element that a pass touches to the last \[B\].
    pub(super) reach: u64,
    /// What is done to it.
    pub(super) touch: Touch,
}

impl Reference {
    /// Elements of 8 B, one for each pass.
    pub(super) const fn doubles(first: u64, touch: Touch) -> Self {
        Self { first, stride: 8, reach: 0, touch }
    }
}

/// A reference under way.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    reference: Reference,
    /// The line to touch next.
    line: u64,
    /// The pass in which that happens.
    due: u64,
}

impl Cursor {
    /// Moves on to the next line and the pass that comes to it.
    fn advance(&mut self) {
        let Reference { first, stride, reach, .. } = self.reference;
        if stride >= LINE {
            self.due += 1;
            self.line = (first + self.due * stride) / LINE;
            return;
        }
        self.line += 1;
        let way = (self.line * LINE).saturating_sub(first + reach);
        self.due = if stride.is_power_of_two() {
            (way + stride - 1) >> stride.trailing_zeros()
        } else {
            way.div_ceil(stride)
        };
    }
}

/// An innermost loop under way.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    cursors: [Cursor; MOST],
    used: usize,
    passes: u64,
    /// Computing time of a pass \[ps\].
    pass_ps: u64,
    /// The cursor whose turn it is.
    next: usize,
    /// Passes whose computing time has been given out.
    paid: u64,
    /// Whether the last step ends an operation.
    ends: bool,
}

impl Walk {
    /// A loop of so many passes over these references, in the order in which a pass touches them; each pass computes
    /// for `pass_ps`.
    ///
    /// # Panics
    /// Of our own mistakes: no reference, or more than twelve; a stride of a line and more with a reach.
    pub(super) fn new(references: &[Reference], passes: u64, pass_ps: u64, ends: bool) -> Self {
        assert!(!references.is_empty() && references.len() <= MOST, "a loop has one to {MOST} references");
        let empty = Reference { first: 0, stride: LINE, reach: 0, touch: Touch::Load };
        let mut cursors = [Cursor { reference: empty, line: 0, due: u64::MAX }; MOST];
        for (cursor, reference) in cursors.iter_mut().zip(references) {
            assert!(
                reference.stride < LINE || reference.reach == 0,
                "a pass touches one line of a wide stride"
            );
            *cursor = Cursor { reference: *reference, line: reference.first / LINE, due: 0 };
        }
        Self { cursors, used: references.len(), passes, pass_ps, next: 0, paid: 0, ends }
    }
    /// The next step and the computing time of the passes before it \[ps\]; none at the end.
    pub(super) fn next(&mut self) -> Option<Step> {
        let cursor = &mut self.cursors[self.next];
        let due = cursor.due;
        if due >= self.passes {
            return None;
        }
        let (address, touch) = (cursor.line * LINE, cursor.reference.touch);
        cursor.advance();
        self.choose();
        let think = Span::from_ps((due - self.paid) * self.pass_ps);
        self.paid = due;
        let ends = self.ends && self.cursors[self.next].due >= self.passes;
        Some(Step { think, address, touch, depends: false, ends, sets: false })
    }
    /// The computing time that no step has carried yet \[ps\].
    pub(super) const fn unpaid_ps(&self) -> u64 {
        (self.passes - self.paid) * self.pass_ps
    }
    /// The cursor that is due first; of several the one that stands first.
    fn choose(&mut self) {
        let mut next = 0;
        for (index, cursor) in self.cursors[..self.used].iter().enumerate().skip(1) {
            if cursor.due < self.cursors[next].due {
                next = index;
            }
        }
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Element by element, by the rule of the module.
    fn slowly(references: &[Reference], passes: u64) -> Vec<(u64, Touch)> {
        let mut last = vec![None; references.len()];
        let mut out = Vec::new();
        for pass in 0..passes {
            for (last, reference) in last.iter_mut().zip(references) {
                for element in 0..=reference.reach / 8 {
                    let line = (reference.first + pass * reference.stride + element * 8) / LINE;
                    if last.is_none_or(|last| line > last) {
                        *last = Some(line);
                        out.push((line * LINE, reference.touch));
                    }
                }
            }
        }
        out
    }

    fn any_reference() -> impl Strategy<Value = Reference> {
        let shapes = prop_oneof![
            Just((8, 0)),
            Just((16, 8)),
            Just((8, 16)),
            Just((32, 0)),
            Just((48, 0)),
            Just((80, 0)),
            Just((400, 0))
        ];
        (0..5000_u64, shapes, any::<bool>()).prop_map(|(first, (stride, reach), store)| {
            let touch = if store { Touch::Store } else { Touch::Load };
            Reference { first: first * 8, stride, reach, touch }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_walk_touches_what_its_elements_touch(
            references in prop::collection::vec(any_reference(), 1..12),
            passes in 1..70_u64,
        ) {
            let mut walk = Walk::new(&references, passes, 7, true);
            let (mut steps, mut computed) = (Vec::new(), 0);
            let mut ends = 0;
            while let Some(step) = walk.next() {
                computed += step.think.as_ps();
                ends += u32::from(step.ends);
                prop_assert_eq!(ends, u32::from(step.ends), "nothing follows the end");
                steps.push((step.address, step.touch));
            }
            prop_assert_eq!(ends, 1);
            prop_assert_eq!(computed + walk.unpaid_ps(), passes * 7);
            prop_assert_eq!(steps, slowly(&references, passes));
        }
    }
}
