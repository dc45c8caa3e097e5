//! The rates of a lane, as the channel sees them.

use lanetwin_units::Generation;
use serde::Serialize;

/// The rate of a lane; the analogue channel of Gen6 and Gen7 is known before their flits are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataRate {
    /// 2.5 GT/s.
    Gen1,
    /// 5 GT/s.
    Gen2,
    /// 8 GT/s.
    Gen3,
    /// 16 GT/s.
    Gen4,
    /// 32 GT/s.
    Gen5,
    /// 64 GT/s, four levels.
    Gen6,
    /// 128 GT/s, four levels.
    Gen7,
}

impl DataRate {
    /// Every rate, slowest first.
    pub const ALL: [Self; 7] =
        [Self::Gen1, Self::Gen2, Self::Gen3, Self::Gen4, Self::Gen5, Self::Gen6, Self::Gen7];

    /// Symbols on the wire \[Bd\]: bits at two levels, pairs of bits at four.
    #[must_use]
    pub const fn baud(self) -> f64 {
        match self {
            Self::Gen1 => 2.5e9,
            Self::Gen2 => 5e9,
            Self::Gen3 => 8e9,
            Self::Gen4 => 16e9,
            Self::Gen5 | Self::Gen6 => 32e9,
            Self::Gen7 => 64e9,
        }
    }
    /// The Nyquist frequency \[Hz\]: half the symbol rate, where losses are budgeted.
    #[must_use]
    pub const fn nyquist_hz(self) -> f64 {
        self.baud() / 2.0
    }
    /// `gen5`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gen1 => "gen1",
            Self::Gen2 => "gen2",
            Self::Gen3 => "gen3",
            Self::Gen4 => "gen4",
            Self::Gen5 => "gen5",
            Self::Gen6 => "gen6",
            Self::Gen7 => "gen7",
        }
    }
}

impl From<Generation> for DataRate {
    fn from(generation: Generation) -> Self {
        Self::ALL[usize::from(generation.number()) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_agree_with_those_of_the_link() {
        for generation in Generation::ALL {
            let rate = DataRate::from(generation);
            assert_eq!(rate.baud(), generation.megatransfers() as f64 * 1e6);
            assert_eq!(rate.name(), generation.to_string().to_lowercase());
        }
    }
}
