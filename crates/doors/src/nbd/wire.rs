//! Numbers of the protocol, by the names that `doc/proto.md` gives them.

pub(super) const NBDMAGIC: u64 = 0x4e42_444d_4147_4943;
pub(super) const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
pub(super) const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub(super) const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags: `NBD_FLAG_FIXED_NEWSTYLE`, `NBD_FLAG_NO_ZEROES`.
pub(super) const FIXED_NEWSTYLE: u16 = 1;
pub(super) const NO_ZEROES: u16 = 2;

pub(super) const OPT_EXPORT_NAME: u32 = 1;
pub(super) const OPT_ABORT: u32 = 2;
pub(super) const OPT_LIST: u32 = 3;
pub(super) const OPT_INFO: u32 = 6;
pub(super) const OPT_GO: u32 = 7;
pub(super) const OPT_STRUCTURED_REPLY: u32 = 8;

pub(super) const REP_ACK: u32 = 1;
pub(super) const REP_SERVER: u32 = 2;
pub(super) const REP_INFO: u32 = 3;
pub(super) const REP_ERR_UNSUP: u32 = 0x8000_0001;
pub(super) const REP_ERR_INVALID: u32 = 0x8000_0003;
pub(super) const REP_ERR_UNKNOWN: u32 = 0x8000_0006;
pub(super) const REP_ERR_TOO_BIG: u32 = 0x8000_0009;

pub(super) const INFO_EXPORT: u16 = 0;
pub(super) const INFO_BLOCK_SIZE: u16 = 3;

/// Transmission flags: has flags, flush, FUA, trim, write zeroes, do not fragment, several connections.
pub(super) const TRANSMISSION: u16 = 1 | 4 | 8 | 32 | 64 | 128 | 256;

pub(super) const CMD_READ: u16 = 0;
pub(super) const CMD_WRITE: u16 = 1;
pub(super) const CMD_DISC: u16 = 2;
pub(super) const CMD_FLUSH: u16 = 3;
pub(super) const CMD_TRIM: u16 = 4;
pub(super) const CMD_WRITE_ZEROES: u16 = 6;

pub(super) const CMD_FLAG_FUA: u16 = 1;
/// Flags that a request may have: FUA, no hole, do not fragment.
pub(super) const CMD_FLAGS: u16 = 1 | 2 | 4;

pub(super) const REPLY_FLAG_DONE: u16 = 1;
pub(super) const REPLY_TYPE_NONE: u16 = 0;
pub(super) const REPLY_TYPE_OFFSET_DATA: u16 = 1;
pub(super) const REPLY_TYPE_ERROR: u16 = 0x8001;

/// Size of a request without its data \[B\].
pub(super) const REQUEST_BYTES: usize = 28;
