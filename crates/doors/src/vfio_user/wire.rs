//! Messages of the vfio-user protocol 0.1, as they go over the socket: least significant byte first.
//!
//! Offsets, numbers and flags are those of QEMU `docs/interop/vfio-user.rst`, and of Linux `vfio.h`
//! (`vfio_device_info`, `vfio_region_info`, `vfio_irq_info`, `vfio_irq_set`, `VFIO_PCI_*`), whose structures the
//! messages carry.

use lanetwin_wire::{open_enum, structure, wire};

/// The protocol's version that is spoken: 0.1.
pub const MAJOR: u16 = 0;
/// The minor version.
pub const MINOR: u16 = 1;
/// How large a header is \[B\].
pub const HEADER_BYTES: usize = 16;
/// The most bytes of a region that one message reads or writes (`max_data_xfer_size`).
pub const MOST_DATA: u32 = 64 << 10;
/// The largest message that is read \[B\].
pub const MOST_MESSAGE: u32 = HEADER_BYTES as u32 + 16 + MOST_DATA;
/// The most file descriptors that come with a message (`max_msg_fds`); QEMU takes no higher limit.
pub const MOST_FDS: usize = 16;
/// What DMA is mapped in (`pgsizes`) \[B\].
pub const PAGE: u64 = 4096;

open_enum! {
    /// What a message asks for.
    pub struct Code(u16) {
        /// Versions and limits are exchanged.
        VERSION = 1;
        /// Memory of the guest is reached from now on.
        DMA_MAP = 2;
        /// Memory of the guest is reached no more.
        DMA_UNMAP = 3;
        /// How many regions and interrupts there are.
        DEVICE_GET_INFO = 4;
        /// What a region is.
        DEVICE_GET_REGION_INFO = 5;
        /// What a kind of interrupt is.
        DEVICE_GET_IRQ_INFO = 7;
        /// How interrupts are signalled.
        DEVICE_SET_IRQS = 8;
        /// A region is read.
        REGION_READ = 9;
        /// A region is written.
        REGION_WRITE = 10;
        /// The device is reset.
        DEVICE_RESET = 13;
    }

    /// Request or reply.
    pub struct Type(u8) {
        /// A request.
        REQUEST = 0;
        /// A reply.
        REPLY = 1;
    }

    /// The regions of a PCI device, in the order of Linux `vfio.h`; those that are not named here are empty.
    pub struct Region(u32) {
        /// BAR0.
        BAR0 = 0;
        /// Configuration space.
        CONFIG = 7;
    }

    /// The kinds of interrupt of a PCI device.
    pub struct Irq(u32) {
        /// MSI-X.
        MSIX = 2;
    }
}

/// How many regions a PCI device has: six BARs, ROM, configuration space, VGA.
pub const REGIONS: u32 = 9;
/// How many kinds of interrupt: INTx, MSI, MSI-X, errors, requests.
pub const IRQS: u32 = 5;

wire! {
    /// Flags of a header.
    pub struct Flags(u32) {
        /// Reserved
        reserved = 31:6;
        /// An error: its number is in the header
        error / with_error: bool = 5:5;
        /// No reply is wanted
        no_reply / with_no_reply: bool = 4:4;
        /// Request or reply
        kind / with_kind: Type = 3:0;
    }

    /// Flags of DMA_MAP.
    pub struct MapFlags(u32) {
        /// Reserved
        reserved = 31:2;
        /// The device may write
        write / with_write: bool = 1:1;
        /// The device may read
        read / with_read: bool = 0:0;
    }

    /// Flags of DMA_UNMAP.
    pub struct UnmapFlags(u32) {
        /// Reserved
        reserved = 31:2;
        /// Everything is unmapped
        all / with_all: bool = 1:1;
        /// Which pages were written is asked for
        dirty / with_dirty: bool = 0:0;
    }

    /// Flags of DEVICE_GET_INFO.
    pub struct DeviceFlags(u32) {
        /// Reserved, and other buses
        reserved = 31:2;
        /// A PCI device
        pci / with_pci: bool = 1:1;
        /// DEVICE_RESET works
        reset / with_reset: bool = 0:0;
    }

    /// Flags of DEVICE_GET_REGION_INFO.
    pub struct RegionFlags(u32) {
        /// Reserved
        reserved = 31:4;
        /// There is more behind it
        capabilities / with_capabilities: bool = 3:3;
        /// It can be mapped
        mmap / with_mmap: bool = 2:2;
        /// It can be written
        write / with_write: bool = 1:1;
        /// It can be read
        read / with_read: bool = 0:0;
    }

    /// Flags of DEVICE_GET_IRQ_INFO.
    pub struct IrqFlags(u32) {
        /// Reserved
        reserved = 31:4;
        /// Vectors are not added one by one
        no_resize / with_no_resize: bool = 3:3;
        /// It masks itself
        automasked / with_automasked: bool = 2:2;
        /// It can be masked
        maskable / with_maskable: bool = 1:1;
        /// It is signalled by an eventfd
        eventfd / with_eventfd: bool = 0:0;
    }

    /// Flags of DEVICE_SET_IRQS: one kind of data, one action.
    pub struct SetIrqFlags(u32) {
        /// Reserved
        reserved = 31:6;
        /// Action: signal, or say how
        trigger / with_trigger: bool = 5:5;
        /// Action: unmask
        unmask / with_unmask: bool = 4:4;
        /// Action: mask
        mask / with_mask: bool = 3:3;
        /// Data: file descriptors, which come beside the message
        eventfd / with_eventfd: bool = 2:2;
        /// Data: a byte for each
        bytes / with_bytes: bool = 1:1;
        /// Data: none, all are meant
        none / with_none: bool = 0:0;
    }
}

structure! {
    /// What every message begins with.
    pub struct Header(16) {
        /// Message ID; a reply has its request's
        id / set_id: u16 = 0;
        /// Command
        code / set_code: Code = 2;
        /// Message size, header included \[B\]
        size / set_size: u32 = 4;
        /// Flags
        flags / set_flags: Flags = 8;
        /// Error: a number of `errno.h`
        error / set_error: u32 = 12;
    }

    /// Body of VERSION, before a text of JSON that ends with a zero.
    pub struct VersionBody(4) {
        /// Major version
        major / set_major: u16 = 0;
        /// Minor version
        minor / set_minor: u16 = 2;
    }

    /// Body of DMA_MAP.
    pub struct MapBody(32) {
        /// Its size \[B\]
        argsz / set_argsz: u32 = 0;
        /// Flags
        flags / set_flags: MapFlags = 4;
        /// Where the memory begins in the file \[B\]
        offset / set_offset: u64 = 8;
        /// Where it begins for the device
        address / set_address: u64 = 16;
        /// How much it is \[B\]
        size / set_size: u64 = 24;
    }

    /// Body of DMA_UNMAP, and of its reply.
    pub struct UnmapBody(24) {
        /// Its size \[B\]
        argsz / set_argsz: u32 = 0;
        /// Flags
        flags / set_flags: UnmapFlags = 4;
        /// From where on
        address / set_address: u64 = 8;
        /// How much \[B\]
        size / set_size: u64 = 16;
    }

    /// Body of DEVICE_GET_INFO, and of its reply.
    pub struct DeviceInfo(16) {
        /// Its size \[B\]
        argsz / set_argsz: u32 = 0;
        /// Flags
        flags / set_flags: DeviceFlags = 4;
        /// How many regions
        regions / set_regions: u32 = 8;
        /// How many kinds of interrupt
        irqs / set_irqs: u32 = 12;
    }

    /// Body of DEVICE_GET_REGION_INFO, and of its reply.
    pub struct RegionInfo(32) {
        /// Its size \[B\]
        argsz / set_argsz: u32 = 0;
        /// Flags
        flags / set_flags: RegionFlags = 4;
        /// Which
        index / set_index: Region = 8;
        /// Where more is, behind it
        more / set_more: u32 = 12;
        /// How large the region is \[B\]
        size / set_size: u64 = 16;
        /// Where it is in a file that can be mapped
        offset / set_offset: u64 = 24;
    }

    /// Body of DEVICE_GET_IRQ_INFO, and of its reply.
    pub struct IrqInfo(16) {
        /// Its size \[B\]
        argsz / set_argsz: u32 = 0;
        /// Flags
        flags / set_flags: IrqFlags = 4;
        /// Which kind
        index / set_index: Irq = 8;
        /// How many
        count / set_count: u32 = 12;
    }

    /// Body of DEVICE_SET_IRQS, before bytes if its flags say so.
    pub struct SetIrqs(20) {
        /// Its size \[B\]
        argsz / set_argsz: u32 = 0;
        /// Flags
        flags / set_flags: SetIrqFlags = 4;
        /// Which kind
        index / set_index: Irq = 8;
        /// The first one
        start / set_start: u32 = 12;
        /// How many
        count / set_count: u32 = 16;
    }

    /// Body of REGION_READ and REGION_WRITE, and of their replies, before what is written or was read.
    pub struct Access(16) {
        /// From where on \[B\]
        offset / set_offset: u64 = 0;
        /// Which region
        region / set_region: Region = 8;
        /// How much \[B\]
        count / set_count: u32 = 12;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<Flags>();
        assert_fields_tile::<MapFlags>();
        assert_fields_tile::<UnmapFlags>();
        assert_fields_tile::<DeviceFlags>();
        assert_fields_tile::<RegionFlags>();
        assert_fields_tile::<IrqFlags>();
        assert_fields_tile::<SetIrqFlags>();
    }

    /// A REGION_READ of QEMU for the first dword of configuration space, by hand.
    #[test]
    fn a_request_by_hand() {
        let header = Header::from_bytes([7, 0, 9, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((header.id(), header.code(), header.size()), (7, Code::REGION_READ, 32));
        assert_eq!((header.flags().kind(), header.flags().no_reply()), (Type::REQUEST, false));
        let access = Access::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!((access.region(), access.count()), (Region::CONFIG, 4));
        assert_eq!(
            Flags::from_raw(0x21),
            Flags::ZERO.with_kind(Type::REPLY).unwrap().with_error(true).unwrap()
        );
    }
}
