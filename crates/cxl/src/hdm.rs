//! Host-managed Device Memory (HDM) decoders: target and device address of a host address.
//!
//! ```text
//!   host physical address (HPA) ── base, size ──► is it mine? ── ways, granularity ──► target, device physical address (DPA)
//!
//!   |g0|g1|g2|g0|g1|g2| …          ways = 3: granule i goes to target i mod 3, as its granule i / 3
//! ```
//!
//! Ways are 1, 2, 3, 4, 6, 8, 12 or 16; granules are powers of two from 256 B to 16 KiB (Compute Express Link 2.0, HDM
//! Decoder Control Register: interleave ways, interleave granularity).

use std::fmt;

/// One decoder: a window of addresses, interleaved over targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoder {
    base: u64,
    size: u64,
    granularity: u64,
    targets: Vec<u16>,
    start: u64,
}

/// Target and device address of a host address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Target (a port).
    pub target: u16,
    /// Device physical address (DPA) at the target. If the target is a switch, which decodes again, this is the
    /// address that its own decoders take.
    pub dpa: u64,
}

/// Errors of a decoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadDecoder {
    /// The number of interleave ways is not one that the standard defines.
    Ways(usize),
    /// The granularity is not a power of two from 256 B to 16 KiB.
    Granularity(u64),
    /// The size is 0, or not a multiple of granularity times ways.
    Size(u64),
    /// The window extends past the last address.
    BeyondAddresses,
}

impl fmt::Display for BadDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ways(ways) => write!(f, "{ways} interleave ways (1, 2, 3, 4, 6, 8, 12 and 16 exist)"),
            Self::Granularity(bytes) => {
                write!(f, "an interleave granularity of {bytes} B (powers of two from 256 B to 16 KiB exist)")
            }
            Self::Size(bytes) => {
                write!(f, "a window of {bytes} B, which is no whole number of rounds through its targets")
            }
            Self::BeyondAddresses => write!(f, "the window reaches beyond the last address"),
        }
    }
}

impl std::error::Error for BadDecoder {}

impl Decoder {
    /// Numbers of interleave ways that the standard defines.
    pub const WAYS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

    /// A window that starts at `base`, interleaved in granules over `targets` in their order.
    ///
    /// # Errors
    /// All errors of the decoder.
    pub fn new(base: u64, size: u64, granularity: u64, targets: Vec<u16>) -> Result<Self, Vec<BadDecoder>> {
        let mut wrong = Vec::new();
        if !Self::WAYS.contains(&targets.len()) {
            wrong.push(BadDecoder::Ways(targets.len()));
        }
        if !granularity.is_power_of_two() || !(256..=16 << 10).contains(&granularity) {
            wrong.push(BadDecoder::Granularity(granularity));
        } else if size == 0 || !size.is_multiple_of(granularity * targets.len().max(1) as u64) {
            wrong.push(BadDecoder::Size(size));
        }
        if base.checked_add(size).is_none() {
            wrong.push(BadDecoder::BeyondAddresses);
        }
        if wrong.is_empty() { Ok(Self { base, size, granularity, targets, start: 0 }) } else { Err(wrong) }
    }
    /// The same decoder with `dpa` as the first address in each target. Lower addresses belong to other windows.
    #[must_use]
    pub const fn starting_at(mut self, dpa: u64) -> Self {
        self.start = dpa;
        self
    }
    /// The first address of the window.
    #[must_use]
    pub const fn base(&self) -> u64 {
        self.base
    }
    /// The size of the window \[B\].
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }
    /// The granularity \[B\].
    #[must_use]
    pub const fn granularity(&self) -> u64 {
        self.granularity
    }
    /// The targets, in the order of the interleave.
    #[must_use]
    pub fn targets(&self) -> &[u16] {
        &self.targets
    }
    /// Whether the two windows have an address in common.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.base < other.base + other.size && other.base < self.base + self.size
    }
    /// Decodes a host address; returns `None` if it is outside the window.
    #[inline]
    #[must_use]
    pub fn decode(&self, hpa: u64) -> Option<Decoded> {
        let offset = hpa.checked_sub(self.base).filter(|offset| *offset < self.size)?;
        if let [target] = self.targets[..] {
            return Some(Decoded { target, dpa: self.start + offset });
        }
        let ways = self.targets.len() as u64;
        let granule = offset / self.granularity;
        let target = self.targets[(granule % ways) as usize];
        let dpa = self.start + granule / ways * self.granularity + offset % self.granularity;
        Some(Decoded { target, dpa })
    }
    /// Host address of a device address in the target at index `place`: the inverse of [`Decoder::decode`].
    #[must_use]
    pub fn encode(&self, place: usize, dpa: u64) -> Option<u64> {
        if place >= self.targets.len() {
            return None;
        }
        let dpa = dpa.checked_sub(self.start)?;
        let granule = (dpa / self.granularity).checked_mul(self.targets.len() as u64)? + place as u64;
        let offset = granule.checked_mul(self.granularity)? + dpa % self.granularity;
        (offset < self.size).then(|| self.base + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_address_leads_to_one_place_and_back(
            ways in prop::sample::select(Decoder::WAYS.to_vec()),
            shift in 8_u32..=14,
            rounds in 1_u64..100,
            base in 0_u64..1 << 40,
            start in 0_u64..1 << 40,
            at in 0.0..1.0_f64,
        ) {
            let granularity = 1 << shift;
            let size = rounds * granularity * ways as u64;
            let decoder = Decoder::new(base, size, granularity, (10..10 + ways as u16).collect()).unwrap();
            let decoder = decoder.starting_at(start);
            let hpa = base + (at * size as f64) as u64;
            let there = decoder.decode(hpa).unwrap();
            prop_assert!((start..start + size / ways as u64).contains(&there.dpa));
            prop_assert_eq!(decoder.encode(usize::from(there.target - 10), there.dpa), Some(hpa));
            prop_assert_eq!(decoder.decode(base + size), None);
        }
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let wrong = Decoder::new(u64::MAX, 4096, 300, vec![0; 5]).unwrap_err();
        assert_eq!(wrong, [BadDecoder::Ways(5), BadDecoder::Granularity(300), BadDecoder::BeyondAddresses]);
        assert_eq!(Decoder::new(0, 1000, 256, vec![0]).unwrap_err(), [BadDecoder::Size(1000)]);
        assert_eq!(Decoder::new(0, 0, 256, vec![0]).unwrap_err(), [BadDecoder::Size(0)]);
    }

    #[test]
    fn windows_that_touch_do_not_overlap() {
        let window = |base| Decoder::new(base, 4096, 256, vec![0]).unwrap();
        assert!(window(0).overlaps(&window(4095 / 256 * 256)));
        assert!(!window(0).overlaps(&window(4096)));
    }
}
