//! The eye mask: minimum height and width of an eye at the bit error ratio of its generation.

use super::constants::Reference;

/// A mask.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mask {
    /// The least height, peak to peak \[V\].
    pub height_v: f64,
    /// The least width \[UI\].
    pub width_ui: f64,
    /// The bit error ratio at which both are taken.
    pub ber: f64,
}

/// Opening of an eye at a bit error ratio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Opening {
    /// The height, peak to peak \[V\]; below 0, what is missing for any opening.
    pub height_v: f64,
    /// The width \[UI\]; 0 if the eye is closed.
    pub width_ui: f64,
}

impl Mask {
    /// The mask of a generation.
    #[must_use]
    pub const fn of(reference: &Reference) -> Self {
        Self {
            height_v: reference.mask.height_v.value,
            width_ui: reference.mask.width_ui.value,
            ber: reference.mask.ber.value,
        }
    }

    /// The smaller of the ratios of height and width to those of the mask; 1 just meets the mask.
    #[must_use]
    pub fn margin(&self, opening: Opening) -> f64 {
        (opening.height_v / self.height_v).min(opening.width_ui / self.width_ui)
    }

    /// Whether the opening is at least that of the mask.
    #[must_use]
    pub fn passes(&self, opening: Opening) -> bool {
        self.margin(opening) >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_height_and_width_are_needed() {
        let mask = Mask { height_v: 0.015, width_ui: 0.3, ber: 1e-12 };
        let passes = |height_v, width_ui| mask.passes(Opening { height_v, width_ui });
        assert!(passes(0.015, 0.3) && !passes(0.0149, 0.9) && !passes(0.4, 0.29) && !passes(-0.01, 0.5));
        assert_eq!(mask.margin(Opening { height_v: 0.030, width_ui: 0.45 }), 0.45 / 0.3);
    }
}
