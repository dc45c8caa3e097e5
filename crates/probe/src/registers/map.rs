//! The register map: offsets and writable bits of all registers, used for reading and restoring them and by the
//! simulated machines.

use super::words::*;
use crate::host::Width;
use core::marker::PhantomData;
use lanetwin_pcie::spec::config_words::BridgeControl;
use lanetwin_pcie::spec::link_words::{
    CorrectableErrors, EqualizationStatus, LinkCapabilities, LinkCapabilities2, LinkControl, LinkControl2,
    LinkControl3, LinkStatus, LinkStatus2, PowerControl,
};
use lanetwin_wire::{Field, Word};

/// What a register's offset is counted from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Home {
    /// The start of configuration space.
    Header,
    /// A capability, by its ID.
    Capability(u8),
    /// An extended capability, by its ID.
    Extended(u16),
}

/// Power Management.
pub const POWER: Home = Home::Capability(0x01);
/// MSI.
pub const MSI: Home = Home::Capability(0x05);
/// PCI Express.
pub const EXPRESS: Home = Home::Capability(0x10);
/// MSI-X.
pub const MSIX: Home = Home::Capability(0x11);
/// Advanced Error Reporting (AER).
pub const ERRORS: Home = Home::Extended(0x0001);
/// Device Serial Number.
pub const SERIAL: Home = Home::Extended(0x0003);
/// Secondary PCI Express.
pub const SECONDARY: Home = Home::Extended(0x0019);
/// Downstream Port Containment (DPC).
pub const CONTAINMENT: Home = Home::Extended(0x001d);
/// Physical Layer 16.0 GT/s.
pub const PHYSICAL_16: Home = Home::Extended(0x0026);
/// Lane Margining at the Receiver.
pub const MARGINING: Home = Home::Extended(0x0027);
/// Physical Layer 32.0 GT/s.
pub const PHYSICAL_32: Home = Home::Extended(0x002a);
/// Device 3.
pub const DEVICE_3: Home = Home::Extended(0x002f);
/// Physical Layer 64.0 GT/s.
pub const PHYSICAL_64: Home = Home::Extended(0x0031);

/// A register without its word's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its name.
    pub name: &'static str,
    /// What its offset is counted from.
    pub home: Home,
    /// Its offset \[B\].
    pub offset: u16,
    /// Its width.
    pub width: Width,
    /// The bits that hold what is written to them; commands, such as Retrain Link, are not among them.
    pub keeps: u32,
    /// The bits that a write of one clears (RW1C).
    pub clears: u32,
}

/// A register with the type of its word.
#[derive(Debug)]
pub struct Register<W> {
    /// Its place.
    pub place: Place,
    word: PhantomData<W>,
}

impl<W> Clone for Register<W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W> Copy for Register<W> {}

impl<W: Word> Register<W> {
    const fn new(name: &'static str, home: Home, offset: u16, keeps: u32, clears: u32) -> Self {
        let width = match W::BITS {
            8 => Width::Byte,
            16 => Width::Word,
            _ => Width::Dword,
        };
        Self { place: Place { name, home, offset, width, keeps, clears }, word: PhantomData }
    }
    /// The same register at an offset that is `bytes` higher, for example that of another lane.
    #[must_use]
    pub const fn plus(self, bytes: u16) -> Self {
        let Place { offset, .. } = self.place;
        Self { place: Place { offset: offset + bytes, ..self.place }, word: PhantomData }
    }
}

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident: $word:ident = $title:literal, $home:ident + $offset:literal, keeps $keeps:literal, clears $clears:literal;)*) => {
        $($(#[$doc])* pub const $name: Register<$word> = Register::new($title, $home, $offset, $keeps, $clears);)*

        /// Every register of the map.
        pub const ALL: &[Place] = &[$($name.place),*];
        /// Every register of the map, with the fields of its word.
        pub const FIELDS: &[(Place, &[Field])] = &[$(($name.place, <$word as Word>::FIELDS)),*];
    };
}

const HEADER: Home = Home::Header;

registers! {
    /// Cache Line Size.
    CACHE_LINE: CacheLine = "Cache Line Size", HEADER + 0x0c, keeps 0xff, clears 0x00;
    /// Interrupt Line.
    INTERRUPT_LINE: InterruptLine = "Interrupt Line", HEADER + 0x3c, keeps 0xff, clears 0x00;
    /// Bridge Control.
    BRIDGE_CONTROL: BridgeControl = "Bridge Control", HEADER + 0x3e, keeps 0x005f, clears 0x0000;
    /// Power Management Control/Status.
    POWER_CONTROL: PowerControl = "PMCSR", POWER + 0x04, keeps 0x0103, clears 0x8000;
    /// PCI Express Capabilities.
    EXPRESS_CAPABILITIES: ExpressCapabilities = "PCI Express Capabilities", EXPRESS + 0x02, keeps 0x0000, clears 0x0000;
    /// Device Capabilities.
    DEVICE_CAPABILITIES: DeviceCapabilities = "Device Capabilities", EXPRESS + 0x04, keeps 0x0000, clears 0x0000;
    /// Device Control.
    DEVICE_CONTROL: DeviceControl = "Device Control", EXPRESS + 0x08, keeps 0x7fff, clears 0x0000;
    /// Link Capabilities.
    LINK_CAPABILITIES: LinkCapabilities = "Link Capabilities", EXPRESS + 0x0c, keeps 0x0000, clears 0x0000;
    /// Link Control.
    LINK_CONTROL: LinkControl = "Link Control", EXPRESS + 0x10, keeps 0x0fdb, clears 0x0000;
    /// Link Status.
    LINK_STATUS: LinkStatus = "Link Status", EXPRESS + 0x12, keeps 0x0000, clears 0xc000;
    /// Link Capabilities 2.
    LINK_CAPABILITIES_2: LinkCapabilities2 = "Link Capabilities 2", EXPRESS + 0x2c, keeps 0x0000, clears 0x0000;
    /// Link Control 2.
    LINK_CONTROL_2: LinkControl2 = "Link Control 2", EXPRESS + 0x30, keeps 0xffff, clears 0x0000;
    /// Link Status 2.
    LINK_STATUS_2: LinkStatus2 = "Link Status 2", EXPRESS + 0x32, keeps 0x0000, clears 0x0020;
    /// Message Control of MSI-X.
    MSIX_CONTROL: MsixControl = "MSI-X Message Control", MSIX + 0x02, keeps 0xc000, clears 0x0000;
    /// Uncorrectable Error Status.
    UNCORRECTABLE: Uncorrectable = "Uncorrectable Error Status", ERRORS + 0x04, keeps 0x0000_0000, clears 0xffff_fff0;
    /// Correctable Error Status.
    CORRECTABLE: CorrectableErrors = "Correctable Error Status", ERRORS + 0x10, keeps 0x0000_0000, clears 0x0000_f1c1;
    /// Link Control 3.
    LINK_CONTROL_3: LinkControl3 = "Link Control 3", SECONDARY + 0x04, keeps 0x0000_fe03, clears 0x0000_0000;
    /// Lane Error Status.
    LANE_ERRORS: LaneErrors = "Lane Error Status", SECONDARY + 0x08, keeps 0x0000_0000, clears 0xffff_ffff;
    /// DPC Control.
    CONTAINMENT_CONTROL: ContainmentControl = "DPC Control", CONTAINMENT + 0x06, keeps 0xffff, clears 0x0000;
    /// 16.0 GT/s Status.
    STATUS_16: EqualizationStatus = "16.0 GT/s Status", PHYSICAL_16 + 0x0c, keeps 0x0000_0000, clears 0x0000_0010;
    /// 16.0 GT/s Local Data Parity Mismatch Status.
    PARITY_LOCAL: Parity = "Local Data Parity Mismatch Status", PHYSICAL_16 + 0x10, keeps 0x0000_0000, clears 0xffff_ffff;
    /// 16.0 GT/s First Retimer Data Parity Mismatch Status.
    PARITY_RETIMER_1: Parity = "First Retimer Data Parity Mismatch Status", PHYSICAL_16 + 0x14, keeps 0x0000_0000, clears 0xffff_ffff;
    /// 16.0 GT/s Second Retimer Data Parity Mismatch Status.
    PARITY_RETIMER_2: Parity = "Second Retimer Data Parity Mismatch Status", PHYSICAL_16 + 0x18, keeps 0x0000_0000, clears 0xffff_ffff;
    /// Margining Port Status.
    MARGIN_PORT_STATUS: MarginPortStatus = "Margining Port Status", MARGINING + 0x06, keeps 0x0000, clears 0x0000;
    /// Margining Lane Control of lane 0.
    MARGIN_LANE_CONTROL: MarginLane = "Margining Lane Control", MARGINING + 0x08, keeps 0xff7f, clears 0x0000;
    /// Margining Lane Status of lane 0.
    MARGIN_LANE_STATUS: MarginLane = "Margining Lane Status", MARGINING + 0x0a, keeps 0x0000, clears 0x0000;
    /// 32.0 GT/s Status.
    STATUS_32: EqualizationStatus = "32.0 GT/s Status", PHYSICAL_32 + 0x0c, keeps 0x0000_0000, clears 0x0000_0010;
    /// Device Capabilities 3.
    DEVICE_CAPABILITIES_3: DeviceCapabilities3 = "Device Capabilities 3", DEVICE_3 + 0x04, keeps 0x0000_0000, clears 0x0000_0000;
    /// Device Control 3.
    DEVICE_CONTROL_3: DeviceControl3 = "Device Control 3", DEVICE_3 + 0x08, keeps 0x0000_007f, clears 0x0000_0000;
    /// 64.0 GT/s Status.
    STATUS_64: EqualizationStatus = "64.0 GT/s Status", PHYSICAL_64 + 0x0c, keeps 0x0000_0000, clears 0x0000_0010;
}

/// Distance between the margining registers of two lanes \[B\].
pub const MARGIN_LANE_STRIDE: u16 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_registers_share_a_byte_and_no_bit_has_two_meanings() {
        let span = |place: &Place| place.offset..place.offset + place.width.bytes();
        for (at, one) in ALL.iter().enumerate() {
            assert_eq!(one.keeps & one.clears, 0, "{}", one.name);
            assert_eq!((one.keeps | one.clears) & !one.width.ones(), 0, "{}", one.name);
            assert_eq!(one.offset % one.width.bytes(), 0, "{} is not aligned", one.name);
            for other in ALL[at + 1..].iter().filter(|other| other.home == one.home) {
                let apart = span(one).end <= other.offset || span(other).end <= one.offset;
                assert!(apart, "{} and {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn a_command_is_never_put_back() {
        let retrain = u32::from(LinkControl::ZERO.with_retrain(true).unwrap().raw());
        assert_eq!(LINK_CONTROL.place.keeps & retrain, 0);
        let reset = u32::from(DeviceControl::ZERO.with_initiate_reset(true).unwrap().raw());
        assert_eq!(DEVICE_CONTROL.place.keeps & reset, 0);
    }
}
