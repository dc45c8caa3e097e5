//! vfio-user: the drive as a PCI function of a guest, by a Unix socket. The guest's own NVMe driver finds it, and sees
//! the link that the scenario has.
//!
//! ```text
//!  QEMU ◄─ socket, files ─► Session: messages ◄─► Function: configuration space, registers, MSI-X, memory of the guest
//!                                                     │ NVMe: Subsystem ── media ──► Engine: when, and with what bytes
//! ```
//!
//! What the controller does is that of the `nvme` crate; here are the front in memory of a guest, and the PCI function
//! around it. [`session`] and [`function`] have no socket and read no clock; [`host`] is a driver of our own, which
//! measures the door.
//!
//! Read with code of our own: the published server for the protocol (crate `vfio_user` 0.1.7) has the socket and a loop
//! of its own, where here one thread has every socket and the clock, and it panics at a version without a zero at its
//! end.
//!
//! Not here: INTx and MSI, memory that is reached by messages (DMA_READ, DMA_WRITE), migration.

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
/// How large BAR0 is \[B\]: registers and doorbells, the MSI-X table, its pending bits.
pub const BAR_BYTES: u64 = 0x4000;
/// Where in BAR0 the MSI-X table is.
pub const TABLE_AT: u64 = 0x2000;
/// Where in BAR0 the pending bits are.
pub const PENDING_AT: u64 = 0x3000;
/// So many I/O queues there are, and one vector more.
pub const IO_QUEUES: u16 = 64;
