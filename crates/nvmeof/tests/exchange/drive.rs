//! The drive behind the target: cross point media, which need no warming up, and real bytes.

use lanetwin_media::DriveConfig;
use lanetwin_media::config::{CrossPoint, Energy, Frees, Medium, WriteBuffer};
use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, NamespaceConfig, SubsystemConfig};
use lanetwin_nvme::spec::{ControllerId, Nsid};
use lanetwin_ssd::{FirmwareConfig, SsdConfig};
use lanetwin_units::{Bytes, Span, Spread};

pub const NQN: &str = "nqn.2026-01.test:ssd";
/// What the namespace has \[B\]; its blocks have 512 B.
pub const NAMESPACE_BYTES: u64 = 4 << 20;

/// Controllers 1 and 2, a namespace that both have.
pub fn drive(chunk_bytes: Option<u32>) -> SsdConfig {
    let controller = |id| ControllerConfig {
        io_queues: 4,
        vectors: 5,
        queue_entries: 256,
        chunk_bytes,
        ready_after: Span::from_us(3000),
        ..ControllerConfig::new(ControllerId(id))
    };
    SsdConfig {
        subsystem: SubsystemConfig {
            nqn: NQN.into(),
            serial: "S1".into(),
            model: "Test".into(),
            firmware: "1".into(),
            vendor: 0,
            namespaces: vec![NamespaceConfig {
                nsid: Nsid(1),
                bytes: NAMESPACE_BYTES,
                formats: vec![LbaFormat::B512],
                format: 0,
                attached: vec![ControllerId(1), ControllerId(2)],
                zero_after_deallocate: true,
            }],
            controllers: vec![controller(1), controller(2)],
            volatile_write_cache: true,
            atomic_write_blocks: 1,
            access_ports: 0,
        },
        medium: DriveConfig {
            capacity: Bytes(64 << 20),
            medium: Medium::CrossPoint(CrossPoint {
                channels: 2,
                partitions: 4,
                line: Bytes(512),
                read: Span::from_us(2),
                write: Span::from_us(4),
                bytes_per_second: 2_000_000_000,
                command: Span::from_ns(50),
                endurance: 1_000_000,
            }),
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
            read_small: Span::from_us(4),
            write: Span::from_us(5),
            write_small: Span::from_us(5),
            read_unit: Span::from_ns(200),
            write_unit: Span::from_ns(300),
            other: Span::from_us(3),
            read_latency: Span::from_us(2),
            write_latency: Span::from_us(1),
        },
    }
}
