//! The stage of a redriver in a library.

use super::corner::Corner;
use super::number::{Known, Number};
use crate::eye::Redriver;
use crate::quantity::Dimension;
use serde::Deserialize;

/// A stage as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawStage {
    dc_gain: Number,
    peaking: Number,
    gain_spread: Number,
    low_pole: Number,
    bandwidth: Number,
    noise: Number,
    output_limit: Number,
}

/// An analogue stage, each number with its source.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Stage {
    /// Gain at 0 Hz \[dB\].
    dc_gain: Known,
    /// Gain between the poles over that at 0 Hz \[dB\].
    peaking: Known,
    /// Spread of the gain by production, temperature and voltage, at all frequencies \[dB\].
    gain_spread: Known,
    /// \[Hz\]
    low_pole: Known,
    /// \[Hz\]
    bandwidth: Known,
    /// At the input over the bandwidth, rms \[V\].
    noise: Known,
    /// To one side \[V\].
    output_limit: Known,
}

impl Stage {
    pub(super) fn new(raw: RawStage) -> Result<Self, String> {
        let read = |number: Number, dimension: Dimension| {
            dimension.read(&number.value).map(|value| Known { value, number })
        };
        let made = Self {
            dc_gain: read(raw.dc_gain, Dimension::Gain)?,
            peaking: read(raw.peaking, Dimension::Loss)?,
            gain_spread: read(raw.gain_spread, Dimension::Loss)?,
            low_pole: read(raw.low_pole, Dimension::Frequency)?,
            bandwidth: read(raw.bandwidth, Dimension::Frequency)?,
            noise: read(raw.noise, Dimension::Voltage)?,
            output_limit: read(raw.output_limit, Dimension::Voltage)?,
        };
        let gains = [made.dc_gain.value, made.peaking.value, made.gain_spread.value];
        if gains.into_iter().any(|gain| gain.abs() > MOST_GAIN_DB) {
            return Err(format!("a gain is not beyond {MOST_GAIN_DB} dB"));
        }
        if made.low_pole.value <= 0.0 || made.bandwidth.value < made.low_pole.value {
            return Err("a `low-pole:` is above 0 Hz and not above the `bandwidth:`".into());
        }
        if made.output_limit.value <= 0.0 {
            return Err("an `output-limit:` is above 0 V".into());
        }
        Ok(made)
    }
    /// The stage at a corner: with the highest loss of lines, it has the lowest gain.
    pub(crate) fn redriver(&self, corner: Corner) -> Redriver {
        let moved = match corner {
            Corner::Low => self.gain_spread.value,
            Corner::Nominal => 0.0,
            Corner::High => -self.gain_spread.value,
        };
        Redriver {
            dc_gain_db: self.dc_gain.value + moved,
            peaking_db: self.peaking.value,
            low_pole_hz: self.low_pole.value,
            bandwidth_hz: self.bandwidth.value,
            noise_v: self.noise.value,
            output_limit_v: self.output_limit.value,
        }
    }
    /// Every number of it, by its place: `stage.peaking` …
    pub(super) fn numbers(&self) -> impl Iterator<Item = (String, &Number)> {
        [
            ("dc-gain", &self.dc_gain),
            ("peaking", &self.peaking),
            ("gain-spread", &self.gain_spread),
            ("low-pole", &self.low_pole),
            ("bandwidth", &self.bandwidth),
            ("noise", &self.noise),
            ("output-limit", &self.output_limit),
        ]
        .into_iter()
        .map(|(name, known)| (format!("stage.{name}"), &known.number))
    }
}

/// Maximum plausible gain \[dB\]; a larger one is an error in the file.
const MOST_GAIN_DB: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::super::{Element, Library};
    use super::*;

    fn generic(corner: Corner) -> f64 {
        let element = Element::Redriver("generic-gen5".into());
        element.pieces(Library::standard(), corner).unwrap().loss_db(16e9).unwrap()
    }

    #[test]
    fn a_redriver_gains_what_its_stage_amplifies_less_its_package_on_either_side() {
        let library = Library::standard();
        let entry = library.entry(super::super::Family::Redrivers, "generic-gen5").unwrap();
        let stage = entry.stage.as_ref().unwrap().redriver(Corner::Nominal);
        let side = entry.pieces(1.0, Corner::Nominal).loss_db(16e9).unwrap();
        assert!((generic(Corner::Nominal) - (2.0 * side - stage.gain_db(16e9))).abs() < 1e-9);
        assert!(generic(Corner::Nominal) < -5.0, "it is there to amplify");
        assert!(
            generic(Corner::Low) < generic(Corner::Nominal)
                && generic(Corner::Nominal) < generic(Corner::High)
        );
    }

    #[test]
    fn stages_that_cannot_be_are_refused_by_name() {
        let text = include_str!("../../../../parts/phy/elements.yaml");
        let start = text.find("redrivers:").unwrap();
        let said = |from: &str, to: &str| {
            assert!(text[start..].contains(from), "{from}");
            Library::read(&text[start..].replacen(from, to, 1)).unwrap_err().message
        };
        assert!(said("output-limit: {value: 500mV", "output-limit: {value: 0mV").contains("output-limit"));
        assert!(said("low-pole: {value: 10GHz", "low-pole: {value: 99GHz").contains("low-pole"));
        assert!(said("peaking: {value: 14dB", "peaking: {value: 140dB").contains("60 dB"));
        assert!(said("noise: {value: 800uV", "noise: {value: 800").contains("800"));
        assert!(said("redrivers:", "retimers:").contains("stage"));
        assert!(said("    stage:", "    stages:").contains("stages"));
    }
}
