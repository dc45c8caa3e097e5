//! The names of operations: what several loads of a machine ask for is never called the same.

/// The handles of one of several loads. Load `place` of `loads` calls its operations `place`, `place + loads`,
/// `place + 2 × loads`, …: no two loads share a name, and however many loads there are, the names stay close together.
/// That matters where a buffer in memory is chosen by the handle: all loads have their buffers side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handles {
    place: u32,
    loads: u32,
}

impl Handles {
    /// The handles of the only load.
    pub const ALL: Self = Self { place: 0, loads: 1 };

    /// The handles of load `place`, from 0, of so many.
    ///
    /// # Panics
    /// If there is no such load.
    #[must_use]
    pub const fn of(place: u32, loads: u32) -> Self {
        assert!(place < loads, "a load is one of those that there are");
        Self { place, loads }
    }
    /// How many loads there are.
    pub(crate) const fn loads(self) -> u32 {
        self.loads
    }
    /// Which of so many loads has this handle.
    #[must_use]
    pub const fn place(handle: u32, loads: u32) -> u32 {
        handle % loads
    }
    /// The n-th handle, from 0.
    ///
    /// # Panics
    /// If there are not so many: the operations outstanding do not fit into 32 bits.
    #[must_use]
    pub fn nth(self, n: usize) -> u32 {
        let handle = u64::from(self.place) + n as u64 * u64::from(self.loads);
        u32::try_from(handle).expect("fewer operations are outstanding than there are handles")
    }
    /// Which handle it is, from 0; none if it is another load's.
    pub(crate) const fn index(self, handle: u32) -> Option<usize> {
        if Self::place(handle, self.loads) == self.place {
            Some((handle / self.loads) as usize)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_loads_share_a_handle_and_none_is_left_out() {
        for loads in 1..8 {
            let mut all = BTreeSet::new();
            for place in 0..loads {
                let handles = Handles::of(place, loads);
                for n in 0..100 {
                    let handle = handles.nth(n);
                    assert!(all.insert(handle), "{handle} is taken");
                    assert_eq!((Handles::place(handle, loads), handles.index(handle)), (place, Some(n)));
                    assert!(
                        (0..loads)
                            .filter(|other| *other != place)
                            .all(|other| Handles::of(other, loads).index(handle).is_none())
                    );
                }
            }
            assert_eq!(all, (0..100 * loads).collect());
        }
    }
}
