//! Constants of the link layer, with their sources.
//!
//! "CXL" is the Compute Express Link Specification, revision 3.2, whose 68 B flit mode is that of revisions 1.1 and
//! 2.0.

/// Length of a flit on the wire \[B\]: protocol ID 2, four slots of 16, CRC 2 (CXL §4.2.2, §6.2.2).
pub const FLIT_BYTES: u64 = 68;
/// Length of the protocol ID before each flit \[B\] (CXL §6.2.2.1).
pub const PROTOCOL_ID_BYTES: usize = 2;
/// Length of a slot \[B\] (CXL §4.2.2).
pub const SLOT_BYTES: usize = 16;
/// Slots per flit (CXL §4.2.2).
pub const FLIT_SLOTS: usize = 4;
/// Length of the CRC of a flit \[B\] (CXL §4.2.2).
pub const CRC_BYTES: usize = 2;
/// Length of a cache line \[B\] (CXL §3.3).
pub const LINE_BYTES: u64 = 64;
/// Data slots per line: 64 B / 16 B.
pub const LINE_SLOTS: u8 = 4;

/// Maximum number of M2S Req in a flit (CXL §4.2.5).
pub const M2S_REQ_PER_FLIT: u8 = 2;
/// Maximum number of M2S RwD headers in a flit (CXL §4.2.5).
pub const M2S_RWD_PER_FLIT: u8 = 1;
/// Maximum number of S2M NDR in a flit (CXL §4.2.5).
pub const S2M_NDR_PER_FLIT: u8 = 2;
/// Maximum number of S2M DRS headers in a flit; several must be in one slot (CXL §4.2.5).
pub const S2M_DRS_PER_FLIT: u8 = 3;

/// Symbols per block of a lane: 128 bits / 8 (PCI Express).
pub const BLOCK_SYMBOLS: u64 = 16;
/// Data blocks between two SKP ordered sets when sync headers are bypassed (CXL §6.8.1).
pub const SKP_BYPASS_DATA_BLOCKS: u64 = 340;
/// Longest period of SKP ordered sets with sync headers \[blocks\], that of PCI Express with a common clock
/// (MindShare, PCI Express Technology 3.0).
pub const SKP_PERIOD_BLOCKS: u64 = 375;
/// Length of a SKP ordered set \[blocks\] (Intel: nominal 130 bits).
pub const SKP_LENGTH_BLOCKS: u64 = 1;

/// Flits of a RETRY.Req or RETRY.Ack sequence: five RETRY.Frame and the flit itself (CXL §4.2.8.4).
pub const RETRY_SEQUENCE_FLITS: u32 = 6;
/// Maximum number of credits that one field of a flit header returns (CXL §4.2.2, table 4-4).
pub const CREDITS_PER_FIELD: u32 = 64;
/// Bytes of transaction-layer packets that a CXL.io flit carries, between the protocol ID and the two reserved bytes
/// (CXL §6.2.2).
pub const IO_FLIT_PAYLOAD_BYTES: u64 = 64;
