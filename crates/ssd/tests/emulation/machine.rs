//! Drives that tests are about.

use lanetwin_media::DriveConfig;
use lanetwin_media::config::{
    Allocation, Bus, CrossPoint, Energy, Frees, Ftl, Geometry, Initial, MappingTable, Medium, Nand, Rules,
    Timing, Victim, Watermarks, WearLevelling, WriteBuffer,
};
use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, NamespaceConfig, SubsystemConfig};
use lanetwin_nvme::spec::{ControllerId, Nsid};
use lanetwin_ssd::{FirmwareConfig, SsdConfig};
use lanetwin_units::{Bytes, Span, Spread};

pub const ONE: ControllerId = ControllerId(1);
/// What each of the two namespaces has \[B\].
pub const NAMESPACE_BYTES: u64 = 1 << 20;

/// Four dies of TLC flash with nothing on them.
pub fn flash() -> Medium {
    let geometry = Geometry {
        channels: 2,
        chips: 2,
        dies: 1,
        planes: 2,
        blocks: 64,
        pages: 33,
        page: Bytes(16384),
        spare: Bytes(1024),
    };
    let nand = Nand { geometry, timing: Timing::TLC, bus: Bus::of(1600), read_burst: 16, rules: Rules::Dies };
    let ftl = Ftl {
        initial: Initial::Empty,
        allocation: Allocation::Dies,
        victim: Victim::Greedy,
        hot_cold: true,
        watermarks: Watermarks { low: 3, urgent: 2 },
        wear: WearLevelling { dynamic: true, lag: None },
        endurance: 3_000,
        streams: 1,
        partitions: Vec::new(),
        mapping: MappingTable::Dram(Span::from_ns(100)),
        slc: None,
        read_ahead: None,
    };
    Medium::Nand(Box::new(nand), Box::new(ftl))
}
/// A medium that is written in place.
pub fn cross_point() -> Medium {
    Medium::CrossPoint(CrossPoint {
        channels: 2,
        partitions: 4,
        line: Bytes(512),
        read: Span::from_us(2),
        write: Span::from_us(4),
        bytes_per_second: 2_000_000_000,
        command: Span::from_ns(50),
        endurance: 1_000_000,
    })
}

/// A controller whose commands are not cut, with room for all of them.
pub fn controller() -> ControllerConfig {
    ControllerConfig { io_queues: 4, vectors: 5, queue_entries: 256, ..ControllerConfig::new(ONE) }
}

/// A drive with two namespaces of blocks of 512 B or 4 KiB.
pub fn drive(controller: ControllerConfig, medium: Medium) -> SsdConfig {
    let namespace = |nsid| NamespaceConfig {
        nsid: Nsid(nsid),
        bytes: NAMESPACE_BYTES,
        formats: vec![LbaFormat::B512, LbaFormat::B4096],
        format: 0,
        attached: vec![ONE],
        zero_after_deallocate: true,
    };
    SsdConfig {
        subsystem: SubsystemConfig {
            nqn: "nqn.2026-01.test:ssd".into(),
            serial: "S1".into(),
            model: "Test".into(),
            firmware: "1".into(),
            vendor: 0,
            namespaces: vec![namespace(1), namespace(2)],
            controllers: vec![controller],
            volatile_write_cache: true,
            atomic_write_blocks: 1,
            access_ports: 0,
        },
        medium: DriveConfig {
            capacity: Bytes(64 << 20),
            medium,
            spread: Spread::NONE,
            buffer: WriteBuffer {
                capacity: Bytes(4 << 20),
                frees: Frees::Programmed,
                power_loss_protected: true,
                volatile_cache: false,
                latency: Span::from_us(1),
            },
            encryption: None,
            energy: Energy::TLC,
        },
        firmware: FirmwareConfig {
            engines: 3,
            read: Span::from_us(4),
            read_small: Span::from_ns(2_600),
            write: Span::from_us(5),
            write_small: Span::from_ns(6_400),
            other: Span::from_us(3),
            read_unit: Span::from_ns(200),
            write_unit: Span::from_ns(300),
            read_latency: Span::from_us(2),
            write_latency: Span::from_us(1),
        },
    }
}
