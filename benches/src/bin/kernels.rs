//! How fast applications make their steps: addresses alone, no host that runs them.
//!
//! `cargo run --release -p lanetwin-benches --bin kernels` prints, for each application, steps per CPU-second, the CPU
//! time of building its program, and the peak of memory up to then. An argument is the number of steps, in millions.

#[path = "../clock.rs"]
mod clock;

use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_load::memory::kernels::graph500::Graph500;
use lanetwin_load::memory::kernels::kv::{KeyValue, Popularity, ValueSize};
use lanetwin_load::memory::kernels::npb::Class;
use lanetwin_load::memory::kernels::{Kernel, Window};

const ROUNDS: usize = 5;
const THREADS: u32 = 64;
const STRETCHES: u32 = 20;

fn main() {
    let millions = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let store = KeyValue { keys: 100_000_000, ..KeyValue::default() };
    let long =
        KeyValue { values: ValueSize::Fixed(1024), popularity: Popularity::Zipf { theta: 0.99 }, ..store };
    let cases = [
        ("mg, class E", Kernel::mg(Class::E), THREADS),
        ("cg, class E, drawn rows", Kernel::cg(Class::E), THREADS),
        ("cg, class B, kept rows", Kernel::cg(Class::B), THREADS),
        ("graph500, scale 29, expected", Kernel::Graph500(Graph500::of_scale(29)), THREADS),
        ("graph500, scale 18, searched", Kernel::Graph500(Graph500::of_scale(18)), THREADS),
        ("store, 32 B, even", Kernel::KeyValue(store), 1),
        ("store, 1 KiB, zipf", Kernel::KeyValue(long), 1),
    ];
    for (name, kernel, threads) in cases {
        measure(name, kernel, threads, millions * 1_000_000);
    }
}

/// Steps of all threads in turn, in five rounds with another seed each.
fn measure(name: &str, kernel: Kernel, threads: u32, steps: u64) {
    let each = steps / u64::from(STRETCHES) / u64::from(threads);
    let window = Window::Stretches { count: STRETCHES, steps: each.max(1) };
    let (mut rates, mut built) = (Vec::new(), Vec::new());
    for seed in 0..ROUNDS as u64 {
        let start = cpu_seconds();
        let mut program = kernel.program(threads, window, seed).expect("the kernel has no mistakes");
        built.push(cpu_seconds() - start);
        for thread in 0..threads {
            (0..program.warm_up()).for_each(|_| _ = program.next(thread));
        }
        let start = cpu_seconds();
        let (mut made, mut sum) = (0_u64, 0_u64);
        let mut busy = true;
        while busy {
            busy = false;
            for thread in 0..threads {
                if let Some(step) = program.next(thread) {
                    sum = sum.wrapping_add(step.address);
                    made += 1;
                    busy = true;
                }
            }
        }
        std::hint::black_box(sum);
        rates.push(made as f64 / (cpu_seconds() - start) / 1e6);
    }
    let (rate, least, most) = median(rates);
    let (build, ..) = median(built);
    println!(
        "{name}: {rate:.1} M steps per CPU-second [{least:.1} .. {most:.1}] of {ROUNDS} rounds, built in {build:.2} s, peak {:.0} MB",
        peak_rss_mb()
    );
}
