//! Parser of the numbers of a library: `0.45dB/in`, `85Ohm`, `15%`.

/// Physical dimension of a number, with the unit in which it is returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dimension {
    /// dB.
    Loss,
    /// dB; may be negative.
    Gain,
    /// dB/m.
    LossPerLength,
    /// Hz.
    Frequency,
    /// s.
    Delay,
    /// s/m.
    DelayPerLength,
    /// Ω.
    Resistance,
    /// F.
    Capacitance,
    /// m.
    Length,
    /// V.
    Voltage,
    /// 1.
    Ratio,
}

/// Metres in an inch.
pub(crate) const INCH: f64 = 0.0254;

impl Dimension {
    /// Units in which it can be written, with their factors.
    const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Loss | Self::Gain => &[("dB", 1.0)],
            Self::LossPerLength => &[("dB/in", 1.0 / INCH), ("dB/m", 1.0)],
            Self::Frequency => &[("GHz", 1e9), ("MHz", 1e6)],
            Self::Delay => &[("ps", 1e-12), ("ns", 1e-9)],
            Self::DelayPerLength => &[("ps/in", 1e-12 / INCH), ("ps/mm", 1e-9), ("ns/m", 1e-9)],
            Self::Resistance => &[("Ohm", 1.0)],
            Self::Capacitance => &[("fF", 1e-15), ("pF", 1e-12)],
            Self::Length => &[("in", INCH), ("mm", 1e-3), ("m", 1.0)],
            Self::Voltage => &[("uV", 1e-6), ("mV", 1e-3), ("V", 1.0)],
            Self::Ratio => &[("%", 0.01), ("", 1.0)],
        }
    }
    /// Parses a text; the error describes the expected form.
    pub(crate) fn read(self, text: &str) -> Result<f64, String> {
        let split = text.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
        let (digits, unit) = text.split_at(split);
        let worth = self.units().iter().find(|(name, _)| *name == unit).map(|(_, worth)| worth);
        match (digits.parse::<f64>(), worth) {
            (Ok(value), Some(worth)) if value.is_finite() && (value >= 0.0 || self == Self::Gain) => {
                Ok(value * worth)
            }
            _ => {
                let units: Vec<&str> = self.units().iter().map(|(name, _)| *name).collect();
                Err(format!("`{text}` is no number with a unit of {}", units.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_in_their_unit() {
        for (dimension, text, value) in [
            (Dimension::Loss, "1.5dB", 1.5),
            (Dimension::LossPerLength, "0.5dB/in", 0.5 / 0.0254),
            (Dimension::Frequency, "16GHz", 16e9),
            (Dimension::DelayPerLength, "6.5ps/mm", 6.5e-9),
            (Dimension::Capacitance, "250fF", 250e-15),
            (Dimension::Gain, "-1.5dB", -1.5),
            (Dimension::Voltage, "800uV", 800e-6),
            (Dimension::Ratio, "15%", 0.15),
            (Dimension::Ratio, "1e-12", 1e-12),
        ] {
            let read = dimension.read(text).unwrap();
            assert!((read / value - 1.0).abs() < 1e-14, "{text} {read}");
        }
    }

    #[test]
    fn other_units_and_impossible_numbers_are_refused() {
        for text in ["1.5", "1.5dB/in", "-1dB", "dB", "", "1.5 dB", "nandB"] {
            assert!(Dimension::Loss.read(text).is_err(), "{text}");
        }
    }
}
