//! Data pointers: Physical Region Page (PRP) entries and Scatter Gather List (SGL) descriptors (Base 2.0 §4.1).

use lanetwin_wire::{open_enum, wire};

/// The size of a PRP entry \[B\] (Base 2.0 §4.1.1).
pub const PRP_BYTES: u32 = 8;
/// The size of an SGL descriptor \[B\] (Base 2.0 §4.1.2).
pub const SGL_DESCRIPTOR_BYTES: u32 = 16;

open_enum! {
    /// SGL Descriptor Type (Base 2.0 §4.1.2).
    pub struct SglType(u8) {
        /// SGL Data Block.
        DATA_BLOCK = 0x0;
        /// SGL Bit Bucket: data that the host does not want.
        BIT_BUCKET = 0x1;
        /// SGL Segment: the next segment of the list, which is not the last.
        SEGMENT = 0x2;
        /// SGL Last Segment: the last segment of the list.
        LAST_SEGMENT = 0x3;
        /// Keyed SGL Data Block.
        KEYED_DATA_BLOCK = 0x4;
        /// Transport SGL Data Block.
        TRANSPORT_DATA_BLOCK = 0x5;
        /// Vendor specific.
        VENDOR = 0xf;
    }

    /// SGL Descriptor Sub Type (Base 2.0 §4.1.2).
    pub struct SglSubtype(u8) {
        /// Address.
        ADDRESS = 0x0;
        /// Offset: into a capsule, or a controller memory buffer.
        OFFSET = 0x1;
        /// For the transport.
        TRANSPORT = 0xa;
        /// Keyed data block whose key is invalidated when the command ends (NVMe-oF 1.1 §2.3).
        INVALIDATE_KEY = 0xf;
    }
}

wire! {
    /// An SGL descriptor (Base 2.0 §4.1.2).
    pub struct SglDescriptor(u128) {
        /// Address
        address / with_address: u64 = 63:0;
        /// Length \[B\]
        length / with_length: u32 = 95:64;
        /// Reserved
        reserved = 119:96;
        /// SGL Descriptor Sub Type
        subtype / with_subtype: SglSubtype = 123:120;
        /// SGL Descriptor Type
        kind / with_kind: SglType = 127:124;
    }
}

wire! {
    /// A Keyed SGL Data Block descriptor (Base 2.0 §4.1.2).
    pub struct KeyedSglDescriptor(u128) {
        /// Address
        address / with_address: u64 = 63:0;
        /// Length \[B\]
        length / with_length: u32 = 87:64;
        /// Key
        key / with_key: u32 = 119:88;
        /// SGL Descriptor Sub Type
        subtype / with_subtype: SglSubtype = 123:120;
        /// SGL Descriptor Type
        kind / with_kind: SglType = 127:124;
    }
}

impl SglDescriptor {
    /// A descriptor of in-capsule data from this offset on.
    #[must_use]
    pub const fn in_capsule(offset: u64, length: u32) -> Self {
        let subtype = (SglSubtype::OFFSET.0 as u128) << 120;
        Self::from_raw(Self::of(SglType::DATA_BLOCK, offset, length).raw() | subtype)
    }
    /// A descriptor of data that the transport carries.
    #[must_use]
    pub const fn by_transport(length: u32) -> Self {
        let subtype = (SglSubtype::TRANSPORT.0 as u128) << 120;
        Self::from_raw(Self::of(SglType::TRANSPORT_DATA_BLOCK, 0, length).raw() | subtype)
    }
    /// The descriptor of a data block.
    #[must_use]
    pub const fn block(address: u64, length: u32) -> Self {
        Self::of(SglType::DATA_BLOCK, address, length)
    }
    /// A descriptor that holds an address.
    #[must_use]
    pub const fn of(kind: SglType, address: u64, length: u32) -> Self {
        Self::from_raw(address as u128 | (length as u128) << 64 | (kind.0 as u128 & 0xf) << 124)
    }
    /// The descriptor in the two halves of a data pointer.
    #[must_use]
    pub const fn from_halves(low: u64, high: u64) -> Self {
        Self::from_raw(low as u128 | (high as u128) << 64)
    }
    /// The two halves of the descriptor, for a data pointer.
    #[must_use]
    pub const fn to_halves(self) -> (u64, u64) {
        (self.raw() as u64, (self.raw() >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn the_word_tiles() {
        assert_fields_tile::<SglDescriptor>();
        assert_fields_tile::<KeyedSglDescriptor>();
    }

    /// By hand: 4096 B at 1000h behind key 11223344h.
    #[test]
    fn a_keyed_descriptor_by_hand() {
        let bytes = [0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0x44, 0x33, 0x22, 0x11, 0x40];
        let keyed = KeyedSglDescriptor::from_raw(u128::from_le_bytes(bytes));
        assert_eq!((keyed.address(), keyed.length(), keyed.key()), (0x1000, 4096, 0x1122_3344));
        assert_eq!((keyed.kind(), keyed.subtype()), (SglType::KEYED_DATA_BLOCK, SglSubtype::ADDRESS));
        assert_eq!(SglDescriptor::by_transport(8).raw().to_le_bytes()[15], 0x5a);
        assert_eq!(SglDescriptor::in_capsule(0, 8).raw().to_le_bytes()[15], 0x01);
    }

    #[test]
    fn a_descriptor_by_hand() {
        let last = SglDescriptor::of(SglType::LAST_SEGMENT, 0x1000, 32);
        assert_eq!(last.raw().to_le_bytes(), [0, 0x10, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0x30]);
        let (low, high) = last.to_halves();
        assert_eq!(SglDescriptor::from_halves(low, high), last);
        assert_eq!((last.kind(), last.subtype()), (SglType::LAST_SEGMENT, SglSubtype::ADDRESS));
    }
}
