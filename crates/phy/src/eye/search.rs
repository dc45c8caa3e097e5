//! The search for the best equalisation: every setting of transmitter and CTLE, with the DFE that fits.
//!
//! ```text
//!  settings × curves × 41 sampling phases   signal over root of power: a handful of products each
//!    └─► settings × curves at its best phase   height by Chernoff's bound, whose limit is peak distortion
//!          └─► the few best                      statistical eye, opening, margin to the mask
//! ```
//!
//! A transmitter that answers with presets only is searched over presets, one that takes coefficients over
//! coefficients.

use super::ffe::{Coefficients, Ffe, PRESETS, coefficients};
use super::grid::SAMPLES_PER_UI;
use super::interference::{Interference, Quantile};
use super::jitter::Stress;
use super::mask::Opening;
use super::pulse::Pulse;
use super::receiver::Receiver;
use super::statistical::StatisticalEye;
use super::waves::{Prepared, Sampling, Wave};

/// Range of samples before and after the highest one in which the receiver searches for its phase.
const EARLIEST: usize = 24;
const LATEST: usize = 16;
/// Bits before and after this one that the triage treats individually; the power of the others counts as noise.
const BITS_BEFORE: usize = 8;
const BITS_AFTER: usize = 40;
/// Phases of a full eye to either side of the sampling phase: somewhat more than half a UI.
const EYE_PHASES: usize = 10;

/// Settings that a search tries, and the number of full eyes that it draws.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    /// The settings of the transmitter.
    pub ffes: Vec<Ffe>,
    /// The number of candidates whose eye is drawn; more never makes the result worse.
    pub full_eyes: usize,
    /// Sampling phases beside that of a candidate, to either side, at which its eye is drawn as well. A candidate has
    /// the phase of the best ratio of signal to power; the height can be larger a sixteenth of a UI beside it.
    pub phases_beside: usize,
}

impl Default for Search {
    /// The presets, and three eyes.
    fn default() -> Self {
        Self { ffes: PRESETS.to_vec(), full_eyes: 3, phases_beside: 0 }
    }
}

impl Search {
    /// The presets, more eyes, and the phases beside them: for calibration, whose opening has to follow noise and
    /// jitter smoothly, and for what is judged by it.
    #[must_use]
    pub fn thorough() -> Self {
        Self { full_eyes: 5, phases_beside: 1, ..Self::default() }
    }

    /// All coefficients that a transmitter with these FS and LF must accept, as thoroughly; none if there are none.
    /// Neighbours on the grid of coefficients promise much the same, so that more eyes are drawn.
    #[must_use]
    pub fn of_coefficients(full_swing: u8, low_frequency: u8) -> Option<Self> {
        let legal = coefficients(full_swing, low_frequency);
        let ffes: Vec<Ffe> = legal.iter().map(Coefficients::taps).collect();
        (!ffes.is_empty()).then_some(Self { ffes, full_eyes: 12, phases_beside: 1 })
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
    /// Eye height for the worst bits without noise, peak to peak \[V\].
    pub peak_distortion_v: f64,
    /// Height and width at the bit error ratio of the mask.
    pub opening: Opening,
    /// Sampling time \[UI from the middle of the statistical eye\].
    pub centre_ui: f64,
    /// The bit error ratio there.
    pub ber: f64,
    /// Standard deviation of the noise at the sampler \[V\].
    pub sigma_v: f64,
    /// The eye as a whole.
    pub statistical: StatisticalEye,
    curve: usize,
    at: usize,
}

impl Eye {
    /// The sample of the pulse at the middle of the statistical eye.
    #[must_use]
    pub const fn sampled_at(&self) -> usize {
        self.at
    }
}

impl Prepared {
    /// The pulse that the sampler of an eye of this channel sees, before the DFE.
    #[must_use]
    pub fn pulse(&self, eye: &Eye) -> Pulse {
        let wave = &self.waves[eye.curve];
        let samples = (0..wave.pulse.samples.len()).map(|at| wave.equalised(&eye.ffe, at)).collect();
        Pulse { samples, ..wave.pulse }
    }

    /// The disturbance of a bit at the middle of an eye of this channel.
    #[must_use]
    pub fn interference(&self, eye: &Eye) -> Interference {
        let sampling = Sampling { ffe: eye.ffe, at: eye.at, dfe_v: &eye.dfe_v };
        self.waves[eye.curve].interference(&sampling, eye.sigma_v)
    }

    /// Voltage of each neighbour at the sampler of an eye of this channel, rms over its bits \[V\]: the integrated
    /// crosstalk noise, at the phase at which it is greatest.
    #[must_use]
    pub fn crosstalk_v(&self, eye: &Eye) -> Vec<f64> {
        self.waves[eye.curve].crosstalk.iter().map(|neighbour| libm::sqrt(neighbour.power)).collect()
    }

    /// The same channel without its neighbours.
    #[must_use]
    pub fn alone(&self) -> Self {
        let mut made = self.clone();
        made.waves.iter_mut().for_each(|wave| wave.crosstalk.clear());
        made
    }

    /// Whether the channel inverts the signal; links correct the polarity in Polling.
    #[must_use]
    pub fn inverted(&self) -> bool {
        self.waves.iter().any(|wave| wave.pulse.inverted)
    }
}

/// A setting with its best phase and half the height by the bound, minimum over the jitter \[V\].
#[derive(Clone, Copy, Debug)]
struct Candidate {
    curve: usize,
    ffe: Ffe,
    at: usize,
    promised_v: f64,
}

/// Parameters of the triage for one curve.
struct Triage<'a> {
    receiver: &'a Receiver,
    wave: &'a Wave,
    curve: usize,
    quantile: Quantile,
    /// Noise and neighbours \[V²\].
    noise: f64,
    /// Shift by jitter \[samples\].
    jitter: usize,
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
        let quantile = Quantile::of(self.mask().ber);
        for (curve, wave) in channel.waves.iter().enumerate() {
            let noise = self.noise_power(wave, curve, stress) + wave.crosstalk_power();
            let jitter = self.jitter_samples(stress);
            let triage = Triage { receiver: self, wave, curve, quantile, noise, jitter };
            candidates.extend(search.ffes.iter().map(|&ffe| triage.candidate(ffe)));
        }
        // a stable sort: the first of equals stays first
        candidates.sort_by(|a, b| b.promised_v.total_cmp(&a.promised_v));
        let beside = search.phases_beside;
        let eyes = candidates.iter().take(search.full_eyes).flat_map(|candidate| {
            let phases = candidate.at - beside..=candidate.at + beside;
            phases.map(|at| self.eye(channel, stress, &Candidate { at, ..*candidate }))
        });
        let margin = |eye: &Eye| self.mask().margin(eye.opening);
        let better = |best: Eye, eye: Eye| if margin(&eye) > margin(&best) { eye } else { best };
        eyes.reduce(better).expect("there is a candidate")
    }

    /// Power of everything that is not this lane's own bits or its neighbours' \[V²\].
    fn noise_power(&self, wave: &Wave, curve: usize, stress: &Stress) -> f64 {
        stress.noise_v * stress.noise_v * self.curves[curve].noise_gain + wave.redriver_power
    }

    /// Half of the deterministic jitter and four standard deviations of the random one, in samples.
    fn jitter_samples(&self, stress: &Stress) -> usize {
        let jitter = 0.5 * stress.jitter.deterministic_s + 4.0 * stress.jitter.random_s;
        (jitter / self.ui_s() * SAMPLES_PER_UI as f64).round().min(8.0) as usize
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
            sigma_v: sigma,
            statistical,
            curve: candidate.curve,
            at: candidate.at,
        }
    }
}

impl Triage<'_> {
    /// The phase with the greatest ratio of signal to root of power, and the height by the bounds there.
    fn candidate(&self, ffe: Ffe) -> Candidate {
        let peak = self.wave.pulse.peak();
        let (mut at, mut best) = (peak, f64::NEG_INFINITY);
        for place in peak - EARLIEST..=peak + LATEST {
            let main = self.wave.equalised(&ffe, place);
            let ratio = main / libm::sqrt(self.left(&ffe, place, main) + self.noise);
            if ratio > best {
                (at, best) = (place, ratio);
            }
        }
        let dfe_v = self.receiver.adapted(self.wave, &ffe, at);
        let promised = |place: usize| self.promised(&Sampling { ffe, at: place, dfe_v: &dfe_v });
        let early = promised(at - self.jitter);
        let promised_v = if self.jitter == 0 { early } else { early.min(promised(at + self.jitter)) };
        Candidate { curve: self.curve, ffe, at, promised_v }
    }

    /// Power of all cursors but the main one, with the DFE adapted to them.
    fn left(&self, ffe: &Ffe, at: usize, main: f64) -> f64 {
        let mut power = self.wave.power(ffe, at) - main * main;
        for number in 0..self.receiver.dfe.len() {
            let cursor = self.wave.equalised(ffe, at + (number + 1) * SAMPLES_PER_UI);
            let left = cursor - self.receiver.dfe.tap(number, cursor);
            power += left * left - cursor * cursor;
        }
        power.max(0.0)
    }

    /// Half the height at the bit error ratio of the mask, by the bound.
    fn promised(&self, sampling: &Sampling) -> f64 {
        let (ffe, at) = (&sampling.ffe, sampling.at);
        let main = self.wave.equalised(ffe, at);
        let mut near = [0.0; BITS_BEFORE + BITS_AFTER];
        let (before, after) = near.split_at_mut(BITS_BEFORE);
        self.wave.fill(ffe, at - BITS_BEFORE * SAMPLES_PER_UI, before);
        self.wave.fill(ffe, at + SAMPLES_PER_UI, after);
        let far =
            self.wave.power(ffe, at) - main * main - near.iter().map(|cursor| cursor * cursor).sum::<f64>();
        for (cursor, tap) in near[BITS_BEFORE..].iter_mut().zip(sampling.dfe_v) {
            *cursor -= tap;
        }
        main - self.quantile.voltage(&near, far.max(0.0) + self.noise)
    }
}
