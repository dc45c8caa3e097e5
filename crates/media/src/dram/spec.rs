//! Timing tables: minimum distances between commands as JEDEC specifies them, by speed bin, width and density of the
//! chips.
//!
//! Times are counted in clocks of the command bus; there are two data transfers per clock. A clock is an exact
//! fraction of a nanosecond ([`Clock`]): 4800 MT/s is 1250/3 ps. Analogue limits are rounded up to clocks of that
//! period.
//!
//! Sources: JESD79-4 (DDR4) and JESD79-5 (DDR5), tables of speed bins, of timing parameters by speed grade, and of
//! refresh parameters by density. The standards were not available when this was written, so that **every figure is
//! assumed** in the sense of `docs/dram.md`: from memory of the standard, and compared with the tables of Ramulator
//! 2.1 (`ddr4.py`, `ddr5.py`) as far as those have it. That page lists the differences.

use super::clock::Clock;

/// A speed bin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Speed {
    /// DDR4-2400T: 17-17-17.
    Ddr4_2400,
    /// DDR4-2666V: 19-19-19.
    Ddr4_2666,
    /// DDR4-3200AA: 22-22-22.
    Ddr4_3200,
    /// DDR5-4800B: 40-39-39.
    Ddr5_4800,
    /// DDR5-5600B: 46-45-45.
    Ddr5_5600,
    /// DDR5-6400B: 52-52-52.
    Ddr5_6400,
}

/// Number of data pins of a chip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// 4.
    X4,
    /// 8.
    X8,
    /// 16.
    X16,
}

/// Capacity of a chip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Density {
    /// 8 Gbit.
    Gb8,
    /// 16 Gbit.
    Gb16,
    /// 24 Gbit (DDR5).
    Gb24,
    /// 32 Gbit (DDR5).
    Gb32,
}

impl Speed {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ddr4_2400,
        Self::Ddr4_2666,
        Self::Ddr4_3200,
        Self::Ddr5_4800,
        Self::Ddr5_5600,
        Self::Ddr5_6400,
    ];

    /// Whether it is DDR5.
    #[must_use]
    pub const fn is_ddr5(self) -> bool {
        matches!(self, Self::Ddr5_4800 | Self::Ddr5_5600 | Self::Ddr5_6400)
    }
    /// Independent data buses of a channel of 64 bits: DDR5 has two sub-channels of 32 bits.
    #[must_use]
    pub const fn sub_channels(self) -> u32 {
        if self.is_ddr5() { 2 } else { 1 }
    }
    /// The period of the command clock.
    #[must_use]
    pub const fn clock(self) -> Clock {
        match self {
            Self::Ddr4_2400 => Clock::new(2500, 3),
            Self::Ddr4_2666 => Clock::new(750, 1),
            Self::Ddr4_3200 => Clock::new(625, 1),
            Self::Ddr5_4800 => Clock::new(1250, 3),
            Self::Ddr5_5600 => Clock::new(2500, 7),
            Self::Ddr5_6400 => Clock::new(625, 2),
        }
    }
    /// CL, tRCD, tRP and CWL \[clocks\].
    const fn bin(self) -> [u64; 4] {
        match self {
            Self::Ddr4_2400 => [17, 17, 17, 12],
            Self::Ddr4_2666 => [19, 19, 19, 14],
            Self::Ddr4_3200 => [22, 22, 22, 16],
            Self::Ddr5_4800 => [40, 39, 39, 38],
            Self::Ddr5_5600 => [46, 45, 45, 44],
            Self::Ddr5_6400 => [52, 52, 52, 50],
        }
    }
    /// tRRD_S, tRRD_L and tFAW of DDR4, which depend on the width and the bin: least clocks, and picoseconds.
    const fn ddr4_activates(self, width: Width) -> [(u64, u64); 3] {
        let (short, long, window) = match (width, self) {
            (Width::X16, _) => (5_300, 6_400, 30_000),
            (Width::X8, Self::Ddr4_2400) => (3_300, 4_900, 21_000),
            (Width::X8, Self::Ddr4_2666) => (3_000, 4_900, 21_000),
            (Width::X8, _) => (2_500, 4_900, 21_000),
            (Width::X4, Self::Ddr4_2400) => (3_300, 4_900, 13_000),
            (Width::X4, Self::Ddr4_2666) => (3_000, 4_900, 12_000),
            (Width::X4, _) => (2_500, 4_900, 10_000),
        };
        let clocks = match width {
            Width::X4 => 16,
            Width::X8 => 20,
            Width::X16 => 28,
        };
        [(4, short), (4, long), (clocks, window)]
    }
}

/// Minimum distances between commands \[clocks\]; names as in the standards.
///
/// A DDR5 command with an address takes two clocks of the command bus; times count from the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub struct Timings {
    pub clock: Clock,
    /// Clocks for which 64 B occupy the data bus: half the burst length.
    pub burst: u64,
    /// Clocks of the command bus that ACT, RD and WR take.
    pub command: u64,
    pub cl: u64,
    pub cwl: u64,
    pub rcd: u64,
    pub rp: u64,
    pub ras: u64,
    pub rc: u64,
    pub rrd_s: u64,
    pub rrd_l: u64,
    pub faw: u64,
    pub ccd_s: u64,
    pub ccd_l: u64,
    /// tCCD_L_WR: write to write in a bank group; DDR5 specifies more for it than for reads.
    pub ccd_l_wr: u64,
    pub wr: u64,
    pub wtr_s: u64,
    pub wtr_l: u64,
    pub rtp: u64,
    /// From the last beat of a read to the first of a write.
    pub rtw: u64,
    /// Between bursts of different ranks (tRTRS).
    pub rtrs: u64,
    /// tPPD: precharge to precharge in a rank.
    pub ppd: u64,
    pub rfc: u64,
    pub refi: u64,
    /// tRFCsb: a refresh of one bank of every bank group (DDR5).
    pub rfc_sb: u64,
    /// Between such refreshes of a rank: tREFI2 / banks of a group.
    pub refi_sb: u64,
    /// tREFSBRD: from such a refresh to an activate of another bank.
    pub refsb_rd: u64,
}

impl Timings {
    /// The table of a speed bin for chips of this width and density, each rank with `banks` banks in a group.
    ///
    /// DDR4 has neither same-bank refresh nor densities above 16 Gbit; their entries must not be used
    /// ([`Config::mistakes`](super::Config::mistakes)).
    #[must_use]
    pub const fn of(speed: Speed, width: Width, density: Density, banks: u64) -> Self {
        if speed.is_ddr5() {
            Self::of_ddr5(speed, width, density, banks)
        } else {
            Self::of_ddr4(speed, width, density)
        }
    }
    const fn of_ddr5(speed: Speed, width: Width, density: Density, banks: u64) -> Self {
        let clock = speed.clock();
        let [cl, rcd, rp, cwl] = speed.bin();
        let ras = clock.at_least(32_000);
        // an activate of an x16 chip opens a page of 2 KiB and needs more
        let window = if matches!(width, Width::X16) { 40 } else { 32 };
        // an x4 chip has half a word of its internal ECC in a burst, and reads the rest before it writes
        let write_gap = match width {
            Width::X4 => most(32, clock.at_least(20_000)),
            Width::X8 | Width::X16 => most(16, clock.at_least(10_000)),
        };
        let (rfc, rfc_sb) = match density {
            Density::Gb8 => (195_000, 115_000),
            Density::Gb16 => (295_000, 130_000),
            Density::Gb24 | Density::Gb32 => (410_000, 190_000),
        };
        Self {
            clock,
            burst: 8,
            command: 2,
            cl,
            cwl,
            rcd,
            rp,
            ras,
            rc: ras + rp,
            rrd_s: 8,
            rrd_l: most(8, clock.at_least(5_000)),
            faw: window,
            ccd_s: 8,
            ccd_l: most(8, clock.at_least(5_000)),
            ccd_l_wr: write_gap,
            wr: clock.at_least(30_000),
            wtr_s: most(4, clock.at_least(2_500)),
            wtr_l: most(16, clock.at_least(10_000)),
            rtp: most(12, clock.at_least(7_500)),
            rtw: 2,
            rtrs: 2,
            ppd: 2,
            rfc: clock.at_least(rfc),
            refi: clock.at_most(3_900_000),
            rfc_sb: clock.at_least(rfc_sb),
            refi_sb: clock.at_most(1_950_000) / if banks == 0 { 1 } else { banks },
            refsb_rd: clock.at_least(30_000),
        }
    }
    const fn of_ddr4(speed: Speed, width: Width, density: Density) -> Self {
        let clock = speed.clock();
        let [cl, rcd, rp, cwl] = speed.bin();
        let ras = clock.at_least(32_000);
        let activates = speed.ddr4_activates(width);
        let rfc = match density {
            Density::Gb8 => 350_000,
            _ => 550_000,
        };
        Self {
            clock,
            burst: 4,
            command: 1,
            cl,
            cwl,
            rcd,
            rp,
            ras,
            rc: ras + rp,
            rrd_s: most(activates[0].0, clock.at_least(activates[0].1)),
            rrd_l: most(activates[1].0, clock.at_least(activates[1].1)),
            faw: most(activates[2].0, clock.at_least(activates[2].1)),
            ccd_s: 4,
            ccd_l: most(5, clock.at_least(5_000)),
            ccd_l_wr: most(5, clock.at_least(5_000)),
            wr: clock.at_least(15_000),
            wtr_s: most(2, clock.at_least(2_500)),
            wtr_l: most(4, clock.at_least(7_500)),
            rtp: most(4, clock.at_least(7_500)),
            rtw: 2,
            rtrs: 2,
            ppd: 1,
            rfc: clock.at_least(rfc),
            refi: clock.at_most(7_800_000),
            rfc_sb: 0,
            refi_sb: 0,
            refsb_rd: 0,
        }
    }

    /// Peak rate of a data bus \[B/s\].
    #[must_use]
    pub const fn peak(&self) -> u64 {
        64 * 1_000_000_000_000 * self.clock.den() / (self.burst * self.clock.num())
    }
    /// From the command to the last beat of a read.
    #[must_use]
    pub const fn read(&self) -> u64 {
        self.cl + self.burst
    }
    /// From the command to the last beat of a write.
    #[must_use]
    pub const fn write(&self) -> u64 {
        self.cwl + self.burst
    }
    /// From a read to a write: the bus turns.
    #[must_use]
    pub const fn read_to_write(&self) -> u64 {
        (self.cl + self.burst + self.rtw).saturating_sub(self.cwl)
    }
}

const fn most(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(speed: Speed, width: Width) -> Timings {
        Timings::of(speed, width, Density::Gb8, 4)
    }

    /// Clocks as tables list them: rounding is the standard's.
    #[test]
    fn analogue_limits_become_the_clocks_that_tables_list() {
        let t = of(Speed::Ddr4_2400, Width::X8);
        assert_eq!((t.ras, t.rrd_s, t.rrd_l, t.faw), (39, 4, 6, 26));
        assert_eq!((t.ccd_l, t.wr, t.wtr_s, t.wtr_l, t.rtp), (6, 18, 3, 9, 9));
        let t = of(Speed::Ddr4_3200, Width::X16);
        assert_eq!((t.ras, t.rrd_s, t.rrd_l, t.faw, t.ccd_l, t.wr), (52, 9, 11, 48, 8, 24));
        let t = of(Speed::Ddr4_2666, Width::X4);
        assert_eq!((t.ras, t.rrd_s, t.rrd_l, t.faw, t.ccd_l, t.rtp), (43, 4, 7, 16, 7, 10));
        let t = of(Speed::Ddr5_4800, Width::X4);
        assert_eq!((t.ras, t.rrd_s, t.rrd_l, t.faw), (77, 8, 12, 32));
        assert_eq!((t.ccd_l, t.ccd_l_wr, t.wr, t.wtr_s, t.wtr_l, t.rtp), (12, 48, 72, 6, 24, 18));
        let t = of(Speed::Ddr5_6400, Width::X8);
        assert_eq!((t.ras, t.ccd_l, t.ccd_l_wr, t.wr, t.wtr_l, t.rtp), (103, 16, 32, 96, 32, 24));
    }

    #[test]
    fn a_bus_carries_what_its_name_says() {
        for (speed, bytes_per_second) in Speed::ALL.into_iter().zip([
            19_200_000_000,
            21_333_333_333,
            25_600_000_000,
            19_200_000_000,
            22_400_000_000,
            25_600_000_000,
        ]) {
            assert_eq!(of(speed, Width::X8).peak(), bytes_per_second, "{speed:?}");
        }
    }
}
