//! The words of configuration space that decide where a TLP goes: of a type 1 header (a bridge), of a BAR, and of
//! Access Control Services (ACS). Least significant byte first, as configuration space is read.
//!
//! Offsets and bits are those of Linux `pci_regs.h` (`PCI_PRIMARY_BUS`, `PCI_MEMORY_BASE`, `PCI_PREF_MEMORY_BASE`,
//! `PCI_BRIDGE_CONTROL`, `PCI_BASE_ADDRESS_*`, `PCI_ACS_*`), which follows the PCI-to-PCI Bridge Architecture
//! Specification 1.2 §3.2.5 and PCIe Base §7.5.1.
//!
//! Not here: I/O windows (offsets 0x1C and 0x30) and expansion ROMs; the other words of a header, which route nothing.

use core::ops::RangeInclusive;
use lanetwin_wire::{DoesNotFit, open_enum, wire};

/// Where [`BusNumbers`] is in a type 1 header.
pub const BUS_NUMBERS_OFFSET: u16 = 0x18;
/// Where [`MemoryWindow`] is in a type 1 header.
pub const MEMORY_WINDOW_OFFSET: u16 = 0x20;
/// Where [`PrefetchableWindow`] is in a type 1 header.
pub const PREFETCHABLE_WINDOW_OFFSET: u16 = 0x24;
/// Where the upper half of the prefetchable base is in a type 1 header.
pub const PREFETCHABLE_BASE_UPPER_OFFSET: u16 = 0x28;
/// Where the upper half of the prefetchable limit is in a type 1 header.
pub const PREFETCHABLE_LIMIT_UPPER_OFFSET: u16 = 0x2c;
/// Where [`BridgeControl`] is in a type 1 header.
pub const BRIDGE_CONTROL_OFFSET: u16 = 0x3e;
/// Where the first [`MemoryBar`] is in any header.
pub const FIRST_BAR_OFFSET: u16 = 0x10;

/// What a window of a bridge is a multiple of \[B\]: base and limit have no bits below.
pub const WINDOW_GRANULE: u64 = 1 << 20;

open_enum! {
    /// How wide the addresses of a BAR or of a prefetchable window are, in the encoding of a window.
    pub struct WindowType(u8) {
        /// 32 bits.
        BITS_32 = 0;
        /// 64 bits: the upper halves are in registers of their own.
        BITS_64 = 1;
    }

    /// How wide the addresses of a BAR are.
    pub struct BarType(u8) {
        /// 32 bits.
        BITS_32 = 0b00;
        /// 64 bits: the upper half is in the next BAR.
        BITS_64 = 0b10;
    }
}

wire! {
    /// The bus numbers of a bridge (offset 0x18).
    pub struct BusNumbers(u32) {
        /// Secondary Latency Timer: zero in PCI Express
        secondary_latency / with_secondary_latency: u8 = 31:24;
        /// Subordinate Bus Number: the highest below the bridge
        subordinate / with_subordinate: u8 = 23:16;
        /// Secondary Bus Number: the bus right below the bridge
        secondary / with_secondary: u8 = 15:8;
        /// Primary Bus Number: the bus the bridge is on
        primary / with_primary: u8 = 7:0;
    }

    /// The non-prefetchable memory window of a bridge (offset 0x20).
    pub struct MemoryWindow(u32) {
        /// Memory Limit: bits 31:20 of the last address
        limit / with_limit: u16 = 31:20;
        /// Reserved
        reserved = 19:16;
        /// Memory Base: bits 31:20 of the first address
        base / with_base: u16 = 15:4;
        /// Reserved
        reserved = 3:0;
    }

    /// The lower half of the prefetchable memory window of a bridge (offset 0x24).
    pub struct PrefetchableWindow(u32) {
        /// Prefetchable Memory Limit: bits 31:20 of the last address
        limit / with_limit: u16 = 31:20;
        /// How wide the limit is
        limit_type / with_limit_type: WindowType = 19:16;
        /// Prefetchable Memory Base: bits 31:20 of the first address
        base / with_base: u16 = 15:4;
        /// How wide the base is
        base_type / with_base_type: WindowType = 3:0;
    }

    /// Bridge Control (offset 0x3E).
    pub struct BridgeControl(u16) {
        /// Reserved
        reserved = 15:12;
        /// Discard Timer SERR# Enable: zero in PCI Express
        discard_timer_serr / with_discard_timer_serr: bool = 11:11;
        /// Discard Timer Status: zero in PCI Express
        discard_timer_status / with_discard_timer_status: bool = 10:10;
        /// Secondary Discard Timer: zero in PCI Express
        secondary_discard_timer / with_secondary_discard_timer: bool = 9:9;
        /// Primary Discard Timer: zero in PCI Express
        primary_discard_timer / with_primary_discard_timer: bool = 8:8;
        /// Fast Back-to-Back Transactions Enable: zero in PCI Express
        fast_back_to_back / with_fast_back_to_back: bool = 7:7;
        /// Secondary Bus Reset: a hot reset of everything below
        secondary_bus_reset / with_secondary_bus_reset: bool = 6:6;
        /// Master Abort Mode: zero in PCI Express
        master_abort / with_master_abort: bool = 5:5;
        /// VGA 16-bit Decode
        vga_16_bit / with_vga_16_bit: bool = 4:4;
        /// VGA Enable
        vga / with_vga: bool = 3:3;
        /// ISA Enable
        isa / with_isa: bool = 2:2;
        /// SERR# Enable: errors from below go on upward
        serr / with_serr: bool = 1:1;
        /// Parity Error Response Enable
        parity / with_parity: bool = 0:0;
    }

    /// A Base Address Register (BAR) for memory; a 64-bit one has its upper half in the next register.
    pub struct MemoryBar(u32) {
        /// Bits 31:4 of the address
        address / with_address: u32 = 31:4;
        /// Prefetchable: reading has no side effects, and writes may be merged
        prefetchable / with_prefetchable: bool = 3:3;
        /// How wide the address is
        width / with_width: BarType = 2:1;
        /// I/O space; zero for memory
        io / with_io: bool = 0:0;
    }

    /// ACS Control of a port that faces down.
    pub struct AcsControl(u16) {
        /// Reserved, and controls of later revisions
        reserved = 15:7;
        /// Direct Translated P2P Enable
        direct_translated / with_direct_translated: bool = 6:6;
        /// P2P Egress Control Enable
        egress_control / with_egress_control: bool = 5:5;
        /// Upstream Forwarding Enable: what was redirected further down, and aims at where it came from, goes on upward
        upstream_forwarding / with_upstream_forwarding: bool = 4:4;
        /// P2P Completion Redirect Enable: completions for a peer go upward
        completion_redirect / with_completion_redirect: bool = 3:3;
        /// P2P Request Redirect Enable: requests to a peer go upward
        request_redirect / with_request_redirect: bool = 2:2;
        /// Translation Blocking Enable
        translation_blocking / with_translation_blocking: bool = 1:1;
        /// Source Validation Enable
        source_validation / with_source_validation: bool = 0:0;
    }
}

impl MemoryWindow {
    /// A window that lets nothing through: its base is above its limit.
    pub const CLOSED: Self = Self::from_raw(0x0000_fff0);

    /// The window of these addresses.
    ///
    /// # Errors
    /// If they are not all below 4 GiB. Bits below the granule are dropped.
    pub fn of(addresses: &RangeInclusive<u64>) -> Result<Self, DoesNotFit> {
        Self::ZERO.with_base(granules(*addresses.start()))?.with_limit(granules(*addresses.end()))
    }
    /// The addresses that pass; none if the window is closed.
    #[must_use]
    pub fn addresses(self) -> Option<RangeInclusive<u64>> {
        span(u64::from(self.base()), u64::from(self.limit()))
    }
}

impl PrefetchableWindow {
    /// The lower half of a window that lets nothing through; the upper halves are zero.
    pub const CLOSED: Self = Self::from_raw(0x0001_fff1);

    /// The lower half of the 64-bit window of these addresses. Bits below the granule are dropped.
    ///
    /// # Errors
    /// Never: the lower half of an address fits.
    pub fn of(addresses: &RangeInclusive<u64>) -> Result<Self, DoesNotFit> {
        let lower = |address: u64| granules(address & u64::from(u32::MAX));
        Self::ZERO
            .with_base(lower(*addresses.start()))?
            .with_base_type(WindowType::BITS_64)?
            .with_limit(lower(*addresses.end()))?
            .with_limit_type(WindowType::BITS_64)
    }
    /// The addresses that pass, given the upper halves of base and limit; none if the window is closed.
    #[must_use]
    pub fn addresses(self, base_upper: u32, limit_upper: u32) -> Option<RangeInclusive<u64>> {
        let whole = |upper: u32, lower: u16| u64::from(upper) << 12 | u64::from(lower);
        span(whole(base_upper, self.base()), whole(limit_upper, self.limit()))
    }
}

/// The number of an address' granule; `u16::MAX`, which no window's field holds, if it lies above 4 GiB.
fn granules(address: u64) -> u16 {
    u16::try_from(address / WINDOW_GRANULE).unwrap_or(u16::MAX)
}

/// The addresses from the first of granule `base` to the last of granule `limit`.
fn span(base: u64, limit: u64) -> Option<RangeInclusive<u64>> {
    (base <= limit).then(|| base * WINDOW_GRANULE..=limit * WINDOW_GRANULE + (WINDOW_GRANULE - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<BusNumbers>();
        assert_fields_tile::<MemoryWindow>();
        assert_fields_tile::<PrefetchableWindow>();
        assert_fields_tile::<BridgeControl>();
        assert_fields_tile::<MemoryBar>();
        assert_fields_tile::<AcsControl>();
    }

    /// `lspci -xxx` of a root port: 18: 00 01 03 00, 20: d0 f7 e0 f7, 24: 01 e0 f1 f1; bridge control with 0x0040
    /// resets.
    #[test]
    fn a_header_reads_as_lspci_reads_it() {
        let buses = BusNumbers::from_raw(u32::from_le_bytes([0x00, 0x01, 0x03, 0x00]));
        assert_eq!((buses.primary(), buses.secondary(), buses.subordinate()), (0, 1, 3));
        let memory = MemoryWindow::from_raw(u32::from_le_bytes([0xd0, 0xf7, 0xe0, 0xf7]));
        assert_eq!(memory.addresses(), Some(0xf7d0_0000..=0xf7ef_ffff));
        let prefetchable = PrefetchableWindow::from_raw(u32::from_le_bytes([0x01, 0xe0, 0xf1, 0xf1]));
        assert_eq!(prefetchable.base_type(), WindowType::BITS_64);
        assert_eq!(prefetchable.addresses(0, 0), Some(0xe000_0000..=0xf1ff_ffff));
        assert_eq!(prefetchable.addresses(0x20, 0x21), Some(0x20_e000_0000..=0x21_f1ff_ffff));
        assert!(BridgeControl::from_raw(0x0040).secondary_bus_reset());
    }

    #[test]
    fn windows_keep_their_addresses() {
        let low = 0x8000_0000..=0x800f_ffff;
        assert_eq!(MemoryWindow::of(&low).unwrap().addresses(), Some(low));
        let high = 0x40_0000_0000..=0x41_ffff_ffff;
        let word = PrefetchableWindow::of(&high).unwrap();
        assert_eq!(word.addresses(0x40, 0x41), Some(high.clone()));
        assert!(MemoryWindow::of(&high).is_err(), "a 32-bit window ends at 4 GiB");
        assert_eq!(MemoryWindow::CLOSED.addresses(), None);
        assert_eq!(PrefetchableWindow::CLOSED.addresses(0, 0), None);
    }
}
