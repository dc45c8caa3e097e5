//! Configuration space of the drive's function: identity, capabilities and state of its link, errors, interrupts.
//!
//! | at | capability |
//! |---|---|
//! | 0x40 | Power Management |
//! | 0x48 | PCI Express, version 2 |
//! | 0x90 | MSI-X; its table and pending bits are in BAR0 |
//! | 0x100 | Advanced Error Reporting |
//! | 0x150 | Secondary PCI Express, from 8 GT/s on |
//! | 0x1a0 | Physical Layer 16.0 GT/s, from there on |
//! | 0x1e0 | Physical Layer 32.0 GT/s, from there on |
//!
//! The map of `lanetwin_probe::registers` defines which bits are writable and which are cleared by writing a one; for
//! the header and for AER's masks, which that map leaves out, it is defined here (Linux `pci_regs.h`).

use super::link::LinkSeen;
use super::{BAR_BYTES, DEVICE_ID, PENDING_AT, TABLE_AT, VENDOR_ID};
use lanetwin_pcie::spec::link_words::{aer, express, gen4, gen5, power_management, secondary};
use lanetwin_probe::Width;
use lanetwin_probe::registers::{
    ALL, DEVICE_CAPABILITIES, DEVICE_CONTROL, DeviceCapabilities, DeviceControl, ERRORS, EXPRESS,
    EqualizationStatus, ExpressCapabilities, Home, LINK_CAPABILITIES, LINK_CAPABILITIES_2, LINK_CONTROL_2,
    LINK_STATUS, LINK_STATUS_2, LinkCapabilities, LinkCapabilities2, LinkControl2, LinkStatus, LinkStatus2,
    MSIX, MSIX_CONTROL, MsixControl, PHYSICAL_16, PHYSICAL_32, POWER, POWER_CONTROL, PowerControl, Register,
    SECONDARY, STATUS_16, STATUS_32,
};
use lanetwin_units::Generation;
use lanetwin_wire::{DoesNotFit, Word};

/// Size \[B\].
pub const BYTES: usize = 4096;

const POWER_AT: u16 = 0x40;
const EXPRESS_AT: u16 = 0x48;
const MSIX_AT: u16 = 0x90;
const ERRORS_AT: u16 = 0x100;
const SECONDARY_AT: u16 = 0x150;
const PHYSICAL_16_AT: u16 = 0x1a0;
const PHYSICAL_32_AT: u16 = 0x1e0;

/// Mass storage, non-volatile memory, NVM Express.
const CLASS: u32 = 0x01_0802;
/// Command: memory space, bus master, parity, SERR#, no INTx.
const COMMAND_KEEPS: u32 = 0x0546;
/// Status: bits cleared by writing a one.
const STATUS_CLEARS: u32 = 0xf900;
/// The identifier of the MSI-X capability.
const MSIX_ID: u8 = 0x11;
/// Offset of the severity of uncorrectable errors in AER, and its value after a reset: DLP, SDES, FCP, RO and MTLP
/// are fatal, and internal errors (PCIe Base §7.8.4.4).
const SEVERITY: (u16, u32) = (0x0c, 0x0046_2030);
/// Offsets of the masks of uncorrectable and of correctable errors, and their values after a reset: advisory and
/// internal errors, and an overflow of the header log, are masked (PCIe Base §7.8.4.3, §7.8.4.6).
const MASKS: [(u16, u32); 2] = [(0x08, 0x0040_0000), (0x14, 0x0000_e000)];
/// Bits of uncorrectable errors that there are, up to Poisoned TLP Egress Blocked; of correctable ones.
const UNCORRECTABLE: u32 = 0x07ff_f030;
const CORRECTABLE: u32 = 0x0000_f1c1;

/// Configuration space.
#[derive(Clone)]
pub struct ConfigSpace {
    now: Vec<u8>,
    reset: Vec<u8>,
    /// Writable bits, and bits cleared by writing a one.
    keeps: Vec<u8>,
    clears: Vec<u8>,
}

impl ConfigSpace {
    /// Of a function with this many MSI-X vectors behind this link.
    ///
    /// # Panics
    /// Never: all properties of a link fit its registers.
    #[must_use]
    pub fn new(link: &LinkSeen, vectors: u16) -> Self {
        let mut space =
            Self { now: vec![0; BYTES], reset: Vec::new(), keeps: vec![0; BYTES], clears: vec![0; BYTES] };
        space.fill(link, vectors).expect("what is known of a link fits its registers");
        space.let_write();
        space.reset = space.now.clone();
        space
    }
    fn fill(&mut self, link: &LinkSeen, vectors: u16) -> Result<(), DoesNotFit> {
        self.header();
        self.put(POWER_AT, 1, power_management::ID.into());
        self.put(POWER_AT + 1, 1, EXPRESS_AT.into());
        // version 3, no PME
        self.put(POWER_AT + 2, 2, 0x0003);
        self.set(POWER_CONTROL, PowerControl::ZERO.with_no_soft_reset(true)?);
        self.express(link)?;
        self.put(MSIX_AT, 1, MSIX_ID.into());
        self.set(MSIX_CONTROL, MsixControl::ZERO.with_size(vectors - 1)?);
        // in BAR0
        self.put(MSIX_AT + 4, 4, TABLE_AT as u32);
        self.put(MSIX_AT + 8, 4, PENDING_AT as u32);
        self.extended(link)
    }
    fn header(&mut self) {
        self.put(0x00, 2, VENDOR_ID.into());
        self.put(0x02, 2, DEVICE_ID.into());
        // there is a list of capabilities
        self.put(0x06, 2, 1 << 4);
        self.put(0x08, 4, CLASS << 8);
        // a BAR of 64 bits, not prefetchable
        self.put(0x10, 4, 0b100);
        self.put(0x2c, 2, VENDOR_ID.into());
        self.put(0x2e, 2, DEVICE_ID.into());
        self.put(0x34, 1, POWER_AT.into());
        let size = BAR_BYTES as u32;
        for (offset, keeps) in [(0x10, !(size - 1)), (0x14, u32::MAX)] {
            self.may_write(offset, Width::Dword, (keeps, 0));
        }
        self.may_write(0x04, Width::Word, (COMMAND_KEEPS, 0));
        self.may_write(0x06, Width::Word, (0, STATUS_CLEARS));
        self.may_write(0x0c, Width::Byte, (0xff, 0));
        self.may_write(0x3c, Width::Byte, (0xff, 0));
    }
    fn express(&mut self, link: &LinkSeen) -> Result<(), DoesNotFit> {
        let LinkSeen { capable: (best, lanes), trained: (speed, width), .. } = *link;
        self.put(EXPRESS_AT, 1, express::ID.into());
        self.put(EXPRESS_AT + 1, 1, MSIX_AT.into());
        // an endpoint
        let kind = ExpressCapabilities::ZERO.with_version(2)?;
        self.put(EXPRESS_AT + express::FLAGS, 2, kind.raw().into());
        let device = DeviceCapabilities::ZERO
            .with_payload(link.payload_code())?
            .with_extended_tag(true)?
            .with_role_based_errors(true)?
            .with_function_level_reset(true)?;
        self.set(DEVICE_CAPABILITIES, device);
        // 512 B, as the standard has it after a reset
        self.set(DEVICE_CONTROL, DeviceControl::ZERO.with_read_request(2)?.with_extended_tag(true)?);
        let capabilities = LinkCapabilities::ZERO
            .with_max_speed(best.number())?
            .with_max_width(lanes.lanes() as u8)?
            .with_aspm_optional(true)?;
        self.set(LINK_CAPABILITIES, capabilities);
        let status = LinkStatus::ZERO
            .with_speed(speed.number())?
            .with_width(width.lanes() as u8)?
            .with_slot_clock(link.has_common_clock)?;
        self.set(LINK_STATUS, status);
        let sees_retimers = best >= Generation::Gen4;
        let speeds = LinkCapabilities2::ZERO
            .with_speeds((1 << best.number()) - 1)?
            .with_retimer(sees_retimers)?
            .with_two_retimers(sees_retimers)?;
        self.set(LINK_CAPABILITIES_2, speeds);
        self.set(LINK_CONTROL_2, LinkControl2::ZERO.with_target_speed(best.number())?);
        let equalized = speed >= Generation::Gen3;
        let status = LinkStatus2::ZERO
            .with_complete(equalized)?
            .with_phase_1(equalized)?
            .with_phase_2(equalized)?
            .with_phase_3(equalized)?
            .with_retimer(sees_retimers && link.retimers > 0)?
            .with_two_retimers(sees_retimers && link.retimers > 1)?;
        self.set(LINK_STATUS_2, status);
        Ok(())
    }
    fn extended(&mut self, link: &LinkSeen) -> Result<(), DoesNotFit> {
        let LinkSeen { capable: (best, _), trained: (speed, _), .. } = *link;
        let all = [
            (Generation::Gen1, aer::ID, 2, ERRORS_AT),
            (Generation::Gen3, secondary::ID, 1, SECONDARY_AT),
            (Generation::Gen4, gen4::ID, 1, PHYSICAL_16_AT),
            (Generation::Gen5, gen5::ID, 1, PHYSICAL_32_AT),
        ];
        let has: Vec<_> = all.iter().filter(|(from, ..)| best >= *from).collect();
        for (at, (_, id, version, offset)) in has.iter().enumerate() {
            let next = has.get(at + 1).map_or(0, |(.., next)| u32::from(*next));
            self.put(*offset, 4, next << 20 | version << 16 | u32::from(*id));
        }
        for (offset, value) in MASKS.into_iter().chain([SEVERITY]) {
            self.put(ERRORS_AT + offset, 4, value);
            let bits = if offset == MASKS[1].0 { CORRECTABLE } else { UNCORRECTABLE };
            self.may_write(ERRORS_AT + offset, Width::Dword, (bits, 0));
        }
        for (at, register) in [(Generation::Gen4, STATUS_16), (Generation::Gen5, STATUS_32)] {
            let done = speed >= at;
            let status = EqualizationStatus::ZERO
                .with_complete(done)?
                .with_phase_1(done)?
                .with_phase_2(done)?
                .with_phase_3(done)?;
            if best >= at {
                self.set(register, status);
            }
        }
        Ok(())
    }

    /// Base of a register's offset. Returns `None` if there is no such capability.
    fn home(&self, home: Home) -> Option<u16> {
        let (at, id) = match home {
            POWER => (POWER_AT, power_management::ID.into()),
            EXPRESS => (EXPRESS_AT, express::ID.into()),
            MSIX => (MSIX_AT, MSIX_ID.into()),
            ERRORS => (ERRORS_AT, aer::ID),
            SECONDARY => (SECONDARY_AT, secondary::ID),
            PHYSICAL_16 => (PHYSICAL_16_AT, gen4::ID),
            PHYSICAL_32 => (PHYSICAL_32_AT, gen5::ID),
            _ => return None,
        };
        let bytes = if at >= ERRORS_AT { 2 } else { 1 };
        let found =
            (0..bytes).fold(0, |word, byte| word | u16::from(self.now[usize::from(at + byte)]) << (8 * byte));
        (found == id).then_some(at)
    }
    /// Makes the bits writable that the map of registers defines so.
    fn let_write(&mut self) {
        for place in ALL {
            if let Some(at) = self.home(place.home) {
                self.may_write(at + place.offset, place.width, (place.keeps, place.clears));
            }
        }
    }
    fn may_write(&mut self, offset: u16, width: Width, (keeps, clears): (u32, u32)) {
        let range = usize::from(offset)..usize::from(offset + width.bytes());
        self.keeps[range.clone()].copy_from_slice(&keeps.to_le_bytes()[..range.len()]);
        self.clears[range.clone()].copy_from_slice(&clears.to_le_bytes()[..range.len()]);
    }
    fn put(&mut self, offset: u16, bytes: usize, value: u32) {
        let at = usize::from(offset);
        self.now[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
    fn set<W: Word>(&mut self, register: Register<W>, word: W) {
        let place = register.place;
        let at = self.home(place.home).expect("the capability is there");
        self.put(at + place.offset, usize::from(place.width.bytes()), word.to_bits() as u32);
    }

    /// Reads bytes, which must be within it.
    #[must_use]
    pub fn read(&self, offset: usize, bytes: usize) -> &[u8] {
        &self.now[offset..offset + bytes]
    }
    /// Writes bytes, which must be within it. Returns whether that initiates a Function Level Reset.
    #[must_use]
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let control = usize::from(EXPRESS_AT + DEVICE_CONTROL.place.offset) + 1;
        let mut resets = false;
        for (at, &written) in (offset..).zip(bytes) {
            let (keeps, clears) = (self.keeps[at], self.clears[at]);
            self.now[at] = (self.now[at] & !keeps | written & keeps) & !(written & clears);
            // Initiate Function Level Reset, which reads as zero
            resets |= at == control && written & 0x80 != 0;
        }
        resets
    }
    /// Everything is as after a reset; the link has trained to the same again.
    pub fn reset(&mut self) {
        self.now.copy_from_slice(&self.reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_probe::Function;
    use lanetwin_probe::fake::{Behaviour, Fake};
    use lanetwin_probe::{Address, Host};
    use lanetwin_units::Width as Lanes;
    use std::collections::BTreeMap;

    fn link(best: Generation, speed: Generation) -> LinkSeen {
        LinkSeen {
            capable: (best, Lanes::X4),
            trained: (speed, Lanes::X2),
            payload: 512,
            has_common_clock: true,
            retimers: 1,
        }
    }
    /// What the probe, which reads real machines, finds in it.
    fn found(space: &ConfigSpace) -> (Fake, Function) {
        let address = Address { domain: 0, bus: 1, device: 0, function: 0 };
        let mut machine = Fake::new(BTreeMap::from([(address, space.now.clone())]), Behaviour::Inert);
        let function = Function::find(&mut machine, address).expect("a function");
        (machine, function)
    }
    fn read<W: Word>(machine: &mut Fake, function: &Function, register: Register<W>) -> Option<W> {
        let offset = function.offset(&register.place)?;
        let value = machine.read(function.address, offset, register.place.width).expect("it is there");
        Some(W::from_bits(value.into()))
    }

    #[test]
    fn the_probe_reads_what_the_link_can_do_and_what_it_trained_to() {
        let space = ConfigSpace::new(&link(Generation::Gen5, Generation::Gen4), 65);
        let (mut machine, function) = found(&space);
        assert_eq!((function.class, function.bridge), (CLASS, false));
        let capable = read(&mut machine, &function, LINK_CAPABILITIES).expect("a link");
        assert_eq!((capable.max_speed(), capable.max_width()), (5, 4));
        let trained = read(&mut machine, &function, LINK_STATUS).expect("a link");
        assert_eq!((trained.speed(), trained.width(), trained.slot_clock()), (4, 2, true));
        let seen = read(&mut machine, &function, LINK_STATUS_2).expect("a link");
        assert_eq!((seen.complete(), seen.retimer(), seen.two_retimers()), (true, true, false));
        assert!(read(&mut machine, &function, STATUS_16).expect("16 GT/s").complete());
        assert!(!read(&mut machine, &function, STATUS_32).expect("32 GT/s").complete());
        assert_eq!(read(&mut machine, &function, MSIX_CONTROL).expect("MSI-X").size(), 64);
        let device = read(&mut machine, &function, DEVICE_CAPABILITIES).expect("a device");
        assert!(device.function_level_reset() && device.payload() == 2);
    }

    #[test]
    fn a_slow_link_has_no_capabilities_of_fast_ones() {
        let space = ConfigSpace::new(&link(Generation::Gen2, Generation::Gen1), 2);
        let (_, function) = found(&space);
        assert!(function.offset(&lanetwin_probe::registers::CORRECTABLE.place).is_some());
        assert_eq!(function.offset(&STATUS_16.place), None);
        assert_eq!(function.offset(&lanetwin_probe::registers::LANE_ERRORS.place), None);
    }

    #[test]
    fn writes_change_what_may_be_written_and_a_reset_takes_it_back() {
        let mut space = ConfigSpace::new(&link(Generation::Gen5, Generation::Gen5), 65);
        let before = space.now.clone();
        assert!(!space.write(0, &[0xff; 0x40]));
        assert_eq!(space.read(0x10, 8), [4, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "how large BAR0 is");
        assert_eq!(space.read(0, 4), &before[..4]);
        let status = usize::from(EXPRESS_AT + express::LINK_STATUS);
        assert!(!space.write(status, &[0xff; 2]));
        assert_eq!(space.read(status, 2), &before[status..status + 2]);
        let control = usize::from(EXPRESS_AT + DEVICE_CONTROL.place.offset);
        assert!(space.write(control, &[0x5f, 0xa9]), "Function Level Reset");
        assert_eq!(space.read(control, 2), [0x5f, 0x29]);
        space.reset();
        assert_eq!(space.now, before);
    }

    #[test]
    fn the_map_of_registers_is_that_of_the_specification() {
        // both say where link registers are
        assert_eq!(LINK_STATUS.place.offset, express::LINK_STATUS);
        assert_eq!(LINK_CAPABILITIES.place.offset, express::LINK_CAPABILITIES);
        assert_eq!(STATUS_16.place.offset, gen4::STATUS);
    }
}
