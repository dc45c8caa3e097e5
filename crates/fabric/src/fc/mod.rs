//! Fibre Channel: frames and their spacing, buffer-to-buffer credits, the exchanges of FCP.
//!
//! ```text
//!   fill words ── SOF ─ header ─ data field ─ CRC ─ EOF ── fill words ── SOF …          a frame takes a credit
//!   at least 6     4      24       ≤ 2112       4     4    one may be R_RDY             R_RDY gives it back
//!
//!   read:   FCP_CMND ►                 ◄ data ◄ data … ◄ FCP_RSP
//!   write:  FCP_CMND ►   ◄ FCP_XFER_RDY   data ► data ► …   ◄ FCP_RSP
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`spec`] | rates, sizes, words: data and total functions |
//! | [`logic`] | credits, a transmitter that sends frames in runs, a receive buffer that withholds R_RDY |
//! | [`throughput`] | what is left of a line rate: closed forms |
//!
//! The layouts are those of FC-FS (Fibre Channel Framing and Signaling) and FCP (Fibre Channel Protocol for SCSI).
//!
//! Not here: login, class 1 and 2, arbitrated loops, switches of a fabric, 64b/66b rates (16GFC and later), optional
//! headers of frames.

pub mod logic;
pub mod spec;
pub mod throughput;

pub use spec::frame::DataField;
pub use spec::rate::Rate;
