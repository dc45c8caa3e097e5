//! Settings of a channel's transmitter that are searched: presets, or also the coefficients that it must accept.

use super::description::{Channel, Equalisation, Variant};
use super::stress::Bench;
use lanetwin_phy::DataRate;
use lanetwin_phy::eye::{Coefficients, Eye, PRESETS, Prepared, Search, coefficients};
use lanetwin_units::Generation;
use serde::Serialize;

/// Coefficients of a transmitter, in steps of its Full Swing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct EyeCoefficients {
    /// |C−1|.
    pub before: u8,
    /// C0.
    pub main: u8,
    /// |C+1|.
    pub after: u8,
    /// FS.
    pub full_swing: u8,
}

/// The settings that are searched.
pub(super) struct Transmitter {
    /// The coefficients that it must accept, if they are searched, and its FS and LF.
    legal: Vec<Coefficients>,
    swing: (u8, u8),
}

impl Transmitter {
    pub(super) fn of(channel: &Channel, variant: &Variant) -> Self {
        let of = generation(variant.rate).and_then(|generation| channel.constants.of(generation));
        let swing = of.map(|of| (of.transmitter.full_swing.value, of.transmitter.low_frequency.value));
        let swing = swing.unwrap_or_default();
        let legal = match variant.equalisation {
            Equalisation::Presets => Vec::new(),
            Equalisation::Coefficients => coefficients(swing.0, swing.1),
        };
        Self { legal, swing }
    }
    /// The best eye over the presets and, if they are searched, the coefficients.
    pub(super) fn best(&self, bench: &Bench, prepared: &Prepared) -> Eye {
        let searched = |search: &Search| bench.receiver.search(prepared, &bench.stress, search);
        let margin = |eye: &Eye| bench.receiver.mask().margin(eye.opening);
        let preset = searched(&Search::thorough());
        let more = (!self.legal.is_empty()).then(|| Search::of_coefficients(self.swing.0, self.swing.1));
        match more.flatten().map(|search| searched(&search)) {
            Some(free) if margin(&free) > margin(&preset) => free,
            _ => preset,
        }
    }
    /// The coefficients of an eye; `None` for a preset.
    pub(super) fn coefficients(&self, eye: &Eye) -> Option<EyeCoefficients> {
        if PRESETS.contains(&eye.ffe) {
            return None;
        }
        let (before, main, after) = self.legal.iter().find(|legal| legal.taps() == eye.ffe)?.integers();
        Some(EyeCoefficients { before, main, after, full_swing: self.swing.0 })
    }
    /// `P7`, or `4/38/6`.
    pub(super) fn told(&self, eye: &Eye) -> String {
        match (PRESETS.iter().position(|preset| *preset == eye.ffe), self.coefficients(eye)) {
            (Some(at), _) => format!("P{at}"),
            (None, Some(set)) => format!("{}/{}/{}", set.before, set.main, set.after),
            (None, None) => unreachable!("only presets and coefficients were searched"),
        }
    }
}

/// The generation of a rate; `None` for unknown rates.
pub(super) fn generation(rate: DataRate) -> Option<Generation> {
    Generation::ALL.into_iter().find(|generation| DataRate::from(*generation) == rate)
}
