//! Pages of the device as the host names them.

/// Pages of a device, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pages {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// The highest temperature that a bin of the histogram begins at is 2 to this, less one.
pub const HOTTEST: usize = 16;
