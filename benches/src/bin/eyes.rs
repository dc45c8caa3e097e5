//! How many channels a second: every preset, every curve of the CTLE, the DFE that fits, three full eyes, without
//! neighbours.
//!
//! `cargo run --release -p lanetwin-benches --bin eyes` prints, with one thread and with two, channels per second of
//! wall-clock time and per CPU-second, and where the CPU time of one thread goes. On a busy machine only the CPU times
//! mean something. The channels are lines of 20 dB to 42 dB at 16 GHz with echoes; making them is not measured.

#[path = "../clock.rs"]
#[allow(dead_code, reason = "the other binary uses all of it")]
mod clock;

use clock::{cpu_seconds, median};
use lanetwin_phy::Transfer;
use lanetwin_phy::eye::{Channel, Constants, Receiver, Search};
use lanetwin_units::Generation;
use num_complex::Complex64;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const CHANNELS: usize = 200;
const ROUNDS: usize = 5;
const STEP_HZ: f64 = 10e6;
const POINTS: usize = 4001;

fn main() {
    let receiver = Receiver::new(Generation::Gen5, &Constants::built_in()).expect("Gen5 has an equaliser");
    let channels: Vec<Channel> = (0..CHANNELS).map(|number| Channel::new(line(number))).collect();
    for threads in [1, 2] {
        let (wall, cpu): (Vec<f64>, Vec<f64>) =
            (0..ROUNDS).map(|_| rates(&receiver, &channels, threads)).unzip();
        for (rates, what) in [(wall, "s"), (cpu, "CPU-second")] {
            let (median, least, most) = median(rates);
            println!(
                "{threads} threads: {median:.0} channels per {what} [{least:.0} .. {most:.0}] of {ROUNDS} rounds"
            );
        }
    }
    let [pulses, triage, eye] = stages(&receiver, &channels);
    println!("one channel, CPU ms: {pulses:.2} pulses, {triage:.2} triage, {eye:.2} for each full eye");
}

/// A lossy line with an echo.
fn line(number: usize) -> Transfer {
    let loss = 20.0 + 22.0 * number as f64 / CHANNELS as f64;
    let at = |index: usize| {
        let f = index as f64 * STEP_HZ;
        let share = f / 16e9;
        let nepers = loss / 8.686 * (0.4 * share.sqrt() + 0.6 * share);
        let (sine, cosine) =
            libm::sincos(-std::f64::consts::TAU * f * 4e-9 - 0.4 * loss / 8.686 * share.sqrt());
        let (echo_sine, echo_cosine) = libm::sincos(-std::f64::consts::TAU * f * 0.6e-9);
        let echo = Complex64::new(1.0 + 0.03 * echo_cosine, 0.03 * echo_sine);
        Complex64::new(cosine, sine) * libm::exp(-nepers) * echo
    };
    Transfer { step_hz: STEP_HZ, h: (0..POINTS).map(at).collect() }
}

/// Channels judged in a second of wall-clock time and in a CPU-second.
fn rates(receiver: &Receiver, channels: &[Channel], threads: usize) -> (f64, f64) {
    let next = AtomicUsize::new(0);
    let search = Search::default();
    let stress = receiver.stress();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(channel) = channels.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let prepared = receiver.prepare(channel).expect("the line is a channel");
                    std::hint::black_box(receiver.search(&prepared, &stress, &search).ber);
                }
            });
        }
    });
    let count = channels.len() as f64;
    (count / start.elapsed().as_secs_f64(), count / (cpu_seconds() - cpu))
}

/// Mean CPU times on one thread \[ms\]: pulses, triage, a full eye.
fn stages(receiver: &Receiver, channels: &[Channel]) -> [f64; 3] {
    let stress = receiver.stress();
    let milliseconds = |start: f64| (cpu_seconds() - start) * 1e3 / channels.len() as f64;
    let start = cpu_seconds();
    let prepared: Vec<_> =
        channels.iter().map(|channel| receiver.prepare(channel).expect("a channel")).collect();
    let pulses = milliseconds(start);
    let eyes = |full_eyes| {
        let search = Search { full_eyes, ..Search::default() };
        let start = cpu_seconds();
        for channel in &prepared {
            std::hint::black_box(receiver.search(channel, &stress, &search).ber);
        }
        milliseconds(start)
    };
    let (one, five) = (eyes(1), eyes(5));
    let eye = (five - one) / 4.0;
    [pulses, one - eye, eye]
}
