//! What the standard says: flits, slots, messages. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | [`constants`] | every number, with its source |
//! | [`message`] | M2S Req and RwD, S2M NDR and DRS, bit by bit |
//! | [`flit`] | flits of 68 B, to bytes and back |
//! | [`flit_256`] | flits of 256 B: slots, what they hold, error correction |
//! | [`mod@crc`] | their CRC |
//! | [`closed_form`] | how many slots an access takes, and the bandwidth that follows |

pub mod closed_form;
pub mod constants;
pub mod crc;
mod direction;
pub mod flit;
pub mod flit_256;
pub mod message;
mod slots;

pub use direction::Direction;

/// Which flits a link has, from its training on (CXL §6.2.3, table 6-4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlitMode {
    /// 68 B: up to 32 GT/s.
    Bytes68,
    /// 256 B: what PCI Express calls flit mode, at any rate of CXL.
    Bytes256(flit_256::Layout),
}
