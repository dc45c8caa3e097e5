//! A function and the offsets of its capabilities.

use crate::host::{Address, Host, HostError, Width};
use crate::registers::{Home, Place, Register};
use lanetwin_wire::Word;

/// Offset of the pointer to the first capability \[B\].
const CAPABILITIES_POINTER: u16 = 0x34;
/// The first byte of extended configuration space.
const EXTENDED: u16 = 0x100;
/// Bit 4 of Status: there is a list of capabilities.
const STATUS_HAS_LIST: u32 = 1 << 4;

/// A function of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its address.
    pub address: Address,
    /// Vendor ID.
    pub vendor: u16,
    /// Device ID.
    pub device: u16,
    /// Class code: base class, subclass, programming interface.
    pub class: u32,
    /// Whether its header is that of a bridge.
    pub bridge: bool,
    /// Whether the device has multiple functions.
    pub many: bool,
    capabilities: Vec<(Home, u16)>,
}

impl Function {
    /// Reads the identity of a function and walks its capability lists.
    ///
    /// Always terminates: a list ends where it points to a capability already visited or outside its part of the space.
    ///
    /// # Errors
    /// If the function does not exist, or the machine does not permit reading it.
    pub fn find(host: &mut dyn Host, address: Address) -> Result<Self, HostError> {
        let identity = host.read(address, 0, Width::Dword)?;
        if identity == Width::Dword.ones() || identity == 0 {
            return Err(HostError::Gone(address));
        }
        let header = host.read(address, 0x0e, Width::Byte)?;
        let class = host.read(address, 0x08, Width::Dword)? >> 8;
        let mut found = Self {
            address,
            vendor: (identity & 0xffff) as u16,
            device: (identity >> 16) as u16,
            class,
            bridge: header & 0x7f == 1,
            many: header & 0x80 != 0,
            capabilities: Vec::new(),
        };
        let size = host.size(address)?;
        found.walk_capabilities(host, size)?;
        found.walk_extended(host, size)?;
        Ok(found)
    }

    fn walk_capabilities(&mut self, host: &mut dyn Host, size: u16) -> Result<(), HostError> {
        let listed = host.read(self.address, 0x06, Width::Word)? & STATUS_HAS_LIST != 0;
        if !listed || size <= 64 {
            return Ok(());
        }
        let mut at = (host.read(self.address, CAPABILITIES_POINTER, Width::Byte)? & 0xfc) as u16;
        while (0x40..EXTENDED).contains(&at) && !self.knows(at) {
            let head = host.read(self.address, at, Width::Word)?;
            if head & 0xff == 0xff {
                break;
            }
            self.capabilities.push((Home::Capability((head & 0xff) as u8), at));
            at = (head >> 8 & 0xfc) as u16;
        }
        Ok(())
    }

    fn walk_extended(&mut self, host: &mut dyn Host, size: u16) -> Result<(), HostError> {
        let mut at = EXTENDED;
        while at >= EXTENDED && at < size && !self.knows(at) {
            let head = host.read(self.address, at, Width::Dword)?;
            if head == 0 || head == Width::Dword.ones() {
                break;
            }
            self.capabilities.push((Home::Extended((head & 0xffff) as u16), at));
            at = (head >> 20 & 0xffc) as u16;
        }
        Ok(())
    }

    fn knows(&self, at: u16) -> bool {
        self.capabilities.iter().any(|(_, known)| *known == at)
    }

    /// The capabilities in the order of the lists, with their offsets \[B\].
    #[must_use]
    pub fn capabilities(&self) -> &[(Home, u16)] {
        &self.capabilities
    }
    /// Whether the function has a capability; the header always exists.
    #[must_use]
    pub fn has(&self, home: Home) -> bool {
        home == Home::Header || self.capabilities.iter().any(|(known, _)| *known == home)
    }
    /// Size of the capability at an offset up to the next one \[B\]; `None` if it is the last.
    #[must_use]
    pub fn room(&self, at: u16) -> Option<u16> {
        let next = self.capabilities.iter().map(|(_, start)| *start).filter(|start| *start > at).min()?;
        Some(next - at)
    }
    /// The offset of a register \[B\]; `None` if its capability is missing, or ends before it.
    #[must_use]
    pub fn offset(&self, place: &Place) -> Option<u16> {
        if place.home == Home::Header {
            return Some(place.offset);
        }
        let (_, start) = self.capabilities.iter().find(|(home, _)| *home == place.home)?;
        let end = place.offset + place.width.bytes();
        self.room(*start).is_none_or(|room| end <= room).then_some(start + place.offset)
    }
    /// Reads a register; `None` if its capability is missing, or ends before it.
    ///
    /// # Errors
    /// If the machine does not permit it.
    pub fn read<W: Word>(&self, host: &mut dyn Host, register: Register<W>) -> Result<Option<W>, HostError> {
        let Some(offset) = self.offset(&register.place) else { return Ok(None) };
        let raw = host.read(self.address, offset, register.place.width)?;
        Ok(Some(W::from_bits(u128::from(raw))))
    }
}
