//! DH-HMAC-CHAP: a host and a controller prove to each other that they know a secret, on the connection of each queue
//! (Base 2.0 §8.13).
//!
//! | module | content |
//! |---|---|
//! | [`hash`], [`group`] | hash functions and HMAC; Diffie-Hellman groups |
//! | [`secret`] | secrets as text, and as keys |
//! | [`terms`] | permitted hashes and groups, and secrets of hosts |
//! | [`message`] | encoding and decoding of messages |
//! | [`proof`] | responses to challenges |
//! | [`controller`], [`host`] | both sides of a transaction |
//!
//! Neither side draws random numbers itself: each requests them from its owner.

pub mod controller;
pub mod group;
pub mod hash;
pub mod host;
pub mod message;
pub mod proof;
pub mod secret;
pub mod terms;

pub use group::{Group, Power};
pub use hash::Hash;
pub use secret::Secret;
pub use terms::{Keys, Ring, Terms};

/// Number of random bytes for one request \[B\]: a challenge, an exponent and a sequence number.
pub const RANDOM_BYTES: usize = 132;

/// Random bytes for one message.
#[derive(Clone, PartialEq, Eq)]
pub struct Random(pub [u8; RANDOM_BYTES]);

impl Random {
    /// A challenge of `bytes` bytes, at most 64.
    #[must_use]
    pub fn challenge(&self, bytes: usize) -> Vec<u8> {
        self.0[..bytes.min(64)].to_vec()
    }
    /// The exponent of a Diffie-Hellman exchange: 512 bits, more than twice the strength of any group (RFC 7919 §5.2).
    #[must_use]
    pub fn exponent(&self) -> &[u8] {
        &self.0[64..128]
    }
    /// A sequence number other than 0.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        let drawn = self.0[128..].try_into().map_or(0, u32::from_le_bytes);
        drawn.max(1)
    }
}

impl core::fmt::Debug for Random {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Random")
    }
}
