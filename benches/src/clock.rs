//! CPU time and memory of this process.

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds that this process has used.
pub fn cpu_seconds() -> f64 {
    let t = clock_gettime(ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The most memory that this process has held \[MB\].
pub fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let kib: f64 = line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok()).unwrap_or(f64::NAN);
    kib * 1024.0 / 1e6
}

/// The median of some rates, with the least and the most.
pub fn median(mut rates: Vec<f64>) -> (f64, f64, f64) {
    rates.sort_by(f64::total_cmp);
    (rates[rates.len() / 2], rates[0], rates[rates.len() - 1])
}
