//! Loss as a function of frequency: IL(f) = k1·√f + k2·f.

use serde::Serialize;

/// Skin effect and dielectric loss.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Law {
    /// k1: loss by the skin effect \[dB/√Hz\].
    pub skin: f64,
    /// k2: loss by the dielectric \[dB/Hz\].
    pub dielectric: f64,
}

impl Law {
    /// The law that comes closest to the stated losses (frequency \[Hz\], loss \[dB\]), each weighted by its size;
    /// neither part is negative. Of a single loss, `skin_share` is taken for the skin effect.
    #[must_use]
    pub fn fitted(losses: &[(f64, f64)], skin_share: f64) -> Self {
        let usable: Vec<(f64, f64)> =
            losses.iter().copied().filter(|(f, loss)| *f > 0.0 && *loss > 0.0).collect();
        match usable[..] {
            [] => Self::default(),
            [(f, loss)] => {
                Self { skin: loss * skin_share / f.sqrt(), dielectric: loss * (1.0 - skin_share) / f }
            }
            _ => Self::closest(&usable),
        }
    }
    fn closest(losses: &[(f64, f64)]) -> Self {
        // the smallest Σ(k1·a + k2·b − 1)² with a = √f/L and b = f/L
        let shapes = || losses.iter().map(|(f, loss)| (f.sqrt() / loss, f / loss));
        let sum = |of: fn((f64, f64)) -> f64| shapes().map(of).sum::<f64>();
        let (aa, ab, bb) = (sum(|(a, _)| a * a), sum(|(a, b)| a * b), sum(|(_, b)| b * b));
        let (a, b) = (sum(|(a, _)| a), sum(|(_, b)| b));
        let determinant = aa * bb - ab * ab;
        let both =
            Self { skin: (a * bb - b * ab) / determinant, dielectric: (b * aa - a * ab) / determinant };
        if determinant <= 1e-12 * aa * bb || both.dielectric < 0.0 {
            Self { skin: a / aa, dielectric: 0.0 }
        } else if both.skin < 0.0 {
            Self { skin: 0.0, dielectric: b / bb }
        } else {
            both
        }
    }
    /// The loss at a frequency \[dB\].
    #[must_use]
    pub fn loss_db(self, hertz: f64) -> f64 {
        self.skin * hertz.sqrt() + self.dielectric * hertz
    }
    /// Sum of both losses.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { skin: self.skin + other.skin, dielectric: self.dielectric + other.dielectric }
    }
    /// The loss multiplied by a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { skin: self.skin * factor, dielectric: self.dielectric * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_law_is_found_again_from_its_losses(skin in 0.0..1e-4f64, dielectric in 0.0..1e-9f64) {
            let law = Law { skin, dielectric };
            let losses: Vec<_> = [4e9, 8e9, 16e9].map(|f| (f, law.loss_db(f))).to_vec();
            let fitted = Law::fitted(&losses, 0.5);
            for f in [1e9, 16e9, 32e9] {
                prop_assert!((fitted.loss_db(f) - law.loss_db(f)).abs() <= 1e-6 * law.loss_db(f).max(1e-9));
            }
        }

        #[test]
        fn no_stated_losses_make_a_law_that_amplifies(losses in prop::collection::vec((1e9..64e9f64, 0.0..100.0f64), 0..5)) {
            let law = Law::fitted(&losses, 0.5);
            prop_assert!(law.skin >= 0.0 && law.dielectric >= 0.0);
        }
    }

    #[test]
    fn a_single_loss_is_shared_out() {
        let law = Law::fitted(&[(16e9, 2.0)], 0.25);
        assert!((law.loss_db(16e9) - 2.0).abs() < 1e-12);
        assert!((law.loss_db(4e9) - (0.25 + 0.375)).abs() < 1e-12);
    }
}
