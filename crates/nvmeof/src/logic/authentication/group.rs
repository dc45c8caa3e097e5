//! Diffie-Hellman groups of safe primes with the generator 2 (RFC 7919).
//!
//! Exponents are secret; the time of an exponentiation does not depend on them.

use crate::spec::authentication::GroupId;
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, NonZero, Odd, Resize};
use std::sync::OnceLock;

/// A group, or none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// No exchange: responses depend on the secret alone.
    Null,
    /// ffdhe2048.
    Ffdhe2048,
    /// ffdhe3072.
    Ffdhe3072,
    /// ffdhe4096.
    Ffdhe4096,
    /// ffdhe6144.
    Ffdhe6144,
    /// ffdhe8192.
    Ffdhe8192,
}

impl Group {
    /// All groups.
    pub const ALL: [Self; 6] =
        [Self::Null, Self::Ffdhe2048, Self::Ffdhe3072, Self::Ffdhe4096, Self::Ffdhe6144, Self::Ffdhe8192];

    /// Identifier of the group (DHgID).
    #[must_use]
    pub const fn id(self) -> GroupId {
        GroupId(self as u8)
    }
    /// The group with this identifier.
    #[must_use]
    pub fn of(id: GroupId) -> Option<Self> {
        Self::ALL.get(usize::from(id.0)).copied()
    }
    /// Length of its values \[B\].
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
    const fn bits(self) -> u32 {
        match self {
            Self::Null => 0,
            Self::Ffdhe2048 => 2048,
            Self::Ffdhe3072 => 3072,
            Self::Ffdhe4096 => 4096,
            Self::Ffdhe6144 => 6144,
            Self::Ffdhe8192 => 8192,
        }
    }
    /// Addend in the formula of the prime (RFC 7919, Appendix A).
    const fn addend(self) -> u32 {
        match self {
            Self::Null => 0,
            Self::Ffdhe2048 => 560_316,
            Self::Ffdhe3072 => 2_625_351,
            Self::Ffdhe4096 => 5_736_041,
            Self::Ffdhe6144 => 15_705_020,
            Self::Ffdhe8192 => 10_965_728,
        }
    }
    /// Prime of the group: 2^b - 2^(b-64) + (⌊2^(b-130) e⌋ + addend) 2^64 - 1 (RFC 7919, Appendix A).
    fn prime(self) -> BoxedUint {
        let bits = self.bits();
        let one = BoxedUint::one_with_precision(bits);
        let middle = e(bits - 130).resize(bits).wrapping_add(BoxedUint::from(self.addend())).shl(64);
        let top = BoxedUint::zero_with_precision(bits).wrapping_sub(one.shl(bits - 64));
        top.wrapping_add(&middle).wrapping_sub(&one)
    }
    /// Parameters for exponentiation, computed once per group.
    fn params(self) -> Option<&'static BoxedMontyParams> {
        static ALL: [OnceLock<BoxedMontyParams>; 6] = [const { OnceLock::new() }; 6];
        let known = ALL.get(self as usize).filter(|_| self != Self::Null)?;
        let made = || BoxedMontyParams::new(Odd::new(self.prime()).expect("the prime is odd"));
        Some(known.get_or_init(made))
    }

    /// Public value: g to the power of `exponent`, both big-endian; empty without a group.
    #[must_use]
    pub fn public(self, exponent: &[u8]) -> Vec<u8> {
        self.power(BoxedUint::from(2_u32), exponent)
    }
    /// Shared value: the other side's public value to the power of `exponent`.
    ///
    /// Returns `None` if the public value does not have the length of the group, or would reveal the secret (RFC 7919
    /// §5.1: 1 < value < p - 1).
    #[must_use]
    pub fn shared(self, exponent: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
        let params = self.params()?;
        if theirs.len() != self.bytes() {
            return None;
        }
        let value = BoxedUint::from_be_slice(theirs, self.bits()).ok()?;
        let one = BoxedUint::one_with_precision(self.bits());
        let last = params.modulus().wrapping_sub(&one);
        (value > one && value < last).then(|| self.power(value, exponent))
    }
    fn power(self, base: BoxedUint, exponent: &[u8]) -> Vec<u8> {
        let Some(params) = self.params() else { return Vec::new() };
        let exponent = BoxedUint::from_be_slice(exponent, exponent.len() as u32 * 8).expect("it fits");
        let base = BoxedMontyForm::new(base.resize(self.bits()), params);
        base.pow(&exponent).retrieve().to_be_bytes().to_vec()
    }
}

/// A requested exponentiation, of the generator or of the other side's public value.
///
/// It takes up to tens of milliseconds; a server should compute it in parallel to other work.
#[derive(Clone, PartialEq, Eq)]
pub struct Power {
    group: Group,
    theirs: Option<Vec<u8>>,
    exponent: Vec<u8>,
}

impl Power {
    /// A power of the generator: the public value for the other side.
    #[must_use]
    pub fn public(group: Group, exponent: &[u8]) -> Self {
        Self { group, theirs: None, exponent: exponent.to_vec() }
    }
    /// A power of the other side's public value: the shared value.
    #[must_use]
    pub fn shared(group: Group, exponent: &[u8], theirs: Vec<u8>) -> Self {
        Self { group, theirs: Some(theirs), exponent: exponent.to_vec() }
    }
    /// Computes the power; `None` if the public value is not acceptable ([`Group::shared`]).
    #[must_use]
    pub fn compute(&self) -> Option<Vec<u8>> {
        match &self.theirs {
            None => Some(self.group.public(&self.exponent)),
            Some(theirs) => self.group.shared(&self.exponent, theirs),
        }
    }
}

impl core::fmt::Debug for Power {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Power").field("group", &self.group).finish_non_exhaustive()
    }
}

/// ⌊2^bits e⌋, from the series of 1/k!.
fn e(bits: u32) -> BoxedUint {
    const GUARD: u32 = 64;
    let precision = (bits + 2 * GUARD).next_multiple_of(64);
    let mut term = BoxedUint::one_with_precision(precision).shl(bits + GUARD);
    let mut sum = term.clone();
    for k in 1_u32.. {
        let divisor = NonZero::new(BoxedUint::from(k)).expect("it counts from 1");
        term = term.div_rem_vartime(&divisor).0.resize(precision);
        if term.is_zero().into() {
            break;
        }
        sum = sum.wrapping_add(&term);
    }
    sum.shr(GUARD)
}

#[cfg(test)]
mod tests {
    use super::super::Hash;
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// SHA-256 of the primes that OpenSSL 3.0 has.
    #[test]
    fn primes_are_those_of_others() {
        let digests = [
            "9cd3b7f336872f46c09428d1bbc19877a4d440512cda8d1c1cf0cd6e33698966",
            "0eaf67db3a839156d5013494a5318a772b5697d270d721f37f092efc69ea5a17",
            "4648414224ac881b3d0dc59b466f96d06a558278776807797ecf1f66ff397b3e",
            "227ac9066b3ddd9e193670cda2388fa884f65ba0cf98b742d1fe77a6687c79c7",
            "770b14efaf6f049929c523113b3fa99a8d11dab1b18af3609590122075d19833",
        ];
        for (group, digest) in Group::ALL.into_iter().skip(1).zip(digests) {
            assert_eq!(hex(&Hash::Sha256.digest(&group.prime().to_be_bytes())), digest, "{group:?}");
        }
    }

    #[test]
    fn both_sides_have_the_same_value_and_no_other_is_taken() {
        for group in Group::ALL.into_iter().skip(1) {
            let (ours, theirs) = ([0x35; 64], [0xc6; 64]);
            let (a, b) = (group.public(&ours), group.public(&theirs));
            assert_eq!((a.len(), Group::of(group.id())), (group.bytes(), Some(group)));
            let shared = group.shared(&ours, &b).expect("a value");
            assert_eq!(Power::public(group, &ours).compute(), Some(a.clone()));
            assert_eq!(Power::shared(group, &theirs, a).compute(), Some(shared));
            let prime = group.prime().to_be_bytes().to_vec();
            let mut last = prime.clone();
            *last.last_mut().expect("a byte") -= 1;
            let (mut zero, mut one) = (vec![0; group.bytes()], vec![0; group.bytes()]);
            *one.last_mut().expect("a byte") = 1;
            for bad in [&prime, &last, &zero, &one, &b[1..].to_vec(), &vec![0xff; group.bytes()]] {
                assert_eq!(group.shared(&ours, bad), None);
            }
            *zero.last_mut().expect("a byte") = 2;
            assert!(group.shared(&ours, &zero).is_some());
        }
        assert!(Group::Null.public(&[1; 64]).is_empty() && Group::Null.shared(&[1; 64], &[]).is_none());
        assert_eq!(Group::of(GroupId(6)), None);
    }
}
