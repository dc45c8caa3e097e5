//! What a link's lanes are worth: for each rate, segment, direction and lane the eye that its receiver has, as numbers.
//!
//! ```text
//!  downstream port ══ segment 0 ══ retimer ══ segment 1 ══ retimer ══ segment 2 ══ upstream port
//!                      lane 0 …                lane 0 …                lane 0 …
//! ```
//!
//! Where the numbers come from is the caller's business: an eye that was computed, a lane that was margined, a what-if.

use lanetwin_units::{Generation, Width};

/// The bit error ratio at which heights of eyes are given.
pub const REFERENCE_BER: f64 = 1e-12;

/// The transmitter presets P0 to P10.
pub const PRESETS: usize = 11;

/// The eye of one receiver: how high it is, and how fast errors grow when height is missing.
///
/// Noise is taken as normal, so that a height stands for a bit error ratio: *Q*(7.034 + height / per_sigma), where
/// 7.034 standard deviations leave 1e-12.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LaneEye {
    /// The height at [`REFERENCE_BER`], transmitter and receiver tuned, peak to peak \[mV\]; negative by what is
    /// missing.
    pub height_mv: f64,
    /// The height that goes with one more standard deviation of noise \[mV\]: twice the noise's own.
    pub per_sigma_mv: f64,
    /// What each transmitter preset costs against the best setting that can be found \[mV\].
    pub preset_loss_mv: [f64; PRESETS],
}

impl LaneEye {
    /// An eye for which every preset is as good as the best setting.
    #[must_use]
    pub const fn new(height_mv: f64, per_sigma_mv: f64) -> Self {
        Self { height_mv, per_sigma_mv, preset_loss_mv: [0.0; PRESETS] }
    }
    /// With these losses of the presets \[mV\].
    #[must_use]
    pub const fn with_preset_losses(mut self, preset_loss_mv: [f64; PRESETS]) -> Self {
        self.preset_loss_mv = preset_loss_mv;
        self
    }
}

/// Which way bits go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From the downstream port to the upstream port.
    Down = 0,
    /// From the upstream port to the downstream port.
    Up = 1,
}

impl Direction {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Down, Self::Up];
}

/// The eyes of a link: of each rate, segment, direction and lane.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    lanes: usize,
    segments: usize,
    eyes: Vec<LaneEye>,
}

impl Channel {
    /// A channel whose receivers all have the same eye at every rate.
    ///
    /// # Panics
    /// If there is no segment, or more than three: a link has at most two retimers.
    #[must_use]
    pub fn uniform(width: Width, segments: usize, eye: LaneEye) -> Self {
        assert!((1..=3).contains(&segments), "a link has one to three segments");
        let lanes = width.lanes() as usize;
        Self { lanes, segments, eyes: vec![eye; Generation::ALL.len() * segments * 2 * lanes] }
    }
    /// How many lanes there are.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.lanes
    }
    /// How many segments there are: one more than retimers.
    #[must_use]
    pub const fn segments(&self) -> usize {
        self.segments
    }
    /// An eye.
    ///
    /// # Panics
    /// If there is no such segment or lane.
    #[must_use]
    pub fn eye(&self, generation: Generation, segment: usize, direction: Direction, lane: usize) -> &LaneEye {
        &self.eyes[self.index(generation, segment, direction, lane)]
    }
    /// The same, to change it.
    ///
    /// # Panics
    /// If there is no such segment or lane.
    pub fn eye_mut(
        &mut self,
        generation: Generation,
        segment: usize,
        direction: Direction,
        lane: usize,
    ) -> &mut LaneEye {
        let index = self.index(generation, segment, direction, lane);
        &mut self.eyes[index]
    }
    /// Gives every receiver of a rate this eye.
    pub fn set_rate(&mut self, generation: Generation, eye: LaneEye) {
        for segment in 0..self.segments {
            self.set_segment(generation, segment, eye);
        }
    }
    /// Gives every receiver of a segment this eye at a rate.
    ///
    /// # Panics
    /// If there is no such segment.
    pub fn set_segment(&mut self, generation: Generation, segment: usize, eye: LaneEye) {
        for direction in Direction::BOTH {
            for lane in 0..self.lanes {
                *self.eye_mut(generation, segment, direction, lane) = eye;
            }
        }
    }
    /// Whether every number can be: heights finite, noise above zero, no preset better than the best setting.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.eyes.iter().all(|eye| {
            let loss = |loss: &f64| loss.is_finite() && *loss >= 0.0;
            let noise = eye.per_sigma_mv.is_finite() && eye.per_sigma_mv > 0.0;
            eye.height_mv.is_finite() && noise && eye.preset_loss_mv.iter().all(loss)
        })
    }
    fn index(&self, generation: Generation, segment: usize, direction: Direction, lane: usize) -> usize {
        assert!(segment < self.segments && lane < self.lanes, "no segment {segment} or no lane {lane}");
        let rate = usize::from(generation.number()) - 1;
        ((rate * self.segments + segment) * 2 + direction as usize) * self.lanes + lane
    }
}
