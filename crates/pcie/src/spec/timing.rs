//! How long things may take: acknowledgement, replay, SKP ordered sets, credit updates.
//!
//! ```text
//!  ACK latency limit = (MPS + 28) · AckFactor / width + InternalDelay          [symbol times]
//!  replay timer      = 3 · ACK latency limit
//! ```
//!
//! AckFactor is not monotonic in MPS: a larger MPS can have a *shorter* limit (Gen3 x8: 203 at 256 B, 182 at 512 B).
//!
//! A symbol time here is the time of ten bits at 8b/10b and of eight at 128b/130b, on one lane: 4, 2, 1, 0.5, 0.25 ns.
//! A byte of a packet takes 130/128 of that at 128b/130b ([`Generation::symbol`]), for the sync headers are paid by
//! all.

use super::constants::*;
use super::size::Mps;
use super::tlp::{AddressWidth, Format, TlpKind};
use lanetwin_units::{Generation, LinkRate, Span, TICKS_PER_PS, Ticks, Width};

/// The time that the standard counts in: 4, 2, 1, 0.5, 0.25 ns from Gen1 to Gen5.
#[must_use]
pub const fn symbol_time(generation: Generation) -> Ticks {
    let bits = if generation.is_8b10b() { 10 } else { 8 };
    Ticks(bits * 1_000_000 * TICKS_PER_PS / generation.megatransfers())
}

/// The longest that a receiver may wait before it acknowledges a TLP \[symbol times\].
///
/// InternalDelay from Gen4 on is that of Gen3.
#[must_use]
pub const fn ack_latency_limit_symbols(generation: Generation, width: Width, mps: Mps) -> u64 {
    let delay = match generation {
        Generation::Gen1 => ACK_INTERNAL_DELAY_GEN1_SYMBOLS,
        Generation::Gen2 => ACK_INTERNAL_DELAY_GEN2_SYMBOLS,
        _ => ACK_INTERNAL_DELAY_GEN3_SYMBOLS,
    };
    let tlp = mps.bytes() as u64 + ACK_TLP_OVERHEAD_SYMBOLS;
    tlp * ack_factor_tenths(width, mps) / (10 * width.lanes()) + delay
}

/// AckFactor: how many TLPs' time an acknowledgement may take, in tenths.
const fn ack_factor_tenths(width: Width, mps: Mps) -> u64 {
    match (mps.bytes() <= 256, width) {
        (true, Width::X1 | Width::X2 | Width::X4) => ACK_FACTOR_SMALL_X4_TENTHS,
        (true, Width::X8) => ACK_FACTOR_SMALL_X8_TENTHS,
        (true, Width::X12 | Width::X16 | Width::X32) => ACK_FACTOR_SMALL_X32_TENTHS,
        (false, Width::X1 | Width::X2 | Width::X4 | Width::X8) => ACK_FACTOR_LARGE_X8_TENTHS,
        (false, Width::X12) => ACK_FACTOR_LARGE_X12_TENTHS,
        (false, Width::X16 | Width::X32) => ACK_FACTOR_LARGE_X32_TENTHS,
    }
}

/// The longest that a receiver may wait before it acknowledges a TLP.
#[must_use]
pub const fn ack_latency_limit(generation: Generation, width: Width, mps: Mps) -> Ticks {
    Ticks(ack_latency_limit_symbols(generation, width, mps) * symbol_time(generation).0)
}

/// How many back-to-back writes of full MPS one Ack can acknowledge: those that fit in the ACK latency limit, at least
/// 1.
///
/// The write counted is one with a 64-bit address and no ECRC: MPS + 24 B on the wire.
#[must_use]
pub const fn ack_coalescing(generation: Generation, width: Width, mps: Mps) -> u64 {
    let wire = full_write_bytes(generation, mps);
    let fit = LinkRate::pcie(generation, width).bytes_in(ack_latency_limit(generation, width, mps)) / wire;
    if fit == 0 { 1 } else { fit }
}

/// The longest that a receiver under load waits before it returns credits: pcie-model uses the ACK latency limits.
#[must_use]
pub const fn update_fc_latency_limit(generation: Generation, width: Width, mps: Mps) -> Ticks {
    ack_latency_limit(generation, width, mps)
}

/// How many back-to-back writes of full MPS one UpdateFC can return the credits of, at least 1.
#[must_use]
pub const fn update_fc_coalescing(generation: Generation, width: Width, mps: Mps) -> u64 {
    let wire = full_write_bytes(generation, mps);
    let limit = update_fc_latency_limit(generation, width, mps);
    let fit = LinkRate::pcie(generation, width).bytes_in(limit) / wire;
    if fit == 0 { 1 } else { fit }
}

/// A write of full MPS to a 64-bit address \[B on the wire\].
pub(super) const fn full_write_bytes(generation: Generation, mps: Mps) -> u64 {
    Format::new(TlpKind::MWr, AddressWidth::Bits64).wire_bytes(generation, mps.dwords()) as u64
}

/// How long a sender waits for an acknowledgement before it sends again: 3 ACK latency limits.
#[must_use]
pub const fn replay_timer(generation: Generation, width: Width, mps: Mps) -> Ticks {
    Ticks(REPLAY_TIMER_ACK_LIMITS * ack_latency_limit(generation, width, mps).0)
}

/// The simplified replay timer that newer devices may use instead: its shortest and longest setting.
#[must_use]
pub const fn replay_timer_simplified(generation: Generation) -> (Ticks, Ticks) {
    let symbol = symbol_time(generation).0;
    (Ticks(REPLAY_TIMER_SIMPLIFIED_MIN_SYMBOLS * symbol), Ticks(REPLAY_TIMER_SIMPLIFIED_MAX_SYMBOLS * symbol))
}

/// The longest time between two UpdateFC of a class, traffic or not.
#[must_use]
pub const fn update_fc_period() -> Span {
    Span::from_us(UPDATE_FC_PERIOD_MAX_US)
}

/// The longest time between two InitFC of a class.
#[must_use]
pub const fn init_fc_period() -> Span {
    Span::from_us(INIT_FC_PERIOD_MAX_US)
}

/// How the two ends of a link get their reference clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Clocking {
    /// One clock for both.
    Common,
    /// Separate Reference clocks with No Spread spectrum: SKP as often as with a common clock.
    Srns,
    /// Separate Reference clocks with Independent Spread spectrum: SKP ten times as often.
    Sris,
}

impl Clocking {
    /// The three ways.
    pub const ALL: [Self; 3] = [Self::Common, Self::Srns, Self::Sris];
}

/// When SKP ordered sets are sent, and how long each is: counted on one lane, for all lanes send them together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SkpSchedule {
    /// The shortest time from the start of one to the start of the next \[symbols\].
    pub period_min_symbols: u64,
    /// The longest time from the start of one to the start of the next \[symbols\].
    pub period_max_symbols: u64,
    /// The length of one \[symbols\].
    pub length_symbols: u64,
    /// The time of a symbol, with its share of the sync header.
    symbol: Ticks,
}

impl SkpSchedule {
    /// The schedule of a link.
    ///
    /// With independent spread spectrum only the longest period is limited; a link that keeps to it sends as late as it
    /// may, so both limits are the same.
    #[must_use]
    pub const fn new(generation: Generation, clocking: Clocking) -> Self {
        let sris = matches!(clocking, Clocking::Sris);
        let (min, max, length, unit) = match (generation.is_8b10b(), sris) {
            (true, false) => (SKP_8B10B_MIN_SYMBOLS, SKP_8B10B_MAX_SYMBOLS, SKP_8B10B_LENGTH_SYMBOLS, 1),
            (true, true) => (SKP_8B10B_SRIS_SYMBOLS, SKP_8B10B_SRIS_SYMBOLS, SKP_8B10B_LENGTH_SYMBOLS, 1),
            (false, false) => {
                (SKP_128B130B_MIN_BLOCKS, SKP_128B130B_MAX_BLOCKS, SKP_128B130B_LENGTH_BLOCKS, BLOCK_SYMBOLS)
            }
            (false, true) => (
                SKP_128B130B_SRIS_BLOCKS,
                SKP_128B130B_SRIS_BLOCKS,
                SKP_128B130B_LENGTH_BLOCKS,
                BLOCK_SYMBOLS,
            ),
        };
        Self {
            period_min_symbols: min * unit,
            period_max_symbols: max * unit,
            length_symbols: length * unit,
            symbol: generation.symbol(),
        }
    }
    /// The time from the start of one to the start of the next: the shortest allowed, so that a link is never modelled
    /// faster than it may be.
    #[must_use]
    pub const fn period(&self) -> Ticks {
        Ticks(self.period_min_symbols * self.symbol.0)
    }
    /// The time that one takes.
    #[must_use]
    pub const fn length(&self) -> Ticks {
        Ticks(self.length_symbols * self.symbol.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_times_are_the_standards() {
        let ps = Generation::ALL.map(|generation| symbol_time(generation).0 / TICKS_PER_PS);
        assert_eq!(ps, [4000, 2000, 1000, 500, 250]);
    }

    #[test]
    fn newer_generations_have_the_symbols_of_gen3_in_less_time() {
        let limit = |generation| ack_latency_limit(generation, Width::X4, Mps::from_bytes(256).unwrap());
        assert_eq!(limit(Generation::Gen3), Span::from_ns(214).as_ticks());
        assert_eq!(limit(Generation::Gen4), Span::from_ns(107).as_ticks());
        assert_eq!(limit(Generation::Gen5).0 * 4, limit(Generation::Gen3).0);
        let timer = replay_timer(Generation::Gen3, Width::X4, Mps::from_bytes(256).unwrap());
        assert_eq!(timer, Span::from_ns(642).as_ticks());
    }

    /// By hand: Gen3 x8, MPS 256: 203 ns hold 203 · 8 · 128/130 = 1599 B, and a write is 280 B.
    #[test]
    fn one_ack_covers_the_writes_that_fit_in_its_limit() {
        assert_eq!(ack_coalescing(Generation::Gen3, Width::X8, Mps::from_bytes(256).unwrap()), 5);
        for generation in Generation::ALL {
            for (width, mps) in Width::ALL.into_iter().flat_map(|width| Mps::ALL.map(|mps| (width, mps))) {
                let n = ack_coalescing(generation, width, mps);
                let writes =
                    |n| LinkRate::pcie(generation, width).ticks_for(n * (u64::from(mps.bytes()) + 24));
                let limit = ack_latency_limit(generation, width, mps);
                assert!(
                    n >= 1 && (n == 1 || writes(n) <= limit) && writes(n + 1) > limit,
                    "{generation} {width}"
                );
                assert_eq!(update_fc_coalescing(generation, width, mps), n);
            }
        }
    }

    /// Published overheads: 4/1180 = 0.34 % at 8b/10b, 1/370 = 0.27 % at 128b/130b, ten times that with SRIS.
    #[test]
    fn skp_takes_its_published_share() {
        let share_ppm = |generation, clocking| {
            let skp = SkpSchedule::new(generation, clocking);
            assert!(skp.period_min_symbols <= skp.period_max_symbols);
            skp.length().0 * 1_000_000 / skp.period().0
        };
        for generation in Generation::ALL {
            let (common, sris) = if generation.is_8b10b() { (3_389, 25_974) } else { (2_702, 27_027) };
            assert_eq!(share_ppm(generation, Clocking::Common), common);
            assert_eq!(share_ppm(generation, Clocking::Srns), common);
            assert_eq!(share_ppm(generation, Clocking::Sris), sris);
        }
    }

    /// 370 blocks of 130 bits at 8 GT/s are 6012.5 ns; 1180 symbols of 10 bits at 2.5 GT/s are 4720 ns.
    #[test]
    fn the_time_between_skps_includes_the_sync_headers() {
        let period = |generation| SkpSchedule::new(generation, Clocking::Common).period();
        assert_eq!(period(Generation::Gen3), Span::from_ps(6_012_500).as_ticks());
        assert_eq!(period(Generation::Gen1), Span::from_ns(4_720).as_ticks());
        let skp = SkpSchedule::new(Generation::Gen3, Clocking::Common);
        assert_eq!(skp.length(), Span::from_ps(130 * 125).as_ticks());
    }

    #[test]
    fn the_periods_of_credit_updates() {
        assert_eq!(update_fc_period(), Span::from_us(30));
        assert_eq!(init_fc_period(), Span::from_us(34));
        let (min, max) = replay_timer_simplified(Generation::Gen1);
        assert_eq!((min, max), (Span::from_us(96).as_ticks(), Span::from_us(124).as_ticks()));
    }
}
