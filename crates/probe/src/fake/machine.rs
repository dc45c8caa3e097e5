//! A simulated machine that consists of configuration spaces only.

use crate::function::Function;
use crate::host::{Address, Host, HostError, Width};
use crate::registers::{
    ALL, BRIDGE_CONTROL, DEVICE_CONTROL, EqualizationStatus, Home, LINK_CAPABILITIES, LINK_CONTROL,
    LINK_CONTROL_2, LINK_CONTROL_3, LINK_STATUS, LINK_STATUS_2, LinkControl, LinkStatus, LinkStatus2, Place,
    Register, STATUS_16, STATUS_32, STATUS_64,
};
use crate::wait::FOR_POWER;
use lanetwin_units::{Instant, Span};
use lanetwin_wire::Word;
use std::collections::BTreeMap;

/// What a write does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// Nothing.
    Inert,
    /// It changes the register, and takes the requested effect at once.
    Obliging,
}

/// Bits of a type 0 header that are writable, and zero after a reset: offset, width, bits.
const HEADER: &[(u16, Width, u32)] = &[
    (0x04, Width::Word, 0x0547),
    (0x0c, Width::Byte, 0xff),
    (0x10, Width::Dword, 0xffff_fff0),
    (0x14, Width::Dword, 0xffff_ffff),
    (0x18, Width::Dword, 0xffff_ffff),
    (0x1c, Width::Dword, 0xffff_ffff),
    (0x20, Width::Dword, 0xffff_ffff),
    (0x24, Width::Dword, 0xffff_ffff),
    (0x30, Width::Dword, 0xffff_f801),
    (0x3c, Width::Byte, 0xff),
];

/// A simulated machine.
#[derive(Clone, Debug)]
pub struct Fake {
    spaces: BTreeMap<Address, Vec<u8>>,
    functions: BTreeMap<Address, Function>,
    behaviour: Behaviour,
    now: Instant,
}

impl Fake {
    /// The machine with these configuration spaces.
    #[must_use]
    pub fn new(spaces: BTreeMap<Address, Vec<u8>>, behaviour: Behaviour) -> Self {
        let mut fake = Self { spaces, functions: BTreeMap::new(), behaviour, now: Instant::ZERO };
        let addresses: Vec<Address> = fake.spaces.keys().copied().collect();
        for address in addresses {
            if let Ok(function) = Function::find(&mut fake, address) {
                fake.functions.insert(address, function);
            }
        }
        fake
    }
    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.values()
    }
    /// The port above a device: the bridge whose secondary bus is the device's.
    #[must_use]
    pub fn port_above(&self, device: Address) -> Option<Address> {
        let above = |function: &&Function| {
            let secondary = self.spaces.get(&function.address).and_then(|space| space.get(0x19));
            let domain = function.address.domain == device.domain;
            function.bridge && domain && secondary == Some(&device.bus) && device.bus != 0
        };
        self.functions.values().find(above).map(|function| function.address)
    }
    /// All configuration spaces in their current state.
    #[must_use]
    pub const fn spaces(&self) -> &BTreeMap<Address, Vec<u8>> {
        &self.spaces
    }

    /// Reads the space of a function, whether or not its link is up.
    fn peek(&self, at: Address, offset: u16, width: Width) -> u32 {
        let Some(space) = self.spaces.get(&at) else { return width.ones() };
        let byte = |step: u16| space.get(usize::from(offset + step)).copied().map_or(0xff, u32::from);
        (0..width.bytes()).map(|step| byte(step) << (8 * step)).sum()
    }
    fn poke(&mut self, at: Address, offset: u16, width: Width, value: u32) {
        let Some(space) = self.spaces.get_mut(&at) else { return };
        for step in 0..width.bytes() {
            if let Some(byte) = space.get_mut(usize::from(offset + step)) {
                *byte = (value >> (8 * step)) as u8;
            }
        }
    }
    fn word<W: Word>(&self, of: &Function, register: Register<W>) -> Option<W> {
        let offset = of.offset(&register.place)?;
        Some(W::from_bits(u128::from(self.peek(of.address, offset, register.place.width))))
    }
    fn set_word<W: Word>(&mut self, of: &Function, register: Register<W>, word: W) {
        if let Some(offset) = of.offset(&register.place) {
            self.poke(of.address, offset, register.place.width, word.to_bits() as u32);
        }
    }

    /// Stores a write in the registers of the map that it covers completely; others do not change. Returns these
    /// registers, with the value written to each.
    pub fn keep(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Vec<(Place, u32)> {
        let Some(function) = self.functions.get(&at).cloned() else { return Vec::new() };
        let mut reached = Vec::new();
        let header = HEADER.iter().filter(|_| !function.bridge).map(|&(start, size, keeps)| {
            let place =
                Place { name: "header", home: Home::Header, offset: start, width: size, keeps, clears: 0 };
            (start, place)
        });
        let of_kind = |place: &&Place| **place != BRIDGE_CONTROL.place || function.bridge;
        let known = ALL.iter().filter(of_kind).filter_map(|place| Some((function.offset(place)?, *place)));
        let places: Vec<(u16, Place)> = known.chain(header).collect();
        for (start, place) in places {
            let overlaps = start < offset + width.bytes() && offset < start + place.width.bytes();
            let within = start >= offset && start + place.width.bytes() <= offset + width.bytes();
            if overlaps && within {
                let written = value >> (8 * (start - offset)) & place.width.ones();
                let held = self.peek(at, start, place.width);
                let kept = (held & !place.keeps | written & place.keeps) & !(written & place.clears);
                self.poke(at, start, place.width, kept);
                reached.push((place, written));
            }
        }
        reached
    }

    /// The device below a port.
    fn below(&self, port: Address) -> Option<Function> {
        let bus = *self.spaces.get(&port)?.get(0x19)?;
        let under = |function: &&Function| {
            function.address.domain == port.domain && function.address.bus == bus && bus != 0
        };
        self.functions.values().find(under).cloned()
    }

    /// Resets the registers of a function.
    pub fn reset(&mut self, function: &Function) {
        let zero = |fake: &mut Self, offset: u16, width: Width, keeps: u32| {
            let held = fake.peek(function.address, offset, width);
            fake.poke(function.address, offset, width, held & !keeps);
        };
        for &(offset, width, keeps) in HEADER {
            zero(self, offset, width, keeps);
        }
        for place in ALL.iter().filter(|place| place.home != Home::Header) {
            if let Some(offset) = function.offset(place) {
                zero(self, offset, place.width, place.keeps);
            }
        }
    }

    /// Carries out what a write to a register of the port requests: retraining, disabling, a reset.
    fn oblige(&mut self, port: &Function, place: &Place, written: u32) {
        let Some(device) = self.below(port.address) else { return };
        if *place == LINK_CONTROL.place {
            let asked = LinkControl::from_raw(written as u16);
            if asked.retrain() && !asked.disable() {
                self.train(port, &device);
            }
            self.settle(port, &device);
        } else if *place == BRIDGE_CONTROL.place {
            self.settle(port, &device);
        }
    }

    /// Whether Link Disable or Secondary Bus Reset keeps the link of a port down.
    fn held_down(&self, port: &Function) -> bool {
        let disabled = self.word(port, LINK_CONTROL).is_some_and(LinkControl::disable);
        disabled
            || self.word(port, BRIDGE_CONTROL).is_some_and(|word| port.bridge && word.secondary_bus_reset())
    }

    /// Updates Data Link Layer Link Active of the port; resets the device if the link goes down.
    fn settle(&mut self, port: &Function, device: &Function) {
        let Some(status) = self.word(port, LINK_STATUS) else { return };
        let active = !self.held_down(port);
        if status.active() && !active {
            self.reset(device);
        }
        let reports = self.word(port, LINK_CAPABILITIES).is_some_and(|word| word.link_active_reporting());
        if let Ok(status) = status.with_active(active && reports) {
            self.set_word(port, LINK_STATUS, status);
        }
        if reports || active {
            return;
        }
        self.reset(device);
    }

    /// Trains the link, which always succeeds at once.
    fn train(&mut self, port: &Function, device: &Function) {
        let highest =
            |function: &Function| self.word(function, LINK_CAPABILITIES).map_or(1, |word| word.max_speed());
        let target = self.word(port, LINK_CONTROL_2).map_or(1, |word| word.target_speed());
        let speed = target.min(highest(port)).min(highest(device)).max(1);
        for end in [port, device] {
            let Some(status) = self.word(end, LINK_STATUS) else { continue };
            let trained = status.with_speed(speed).and_then(|status| status.with_bandwidth_management(true));
            self.set_word(end, LINK_STATUS, trained.unwrap_or(status));
        }
        if self.word(port, LINK_CONTROL_3).is_some_and(|word| word.perform_equalization()) {
            self.equalised(port, speed);
        }
    }

    fn equalised(&mut self, port: &Function, speed: u8) {
        let done = EqualizationStatus::from_raw(0x0f);
        match speed {
            3 => {
                let held = self.word(port, LINK_STATUS_2).unwrap_or(LinkStatus2::ZERO);
                self.set_word(port, LINK_STATUS_2, LinkStatus2::from_raw(held.raw() | 0x1e));
            }
            4 => self.set_word(port, STATUS_16, done),
            5 => self.set_word(port, STATUS_32, done),
            6 => self.set_word(port, STATUS_64, done),
            _ => {}
        }
    }

    fn out_of_reach(&self, at: Address) -> bool {
        self.port_above(at)
            .and_then(|port| self.functions.get(&port))
            .is_some_and(|port| self.behaviour == Behaviour::Obliging && self.held_down(port))
    }
}

impl Host for Fake {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        if !self.spaces.contains_key(&at) {
            return Err(HostError::Gone(at));
        }
        let reads = if self.out_of_reach(at) { width.ones() } else { self.peek(at, offset, width) };
        Ok(reads)
    }
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError> {
        if self.behaviour == Behaviour::Inert || self.out_of_reach(at) {
            return Ok(());
        }
        let Some(function) = self.functions.get(&at).cloned() else { return Ok(()) };
        for (place, written) in self.keep(at, offset, width, value) {
            if function.bridge {
                self.oblige(&function, &place, written);
            } else if place == DEVICE_CONTROL.place && written & 0x8000 != 0 {
                self.reset(&function);
            }
        }
        Ok(())
    }
    fn size(&mut self, at: Address) -> Result<u16, HostError> {
        let space = self.spaces.get(&at).ok_or(HostError::Gone(at))?;
        Ok(u16::try_from(space.len()).unwrap_or(4096))
    }
    fn now(&self) -> Instant {
        self.now
    }
    fn wait(&mut self, span: Span) {
        self.now += span;
    }
    fn name(&self) -> String {
        match self.behaviour {
            Behaviour::Inert => "fake, inert".into(),
            Behaviour::Obliging => "fake, obliging".into(),
        }
    }
    fn power_cycle(&mut self, device: Address) -> Result<(), HostError> {
        if self.behaviour == Behaviour::Obliging
            && let Some(function) = self.functions.get(&device).cloned()
        {
            self.reset(&function);
        }
        self.wait(FOR_POWER);
        Ok(())
    }
    fn direct_width(&mut self, port: Address, lanes: u8) -> Result<(), HostError> {
        if self.behaviour == Behaviour::Obliging
            && let Some(function) = self.functions.get(&port).cloned()
            && let Some(status) = self.word(&function, LINK_STATUS)
        {
            let status: LinkStatus = status.with_width(lanes).unwrap_or(status);
            self.set_word(&function, LINK_STATUS, status);
        }
        Ok(())
    }
}
