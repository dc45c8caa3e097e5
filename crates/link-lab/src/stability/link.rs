//! Links that train over the eyes of a channel.

use super::numbers::{ADAPTATION, READY, RETIMER, TLP, UNEQUALISED, UNEQUALISED_SIGMA, WAKE};
use crate::channel::{RateEyes, ReceiverEye};
use lanetwin_pcie::logic::ltssm::channel::{Channel, LaneEye};
use lanetwin_pcie::logic::ltssm::link::{Adaptation, LinkConfig, Retimer, Traffic};
use lanetwin_phy::DataRate;
use lanetwin_units::{Generation, Span, Width};

/// Standard deviations of noise at which the bit error ratio is 1e-12.
const SIGMAS: f64 = 7.034;
/// Bit error ratios from which the slope of an eye is computed; outside this range they are dominated by rounding.
const TRUSTED: core::ops::Range<f64> = 1e-38..0.1;
/// Least height for which the slope is computed from the eye \[V\]; nearer to 0 it would be a quotient of small
/// numbers.
const STEEP_V: f64 = 0.5e-3;

/// Settings of a simulated link besides its channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkRequest {
    /// The lanes.
    pub width: Width,
    /// The share of the time that TLPs are on the wire during the dwell.
    pub utilisation: f64,
    /// The seed.
    pub seed: u64,
}

/// The link over a channel with these eyes. All lanes and both directions have the eye of their segment, since a
/// channel's description covers one lane.
#[must_use]
pub fn link(name: &str, rate: DataRate, eyes: &[RateEyes], wanted: LinkRequest) -> LinkConfig {
    let segments = eyes.first().map_or(1, |rate| rate.segments.len());
    let open = LaneEye::new(UNEQUALISED.value, UNEQUALISED_SIGMA.value);
    let mut channel = Channel::uniform(wanted.width, segments, open);
    for of_rate in eyes {
        for (at, eye) in of_rate.segments.iter().enumerate() {
            channel.set_segment(generation(of_rate.rate), at, lane(eye));
        }
    }
    let latency = Span::from_ns(RETIMER.value as u64);
    with_channel(name, generation(rate), channel, vec![Retimer { latency }; segments - 1], wanted)
}

/// A link with wide open eyes at every rate, and this many retimers.
#[must_use]
pub fn open_link(name: &str, best: Generation, retimers: usize, wanted: LinkRequest) -> LinkConfig {
    let open = LaneEye::new(UNEQUALISED.value, UNEQUALISED_SIGMA.value);
    let channel = Channel::uniform(wanted.width, retimers + 1, open);
    let latency = Span::from_ns(RETIMER.value as u64);
    with_channel(name, best, channel, vec![Retimer { latency }; retimers], wanted)
}

fn with_channel(
    name: &str,
    best: Generation,
    channel: Channel,
    retimers: Vec<Retimer>,
    wanted: LinkRequest,
) -> LinkConfig {
    let mut config = LinkConfig::new(name, best, channel);
    for port in [&mut config.downstream, &mut config.upstream] {
        (port.l1, port.l0s, port.l1_substates, port.bypass_to_highest) = (true, false, false, false);
    }
    config.retimers = retimers;
    config.adaptation = Adaptation { sigma_mv: ADAPTATION.value, drift_mv_per_k: 0.0, warmer_k: 0.0 };
    config.device.ready = super::host::ms(READY.value);
    config.device.d3hot_to_d0 = super::host::ms(WAKE.value);
    config.device.no_soft_reset = true;
    config.traffic = Traffic { utilisation: wanted.utilisation, tlp_bytes: TLP.value as u32 };
    config
}

/// The eye of a lane in the form that a link needs: height at 1e-12, and height per standard deviation of noise, chosen
/// so that the bit error ratio at the sampling point is also that of the eye.
fn lane(eye: &ReceiverEye) -> LaneEye {
    let noise_mv = 2e3 * eye.sigma_v;
    let sigmas = -lanetwin_stats::normal_quantile(eye.answers.ber);
    let steep = eye.height_v.abs() > STEEP_V && TRUSTED.contains(&eye.answers.ber);
    let slope_mv = 1e3 * eye.height_v / (sigmas - SIGMAS);
    let per_sigma_mv = if steep && slope_mv.is_finite() && slope_mv > noise_mv { slope_mv } else { noise_mv };
    let losses = eye.preset_height_v.map(|height| (1e3 * (eye.height_v - height)).max(0.0));
    LaneEye::new(1e3 * eye.height_v, per_sigma_mv).with_preset_losses(losses)
}

/// The generation of a rate.
fn generation(rate: DataRate) -> Generation {
    let found = Generation::ALL.into_iter().find(|generation| DataRate::from(*generation) == rate);
    found.unwrap_or(Generation::Gen5)
}
