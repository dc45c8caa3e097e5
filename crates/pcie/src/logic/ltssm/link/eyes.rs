//! What receivers get to see: margins drawn anew with every adaptation, and the bit error ratios that follow.
//!
//! | moment | height |
//! |---|---|
//! | phase 0 or 1 of equalisation | nominal − loss of the initial preset + N(0, s) + drift |
//! | phase 2 or 3 | nominal − what the search left + N(0, s) + drift |
//! | each lock (Polling.Active, Recovery.RcvrLock) | the same, drawn once more; this one stays for L0 |

use super::super::channel::{Direction, LaneEye, PRESETS};
use super::super::draw::Table;
use super::super::numbers::Numbers;
use super::super::ordered_sets::Lanes;
use super::config::LinkConfig;
use lanetwin_units::{Generation, Span};

/// How good a receiver has to be in what.
#[derive(Clone, Debug)]
pub(super) struct Eyes {
    lanes: usize,
    segments: usize,
    initial: Table,
    tuned: Table,
    locked: Table,
    /// How often each was drawn, by direction and rate.
    drawn: [[[u64; 5]; 2]; 3],
    /// What the search for a transmitter setting left \[mV\], by rate, segment, direction and lane.
    left: Vec<f64>,
    /// The bit error ratio that the last lock left, by direction, segment and lane.
    ber: Vec<f64>,
    /// The same through all segments, by direction and lane.
    through: Vec<f64>,
}

/// What the search for a transmitter setting came to.
pub(super) struct Search {
    /// How long it took.
    pub(super) took: Span,
    /// Whether every lane of every segment is good enough now.
    pub(super) found: bool,
}

impl Eyes {
    pub(super) fn new(config: &LinkConfig, seed: u64) -> Self {
        let (lanes, segments) = (config.lanes(), config.channel.segments());
        let table = |purpose| Table::new(seed, &config.name, purpose);
        Self {
            lanes,
            segments,
            initial: table("training: initial adaptation"),
            tuned: table("training: tuned"),
            locked: table("training: locked"),
            drawn: [[[0; 5]; 2]; 3],
            left: vec![0.0; Generation::ALL.len() * segments * 2 * lanes],
            ber: vec![0.0; 2 * segments * lanes],
            through: vec![0.0; 2 * lanes],
        }
    }
    /// The bit error ratio of a lane through all segments, since it locked last.
    pub(super) fn ber(&self, direction: Direction, lane: usize) -> f64 {
        self.through[direction as usize * self.lanes + lane]
    }
    /// The bit error ratio of a lane in one segment.
    pub(super) fn segment_ber(&self, direction: Direction, segment: usize, lane: usize) -> f64 {
        self.ber[(direction as usize * self.segments + segment) * self.lanes + lane]
    }
    /// The mean bit error ratio of these lanes.
    pub(super) fn mean_ber(&self, direction: Direction, lanes: Lanes) -> f64 {
        let sum: f64 =
            lanes.iter().filter(|lane| *lane < self.lanes).map(|lane| self.ber(direction, lane)).sum();
        if lanes.is_empty() { 0.0 } else { sum / f64::from(lanes.count()) }
    }

    /// The receivers of a direction lock at a rate: what they see from now on.
    pub(super) fn lock(&mut self, config: &LinkConfig, rate: Generation, direction: Direction) {
        let count = self.count(2, rate, direction);
        let d = direction as usize;
        self.through[d * self.lanes..(d + 1) * self.lanes].fill(0.0);
        for segment in 0..self.segments {
            for lane in 0..self.lanes {
                let at = (rate, segment, direction, lane);
                let height = self.height(config, at, self.left[self.place(at)], &self.locked, count);
                let ber = eye(config, at).ber_at(height);
                self.ber[(d * self.segments + segment) * self.lanes + lane] = ber;
                let through = &mut self.through[d * self.lanes + lane];
                // wrong is what an odd number of segments turned
                *through += ber - 2.0 * *through * ber;
            }
        }
    }

    /// Whether receivers of a direction hear the initial preset well enough.
    pub(super) fn adapt(
        &mut self,
        config: &LinkConfig,
        rate: Generation,
        direction: Direction,
        lanes: Lanes,
    ) -> bool {
        let count = self.count(0, rate, direction);
        let preset = config.numbers.ports.initial_preset as usize;
        (0..self.segments).all(|segment| {
            lanes.iter().filter(|lane| *lane < self.lanes).all(|lane| {
                let at = (rate, segment, direction, lane);
                let loss = eye(config, at).preset_loss_mv[preset];
                let height = self.height(config, at, loss, &self.initial, count);
                eye(config, at).ber_at(height) < config.numbers.ports.equalization_ber
            })
        })
    }

    /// The search for the best setting of the transmitters of a direction, in every segment on its own.
    pub(super) fn tune(
        &mut self,
        config: &LinkConfig,
        rate: Generation,
        direction: Direction,
        lanes: Lanes,
        limit: Span,
    ) -> Search {
        let count = self.count(1, rate, direction);
        let settings = Settings::within(limit, &config.numbers);
        let mut found = true;
        for segment in 0..self.segments {
            for lane in lanes.iter().filter(|lane| *lane < self.lanes) {
                let at = (rate, segment, direction, lane);
                let left = settings.left(eye(config, at), &config.numbers);
                let height = self.height(config, at, left, &self.tuned, count);
                found &= eye(config, at).ber_at(height) < config.numbers.ports.equalization_ber;
                let place = self.place(at);
                self.left[place] = left;
            }
        }
        let turn = if self.segments > 1 { config.numbers.ports.retimer_turn } else { Span::ZERO };
        Search { took: settings.took(&config.numbers) + turn, found }
    }

    fn count(&mut self, purpose: usize, rate: Generation, direction: Direction) -> u64 {
        let count = &mut self.drawn[purpose][direction as usize][rate.number() as usize - 1];
        *count += 1;
        *count
    }

    fn height(&self, config: &LinkConfig, at: At, loss: f64, table: &Table, count: u64) -> f64 {
        let adaptation = &config.adaptation;
        let (rate, segment, direction, lane) = at;
        let nominal = eye(config, at).height_mv - loss + adaptation.drift_mv_per_k * adaptation.warmer_k;
        if adaptation.sigma_mv == 0.0 {
            return nominal;
        }
        let receiver = (u64::from(rate.number()) << 8 | segment as u64) << 1 | direction as u64;
        nominal + adaptation.sigma_mv * table.normal([count, receiver, lane as u64])
    }

    fn place(&self, (rate, segment, direction, lane): At) -> usize {
        ((usize::from(rate.number() - 1) * self.segments + segment) * 2 + direction as usize) * self.lanes
            + lane
    }
}

/// A receiver's lane: rate, segment, direction, lane.
type At = (Generation, usize, Direction, usize);

fn eye(config: &LinkConfig, (rate, segment, direction, lane): At) -> &LaneEye {
    config.channel.eye(rate, segment, direction, lane)
}

/// How many settings can be tried: presets first, then coefficients around the best of them.
struct Settings {
    presets: usize,
    steps: u32,
}

impl Settings {
    /// What fits into four fifths of a limit; the rest is left for the handshakes.
    fn within(limit: Span, numbers: &Numbers) -> Self {
        let each = numbers.ports.evaluation.as_ps().max(1);
        let fit = limit.as_ps() / 5 * 4 / each;
        let presets = fit.min(PRESETS as u64);
        Self {
            presets: presets as usize,
            steps: (fit - presets).min(numbers.ports.coefficient_steps.into()) as u32,
        }
    }
    fn took(&self, numbers: &Numbers) -> Span {
        numbers.ports.evaluation * (self.presets as u64 + u64::from(self.steps))
    }
    /// What is left of the loss: of the best preset that was tried, halved with each step.
    fn left(&self, eye: &LaneEye, numbers: &Numbers) -> f64 {
        let initial = numbers.ports.initial_preset as usize;
        let order = core::iter::once(initial).chain((0..PRESETS).filter(|preset| *preset != initial));
        // without a single trial the initial preset stays
        let tried = order.take(self.presets.max(1));
        let best = tried.map(|preset| eye.preset_loss_mv[preset]).fold(f64::INFINITY, f64::min);
        (0..self.steps).fold(best, |left, _| 0.5 * left)
    }
}
