//! Write amplification of greedy garbage collection under uniform random writes, in closed form.
//!
//! Blocks of `b` units; a share ρ of the units in closed blocks is valid. A valid unit is overwritten at the same rate
//! wherever it is, so blocks pass from j valid units to j−1 at a rate proportional to j, and in a steady state as many
//! pass each level: the share of blocks with j valid units is proportional to 1/j, from the level at which GC takes
//! them up to b.
//!
//! | function | block size | source |
//! |---|---|---|
//! | [`fluid`] | infinite | Menon 1995; Bux and Iliadis 2010 §3; Desnoyers 2012 eq. 7; Xiang and Kurkoski 2012: Lambert's W |
//! | [`Greedy`] | finite | Van Houdt 2013, *A mean field model for a class of garbage collection algorithms* §4; Desnoyers 2014 §3.2 |
//!
//! Not here: few blocks (the mean field needs tens of them to a die), hot and cold data, trimmed units (they lower ρ).

/// Parameters of a die for the analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Die {
    /// Units of a block of every plane.
    pub block: u32,
    /// Blocks, without those of an SLC cache.
    pub blocks: u32,
    /// The low watermark \[blocks\].
    pub low: u32,
    /// Open blocks: one for each stream, and one for GC if it has its own.
    pub open: u32,
    /// Units that are overwritten together.
    pub grain: u32,
}

impl Die {
    /// The space that GC keeps \[units\]: the low watermark, half of each open block, and half a victim. On average
    /// this much of a die holds neither data nor collectable garbage.
    #[must_use]
    pub const fn reserve(&self) -> u64 {
        self.block as u64 * (2 * self.low as u64 + self.open as u64 + 1) / 2
    }

    /// The steady state with `units` valid units on the die, all of them outside the space that GC keeps.
    #[must_use]
    pub fn steady_state(&self, units: f64) -> Greedy {
        let all = u64::from(self.blocks) * u64::from(self.block);
        Greedy::new(self.block / self.grain, units / (all - self.reserve()) as f64)
    }
}

/// Write amplification for an infinite block size, ρ in (0, 1): 1 / (1 − α) with α = −ρ W₀(−e^(−1/ρ) / ρ).
#[must_use]
pub fn fluid(utilisation: f64) -> f64 {
    1.0 / (1.0 - fluid_victim(utilisation))
}

/// The share of valid units in a victim, α: (1 − α) / −ln α = ρ.
fn fluid_victim(utilisation: f64) -> f64 {
    let x = 1.0 / utilisation;
    -utilisation * lambert_w0(-x * libm::exp(-x))
}

/// The principal branch of Lambert's W, w eʷ = z, for z in (−1/e, 0].
#[must_use]
pub fn lambert_w0(z: f64) -> f64 {
    // around the branch point −1/e (Corless et al. 1996, eq. 4.22), then Halley's iteration (eq. 5.9)
    let p = libm::sqrt((2.0 * (core::f64::consts::E * z + 1.0)).max(0.0));
    let mut w = -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p;
    for _ in 0..40 {
        let e = libm::exp(w);
        let f = w * e - z;
        let slope = e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0);
        if f == 0.0 || slope == 0.0 || !slope.is_finite() {
            break;
        }
        w -= f / slope;
    }
    w
}

/// The steady state of greedy GC for blocks of a finite size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Greedy {
    /// Units of a block.
    pub block: u32,
    /// The lowest number of valid units of a block.
    pub lowest: u32,
    /// The share of blocks with this number.
    pub at_lowest: f64,
    /// j times the share of blocks with j valid units, above the lowest level.
    pub flow: f64,
}

impl Greedy {
    /// The steady state in which a share `utilisation` in (0, 1) of the units of closed blocks is valid.
    #[must_use]
    pub fn new(block: u32, utilisation: f64) -> Self {
        let b = f64::from(block);
        let mean = utilisation.clamp(1.0 / b, 1.0 - 1e-9) * b;
        // Levels from the top down: with h = H(b) − H(k), at_lowest + flow·h = 1 and k·at_lowest + flow·(b − k) = mean.
        let mut h = 0.0;
        let mut k = block - 1;
        loop {
            h += 1.0 / f64::from(k + 1);
            let kf = f64::from(k);
            let flow = (mean - kf) / (b - kf - kf * h);
            let at_lowest = 1.0 - flow * h;
            let fits = at_lowest >= 0.0 && kf * at_lowest <= flow * (1.0 + 1e-12);
            if fits || k == 0 {
                return Self { block, lowest: k, at_lowest: at_lowest.clamp(0.0, 1.0), flow };
            }
            k -= 1;
        }
    }

    /// The mean number of valid units in a victim.
    #[must_use]
    pub fn victim(&self) -> f64 {
        let k = f64::from(self.lowest);
        // of the blocks that reach the lowest level some are taken there, the others one level below
        let below = (k * self.at_lowest / self.flow).min(1.0);
        k - below
    }

    /// Units programmed for each unit written.
    #[must_use]
    pub fn write_amplification(&self) -> f64 {
        let b = f64::from(self.block);
        b / (b - self.victim())
    }

    /// The share of closed blocks with `valid` valid units.
    #[must_use]
    pub fn share(&self, valid: u32) -> f64 {
        match valid {
            v if v < self.lowest || v > self.block => 0.0,
            v if v == self.lowest => self.at_lowest,
            v => self.flow / f64::from(v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lamberts_w_is_an_inverse() {
        for w in [-0.999, -0.9, -0.5, -0.1, -0.001] {
            assert!((lambert_w0(w * libm::exp(w)) - w).abs() < 1e-6, "{w}");
        }
    }

    #[test]
    fn the_victims_of_the_fluid_satisfy_their_equation() {
        for rho in [0.5, 0.7, 0.8, 0.93, 0.98] {
            let a = fluid_victim(rho);
            assert!(((1.0 - a) / -libm::log(a) - rho).abs() < 1e-9, "{rho}");
        }
    }

    #[test]
    fn large_blocks_are_a_fluid() {
        for rho in [0.6, 0.75, 0.85, 0.93] {
            let finite = Greedy::new(100_000, rho).write_amplification();
            assert!((finite / fluid(rho) - 1.0).abs() < 1e-3, "{rho}: {finite} {}", fluid(rho));
        }
    }

    proptest! {
        #[test]
        fn shares_add_up_and_have_the_mean(block in 4_u32..2000, rho in 0.3_f64..0.97) {
            let greedy = Greedy::new(block, rho);
            let sum: f64 = (0..=block).map(|v| greedy.share(v)).sum();
            let mean: f64 = (0..=block).map(|v| greedy.share(v) * f64::from(v)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-6, "{greedy:?} {sum}");
            prop_assert!((mean - rho * f64::from(block)).abs() < 1e-6 * f64::from(block), "{greedy:?} {mean}");
            prop_assert!(greedy.write_amplification() >= 1.0);
        }
    }
}
