//! vfio-user: the drive as a PCI function of a guest, over a Unix socket. The guest's own NVMe driver finds it, and
//! sees the link of the scenario.
//!
//! ```text
//!  QEMU ◄─ socket, files ─► Session: messages ◄─► Function: configuration space, registers, MSI-X, memory of the guest
//!                                                     │ NVMe: Subsystem ── media ──► Engine: when, and with what bytes
//! ```
//!
//! The `nvme` crate implements the controller; this module adds the front in guest memory and the PCI function.
//! [`session`] and [`function`] have no socket and read no clock; [`host`] is a driver that measures the door.
//!
//! The protocol is implemented here: the published server (crate `vfio_user` 0.1.7) owns the socket and a loop, while
//! here one thread has every socket and the clock, and it panics at a version without a terminating zero.
//!
//! Not here: INTx and MSI, memory accessed by messages (DMA_READ, DMA_WRITE), migration.

pub mod config_space;
pub mod function;
pub mod host;
pub mod link;
pub mod memory;
pub mod message;
mod requests;
pub mod session;
pub mod wire;

/// Vendor and Device ID: of those that are there for experiments (QEMU `docs/specs/pci-ids.rst`). Linux takes the drive
/// by its class.
pub const VENDOR_ID: u16 = 0x1af4;
/// See [`VENDOR_ID`].
pub const DEVICE_ID: u16 = 0x10f0;
/// Size of BAR0 \[B\]: registers and doorbells, the MSI-X table, its pending bits.
pub const BAR_BYTES: u64 = 0x4000;
/// Offset of the MSI-X table in BAR0.
pub const TABLE_AT: u64 = 0x2000;
/// Offset of the pending bits in BAR0.
pub const PENDING_AT: u64 = 0x3000;
/// Number of I/O queues; there is one more vector.
pub const IO_QUEUES: u16 = 64;
