//! Pulse responses after each curve of the CTLE: computed once for a channel, used by the search for every preset.

use super::channel::Channel;
use super::crosstalk::Crosstalk;
use super::ffe::Ffe;
use super::fft::Scratch;
use super::grid::SAMPLES_PER_UI;
use super::interference::Interference;
use super::pulse::Pulse;
use super::pulse_error::PulseError;
use super::receiver::Receiver;
use num_complex::Complex64;

/// A channel as the receiver sees it, after each of its CTLE curves and before any choice.
#[derive(Clone, PartialEq, Debug)]
pub struct Prepared {
    pub(super) waves: Vec<Wave>,
    /// Loss of a redriver's gain by compression \[dB\]; 0 without one.
    pub compression_db: f64,
}

/// The pulse after one curve of the CTLE.
#[derive(Clone, PartialEq, Debug)]
pub struct Wave {
    pub pulse: Pulse,
    /// The same by phase: `columns[phase][number]` is sample `16·number + phase`.
    columns: Vec<Vec<f64>>,
    /// By phase: the sums over cursors of c_k², c_k·c_(k+1) and c_k·c_(k+2), from which follows the power after any
    /// FFE.
    products: Vec<[f64; 3]>,
    pub crosstalk: Vec<Crosstalk>,
    /// Noise of a redriver \[V²\].
    pub redriver_power: f64,
}

/// Sampling time and equalisation of a receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampling<'a> {
    pub ffe: Ffe,
    /// The sample of the main cursor.
    pub at: usize,
    pub dfe_v: &'a [f64],
}

impl Wave {
    pub fn new(pulse: Pulse, crosstalk: Vec<Crosstalk>, redriver_power: f64) -> Self {
        let columns: Vec<Vec<f64>> =
            (0..SAMPLES_PER_UI).map(|phase| pulse.cursors(phase).collect()).collect();
        let products =
            columns.iter().map(|column| [0, 1, 2].map(|lag| circular_product(column, lag))).collect();
        Self { pulse, columns, products, crosstalk, redriver_power }
    }

    /// The pulse after the transmitter's equalisation, at a sample \[V\].
    pub fn equalised(&self, ffe: &Ffe, at: usize) -> f64 {
        let samples = &self.pulse.samples;
        let length = samples.len();
        ffe.before * samples[(at + SAMPLES_PER_UI) % length]
            + ffe.main() * samples[at % length]
            + ffe.after * samples[(at + length - SAMPLES_PER_UI) % length]
    }

    /// The power of all cursors of a phase after the transmitter's equalisation \[V²\].
    pub fn power(&self, ffe: &Ffe, at: usize) -> f64 {
        let [own, next, second] = self.products[at % SAMPLES_PER_UI];
        let (a, b, c) = (ffe.before, ffe.main(), ffe.after);
        (a * a + b * b + c * c) * own + 2.0 * (a * b + b * c) * next + 2.0 * a * c * second
    }

    /// Power of all neighbours \[V²\].
    pub fn crosstalk_power(&self) -> f64 {
        self.crosstalk.iter().map(|neighbour| neighbour.power).sum()
    }

    /// Calls `with` for every cursor of this lane but the main one, after FFE and DFE \[V\].
    fn each_cursor(&self, sampling: &Sampling, mut with: impl FnMut(f64)) {
        let column = &self.columns[sampling.at % SAMPLES_PER_UI];
        let (ffe, count) = (&sampling.ffe, column.len());
        let main = sampling.at / SAMPLES_PER_UI % count;
        let (a, b, c) = (ffe.before, ffe.main(), ffe.after);
        let first_after = main + 1 + sampling.dfe_v.len();
        let plain = |index: usize| {
            a * column[(index + 1) % count] + b * column[index] + c * column[(index + count - 1) % count]
        };
        with(plain(0));
        for (index, three) in column.windows(3).enumerate() {
            // the main cursor and those that the DFE sees are not plain
            if index + 1 < main || index + 1 >= first_after {
                with(a * three[2] + b * three[1] + c * three[0]);
            }
        }
        with(plain(count - 1));
        for (number, tap) in sampling.dfe_v.iter().enumerate() {
            with(plain(main + 1 + number) - tap);
        }
    }

    /// Some cursors a UI apart, the first at sample `at` \[V\]. The record must not end among them.
    pub fn fill(&self, ffe: &Ffe, at: usize, cursors: &mut [f64]) {
        let first = at / SAMPLES_PER_UI - 1;
        let column = &self.columns[at % SAMPLES_PER_UI][first..];
        let (a, b, c) = (ffe.before, ffe.main(), ffe.after);
        for (cursor, three) in cursors.iter_mut().zip(column.windows(3)) {
            *cursor = a * three[2] + b * three[1] + c * three[0];
        }
    }

    /// The disturbance of a bit, with noise of this standard deviation \[V\].
    pub fn interference(&self, sampling: &Sampling, sigma_v: f64) -> Interference {
        let mut cursors_v = Vec::with_capacity(self.columns[0].len() * (1 + self.crosstalk.len()));
        self.each_cursor(sampling, |cursor| cursors_v.push(cursor));
        cursors_v.extend(self.crosstalk.iter().flat_map(|neighbour| &neighbour.cursors));
        Interference { main_v: self.equalised(&sampling.ffe, sampling.at), cursors_v, sigma_v }
    }
}

fn circular_product(column: &[f64], lag: usize) -> f64 {
    let (head, tail) = column.split_at(lag);
    column.iter().zip(tail.iter().chain(head)).map(|(a, b)| a * b).sum()
}

impl Receiver {
    /// The pulse responses of a channel, with all data for a search.
    ///
    /// # Errors
    ///
    /// If a transfer function is invalid, ends below the Nyquist frequency, or transmits no signal.
    pub fn prepare(&self, channel: &Channel) -> Result<Prepared, PulseError> {
        prepare(self, channel)
    }
}

/// Computes all data of a channel for a search.
fn prepare(receiver: &Receiver, channel: &Channel) -> Result<Prepared, PulseError> {
    let mut bench = Bench { receiver, scratch: Scratch::default(), spectrum: Vec::new() };
    let mut through = receiver.grid.sample(&channel.through)?;
    let mut noise_path = Vec::new();
    let mut compression = 1.0;
    if let Some((redriver, after)) = &channel.redriver {
        let curve = redriver.curve();
        let stage: Vec<Complex64> =
            (0..through.len()).map(|bin| curve.at(receiver.grid.frequency(bin))).collect();
        let arriving = multiply(&through, &stage);
        let highest = Pulse::aligned(&bench.record(&arriving, None), receiver.grid.ui_s)?.highest();
        compression = redriver.compression(highest);
        noise_path = multiply(&stage, &receiver.grid.sample(after)?);
        noise_path.iter_mut().for_each(|value| *value *= compression);
        through = multiply(&through, &noise_path);
    }
    let neighbours: Vec<Vec<Complex64>> =
        channel.aggressors.iter().map(|a| receiver.grid.sample(&a.transfer)).collect::<Result<_, _>>()?;
    let mut waves = Vec::with_capacity(receiver.curves.len());
    for (number, curve) in receiver.curves.iter().enumerate() {
        let pulse = Pulse::aligned(&bench.record(&through, Some(number)), receiver.grid.ui_s)?;
        let crosstalk = neighbours
            .iter()
            .zip(&channel.aggressors)
            .map(|(transfer, aggressor)| Crosstalk::of(&bench.record(transfer, Some(number)), aggressor))
            .collect();
        let redriver_power = channel.redriver.as_ref().map_or(0.0, |(redriver, _)| {
            let bins = receiver.grid.frequency(1);
            let inside = |&bin: &usize| receiver.grid.frequency(bin) < redriver.bandwidth_hz;
            let power = |bin: usize| (noise_path[bin] * curve.response[bin]).norm_sqr();
            let passed = (0..noise_path.len()).take_while(inside).map(power).sum::<f64>() * bins;
            redriver.noise_v * redriver.noise_v * passed / redriver.bandwidth_hz
        });
        waves.push(Wave::new(pulse, crosstalk, redriver_power));
    }
    Ok(Prepared { waves, compression_db: 20.0 * libm::log10(compression) })
}

fn multiply(a: &[Complex64], b: &[Complex64]) -> Vec<Complex64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// Memory for one transform after the other.
struct Bench<'a> {
    receiver: &'a Receiver,
    scratch: Scratch,
    spectrum: Vec<Complex64>,
}

impl Bench<'_> {
    /// The received signal of one bit through a channel and, if given, a curve of the CTLE \[V\].
    fn record(&mut self, transfer: &[Complex64], curve: Option<usize>) -> Vec<f64> {
        let driven = transfer.iter().zip(&self.receiver.drive).map(|(value, drive)| value * drive);
        self.spectrum.clear();
        match curve {
            None => self.spectrum.extend(driven),
            Some(number) => {
                let response = &self.receiver.curves[number].response;
                self.spectrum.extend(driven.zip(response).map(|(value, response)| value * response));
            }
        }
        let mut record = Vec::with_capacity(self.receiver.inverse.length());
        self.receiver.inverse.real(&self.spectrum, &mut self.scratch, &mut record);
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave() -> Wave {
        let samples: Vec<f64> = (0..64 * SAMPLES_PER_UI)
            .map(|index| {
                let x = (index as f64 - 33.0 * 16.0) / 16.0;
                libm::exp(-x * x) + 0.01 * libm::cos(0.1 * index as f64)
            })
            .collect();
        Wave::new(Pulse { samples, ui_s: 1e-12, inverted: false }, Vec::new(), 0.0)
    }

    #[test]
    fn power_by_products_is_the_power_of_the_cursors() {
        let wave = wave();
        for ffe in super::super::ffe::PRESETS {
            for at in [500, 512, 527, 530] {
                let found = wave.interference(&Sampling { ffe, at, dfe_v: &[] }, 1.0);
                let squares =
                    found.cursors_v.iter().map(|c| c * c).sum::<f64>() + found.main_v * found.main_v;
                assert_eq!(found.cursors_v.len(), 63);
                assert!((wave.power(&ffe, at) / squares - 1.0).abs() < 1e-12, "{ffe:?} {at}");
            }
        }
    }

    #[test]
    fn cursors_by_the_column_are_those_by_the_sample() {
        let (wave, ffe) = (wave(), super::super::ffe::PRESETS[8]);
        let mut found = [0.0; 5];
        wave.fill(&ffe, 507, &mut found);
        for (number, cursor) in found.iter().enumerate() {
            assert_eq!(*cursor, wave.equalised(&ffe, 507 + 16 * number));
        }
    }

    #[test]
    fn the_dfe_takes_from_the_cursors_after_the_main_one_and_from_no_other() {
        let (wave, ffe, at) = (wave(), super::super::ffe::PRESETS[7], 33 * 16);
        let plain = wave.interference(&Sampling { ffe, at, dfe_v: &[] }, 1.0);
        let (first, second) = (wave.equalised(&ffe, at + 16), wave.equalised(&ffe, at + 32));
        let adapted = wave.interference(&Sampling { ffe, at, dfe_v: &[first, second] }, 1.0);
        let mut expected = plain.cursors_v.clone();
        let mut found = adapted.cursors_v;
        for cursor in [first, second] {
            let place = expected.iter().position(|c| (c - cursor).abs() < 1e-15).unwrap();
            expected[place] = 0.0;
        }
        expected.sort_by(f64::total_cmp);
        found.sort_by(f64::total_cmp);
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-15);
        }
        assert_eq!(adapted.main_v, plain.main_v);
    }
}
