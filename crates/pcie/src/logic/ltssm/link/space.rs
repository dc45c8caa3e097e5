//! Configuration space of one end: 4 KiB of registers, which bits software may write, and which a one clears.

use super::super::channel::Direction;
use super::config::{LinkConfig, PortConfig};
use super::facing::{Facing, Size};
use crate::spec::link_words::{
    Aspm, LinkCapabilities, LinkCapabilities2, LinkControl2, LinkControl3, LinkStatus2, PowerControl, aer,
    express, gen4, gen5, l1_substates, power_management, secondary,
};
use lanetwin_units::Generation;
use lanetwin_wire::Word;

/// Where the capabilities are.
pub(super) mod at {
    pub(in super::super) const POWER: u16 = 0x40;
    pub(in super::super) const EXPRESS: u16 = 0x70;
    pub(in super::super) const AER: u16 = 0x100;
    pub(in super::super) const SECONDARY: u16 = 0x150;
    pub(in super::super) const L1_SUBSTATES: u16 = 0x1a0;
    pub(in super::super) const GEN4: u16 = 0x1c0;
    pub(in super::super) const GEN5: u16 = 0x210;
}

const BYTES: usize = 4096;

/// The vendor and the devices that the ports present: of the range that Red Hat leaves for experiments.
const VENDOR: u16 = 0x1af4;
const PORT_DEVICE: u16 = 0x10f0;
const DRIVE_DEVICE: u16 = 0x10f1;

/// A function's registers.
#[derive(Clone, Debug)]
pub(super) struct Space {
    values: Box<[u8; BYTES]>,
    defaults: Box<[u8; BYTES]>,
    writable: Box<[u8; BYTES]>,
    cleared: Box<[u8; BYTES]>,
}

impl Space {
    pub(super) fn new(config: &LinkConfig, facing: Facing) -> Self {
        let blank = || Box::new([0; BYTES]);
        let mut space = Self { values: blank(), defaults: blank(), writable: blank(), cleared: blank() };
        match facing {
            Facing::Downstream => space.bridge_header(),
            Facing::Upstream => space.drive_header(),
        }
        let port = if facing == Facing::Downstream { &config.downstream } else { &config.upstream };
        space.power_capability(config, facing);
        space.express_capability(facing, port);
        space.extended_capabilities(config, port);
        space.defaults.clone_from(&space.values);
        space
    }
    /// Everything as after a reset.
    pub(super) fn reset(&mut self) {
        self.values.clone_from(&self.defaults);
    }

    pub(super) fn read(&self, offset: u16, size: Size) -> u32 {
        let from = usize::from(offset);
        (0..size as usize).fold(0, |value, i| value | u32::from(self.values[(from + i) % BYTES]) << (8 * i))
    }
    /// What software writes: only what it may.
    pub(super) fn write(&mut self, offset: u16, size: Size, value: u32) {
        for i in 0..size as usize {
            let at = (usize::from(offset) + i) % BYTES;
            let byte = (value >> (8 * i)) as u8;
            let (writable, cleared) = (self.writable[at], self.cleared[at]);
            let kept = self.values[at] & !writable & !(byte & cleared);
            self.values[at] = kept | (byte & writable);
        }
    }
    /// A word, whoever may write it.
    pub(super) fn word<W: Word>(&self, offset: u16) -> W {
        let from = usize::from(offset);
        let bytes = W::BITS as usize / 8;
        W::from_bits((0..bytes).fold(0, |bits, i| bits | u128::from(self.values[from + i]) << (8 * i)))
    }
    /// Sets a word, whoever may write it.
    pub(super) fn set<W: Word>(&mut self, offset: u16, word: W) {
        self.put(offset, word.to_bits(), W::BITS as usize / 8);
    }
    /// Sets bits of four bytes.
    pub(super) fn raise(&mut self, offset: u16, bits: u32) {
        let value = self.read(offset, Size::Dword) | bits;
        self.put(offset, u128::from(value), 4);
    }
    fn put(&mut self, offset: u16, bits: u128, bytes: usize) {
        for i in 0..bytes {
            self.values[usize::from(offset) + i] = (bits >> (8 * i)) as u8;
        }
    }
    fn allow(&mut self, offset: u16, mask: u32) {
        for (i, byte) in mask.to_le_bytes().into_iter().enumerate() {
            self.writable[usize::from(offset) + i] |= byte;
        }
    }
    fn clear_by_one(&mut self, offset: u16, mask: u32) {
        for (i, byte) in mask.to_le_bytes().into_iter().enumerate() {
            self.cleared[usize::from(offset) + i] |= byte;
        }
    }

    fn header(&mut self, device: u16, class: u32, kind: u8) {
        self.put(0x00, u128::from(VENDOR) | u128::from(device) << 16, 4);
        self.put(0x04, 0x0010_0000, 4); // a list of capabilities
        self.put(0x08, u128::from(class << 8 | 1), 4);
        self.put(0x0e, kind.into(), 1);
        self.put(0x34, at::POWER.into(), 1);
        self.allow(0x04, 0x0547); // I/O, memory, bus master, parity, SERR#, INTx disable
        self.clear_by_one(0x04, 0xf900_0000);
        self.allow(0x3c, 0x0000_00ff);
    }
    fn bridge_header(&mut self) {
        self.header(PORT_DEVICE, 0x06_04_00, 1);
        self.put(0x18, 0x0001_0100, 4); // primary 0, secondary 1, subordinate 1
        self.allow(0x18, 0x00ff_ffff);
        self.allow(0x20, 0xfff0_fff0);
        self.allow(0x24, 0xfff0_fff0);
        self.allow(0x28, u32::MAX);
        self.allow(0x2c, u32::MAX);
        self.allow(0x3c, 0x007f_0000); // bridge control
    }
    fn drive_header(&mut self) {
        self.header(DRIVE_DEVICE, 0x01_08_02, 0);
        self.put(0x10, 0x4, 4); // memory, 64 bits
        self.allow(0x10, 0xffff_c000); // 16 KiB
        self.allow(0x14, u32::MAX);
    }

    fn power_capability(&mut self, config: &LinkConfig, facing: Facing) {
        let keeps = facing == Facing::Downstream || config.device.no_soft_reset;
        self.put(
            at::POWER,
            u128::from(power_management::ID) | u128::from(at::EXPRESS) << 8 | 0x0003 << 16,
            4,
        );
        let control = at::POWER + power_management::CONTROL;
        self.set(control, fits(PowerControl::ZERO.with_no_soft_reset(keeps)));
        self.allow(control, 0x0103);
        self.clear_by_one(control, 0x8000);
    }

    fn express_capability(&mut self, facing: Facing, port: &PortConfig) {
        let kind = if facing == Facing::Downstream { 4 } else { 0 }; // root port, endpoint
        self.put(at::EXPRESS, u128::from(express::ID) | (2 | kind << 4) << 16, 4);
        let max = port.max_generation.number();
        let aspm = Aspm(u8::from(port.l1) << 1 | u8::from(port.l0s));
        let down = facing == Facing::Downstream;
        let capabilities = fits(LinkCapabilities::ZERO.with_max_speed(max))
            .with_max_width(port.width.lanes() as u8)
            .and_then(|word| word.with_aspm(aspm))
            .and_then(|word| word.with_aspm_optional(true))
            .and_then(|word| word.with_l1_exit(6)) // 32 to 64 us
            .and_then(|word| word.with_bandwidth_notification(down))
            .and_then(|word| word.with_link_active_reporting(down))
            .and_then(|word| word.with_surprise_down(down));
        self.set(at::EXPRESS + express::LINK_CAPABILITIES, fits(capabilities));
        let retimers =
            LinkCapabilities2::ZERO.with_speeds((1 << max) - 1).and_then(|word| word.with_retimer(true));
        self.set(
            at::EXPRESS + express::LINK_CAPABILITIES_2,
            fits(retimers.and_then(|word| word.with_two_retimers(true))),
        );
        let control = at::EXPRESS + express::LINK_CONTROL;
        let disable = if down { 0x0010 } else { 0 };
        // retrain reads as zero; status above: a one clears
        self.allow(control, 0x0fcb | disable);
        self.clear_by_one(control, if down { 0xc000_0000 } else { 0 });
        let control_2 = at::EXPRESS + express::LINK_CONTROL_2;
        self.set(control_2, fits(LinkControl2::ZERO.with_target_speed(max)));
        self.allow(control_2, 0xffff);
        self.clear_by_one(control_2, u32::from(fits(LinkStatus2::ZERO.with_request(true)).raw()) << 16);
    }

    fn extended(&mut self, at: u16, id: u16, next: u16) {
        self.put(at, u128::from(id) | 1 << 16 | u128::from(next) << 20, 4);
    }

    fn extended_capabilities(&mut self, config: &LinkConfig, port: &PortConfig) {
        let mut list = vec![(at::AER, aer::ID)];
        if port.max_generation >= Generation::Gen3 {
            list.push((at::SECONDARY, secondary::ID));
        }
        if port.l1_substates {
            list.push((at::L1_SUBSTATES, l1_substates::ID));
        }
        if port.max_generation >= Generation::Gen4 {
            list.push((at::GEN4, gen4::ID));
        }
        if port.max_generation >= Generation::Gen5 {
            list.push((at::GEN5, gen5::ID));
        }
        for (i, (place, id)) in list.iter().enumerate() {
            self.extended(*place, *id, list.get(i + 1).map_or(0, |(next, _)| *next));
        }
        self.clear_by_one(at::AER + aer::UNCORRECTABLE_STATUS, u32::MAX);
        self.clear_by_one(at::AER + aer::CORRECTABLE_STATUS, u32::MAX);
        for (place, _) in list.iter().filter(|(_, id)| *id == secondary::ID) {
            let perform = fits(LinkControl3::ZERO.with_perform_equalization(true)).raw();
            self.allow(place + secondary::LINK_CONTROL_3, perform | 0xfe02);
            self.clear_by_one(place + secondary::LANE_ERROR_STATUS, u32::MAX);
        }
        if port.l1_substates {
            self.put(at::L1_SUBSTATES + l1_substates::CAPABILITIES, 0x1f, 4);
            self.allow(at::L1_SUBSTATES + l1_substates::CONTROL_1, 0xe3ff_ff0f);
            self.allow(at::L1_SUBSTATES + l1_substates::CONTROL_2, 0xfb);
        }
        let preset = config.numbers.ports.initial_preset as u8;
        self.presets(config.channel.lanes(), preset, port.max_generation);
        if port.max_generation >= Generation::Gen4 {
            self.clear_by_one(at::GEN4 + gen4::STATUS, 1 << 4);
            for parity in [gen4::LOCAL_PARITY, gen4::FIRST_RETIMER_PARITY, gen4::SECOND_RETIMER_PARITY] {
                self.clear_by_one(at::GEN4 + parity, u32::MAX);
            }
        }
        if port.max_generation >= Generation::Gen5 {
            self.put(at::GEN5 + gen5::CAPABILITIES, u128::from(port.bypass_to_highest), 4);
            self.allow(at::GEN5 + gen5::CONTROL, 0x3);
            self.clear_by_one(at::GEN5 + gen5::STATUS, 1 << 4);
        }
    }

    /// The preset of each lane before tuning, in both directions.
    fn presets(&mut self, lanes: usize, preset: u8, max: Generation) {
        let both = Direction::BOTH.len() as u16;
        for lane in 0..lanes as u16 {
            if max >= Generation::Gen3 {
                let word = u128::from(preset) | u128::from(preset) << 8;
                self.put(at::SECONDARY + secondary::LANE_EQUALIZATION + both * lane, word, 2);
            }
            let byte = u128::from(preset) | u128::from(preset) << 4;
            if max >= Generation::Gen4 {
                self.put(at::GEN4 + gen4::LANE_EQUALIZATION + lane, byte, 1);
            }
            if max >= Generation::Gen5 {
                self.put(at::GEN5 + gen5::LANE_EQUALIZATION + lane, byte, 1);
            }
        }
    }
}

/// A value that fits by construction.
pub(super) fn fits<W>(word: Result<W, lanetwin_wire::DoesNotFit>) -> W {
    word.unwrap_or_else(|fault| panic!("{fault}"))
}
