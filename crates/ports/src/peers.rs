//! Memory of devices that other devices access: a controller memory buffer (CMB).
//!
//! ```text
//!   address   62      61 … 46    45 … 0
//!             1       device     place in its memory
//! ```
//!
//! Enumeration determines the window of a device in the address space of a host; here an address identifies the
//! device itself, to which switches would map the window.

use lanetwin_pcie::link::EndpointId;

const WINDOW: u64 = 1 << 62;
const OFFSET_BITS: u32 = 46;

/// The address of a place in the memory of a device.
#[must_use]
pub const fn device_memory(device: EndpointId, offset: u64) -> u64 {
    WINDOW | (device.0 as u64) << OFFSET_BITS | offset & ((1 << OFFSET_BITS) - 1)
}
/// The device in whose memory an address is. Returns `None` for host memory and registers.
#[must_use]
pub const fn device_of(address: u64) -> Option<EndpointId> {
    if address & WINDOW == 0 { None } else { Some(EndpointId((address >> OFFSET_BITS) as u16)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_device() {
        for device in [0, 1, 77, u16::MAX].map(EndpointId) {
            for offset in [0, 4096, (1 << OFFSET_BITS) - 1] {
                assert_eq!(device_of(device_memory(device, offset)), Some(device));
            }
        }
        assert_eq!([0, 0x1000, 1 << 47].map(device_of), [None; 3]);
    }
}
