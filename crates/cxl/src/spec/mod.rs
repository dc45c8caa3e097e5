//! Definitions of the standard: flits, slots, messages. Data types and total functions, without state machines.
//!
//! | module | content |
//! |---|---|
//! | [`constants`] | constants, with their sources |
//! | [`message`] | M2S Req and RwD, S2M NDR and DRS, bit by bit |
//! | [`flit`] | encoder and decoder of flits of 68 B |
//! | [`flit_256`] | flits of 256 B: slots, their content, error correction |
//! | [`mod@crc`] | CRC of flits of 68 B |
//! | [`closed_form`] | slots per access, and the bandwidth that follows |

pub mod closed_form;
pub mod constants;
pub mod crc;
mod direction;
pub mod flit;
pub mod flit_256;
pub mod message;
mod slots;

pub use direction::Direction;

/// Flit mode of a link, negotiated in training (CXL §6.2.3, table 6-4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlitMode {
    /// 68 B: up to 32 GT/s.
    Bytes68,
    /// 256 B: the flit mode of PCI Express, at any rate of CXL.
    Bytes256(flit_256::Layout),
}
