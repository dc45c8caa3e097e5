//! Hash functions, and HMAC with them (FIPS 180-4; RFC 2104).

use crate::spec::authentication::HashId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha384, Sha512};

/// A hash function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Hash {
    /// All hash functions.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// Identifier of the hash function (HashID).
    #[must_use]
    pub const fn id(self) -> HashId {
        match self {
            Self::Sha256 => HashId::SHA256,
            Self::Sha384 => HashId::SHA384,
            Self::Sha512 => HashId::SHA512,
        }
    }
    /// The hash function with this identifier.
    #[must_use]
    pub fn of(id: HashId) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.id() == id)
    }
    /// Length of its values \[B\].
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
    /// Hash of some bytes.
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
    /// HMAC of the concatenated parts.
    #[must_use]
    pub fn mac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha256 => begun::<Hmac<Sha256>>(key, parts).finalize().into_bytes().to_vec(),
            Self::Sha384 => begun::<Hmac<Sha384>>(key, parts).finalize().into_bytes().to_vec(),
            Self::Sha512 => begun::<Hmac<Sha512>>(key, parts).finalize().into_bytes().to_vec(),
        }
    }
    /// Whether the HMAC of the concatenated parts equals `mac`, compared in constant time.
    #[must_use]
    pub fn verifies(self, key: &[u8], parts: &[&[u8]], mac: &[u8]) -> bool {
        let verified = match self {
            Self::Sha256 => begun::<Hmac<Sha256>>(key, parts).verify_slice(mac),
            Self::Sha384 => begun::<Hmac<Sha384>>(key, parts).verify_slice(mac),
            Self::Sha512 => begun::<Hmac<Sha512>>(key, parts).verify_slice(mac),
        };
        verified.is_ok()
    }
}

fn begun<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> M {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 4231, test case 2.
    #[test]
    fn hmac_is_that_of_the_standard() {
        let (key, parts) = (&b"Jefe"[..], [&b"what do ya want "[..], b"for nothing?"]);
        let macs = [
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd\
             caeab1a34d4a6b4b636e070a38bce737",
        ];
        for (hash, expected) in Hash::ALL.into_iter().zip(macs) {
            let mut mac = hash.mac(key, &parts);
            assert_eq!((hex(&mac).as_str(), mac.len()), (expected, hash.bytes()));
            assert!(hash.verifies(key, &parts, &mac) && Hash::of(hash.id()) == Some(hash));
            assert!(!hash.verifies(key, &parts, &mac[1..]));
            mac[0] ^= 1;
            assert!(!hash.verifies(key, &parts, &mac));
            assert_eq!(hash.digest(b"").len(), hash.bytes());
        }
    }
}
