//! Secrets, as `nvme gen-dhchap-key` writes them: `DHHC-1:01:base64 of secret and CRC-32:` (Base 2.0 §8.13.5.8).

use super::Hash;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::fmt;

/// Beginning of a secret as text.
const PREFIX: &str = "DHHC-1:";
/// Text that is hashed after the name of the owner to transform a secret.
const TRANSFORMATION: &[u8] = b"NVMe-over-Fabrics";

/// A secret of 32, 48 or 64 bytes, and the hash that transforms it into a key.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    bytes: Vec<u8>,
    hash: Option<Hash>,
}

/// Reasons why a text is not a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoSecret {
    /// The form is wrong.
    #[error(
        "a secret looks like DHHC-1:01:…:, as `nvme gen-dhchap-key` and `lanetwin nvme-tcp key` write it"
    )]
    Form,
    /// The hash identifier is unknown.
    #[error("its hash must be 00 (none), 01 (SHA-256), 02 (SHA-384) or 03 (SHA-512)")]
    Hash,
    /// It is not base64.
    #[error("what follows its hash is no base64")]
    Base64,
    /// The length is not that of a secret.
    #[error("it must have 32, 48 or 64 bytes, as many as its hash, and 4 of CRC-32")]
    Length,
    /// The checksum is wrong.
    #[error("its CRC-32 is wrong: a character is another, or is missing")]
    Checksum,
}

impl Secret {
    /// A secret of these bytes; `None` if the length is not that of a secret, or not that of the hash.
    #[must_use]
    pub fn new(bytes: Vec<u8>, hash: Option<Hash>) -> Option<Self> {
        let fits = match hash {
            Some(hash) => bytes.len() == hash.bytes(),
            None => matches!(bytes.len(), 32 | 48 | 64),
        };
        fits.then_some(Self { bytes, hash })
    }
    /// Parses a secret from text.
    ///
    /// # Errors
    /// The reason why the text is not a secret.
    pub fn parse(text: &str) -> Result<Self, NoSecret> {
        let rest = text.strip_prefix(PREFIX).ok_or(NoSecret::Form)?;
        let (hash, rest) = rest.split_once(':').ok_or(NoSecret::Form)?;
        let encoded = rest.strip_suffix(':').filter(|all| !all.contains(':')).ok_or(NoSecret::Form)?;
        let hash = match hash {
            "00" => None,
            "01" => Some(Hash::Sha256),
            "02" => Some(Hash::Sha384),
            "03" => Some(Hash::Sha512),
            _ => return Err(NoSecret::Hash),
        };
        let bytes = STANDARD.decode(encoded).map_err(|_| NoSecret::Base64)?;
        let (bytes, sum) = bytes.split_last_chunk::<4>().ok_or(NoSecret::Length)?;
        let secret = Self::new(bytes.to_vec(), hash).ok_or(NoSecret::Length)?;
        if crc32fast::hash(bytes) != u32::from_le_bytes(*sum) {
            return Err(NoSecret::Checksum);
        }
        Ok(secret)
    }
    /// The secret as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let number = self.hash.map_or(0, |hash| hash.id().0);
        let all = [&self.bytes[..], &crc32fast::hash(&self.bytes).to_le_bytes()].concat();
        format!("{PREFIX}{number:02}:{}:", STANDARD.encode(all))
    }
    /// The key of the owner with this NQN.
    #[must_use]
    pub fn key(&self, nqn: &str) -> Vec<u8> {
        let transformed = |hash: Hash| hash.mac(&self.bytes, &[nqn.as_bytes(), TRANSFORMATION]);
        self.hash.map_or_else(|| self.bytes.clone(), transformed)
    }
}

impl fmt::Debug for Secret {
    /// Shows the length only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} B)", self.bytes.len())
    }
}
