//! Quantities and identifiers whose types carry their meaning.
//!
//! ```text
//!  Instant ── + Span ──► Instant         integer picoseconds, where a time is published
//!  Ticks                                 1/1024 ps, inside a link, where rounding would add up
//!  Bytes                                 sizes
//!  LinkRate::ticks_for(bytes) ──► Ticks  exact for every power-of-two width, Gen1 to Gen5
//!  Number                                a value of a file of data, with its kind and source
//!  Spread                                times that vary evenly around their mean
//!  Better                                which way of a quantity is the good one
//! ```
//!
//! Not here: parsing `128KiB` and the like (the document crate), measured quantities with an uncertainty
//! (the stats crate).
//!
//! ```
//! use lanetwin_units::{Generation, LinkRate, Width};
//! let gen5_x4 = LinkRate::pcie(Generation::Gen5, Width::X4);
//! assert_eq!(gen5_x4.ticks_for(512).as_ps_ceil().as_ps(), 32_500); // 512 B at 32 GT/s x4, 128b/130b
//! ```

mod better;
mod id;
mod mix;
mod origin;
mod rate;
mod spread;
mod time;

pub use better::Better;
pub use mix::{hash_name, mix, mix_product, stream_seed};
pub use origin::{Number, NumberKind};
pub use rate::{Generation, LinkRate, Width};
pub use spread::Spread;
pub use time::{Instant, Span, TICKS_PER_PS, Ticks};

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// The greatest common divisor; if one number is 0, it is the other.
#[must_use]
pub const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl core::ops::Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
