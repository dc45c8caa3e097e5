//! Handles of operations, which are unique among the loads of a machine.

/// The handles of one of several loads. Load `place` of `loads` uses the handles `place`, `place + loads`, `place + 2 ×
/// loads`, …: no two loads share a handle, and handles stay close together however many loads there are. That matters
/// where a buffer in memory is chosen by the handle: the buffers of all loads are contiguous.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handles {
    place: u32,
    loads: u32,
}

impl Handles {
    /// The handles of the only load.
    pub const ALL: Self = Self { place: 0, loads: 1 };

    /// The handles of load `place`, from 0, of `loads` loads.
    ///
    /// # Panics
    /// If there is no such load.
    #[must_use]
    pub const fn of(place: u32, loads: u32) -> Self {
        assert!(place < loads, "a load is one of those that there are");
        Self { place, loads }
    }
    /// Number of loads.
    pub(crate) const fn loads(self) -> u32 {
        self.loads
    }
    /// The index of the load with this handle.
    #[must_use]
    pub const fn place(handle: u32, loads: u32) -> u32 {
        handle % loads
    }
    /// The n-th handle, from 0.
    ///
    /// # Panics
    /// If it does not fit into 32 bits, because too many operations are outstanding.
    #[must_use]
    pub fn nth(self, n: usize) -> u32 {
        let handle = u64::from(self.place) + n as u64 * u64::from(self.loads);
        u32::try_from(handle).expect("fewer operations are outstanding than there are handles")
    }
    /// The index of a handle, from 0; `None` if it belongs to another load.
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
