//! The transmitter's feed-forward equaliser (TX FFE): three taps, presets, what is legal.
//!
//! With c₀ = 1 − |c₋₁| − |c₊₁| the levels of a long stretch of bits are Va = c₀ + |c₊₁| − |c₋₁| after a transition,
//! Vb = c₀ − |c₋₁| − |c₊₁| in the middle and Vc = c₀ + |c₋₁| − |c₊₁| before a transition; de-emphasis is
//! 20·log(Vb/Va), preshoot 20·log(Vc/Vb). The presets are held to these identities by a test: public tables exist that
//! convert the two independently and are wrong where both act.

/// The taps of a transmitter, as shares of its full swing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ffe {
    /// The tap before the main one, c₋₁; never above 0.
    pub before: f64,
    /// The tap after the main one, c₊₁; never above 0.
    pub after: f64,
}

/// Presets P0 to P10 of Gen3 to Gen5. P10 is the most that LF/FS = 1/3 allows.
///
/// MathWorks' PCIe5 example starts from `[0 .75 −.25]`, which is P0.
pub const PRESETS: [Ffe; 11] = [
    Ffe { before: 0.0, after: -0.250 },
    Ffe { before: 0.0, after: -0.167 },
    Ffe { before: 0.0, after: -0.200 },
    Ffe { before: 0.0, after: -0.125 },
    Ffe { before: 0.0, after: 0.0 },
    Ffe { before: -0.100, after: 0.0 },
    Ffe { before: -0.125, after: 0.0 },
    Ffe { before: -0.100, after: -0.200 },
    Ffe { before: -0.125, after: -0.125 },
    Ffe { before: -0.166, after: 0.0 },
    Ffe { before: 0.0, after: -1.0 / 3.0 },
];

impl Ffe {
    /// The main tap, c₀.
    #[must_use]
    pub fn main(&self) -> f64 {
        1.0 - self.before.abs() - self.after.abs()
    }

    /// De-emphasis \[dB\]: the middle of a stretch over its first bit.
    #[must_use]
    pub fn de_emphasis_db(&self) -> f64 {
        decibels(self.middle() / (self.main() + self.after.abs() - self.before.abs()))
    }

    /// Preshoot \[dB\]: the last bit of a stretch over its middle.
    #[must_use]
    pub fn preshoot_db(&self) -> f64 {
        decibels((self.main() + self.before.abs() - self.after.abs()) / self.middle())
    }

    fn middle(&self) -> f64 {
        self.main() - self.before.abs() - self.after.abs()
    }
}

fn decibels(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

/// Taps as a link partner requests them: integers in units of Full Swing (FS).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coefficients {
    full_swing: u8,
    before: u8,
    after: u8,
}

/// Reasons for which a transmitter must refuse coefficients (Intel 683171, coefficient rules).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IllegalCoefficients {
    /// Full Swing is told in a field of six bits, and without swing there are no taps.
    #[error("FS is {0}, not 1 to 63")]
    FullSwing(u8),
    /// The tap before the main one is more than a quarter of Full Swing.
    #[error("|C−1| is {found}, more than floor(FS/4) = {most}")]
    Before {
        /// |C−1|.
        found: u8,
        /// floor(FS/4).
        most: u8,
    },
    /// The flat level falls below Low Frequency (LF).
    #[error("C0 − |C−1| − |C+1| is {found}, below LF = {least}")]
    Flat {
        /// C0 − |C−1| − |C+1|.
        found: i16,
        /// LF.
        least: u8,
    },
}

impl Coefficients {
    /// |C−1| and |C+1| of a transmitter with these FS and LF; C0 is what is left of FS.
    ///
    /// # Errors
    ///
    /// If the transmitter must refuse them.
    pub fn new(
        full_swing: u8,
        low_frequency: u8,
        before: u8,
        after: u8,
    ) -> Result<Self, IllegalCoefficients> {
        if !(1..=63).contains(&full_swing) {
            return Err(IllegalCoefficients::FullSwing(full_swing));
        }
        let most = full_swing / 4;
        if before > most {
            return Err(IllegalCoefficients::Before { found: before, most });
        }
        let flat = i16::from(full_swing) - 2 * i16::from(before) - 2 * i16::from(after);
        if flat < i16::from(low_frequency) {
            return Err(IllegalCoefficients::Flat { found: flat, least: low_frequency });
        }
        Ok(Self { full_swing, before, after })
    }

    /// (|C−1|, C0, |C+1|); they add up to FS.
    #[must_use]
    pub const fn integers(&self) -> (u8, u8, u8) {
        (self.before, self.full_swing - self.before - self.after, self.after)
    }

    /// The taps as shares of the swing.
    #[must_use]
    pub fn taps(&self) -> Ffe {
        let share = |integer: u8| 0.0 - f64::from(integer) / f64::from(self.full_swing);
        Ffe { before: share(self.before), after: share(self.after) }
    }
}

/// All legal settings of a transmitter, for a search over coefficients; empty if FS is out of range.
#[must_use]
pub fn coefficients(full_swing: u8, low_frequency: u8) -> Vec<Coefficients> {
    (0..=full_swing / 4)
        .flat_map(|before| (0..=full_swing / 2).map(move |after| (before, after)))
        .filter_map(|(before, after)| Coefficients::new(full_swing, low_frequency, before, after).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Preshoot and de-emphasis that each preset is known by \[dB\].
    const KNOWN: [(f64, f64); 11] = [
        (0.0, -6.0),
        (0.0, -3.5),
        (0.0, -4.4),
        (0.0, -2.5),
        (0.0, 0.0),
        (1.9, 0.0),
        (2.5, 0.0),
        (3.5, -6.0),
        (3.5, -3.5),
        (3.5, 0.0),
        (0.0, -9.5),
    ];

    fn breaches(presets: &[Ffe; 11]) -> Vec<usize> {
        let off = |found: f64, known: f64| (found - known).abs() > 0.1;
        let wrong = |(index, (preset, known)): (usize, (&Ffe, &(f64, f64)))| {
            (off(preset.preshoot_db(), known.0) || off(preset.de_emphasis_db(), known.1)).then_some(index)
        };
        presets.iter().zip(&KNOWN).enumerate().filter_map(wrong).collect()
    }

    #[test]
    fn presets_are_the_decibels_that_they_are_known_by() {
        assert_eq!(breaches(&PRESETS), [0; 0]);
    }

    #[test]
    fn a_table_that_converts_preshoot_and_de_emphasis_independently_is_caught() {
        // 1 − 10^(−3.5/20) = 0.332, half of it 0.166: right for one tap alone, ±6 dB for both
        let mut wrong = PRESETS;
        wrong[8] = Ffe { before: -0.166, after: -0.166 };
        wrong[7] = Ffe { before: -0.166, after: -0.250 };
        assert_eq!(breaches(&wrong), [7, 8]);
        assert!((wrong[8].preshoot_db() - 6.0).abs() < 0.1 && (wrong[8].de_emphasis_db() + 6.0).abs() < 0.1);
    }

    #[test]
    fn p0_is_the_start_of_the_mathworks_example() {
        assert_eq!((PRESETS[0].before, PRESETS[0].main(), PRESETS[0].after), (0.0, 0.75, -0.25));
    }

    #[test]
    fn every_coefficient_rule_refuses_and_its_boundary_is_legal() {
        assert_eq!(Coefficients::new(48, 16, 12, 4).unwrap().integers(), (12, 32, 4));
        assert_eq!(
            Coefficients::new(48, 16, 13, 0),
            Err(IllegalCoefficients::Before { found: 13, most: 12 })
        );
        assert_eq!(Coefficients::new(48, 16, 12, 5), Err(IllegalCoefficients::Flat { found: 14, least: 16 }));
        assert_eq!(Coefficients::new(0, 0, 0, 0), Err(IllegalCoefficients::FullSwing(0)));
    }

    #[test]
    fn the_search_walks_every_legal_setting_once_and_no_other() {
        let all = coefficients(48, 16);
        let legal = |before: i32, after: i32| before <= 12 && 48 - 2 * before - 2 * after >= 16;
        let count =
            (0..=48).flat_map(|b| (0..=48).map(move |a| (b, a))).filter(|&(b, a)| legal(b, a)).count();
        assert_eq!(all.len(), count);
        for found in &all {
            let (before, main, after) = found.integers();
            assert_eq!(before + main + after, 48);
            assert!((found.taps().main() - f64::from(main) / 48.0).abs() < 1e-12);
        }
        assert!(coefficients(64, 0).is_empty());
    }
}
