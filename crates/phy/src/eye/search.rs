//! The search for the best equalisation: every setting of transmitter and CTLE, with the DFE that fits.
//!
//! ```text
//!  settings × curves × 41 sampling phases   signal over root of power: a handful of products each
//!    └─► settings × curves at its best phase   both bounds of the error ratio, peak distortion among them
//!          └─► the few best                      statistical eye, opening, margin to the mask
//! ```
//!
//! A transmitter that answers with presets only is searched over presets, one that takes coefficients over coefficients.

use super::ffe::{Ffe, PRESETS};
use super::grid::SAMPLES_PER_UI;
use super::interference::depth_bound;
use super::jitter::Stress;
use super::mask::Opening;
use super::receiver::Receiver;
use super::statistical::StatisticalEye;
use super::waves::{Prepared, Sampling, Wave};

/// Samples before and after the highest one among which the receiver looks for its phase.
const EARLIEST: usize = 24;
const LATEST: usize = 16;
/// Phases of a full eye to either side of the sampling phase: somewhat more than half a UI.
const EYE_PHASES: usize = 10;

/// What a search may choose from, and how many full eyes it may draw.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    /// The settings of the transmitter.
    pub ffes: Vec<Ffe>,
    /// The number of candidates whose eye is drawn; more never makes the result worse.
    pub full_eyes: usize,
}

impl Default for Search {
    /// The presets, and three eyes.
    fn default() -> Self {
        Self { ffes: PRESETS.to_vec(), full_eyes: 3 }
    }
}

/// An equalised eye.
#[derive(Clone, PartialEq, Debug)]
pub struct Eye {
    /// The setting of the transmitter.
    pub ffe: Ffe,
    /// The gain of the CTLE at DC \[dB\].
    pub ctle_db: f64,
    /// The taps of the DFE \[V\].
    pub dfe_v: Vec<f64>,
    /// What the worst bits leave without noise, peak to peak \[V\].
    pub peak_distortion_v: f64,
    /// Height and width at the bit error ratio of the mask.
    pub opening: Opening,
    /// Where the sampler stands \[UI from the middle of the statistical eye\].
    pub centre_ui: f64,
    /// The bit error ratio there.
    pub ber: f64,
    /// The eye as a whole.
    pub statistical: StatisticalEye,
}

/// A setting with its best phase and what the bounds say of it.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    curve: usize,
    ffe: Ffe,
    at: usize,
    depth: f64,
}

impl Receiver {
    /// The best eye of a channel under a stress; the first of equals.
    ///
    /// # Panics
    ///
    /// If the search has no setting or draws no eye, or the noise is not above 0.
    #[must_use]
    pub fn search(&self, channel: &Prepared, stress: &Stress, search: &Search) -> Eye {
        assert!(!search.ffes.is_empty() && search.full_eyes > 0, "a search needs a setting and an eye");
        let mut candidates: Vec<Candidate> = Vec::with_capacity(channel.waves.len() * search.ffes.len());
        for (curve, wave) in channel.waves.iter().enumerate() {
            let noise = self.noise_power(wave, curve, stress);
            candidates.extend(search.ffes.iter().map(|&ffe| self.triage(wave, curve, ffe, noise)));
        }
        // a stable sort: the first of equals stays first
        candidates.sort_by(|a, b| b.depth.total_cmp(&a.depth));
        let eyes = candidates.iter().take(search.full_eyes).map(|candidate| self.eye(channel, stress, candidate));
        let margin = |eye: &Eye| self.mask().margin(eye.opening);
        let better = |best: Eye, eye: Eye| if margin(&eye) > margin(&best) { eye } else { best };
        eyes.reduce(better).expect("there is a candidate")
    }

    /// Power of everything that is not this lane's own bits or its neighbours' \[V²\].
    fn noise_power(&self, wave: &Wave, curve: usize, stress: &Stress) -> f64 {
        stress.noise_v * stress.noise_v * self.curves[curve].noise_gain + wave.redriver_power
    }

    /// The phase at which signal over root of power is greatest, and the bounds there.
    fn triage(&self, wave: &Wave, curve: usize, ffe: Ffe, noise: f64) -> Candidate {
        let disturbing = noise + wave.crosstalk_power();
        let peak = wave.pulse.peak();
        let (mut at, mut best) = (peak, f64::NEG_INFINITY);
        for place in peak - EARLIEST..=peak + LATEST {
            let ratio = self.signal_to_noise(wave, &ffe, place, disturbing);
            if ratio > best {
                (at, best) = (place, ratio);
            }
        }
        let dfe_v = self.adapted(wave, &ffe, at);
        let left = wave.equalised(&ffe, at) - wave.magnitudes(&Sampling { ffe, at, dfe_v: &dfe_v });
        Candidate { curve, ffe, at, depth: depth_bound(left / libm::sqrt(noise), best) }
    }

    /// Main cursor over the root of all other power after the DFE.
    fn signal_to_noise(&self, wave: &Wave, ffe: &Ffe, at: usize, disturbing: f64) -> f64 {
        let main = wave.equalised(ffe, at);
        let mut power = wave.power(ffe, at) - main * main;
        for number in 0..self.dfe.len() {
            let cursor = wave.equalised(ffe, at + (number + 1) * SAMPLES_PER_UI);
            let left = cursor - self.dfe.tap(number, cursor);
            power += left * left - cursor * cursor;
        }
        main / libm::sqrt(power.max(0.0) + disturbing)
    }

    fn adapted(&self, wave: &Wave, ffe: &Ffe, at: usize) -> Vec<f64> {
        self.dfe.adapt((1..).map(|number| wave.equalised(ffe, at + number * SAMPLES_PER_UI)))
    }

    fn eye(&self, channel: &Prepared, stress: &Stress, candidate: &Candidate) -> Eye {
        let (wave, ffe) = (&channel.waves[candidate.curve], candidate.ffe);
        let sigma = libm::sqrt(self.noise_power(wave, candidate.curve, stress));
        let dfe_v = self.adapted(wave, &ffe, candidate.at);
        let around = candidate.at - EYE_PHASES..=candidate.at + EYE_PHASES;
        let phases: Vec<_> =
            around.map(|at| wave.interference(&Sampling { ffe, at, dfe_v: &dfe_v }, sigma)).collect();
        let statistical = StatisticalEye::new(&phases, &stress.jitter, self.ui_s());
        let centre_ui = statistical.centre_ui();
        let ber = self.mask().ber;
        Eye {
            ffe,
            ctle_db: self.curves[candidate.curve].ctle.gain_db(),
            dfe_v,
            peak_distortion_v: 2.0 * phases[EYE_PHASES].peak_distortion_v(),
            opening: Opening {
                height_v: statistical.height_v(ber, centre_ui),
                width_ui: statistical.width_ui(ber),
            },
            centre_ui,
            ber: statistical.ber(centre_ui, 0.0),
            statistical,
        }
    }
}
