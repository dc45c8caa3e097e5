//! An invented machine for tests: a root port and, below it, a drive with four lanes. It copies no real device.
//!
//! Vendor and device IDs are those that QEMU gives its generic root port (1b36:000c) and its NVMe controller
//! (1b36:0010).

use super::{Behaviour, Fake};
use crate::host::Address;
use std::collections::BTreeMap;

/// The properties of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The highest rate of both ends \[number of the generation\].
    pub speed: u8,
    /// The lanes of both ends.
    pub width: u8,
    /// Number of retimers detected.
    pub retimers: u8,
}

impl Default for Sample {
    /// Gen5 x4 without a retimer.
    fn default() -> Self {
        Self { speed: 5, width: 4, retimers: 0 }
    }
}

/// A configuration space under construction.
struct Space(Vec<u8>);

impl Space {
    fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    fn word(&mut self, offset: usize, value: u16) {
        self.put(offset, &value.to_le_bytes());
    }
    fn dword(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_le_bytes());
    }
    /// A chain of extended capabilities: ID, version, offset.
    fn extended(&mut self, chain: &[(u16, u32, usize)]) {
        for (at, &(id, version, offset)) in chain.iter().enumerate() {
            let next = chain.get(at + 1).map_or(0, |&(.., next)| next as u32);
            self.dword(offset, next << 20 | version << 16 | u32::from(id));
        }
    }
}

impl Sample {
    /// The port.
    pub const PORT: Address = Address { domain: 0, bus: 0, device: 0x1c, function: 0 };
    /// The drive.
    pub const DEVICE: Address = Address { domain: 0, bus: 1, device: 0, function: 0 };

    /// The configuration spaces of port and drive.
    #[must_use]
    pub fn spaces(self) -> BTreeMap<Address, Vec<u8>> {
        BTreeMap::from([(Self::PORT, self.port()), (Self::DEVICE, self.drive())])
    }
    /// The machine.
    #[must_use]
    pub fn machine(self, behaviour: Behaviour) -> Fake {
        Fake::new(self.spaces(), behaviour)
    }

    fn port(self) -> Vec<u8> {
        let mut space = Space(vec![0; 4096]);
        space.dword(0x00, 0x000c_1b36);
        space.dword(0x04, 0x0010_0547);
        space.dword(0x08, 0x0604_0000);
        space.0[0x0e] = 1;
        space.put(0x18, &[0, 1, 1]);
        space.0[0x34] = 0x40;
        self.express(&mut space, 0x40, 0, 0x0142, 1 << 20 | 1 << 21 | 1 << 19);
        self.physical(&mut space);
        space.0
    }

    fn drive(self) -> Vec<u8> {
        let mut space = Space(vec![0; 4096]);
        space.dword(0x00, 0x0010_1b36);
        space.dword(0x04, 0x0010_0406);
        space.dword(0x08, 0x0108_0202);
        space.dword(0x10, 0xfebd_0004);
        space.0[0x34] = 0x40;
        // power management: D3hot, No_Soft_Reset
        space.put(0x40, &[0x01, 0xb0, 0x03, 0x00, 0x08, 0x00]);
        // MSI-X with 64 vectors
        space.put(0xb0, &[0x11, 0x70, 0x3f, 0x00]);
        self.express(&mut space, 0x70, 0, 0x0002, 0);
        space.dword(0x74, 0x1000_8fc0); // Device Capabilities: Function Level Reset
        self.physical(&mut space);
        space.0
    }

    /// The PCI Express capability of a port or endpoint.
    fn express(self, space: &mut Space, at: usize, next: u8, kind: u16, more: u32) {
        space.put(at, &[0x10, next]);
        space.word(at + 2, kind);
        space.dword(at + 0x0c, more | 0b10 << 10 | u32::from(self.width) << 4 | u32::from(self.speed));
        space.word(at + 0x10, 0x0040);
        let active = if more == 0 { 0 } else { 1 << 13 };
        space.word(at + 0x12, active | 1 << 12 | u16::from(self.width) << 4 | u16::from(self.speed));
        space.dword(at + 0x2c, 0x0180_0000 | ((1 << self.speed) - 1) << 1);
        space.word(at + 0x30, u16::from(self.speed));
        let retimers = [0, 0x40, 0xc0][usize::from(self.retimers.min(2))];
        space.word(at + 0x32, 0x001e | retimers);
    }

    /// The extended capabilities that a link of this rate has.
    fn physical(self, space: &mut Space) {
        let mut chain = vec![(0x0001, 2, 0x100), (0x0019, 1, 0x150)];
        if self.speed >= 4 {
            chain.extend([(0x0026, 1, 0x180), (0x0027, 1, 0x200)]);
            space.dword(0x18c, 0x0f);
            space.word(0x206, 0x0001);
        }
        if self.speed >= 5 {
            chain.push((0x002a, 1, 0x280));
            space.dword(0x28c, 0x0f);
        }
        space.extended(&chain);
    }
}
