//! The numbers of transmitter, reference receiver, mask, jitter and noise, read from data.
//!
//! They come with kind and source from `data/equalisation.yaml`, which is built in; [`Constants::read`] takes a
//! corrected copy. Most are for members of the PCI-SIG only and stand there as `assumed`.

use super::ctle::CtleFamily;
use lanetwin_units::{Generation, Number};
use serde::Deserialize;

const BUILT_IN: &str = include_str!("../../data/equalisation.yaml");

/// The transmitter.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transmitter {
    /// Differential swing, peak to peak \[V\].
    pub swing_v: Number,
    /// Rise time of an edge, 10 % to 90 % \[s\].
    pub rise_s: Number,
    /// Full Swing (FS): number of steps in which it expresses its taps.
    pub full_swing: Number<u8>,
    /// Low Frequency (LF): minimum flat level at its output, in the same steps.
    pub low_frequency: Number<u8>,
}

/// The decision feedback equaliser.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DfeLimits {
    /// Maximum magnitude of each tap \[V\].
    pub limits_v: Number<Vec<f64>>,
}

/// The smallest eye that a receiver must tolerate.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaskNumbers {
    /// Least height, peak to peak \[V\].
    pub height_v: Number,
    /// Least width \[UI\].
    pub width_ui: Number,
    /// The bit error ratio at which they are taken.
    pub ber: Number,
}

/// Jitter that does not come from the channel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct JitterNumbers {
    /// Uncorrelated total jitter of the transmitter at 1e-12 \[s\].
    pub total_s: Number,
    /// Uncorrelated deterministic jitter of the transmitter, peak to peak \[s\].
    pub deterministic_s: Number,
    /// Jitter of the reference clock, filtered, rms \[s\].
    pub clock_s: Number,
}

/// The receiver's own noise.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NoiseNumbers {
    /// At the input, before the CTLE, over the bandwidth below, rms \[V\].
    pub rms_v: Number,
    /// The band over which it is white \[Hz\].
    pub bandwidth_hz: Number,
}

/// Transmitter and reference receiver of one generation.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The transmitter.
    pub transmitter: Transmitter,
    /// The curves of the continuous-time linear equaliser.
    pub ctle: CtleFamily,
    /// The decision feedback equaliser.
    pub dfe: DfeLimits,
    /// The eye mask.
    pub mask: MaskNumbers,
    /// Jitter.
    pub jitter: JitterNumbers,
    /// Noise.
    pub noise: NoiseNumbers,
}

/// The numbers of every generation that has equalisation.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    gen3: Reference,
    gen4: Reference,
    gen5: Reference,
}

/// Reason why a file of constants cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConstantsError {
    /// Not YAML, or a field is missing, unknown or of the wrong type; the text says where.
    #[error("the constants cannot be read: {0}")]
    Unreadable(String),
    /// A number that is out of its range.
    #[error("{generation}: `{name}` {rule}")]
    Impossible {
        /// `gen3`, `gen4` or `gen5`.
        generation: &'static str,
        /// The number's name in the file.
        name: &'static str,
        /// Its permitted values.
        rule: &'static str,
    },
}

impl Constants {
    /// The numbers that lanetwin comes with.
    ///
    /// # Panics
    ///
    /// Never: a test reads them.
    #[must_use]
    pub fn built_in() -> Self {
        Self::read(BUILT_IN).expect("the built-in constants are well-formed")
    }

    /// Reads a corrected copy of `data/equalisation.yaml`.
    ///
    /// # Errors
    ///
    /// If the text is not of that form, or a number is out of its range.
    pub fn read(text: &str) -> Result<Self, ConstantsError> {
        let read: Self =
            serde_saphyr::from_str(text).map_err(|error| ConstantsError::Unreadable(error.to_string()))?;
        for (generation, reference) in [("gen3", &read.gen3), ("gen4", &read.gen4), ("gen5", &read.gen5)] {
            reference.check(generation)?;
        }
        Ok(read)
    }

    /// The same with other numbers for a generation: a what-if.
    ///
    /// # Errors
    ///
    /// If a number is out of its range, or the generation has no equalisation.
    pub fn with(mut self, generation: Generation, reference: Reference) -> Result<Self, ConstantsError> {
        let (name, place) = match generation {
            Generation::Gen3 => ("gen3", &mut self.gen3),
            Generation::Gen4 => ("gen4", &mut self.gen4),
            Generation::Gen5 => ("gen5", &mut self.gen5),
            Generation::Gen1 | Generation::Gen2 | Generation::Gen6 => {
                let rule = "belongs to generations that equalise two levels";
                return Err(ConstantsError::Impossible {
                    generation: "gen1, gen2 and gen6",
                    name: "equalisation",
                    rule,
                });
            }
        };
        reference.check(name)?;
        *place = reference;
        Ok(self)
    }

    /// The numbers of a generation; `None` for Gen1 and Gen2, which have no adaptive equalisation, and for Gen6, which
    /// has four levels.
    #[must_use]
    pub fn of(&self, generation: Generation) -> Option<&Reference> {
        match generation {
            Generation::Gen1 | Generation::Gen2 | Generation::Gen6 => None,
            Generation::Gen3 => Some(&self.gen3),
            Generation::Gen4 => Some(&self.gen4),
            Generation::Gen5 => Some(&self.gen5),
        }
    }
}

impl Reference {
    fn check(&self, generation: &'static str) -> Result<(), ConstantsError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let not_negative = |value: f64| value >= 0.0 && value.is_finite();
        let ratio = |value: f64| value > 0.0 && value < 0.5;
        let limits = &self.dfe.limits_v.value;
        let gains = &self.ctle.gains_db().value;
        let (full, low) = (self.transmitter.full_swing.value, self.transmitter.low_frequency.value);
        let checks = [
            ("swing-v", "must be above 0", positive(self.transmitter.swing_v.value)),
            ("rise-s", "must not be negative", not_negative(self.transmitter.rise_s.value)),
            ("full-swing", "must lie between 1 and 63", (1..=63).contains(&full)),
            ("low-frequency", "must not be above full-swing", low <= full),
            ("limits-v", "must not be negative", limits.iter().all(|&limit| not_negative(limit))),
            ("limits-v", "must have at most 16 taps", limits.len() <= 16),
            ("gains-db", "must have 1 to 64 curves", (1..=64).contains(&gains.len())),
            ("gains-db", "must lie between -40 and 0", gains.iter().all(|gain| (-40.0..=0.0).contains(gain))),
            ("ctle", "must have its corner frequencies above 0", self.ctle.corners().all(positive)),
            ("height-v", "must be above 0", positive(self.mask.height_v.value)),
            ("width-ui", "must lie between 0 and 1", (0.0..1.0).contains(&self.mask.width_ui.value)),
            ("ber", "must lie between 0 and a half", ratio(self.mask.ber.value)),
            ("deterministic-s", "must not be negative", not_negative(self.jitter.deterministic_s.value)),
            (
                "total-s",
                "must not be below deterministic-s",
                self.jitter.total_s.value >= self.jitter.deterministic_s.value
                    && self.jitter.total_s.value.is_finite(),
            ),
            ("clock-s", "must not be negative", not_negative(self.jitter.clock_s.value)),
            ("rms-v", "must be above 0", positive(self.noise.rms_v.value)),
            ("bandwidth-hz", "must be above 0", positive(self.noise.bandwidth_hz.value)),
        ];
        match checks.into_iter().find(|(_, _, holds)| !holds) {
            Some((name, rule, _)) => Err(ConstantsError::Impossible { generation, name, rule }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::NumberKind;

    #[test]
    fn the_built_in_numbers_can_be_read_and_gen5_has_its_sourced_mask() {
        let constants = Constants::built_in();
        let gen5 = constants.of(Generation::Gen5).unwrap();
        assert_eq!(gen5.mask.height_v.value, 0.015);
        assert_eq!(gen5.mask.height_v.kind, NumberKind::Standard);
        assert_eq!(gen5.dfe.limits_v.value.len(), 3);
        assert!(constants.of(Generation::Gen2).is_none());
    }

    #[test]
    fn every_number_names_its_source() {
        // no number without one can be read, and no source is empty
        assert!(!BUILT_IN.contains("source: \"\""));
        let without = BUILT_IN.replacen(", source: \"MathWorks PCIe5 example\"", "", 1);
        assert_ne!(without, BUILT_IN);
        assert!(
            matches!(Constants::read(&without), Err(ConstantsError::Unreadable(text)) if text.contains("source"))
        );
    }

    #[test]
    fn a_correction_changes_the_number_and_nothing_else() {
        let text = BUILT_IN.replacen(
            "limits-v: {value: [0.080, 0.020, 0.020]",
            "limits-v: {value: [0.07, 0.03, 0.03]",
            1,
        );
        let (old, new) = (Constants::built_in(), Constants::read(&text).unwrap());
        assert_eq!(new.of(Generation::Gen5).unwrap().dfe.limits_v.value, [0.07, 0.03, 0.03]);
        assert_eq!(new.of(Generation::Gen4), old.of(Generation::Gen4));
    }

    #[test]
    fn impossible_numbers_are_refused_by_name() {
        for (from, to, name) in [
            ("swing-v: {value: 0.8", "swing-v: {value: -0.8", "swing-v"),
            ("width-ui: {value: 0.30", "width-ui: {value: 1.30", "width-ui"),
            ("total-s: {value: 31.25e-12", "total-s: {value: 3e-12", "total-s"),
            ("gains-db: {value: [-6,", "gains-db: {value: [6,", "gains-db"),
        ] {
            let text = BUILT_IN.replacen(from, to, 1);
            assert_ne!(text, BUILT_IN);
            match Constants::read(&text) {
                Err(ConstantsError::Impossible { generation: "gen3", name: found, .. }) => {
                    assert_eq!(found, name)
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
