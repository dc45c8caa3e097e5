//! The decision feedback equaliser (DFE): subtracts the intersymbol interference of earlier bits.
//!
//! Each tap equals the cursor that it cancels, up to its limit. Decisions are assumed to be right; the propagation of
//! wrong decisions is not modelled.

/// The limits of the taps \[V\], the first for the bit before this one.
#[derive(Clone, PartialEq, Debug)]
pub struct Dfe {
    limits_v: Vec<f64>,
}

impl Dfe {
    /// Taps with these limits to either side \[V\].
    #[must_use]
    pub const fn new(limits_v: Vec<f64>) -> Self {
        Self { limits_v }
    }

    /// Number of taps.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.limits_v.len()
    }

    /// Whether there are no taps.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.limits_v.is_empty()
    }

    /// Value of the tap with this number, from 0, that cancels a cursor as far as its limit permits \[V\].
    #[must_use]
    pub fn tap(&self, number: usize, cursor_v: f64) -> f64 {
        cursor_v.clamp(-self.limits_v[number], self.limits_v[number])
    }

    /// The taps for the cursors after the main one \[V\].
    #[must_use]
    pub fn adapt(&self, post_cursors_v: impl Iterator<Item = f64>) -> Vec<f64> {
        post_cursors_v.take(self.len()).enumerate().map(|(number, cursor)| self.tap(number, cursor)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_cancel_up_to_their_limits_to_either_side() {
        let dfe = Dfe::new(vec![0.030, 0.020]);
        assert_eq!(dfe.adapt([0.012, -0.05, 0.3].into_iter()), [0.012, -0.020]);
        assert_eq!(dfe.adapt([-0.031].into_iter()), [-0.030]);
        assert!(Dfe::new(vec![]).adapt([0.1].into_iter()).is_empty());
    }
}
