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
pub mod flit;
pub mod flit_256;
pub mod message;
mod slots;

/// Which flits a link has, from its training on (CXL §6.2.3, table 6-4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlitMode {
    /// 68 B: up to 32 GT/s.
    Bytes68,
    /// 256 B: what PCI Express calls flit mode, at any rate of CXL.
    Bytes256(flit_256::Layout),
}

/// The way of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From the master (the host) to the subordinate (the device): requests.
    M2s,
    /// From the device to the host: responses.
    S2m,
}

impl Direction {
    /// Both, M2S first.
    pub const ALL: [Self; 2] = [Self::M2s, Self::S2m];

    /// 0 for M2S, 1 for S2M.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The other one.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::M2s => Self::S2m,
            Self::S2m => Self::M2s,
        }
    }
}
