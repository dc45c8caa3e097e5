//! Every number that the link layer rests on, with where it comes from.
//!
//! "CXL" is the Compute Express Link Specification, revision 3.2, whose 68 B flit mode is that of revisions 1.1 and
//! 2.0.

/// A flit on the wire \[B\]: protocol ID 2, four slots of 16, CRC 2 (CXL §4.2.2, §6.2.2).
pub const FLIT_BYTES: u64 = 68;
/// The protocol ID before each flit \[B\] (CXL §6.2.2.1).
pub const PROTOCOL_ID_BYTES: usize = 2;
/// A slot \[B\] (CXL §4.2.2).
pub const SLOT_BYTES: usize = 16;
/// Slots of a flit (CXL §4.2.2).
pub const FLIT_SLOTS: usize = 4;
/// The CRC of a flit \[B\] (CXL §4.2.2).
pub const CRC_BYTES: usize = 2;
/// A cache line \[B\] (CXL §3.3).
pub const LINE_BYTES: u64 = 64;
/// Slots of data that a line needs: 64 B / 16 B.
pub const LINE_SLOTS: u8 = 4;

/// The most M2S requests without data in a flit (CXL §4.2.5).
pub const M2S_REQ_PER_FLIT: u8 = 2;
/// The most headers of M2S requests with data in a flit (CXL §4.2.5).
pub const M2S_RWD_PER_FLIT: u8 = 1;
/// The most S2M responses without data in a flit (CXL §4.2.5).
pub const S2M_NDR_PER_FLIT: u8 = 2;
/// The most headers of S2M responses with data in a flit, and then only in one slot (CXL §4.2.5).
pub const S2M_DRS_PER_FLIT: u8 = 3;

/// Symbols of a block on a lane: 128 bits / 8 (PCI Express).
pub const BLOCK_SYMBOLS: u64 = 16;
/// With sync headers bypassed: data blocks from one SKP ordered set to the next (CXL §6.8.1).
pub const SKP_BYPASS_DATA_BLOCKS: u64 = 340;
/// With sync headers: the longest period of SKP ordered sets \[blocks\], that of PCI Express with a common clock
/// (MindShare, PCI Express Technology 3.0).
pub const SKP_PERIOD_BLOCKS: u64 = 375;
/// A SKP ordered set \[blocks\] (Intel: nominal 130 bits).
pub const SKP_LENGTH_BLOCKS: u64 = 1;

/// Flits of a RETRY.Req or a RETRY.Ack sequence: five RETRY.Frame and the flit itself (CXL §4.2.8.4).
pub const RETRY_SEQUENCE_FLITS: u32 = 6;
/// The most credits that one field of a flit header returns (CXL §4.2.2, table 4-4).
pub const CREDITS_PER_FIELD: u32 = 64;
/// Bytes of transaction-layer packets that a CXL.io flit carries: what is between protocol ID and the two reserved
/// bytes (CXL §6.2.2).
pub const IO_FLIT_PAYLOAD_BYTES: u64 = 64;
