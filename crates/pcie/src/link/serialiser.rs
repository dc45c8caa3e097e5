//! Serialisation times on one wire.

use lanetwin_units::LinkRate;

/// Serialisation times on one wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serialiser {
    /// Ticks per byte if integral, as for every power-of-two width; otherwise 0.
    per_byte: u64,
    rate: LinkRate,
    /// The last size asked for, with its time.
    last: (u64, u64),
}

impl Serialiser {
    pub fn new(rate: LinkRate) -> Self {
        let (one, many) = (rate.ticks_for(1).0, rate.ticks_for(1 << 20).0);
        Self { per_byte: if many == one << 20 { one } else { 0 }, rate, last: (0, 0) }
    }
    pub const fn rate(&self) -> LinkRate {
        self.rate
    }
    #[inline]
    pub fn ticks(&mut self, bytes: u64) -> u64 {
        if self.per_byte != 0 {
            return self.per_byte * bytes;
        }
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.ticks_for(bytes).0);
        }
        self.last.1
    }
}
