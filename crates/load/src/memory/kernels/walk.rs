//! One innermost loop over arrays, as the lines that it touches.
//!
//! **When an access is a step.** A [`Reference`] is one row of one array in one innermost loop, and moves forward. Its
//! access is a step if the line lies after all lines that it has touched. Other elements are in lines that the thread
//! has just used, and their cost is part of the computing time. Each loop starts afresh: in its first pass the access
//! of every reference is a step.
//!
//! [`super::watch::Lines`] applies the same rule to a run of the real algorithm.

use crate::memory::{Step, Touch};
use lanetwin_units::Span;

/// The size of a line \[B\].
pub(super) const LINE: u64 = 64;
/// Maximum number of references of a loop. The widest loop has eight rows around a row of a grid, the row itself, the
/// right side and the result.
const MOST: usize = 12;

/// A row of an array that an innermost loop passes over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// The address of the first element that the first pass accesses \[B\].
    pub(super) first: u64,
    /// Distance from one pass to the next \[B\].
    pub(super) stride: u64,
    /// Distance from the first element that a pass accesses to the last one \[B\].
    pub(super) reach: u64,
    /// Load or store.
    pub(super) touch: Touch,
}

impl Reference {
    /// Elements of 8 B, one for each pass.
    pub(super) const fn doubles(first: u64, touch: Touch) -> Self {
        Self { first, stride: 8, reach: 0, touch }
    }
}

/// The progress of a reference.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    reference: Reference,
    /// The line to touch next.
    line: u64,
    /// The pass in which it is touched.
    due: u64,
}

impl Cursor {
    /// Moves on to the next line, and to the pass that touches it first.
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

/// The progress of an innermost loop.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    cursors: [Cursor; MOST],
    used: usize,
    passes: u64,
    /// Computing time of a pass \[ps\].
    pass_ps: u64,
    /// The cursor with the next step.
    next: usize,
    /// Number of passes whose computing time is part of a step already.
    paid: u64,
    /// Whether the last step ends an operation.
    ends: bool,
}

impl Walk {
    /// A loop of `passes` passes over these references, in the order in which a pass accesses them; each pass computes
    /// for `pass_ps`.
    ///
    /// # Panics
    /// If there is no reference, or more than twelve, or one with a stride of a line or more and a reach.
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
    /// The next step, with the computing time of the passes before it; `None` at the end.
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
    /// The computing time that is not part of a step yet \[ps\].
    pub(super) const fn unpaid_ps(&self) -> u64 {
        (self.passes - self.paid) * self.pass_ps
    }
    /// Chooses the cursor that is due first; of several, the first in order.
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

    /// The steps of a loop, element by element, by the rule of the module.
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
