//! Responses to challenges (Base 2.0 §8.13.5.4, §8.13.5.5).
//!
//! ```text
//!   R1 = HMAC(Kh, Ca1 ‖ S1 ‖ T_ID ‖ SC_C ‖ "HostHost"   ‖ NQNh ‖ 00h ‖ NQNc)
//!   R2 = HMAC(Kc, Ca2 ‖ S2 ‖ T_ID ‖ SC_C ‖ "Controller" ‖ NQNc ‖ 00h ‖ NQNh)
//!   Ca = C without a group, else HMAC(H(g^xy mod p), C)
//! ```

use super::Hash;

/// Names of both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    /// NQN of the host.
    pub host: String,
    /// NQN of the subsystem.
    pub subsystem: String,
}

/// Side that responds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prover {
    /// The host, to C1.
    Host,
    /// The controller, to C2.
    Controller,
}

/// Inputs of a response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked<'a> {
    /// The hash that is used.
    pub hash: Hash,
    /// Shared value of the Diffie-Hellman exchange, if there is one.
    pub shared: Option<&'a [u8]>,
    /// C1 or C2.
    pub challenge: &'a [u8],
    /// S1 or S2.
    pub sequence: u32,
    /// T_ID.
    pub transaction: u16,
}

impl Asked<'_> {
    /// Computes the response with this key.
    #[must_use]
    pub fn response(&self, by: Prover, key: &[u8], names: &Names) -> Vec<u8> {
        self.with(by, names, |parts| self.hash.mac(key, parts))
    }
    /// Whether a response was computed with this key.
    #[must_use]
    pub fn is_answered(&self, by: Prover, key: &[u8], names: &Names, response: &[u8]) -> bool {
        self.with(by, names, |parts| self.hash.verifies(key, parts, response))
    }
    fn with<R>(&self, by: Prover, names: &Names, act: impl FnOnce(&[&[u8]]) -> R) -> R {
        let augmented = match self.shared {
            None => self.challenge.to_vec(),
            Some(shared) => self.hash.mac(&self.hash.digest(shared), &[self.challenge]),
        };
        let (host, subsystem) = (names.host.as_bytes(), names.subsystem.as_bytes());
        let (label, first, second) = match by {
            Prover::Host => (&b"HostHost"[..], host, subsystem),
            Prover::Controller => (&b"Controller"[..], subsystem, host),
        };
        // SC_C is 0: there is no secure channel
        let numbers = [&self.sequence.to_le_bytes()[..], &self.transaction.to_le_bytes(), &[0]].concat();
        act(&[&augmented, &numbers, label, first, &[0], second])
    }
}
